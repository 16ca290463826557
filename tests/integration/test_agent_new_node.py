# SPDX-License-Identifier: Apache-2.0
"""Tests a node that joins its cluster: Ignition has written its files, and its OS may differ from the config."""

import json

import pytest

from machines import agent_node, deploy
from machines.agent_node import PREFIX, AgentNode, create_rendered
from machines.cluster import Cluster
from machines.installed import file, machine_config
from machines.node import Node
from machines.wait import wait_until

FOLDER = "/etc/machine-config-daemon"
FIRST_CONFIG = "/etc/ignition-machine-config-encapsulated.json"


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as cluster:
        agent_node.prepare_cluster(cluster)
        cluster.admin.create({"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration",
                              "metadata": {"name": "cluster"}, "spec": {}})
        yield cluster


@pytest.fixture
def node(cluster):
    with Node(network="host") as machine:
        yield AgentNode(machine, cluster, machine.name)


def join(node, image="", arguments=(), content="there"):
    """Puts the node into the state in which Ignition leaves it: the file with the annotations is written, and one file
    of the config, with the contents `content`.  The cluster has no controller, so drain requests get no answer.
    """
    spec = machine_config([file("/etc/managed", "there")], image, arguments)["spec"]
    config = create_rendered(node.cluster, f"rendered-{node.name}", spec)
    annotations = {PREFIX + key: value for key, value in
                   {"currentConfig": config, "desiredConfig": config, "state": "Done"}.items()}
    node.run("mkdir", FOLDER)
    node.run("tee", f"{FOLDER}/node-annotations.json", input=json.dumps(annotations))
    node.run("sh", "-c", 'printf %s "$1" >/etc/managed', "sh", content)
    return config, spec


def wait_until_joined(node, config):
    node.wait_done(config, 120)
    wait_until(lambda: not node.has(f"{FOLDER}/node-annotations.json"), "the annotations are moved away", 30)
    kept = json.loads(node.read(f"{FOLDER}/currentconfig"))
    assert kept["metadata"]["name"] == config and kept["spec"]["config"]["storage"]["files"]


def test_an_os_that_differs_from_the_first_config_is_updated_and_not_reported_as_drift(node):
    second = deploy.commit(node.machine, {"/usr/share/probe": "new"}, "2")
    config, _ = join(node, second, ["probe=1"])
    node.start()
    node.machine.follow_reboot(120)
    wait_until_joined(node, config)
    assert deploy.booted_commit(node.machine) == second and "probe=1" in node.arguments()
    node.pintle("verify")


def test_a_file_that_differs_from_the_first_config_is_drift(node):
    before = deploy.booted_commit(node.machine)
    join(node, deploy.commit(node.machine, {"/usr/share/probe": "new"}, "2"), content="edited")
    node.start()
    node.wait_for(state="Degraded", reason=lambda reason: 'content mismatch for file "/etc/managed"' in reason)
    assert deploy.booted_commit(node.machine) == before and node.read("/etc/managed") == "edited"


@pytest.mark.parametrize("arguments", [[], ["probe=1"]])
def test_the_partial_config_of_the_first_boot_is_replaced_by_the_whole_one(node, arguments):
    """The first-boot config lists no files, and firstboot writes it to currentconfig.  Until currentconfig has the
    whole config, the agent compares the files with the rendered config in the cluster.
    """
    config, spec = join(node, deploy.booted_commit(node.machine), arguments)
    bare = {"kind": "MachineConfig", "apiVersion": "machineconfiguration.openshift.io/v1", "metadata": {"name": config},
            "spec": {**spec, "config": {"ignition": {"version": "3.4.0"}}}}
    node.run("tee", FIRST_CONFIG, input=json.dumps(bare))
    node.pintle("firstboot", "--no-reboot", status=2 if arguments else 0)
    if arguments:
        node.machine.reboot()
        node.settle()
    assert json.loads(node.read(f"{FOLDER}/currentconfig"))["metadata"]["name"] == config
    node.start()
    wait_until_joined(node, config)
    assert node.read("/etc/managed") == "there" and node.pintle("verify")
