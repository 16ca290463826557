# SPDX-License-Identifier: Apache-2.0
"""The demo of the same cluster with its controller: people write configs, and never touch a node."""

import json

from machines.controller import Controller, Objects
from machines.whole import Firmware

from .screen import expect, print_title

LABEL = "machineconfiguration.openshift.io/role"
NAME = "metadata: {name: NAME}"


def labelled(config, name):
    """Returns a machine config for all workers."""
    return config.replace(NAME, f"metadata: {{name: {name}, labels: {{{LABEL}: worker}}}}")


def write(demo, name, text):
    (demo.folder / f"{name}.yaml").write_text(labelled(text, name), encoding="ascii")
    demo.kubectl("apply", "-f", f"{name}.yaml")


def until_updated(demo, before):
    """Prints the nodes until all of them have the pool's config."""
    config = Objects(demo.cluster).wait_for_target("worker", other_than=before)
    demo.table.until("Done", config, *demo.nodes)
    Objects(demo.cluster).wait_until_updated("worker")
    demo.kubectl("get", "mcp", "worker")
    return config


def roll_out(demo, config):
    print_title("the controller: a config for all workers is rendered and rolled out, one node at a time")
    Objects(demo.cluster).controller_config(base_image="")
    write(demo, "50-motd", config)
    config = until_updated(demo, "")
    for name in demo.nodes:
        expect("panic=30" in demo.nodes[name].read("/proc/cmdline").split(), f"{name} has the argument")
    return config


def pause(demo, config, before):
    print_title("a paused pool reports the changes that wait; after the pause, just these are made")
    reboots = dict(demo.firmware.reboots)
    set_paused(demo, True)
    write(demo, "50-motd", config)
    Objects(demo.cluster).wait_for_condition("worker", "PausedPending", "True")
    message = demo.kubectl("get", "mcp", "worker", "-o",
                           "jsonpath={.status.conditions[?(@.type=='PausedPending')].message}")
    expect("/etc/motd" in message, "the message names the file")
    set_paused(demo, False)
    until_updated(demo, before)
    expect(demo.firmware.reboots == reboots, "the policy needs no reboot for the file")


def set_paused(demo, paused):
    demo.kubectl("patch", "mcp", "worker", "--type=merge", "--patch", json.dumps({"spec": {"paused": paused}}))


def run(demo, first, second):
    """Begins with the nodes of on_a_cluster.py, whose configs a person has set."""
    demo.table.answers = False
    with Firmware(demo.nodes.values()) as demo.firmware, Controller(demo.cluster):
        pause(demo, second, roll_out(demo, first))
