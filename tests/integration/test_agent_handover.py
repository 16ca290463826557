# SPDX-License-Identifier: Apache-2.0
"""Tests that an agent with WaitForHandover=yes acts only on a node that is handed over to it, on a real API server."""

import pytest

from machines import agent_node
from machines.agent_node import Watch, create_rendered
from machines.installed import file, machine_config
from machines.wait import wait_until

LABEL, STATE = "pintle.io/agent", "pintle.io/agent-state"


@pytest.fixture(scope="module")
def cluster():
    with agent_node.agent_cluster() as cluster:
        yield cluster


@pytest.fixture
def node(new_node):
    """A node whose agent waits, beside the daemon of another program."""
    node = new_node(more="[Kubernetes]\nWaitForHandover=yes\n")
    node.annotate(desiredConfig=config_for(node, 0, "first"))
    return node


class Handovers(Watch):
    """Records the label of each node with the annotation that answers it, and with the config that the node has."""

    path = "/api/v1/nodes"

    def __init__(self, cluster):
        super().__init__(cluster)
        self._seen = []

    def receive(self, thing):
        metadata = thing["metadata"]
        annotations = metadata.get("annotations", {})
        self._seen.append((metadata["name"], metadata.get("labels", {}).get(LABEL, ""), annotations.get(STATE, ""),
                           annotations.get(agent_node.PREFIX + "currentConfig", "")))

    def of(self, name):
        """Returns (label, annotation, config) of a node, without consecutive repetitions."""
        values = []
        for seen, *value in list(self._seen):
            if seen == name and values[-1:] != [tuple(value)]:
                values.append(tuple(value))
        return values


def config_for(node, number, text):
    return create_rendered(node.cluster, f"rendered-{node.name}-{number}",
                           machine_config([file("/etc/live/a", text)])["spec"])


def label(node, value):
    node.cluster.admin.must("PATCH", f"/api/v1/nodes/{node.name}", {"metadata": {"labels": {LABEL: value}}})


def wait_for_report(node, value):
    def reports():
        metadata = node.cluster.get("node", node.name)["metadata"]
        return metadata.get("annotations", {}).get(STATE) == value
    wait_until(reports, lambda: f"the agent of {node.name} reports {value}; its log:\n{node.log()}", 60)


def wait_until_seen(node):
    """Waits until an agent that stands by has seen the Node as it is now: it restores its annotation."""
    node.cluster.admin.must("PATCH", f"/api/v1/nodes/{node.name}", {"metadata": {"annotations": {STATE: None}}})
    wait_for_report(node, "standby")


def stands_by(node):
    return node.run("systemctl", "show", "--property=StatusText", "pintled").stdout.startswith("StatusText=stands by")


def test_the_agent_begins_when_the_node_is_handed_over(cluster, node):
    first, second = f"rendered-{node.name}-0", config_for(node, 1, "second")
    with Handovers(cluster) as handovers:
        node.start()
        wait_for_report(node, "standby")
        assert stands_by(node) and node.status()["running"] is False
        label(node, "awaited")
        label(node, "acts")
        node.wait_done(first)
        assert node.read("/etc/live/a") == "first"
        wait_for_report(node, "acts")
        wait_until(lambda: handovers.of(node.name)[-1:] == [("acts", "acts", first)], "the watch has seen the end", 60)
        seen = handovers.of(node.name)
    # The node had no config before the agent had announced that it begins.
    begins = seen.index(("acts", "begins", ""))
    assert {value[1:] for value in seen[:begins]} <= {("", ""), ("standby", "")}
    # A restarted agent goes on.
    node.run("systemctl", "restart", "pintled.service")
    node.annotate(desiredConfig=second)
    node.wait_done(second)


def test_the_agent_stands_by_again_and_does_nothing_until_it_gets_the_node_back(cluster, node):
    node.start()
    label(node, "acts")
    node.wait_done(f"rendered-{node.name}-0")
    wait_for_report(node, "acts")
    label(node, "leaves")
    wait_for_report(node, "standby")
    wait_until(lambda: stands_by(node), "the agent stands by", 60)
    second = config_for(node, 1, "second")
    label(node, None)
    node.annotate(desiredConfig=second)
    wait_until_seen(node)
    assert node.read("/etc/live/a") == "first" and stands_by(node)
    label(node, "acts")
    node.wait_done(second)
    assert node.read("/etc/live/a") == "second"


def test_a_change_is_ended_before_the_agent_leaves(cluster, node):
    node.start()
    label(node, "acts")
    node.wait_done(f"rendered-{node.name}-0")
    wait_for_report(node, "acts")
    second = config_for(node, 1, "second")
    node.annotate(desiredConfig=second)
    label(node, "leaves")
    wait_for_report(node, "standby")
    # Either the agent has made the whole change, or it has not begun it.
    have = node.annotations()
    assert have["state"] == "Done"
    assert (have["currentConfig"], node.read("/etc/live/a")) in ((second, "second"), (f"rendered-{node.name}-0", "first"))


def test_the_agent_leaves_a_node_that_is_registered_anew(cluster, node):
    node.start()
    label(node, "acts")
    node.wait_done(f"rendered-{node.name}-0")
    wait_for_report(node, "acts")
    second = config_for(node, 1, "second")
    # The kubelet registers the Node again without the label, so the daemon comes back, and gets the next config.
    cluster.admin.must("DELETE", f"/api/v1/nodes/{node.name}")
    cluster.add_node(node.name)
    wait_for_report(node, "standby")
    node.annotate(desiredConfig=second)
    wait_until(lambda: stands_by(node), "the agent stands by", 60)
    wait_until_seen(node)
    assert node.read("/etc/live/a") == "first" and stands_by(node)
    label(node, "acts")
    node.wait_done(second)


def test_an_agent_that_has_the_node_needs_no_api_server_to_begin(cluster, node):
    node.start()
    label(node, "acts")
    node.wait_done(f"rendered-{node.name}-0")
    wait_for_report(node, "acts")
    cluster.stop_apiserver()
    try:
        node.run("systemctl", "restart", "pintled.service")
        wait_until(lambda: node.status()["running"], "the agent runs", 60)
    finally:
        cluster.start_apiserver()
