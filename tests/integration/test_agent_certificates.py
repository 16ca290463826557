# SPDX-License-Identifier: Apache-2.0
"""Tests the files that the agent writes from the cluster's ControllerConfig, such as certificates.  All tests use the
same node.
"""

import base64
import datetime
import json

import pytest

from machines import agent_node, certs
from machines.agent_node import PREFIX, create_rendered
from machines.certs import named_authority
from machines.controller_config import controller_config
from machines.installed import file, machine_config
from machines.wait import wait_until

NAME = "machine-config-controller"
OBJECTS = "/apis/machineconfiguration.openshift.io/v1/controllerconfigs"
KUBELET_CA = "/etc/kubernetes/kubelet-ca.crt"
CLOUD_CA = "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem"
PULL_SECRET = "/etc/mco/internal-registry-pull-secret.json"
REGISTRIES = "/etc/docker/certs.d"
WAITS_UNTIL = "pintle.io/controller-config-waits-until"
WAITING = "pintle.io/waiting-files"


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def bundle(name, text):
    return {"file": name, "data": encoded(text)}


SPEC = {"internalRegistryPullSecret": encoded('{"auths":{}}'),
        "imageRegistryBundleData": [bundle("registry.example.com..5000", "a registry's\n")],
        "imageRegistryBundleUserData": [bundle("other.example.com", "another's")]}


class ControllerConfig:
    """Writes the ControllerConfig, as the Operator does."""

    def __init__(self, cluster):
        self.cluster = cluster
        cluster.admin.create(controller_config(kubeAPIServerServingCAData=encoded(named_authority("first")), **SPEC))

    def version(self):
        return self.cluster.get("controllerconfig", NAME)["metadata"]["resourceVersion"]

    def annotate(self, rotates):
        self.cluster.kubectl("annotate", "--overwrite", "controllerconfig", NAME, f"{PREFIX}service-ca-rotate={rotates}")

    def change(self, **spec):
        self.cluster.admin.must("PATCH", f"{OBJECTS}/{NAME}", {"spec": spec},
                                "application/merge-patch+json")


@pytest.fixture(scope="module")
def node():
    with agent_node.agent_cluster() as cluster, agent_node.node_maker(cluster) as make:
        node = make()
        node.run("mkdir", "--parents", f"{REGISTRIES}/mine.example.com")
        node.run("tee", f"{REGISTRIES}/mine.example.com/ca.crt", input="mine")
        config = create_rendered(cluster, f"rendered-{node.name}-0", machine_config([file("/etc/live/a", "0")])["spec"])
        node.annotate(desiredConfig=config)
        node.start()
        node.wait_done(config)
        yield node


@pytest.fixture(scope="module")
def config(node):
    """Creates the ControllerConfig in a cluster where the agent runs already."""
    assert "lastSyncedControllerConfigResourceVersion" not in node.annotations()
    return ControllerConfig(node.cluster)


def wait_until_synced(node, config):
    node.wait_for(lastSyncedControllerConfigResourceVersion=config.version())


def mode_of(node, path):
    return node.run("stat", "--format=%a %U", path).stdout.strip()


def when_written(node, path):
    return node.run("stat", "--format=%y", path).stdout


def test_all_files_are_written_and_the_node_reports_their_version(node, config):
    wait_until_synced(node, config)
    assert node.read(KUBELET_CA) == named_authority("first") and mode_of(node, KUBELET_CA) == "644 root"
    assert node.read(CLOUD_CA) == "\n"
    assert node.read(PULL_SECRET) == '{"auths":{}}\n' and mode_of(node, PULL_SECRET) == "600 root"
    assert node.read(f"{REGISTRIES}/registry.example.com:5000/ca.crt") == "a registry's\n"
    assert node.read(f"{REGISTRIES}/other.example.com/ca.crt") == "another's\n"
    assert node.read(f"{REGISTRIES}/mine.example.com/ca.crt") == "mine"


def test_renewed_files_are_written_at_once_and_others_are_removed(node, config):
    before = node.run("stat", "--format=%i", PULL_SECRET).stdout
    config.change(kubeAPIServerServingCAData=encoded(named_authority("second")), imageRegistryBundleData=[])
    wait_until_synced(node, config)
    assert node.read(KUBELET_CA) == named_authority("second")
    assert not node.has(f"{REGISTRIES}/registry.example.com:5000")
    assert node.has(f"{REGISTRIES}/other.example.com/ca.crt") and node.has(f"{REGISTRIES}/mine.example.com/ca.crt")
    assert node.run("stat", "--format=%i", PULL_SECRET).stdout == before
    assert node.annotations()["state"] == "Done"


def test_changes_while_the_agent_is_stopped_are_written_when_it_starts(node, config):
    node.run("systemctl", "stop", "pintled")
    config.change(kubeAPIServerServingCAData=encoded(named_authority("third")))
    node.run("rm", PULL_SECRET)
    node.run("systemctl", "start", "pintled")
    wait_until_synced(node, config)
    assert node.read(KUBELET_CA) == named_authority("third") and node.has(PULL_SECRET)


def test_a_config_with_an_older_certificate_does_not_replace_the_newer_certificate(node, config):
    wait_until_synced(node, config)
    have, written = node.read(KUBELET_CA), when_written(node, KUBELET_CA)
    old = machine_config([file("/etc/live/a", "1"), file(KUBELET_CA, "long%20ago")])
    for number, spec in enumerate([old["spec"], machine_config([file("/etc/live/a", "2")])["spec"]], 1):
        wanted = create_rendered(node.cluster, f"rendered-{node.name}-{number}", spec)
        # A certificate in a config needs a reboot, because no policy covers it.
        with agent_node.DrainController(node.cluster):
            node.annotate(desiredConfig=wanted)
            node.machine.follow_reboot(120)
            node.wait_done(wanted)
        assert node.read("/etc/live/a") == str(number) and node.read(KUBELET_CA) == have
        # The file was not overwritten, not even until the reboot.
        assert when_written(node, KUBELET_CA) == written


def test_unusable_contents_are_reported_and_written_once_they_are_corrected(node, config):
    config.change(imageRegistryBundleUserData=[bundle("../../evil", "?")],
                  kubeAPIServerServingCAData=encoded("garbage"))
    have = node.wait_for(state="Degraded")
    assert "$.spec.imageRegistryBundleUserData.0.file: is not the name of a registry" in have["reason"], have
    assert "$.spec.kubeAPIServerServingCAData: has no certificate that can be read" in have["reason"], have
    assert have["lastSyncedControllerConfigResourceVersion"] != config.version()
    assert node.has(f"{REGISTRIES}/other.example.com/ca.crt")
    config.change(imageRegistryBundleUserData=[], kubeAPIServerServingCAData=encoded(named_authority("third")))
    wait_until_synced(node, config)
    node.wait_for(state="Done", reason="")
    assert not node.has(f"{REGISTRIES}/other.example.com")


def test_an_obstacle_is_reported_until_it_is_gone(node, config):
    node.run("rm", KUBELET_CA)
    node.run("mkdir", KUBELET_CA)
    config.change(kubeAPIServerServingCAData=encoded(named_authority("fourth")))
    node.wait_for(state="Degraded", reason=lambda reason: KUBELET_CA in reason)
    node.run("rmdir", KUBELET_CA)
    wait_until_synced(node, config)
    node.wait_for(state="Done", reason="")
    assert node.read(KUBELET_CA) == named_authority("fourth")


def certificate(folder, name, days):
    validity = certs.Validity(datetime.timedelta(days=-1), datetime.timedelta(days=days))
    return certs.Authority(folder / name, name, validity).certificate.read_text()


def pause(node, until):
    """Sets the annotation that the controller sets on nodes of a strictly paused pool, or removes it."""
    node.cluster.admin.must("PATCH", f"/api/v1/nodes/{node.name}", {"metadata": {"annotations": {
        WAITS_UNTIL: until and (datetime.datetime.now(datetime.timezone.utc) + until).strftime("%Y-%m-%dT%H:%M:%SZ")}}},
        "application/merge-patch+json")


def all_annotations(node):
    """Returns the Node's annotations with their whole names."""
    return node.cluster.get("node", node.name)["metadata"]["annotations"]


def waiting(node):
    return json.loads(all_annotations(node).get(WAITING, "[]"))


def test_all_files_wait_while_the_annotation_asks_for_it(node, config, tmp_path):
    old = certificate(tmp_path, "kube-apiserver-to-kubelet-signer", 13)
    config.change(kubeAPIServerServingCAData=encoded(old))
    wait_until_synced(node, config)
    pause(node, datetime.timedelta(days=7))
    config.change(kubeAPIServerServingCAData=encoded(named_authority("new")), internalRegistryPullSecret=encoded("{}"))
    files = wait_until(lambda: waiting(node), "the node reports waiting files", 60)
    assert {file["path"] for file in files} == {KUBELET_CA, PULL_SECRET}
    [end] = [file["validUntil"] for file in files if file["path"] == KUBELET_CA]
    left = datetime.datetime.fromisoformat(end.replace("Z", "+00:00")) - datetime.datetime.now(datetime.timezone.utc)
    assert datetime.timedelta(days=12) < left < datetime.timedelta(days=14)
    # The node is not degraded, and the files also wait after the agent is restarted.
    before = node.annotations()
    node.run("systemctl", "restart", "pintled")
    config.change(cloudProviderCAData=encoded("cloud's"))
    wait_until(lambda: CLOUD_CA in {file["path"] for file in waiting(node)},
               "the node reports another waiting file", 60)
    assert node.annotations()["state"] == "Done"
    assert before["lastSyncedControllerConfigResourceVersion"] != config.version()
    assert node.read(KUBELET_CA) == old and node.read(CLOUD_CA) == "\n"
    assert node.read(PULL_SECRET) == '{"auths":{}}\n'
    pause(node, None)
    wait_until_synced(node, config)
    wait_until(lambda: WAITING not in all_annotations(node), "the node reports no waiting file", 60)
    assert node.read(KUBELET_CA) == named_authority("new")
    assert node.read(PULL_SECRET) == "{}\n" and node.read(CLOUD_CA) == "cloud's\n"


def test_a_request_that_is_not_renewed_ends_by_itself(node, config):
    pause(node, datetime.timedelta(seconds=5))
    config.change(kubeAPIServerServingCAData=encoded(named_authority("later")))
    wait_until_synced(node, config)
    assert node.read(KUBELET_CA) == named_authority("later") and waiting(node) == []
    pause(node, None)


def trusted(node, path):
    """Returns the authorities that a kubeconfig trusts."""
    [cluster] = json.loads(node.read(path))["clusters"]
    return base64.b64decode(cluster["cluster"]["certificate-authority-data"]).decode()


def test_the_kubelet_is_restarted_with_the_api_servers_new_authorities(node, config, tmp_path):
    old = node.cluster.authority.certificate.read_text()
    new = certs.Authority(tmp_path / "new", "kube-apiserver-service-network-signer@2").certificate.read_text()
    first, kubelets = "/etc/kubernetes/kubeconfig", agent_node.KUBECONFIG
    node.run("install", "-m", "0644", kubelets, first)
    node.run("tee", "/etc/systemd/system/kubelet.service", input="[Service]\nExecStart=/bin/sleep infinity\n")
    node.run("systemctl", "daemon-reload")
    node.run("systemctl", "start", "kubelet.service")
    before = node.run("systemctl", "show", "--property=MainPID", "kubelet").stdout
    node.cluster.admin.create({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "kubeconfig-data", "namespace": agent_node.MCO_NAMESPACE}, "data": {"ca-bundle.crt": old + new}})
    config.annotate("true")
    node.wait_for(lastObservedServerCAAnnotation="true")
    assert new in trusted(node, first) and old in trusted(node, kubelets) and new in trusted(node, kubelets)
    assert node.run("systemctl", "show", "--property=MainPID", "kubelet").stdout != before
    config.annotate("false")
    node.wait_for(lastObservedServerCAAnnotation="false")
    wait_until_synced(node, config)
    # The file contains the token, so the agent makes it readable for root alone; its mode is no drift.
    node.run("chmod", "0644", first)
    node.run("systemctl", "restart", "pintled.service")
    wait_until(lambda: node.run("stat", "-c", "%a", first).stdout.strip() == "600", "only root may read it", 60)
    node.wait_for(state="Done")


def test_the_agents_credentials_can_read_only_this_object(node, config):
    assert node.user.request("GET", f"{OBJECTS}/{NAME}")[0] == 200
    with node.cluster.refusals.expected(node.user, "list controllerconfigs", "patch controllerconfigs", "list secrets",
                                        "list configmaps"):
        assert node.user.request("GET", OBJECTS)[0] == 403
        assert node.user.request("PATCH", f"{OBJECTS}/{NAME}", {"spec": {}}, "application/merge-patch+json")[0] == 403
        assert node.user.request("GET", "/api/v1/secrets")[0] == 403
        assert node.user.request("GET", f"/api/v1/namespaces/{agent_node.MCO_NAMESPACE}/configmaps")[0] == 403


def test_the_memory_for_a_large_controller_config_is_released(node, config):
    def private_memory():
        """Returns the agent's private memory without its code; the kernel decides how much of the code to keep."""
        pid = node.run("systemctl", "show", "--property=MainPID", "--value", "pintled").stdout.strip()
        lines = node.read(f"/proc/{pid}/smaps_rollup").splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))
    config.change(images={f"image-{i}": "x" * 100 for i in range(5000)})
    wait_until_synced(node, config)
    kept = wait_until(lambda: (now := private_memory()) < 5 << 10 and now, "the memory is given back", 30)
    print(f"{kept} KiB of its own after a ControllerConfig of 600 kB")
