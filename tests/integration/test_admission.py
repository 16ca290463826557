# SPDX-License-Identifier: Apache-2.0
"""Tests deploy/admission: the requests that an API server refuses if it has ValidatingAdmissionPolicies, which come
with 1.30.
"""

import json
import pathlib
import re

import pytest

from machines import agent_node
from machines.agent_node import PREFIX, create_rendered
from machines.controller import GROUP, MERGE, account
from machines.installed import file, machine_config
from machines.wait import wait_until

ADMISSION = pathlib.Path(__file__).parents[2] / "deploy/admission"
API = "admissionregistration.k8s.io/v1"
NODES = f"{GROUP}/machineconfignodes"
POOLS = f"{GROUP}/machineconfigpools"
ROLE = "machineconfiguration.openshift.io/role"
CONTROLLERS_ANNOTATIONS = {
    PREFIX + "desiredConfig": "rendered-worker-1", PREFIX + "desiredImage": "image",
    PREFIX + "firstPivotConfig": "rendered-infra-1", PREFIX + "customPoolLabelsApplied": "",
    PREFIX + "lastAppliedDrain": "drain-rendered-worker-1",
    "pintle.io/controller-config-waits-until": "2030-01-01T00:00:00Z",
    "pintle.io/drain-started": "2026-11-21T20:00:00Z drain-rendered-worker-1", "pintle.io/keep-cordoned": "true",
    "pintle.io/stage": "rendered-worker-1"}


@pytest.fixture(scope="module")
def cluster():
    with agent_node.agent_cluster() as running:
        yield running


@pytest.fixture(scope="module")
def guarded(cluster):
    """Returns the cluster once all policies are in effect."""
    if not cluster.has(API, "validatingadmissionpolicies"):
        pytest.skip(f"Kubernetes {cluster.version} has no ValidatingAdmissionPolicies, which come with 1.30")
    cluster.kubectl("apply", "-k", ADMISSION)
    for name in ("node-a", "node-b"):
        cluster.add_node(name)
        cluster.admin.must("POST", NODES, report(name))
        annotate(cluster.admin, name, currentConfig="rendered-worker-0", desiredConfig="rendered-worker-0")
    user = cluster.node("node-a")
    # The API server reads each policy separately, some time after it was created.
    with cluster.refusals.expected(user, "patch machineconfignodes", "patch nodes"):
        for kind, refused in {
                "MachineConfigNodes": lambda: patch_report(user, "node-b"),
                "pools": lambda: create_pool(cluster.admin, {"matchLabels": {ROLE: "infra"}}),
                "MachineConfigurations": lambda: create_configuration(cluster.admin, "mine"),
                "Nodes": lambda: annotate(user, "node-a", desiredConfig="mine")}.items():
            wait_until(lambda refused=refused: refused()[0] >= 400, f"the policy about {kind} counts", 60, every=0.5)
    return cluster


def report(name, about=None):
    return {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigNode", "metadata": {"name": name},
            "spec": {"node": {"name": about or name}, "pool": {"name": "worker"}, "configVersion": {"desired": "x"}}}


def patch_report(user, name, subresource=""):
    patch = {"status": {"observedGeneration": 1}} if subresource else {"spec": {"pool": {"name": "other"}}}
    return user.request("PATCH", f"{NODES}/{name}{subresource}?dryRun=All", patch, MERGE)


def create_pool(user, selector):
    return user.request("POST", f"{POOLS}?dryRun=All", {
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool", "metadata": {"name": "infra"},
        "spec": {} if selector is None else {"machineConfigSelector": selector}})


def create_configuration(user, name):
    return user.request("POST", "/apis/operator.openshift.io/v1/machineconfigurations?dryRun=All", {
        "apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration", "metadata": {"name": name}, "spec": {}})


def annotate(user, name, subresource="", **values):
    return set_annotations(user, name, {PREFIX + key: value for key, value in values.items()}, subresource)


def set_annotations(user, name, values, subresource=""):
    return user.request("PATCH", f"/api/v1/nodes/{name}{subresource}", {"metadata": {"annotations": values}}, MERGE)


def refused(answer, text):
    status, body = answer
    return status in (403, 422) and text in body["message"] and "ValidatingAdmissionPolicy" in body["message"]


def test_each_file_is_listed_and_each_policy_is_in_force():
    for folder in (ADMISSION, ADMISSION / "os-image-streams"):
        files = {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml"}
        assert set(re.findall(r"(?m)^  - (\S+)$", (folder / "kustomization.yaml").read_text())) == files
        for path in (folder / name for name in files):
            objects = path.read_text().split("\n---\n")
            kinds = [re.search(r"(?m)^kind: (\w+)$", each)[1] for each in objects]
            names = [re.search(r"(?m)^metadata:\n  name: (\S+)$", each)[1] for each in objects]
            assert kinds == ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"] * (len(objects) // 2), path
            # The names differ from those of the Machine Config Operator's own policies.
            assert names[::2] == names[1::2] and all(name.startswith("pintle-") for name in names), path
            for name, binding in zip(names[::2], objects[1::2]):
                assert f"\n  policyName: {name}\n" in binding and "\n  validationActions: [Deny]\n" in binding + "\n", path
            assert all(f"apiVersion: {API}\n" in each for each in objects), path


@pytest.mark.parametrize("path", ["machine-config-pools.yaml", "os-image-streams/os-image-streams.yaml"])
def test_a_policy_about_pools_checks_only_what_a_request_changes(path):
    """A pool that the policy would refuse today can still be paused, labelled and rolled out."""
    policy = (ADMISSION / path).read_text().split("\n---\n")[0]
    assert "resources: [machineconfigpools]" in policy
    condition = re.search(r"(?m)^  matchConditions:\n    - name: \S+\n      expression: >-\n((?:        .*\n)+)", policy)[1]
    assert condition.lstrip().startswith("oldObject == null ||\n") and "oldObject.spec." in condition


def test_the_policy_about_nodes_lists_all_annotations_of_the_controller():
    """Older API servers do not have the policies, so this test reads the list."""
    listed = re.search(r"(?m)^    - name: changed\n      expression: >-\n        \[([^]]*)\]",
                       (ADMISSION / "nodes.yaml").read_text())[1]
    assert sorted(re.findall(r"'([^']+)'", listed)) == sorted(CONTROLLERS_ANNOTATIONS)


def test_the_base_does_not_contain_the_policies(cluster):
    """The controller can be deployed without the policies, which are in a folder of their own."""
    for folder in ("base", "openshift", "kubernetes"):
        assert "admission" not in (ADMISSION.parent / folder / "kustomization.yaml").read_text()
    made = cluster.kubectl("kustomize", ADMISSION).stdout
    assert len(re.findall(r"(?m)^kind: ValidatingAdmissionPolicy$", made)) == 4
    result = cluster.kubectl("apply", "--dry-run=server", "-f", "-", input=made, check=False)
    if cluster.has(API, "validatingadmissionpolicies"):
        assert result.returncode == 0, result.stderr
    else:
        assert 'no matches for kind "ValidatingAdmissionPolicy"' in result.stderr


def test_a_node_writes_its_own_report_and_no_other(guarded):
    user = guarded.node("node-a")
    with guarded.refusals.expected(user, "patch machineconfignodes", "patch machineconfignodes/status",
                                   "create machineconfignodes"):
        for subresource in ("", "/status"):
            assert patch_report(user, "node-a", subresource)[0] == 200
            assert refused(patch_report(user, "node-b", subresource),
                           "the MachineConfigNode node-b is written by the node of that name")
            assert patch_report(account(guarded), "node-b", subresource)[0] == 200
        assert refused(user.request("POST", f"{NODES}?dryRun=All", report("node-c")), "not by system:node:node-a")


def test_a_node_may_not_choose_its_own_config(guarded):
    user = guarded.node("node-a")
    with guarded.refusals.expected(user, "patch nodes", "patch nodes/status"):
        for key, value in CONTROLLERS_ANNOTATIONS.items():
            for subresource in ("", "/status"):
                assert refused(set_annotations(user, "node-a", {key: value}, subresource),
                               f"not by the node: {key}"), (key, subresource)
        for nothing in (None, ""):
            assert refused(annotate(user, "node-a", currentConfig=nothing), "may not remove it")
    assert annotate(user, "node-a", state="Working", desiredDrain="drain-rendered-worker-1")[0] == 200
    assert set_annotations(guarded.admin, "node-a", CONTROLLERS_ANNOTATIONS)[0] == 200
    assert set_annotations(guarded.admin, "node-a", dict.fromkeys(CONTROLLERS_ANNOTATIONS))[0] == 200
    # A kubelet may still report that it is alive.
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Said"}]}}
    assert user.request("PATCH", "/api/v1/nodes/node-a/status", ready)[0] == 200


@pytest.mark.parametrize("selector", [
    None, {}, {"matchLabels": {ROLE: "infra"}}, {"matchLabels": {"other": "worker"}},
    {"matchExpressions": [{"key": ROLE, "operator": "In", "values": ["infra"]}]},
    {"matchExpressions": [{"key": ROLE, "operator": "NotIn", "values": ["worker"]}]},
    {"matchExpressions": [{"key": ROLE, "operator": "Exists"}]}], ids=json.dumps)
def test_a_pool_without_the_configs_of_workers_is_refused(guarded, selector):
    assert refused(create_pool(guarded.admin, selector), "the pool infra would leave out the configs of all workers")


@pytest.mark.parametrize("selector", [
    {"matchLabels": {ROLE: "worker"}}, {"matchLabels": {ROLE: "master"}},
    {"matchExpressions": [{"key": ROLE, "operator": "In", "values": ["worker", "infra"]}]},
    {"matchExpressions": [{"key": ROLE, "operator": "NotIn", "values": ["infra"]}]}], ids=json.dumps)
def test_a_pool_with_the_configs_of_workers_is_accepted(guarded, selector):
    status, answer = create_pool(guarded.admin, selector)
    assert status == 201, answer


def test_only_one_machine_configuration_is_accepted(guarded):
    assert refused(create_configuration(guarded.admin, "mine"), "named cluster has an effect, and not mine")


def test_an_agent_works_under_the_policies(guarded, new_node):
    """The agent works from its first boot, at which it sets its own annotations, to another config."""
    node = new_node()
    first, second = (create_rendered(guarded, f"rendered-{node.name}-{number}",
                                     machine_config([file("/etc/live/a", str(number))])["spec"]) for number in (0, 1))
    node.run("mkdir", "-p", "/etc/live", "/etc/machine-config-daemon")
    node.run("sh", "-c", "printf 0 >/etc/live/a")
    annotations = {PREFIX + key: value for key, value in
                   {"currentConfig": first, "desiredConfig": first, "state": "Done"}.items()}
    node.run("tee", "/etc/machine-config-daemon/node-annotations.json", input=json.dumps(annotations))
    node.start()
    node.wait_done(first)
    node.annotate(desiredConfig=second)
    node.wait_done(second)
    assert guarded.get("machineconfignode", node.name)["spec"]["configVersion"]["desired"] == second
