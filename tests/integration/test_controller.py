# SPDX-License-Identifier: Apache-2.0
"""Tests pintle-controller against a real control plane, with simulated agents on its nodes."""

import base64
import collections
import datetime
import json
import pathlib
import re
import socket
import ssl
import urllib.error
import urllib.request

import pytest

from machines import certs, daemon, grants, openshift_kinds, programs, shell
from machines.cluster import Cluster
from machines.controller import DEPLOY, GROUP, MERGE, NAMESPACE, Controller, Objects, account, prepare_cluster
from machines.faulty_proxy import FaultyProxy
from machines.ignition_server import IgnitionServer
from machines.proxy import Proxy
from machines.simulated_agents import PREFIX, SimulatedAgents
from machines.wait import wait_until

VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors/data/render"
BASE = {"/etc/base": "1"}
WORKERS = ["worker-0", "worker-1", "worker-2"]


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        yield running


@pytest.fixture
def objects(cluster):
    """A cluster with no objects but a ControllerConfig."""
    made = Objects(cluster)
    made.controller_config()
    yield made
    made.delete_all()


@pytest.fixture
def controller(cluster, objects):
    with Controller(cluster) as running:
        wait_until(objects.leader, "the controller leads", 60)
        yield running


@pytest.fixture
def agents(cluster):
    with SimulatedAgents(cluster) as running:
        yield running


@pytest.fixture
def rolled_out(objects, controller, agents):
    """Creates three workers that have the config of their pool; returns the config's name."""
    objects.config("00-worker", files=BASE)
    target = objects.wait_for_target("worker")
    for name in WORKERS:
        agents.add(name, target)
    wait_until(lambda: objects.wait_until_updated("worker")["status"]["machineCount"] == 3, "three workers", 60)
    return target


class TestRendering:
    def test_makes_the_pools_and_a_config_as_people_know_them(self, cluster, objects, controller):
        objects.config("00-worker", files=BASE, kernelArguments=["quiet"])
        objects.config("00-master", role="master", files=BASE)
        target = objects.wait_for_target("worker")
        rendered = objects.admin.must("GET", f"{GROUP}/machineconfigs/{target}")
        owner, = rendered["metadata"]["ownerReferences"]
        pool = objects.pool("worker")
        assert owner == {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
                         "name": "worker", "uid": pool["metadata"]["uid"], "controller": True,
                         "blockOwnerDeletion": True}
        assert rendered["spec"]["kernelArguments"] == ["quiet"]
        assert pool["spec"]["configuration"]["source"] == [
            {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "name": "00-worker"}]
        assert pool["metadata"]["labels"] == {
            "machineconfiguration.openshift.io/mco-built-in": "",
            "pools.operator.machineconfiguration.openshift.io/worker": ""}
        assert "operator.machineconfiguration.openshift.io/required-for-upgrade" in \
            objects.pool("master")["metadata"]["labels"]
        objects.wait_until_updated("master")
        objects.wait_until_updated("worker")
        head, *rows = cluster.kubectl("get", "mcp").stdout.splitlines()
        assert head.split() == ["NAME", "CONFIG", "UPDATED", "UPDATING", "DEGRADED", "MACHINECOUNT",
                                "READYMACHINECOUNT", "UPDATEDMACHINECOUNT", "DEGRADEDMACHINECOUNT", "AGE"]
        assert rows[1].split()[:-1] == ["worker", target, "True", "False", "False", "0", "0", "0", "0"]
        message, = [each for each in objects.events("RenderedConfigGenerated") if target in each]
        assert message.startswith(f"{target} successfully generated (release version: , controller version: ")
        # The rendered config stays as long as its inputs do not change.
        assert len(objects.rendered()) == 2

    @pytest.mark.parametrize("vector", ["010-many-configs-40", "011-custom-pool-beats-worker",
                                        "054-kernel-arguments-duplicates-kept"])
    def test_gives_the_name_that_the_machine_config_operator_gives(self, cluster, objects, controller, vector):
        folder = VECTORS / vector
        objects.admin.must("DELETE", f"{GROUP}/controllerconfigs/machine-config-controller")
        cluster.apply((folder / "controllerconfig.yaml").read_text())
        for file in sorted((folder / "inputs").iterdir()):
            cluster.apply(file.read_text())
        expected = (folder / "expected-name.txt").read_text().strip()
        pool = expected.split("-")[1]
        if pool != "worker":    # The pool worker exists already.
            cluster.apply((folder / "pool.yaml").read_text())
        wait_until(lambda: objects.target(pool) == expected, f"the target is {expected}", 60)
        rendered = objects.admin.must("GET", f"{GROUP}/machineconfigs/{expected}")
        assert rendered["spec"] == json.loads((folder / "expected.json").read_text())["spec"]

    def test_reports_which_config_is_at_fault_until_it_is_corrected(self, objects, rolled_out):
        objects.config("99-bad", config={"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "no/slash"}]}})
        condition = objects.wait_for_condition("worker", "RenderDegraded", "True")
        assert condition["message"].startswith(
            "Failed to render configuration for pool worker: could not generate rendered MachineConfig: 99-bad: ")
        assert objects.wait_for_condition("worker", "Degraded", "True")
        assert objects.target("worker") == rolled_out
        objects.remove_config("99-bad")
        objects.wait_for_condition("worker", "RenderDegraded", "False")
        objects.wait_for_condition("worker", "Degraded", "False")

    def test_reports_that_a_config_is_too_large(self, objects, rolled_out):
        for part in range(3):
            objects.config(f"50-large-{part}", files={f"/etc/large-{part}": "x" * 600_000})
        condition = objects.wait_for_condition("worker", "RenderDegraded", "True")
        assert "size validation failed: rendered MachineConfig rendered-worker-" in condition["message"]

    def test_reports_why_nothing_is_rendered(self, objects, controller):
        objects.admin.must("DELETE", f"{GROUP}/controllerconfigs/machine-config-controller")
        objects.custom_pool("everything", machineConfigSelector={"matchLabels": {}, "matchExpressions": []})
        condition = objects.wait_for_condition("everything", "RenderDegraded", "True")
        assert condition["reason"] == "SelectingAll"
        objects.wait_for_reason("worker", "RenderDegraded", "NoControllerConfig")
        objects.wait_for_condition("worker", "Degraded", "True")
        objects.controller_config()
        wait_until(lambda: "no MachineConfigs found matching selector machineconfiguration.openshift.io/role=worker" in
                   objects.condition("worker", "RenderDegraded")["message"], "the condition names the selector", 60)

    def test_restores_objects_that_somebody_changed_or_removed(self, objects, rolled_out):
        path = f"{GROUP}/machineconfigs/{rolled_out}"
        before = objects.admin.must("GET", path)["spec"]
        objects.admin.must("PATCH", path, {"spec": {"kernelArguments": ["evil"]}}, MERGE)
        wait_until(lambda: objects.admin.must("GET", path)["spec"] == before, "the config is put back", 60)
        objects.admin.must("DELETE", path)
        wait_until(lambda: objects.admin.request("GET", path)[0] == 200, "the config is there again", 60)
        assert objects.admin.must("GET", path)["spec"] == before


class TestRollout:
    def test_takes_one_node_after_the_other(self, objects, agents, rolled_out):
        agents.hold()
        objects.config("10-more", files={"/etc/more": "1"})
        target = objects.wait_for_target("worker", other_than=rolled_out)
        targeted = wait_until(lambda: [name for name, (_, desired) in agents.configs().items() if desired == target],
                              "one node is updated", 60)
        wait_until(lambda: objects.pool("worker")["status"]["unavailableMachineCount"] == 1,
                   "the node counts as unavailable", 60)
        assert targeted == ["worker-0"]    # The oldest node comes first.
        assert objects.condition("worker", "Updating")["message"] == \
            f"All nodes are updating to MachineConfig {target}"
        taints = objects.admin.must("GET", "/api/v1/nodes/worker-1")["spec"]["taints"]
        assert {"key": "UpdateInProgress", "effect": "PreferNoSchedule"} in taints
        agents.go_on()
        pool = objects.wait_until_updated("worker", target)
        assert agents.most_at_work == 1
        assert agents.order == WORKERS
        status = pool["status"]
        assert [status[f"{kind}MachineCount"] for kind in ("ready", "updated", "degraded", "unavailable")] == [3, 3, 0, 0]
        for name in WORKERS:
            wait_until(lambda name=name: "UpdateInProgress" not in json.dumps(
                objects.admin.must("GET", f"/api/v1/nodes/{name}")["spec"]), "the taint is gone", 60)
            report = objects.admin.must("GET", f"{GROUP}/machineconfignodes/{name}")
            assert report["spec"]["pool"]["name"] == "worker"
            assert report["spec"]["configVersion"]["desired"] == target
        assert f"Targeted node worker-0 to MachineConfig: {target}" in objects.events("SetDesiredConfig")
        assert f"Pool worker has completed update to MachineConfig {target}" in objects.events("Completed")

    def test_takes_as_many_at_once_as_may_be_unavailable(self, objects, agents, rolled_out):
        objects.set_pool("worker", maxUnavailable=2)
        agents.hold()
        objects.config("10-more", files={"/etc/more": "1"})
        target = objects.wait_for_target("worker", other_than=rolled_out)
        wait_until(lambda: objects.pool("worker")["status"]["unavailableMachineCount"] == 2,
                   "two nodes are updated", 60)
        agents.go_on()
        objects.wait_until_updated("worker", target)
        assert agents.most_at_work == 2

    def test_moves_nodes_to_a_custom_pool_and_reports_nodes_in_two(self, objects, agents, rolled_out):
        objects.config("50-infra", role="infra", files={"/etc/infra": "1"})
        objects.custom_pool("infra")
        target = objects.wait_for_target("infra")
        assert target.startswith("rendered-infra-")
        label(objects, "worker-2", "infra")
        agents.wait_until_all_have(target, ["worker-2"])
        assert agents.configs()["worker-0"] == (rolled_out, rolled_out)
        objects.custom_pool("other")
        label(objects, "worker-2", "other")
        for pool in ("infra", "other"):
            condition = objects.wait_for_condition(pool, "Misconfigured", "True")
            assert condition["message"] == "node worker-2 belongs to 2 custom roles, cannot proceed with this Node"
        label(objects, "worker-2", "other", None)
        wait_until(lambda: objects.condition("infra", "Misconfigured") is None,
                   "the condition Misconfigured is gone", 60)
        assert objects.wait_until_updated("infra")["status"]["machineCount"] == 1

    def test_frees_nodes_from_a_config_that_is_taken_back(self, objects, agents, rolled_out):
        agents.hold()
        objects.set_pool("worker", maxUnavailable=2)
        objects.config("99-bad", files={"/etc/bad": "1"})
        bad = objects.wait_for_target("worker", other_than=rolled_out)
        agents.deadly.add(bad)
        agents.go_on()
        wait_until(lambda: objects.pool("worker")["status"]["unavailableMachineCount"] == 2, "two are lost", 60)
        objects.remove_config("99-bad")
        agents.wait_until_all_have(rolled_out)
        assert objects.wait_until_updated("worker", rolled_out)["status"]["unavailableMachineCount"] == 0
        assert "worker-2" not in agents.order

    def test_reports_which_nodes_are_degraded(self, objects, agents, rolled_out):
        agents.hold()
        objects.config("99-bad", files={"/etc/bad": "1"})
        bad = objects.wait_for_target("worker", other_than=rolled_out)
        agents.broken.add(bad)
        agents.go_on()
        wait_until(lambda: objects.pool("worker")["status"]["degradedMachineCount"] == 1,
                   "the node counts as degraded", 60)
        assert objects.condition("worker", "NodeDegraded")["status"] == "True"
        objects.remove_config("99-bad")
        agents.wait_until_all_have(rolled_out)
        objects.wait_for_condition("worker", "Degraded", "False")

    def test_renders_behind_a_pause_and_updates_no_node(self, objects, agents, rolled_out):
        objects.set_pool("worker", paused=True)
        objects.config("10-more", files={"/etc/more": "1"})
        target = objects.wait_for_target("worker", other_than=rolled_out)
        wait_until(lambda: objects.condition("worker", "Updating")["message"] ==
                   f"Pool is paused; will not update to MachineConfig {target}", "the condition reports the pause", 60)
        assert "/etc/more" in objects.wait_for_condition("worker", "PausedPending", "True")["message"]
        assert set(agents.configs().values()) == {(rolled_out, rolled_out)}
        objects.set_pool("worker", paused=False)
        agents.wait_until_all_have(target)
        objects.wait_for_condition("worker", "PausedPending", "False")

    def test_takes_masters_one_by_one_and_the_operators_last(self, objects, controller, agents):
        objects.config("00-master", role="master", files=BASE)
        target = objects.wait_for_target("master")
        masters = ["master-0", "master-1", "master-2"]
        for name in masters:
            agents.add(name, target, labels=["node-role.kubernetes.io/master"])
        objects.admin.must("POST", "/api/v1/namespaces/openshift-machine-config-operator/serviceaccounts",
                           {"metadata": {"name": "operator"}})
        wait_until(lambda: objects.admin.request("POST", "/api/v1/namespaces/openshift-machine-config-operator/pods", {
            "metadata": {"name": "operator", "labels": {"k8s-app": "machine-config-operator"}},
            "spec": {"nodeName": "master-0", "serviceAccountName": "operator",
                     "containers": [{"name": "operator", "image": "none"}]}})[0] < 300, "the pod is made", 60)
        wait_until(lambda: objects.wait_until_updated("master")["status"]["machineCount"] == 3, "three masters", 60)
        agents.order.clear()
        objects.config("10-more", role="master", files={"/etc/more": "1"})
        new = objects.wait_for_target("master", other_than=target)
        agents.wait_until_all_have(new)
        assert agents.order == ["master-1", "master-2", "master-0"]
        assert agents.most_at_work == 1
        assert "Deferring update of machine config operator node master-0" in objects.events("DeferringOperatorNodeUpdate")
        assert f"Node master-1 now has {PREFIX}desiredConfig={new}" in objects.events("AnnotationChange")


KEPT_UNTIL = "pintle.io/rendered-configs-kept-until"


def end_the_first_day(objects, pool):
    """Lets the controller remove rendered configs of a pool, which it does not do on its first day."""
    objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/{pool}", {
        "metadata": {"annotations": {KEPT_UNTIL: "2026-01-01T00:00:00Z"}}}, MERGE)


class TestGarbage:
    def test_unneeded_configs_are_removed_and_the_newest_stay(self, cluster, objects, agents):
        with Controller(cluster, "few", "--keep-rendered=1"):
            objects.config("00-worker", files=BASE)
            first = objects.wait_for_target("worker")
            end_the_first_day(objects, "worker")
            agents.add("worker-0", first)
            objects.wait_until_updated("worker", first)
            targets = [first]
            objects.set_pool("worker", paused=True)
            for version in range(3):
                objects.config("10-more", files={"/etc/more": str(version)})
                targets.append(objects.wait_for_target("worker", other_than=targets[-1]))
            # The node's present config, its wanted one, and one older config stay.
            kept = {first, targets[3], targets[1]}, {first, targets[3], targets[2]}
            wait_until(lambda: objects.rendered("worker") in kept, "one of the configs is removed", 60)
            # By the time another pool has its target, everything that is to be removed is gone.
            objects.custom_pool("infra")
            objects.wait_for_target("infra")
            assert objects.rendered("worker") in kept

    def test_the_config_of_a_node_stays_although_its_pool_has_a_newer_one(self, cluster, objects, agents):
        with Controller(cluster, "none", "--keep-rendered=0"):
            objects.config("00-worker", files=BASE)
            first = target = objects.wait_for_target("worker")
            end_the_first_day(objects, "worker")
            objects.custom_pool("infra", paused=True)
            for name in WORKERS:
                agents.add(name, first, has_report=False)
            label(objects, "worker-2", "infra")
            for version in "1", "2":
                objects.config("10-more", files={"/etc/more": version})
                target = objects.wait_for_target("worker", other_than=target)
                agents.wait_until_all_have(target, WORKERS[:2])
            wait_until(lambda: objects.rendered("worker") == {first, target}, "all others are gone", 60)
            objects.set_pool("infra", paused=False)
            wait_until(lambda: objects.rendered("worker") == {target}, f"{first} is gone, too", 60)


class TestFaults:
    @pytest.mark.parametrize("fault", [{"fault_rate": 0.08}, {"fault_rate": 0, "delay": 0.2}], ids=["failing", "late"])
    def test_no_more_nodes_are_updated_than_may_be_unavailable(self, cluster, objects, agents, tmp_path, fault):
        objects.config("00-worker", files=BASE)
        with FaultyProxy(cluster, account(cluster), **fault) as proxy:
            kubeconfig = tmp_path / "kubeconfig"
            kubeconfig.write_text(proxy.kubeconfig())
            with Controller(cluster, "hindered", kubeconfig=kubeconfig):
                target = objects.wait_for_target("worker")
                for name in WORKERS:
                    agents.add(name, target, has_report=False)
                for version in "1", "2":
                    objects.config("10-more", files={"/etc/more": version})
                    target = objects.wait_for_target("worker", other_than=target, seconds=120)
                    agents.wait_until_all_have(target, seconds=120)
                assert agents.most_at_work == 1
                assert len(objects.rendered("worker")) == 3


class CountingReads(Proxy):
    """Counts how often each object was read by itself."""

    def __init__(self, cluster, user):
        super().__init__(cluster, user)
        self.reads = collections.Counter()

    def treat(self, request, body):
        if request.command == "GET":
            self.reads[request.path.partition("?")[0]] += 1
        super().treat(request, body)


class TestWaiting:
    def test_for_the_controller_config_does_not_read_configs_again_and_again(self, cluster, objects, tmp_path):
        with CountingReads(cluster, account(cluster)) as proxy:
            kubeconfig = tmp_path / "kubeconfig"
            kubeconfig.write_text(proxy.kubeconfig())
            with Controller(cluster, "waiting", kubeconfig=kubeconfig):
                objects.config("00-worker", files=BASE)
                target = objects.wait_for_target("worker")
                objects.wait_until_updated("worker", target)
                before = proxy.reads[f"{GROUP}/machineconfigs/{target}"]
                objects.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller/status", {"status": {
                    "observedGeneration": 1,
                    "conditions": [{"type": "TemplateControllerRunning", "status": "True"}]}}, MERGE)
                objects.config("10-more", files={"/etc/more": "1"})
                # The pool waits for a minute before it reports the reason.
                objects.wait_for_reason("worker", "RenderDegraded", "ControllerConfigNotReady", seconds=180)
                assert proxy.reads[f"{GROUP}/machineconfigs/{target}"] - before <= 2


class TestMistakes:
    def test_a_node_in_no_pool_and_a_pool_of_all_configs_are_reported(self, cluster, objects, controller, agents):
        objects.config("00-worker", files=BASE)
        agents.add("stray", objects.wait_for_target("worker"), labels=("example.com/stray",), has_report=False)
        wait_until(lambda: any(message.startswith("Node stray is in no MachineConfigPool")
                               for message in objects.events("InNoPool")), "the node is reported", 60)
        objects.custom_pool("greedy")
        objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/greedy", {
            "spec": {"machineConfigSelector": {"matchExpressions": None}}}, MERGE)
        condition = objects.wait_for_reason("greedy", "RenderDegraded", "SelectingAll")
        reason = "This machineconfigpool is selecting all machineconfigs. A non-empty selector is required."
        assert condition["message"].endswith(reason)
        wait_until(lambda: reason in objects.events("SelectingAll"), "an Event has the reason", 60)


def old_config(objects, name):
    """Creates a rendered config that no node uses, as an earlier controller would have left it."""
    pool = objects.pool("worker")
    objects.admin.must("POST", f"{GROUP}/machineconfigs", {
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
        "metadata": {"name": name, "ownerReferences": [{
            "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool", "name": "worker",
            "uid": pool["metadata"]["uid"], "controller": True}]},
        "spec": {"config": {"ignition": {"version": "3.4.0"}}}})


def listed_garbage(cluster, *options):
    """Runs the command as in the controller's pod, and returns its heading and rows.

    The rows are sorted by name: the command sorts them by age, but the API server counts whole seconds only.
    """
    program = programs.here("pintle-controller")
    heading, *rows = [line.split(maxsplit=2) for line in shell.run(
        program, "garbage", "--kubeconfig", account(cluster).kubeconfig, *options).stdout.splitlines()]
    return [heading, *sorted(rows)]


class TestTheGarbageOfAnotherController:
    def test_is_kept_for_a_day_after_taking_over_and_then_removed(self, cluster, objects):
        # The pool and its configs come from another controller.
        objects.custom_pool("worker")
        objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/worker", {"spec": {
            "machineConfigSelector": {"matchLabels": {"machineconfiguration.openshift.io/role": "worker"},
                                      "matchExpressions": None}}}, MERGE)
        for number in "1", "2":
            old_config(objects, f"rendered-worker-{number}")
        later = "a day after the controller has begun to lead"
        assert listed_garbage(cluster, "--keep-rendered=0") == [
            ["NAME", "POOL", "REMOVED AFTER"], ["rendered-worker-1", "worker", later], ["rendered-worker-2", "worker", later]]
        assert listed_garbage(cluster) == [["No", "rendered", "config would be removed."]]

        objects.config("00-worker", files=BASE)
        with Controller(cluster, "taking-over", "--keep-rendered=0"):
            first = objects.wait_for_target("worker")
            objects.wait_until_updated("worker", first)
            until = wait_until(lambda: objects.pool("worker")["metadata"].get("annotations", {}).get(KEPT_UNTIL),
                               "the pool has the end of the first day", 60)
            left = datetime.datetime.fromisoformat(until.replace("Z", "+00:00")) - datetime.datetime.now(datetime.timezone.utc)
            assert datetime.timedelta(hours=23) < left <= datetime.timedelta(hours=24)
            assert listed_garbage(cluster, "--keep-rendered=0")[1:] == [
                ["rendered-worker-1", "worker", until], ["rendered-worker-2", "worker", until]]
            # The controller has looked at everything by now, and keeps the configs that nobody needs.
            objects.config("10-more", files={"/etc/more": "1"})
            second = objects.wait_for_target("worker", other_than=first)
            objects.wait_until_updated("worker", second)
            assert objects.rendered("worker") == {"rendered-worker-1", "rendered-worker-2", first, second}

            end_the_first_day(objects, "worker")
            wait_until(lambda: objects.rendered("worker") == {second}, "the others are removed", 60)
            assert objects.pool("worker")["metadata"]["annotations"][KEPT_UNTIL] == "2026-01-01T00:00:00Z"


class SilentAboutEvictions(Proxy):
    """Never answers a dry run of an eviction, until the client gives up.

    `given_up_at_update` has, for each update of a node, how many requests were given up before it.
    """

    def __init__(self, cluster, user):
        super().__init__(cluster, user)
        self.questions, self.given_up, self.given_up_at_update = 0, 0, []

    def treat(self, request, body):
        if "/eviction" in request.path and b"dryRun" in body:
            self.questions += 1
            request.rfile.read(1)    # Waits until the client leaves.
            self.given_up += 1
            return
        if request.command == "PATCH" and request.path.startswith("/api/v1/nodes/") and b"desiredConfig" in body:
            self.given_up_at_update.append(self.given_up)
        super().treat(request, body)


class TestForecasts:
    PODS = 10    # The controller sends fewer dry runs at once.

    def test_that_get_no_answer_delay_no_node_for_long(self, cluster, objects, agents, tmp_path):
        pods = "/api/v1/namespaces/default/pods"
        wait_until(lambda: objects.admin.request("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] == 200,
                   "pods can be made", 60)
        with SilentAboutEvictions(cluster, account(cluster)) as proxy:
            kubeconfig = tmp_path / "kubeconfig"
            kubeconfig.write_text(proxy.kubeconfig())
            with Controller(cluster, "unanswered", kubeconfig=kubeconfig):
                objects.config("00-worker", files=BASE)
                first = objects.wait_for_target("worker")
                agents.add("worker-0", first)
                for number in range(self.PODS):
                    objects.admin.must("POST", pods, {"metadata": {"name": f"guest-{number}"}, "spec": {
                        "nodeName": "worker-0", "containers": [{"name": "c", "image": "example.com/c"}]}})
                objects.config("10-more", files={"/etc/more": "1"})
                target = objects.wait_for_target("worker", other_than=first)
                agents.wait_until_all_have(target, seconds=240)
                # The node was updated before all dry runs had been given up, and no more are sent.
                given_up, = proxy.given_up_at_update
                assert given_up < self.PODS
                wait_until(lambda: proxy.given_up == proxy.questions, "nobody waits for answers", 60)
        objects.admin.must("DELETE", f"{pods}?gracePeriodSeconds=0")


class TestMemory:
    def test_memory_is_proportional_to_the_number_of_nodes(self, cluster, objects, agents):
        """All nodes are updated at once; before that, the drain of each node is forecast."""
        count, labels = 200, {f"example.com/feature-{index}": "true" for index in range(20)}
        with Controller(cluster, "many") as controller:
            objects.config("00-worker", files=BASE)
            first = objects.wait_for_target("worker")
            objects.set_pool("worker", maxUnavailable="100%")
            agents.hold()
            for number in range(count):
                agents.add(f"worker-{number}", first, has_report=False, **labels)
            wait_until(lambda: objects.wait_until_updated("worker")["status"]["machineCount"] == count,
                       "all nodes are updated", 60)
            before = controller.peak_kib()
            objects.config("10-more", files={"/etc/more": "1"})
            target = objects.wait_for_target("worker", other_than=first)
            wait_until(lambda: {desired for _, desired in agents.configs().values()} == {target},
                       "all nodes have the target", 120, 0.5)
            # A copy of all nodes for each forecast would take some 200 MiB.
            assert controller.peak_kib() - before < 30 * 1024


class TestReplicas:
    def test_one_leads_and_another_goes_on_where_it_was_killed(self, cluster, objects, agents):
        objects.config("00-worker", files=BASE)
        with Controller(cluster, "first") as first:
            target = objects.wait_for_target("worker")
            leader = objects.leader()
            for name in WORKERS:
                agents.add(name, target)
            objects.wait_until_updated("worker")
            with Controller(cluster, "second") as second:
                agents.hold()
                objects.config("10-more", files={"/etc/more": "1"})
                target = objects.wait_for_target("worker", other_than=target)
                wait_until(lambda: objects.pool("worker")["status"]["unavailableMachineCount"] == 1,
                           "one node is updated", 60)
                first.stop()
                agents.go_on()
                objects.wait_until_updated("worker", target)
                assert agents.most_at_work == 1
                assert objects.leader() != leader
                first.start()
                second.end()    # A replica that ends in order releases the lease.
                wait_until(objects.leader, "the other controller leads", 30)
                objects.config("10-more", files={"/etc/more": "2"})
                agents.wait_until_all_have(objects.wait_for_target("worker", other_than=target))


def label(objects, node, role, value=""):
    objects.admin.must("PATCH", f"/api/v1/nodes/{node}",
                       {"metadata": {"labels": {f"node-role.kubernetes.io/{role}": value}}}, MERGE)


class TestServing:
    def test_new_machines_get_the_config_of_their_pool(self, cluster, objects, tmp_path):
        authority = certs.Authority(tmp_path / "authority")
        pair = authority.server("server", ["127.0.0.1"])
        token = tmp_path / "token"
        token.mkdir()
        (token / "token").write_text("word", encoding="ascii")
        (token / "ca.crt").write_bytes(cluster.authority.certificate.read_bytes())
        port, = daemon.free_ports(1)
        with Controller(cluster, "serving", f"--ignition-listen=127.0.0.1:{port}", f"--cert={pair.certificate}",
                        f"--key={pair.key}", f"--bootstrap-token={token}") as controller:
            objects.config("00-worker", files={"/etc/base": "first"})
            objects.wait_for_target("worker")
            # The address of the API server for new machines is not set yet.
            wait_until(lambda: self.answer(authority, port)[0] == 500
                       and "neither --apiserver-url" in controller.log_text(), "the missing object is reported", 60)
            objects.set_infrastructure(apiServerInternalURI=cluster.url)
            first = self.served(authority, port, objects.wait_for_target("worker"))
            # `serve` with files of the same contents serves the same.
            folder = self.folder_with(objects, first, tmp_path / "files")
            with IgnitionServer(folder, plain=True) as alone:
                assert json.loads(urllib.request.urlopen(f"{alone.plain}/config/worker").read()) == first
            # A newer rendered config is served as well.
            objects.config("00-worker", files={"/etc/base": "second"})
            assert self.served(authority, port, objects.wait_for_target("worker", objects.target("worker"))) != first
            # A renewed token is used even if nothing happens in the cluster.
            (token / "token").write_text("renewed", encoding="ascii")
            wait_until(lambda: b"renewed" in all_contents(self.answer(authority, port)[1]),
                       "the new token is served", 60)

    def test_on_openshift_the_certificate_and_the_token_are_those_of_the_operators_secrets(
            self, cluster, objects, operators, tmp_path):
        authority = certs.Authority(tmp_path / "authority")
        first, renewed = (authority.server(label, ["127.0.0.1"]) for label in ("first", "renewed"))
        port, = daemon.free_ports(1)
        with Controller(cluster, "following", f"--ignition-listen=127.0.0.1:{port}",
                        f"--tls-secret={NAMESPACE}/{TLS_SECRET}",
                        f"--bootstrap-token-secret={NAMESPACE}/{TOKEN_SECRET}") as controller:
            objects.config("00-worker", files=BASE)
            objects.set_infrastructure(apiServerInternalURI=cluster.url)
            target = objects.wait_for_target("worker")
            wait_until(lambda: f"there is no Secret {NAMESPACE}/{TLS_SECRET}" in controller.log_text(),
                       "the missing certificate is reported", 60)
            assert self.answer(authority, port)[0] == 0
            operators.put(TLS_SECRET, pair_of(first))
            wait_until(lambda: self.answer(authority, port)[0] == 500
                       and f"there is no Secret {NAMESPACE}/{TOKEN_SECRET}" in controller.log_text(),
                       "the missing token is reported", 60)
            operators.issue_token()
            served = self.served(authority, port, target)
            # OpenShift approves the requests of this account only.
            assert operators.requester_of_a_certificate(token_in(served)) == (
                f"system:serviceaccount:{NAMESPACE}:node-bootstrapper")

            # The server follows the TLS profile of the cluster.
            assert self.is_accepted(authority, port, ssl.TLSVersion.TLSv1_2)
            profile = {"metadata": {"name": "cluster"}, "apiVersion": "config.openshift.io/v1", "kind": "APIServer",
                       "spec": {"tlsSecurityProfile": {"type": "Modern", "modern": {}}}}
            cluster.admin.must("POST", "/apis/config.openshift.io/v1/apiservers", profile)
            wait_until(lambda: not self.is_accepted(authority, port, ssl.TLSVersion.TLSv1_2),
                       "TLS 1.2 is refused", 60)
            assert self.is_accepted(authority, port, ssl.TLSVersion.TLSv1_3)
            cluster.admin.must("DELETE", "/apis/config.openshift.io/v1/apiservers/cluster")
            wait_until(lambda: self.is_accepted(authority, port, ssl.TLSVersion.TLSv1_2), "TLS 1.2 is accepted", 60)

            operators.put(TLS_SECRET, pair_of(renewed))
            wait_until(lambda: certificate_at(port) == certificate_in(renewed), "the renewed certificate is used", 60)
            # A key that does not match the certificate is not used.
            operators.put(TLS_SECRET, pair_of(certs.Pair(first.certificate, renewed.key)))
            wait_until(lambda: f"the Secret {NAMESPACE}/{TLS_SECRET}: the key: it does not belong" in
                       controller.log_text(), "the wrong key is reported", 60)
            assert certificate_at(port) == certificate_in(renewed)
            operators.remove(TOKEN_SECRET)
            operators.put(TOKEN_SECRET, {"token": b"another", "ca.crt": certs.named_authority("another").encode()})

            def is_served_with(token):
                status, text = self.answer(authority, port)
                return status == 200 and token in all_contents(text)
            wait_until(lambda: is_served_with(b"another"), "the new token is served", 60)

    @staticmethod
    def is_accepted(authority, port, version):
        """Returns whether the server accepts a connection with this version of TLS and no other."""
        trust = ssl.create_default_context(cafile=authority.certificate)
        trust.minimum_version = trust.maximum_version = version
        with socket.create_connection(("127.0.0.1", port), 10) as plain:
            try:
                trust.wrap_socket(plain, server_hostname="127.0.0.1").close()
                return True
            except ssl.SSLError:
                return False

    @staticmethod
    def answer(authority, port):
        """Returns the status, which is 0 if nothing listens yet, and the body."""
        trust = ssl.create_default_context(cafile=authority.certificate)
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{port}/config/worker", context=trust) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, b""
        except urllib.error.URLError:
            return 0, b""

    def served(self, authority, port, config):
        """Returns the served config, once it contains this rendered config."""
        def answer():
            status, text = self.answer(authority, port)
            return json.loads(text) if status == 200 and config.encode() in all_contents(text) else None
        return wait_until(answer, f"{config} is served", 60)

    def folder_with(self, objects, served, folder):
        """Makes a folder for `serve --from`, with the cluster's objects and the kubeconfig of a served config."""
        files = {file["path"]: decoded(file) for file in served["storage"]["files"]}
        folder.mkdir()
        name = objects.target("worker")
        for file, path in (("pool.yaml", "machineconfigpools/worker"), ("mc.yaml", f"machineconfigs/{name}"),
                           ("controllerconfig.yaml", "controllerconfigs/machine-config-controller")):
            (folder / file).write_text(json.dumps(objects.admin.must("GET", f"{GROUP}/{path}")), encoding="utf-8")
        (folder / "kubeconfig").write_bytes(files["/etc/kubernetes/kubeconfig"])
        assert b"word" in files["/etc/kubernetes/kubeconfig"] and b"https://127.0.0.1" in files["/etc/kubernetes/kubeconfig"]
        return folder


TLS_SECRET, TOKEN_SECRET = "machine-config-server-tls", "node-bootstrapper-token"


class OperatorsSecrets:
    """The Secrets and the account that the Machine Config Operator leaves for new machines, and the rights in deploy/
    to read these Secrets.
    """

    SECRETS = f"/api/v1/namespaces/{NAMESPACE}/secrets"
    ACCOUNTS = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
    BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    BINDING = "system-bootstrap-node-bootstrapper"

    def __init__(self, cluster):
        self._cluster, self._admin = cluster, cluster.admin
        account(cluster)    # It creates the namespace of the controller.
        # The overlay has the rights of deploy/openshift as well, such as that to read the TLS profile.
        cluster.admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": "openshift-config"}})
        cluster.admin.apply_files(DEPLOY / "openshift/rbac.yaml", DEPLOY / "ignition/openshift/rbac.yaml")
        if not cluster.has("config.openshift.io/v1", "apiservers"):
            openshift_kinds.install(cluster, [next(kind for kind in openshift_kinds.KINDS if kind[2] == "APIServer")])
        self._admin.must("POST", self.ACCOUNTS, {"metadata": {"name": "node-bootstrapper"}})
        self._admin.must("POST", self.BINDINGS, {
            "metadata": {"name": self.BINDING},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "system:node-bootstrapper"},
            "subjects": [{"kind": "ServiceAccount", "name": "node-bootstrapper", "namespace": NAMESPACE}]})
        grants.wait_until_known(cluster.admin)

    def put(self, name, contents):
        """Creates or replaces a Secret."""
        data = {key: base64.b64encode(value).decode("ascii") for key, value in contents.items()}
        status, _ = self._admin.request("POST", self.SECRETS, {"metadata": {"name": name}, "data": data})
        if status == 409:
            self._admin.must("PATCH", f"{self.SECRETS}/{name}", {"data": data}, MERGE)

    def issue_token(self):
        """Creates the Secret with the account's token, which the cluster's own controllers fill in."""
        annotations = {"kubernetes.io/service-account.name": "node-bootstrapper"}
        self._admin.must("POST", self.SECRETS, {"metadata": {"name": TOKEN_SECRET, "annotations": annotations},
                                                "type": "kubernetes.io/service-account-token"})

    def requester_of_a_certificate(self, token):
        """Asks for a kubelet's certificate with the token; returns the user of the request."""
        folder = self._cluster.folder
        shell.run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                  "/O=system:nodes/CN=system:node:new", "-keyout", folder / "new.key", "-out", folder / "new.csr")
        connection = self._cluster.connection()
        connection.request("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", json.dumps({
            "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "new"},
            "spec": {"signerName": "kubernetes.io/kube-apiserver-client-kubelet",
                     "request": base64.b64encode((folder / "new.csr").read_bytes()).decode("ascii"),
                     "usages": ["digital signature", "client auth"]}}),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        made = json.loads(answer.read())
        connection.close()
        assert answer.status == 201, made
        return made["spec"]["username"]

    def remove(self, name):
        self._admin.request("DELETE", f"{self.SECRETS}/{name}")

    def remove_all(self):
        for name in (TLS_SECRET, TOKEN_SECRET):
            self.remove(name)
        for path in (f"{self.ACCOUNTS}/node-bootstrapper", f"{self.BINDINGS}/{self.BINDING}"):
            self._admin.must("DELETE", path)


@pytest.fixture
def operators(cluster):
    made = OperatorsSecrets(cluster)
    yield made
    made.remove_all()


def pair_of(pair):
    return {"tls.crt": pair.certificate.read_bytes(), "tls.key": pair.key.read_bytes()}


def certificate_at(port):
    """Returns the server's certificate as DER."""
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port)))


def certificate_in(pair):
    return ssl.PEM_cert_to_DER_cert(pair.certificate.read_text(encoding="ascii"))


def token_in(served):
    """Returns the token with which a new machine asks for its certificate."""
    kubeconfig, = (decoded(file) for file in served["storage"]["files"] if file["path"] == "/etc/kubernetes/kubeconfig")
    return re.search(r"(?m)^ +token: (\S+)$", kubeconfig.decode())[1]


def decoded(file):
    """Returns the contents of a file of an Ignition config."""
    return urllib.request.urlopen(file["contents"]["source"]).read()


def all_contents(text):
    """Returns the contents of all files of an Ignition config, one after the other."""
    return b"".join(decoded(file) for file in json.loads(text)["storage"]["files"])
