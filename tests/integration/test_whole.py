# SPDX-License-Identifier: Apache-2.0
"""Tests everything together: the controller, three nodes with agents, and pods that a budget protects.

A person's requests are made with kubectl, and nothing is repaired by hand.
"""

import base64
import datetime
import json
import urllib.request

import pytest

from budget import pods_anywhere
from machines import agent_node, certs, daemon, programs, shell
from machines.agent_node import PREFIX, AnnotationHistory
from machines.controller import Controller, Objects
from machines.installed import file, machine_config
from machines.wait import wait_until
from machines.whole import Firmware, PodRunners


KUBELET_CA = "/etc/kubernetes/kubelet-ca.crt"


class Site:
    """A cluster whose worker pool has three nodes and is up to date."""

    def __init__(self, cluster, nodes, firmware, metrics_port):
        self.cluster, self.nodes, self.firmware, self.metrics_port = cluster, nodes, firmware, metrics_port

    def apply(self, name, *files, **more):
        """Applies a machine config for workers with kubectl."""
        config = machine_config(list(files), **more)
        config["metadata"]["name"] = name
        self.cluster.apply(json.dumps(config))

    def remove(self, name):
        self.cluster.kubectl("delete", "machineconfig", name)

    def pause(self, paused):
        self.cluster.kubectl("patch", "machineconfigpool", "worker", "--type=merge", "--patch",
                             json.dumps({"spec": {"paused": paused}}))

    def set_kubelet_authorities(self, certificate):
        """Sets the authorities in the ControllerConfig, as the operator does when it renews them."""
        self.cluster.kubectl("patch", "controllerconfig", "machine-config-controller", "--type=merge", "--patch",
                             json.dumps({"spec": {"kubeAPIServerServingCAData":
                                                  base64.b64encode(certificate.encode()).decode()}}))

    def pintles_annotation(self, node, name):
        return self.cluster.get("node", node.name)["metadata"]["annotations"].get(f"pintle.io/{name}", "")

    def metric(self, sample):
        """Returns the controller's value of the metric with these labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return float(next(line.removeprefix(sample) for line in lines if line.startswith(sample + " ")))

    def pool(self):
        return self.cluster.get("machineconfigpool", "worker")

    def conditions(self):
        return {condition["type"]: condition for condition in self.pool()["status"].get("conditions", [])}

    def columns(self):
        """Returns the columns of `kubectl get mcp` for the pool."""
        head, *lines = self.cluster.kubectl("get", "mcp").stdout.splitlines()
        return next(dict(zip(head.split(), line.split())) for line in lines if line.startswith("worker "))

    def wait_updated(self, other_than, seconds=240):
        """Waits until all nodes have a config other than this one, and returns its name."""
        def there():
            pool = self.pool()
            target = pool["spec"]["configuration"].get("name")
            is_updated = self.conditions().get("Updated", {}).get("status") == "True"
            done = all(node.annotations().get("currentConfig") == target and node.annotations().get("state") == "Done"
                       for node in self.nodes)
            return target if target != other_than and is_updated and done else None
        try:
            return wait_until(there, "the pool is updated", seconds, every=0.2)
        except TimeoutError as late:
            raise AssertionError(f"{late}: {self.columns()}; {self.conditions()}; "
                                 f"{[(node.name, node.annotations()) for node in self.nodes]}") from None

    def current(self):
        return self.pool()["spec"]["configuration"]["name"]


@pytest.fixture(scope="module")
def site():
    with agent_node.agent_cluster() as cluster, agent_node.node_maker(cluster) as make:
        Objects(cluster).controller_config(base_image="")
        nodes = [make(plain=False) for _ in range(3)]
        cluster.apply(pods_anywhere(cluster))
        port = daemon.free_ports(1)[0]
        controller = Controller(cluster, "controller", f"--metrics-listen-address=127.0.0.1:{port}")
        with controller, Firmware(nodes) as firmware, PodRunners(nodes):
            site = Site(cluster, nodes, firmware, port)
            site.apply("00-worker")
            first = Objects(cluster).wait_for_target("worker")
            for node in nodes:
                node.annotate(currentConfig=first, desiredConfig=first)
                node.start()
            site.wait_updated("")
            yield site


def unavailable(annotations):
    return annotations.get("state") != "Done" or annotations.get("currentConfig") != annotations.get("desiredConfig")


def most_updated_at_once(history, nodes):
    """Returns how many nodes were being updated at the same moment."""
    most, now = 0, {}
    for name, annotations in list(history.seen):
        now[name] = unavailable(annotations)
        most = max(most, sum(now[node.name] for node in nodes if node.name in now))
    return most


def test_a_config_is_rolled_out_to_all_nodes_one_after_the_other(site):
    before = site.current()
    reboots = dict(site.firmware.reboots)
    with AnnotationHistory(site.cluster) as history:
        site.apply("50-motd", file("/etc/motd.d/site", "first"))
        wait_until(lambda: site.columns()["UPDATING"] == "True", "kubectl shows the update", 30)
        assert site.columns()["UPDATED"] == "False"
        rendered = site.wait_updated(before)
        assert most_updated_at_once(history, site.nodes) == 1
        for node in site.nodes:
            history.catch_up(node.name)
            drains = [value for value, in history.of(node.name, "lastAppliedDrain")]
            assert drains[-2:] == [f"drain-{rendered}", f"uncordon-{rendered}"], drains
    assert rendered.startswith("rendered-worker-") and len(rendered) == len("rendered-worker-") + 32
    shown = site.columns()
    assert (shown["CONFIG"], shown["UPDATED"], shown["UPDATING"], shown["DEGRADED"]) \
        == (rendered, "True", "False", "False")
    assert [shown[f"{which}MACHINECOUNT"] for which in ("", "READY", "UPDATED", "DEGRADED")] == ["3", "3", "3", "0"]
    for node in site.nodes:
        assert node.read("/etc/motd.d/site") == "first"
        assert site.firmware.reboots[node.name] == reboots[node.name] + 1
        assert not site.cluster.get("node", node.name)["spec"].get("unschedulable")
    # The budget was respected all the time, and both pods run again.
    wait_until(lambda: site.cluster.get("deployment", "web")["status"].get("readyReplicas") == 2, "both pods run", 60)


def test_the_report_of_a_paused_pool_agrees_with_the_changes_after_the_pause(site):
    before = site.current()
    reboots = dict(site.firmware.reboots)
    site.pause(True)
    site.apply("60-one", file("/etc/one", "1"))
    wait_until(lambda: site.current() != before, "the first change is rendered", 30)
    between = site.current()
    site.apply("70-two", file("/etc/two", "2"))
    wait_until(lambda: site.current() != between, "the second change is rendered", 30)
    pending = wait_until(lambda: (condition := site.conditions().get("PausedPending", {})).get("status") == "True"
                         and "/etc/two" in condition["message"] and condition, "the condition names the changes", 30)
    message = pending["message"]
    assert "2 " in message and "/etc/one" in message and "reboot" in message, message
    assert all(node.annotations()["desiredConfig"] == before for node in site.nodes)
    assert site.columns()["UPDATED"] == "False" and site.columns()["UPDATING"] == "False"

    site.pause(False)
    site.wait_updated(before)
    for node in site.nodes:
        assert (node.read("/etc/one"), node.read("/etc/two")) == ("1", "2")
        assert site.firmware.reboots[node.name] == reboots[node.name] + 1, "one reboot for both"
    wait_until(lambda: site.conditions()["PausedPending"]["status"] == "False",
               "the condition PausedPending is false", 30)


def test_a_broken_config_stops_its_pool_until_it_is_removed(site):
    before = site.current()
    reboots = dict(site.firmware.reboots)
    # On every node, a directory that is not empty is in the place of the new file.
    for node in site.nodes:
        node.run("mkdir", "--parents", "/etc/in-the-way/something")
    site.apply("80-broken", file("/etc/in-the-way", "x"))
    wait_until(lambda: site.columns()["DEGRADED"] == "True", "the pool is degraded", 120)
    broken = [node for node in site.nodes if node.annotations()["desiredConfig"] != before]
    assert len(broken) == 1, "other nodes have the broken config as well"
    # The pool has the reason from the node's MachineConfigNode, which the agent writes a moment after the annotations.
    wait_until(lambda: broken[0].name in site.conditions()["NodeDegraded"]["message"], "the pool names the node", 30)
    assert "/etc/in-the-way" in broken[0].annotations()["reason"]
    site.remove("80-broken")
    wait_until(lambda: site.columns()["DEGRADED"] == "False" and site.columns()["UPDATED"] == "True",
               "the pool is updated and not degraded", 120)
    assert site.current() == before
    for node in site.nodes:
        have = node.annotations()
        assert (have["currentConfig"], have["desiredConfig"], have["state"]) == (before, before, "Done")
        assert site.firmware.reboots[node.name] == reboots[node.name], "nobody had to reboot"
        assert not site.cluster.get("node", node.name)["spec"].get("unschedulable")
    assert not any(PREFIX in json.dumps(taint) for node in site.nodes
                   for taint in site.cluster.get("node", node.name)["spec"].get("taints", []))


def policy_of(site):
    """Returns the conditions of the RolloutPolicy, and the part of its status that is about the pool."""
    status = site.cluster.get("rolloutpolicy", "canary").get("status", {})
    conditions = {each["type"]: each["status"] for each in status.get("conditions", [])}
    return conditions, next(iter(status.get("pools", [])), {"phase": "", "message": ""})


@pytest.fixture
def canary_policy(site):
    """A policy that updates one node first.  The pool itself would allow that all nodes are updated at once."""
    def allow(count):
        site.cluster.kubectl("patch", "machineconfigpool", "worker", "--type=merge", "--patch",
                             json.dumps({"spec": {"maxUnavailable": count}}))

    site.cluster.apply(json.dumps({
        "apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "canary"},
        "spec": {"pool": "worker", "waves": [{"name": "canary", "nodes": 1}]}}))
    allow(3)
    wait_until(lambda: policy_of(site)[1]["phase"] == "Complete", "the controller follows the policy", 60)
    yield allow
    site.cluster.kubectl("delete", "rolloutpolicy", "canary")
    allow(1)


@pytest.fixture
def checked_service(site):
    """A service that has to be active after a reboot; otherwise, the agents undo the change that needed the reboot."""
    settings = "/etc/pintle/pintled.conf.d/web.conf"
    for node in site.nodes:
        node.run("mkdir", "--parents", "/etc/pintle/pintled.conf.d")
        node.run("tee", settings, input="[Health]\nUnits=web.service\nLimitSec=3s\n")
    yield "web.service"
    for node in site.nodes:
        node.run("rm", settings)


def traces(node):
    """Returns what an update would change on a node: its boot, and all files in /etc with their times."""
    return (node.read("/proc/sys/kernel/random/boot_id"),
            node.run("find", "/etc", "-xdev", "-printf", "%p %i %s %m %T@ %l\n").stdout)


def test_a_service_that_does_not_start_on_the_canary_halts_the_rollout_and_harms_no_other_node(
        site, canary_policy, checked_service):
    before, reboots = site.current(), dict(site.firmware.reboots)
    objects, traces_before = Objects(site.cluster), {node.name: traces(node) for node in site.nodes}
    of_update = ("currentConfig", "desiredConfig", "state", "reason", "desiredDrain", "lastAppliedDrain")

    def has_canary_failed():
        return policy_of(site)[1]["phase"] == "Halted"

    def harmed(history):
        """Returns the nodes of which anything has changed."""
        for node in site.nodes:
            history.catch_up(node.name)
        return [node for node in site.nodes if len(history.of(node.name, *of_update)) > 1
                or site.firmware.reboots[node.name] != reboots[node.name] or traces(node) != traces_before[node.name]]

    with AnnotationHistory(site.cluster) as history:
        wait_until(lambda: all(history.of(node.name, "state") for node in site.nodes), "the watch has seen all nodes",
                   60)
        site.apply("85-web", units=[{"name": checked_service, "enabled": True, "contents":
                                     "[Service]\nExecStart=/bin/false\n[Install]\nWantedBy=multi-user.target\n"}])
        wait_until(has_canary_failed, "the rollout is halted", 120)
        bad = site.current()
        [canary] = [node for node in site.nodes if node.annotations()["desiredConfig"] == bad]
        reason = canary.wait_for(state="Degraded", currentConfig=before)["reason"]
        assert f"{checked_service} is failed" in reason
        assert site.firmware.reboots[canary.name] == reboots[canary.name] + 2
        halt = f"1 node has failed with {bad} ({canary.name}), and the policy allows none"
        conditions, rollout = policy_of(site)
        assert conditions["Halted"] == "True" and halt in rollout["message"]
        [event] = wait_until(lambda: objects.events("RolloutHalted"), "there is an Event", 60)
        assert halt in event
        printed = shell.run(programs.here("pintle"), "rollout", "--kubeconfig", site.cluster.admin.kubeconfig,
                            "worker").stdout
        assert "  Halted since " in printed and halt in printed

        # The controller has a reason to look once more, and updates no node.
        canary_policy(2)
        wait_until(lambda: (pool := site.pool())["status"]["observedGeneration"] == pool["metadata"]["generation"],
                   "the controller has looked at the pool", 60)
        assert harmed(history) == [canary] and has_canary_failed()

        site.remove("85-web")
        site.wait_updated(bad)
        assert site.current() == before and site.conditions()["Degraded"]["status"] == "False"
        conditions = wait_until(lambda: (now := policy_of(site))[1]["phase"] == "Complete" and now[0],
                                "the rollout is complete", 60)
        assert conditions["Halted"] == "False"
        wait_until(lambda: objects.events("RolloutHaltEnded"), "there is an Event", 60)
        assert harmed(history) == [canary]
    assert canary.annotations()["reason"] == "" and not canary.has(f"/etc/systemd/system/{checked_service}")
    assert site.firmware.reboots[canary.name] == reboots[canary.name] + 2
    assert not site.cluster.get("node", canary.name)["spec"].get("unschedulable")


def test_a_strict_pause_keeps_the_kubelets_new_authorities_from_the_nodes(site, tmp_path):
    def authorities(name, days):
        validity = certs.Validity(datetime.timedelta(days=-1), datetime.timedelta(days=days))
        return certs.Authority(tmp_path / name, "kube-apiserver-to-kubelet-signer", validity).certificate.read_text()

    def have(certificate):
        return lambda: all(node.run("cat", KUBELET_CA, check=False).stdout == certificate for node in site.nodes)

    ends = 'machine_config_controller_paused_pool_kubelet_ca{pool="worker"}'
    before, reboots = site.current(), dict(site.firmware.reboots)
    old, new = authorities("old", 5), authorities("new", 365)
    site.set_kubelet_authorities(old)
    wait_until(have(old), "all nodes have the first authorities", 60)
    site.pause(True)
    wait_until(lambda: all(site.pintles_annotation(node, "controller-config-waits-until") for node in site.nodes),
               "the nodes know of the pause", 60)
    site.set_kubelet_authorities(new)
    end = wait_until(lambda: site.metric(ends), "the metric has the time at which the old authorities expire", 60)
    left = datetime.datetime.fromtimestamp(end) - datetime.datetime.now()
    assert datetime.timedelta(days=4) < left < datetime.timedelta(days=5)
    wait_until(lambda: all(KUBELET_CA in site.pintles_annotation(node, "waiting-files") for node in site.nodes),
               "all nodes report that the file waits", 60)
    assert have(old)()

    # Under the other policy certificates pass, and the alert has no reason to fire.
    site.cluster.kubectl("annotate", "machineconfigpool", "worker", "pintle.io/pause-policy=CertificatesPass")
    wait_until(have(new), "all nodes have the new authorities", 60)
    wait_until(lambda: site.metric(ends) == 0, "the metric is 0", 60)
    assert site.pool()["spec"]["paused"] and site.current() == before
    site.cluster.kubectl("annotate", "machineconfigpool", "worker", "pintle.io/pause-policy-")
    site.pause(False)
    site.wait_updated("")
    assert all(site.firmware.reboots[node.name] == reboots[node.name] for node in site.nodes)
