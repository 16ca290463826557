# SPDX-License-Identifier: Apache-2.0
"""The demo of nodes in a cluster: their agents do what their Node objects ask for, and report their progress."""

import contextlib
import pathlib
import tempfile
import time

from machines.agent_node import DEPLOY, KUBECONFIG, MCO_NAMESPACE, PREFIX, AgentNode
from machines.cluster import Cluster
from machines.node import Node
from machines.wait import wait_until

from . import with_a_controller
from .nodes_table import NodesTable
from .screen import PINTLE, expect, print_line, print_title, run_and_print

CONFIG = """apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: NAME}
spec:
  config:
    ignition: {version: 3.4.0}
    storage:
      files: [{path: /etc/motd, overwrite: true, contents: {source: "data:,MOTD%0A"}}]
"""
DISKS = "      disks: [{device: /dev/sdb, wipeTable: true}]\n"
ARGUMENTS = "  kernelArguments: [panic=30]\n"
POLICY = """apiVersion: operator.openshift.io/v1
kind: MachineConfiguration
metadata: {name: cluster}
spec:
  nodeDisruptionPolicy:
    files: [{path: /etc/motd, actions: [{type: None}]}]
"""
FIRST, SECOND, REBOOTS, IMPOSSIBLE = (f"rendered-worker-{number}" for number in range(1, 5))
CONFIGS = {FIRST: CONFIG.replace("MOTD", "Welcome."),
           SECOND: CONFIG.replace("MOTD", "Welcome,%20all%20of%20you."),
           REBOOTS: CONFIG.replace("MOTD", "Welcome%20back.") + ARGUMENTS,
           IMPOSSIBLE: CONFIG.replace("MOTD", "Farewell.") + DISKS}
NODE = "worker-0"
NAMES = [NODE, "worker-1"]


class Demo:
    """A cluster, the machines that are its nodes, and the commands of a person."""

    def __init__(self, cluster, table, folder):
        self.cluster, self.table, self.folder = cluster, table, folder
        self.nodes = {}

    def kubectl(self, *words, user=None, command="kubectl", **how):
        user = user or self.cluster.admin
        return run_and_print(*words, run=lambda *given: user.kubectl(*given, check=False, cwd=self.folder),
                             before=f"{command} ", **how)

    def in_node(self, *words, **how):
        return run_and_print(*words, run=lambda *given: self.nodes[NODE].run(*given, check=False), prompt=f"{NODE}#",
                             **how)

    def want(self, config, *names):
        """Sets the desired config, as the controller does in a rollout."""
        self.kubectl("annotate", "node", *names, "--overwrite", f"{PREFIX}desiredConfig={config}")

    def expect_motd(self, text):
        contents = self.in_node("cat", "/etc/motd")
        expect(contents == text, f"/etc/motd contains \"{text}\"")


def prepare(demo):
    print_title("the cluster gets the kinds of objects that the agent uses, and the agent's rights")
    for name, text in {"policy.yaml": POLICY, **CONFIGS}.items():
        (demo.folder / name).with_suffix(".yaml").write_text(text.replace("NAME", name), encoding="ascii")
    (demo.folder / "deploy").symlink_to(DEPLOY)
    demo.kubectl("create", "namespace", MCO_NAMESPACE)
    demo.kubectl("apply", "-f", "deploy/crds", "-f", "deploy/agent")
    demo.cluster.wait_until_kinds_are_served()
    demo.kubectl("create", "-f", "policy.yaml", *(word for name in CONFIGS for word in ("-f", f"{name}.yaml")))


def begin(demo, stack):
    print_title("two nodes with our build on them; each agent has the credentials of its own node")
    started = time.monotonic()
    for name in NAMES:
        demo.nodes[name] = AgentNode(stack.enter_context(Node(network="host")), demo.cluster, name)
    print_line(f"(up after {time.monotonic() - started:.1f} s)")
    with demo.cluster.refusals.expected(demo.nodes[NODE].user, "patch nodes"):
        refused = demo.kubectl("annotate", "node", NAMES[1], f"{PREFIX}desiredConfig=mine",
                               user=demo.nodes[NODE].user, command=f"kubectl --kubeconfig={KUBECONFIG}", status=1)
    expect("is not allowed to modify node" in refused, "a node may not change another node")
    demo.want(FIRST, *NAMES)
    for name in NAMES:
        run_and_print("systemctl", "enable", "--now", "pintled.service", run=demo.nodes[name].run, prompt=f"{name}#")
    demo.table.print_head()
    demo.table.until("Done", FIRST, *NAMES)


def change_live(demo):
    print_title("a file for which the policy has no action: it is changed at once, without a drain")
    demo.want(SECOND, *NAMES)
    states = demo.table.until("Done", SECOND, *NAMES)
    expect(all(of_node == ["Done", "Working", "Done"] for of_node in states.values()), f"Done, Working, Done: {states}")
    expect(not demo.table.requests, "no node requests a drain")
    demo.expect_motd("Welcome, all of you.")


def change_with_reboot(demo):
    print_title("a kernel argument as well: the node is drained and rebooted, and is old or new, never a mixture")
    demo.want(REBOOTS, NODE)
    demo.table.until_requested(NODE, f"drain-{REBOOTS}")
    machine = demo.nodes[NODE].machine
    machine.follow_reboot()
    print_line(f"  ({NODE} has rebooted by itself, in {machine.boot_seconds:.1f} s)")
    demo.table.until("Done", REBOOTS, NODE)
    drained = [(NODE, f"drain-{REBOOTS}"), (NODE, f"uncordon-{REBOOTS}")]
    expect(demo.table.requests == drained, "pods leave the node, and come back")
    demo.in_node("grep", "--only-matching", "panic=30", "/proc/cmdline")
    demo.expect_motd("Welcome back.")
    events = demo.kubectl("get", "events", f"--namespace={MCO_NAMESPACE}",
                          f"--field-selector=involvedObject.name={NODE},reason!=NodeDone",
                          "-o", "custom-columns=REASON:.reason,MESSAGE:.message")
    expect(all(reason in events for reason in ("Cordon ", "Drain ", "Reboot ", "Uncordon ")), "each step has its event")


def restored(demo, path):
    """Restores the file; returns False if the command asks to try again later, because the agent is taking a look."""
    output = demo.in_node(PINTLE, "restore", "--yes", path, status=None)
    expect("Done: " in output or "try again" in output, f"{path} is restored")
    return "Done: " in output


def drift(demo):
    print_title("someone edits a file: the node reports the edit, and overwrites nothing")
    demo.in_node("sh", "-c", "echo Edited by hand. >/etc/motd")
    demo.table.until("Degraded", REBOOTS, NODE)
    expect('content mismatch for file "/etc/motd"' in demo.table.reason(NODE), "the reason names the file")
    demo.in_node(PINTLE, "status", status=2)
    explained = demo.in_node(PINTLE, "explain", "/etc/motd", status=None)
    expect("+Edited by hand." in explained, "the difference is printed")
    wait_until(lambda: restored(demo, "/etc/motd"), "the file is restored", 60)
    demo.table.until("Done", REBOOTS, NODE)
    demo.expect_motd("Welcome back.")


def refuse(demo):
    print_title("a config that only a new installation could apply: the node changes nothing and reports the reason")
    demo.want(IMPOSSIBLE, NODE)
    demo.table.until("Unreconcilable", REBOOTS, NODE)
    expect("ignition disks section contains changes" in demo.table.reason(NODE), "the reason names the disks")
    demo.expect_motd("Welcome back.")
    demo.want(REBOOTS, NODE)
    demo.table.until("Done", REBOOTS, NODE)


def run():
    print_title("a cluster: a Kubernetes control plane")
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster())
        print_line(f"(ready after {time.monotonic() - started:.1f} s)")
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pintle-demo-"))
        table = stack.enter_context(NodesTable(cluster))
        demo = Demo(cluster, table, pathlib.Path(folder))
        prepare(demo)
        begin(demo, stack)
        change_live(demo)
        change_with_reboot(demo)
        drift(demo)
        refuse(demo)
        with_a_controller.run(demo, first=CONFIGS[REBOOTS], second=CONFIGS[REBOOTS].replace("back", "to%20all"))
    print_line(f"\n(all of it took {time.monotonic() - started:.1f} s)")
