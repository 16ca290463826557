# SPDX-License-Identifier: Apache-2.0
"""The demo of a node without a cluster: a config is applied, watched, and removed again."""

import time

from machines.node import Node

from .screen import PINTLE, print_line, print_title, run_and_print

MOTD = """variant: fcos
version: 1.5.0
storage:
  files:
    - path: /etc/motd
      overwrite: true
      contents: {inline: "Welcome. This machine is looked after.\\n"}
"""
# A service that starts only with valid settings.
APP = """apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: 20-app}
spec:
  config:
    ignition: {version: 3.4.0}
    storage:
      files: [{path: /etc/app.conf, overwrite: true, contents: {source: "data:,SETTINGS"}}]
    systemd:
      units:
        - name: app.service
          enabled: true
          contents: |
            [Service]
            Type=oneshot
            RemainAfterExit=yes
            ExecStart=/bin/grep -q good /etc/app.conf
            [Install]
            WantedBy=multi-user.target
"""
POLICY = """files:
  - {path: /etc/app.conf, actions: [{type: Restart, restart: {serviceName: app.service}}]}
  - {path: /etc/motd, actions: [{type: None}]}
units:
  - {name: app.service, actions: [{type: DaemonReload}]}
"""
APPLY = [PINTLE, "apply", "--yes", "--policy", "policy.yaml"]


def run():
    print_title("a node: an OSTree machine, booted by systemd, with our build on it")
    started = time.monotonic()
    with Node() as node:
        print_line(f"(up after {time.monotonic() - started:.1f} s)")

        def in_node(*words):
            return node.run("env", "--chdir=/root", *words, check=False)

        def write(path, text):
            node.run("tee", path, input=text)

        node.run("mkdir", "/root/configs")
        write("/root/configs/10-motd.bu", MOTD)
        write("/root/configs/20-app.yaml", APP.replace("SETTINGS", "good"))
        write("/root/policy.yaml", POLICY)
        print_title("a config is applied: a file, a service and its settings")
        run_and_print(*APPLY, "configs", run=in_node)
        run_and_print("systemctl", "is-active", "app.service", run=in_node)

        print_title("someone edits a file: the edit is found, and not overwritten")
        write("/etc/motd", "Edited by hand.\n")
        run_and_print(PINTLE, "verify", run=in_node, status=2)
        run_and_print(PINTLE, "restore", "--policy", "policy.yaml", "/etc/motd", run=in_node)

        print_title("settings with which the service does not start: the whole change is undone")
        write("/root/configs/20-app.yaml", APP.replace("SETTINGS", "bad"))
        run_and_print(*APPLY, "configs", run=in_node, status=1)
        run_and_print("systemctl", "is-active", "app.service", run=in_node)

        print_title("the change is killed in the middle: the machine is old or new, never a mixture")
        write("/root/configs/20-app.yaml", APP.replace("SETTINGS", "as%20good"))
        run_and_print("timeout", "--signal=KILL", "0.08", *APPLY, "configs", run=in_node, status=None)
        run_and_print(PINTLE, "recover", run=in_node)
        run_and_print(PINTLE, "verify", run=in_node)

        print_title("the config is removed, and the machine is as it was before")
        run_and_print(*APPLY, "--none", run=in_node)
        run_and_print(PINTLE, "verify", run=in_node)
        node.run("journalctl", "--sync")
        run_and_print(PINTLE, "history", run=in_node)
