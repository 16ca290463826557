# SPDX-License-Identifier: Apache-2.0
"""Tests the ClusterOperator and the other objects that pintle-controller maintains as OpenShift's operator does."""

import pytest

from machines import openshift_kinds
from machines.cluster import Cluster
from machines.controller import GROUP, MERGE, Controller, Objects, account, prepare_cluster
from machines.openshift_settings import allow_operator
from machines.simulated_agents import SimulatedAgents
from machines.wait import wait_until

OPERATOR = "/apis/config.openshift.io/v1/clusteroperators/machine-config"
CONFIGURATION = "/apis/operator.openshift.io/v1/machineconfigurations/cluster"
RELEASE = "machineconfiguration.openshift.io/release-image-version"
REQUIRED = "operator.machineconfiguration.openshift.io/required-for-upgrade"
MASTER = "node-role.kubernetes.io/master"
LONG_AGO = "2020-01-01T00:00:00Z"


class Operator:
    """Reads the ClusterOperator."""

    def __init__(self, admin):
        self.admin = admin

    def status(self):
        found, operator = self.admin.request("GET", OPERATOR)
        return operator.get("status", {}) if found == 200 else {}

    def condition(self, kind):
        return next((each for each in self.status().get("conditions", []) if each["type"] == kind), None)

    def wait_for(self, kind, status, message="", reason=None):
        def found():
            condition = self.condition(kind)
            fits = condition and condition["status"] == status and message in condition["message"] \
                and reason in (None, condition["reason"])
            return condition if fits else None
        return wait_until(found, f"{kind} is {status} {reason or ''} {message}", 60)

    def versions(self):
        return {each["name"]: each["version"] for each in self.status().get("versions", [])}


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        openshift_kinds.install(running, [openshift_kinds.CLUSTER_OPERATOR])
        allow_operator(running)
        yield running


@pytest.fixture
def objects(cluster):
    """A cluster with the ControllerConfig of a release, and a config for each role."""
    made = Objects(cluster)
    made.controller_config(**{RELEASE: "4.21.0"})
    for role in ("master", "worker"):
        made.config(f"00-{role}", role=role, files={"/etc/base": "1"})
    yield made
    made.delete_all()
    for path in (OPERATOR, CONFIGURATION):
        cluster.admin.request("DELETE", path)


@pytest.fixture
def operator(cluster):
    return Operator(cluster.admin)


@pytest.fixture
def controller(cluster, objects):
    with Controller(cluster, "controller", "--operator=yes") as running:
        wait_until(objects.leader, "the controller leads", 60)
        yield running


@pytest.fixture
def agents(cluster):
    with SimulatedAgents(cluster) as running:
        yield running


@pytest.fixture
def installed(objects, operator, controller, agents):
    """A cluster whose only master has the configs of the release 4.21.0; returns the name of its config."""
    target = objects.wait_for_target("master")
    # The controller creates the MachineConfigNode.
    agents.add("master-0", target, labels=[MASTER], has_report=False)
    objects.wait_until_updated("master")
    operator.wait_for("Progressing", "False", "Cluster version is 4.21.0")
    return target


def set_release(objects, release):
    objects.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller",
                       {"metadata": {"annotations": {RELEASE: release}}}, MERGE)


def date_back(objects, pool, kind):
    """Changes the status of a pool, so that a condition has lasted since LONG_AGO."""
    conditions = objects.pool(pool)["status"]["conditions"]
    for condition in conditions:
        if condition["type"] == kind:
            condition["lastTransitionTime"] = LONG_AGO
    objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/{pool}/status", {"status": {"conditions": conditions}}, MERGE)


def test_an_installed_release_is_reported(installed, objects, operator):
    assert operator.versions() == {"operator": "4.21.0"}
    available = operator.wait_for("Available", "True", reason="AsExpected")
    assert available["message"] == "Cluster has deployed [{operator 4.21.0}]"
    operator.wait_for("Degraded", "False")
    operator.wait_for("Upgradeable", "True", reason="AsExpected")
    status = operator.status()
    assert status["relatedObjects"][0] == {
        "group": "", "resource": "namespaces", "name": "openshift-machine-config-operator"}
    wait_until(lambda: operator.status()["extension"].get("master") ==
               f"all 1 nodes are at latest configuration {installed}", "the extension has the pool", 60)
    # The controller records Events beside its other writes, so the Event can come after the status.
    wait_until(lambda: any("is bootstrapping to [{operator 4.21.0}]" in message
                           for message in objects.events("OperatorVersionChanged")), "the Event of the version", 60)


def test_an_upgrade_progresses_until_all_masters_have_the_new_release(installed, objects, operator, agents):
    agents.hold()
    # The config comes first: a release that seems to change no config is installed at once.
    objects.config("00-master", role="master", files={"/etc/base": "2"})
    target = objects.wait_for_target("master", other_than=installed)
    set_release(objects, "4.22.0")
    operator.wait_for("Progressing", "True", "Working towards 4.22.0")
    wait_until(lambda: agents.configs()["master-0"] == (installed, target), "the node is being updated", 60)
    assert operator.versions() == {"operator": "4.21.0"}
    operator.wait_for("Degraded", "False")
    agents.go_on()
    operator.wait_for("Progressing", "False", "Cluster version is 4.22.0")
    assert operator.versions() == {"operator": "4.22.0"}
    assert agents.configs()["master-0"] == (target, target)
    messages = wait_until(lambda: [message for message in objects.events("OperatorVersionChanged")
                                   if "version changed from" in message], "the event is there", 60)
    assert messages == [
        "clusteroperator/machine-config version changed from [{operator 4.21.0}] to [{operator 4.22.0}]"]


def test_a_release_that_changes_no_config_is_installed_as_well(installed, objects, operator):
    set_release(objects, "4.21.1")
    operator.wait_for("Progressing", "False", "Cluster version is 4.21.1")
    assert operator.versions() == {"operator": "4.21.1"}
    assert objects.target("master") == installed


def test_a_rollout_of_the_same_release_does_not_progress(installed, objects, operator, agents):
    agents.hold()
    objects.config("10-more", role="master", files={"/etc/more": "1"})
    target = objects.wait_for_target("master", other_than=installed)
    wait_until(lambda: "not ready" in operator.status()["extension"].get("lastSyncError", ""), "the pool is named", 60)
    operator.wait_for("Progressing", "False", "Cluster version is 4.21.0")
    agents.go_on()
    objects.wait_until_updated("master", target)
    wait_until(lambda: "lastSyncError" not in operator.status()["extension"], "the operator waits for no pool", 60)


def test_a_degraded_master_prevents_upgrades_and_is_a_failure_after_a_while(installed, objects, operator, agents):
    agents.hold()
    objects.config("99-bad", role="master", files={"/etc/bad": "1"})
    agents.broken.add(objects.wait_for_target("master", other_than=installed))
    agents.go_on()
    operator.wait_for("Upgradeable", "False", "One or more machine config pools are degraded", "DegradedPool")
    operator.wait_for("Degraded", "False")
    date_back(objects, "master", "Degraded")
    operator.wait_for("Degraded", "True", "Failed to resync 4.21.0 because: during syncRequiredMachineConfigPools",
                      "RequiredPoolsFailed")
    operator.wait_for("Progressing", "False", "Error while reconciling 4.21.0")
    wait_until(lambda: objects.events("OperatorDegraded: RequiredPoolsFailed"), "there is an event", 60)
    objects.remove_config("99-bad")
    operator.wait_for("Degraded", "False")
    operator.wait_for("Upgradeable", "True")


def test_only_a_paused_master_pool_with_a_pending_update_is_a_failure(installed, objects, operator):
    objects.set_pool("worker", paused=True)
    objects.set_pool("master", paused=True)
    objects.config("10-waits", role="master", files={"/etc/waits": "1"})
    objects.wait_for_target("master", other_than=installed)
    operator.wait_for("Degraded", "True", "required MachineConfigPool master is paused and cannot sync",
                      "RequiredPoolsFailed")
    operator.wait_for("Upgradeable", "True")
    objects.set_pool("master", paused=False)
    # The pool of the workers is still paused.
    operator.wait_for("Degraded", "False")


def test_each_node_has_a_machine_config_node(installed, objects, agents):
    agents.add("master-1", installed, labels=[MASTER], has_report=False)

    def report():
        found, thing = objects.admin.request("GET", f"{GROUP}/machineconfignodes/master-1")
        return thing if found == 200 else None
    made = wait_until(report, "the MachineConfigNode is there", 60)
    assert made["spec"]["pool"] == {"name": "master"} and made["spec"]["configVersion"] == {"desired": installed}
    owner, = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Node", "master-1")
    agents.names.remove("master-1")
    objects.admin.must("DELETE", "/api/v1/nodes/master-1")
    wait_until(lambda: report() is None, "the MachineConfigNode is gone", 60)


def test_the_policy_of_an_administrator_is_merged_into_the_status(controller, objects, operator):
    def files():
        found, thing = objects.admin.request("GET", CONFIGURATION)
        status = thing.get("status", {}) if found == 200 else {}
        policies = status.get("nodeDisruptionPolicyStatus", {}).get("clusterPolicies", {})
        return {each["path"]: [action["type"] for action in each["actions"]] for each in policies.get("files", [])}
    wait_until(lambda: files().get("/etc/containers/registries.conf") == ["Special"], "the defaults are there", 60)
    objects.admin.must("PATCH", CONFIGURATION, {"spec": {"nodeDisruptionPolicy": {"files": [
        {"path": "/etc/mine", "actions": [{"type": "None"}]}]}}}, MERGE)
    wait_until(lambda: files().get("/etc/mine") == ["None"], "the administrator's policy is there", 60)
    assert "/etc/containers/registries.conf" in files()


def test_the_labels_of_built_in_pools_come_back(controller, objects, operator):
    objects.wait_for_target("master")
    objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/master",
                       {"metadata": {"labels": {REQUIRED: None, "mine": "stays"}}}, MERGE)
    wait_until(lambda: REQUIRED in objects.pool("master")["metadata"]["labels"], "the label is back", 60)
    assert objects.pool("master")["metadata"]["labels"]["mine"] == "stays"


def test_the_controller_may_write_no_other_cluster_operator(cluster, controller):
    user = account(cluster)
    kinds = OPERATOR.rpartition("/")[0]
    patch = {"status": {"conditions": []}}
    with cluster.refusals.expected(user, "patch clusteroperators/status", "patch clusteroperators",
                                   "delete clusteroperators", "list clusteroperators", "patch machineconfigurations"):
        assert user.request("PATCH", f"{kinds}/etcd/status", patch, MERGE)[0] == 403
        assert user.request("PATCH", OPERATOR, {"metadata": {"labels": {"a": "b"}}}, MERGE)[0] == 403
        assert user.request("DELETE", OPERATOR)[0] == 403
        assert user.request("GET", kinds)[0] == 403
        assert user.request("PATCH", CONFIGURATION, {"spec": {}}, MERGE)[0] == 403


def test_without_the_option_nothing_is_reported(cluster, objects, operator):
    with Controller(cluster, "controller", "--operator=no"):
        objects.wait_for_target("master")
        objects.wait_until_updated("master")
        # Pool statuses are written last, so the ClusterOperator would have been written by now.
        assert operator.status() == {}
        assert cluster.admin.request("GET", CONFIGURATION)[0] == 404
