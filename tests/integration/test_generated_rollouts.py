# SPDX-License-Identifier: Apache-2.0
"""Tests each input from which MachineConfigs are generated: it is rolled out to three real nodes, and taken back.

kubectl creates, changes and deletes each object, as an administrator does.  Afterwards, the nodes are as before, byte
for byte.  A bad object is reported with the reason, and changes no pool.
"""

import contextlib
import dataclasses
import json

import pytest

from configured import difference, tree_of
from machines import as_ignition, deploy
from machines.agent_node import AgentNode, AnnotationHistory
from machines.certs import named_authority
from machines.cluster import Cluster
from machines.controller import GROUP, MERGE, Controller, Objects
from machines.node import Node
from machines.openshift_settings import CONFIG, OPERATOR, Settings, prepare_operator_cluster
from machines.templates import KUBELET, REGISTRIES, write_templates
from machines.wait import wait_until
from machines.whole import Firmware

RELEASE = "4.21.0"
RUNTIME = "/etc/crio/crio.conf.d/01-ctrcfg-pidsLimit"
PULL_SECRET = "/var/lib/kubelet/config.json"
KUBELET_CA = "/etc/kubernetes/kubelet-ca.crt"
CHANGED_BY_CONFIGS = ("/etc", "/var/lib/kubelet")
# The agent notes below this folder which files it has added.  It keeps the folder when it has removed the last note.
NOTES = "/etc/machine-config-daemon/noorig"
POOL_LABEL = "pools.operator.machineconfiguration.openshift.io/worker"
CRIO_LOG = "/run/crio-log"
# This stand-in for CRI-O records its starts and reloads since the boot.
CRIO = f"""[Service]
ExecStartPre=/bin/sh -c "echo started >>{CRIO_LOG}"
ExecStart=/bin/sleep infinity
ExecReload=/bin/sh -c "echo reloaded >>{CRIO_LOG}"
[Install]
WantedBy=multi-user.target
"""


@dataclasses.dataclass
class State:
    """The state that has to be the same after a change was taken back: the pool's target, and all files of each node."""
    target: str
    files: dict


class Site:
    """A cluster whose worker pool has three nodes and is up to date."""

    def __init__(self, cluster, nodes, controller, firmware):
        self.cluster, self.nodes, self.controller, self.firmware = cluster, nodes, controller, firmware
        self.objects = Objects(cluster)

    # ---- the administrator ----

    def apply(self, kind, name, spec, version="machineconfiguration.openshift.io/v1"):
        self.cluster.apply(json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}))

    def apply_for_workers(self, kind, name, **spec):
        self.apply(kind, name, {"machineConfigPoolSelector": {"matchLabels": {POOL_LABEL: ""}}, **spec})

    def apply_mirrors(self, name, **mirrors):
        self.apply("ImageDigestMirrorSet", name, {"imageDigestMirrors": [mirrors]}, "config.openshift.io/v1")

    def remove(self, kind, name):
        self.cluster.kubectl("delete", kind, name)

    def set_pull_secret(self, text, check=True):
        return self.cluster.kubectl("patch", "secret", "pull-secret", "--namespace=openshift-config", "--type=merge",
                                    "--patch", json.dumps({"stringData": {".dockerconfigjson": text}}), check=check)

    def replace_pull_secret(self, kind, text):
        """Creates the pull secret again, since the type of a Secret cannot change."""
        self.cluster.kubectl("replace", "--force", "--filename=-", input=json.dumps({
            "apiVersion": "v1", "kind": "Secret", "type": kind, "stringData": {".dockerconfigjson": text},
            "metadata": {"name": "pull-secret", "namespace": "openshift-config"}}))

    def set_authority_of_clients(self, bundle):
        self.cluster.kubectl("patch", "configmap", "kube-apiserver-client-ca", "--namespace=openshift-config-managed",
                             "--type=merge", "--patch", json.dumps({"data": {"ca-bundle.crt": bundle}}))

    # ---- observing the cluster ----

    def state(self):
        return State(self.objects.target("worker"), self._files())

    def _files(self):
        return {node.name: {path: found for top in CHANGED_BY_CONFIGS
                            for path, found in tree_of(node.machine, top).items() if path != NOTES}
                for node in self.nodes}

    def generation(self):
        """Returns a number that grows with each change of the pool's spec."""
        return self.objects.pool("worker")["metadata"]["generation"]

    def reboots(self):
        return [self.firmware.reboots[node.name] for node in self.nodes]

    def condition(self, path, kind):
        """Returns (status, message) of the last condition of a kind, or two empty texts."""
        status, found = self.cluster.admin.request("GET", path)
        conditions = found.get("status", {}).get("conditions", []) if status == 200 else []
        have = [(each["status"], each.get("message", "")) for each in conditions if each["type"] == kind]
        return have[-1] if have else ("", "")

    def wait_for_condition(self, path, kind, status, message=""):
        def is_so():
            have = self.condition(path, kind)
            return have[0] == status and message in have[1]
        try:
            wait_until(is_so, f"{kind} is {status}: {message}", 60)
        except TimeoutError as late:
            raise AssertionError(f"{late}; it is {self.condition(path, kind)}") from None

    def settle(self, target):
        """Waits until all nodes have this config of their pool."""
        def is_done(node):
            have = node.annotations()
            return [have.get(key) for key in ("currentConfig", "desiredConfig", "state")] == [target, target, "Done"] \
                and not self.cluster.get("node", node.name)["spec"].get("unschedulable")
        try:
            self.objects.wait_until_updated("worker", target, 120)
            wait_until(lambda: all(is_done(node) for node in self.nodes), f"all nodes have {target}", 60)
        except TimeoutError as late:
            logs = [f"{node.name} has {node.annotations()}, and has logged:\n{node.log()}"
                    for node in self.nodes if node.machine.running]
            raise AssertionError("\n".join([str(late), self.objects.dump(), *logs])) from None

    def roll_out(self, before):
        """Waits until all nodes have another config than before."""
        self.settle(self.objects.wait_for_target("worker", other_than=before.target))

    def take_back(self, before):
        """Waits until all nodes are as before."""
        self.settle(before.target)
        try:
            # The agents also write files that belong to no config.
            wait_until(lambda: self._files() == before.files, "the nodes have their files from before", 30, every=0.2)
        except TimeoutError as late:
            have = self._files()
            raise AssertionError(f"{late}: " + "; ".join(
                f"{name}: {difference(files, have[name])}" for name, files in before.files.items())) from None


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Cluster() as cluster, contextlib.ExitStack() as stack:
        prepare_operator_cluster(cluster)
        machines = [stack.enter_context(Node(network="host")) for _ in range(3)]
        describe(cluster, deploy.booted_commit(machines[0]))
        templates = tmp_path_factory.mktemp("generated") / "templates"
        write_templates(templates, pull_secret=(PULL_SECRET, '{{.PullSecret | printf "%q"}}'),
                        registries=(REGISTRIES, json.dumps('unqualified-search-registries = ["registry.test"]\n')))
        controller = stack.enter_context(Controller(cluster, "controller", f"--templates={templates}"))
        target = Objects(cluster).wait_for_target("worker")
        nodes = [join(cluster, machine, target) for machine in machines]
        made = Site(cluster, nodes, controller, stack.enter_context(Firmware(nodes)))
        wait_until(lambda: all(node.has(KUBELET_CA) for node in nodes), "the agents have written their files", 60)
        made.settle(made.objects.target("worker"))
        yield made


def describe(cluster, image):
    """Creates the objects that describe a cluster in which a release with this OS image is installed."""
    settings = Settings(cluster, RELEASE)
    settings.put_all()
    settings.release(RELEASE, image)
    settings.install_release(RELEASE)
    cluster.admin.create({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
                          "metadata": {"name": "version"}, "spec": {}})
    cluster.admin.must("PATCH", f"{CONFIG}/clusterversions/version/status", {"status": {"desired": {
        "version": RELEASE, "image": "registry.test/release@sha256:" + "0" * 64}}}, MERGE)
    # The administrator restarts CRI-O for its settings; without this policy, nodes would reboot.
    restart = {"type": "Restart", "restart": {"serviceName": "crio.service"}}
    cluster.admin.create({"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration",
                          "metadata": {"name": "cluster"}, "spec": {"nodeDisruptionPolicy": {
                              "files": [{"path": RUNTIME.rpartition("/")[0], "actions": [restart]}]}}})


def join(cluster, machine, target):
    """Makes a machine a node that has the pool's config."""
    node = AgentNode(machine, cluster, machine.name)
    as_ignition.write_files(machine, cluster.admin.must("GET", f"{GROUP}/machineconfigs/{target}")["spec"]["config"])
    node.run("tee", "/etc/systemd/system/crio.service", input=CRIO)
    node.run("systemctl", "daemon-reload")
    node.run("systemctl", "enable", "--now", "crio.service")
    node.annotate(currentConfig=target, desiredConfig=target)
    node.start()
    return node


def crio_log(node):
    return node.read(CRIO_LOG).split()


# ---- each input is rolled out and taken back ----

def test_a_kubelet_config_is_rolled_out_and_taken_back(site):
    before, reboots = site.state(), site.reboots()
    site.apply_for_workers("KubeletConfig", "pods", kubeletConfig={"maxPods": 9})
    site.roll_out(before)
    assert site.condition(f"{GROUP}/kubeletconfigs/pods", "Success") == ("True", "Success")
    assert all("maxPods: 9\n" in node.read(KUBELET) for node in site.nodes)
    assert site.reboots() == [count + 1 for count in reboots]
    site.remove("kubeletconfig", "pods")
    site.take_back(before)
    assert site.reboots() == [count + 2 for count in reboots]


def test_a_container_runtime_config_is_rolled_out_and_taken_back(site):
    before, reboots = site.state(), site.reboots()
    logs = [crio_log(node) for node in site.nodes]
    site.apply_for_workers("ContainerRuntimeConfig", "pids", containerRuntimeConfig={"pidsLimit": 2048})
    site.roll_out(before)
    assert site.condition(f"{GROUP}/containerruntimeconfigs/pids", "Success") == ("True", "Success")
    assert all("pids_limit = 2048\n" in node.read(RUNTIME) for node in site.nodes)
    site.remove("containerruntimeconfig", "pids")
    site.take_back(before)
    assert not any(node.has(RUNTIME) for node in site.nodes)
    assert [crio_log(node) for node in site.nodes] == [[*log, "started", "started"] for log in logs]
    assert site.reboots() == reboots


def test_a_set_of_mirrors_is_rolled_out_and_taken_back(site):
    before, reboots = site.state(), site.reboots()
    logs = [crio_log(node) for node in site.nodes]
    site.apply_mirrors("mirrors", source="source.test", mirrors=["mirror.test"])
    site.roll_out(before)
    assert all("mirror.test" in node.read(REGISTRIES) for node in site.nodes)
    site.remove("imagedigestmirrorset", "mirrors")
    site.take_back(before)
    assert [crio_log(node) for node in site.nodes] == [[*log, "reloaded", "reloaded"] for log in logs]
    assert site.reboots() == reboots


def test_another_pull_secret_is_rolled_out_and_taken_back(site):
    before, reboots = site.state(), site.reboots()
    old, new = site.nodes[0].read(PULL_SECRET), '{"auths":{"other.test":{"auth":"b3RoZXI="}}}'
    site.set_pull_secret(new)
    site.roll_out(before)
    assert [node.read(PULL_SECRET) for node in site.nodes] == [new] * 3
    site.set_pull_secret(old)
    site.take_back(before)
    assert site.reboots() == reboots


def test_another_authority_of_the_kubelets_clients_is_rolled_out_and_taken_back(site):
    before, reboots, generation = site.state(), site.reboots(), site.generation()
    renewed = named_authority("renewed clients")
    site.set_authority_of_clients(renewed)
    wait_until(lambda: all(node.read(KUBELET_CA) == renewed for node in site.nodes), "all nodes have it", 60, every=0.1)
    site.set_authority_of_clients(named_authority("clients"))
    site.take_back(before)
    # The agents write this file without a rollout.
    assert (site.generation(), site.reboots()) == (generation, reboots)


# ---- a bad input is reported, and the pool is untouched ----

@pytest.mark.parametrize("kind, spec, reason", [
    ("KubeletConfig", {"kubeletConfig": {"cgroupDriver": "cgroupfs"}},
     "KubeletConfiguration: cgroupDriver is not allowed to be set, but contains: cgroupfs"),
    ("ContainerRuntimeConfig", {"containerRuntimeConfig": {"pidsLimit": 3}}, "invalid PidsLimit 3"),
])
def test_a_bad_config_is_reported_and_changes_no_pool(site, kind, spec, reason):
    before, generation = site.state(), site.generation()
    site.apply_for_workers(kind, "bad", **spec)
    site.wait_for_condition(f"{GROUP}/{kind.lower()}s/bad", "Failure", "True", reason)
    site.remove(kind.lower(), "bad")
    site.take_back(before)
    assert site.generation() == generation


def test_a_bad_set_of_mirrors_is_reported_and_changes_no_pool(site):
    before, generation = site.state(), site.generation()
    site.apply_mirrors("bad", source="bad.test", mirrors=["bad.test"], mirrorSourcePolicy="NeverContactSource")
    reason = 'cannot set mirrorSourcePolicy: NeverContactSource if the source "bad.test" is one of the mirrors'
    wait_until(lambda: reason in site.controller.log_text(), "the log has the reason", 60)
    site.wait_for_condition(OPERATOR, "Degraded", "True", reason)
    site.remove("imagedigestmirrorset", "bad")
    site.wait_for_condition(OPERATOR, "Degraded", "False")
    site.take_back(before)
    assert site.generation() == generation


def test_a_bad_pull_secret_is_reported_and_changes_no_pool(site):
    before, generation = site.state(), site.generation()
    good = site.nodes[0].read(PULL_SECRET)
    # The API server itself refuses a Secret of the right type that is not JSON.
    refused = site.set_pull_secret("not JSON", check=False)
    assert refused.returncode != 0 and "dockerconfigjson" in refused.stderr, refused.stderr
    controller_config = f"{GROUP}/controllerconfigs/machine-config-controller"
    site.replace_pull_secret("Opaque", "not JSON")
    site.wait_for_condition(controller_config, "TemplateControllerFailing", "True",
                            "expected secret type kubernetes.io/dockerconfigjson found Opaque")
    site.wait_for_condition(OPERATOR, "Degraded", "True", "the Secret openshift-config/pull-secret")
    site.replace_pull_secret("kubernetes.io/dockerconfigjson", good)
    site.wait_for_condition(controller_config, "TemplateControllerFailing", "False")
    site.wait_for_condition(OPERATOR, "Degraded", "False")
    site.take_back(before)
    assert site.generation() == generation


def test_a_bad_authority_of_the_kubelets_clients_is_reported_and_changes_no_pool(site):
    before, generation = site.state(), site.generation()
    site.set_authority_of_clients("no certificate\n")
    site.wait_for_condition(OPERATOR, "Degraded", "True", "ConfigMap openshift-config-managed/kube-apiserver-client-ca "
                            "has a bundle of authorities in which no certificate can be read")
    site.set_authority_of_clients(named_authority("clients"))
    site.wait_for_condition(OPERATOR, "Degraded", "False")
    site.take_back(before)
    assert site.generation() == generation


# ---- a change of mind ----

def test_a_kubelet_config_that_is_deleted_while_the_first_node_reboots_reaches_no_other_node(site):
    before = site.state()
    with AnnotationHistory(site.cluster) as history:
        site.apply_for_workers("KubeletConfig", "pods", kubeletConfig={"maxPods": 9})
        target = site.objects.wait_for_target("worker", other_than=before.target)
        first = wait_until(lambda: next((node for node in site.nodes if node.annotations().get(
            "post-config-action") == "Rebooting"), None), "the first node reboots", 60)
        site.remove("kubeletconfig", "pods")
        site.take_back(before)
        for node in site.nodes:
            history.catch_up(node.name)
        begun = {node.name for node in site.nodes if (target,) in history.of(node.name, "desiredConfig")}
    assert begun == {first.name}, "other nodes were updated as well"
