# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle diff --with`, which prints how the nodes of a pool would change if an object were applied."""

import copy
import json

import pytest
from generate_inputs import GROUP, controller_config, kubelet_config, pool, put_manifests, put_templates, secret
from program import file, machine_config, pintle, with_files, write
from test_kubectl import Server, kubeconfig_of


class Cluster:
    """The objects of a cluster whose pool `worker` has what the controllers make if there is no KubeletConfig."""

    def __init__(self, folder):
        self.folder = folder
        words = ["--templates", put_templates(folder / "templates"),
                 "--from", put_manifests(folder / "manifests", controller_config(), pool("worker"), secret())]
        made = pintle("generate", *words, "-o", "json").json()["items"]
        self.own = machine_config(with_files(file("/etc/own")), name="50-own")
        inputs = write(folder / "inputs.json", {"kind": "List", "items": [*made, self.own]})
        self.rendered = pintle("render", "--pool", write(folder / "pool.json", pool("worker")), "--controller-config",
                               write(folder / "cc.json", controller_config()), inputs, "-o", "json").json()
        name = self.rendered["metadata"]["name"]
        workers = pool("worker", configuration={"name": name})
        workers["status"] = {"configuration": {"name": name}}
        self.objects = {"machineconfigpools": [workers], "machineconfigs": [*made, self.own, self.rendered],
                        "controllerconfigs": [controller_config()]}

    def diff(self, *given, words=("worker",)):
        folder_with = put_manifests(self.folder / "with", *given)
        with Server(**self.objects) as server:
            kubeconfig = kubeconfig_of(server, self.folder / "kubeconfig")
            return pintle("diff", "--kubeconfig", kubeconfig, "--with", folder_with, *words)


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path)


def test_a_kubelet_config_changes_what_the_nodes_have(cluster):
    answer = cluster.diff(kubelet_config(maxPods=9))
    assert answer.status == 2, answer.stderr
    assert "/etc/kubernetes/kubelet.conf" in answer.stdout and "maxPods: 9" in answer.stdout
    assert "/etc/own" not in answer.stdout
    document = cluster.diff(kubelet_config(maxPods=9), words=("worker", "-o", "json")).json()
    assert document["differs"] is True and [each["type"] for each in document["nodeDisruptionActions"]] == ["Reboot"]


def test_an_object_for_other_nodes_makes_no_difference(cluster):
    cluster.objects["machineconfigpools"].append(pool("master"))
    cluster.objects["machineconfigs"] += [
        json.loads(json.dumps(each).replace("worker", "master")) for each in cluster.objects["machineconfigs"]
        if each["metadata"]["name"].startswith("0") and "master" not in each["metadata"]["name"]]
    answer = cluster.diff(kubelet_config(role="master", maxPods=9))
    assert (answer.status, answer.stdout) == (0, ""), answer.stderr


def test_a_machine_config_replaces_the_one_of_its_name(cluster):
    changed = copy.deepcopy(cluster.own)
    changed["spec"]["config"] = with_files(file("/etc/other"))
    answer = cluster.diff(changed)
    assert answer.status == 2 and "/etc/other" in answer.stdout and "/etc/own" in answer.stdout, answer.stderr


def test_an_object_that_the_controllers_would_refuse_is_an_error(cluster):
    answer = cluster.diff(kubelet_config("bad", clusterDomain="x.test"))
    assert (answer.status, answer.stdout) == (1, "")
    assert "KubeletConfig bad: Error: KubeletConfiguration: clusterDomain is not allowed" in answer.stderr
    assert f"{cluster.folder}/with/00-kubeletconfig.json" in answer.stderr


def test_an_error_of_another_object_does_not_fail_the_diff(cluster):
    cluster.objects["kubeletconfigs"] = [kubelet_config("bad", clusterDomain="x.test")]
    answer = cluster.diff(kubelet_config(maxPods=9))
    assert answer.status == 2 and "KubeletConfig bad" in answer.stderr


@pytest.mark.parametrize("given, texts", [
    (controller_config(), ["ControllerConfig machine-config-controller", "pintle generate --templates"]),
    ({"kind": "Namespace", "metadata": {"name": "x"}}, ["Namespace x", "no config of a node depends on"]),
    ({"kind": "KubeletConfig", "apiVersion": f"{GROUP}/v1", "metadata": {"name": "k"}, "spec": {"logLevel": "loud"}},
     ["KubeletConfig k", "$.spec.logLevel"]),
])
def test_a_file_that_cannot_be_applied_is_named(cluster, given, texts):
    answer = cluster.diff(given)
    assert (answer.status, answer.stdout) == (1, "")
    for text in texts:
        assert text in answer.stderr, answer.stderr


def test_a_pool_that_does_not_exist_is_named(cluster):
    answer = cluster.diff(kubelet_config(maxPods=9), words=("infra",))
    assert answer.status == 1 and "no pool infra; its pools are worker" in answer.stderr


def test_with_needs_a_cluster_and_one_pool(cluster):
    answer = cluster.diff(kubelet_config(), words=("a", "b"))
    assert answer.status == 1 and "--with needs one POOL" in answer.stderr
    without = pintle("diff", "--with", cluster.folder / "with", "a", "b")
    assert without.status == 1 and "--with needs --kubeconfig" in without.stderr
