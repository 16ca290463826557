# SPDX-License-Identifier: Apache-2.0
"""The main job, on real machines, as a newcomer sees it; `./dev demo` runs it."""

import time

from machines.cluster import Cluster
from machines.node import BUILD, Node


def show(title):
    print(f"\n\033[1m== {title}\033[0m", flush=True)


def shown(*words, run):
    """Runs a command as a person would type it, with its output."""
    print(f"$ {' '.join(words)}".replace(f"{BUILD}/src/ctl/", ""))
    answer = run(*words)
    print((answer.stdout + answer.stderr).rstrip(), flush=True)


MOTD = """variant: fcos
version: 1.5.0
storage:
  files:
    - path: /etc/motd
      overwrite: true
      contents: {inline: "Welcome. This machine is looked after.\\n"}
"""
# A service that comes up only with settings that it likes.
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
PINTLE = f"{BUILD}/src/ctl/pintle"
APPLY = [PINTLE, "apply", "--yes", "--policy", "policy.yaml"]


def on_a_node():
    show("a node: an OSTree machine, booted by systemd, with our build in it")
    started = time.monotonic()
    with Node() as node:
        print(f"(up after {time.monotonic() - started:.1f} s)")

        def run(*words):
            return node.run("env", "--chdir=/root", *words, check=False)

        def write(path, text):
            node.run("tee", path, input=text)

        node.run("mkdir", "/root/configs")
        write("/root/configs/10-motd.bu", MOTD)
        write("/root/configs/20-app.yaml", APP.replace("SETTINGS", "good"))
        write("/root/policy.yaml", POLICY)
        show("a config goes on: a file, a service and its settings")
        shown(*APPLY, "configs", run=run)
        shown("systemctl", "is-active", "app.service", run=run)

        show("someone edits a file: that is found, and not overwritten")
        write("/etc/motd", "Edited by hand.\n")
        shown(PINTLE, "verify", run=run)
        shown(PINTLE, "restore", "--policy", "policy.yaml", "/etc/motd", run=run)

        show("settings that the service does not come up with: all of it is undone")
        write("/root/configs/20-app.yaml", APP.replace("SETTINGS", "bad"))
        shown(*APPLY, "configs", run=run)
        shown("systemctl", "is-active", "app.service", run=run)

        show("killed in the middle: old or new, and nothing between")
        write("/root/configs/20-app.yaml", APP.replace("SETTINGS", "as%20good"))
        shown("timeout", "--signal=KILL", "0.08", *APPLY, "configs", run=run)
        shown(PINTLE, "recover", run=run)
        shown(PINTLE, "verify", run=run)

        show("the config goes away, and the machine is as it was")
        shown(*APPLY, "--none", run=run)
        shown(PINTLE, "verify", run=run)
        node.run("journalctl", "--sync")
        shown(PINTLE, "history", run=run)


def on_a_cluster():
    show("a cluster: a Kubernetes control plane, and a node that may change itself and no other")
    started = time.monotonic()
    with Cluster() as cluster:
        print(f"(ready after {time.monotonic() - started:.1f} s)")
        cluster.add_node("worker-0")
        cluster.add_node("worker-1")
        shown("get", "nodes", run=cluster.kubectl)


on_a_node()
on_a_cluster()
