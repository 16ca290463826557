# SPDX-License-Identifier: Apache-2.0
"""Tests `stage: All` of a RolloutPolicy: the controller, two nodes with agents, and an OS image in a registry."""

import pytest

from machines import agent_node, deploy, programs
from machines.agent_node import AnnotationHistory
from machines.controller import MERGE, Controller, Objects
from machines.registry import Registry
from machines.wait import wait_until
from machines.whole import Firmware, PodRunners
from registry_access import copy_into_node

POLICIES = "/apis/pintle.io/v1alpha1/rolloutpolicies"
RECORD = "/var/lib/pintle/staged-image.json"
ACCEPT_ALL = '{"default": [{"type": "insecureAcceptAnything"}]}'


class Site:
    """A cluster whose worker pool has two nodes and the policy `stage: All`."""

    def __init__(self, cluster, nodes, firmware):
        self.cluster, self.nodes, self.firmware = cluster, nodes, firmware
        self.objects = Objects(cluster)

    def set_policy(self, **spec):
        status, _ = self.cluster.admin.request("GET", f"{POLICIES}/policy")
        if status == 200:
            self.cluster.admin.must("PATCH", f"{POLICIES}/policy", {"spec": spec}, MERGE)
        else:
            self.cluster.admin.must("POST", POLICIES, {
                "apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "policy"},
                "spec": {"pool": "worker", "stage": "All", **spec}})

    def rollout(self):
        """Returns the part of the policy's status that is about the pool."""
        pools = self.cluster.admin.must("GET", f"{POLICIES}/policy").get("status", {}).get("pools", [])
        return pools[0] if pools else {"phase": "", "message": ""}

    def wait_for_phase(self, phase, text="", seconds=180):
        def found():
            rollout = self.rollout()
            return rollout if rollout["phase"] == phase and text in rollout["message"] else None
        try:
            return wait_until(found, f"the rollout is {phase}", seconds, every=0.2)
        except TimeoutError as late:
            logs = "\n".join(node.log() for node in self.nodes)
            raise AssertionError(f"{late}; {self.rollout()}; {[self.staging(node) for node in self.nodes]}; "
                                 f"the agents have logged:\n{logs}") from None

    def staging(self, node):
        """Returns the node's annotations about staging, without their prefix."""
        annotations = self.cluster.get("node", node.name)["metadata"].get("annotations", {})
        found = {key.removeprefix("pintle.io/"): value for key, value in annotations.items()}
        return {key: found[key] for key in ("stage", "staged", "unstageable") if key in found}

    def target(self):
        return self.objects.target("worker")

    def wait_updated(self, target, seconds=240):
        for node in self.nodes:
            node.wait_done(target, seconds)
        self.wait_for_phase("Complete")


def images_on(node):
    """Returns the branches of the images that Pintle has fetched."""
    refs = node.run("ostree", "refs", f"--repo={deploy.REPOSITORY}").stdout.splitlines()
    return [ref for ref in refs if ref.startswith("pintle/image/")]


def trust(node, registry):
    """Gives a node access to the registry."""
    copy_into_node(node.machine, registry.certs_dir, f"/etc/containers/certs.d/{registry.host}")


@pytest.fixture(scope="module")
def own_registry(layout):
    """A registry that a test may end."""
    with Registry() as running:
        running.image = running.push(layout, "next")
        yield running


@pytest.fixture(scope="module")
def site(own_registry):
    with agent_node.agent_cluster() as cluster, agent_node.node_maker(cluster) as make:
        Objects(cluster).controller_config(base_image="")
        nodes = [make(plain=False) for _ in range(2)]
        with Controller(cluster, "controller"), Firmware(nodes) as firmware, PodRunners(nodes):
            site = Site(cluster, nodes, firmware)
            site.objects.config("00-worker")
            first = site.objects.wait_for_target("worker")
            for node in nodes:
                node.run("tee", "/var/lib/kubelet/config.json", input=own_registry.auth_file.read_text())
                node.run("mkdir", "--parents", "/etc/containers")
                node.run("tee", "/etc/containers/policy.json", input=ACCEPT_ALL)
                trust(node, own_registry)
                node.annotate(currentConfig=first, desiredConfig=first)
                node.start()
            site.set_policy()
            site.wait_updated(first)
            yield site


def test_a_target_that_a_node_cannot_stage_reaches_no_node_and_leaves_no_image_behind(site, own_registry):
    before, (able, unable) = site.target(), site.nodes
    assert [site.staging(node) for node in site.nodes] == [{}, {}]
    deploy.require_free_space(unable, "100GB")
    with AnnotationHistory(site.cluster) as history:
        site.objects.config("50-os", osImageURL=own_registry.image)
        target = site.objects.wait_for_target("worker", other_than=before)
        waiting = site.wait_for_phase("Staging", f"node {unable.name} cannot stage {target}: ")
        assert "there is too little space: " in waiting["message"] and "MiB are needed" in waiting["message"]
        wait_until(lambda: site.staging(able) == {"stage": target, "staged": target}, "the other node has staged", 180)
        assert images_on(able) != [] and able.has(RECORD)
        # No deployment is staged, so a reboot would boot the old image.
        assert "(staged)" not in able.run("ostree", "admin", "status").stdout

        site.objects.remove_config("50-os")
        site.wait_for_phase("Complete")
        for node in site.nodes:
            wait_until(lambda: site.staging(node) == {}, f"{node.name} stages nothing", 60)
            wait_until(lambda: images_on(node) == [] and not node.has(RECORD), f"{node.name} has no image", 60)
            history.catch_up(node.name)
            assert {value for value, in history.of(node.name, "desiredConfig")} == {before}
            assert not any(value.startswith("drain-") for value, in history.of(node.name, "desiredDrain"))
    assert set(site.firmware.reboots.values()) == {0}
    deploy.require_free_space(unable, None)


def test_nodes_that_have_staged_an_image_get_it_without_the_registry(site, own_registry):
    before, (able, unable) = site.target(), site.nodes
    unable.run("rm", "-r", f"/etc/containers/certs.d/{own_registry.host}")
    site.objects.config("50-os", osImageURL=own_registry.image, files={"/etc/motd.d/site": "second"})
    target = site.objects.wait_for_target("worker", other_than=before)
    waiting = site.wait_for_phase("Staging", f"node {unable.name} cannot stage {target}: ")
    assert "certificate" in waiting["message"] and own_registry.host in waiting["message"]
    warnings = unable.status()["warnings"]
    assert any(text.startswith(f"cannot stage {target}: ") for text in warnings), warnings
    # The cause is removed, and nodes may be updated only later.
    site.set_policy(freeze={"until": "2100-01-01"})
    trust(unable, own_registry)
    unable.run(programs.on_machine("pintle"), "retry")
    site.wait_for_phase("Frozen")
    for node in site.nodes:
        assert site.staging(node) == {"stage": target, "staged": target}
        assert node.annotations()["desiredConfig"] == before and not node.has("/etc/motd.d/site")

    # The registry is not needed any more.
    own_registry.end()
    site.set_policy(freeze=None)
    site.wait_updated(target)
    for node in site.nodes:
        assert node.read("/etc/motd.d/site") == "second" and node.read("/usr/share/new") == "next"
        assert site.staging(node) == {}
        wait_until(lambda: not node.has(RECORD), f"{node.name} has no record of an image", 60)
        assert site.firmware.reboots[node.name] == 1
        deploy.fsck(node.machine)
