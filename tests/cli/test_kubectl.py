# SPDX-License-Identifier: Apache-2.0
"""Tests `kubectl pintle` with a small API server of its own; tests/integration/test_live_cluster.py uses a real one."""

import json
import os
import pathlib
import subprocess
import urllib.parse

import pytest
from machines import loopback_server
from program import PINTLE, write

GROUP = "machineconfiguration.openshift.io"


def pool(name="worker", conditions=(), **spec):
    return {"apiVersion": f"{GROUP}/v1", "kind": "MachineConfigPool", "metadata": {"name": name},
            "spec": {"configuration": {"name": f"rendered-{name}-1"}, **spec},
            "status": {"machineCount": 2, "updatedMachineCount": 2, "conditions": [
                {"type": kind, "status": "True", "reason": "", "message": message}
                for kind, message in dict(conditions).items()]}}


class Server(loopback_server.LoopbackServer):
    """An API server that lists the given objects by kind, and returns one of them by name.  `users` has the answer to
    each path of a SelfSubjectReview.  Each patch of the first pool is added to `patches`.
    """

    def __init__(self, users=(), patches=None, **objects):
        users = dict(users)

        class Handler(loopback_server.Handler):
            def do_GET(self):
                above, _, kind = self.path.split("?")[0].rpartition("/")
                found = objects.get(kind)
                named = [each for each in objects.get(above.rpartition("/")[2], []) if each["metadata"]["name"] == kind]
                if named:
                    found = named[0]
                selector = dict(urllib.parse.parse_qsl(self.path.partition("?")[2])).get("fieldSelector", "")
                if selector.startswith("involvedObject.kind="):
                    found = [each for each in found or [] if each["involvedObject"]["kind"] == selector.partition("=")[2]]
                if named:
                    self.answer_with(200, found)
                elif found is not None:
                    self.answer_with(200, {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"},
                                           "items": found})
                else:
                    self.answer_with(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
                                           "reason": "NotFound", "message": f"there are no {kind}"})

            def answer_with(self, status, document):
                self.respond(status, json.dumps(document).encode())

            def do_POST(self):
                self.read_body()
                user = users.get(self.path)
                self.answer_with(201 if user else 404, {"kind": "SelfSubjectReview", "status": {
                    "userInfo": {"username": user}}} if user else
                    {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404})

            def do_PATCH(self):
                patches.append(json.loads(self.read_body()))
                self.answer_with(200, objects["machineconfigpools"][0])
        super().__init__(Handler)


def kubeconfig_of(server, path):
    return write(path, {
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": f"http://{server.host}"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {}}]})


@pytest.fixture
def kubectl(tmp_path):
    """Runs the plug-in as kubectl would, in a cluster with these pools."""
    (tmp_path / "kubectl-pintle").symlink_to(pathlib.Path(PINTLE).absolute())

    def call(*words, pools=(), **objects):
        with Server(machineconfigpools=list(pools), **objects) as server:
            config = kubeconfig_of(server, tmp_path / "kubeconfig")
            return subprocess.run([tmp_path / "kubectl-pintle", *words], capture_output=True, text=True, check=False,
                                  env={**os.environ, "KUBECONFIG": str(config)})
    return call


UPDATED = {"Updated": "All nodes are updated with MachineConfig rendered-worker-1"}


def test_a_healthy_pool_ends_with_0(kubectl):
    result = kubectl("status", pools=[pool(conditions=UPDATED)])
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "worker: updated, 2 of 2 nodes have rendered-worker-1\n"


@pytest.mark.parametrize("condition", ["Misconfigured", "PausedPending", "RenderDegraded", "PinnedImageSetsDegraded",
                                       "AsNewVersionsSayIt"])
def test_a_problem_of_an_updated_pool_is_printed_and_ends_with_2(kubectl, condition):
    result = kubectl("status", pools=[pool("master", UPDATED), pool(conditions={**UPDATED, condition: "so it is"})])
    assert (result.returncode, result.stderr) == (2, "")
    assert result.stdout.splitlines()[1:] == ["worker: updated, 2 of 2 nodes have rendered-worker-1",
                                              f"  {condition}: so it is"]
    # The exit status is only about the named pools.
    assert kubectl("status", "master", pools=[pool("master", UPDATED), pool(conditions={condition: ""})]).returncode == 0


def test_status_has_the_forms_that_programs_want(kubectl):
    pools = [pool("master", UPDATED), pool(conditions={"NodeDegraded": "why"})]
    result = kubectl("status", "-o", "json", pools=pools)
    assert result.returncode == 2
    assert [each["name"] for each in json.loads(result.stdout)["pools"]] == ["master", "worker"]
    as_yaml = kubectl("status", "-o", "yaml", pools=pools)
    assert as_yaml.returncode == 2 and as_yaml.stdout.startswith("pools:\n- name: master\n  paused: false\n")
    assert kubectl("status", "-o", "name", pools=pools).stdout == "master\nworker\n"
    refused = kubectl("status", "-o", "wide", pools=pools)
    assert refused.returncode == 1 and "json|yaml|name" in refused.stderr and refused.stdout == ""


def without_a_cluster(tmp_path, *words, **more):
    (tmp_path / "kubectl-pintle").symlink_to(pathlib.Path(PINTLE).absolute())
    environment = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    return subprocess.run([tmp_path / "kubectl-pintle", *words], capture_output=True, text=True, check=False,
                          env={**environment, "HOME": str(tmp_path), **more})


def test_a_missing_kubeconfig_is_an_error_with_its_remedy(tmp_path):
    result = without_a_cluster(tmp_path, "status")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (f"kubectl pintle: status: there is no {tmp_path}/.kube/config: name a kubeconfig with "
                             "--kubeconfig or $KUBECONFIG\n")


def test_an_error_names_a_list_of_kubeconfigs_none_of_which_exists(tmp_path):
    result = without_a_cluster(tmp_path, "status", KUBECONFIG="/nowhere:/nowhere/else")
    assert result.returncode == 1
    assert "$KUBECONFIG names no file that exists (/nowhere:/nowhere/else): name one there" in result.stderr


def test_a_cluster_that_does_not_answer_is_reported_once(tmp_path):
    config = write(tmp_path / "config", {
        "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}]})
    result = without_a_cluster(tmp_path, "status", "--kubeconfig", config)
    assert result.returncode == 1 and result.stderr.count("listing machineconfigpools: ") == 1


def test_arguments_are_checked_before_the_cluster_is_contacted(tmp_path):
    result = without_a_cluster(tmp_path, "diff", "--kubeconfig", "/nowhere", "a", "b", "c")
    assert result.returncode == 1 and "name two MachineConfigs, or one pool" in result.stderr


def test_rollout_has_no_options_for_files(tmp_path):
    assert "--pool" not in without_a_cluster(tmp_path, "rollout", "--help").stdout


def policy(**status):
    return {"apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "p"},
            "spec": {"pool": "worker", "waves": [{"name": "canary", "nodes": 1}]},
            "status": {"conditions": [], "pools": [
                {"name": "worker", "wave": 1, "waves": 2, "nodes": 2, "updated": 0, "memory": {}, **status}]}}


def node(name, config="rendered-worker-0"):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {
        "name": name, "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"node-role.kubernetes.io/worker": ""},
        "annotations": {f"{GROUP}/currentConfig": config, f"{GROUP}/desiredConfig": config, f"{GROUP}/state": "Done"}},
        "spec": {}, "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "", "message": "",
                                               "lastTransitionTime": "2026-01-01T00:01:00Z"}]}}


WORKERS = {"nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}}}


def test_status_has_the_progress_of_a_rollout_by_a_policy(kubectl):
    objects = {"pools": [pool(**WORKERS)], "nodes": [node("w0"), node("w1")],
               "rolloutpolicies": [policy(phase="Updating", message="1 node is being updated\x1b[2J",
                                          since="2026-01-01T00:00:00Z")]}
    result = kubectl("status", **objects)
    assert (result.returncode, result.stderr) == (2, "")
    lines = result.stdout.splitlines()
    assert lines[1] == "  rollout by RolloutPolicy p: wave 1 of 2 (canary), 0 of 2 nodes are updated"
    assert lines[2].startswith("    Updating since Thu 2026-01-01 00:00 +00:00, for ")
    assert lines[2].endswith(": 1 node is being updated\\x1B[2J")
    assert lines[3].startswith("    Earliest end: ") and "in 20 minutes, if each node takes 10 minutes" in lines[3]
    rollout = json.loads(kubectl("status", "-o", "json", **objects).stdout)["pools"][0]["rollout"]
    assert rollout["policy"] == "p" and rollout["phase"] == "Updating" and rollout["wave"] == 1
    assert rollout["nodeTimeFrom"] == "Guess" and rollout["earliestEnd"]


def test_status_leaves_out_a_rollout_that_is_complete(kubectl):
    result = kubectl("status", pools=[pool(conditions=UPDATED)], rolloutpolicies=[policy(phase="Complete")])
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "worker: updated, 2 of 2 nodes have rendered-worker-1\n"


def event(kind, name, reason, at, message="because", **more):
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"{name}.{reason}", "namespace": "default"},
            "involvedObject": {"kind": kind, "name": name}, "reason": reason, "message": message, "type": "Normal",
            "firstTimestamp": at, "lastTimestamp": at, "count": 1, **more}


def test_history_is_a_timeline_of_a_node_or_a_pool(kubectl):
    report = {"apiVersion": f"{GROUP}/v1", "kind": "MachineConfigNode", "metadata": {"name": "w0"},
              "spec": {"node": {"name": "w0"}, "pool": {"name": "worker"}, "configVersion": {"desired": "x"}},
              "status": {"conditions": [{"type": "Updated", "status": "True", "reason": "Updated", "message": "done",
                                         "lastTransitionTime": "2026-01-02T00:03:00Z"}]}}
    objects = {"pools": [pool(**WORKERS)], "nodes": [node("w0"), node("w1")], "machineconfignodes": [report],
               "events": [event("Node", "w0", "Reboot", "2026-01-02T00:02:00Z", "hostile\x1b[2J\nw1  event"),
                          event("Node", "w1", "Reboot", "2026-01-02T00:04:00Z"),
                          event("Node", "other", "Reboot", "2026-01-02T00:05:00Z"),
                          event("Pod", "w0", "Killing", "2026-01-02T00:05:00Z"),
                          event("MachineConfigPool", "worker", "WaveDone", "2026-01-02T00:06:00Z", type="Warning")]}
    result = kubectl("history", "w0", **objects)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "TIME                  WHAT       NAME  REASON        MESSAGE",
        "2026-01-01T00:00:00Z  event      w0    Created       the Node was created",
        "2026-01-02T00:02:00Z  event      w0    Reboot        hostile\\x1B[2J\\x0Aw1  event",
        "2026-01-02T00:03:00Z  condition  w0    Updated=True  Updated: done"]
    of_pool = json.loads(kubectl("history", "worker", "-o", "json", **objects).stdout)
    assert [(each["name"], each["reason"]) for each in of_pool][-3:] == [
        ("w0", "Updated=True"), ("w1", "Reboot"), ("worker", "WaveDone")]
    assert of_pool[-1] == {"at": "2026-01-02T00:06:00Z", "kind": "MachineConfigPool", "name": "worker",
                           "what": "Event", "warning": True, "reason": "WaveDone", "message": "because"}


def test_history_needs_the_name_of_a_node_or_a_pool(kubectl):
    unknown = kubectl("history", "nobody")
    assert unknown.returncode == 1 and 'the cluster has neither a pool nor a node "nobody"' in unknown.stderr
    assert "name one node or one pool" in kubectl("history").stderr


@pytest.mark.parametrize("users,author", [
    ({"/apis/authentication.k8s.io/v1/selfsubjectreviews": "ann@example.com"}, "ann@example.com"),
    ({"/apis/authentication.k8s.io/v1beta1/selfsubjectreviews": "system:admin\x1b"}, "system:admin\\x1B"),
    ({}, "bob ($USER)")])
def test_the_author_of_an_approval_is_the_authenticated_user(kubectl, monkeypatch, users, author):
    monkeypatch.setenv("USER", "bob")
    patches = []
    result = kubectl("approve", "worker", pools=[pool()], users=users, patches=patches, rolloutpolicies=[
        policy(phase="AwaitingApproval", waveDigest="d", memory={"target": "rendered-worker-1"})])
    assert (result.returncode, result.stderr) == (0, "")
    order = json.loads(patches[0]["metadata"]["annotations"]["pintle.io/rollout-approve"])
    assert order["by"] == author
