# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle rollout` and `pintle diff` with a real cluster: the answers are the same as for files with the same
objects.  Also tests kubectl with the plug-in.
"""

import json
import os
import pathlib

import pytest
from machines import programs, shell
from machines.cluster import Cluster
from machines.controller import MERGE

PINTLE = programs.here("pintle")
CRDS = pathlib.Path(__file__).parents[2] / "deploy/crds"
GROUP = "machineconfiguration.openshift.io"
API = f"/apis/{GROUP}/v1"


def config(name, *files):
    return {"apiVersion": f"{GROUP}/v1", "kind": "MachineConfig", "metadata": {"name": name}, "spec": {"config": {
        "ignition": {"version": "3.4.0"},
        "storage": {"files": [{"path": path, "contents": {"source": "data:,x"}} for path in files]}}}}


@pytest.fixture(scope="module")
def cluster():
    """Creates three workers, two of which wait behind a pause for a new config, and a policy for its file."""
    with Cluster() as running:
        for name in ("machineconfigs", "machineconfigpools", "machineconfignodes", "machineconfigurations",
                     "controllerconfigs"):
            running.apply((CRDS / f"{name}.yaml").read_text())
        running.wait_until_kinds_are_served()
        for name, desired in (("worker-0", "rendered-new"), ("worker-1", "rendered-old"), ("worker-2", "rendered-old")):
            running.add_node(name)
            running.kubectl("annotate", "node", name, f"{GROUP}/currentConfig=rendered-old",
                            f"{GROUP}/desiredConfig={desired}", f"{GROUP}/state=Done")
        running.admin.create(config("rendered-old"))
        running.admin.create(config("rendered-new", "/etc/quiet"))
        running.admin.create(config("rendered-loud", "/etc/loud"))
        running.admin.create({"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration",
                              "metadata": {"name": "cluster"}, "spec": {"nodeDisruptionPolicy": {
                                  "files": [{"path": "/etc/quiet", "actions": [{"type": "None"}]}]}}})
        role = {"matchLabels": {"node-role.kubernetes.io/worker": ""}}
        running.admin.create({"apiVersion": f"{GROUP}/v1", "kind": "MachineConfigPool", "metadata": {"name": "worker"},
                              "spec": {"nodeSelector": role, "maxUnavailable": 2,
                                       "configuration": {"name": "rendered-new"}}})
        set_status(running, configuration={"name": "rendered-old"}, machineCount=3, updatedMachineCount=1,
                   readyMachineCount=1, unavailableMachineCount=0, degradedMachineCount=0, conditions=[])
        yield running


def set_status(cluster, **status):
    cluster.admin.must("PATCH", f"{API}/machineconfigpools/worker/status", {"status": status}, MERGE)


def run(*words, **options):
    return shell.run(PINTLE, *words, check=False, **options)


def ask(cluster, *words):
    answer = run(*words[:1], "--kubeconfig", cluster.admin.kubeconfig, *words[1:])
    assert answer.stderr == "", answer.stderr
    return answer


def refused(*words, texts):
    answer = run(*words)
    assert answer.returncode == 1 and answer.stdout == "", answer
    for text in texts:
        assert text in answer.stderr, answer.stderr


def saved(cluster, tmp_path, kind):
    """Saves objects to a file, as a person would for `pintle rollout`."""
    file = tmp_path / f"{kind}.json"
    file.write_text(cluster.kubectl("get", kind, "-o", "json").stdout)
    return file


def test_a_rollout_is_the_same_as_from_files(cluster, tmp_path):
    pool = tmp_path / "pool.json"
    pool.write_text(cluster.kubectl("get", "machineconfigpool", "worker", "-o", "json").stdout)
    nodes, configs = saved(cluster, tmp_path, "nodes"), saved(cluster, tmp_path, "machineconfigs")
    live = ask(cluster, "rollout", "worker", "-o", "json")
    offline = run("rollout", "--pool", pool, "--nodes", nodes, "--with", configs, "-o", "json")
    assert live.returncode == offline.returncode == 2
    assert json.loads(live.stdout) == json.loads(offline.stdout)
    # worker-0 is being updated already, and counts as unavailable.
    assert json.loads(live.stdout)["patchedInOrder"] == ["worker-1"]
    assert "worker-1" in ask(cluster, "rollout", "worker").stdout


def test_a_diff_follows_the_policy_of_the_cluster(cluster):
    quiet = ask(cluster, "diff", "rendered-old", "rendered-new")
    assert quiet.returncode == 2 and "/etc/quiet" in quiet.stdout
    of_pool = json.loads(ask(cluster, "diff", "worker", "-o", "json").stdout)
    assert [action["type"] for action in of_pool["nodeDisruptionActions"]] == ["None"]
    loud = json.loads(ask(cluster, "diff", "rendered-old", "rendered-loud", "-o", "json").stdout)
    assert [action["type"] for action in loud["nodeDisruptionActions"]] == ["Reboot"]
    assert ask(cluster, "diff", "rendered-old", "rendered-old").returncode == 0


def test_errors_name_the_missing_object(cluster, tmp_path):
    cluster_options = ["--kubeconfig", cluster.admin.kubeconfig]
    refused("rollout", *cluster_options, "infra", texts=['no pool "infra"'])
    refused("rollout", *cluster_options, texts=["name one pool"])
    refused("rollout", *cluster_options, "--pool", "x", "worker", texts=["--pool cannot be combined with --kubeconfig"])
    refused("rollout", "worker", texts=['"worker" is not an option', "--kubeconfig"])
    refused("diff", *cluster_options, "rendered-old", "absent", texts=["MachineConfig absent", "not found"])
    refused("diff", *cluster_options, "infra", texts=["pool infra", "not found"])
    refused("diff", *cluster_options, "a", "b", "c", texts=["name two MachineConfigs, or one pool"])
    refused("diff", "--context", "x", "a", "b", texts=["--context needs --kubeconfig"])
    refused("rollout", "--kubeconfig", tmp_path / "none", "worker", texts=["none", "No such file"])
    refused("rollout", *cluster_options, "--context", "other", "worker", texts=["other"])
    # A user without rights gets an error that names them.
    stranger = cluster.node("worker-0")
    with cluster.refusals.expected(stranger, "list machineconfigpools"):
        refused("rollout", "--kubeconfig", stranger.kubeconfig, "worker", texts=["machineconfigpools", "forbidden"])


@pytest.fixture
def kubectl(cluster, tmp_path):
    """Runs kubectl as a person would, with the plug-in in the PATH."""
    (tmp_path / "kubectl-pintle").symlink_to(PINTLE)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path),
                   "KUBECONFIG": str(cluster.admin.kubeconfig)}

    def call(*words, **more):
        return shell.run(cluster.programs / "kubectl", *words, check=False, env={**environment, **more})
    return call


def test_kubectl_runs_pintle_as_a_plugin(kubectl, cluster, tmp_path):
    assert str(tmp_path / "kubectl-pintle") in kubectl("plugin", "list").stdout
    for words in (["rollout", "worker"], ["diff", "worker"], ["diff", "rendered-old", "rendered-new", "-o", "json"]):
        answer = kubectl("pintle", *words)
        assert (answer.stdout, answer.stderr) == (ask(cluster, *words).stdout, ""), answer
    helped = kubectl("pintle", "--help")
    assert helped.returncode == 0 and all(f"\n  {verb} " in helped.stdout for verb in ("diff", "rollout", "status"))
    assert "Usage: kubectl pintle rollout" in kubectl("pintle", "rollout", "--help").stdout
    wrong = kubectl("pintle", "applesauce")
    assert wrong.returncode == 1 and '"applesauce" is not a verb' in wrong.stderr


def test_the_plugin_finds_the_kubeconfig_as_kubectl_does(kubectl, cluster, tmp_path):
    config_file = cluster.admin.kubeconfig
    assert kubectl("pintle", "status", KUBECONFIG=f"{tmp_path}/none:{config_file}").returncode == 2
    both = kubectl("pintle", "status", KUBECONFIG=f"{config_file}:{cluster.node_kubeconfig('worker-0')}")
    assert both.returncode == 1 and "$KUBECONFIG names 2 existing files" in both.stderr
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").symlink_to(config_file)
    assert kubectl("pintle", "status", KUBECONFIG="").returncode == 2
    assert kubectl("pintle", "status", "--kubeconfig", config_file, KUBECONFIG="/none").returncode == 2


def test_a_history_is_put_together_from_events_and_conditions(kubectl, cluster):
    def event(number, kind, name, reason, namespace="default", **more):
        cluster.admin.create({"apiVersion": "v1", "kind": "Event", "metadata": {
            "name": f"{name}.{number}", "namespace": namespace}, "involvedObject": {"kind": kind, "name": name},
            "reason": reason, "message": "because", "type": "Normal", **more})
    event(1, "Node", "worker-0", "Reboot", count=2, firstTimestamp="2100-01-01T00:00:00Z",
          lastTimestamp="2100-01-01T00:02:00Z")
    # Events of the newer interface about objects without a namespace are in this one.
    event(2, "Node", "worker-0", "Drain", namespace="kube-system", reportingComponent="example.com/x",
          reportingInstance="y", action="z", eventTime="2100-01-01T00:01:00.000000Z")
    event(3, "Node", "worker-1", "Cordon", count=1, lastTimestamp="2100-01-01T00:03:00Z")
    event(4, "MachineConfigPool", "worker", "WaveDone", count=1, lastTimestamp="2100-01-01T00:04:00Z")
    event(5, "Pod", "worker-0", "Killing", count=1, lastTimestamp="2100-01-01T00:05:00Z")
    cluster.admin.create({"apiVersion": f"{GROUP}/v1", "kind": "MachineConfigNode", "metadata": {"name": "worker-0"},
                          "spec": {"node": {"name": "worker-0"}, "pool": {"name": "worker"},
                                   "configVersion": {"desired": "rendered-new"}}})
    cluster.admin.must("PATCH", f"{API}/machineconfignodes/worker-0/status", {"status": {
        "configVersion": {"desired": "rendered-new"}, "observedGeneration": 1, "conditions": [
            {"type": "Updated", "status": "False", "reason": "NotYet", "message": "later",
             "lastTransitionTime": "2100-01-01T00:01:30Z"}]}}, MERGE)

    def history(name):
        answer = kubectl("pintle", "history", name, "-o", "json")
        assert answer.returncode == 0, answer.stderr
        return [(each["name"], each["reason"]) for each in json.loads(answer.stdout) if each["at"] >= "2100"]
    of_node = [("worker-0", "Drain"), ("worker-0", "Updated=False"), ("worker-0", "Reboot")]
    assert history("worker-0") == of_node
    assert history("worker") == [*of_node, ("worker-1", "Cordon"), ("worker", "WaveDone")]
    last = kubectl("pintle", "history", "worker-0").stdout.splitlines()[-1]
    assert last.split(maxsplit=4) == ["2100-01-01T00:02:00Z", "event", "worker-0", "Reboot",
                                      "because (2 times since 2100-01-01T00:00:00Z)"]
    cluster.admin.must("DELETE", f"{API}/machineconfignodes/worker-0")


def test_status_reports_the_changes_behind_a_pause(kubectl, cluster):
    condition = {"type": "PausedPending", "status": "True", "reason": "ChangeWaits", "lastTransitionTime": None,
                 "message": "1 render up to rendered-new waits for 2 of 3 nodes."}
    cluster.admin.must("PATCH", f"{API}/machineconfigpools/worker", {"spec": {"paused": True}}, MERGE)
    set_status(cluster, conditions=[condition])
    try:
        result = kubectl("pintle", "status", "worker")
        assert result.returncode == 2
        assert result.stdout == ("worker: paused, 1 of 3 nodes have rendered-new\n"
                                 "  PausedPending: 1 render up to rendered-new waits for 2 of 3 nodes.\n")
        answer = json.loads(kubectl("pintle", "status", "-o", "json").stdout)
        assert answer["pools"][0]["paused"] is True and answer["pools"][0]["target"] == "rendered-new"
        preview = ask(cluster, "rollout", "worker", "-o", "json")
        assert preview.returncode == 0 and json.loads(preview.stdout)["rolloutReached"] is False
        assert any(each["type"] == "PausedPending" for each in json.loads(preview.stdout)["status"]["conditions"])
    finally:
        cluster.admin.must("PATCH", f"{API}/machineconfigpools/worker", {"spec": {"paused": False}}, MERGE)
        set_status(cluster, conditions=[])
    absent = kubectl("pintle", "status", "infra")
    assert absent.returncode == 1 and 'no pool "infra"' in absent.stderr
