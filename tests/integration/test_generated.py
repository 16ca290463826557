# SPDX-License-Identifier: Apache-2.0
"""Tests the MachineConfigs that pintle-controller generates on a real control plane, from templates of these tests."""

import base64
import contextlib
import json

import pytest

from machines import certs, openshift_kinds, programs, shell
from machines.cluster import Cluster
from machines.controller import DEPLOY, GROUP, MERGE, Controller, Objects, account, prepare_cluster
from machines.deadly_proxy import kill_at_moments
from machines.openshift_settings import allow_operator
from machines.simulated_agents import SimulatedAgents
from machines.templates import write_templates
from machines.wait import wait_until

PINTLE = programs.here("pintle")
SETTINGS = "/apis/config.openshift.io/v1"
SECRETS = "/api/v1/namespaces/openshift-config/secrets"
POOL_LABEL = "pools.operator.machineconfiguration.openshift.io/worker"
SELECTS_WORKERS = {"machineConfigPoolSelector": {"matchLabels": {POOL_LABEL: ""}}}
TRUST = "/etc/pki/own/trust.crt"


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("templates")
    # In a block of YAML, a template may write quotes.
    write_templates(folder, dns=("/etc/dns", "|-\n    {{.ClusterDNSIP}} {{.PullSecret}}"),
                    trust=(TRUST, "|-\n{{indent 4 (toString .AdditionalTrustBundle)}}"))
    return folder


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        openshift_kinds.install(running)
        running.kubectl("create", "namespace", "openshift-config")
        running.apply((DEPLOY / "openshift/rbac.yaml").read_text())
        allow_operator(running)
        yield running


class Sources:
    """Creates and reads the objects that configs are generated from."""

    def __init__(self, admin):
        self.admin = admin
        self._made = []

    def put(self, path, kind, name, version="machineconfiguration.openshift.io/v1", **content):
        self.admin.must("POST", path, {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **content})
        self._made.append(f"{path}/{name}")

    def kubelet(self, name, **configuration):
        self.put(f"{GROUP}/kubeletconfigs", "KubeletConfig", name,
                 spec={**SELECTS_WORKERS, "kubeletConfig": configuration})

    def runtime(self, name, **configuration):
        self.put(f"{GROUP}/containerruntimeconfigs", "ContainerRuntimeConfig", name,
                 spec={**SELECTS_WORKERS, "containerRuntimeConfig": configuration})

    def setting(self, plural, kind, name="cluster", status=None, **content):
        self.put(f"{SETTINGS}/{plural}", kind, name, "config.openshift.io/v1", **content)
        if status:
            self.admin.must("PATCH", f"{SETTINGS}/{plural}/{name}/status", {"status": status}, MERGE)

    def pull_secret(self, text):
        self.put(SECRETS, "Secret", "pull-secret", "v1", type="kubernetes.io/dockerconfigjson",
                 data={".dockerconfigjson": base64.b64encode(text.encode()).decode()})

    def remove(self, path):
        self.admin.must("DELETE", path)
        self._made.remove(path)

    def delete_all(self):
        for path in self._made:
            self.admin.request("DELETE", path)

    def condition(self, plural, name, kind):
        """Returns (status, message) of the last condition of a kind, or None."""
        conditions = self.admin.must("GET", f"{GROUP}/{plural}/{name}").get("status", {}).get("conditions", [])
        found = [each for each in conditions if each["type"] == kind]
        return (found[-1]["status"], found[-1].get("message", "")) if found else None

    def wait_for_condition(self, plural, name, kind):
        return wait_until(lambda: self.condition(plural, name, kind), f"{name} has {kind}", 60)

    def file(self, config, path):
        """Returns the contents of a file in a config: decoded from base64, or the data URL if it is no base64.

        Without the file, it returns ""; without the config, None.
        """
        status, found = self.admin.request("GET", f"{GROUP}/machineconfigs/{config}")
        if status == 404:
            return None
        for file in found["spec"]["config"].get("storage", {}).get("files", []):
            if file["path"] == path:
                source = file["contents"]["source"]
                return base64.b64decode(source.partition(",")[2]).decode() if ";base64," in source else source
        return ""


def prepare_objects(made):
    made.controller_config()
    made.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller", {"spec": {
        "pullSecret": {"namespace": "openshift-config", "name": "pull-secret"},
        "infra": {"status": {"platformStatus": {"type": "None"}}}}}, MERGE)


@pytest.fixture
def objects(cluster):
    made = Objects(cluster)
    prepare_objects(made)
    yield made
    made.delete_all()


@pytest.fixture
def sources(cluster, objects):
    made = Sources(cluster.admin)
    made.pull_secret('{"auths": {}}')
    yield made
    made.delete_all()


@pytest.fixture
def controller(cluster, objects, sources, templates):
    with Controller(cluster, "controller", f"--templates={templates}") as running:
        wait_until(objects.leader, "the controller leads", 60)
        yield running
        delete_managed(sources)


def test_the_templates_become_configs_and_the_controller_config_is_complete(objects, sources, controller):
    target = objects.wait_for_target("worker")
    assert sources.condition("controllerconfigs", "machine-config-controller", "TemplateControllerCompleted")[0] == "True"
    assert sources.file("00-worker", "/etc/dns") == 'data:,10.96.0.10%20%7B%22auths%22%3A%7B%7D%7D'
    assert sources.file(target, "/etc/role") == "data:,worker"


def test_a_new_pull_secret_is_rolled_out(objects, sources, controller):
    target = objects.wait_for_target("worker")
    sources.admin.must("PATCH", f"{SECRETS}/pull-secret", {
        "data": {".dockerconfigjson": base64.b64encode(b'{"auths":{"r.test":{}}}').decode()}}, MERGE)
    other = objects.wait_for_target("worker", other_than=target)
    assert "r.test" in sources.file(other, "/etc/dns")


def test_another_bundle_of_authorities_is_rendered_and_undone(objects, sources, controller, tmp_path):
    before = objects.wait_for_target("worker")
    authority = certs.Authority(tmp_path / "user", "user")
    path = f"{GROUP}/controllerconfigs/machine-config-controller"
    sources.admin.must("PATCH", path, {"spec": {
        "additionalTrustBundle": base64.b64encode(authority.certificate.read_bytes()).decode()}}, MERGE)
    target = objects.wait_for_target("worker", other_than=before)
    assert "BEGIN%20CERTIFICATE" in sources.file(target, TRUST)
    sources.admin.must("PATCH", path, {"spec": {"additionalTrustBundle": None}}, MERGE)
    wait_until(lambda: objects.target("worker") == before, "the pool has its old target", 60)


def test_a_kubelet_config_is_rolled_out_and_undone(cluster, objects, sources, controller):
    before = objects.wait_for_target("worker")
    with SimulatedAgents(cluster) as agents:
        agents.add("worker-0", before)
        objects.wait_until_updated("worker")
        sources.kubelet("pods", maxPods=9)
        target = objects.wait_for_target("worker", other_than=before)
        assert sources.wait_for_condition("kubeletconfigs", "pods", "Accepted") == ("True", "Success")
        assert "maxPods: 9\n" in sources.file(target, "/etc/kubernetes/kubelet.conf")
        objects.wait_until_updated("worker", target)
        sources.remove(f"{GROUP}/kubeletconfigs/pods")
        objects.wait_until_updated("worker", before)
    assert sources.file("99-worker-generated-kubelet", "/") is None


def test_a_container_runtime_config_is_rendered_and_undone(objects, sources, controller):
    before = objects.wait_for_target("worker")
    sources.runtime("pids", pidsLimit=2048)
    target = objects.wait_for_target("worker", other_than=before)
    assert "pids_limit = 2048" in sources.file(target, "/etc/crio/crio.conf.d/01-ctrcfg-pidsLimit")
    sources.remove(f"{GROUP}/containerruntimeconfigs/pids")
    wait_until(lambda: objects.target("worker") == before, "the pool has its old target", 60)


def test_a_set_of_mirrors_is_rendered_and_undone(objects, sources, controller):
    path = "/etc/containers/registries.conf"
    before = objects.wait_for_target("worker")
    sources.setting("clusterversions", "ClusterVersion", "version",
                    status={"desired": {"image": "r.test/release@sha256:" + "0" * 64, "version": "4.20"}})
    sources.setting("images", "Image", spec={})
    sources.setting("imagedigestmirrorsets", "ImageDigestMirrorSet", "mirrors",
                    spec={"imageDigestMirrors": [{"source": "r.test", "mirrors": ["m.test"]}]})
    wait_until(lambda: "m.test" in (sources.file("99-worker-generated-registries", path) or ""),
               "the mirror is in the config", 60)
    wait_until(lambda: "m.test" in sources.file(objects.target("worker"), path), "the mirror is rendered", 60)
    sources.remove(f"{SETTINGS}/imagedigestmirrorsets/mirrors")
    wait_until(lambda: objects.target("worker") == before, "the pool has its old target", 60)


def test_a_preview_agrees_with_the_actual_change(cluster, objects, sources, controller, tmp_path):
    before = objects.wait_for_target("worker")

    def diff(*words):
        answer = shell.run(PINTLE, "diff", "--kubeconfig", cluster.admin.kubeconfig, *words, "-o", "json", check=False)
        assert answer.returncode == 2, answer.stderr
        return json.loads(answer.stdout)
    wanted = tmp_path / "kubelet.json"
    wanted.write_text(json.dumps({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "KubeletConfig",
                                  "metadata": {"name": "pods"},
                                  "spec": {**SELECTS_WORKERS, "kubeletConfig": {"maxPods": 9}}}))
    foreseen = diff("--with", wanted, "worker")
    assert objects.target("worker") == before, "a preview has changed the cluster"
    sources.kubelet("pods", maxPods=9)
    target = objects.wait_for_target("worker", other_than=before)
    assert foreseen == diff(before, target)


@pytest.mark.parametrize("kind, plural, spec, reason", [
    ("KubeletConfig", "kubeletconfigs", {"logLevel": 11}, "Error: KubeletConfig's LogLevel is not valid [0,10]: 11"),
    ("KubeletConfig", "kubeletconfigs", {"kubeletConfig": {"maxPods": "many"}}, "KubeletConfig could not be unmarshalled"),
    ("ContainerRuntimeConfig", "containerruntimeconfigs", {"containerRuntimeConfig": {"pidsLimit": 1}},
     "Error: invalid PidsLimit 1"),
])
def test_a_bad_object_gets_a_condition_and_changes_no_pool(objects, sources, controller, kind, plural, spec, reason):
    before = objects.wait_for_target("worker")
    sources.put(f"{GROUP}/{plural}", kind, "bad", spec={**SELECTS_WORKERS, **spec})
    status, message = sources.wait_for_condition(plural, "bad", "Failure")
    assert status == "True" and reason in message
    assert objects.target("worker") == before
    # The object can be deleted although it never had a config.
    sources.remove(f"{GROUP}/{plural}/bad")
    wait_until(lambda: sources.admin.request("GET", f"{GROUP}/{plural}/bad")[0] == 404, "the object is gone", 60)


def test_settings_of_nodes_and_features_have_configs_for_pools_that_are_made_later(objects, sources, controller):
    sources.setting("featuregates", "FeatureGate",
                    status={"featureGates": [{"version": "4.20", "enabled": [{"name": "Own"}], "disabled": []}]})
    sources.setting("nodes", "Node", spec={"cgroupMode": "v2"})
    wait_until(lambda: sources.file("97-worker-generated-kubelet", "/etc/kubernetes/kubelet.conf"), "the 97- config", 60)
    objects.custom_pool("infra")
    text = wait_until(lambda: sources.file("98-infra-generated-kubelet", "/etc/kubernetes/kubelet.conf"),
                      "the 98- config", 60)
    assert "Own: true" in text


def test_the_log_of_a_controller_without_templates_has_the_reason_why_it_generates_nothing(cluster, objects):
    with Controller(cluster, "controller") as running:
        wait_until(objects.leader, "the controller leads", 60)
        assert "No MachineConfigs are generated" in running.log_text()
        assert "because --templates is not given" in running.log_text()


def test_a_new_leader_changes_nothing(cluster, objects, sources, templates):
    with Controller(cluster, "first", f"--templates={templates}"):
        sources.kubelet("pods", maxPods=9)
        sources.kubelet("logs", containerLogMaxFiles=7)
        for name in ("pods", "logs"):
            assert sources.wait_for_condition("kubeletconfigs", name, "Accepted") == ("True", "Success")

        def versions():
            configs = cluster.admin.must("GET", f"{GROUP}/machineconfigs")["items"]
            sets = cluster.admin.must("GET", f"{GROUP}/kubeletconfigs")["items"]
            return {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in configs + sets}
        objects.wait_until_updated("worker")
        before = versions()
    with Controller(cluster, "second", f"--templates={templates}"):
        wait_until(lambda: objects.leader(), "the controller leads", 60)
        # The second leader has looked at everything when it has refused a new object.
        sources.kubelet("bad", maxPods="many")
        sources.wait_for_condition("kubeletconfigs", "bad", "Accepted")
        after = versions()
        assert {name: after[name] for name in before} == before
        delete_managed(sources)


def test_a_kubelet_config_is_deleted_in_the_middle_of_its_rollout(cluster, objects, sources, controller):
    before = objects.wait_for_target("worker")
    with SimulatedAgents(cluster) as agents:
        for name in ("worker-0", "worker-1", "worker-2"):
            agents.add(name, before)
        objects.wait_until_updated("worker", before)
        agents.order.clear()
        sources.kubelet("pods", maxPods=9)
        wait_until(lambda: agents.order, "the first node has changed", 60)
        sources.remove(f"{GROUP}/kubeletconfigs/pods")
        objects.wait_until_updated("worker", before)
        assert agents.most_at_work == 1
    assert sources.file("99-worker-generated-kubelet", "/") is None


def test_a_new_certificate_is_in_the_status_of_the_controller_config(objects, sources, controller, tmp_path):
    def subjects():
        status = sources.admin.must("GET", f"{GROUP}/controllerconfigs/machine-config-controller").get("status", {})
        return [each["subject"] for each in status.get("controllerCertificates", [])]
    objects.wait_for_target("worker")
    for name in ("first", "renewed"):
        authority = certs.Authority(tmp_path / name, name)
        sources.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller", {"spec": {
            "rootCAData": base64.b64encode(authority.certificate.read_bytes()).decode()}}, MERGE)
        wait_until(lambda name=name: [each for each in subjects() if name in each], f"{name} is in the status", 60)
    assert not [each for each in subjects() if "first" in each]


def test_ten_pools_with_ten_kubelet_configs_keep_their_numbers(cluster, objects, sources, templates):
    pools = [f"pool{number}" for number in range(10)]
    expected = {f"99-{pool}-generated-kubelet{suffix}"
                for pool in pools for suffix in ["", *(f"-{number}" for number in range(1, 10))]}

    def add(pool, number):
        sources.put(f"{GROUP}/kubeletconfigs", "KubeletConfig", f"{pool}-{number}", spec={
            "machineConfigPoolSelector": {"matchLabels": {"own": pool}}, "kubeletConfig": {"maxPods": 100 + number}})

    def names():
        return {name for name in spec_of_each(sources.admin) if name.startswith("99-pool")}

    def versions():
        return {each["metadata"]["name"]: each["metadata"]["resourceVersion"]
                for plural in ("machineconfigs", "kubeletconfigs")
                for each in sources.admin.must("GET", f"{GROUP}/{plural}")["items"]}
    with Controller(cluster, "first", f"--templates={templates}"):
        for pool in pools:
            objects.custom_pool(pool)
            sources.admin.must("PATCH", f"{GROUP}/machineconfigpools/{pool}",
                               {"metadata": {"labels": {"own": pool}}}, MERGE)
            add(pool, 0)
        # The first object of a pool gets the name without a number, so each first object is created alone.
        wait_until(lambda: names() == {f"99-{pool}-generated-kubelet" for pool in pools}, "each pool has its first config",
                   60)
        for pool in pools:
            for number in range(1, 10):
                add(pool, number)
        wait_until(lambda: names() == expected, "each has a config", 120)
        wait_until(lambda: all(sources.condition("kubeletconfigs", f"{pool}-{number}", "Accepted")
                               for pool in pools for number in range(10)), "each is accepted", 60)
        wait_until(lambda: all(is_settled(sources, objects, pool) for pool in pools), "all pools are rendered", 60)
        # An eleventh kubelet config is refused.
        sources.put(f"{GROUP}/kubeletconfigs", "KubeletConfig", "eleventh", spec={
            "machineConfigPoolSelector": {"matchLabels": {"own": pools[0]}}, "kubeletConfig": {"maxPods": 9}})
        assert "max number of supported kubelet config" in sources.wait_for_condition(
            "kubeletconfigs", "eleventh", "Failure")[1]
        before = versions()
    with Controller(cluster, "second", f"--templates={templates}"):
        # The second leader has looked at everything when it has refused another one.
        sources.put(f"{GROUP}/kubeletconfigs", "KubeletConfig", "twelfth", spec={
            "machineConfigPoolSelector": {"matchLabels": {"own": pools[0]}}, "kubeletConfig": {"maxPods": 9}})
        sources.wait_for_condition("kubeletconfigs", "twelfth", "Failure")
        after = versions()
        changed = {name for name in before if after.get(name) != before[name]}
        # The second leader may refuse the eleventh once more.
        assert changed <= {"eleventh"} and set(after) - set(before) == {"twelfth"}
        delete_managed(sources)


def spec_of_each(admin):
    """Returns the specs of all configs that are not rendered, by name."""
    return {each["metadata"]["name"]: each["spec"] for each in admin.must("GET", f"{GROUP}/machineconfigs")["items"]
            if not each["metadata"]["name"].startswith("rendered-")}


def is_settled(sources, objects, pool):
    """Returns whether the pool's target is made from the newest configs."""
    target = objects.target(pool)
    return target and "maxPods: 109" in (sources.file(target, "/etc/kubernetes/kubelet.conf") or "")


def delete_managed(sources):
    """Deletes the objects of the test while a controller runs, which removes their finalizers."""
    sources.delete_all()
    wait_until_deleted(sources)


def wait_until_deleted(sources):
    for plural in ("kubeletconfigs", "containerruntimeconfigs"):
        wait_until(lambda plural=plural: not sources.admin.must("GET", f"{GROUP}/{plural}")["items"],
                   f"there are no {plural}", 60)


class TestLeaderKilled:
    LEASE = ("1s", "800ms", "200ms")    # This lease lets another replica take over soon.

    def test_at_any_write(self, cluster, templates, tmp_path):
        ends = []

        def play(proxy):
            ends.append(self.play(cluster, templates, proxy, tmp_path))
            assert ends[-1] == ends[0], f"{json.dumps(ends[-1])} instead of {json.dumps(ends[0])}"
        kill_at_moments(cluster, account(cluster), play)

    def play(self, cluster, templates, proxy, tmp_path):
        """Lets two replicas generate the configs of several objects; returns the resulting objects."""
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(proxy.kubeconfig())
        folder = f"--templates={templates}"
        objects, sources = Objects(cluster), Sources(cluster.admin)
        with contextlib.ExitStack() as stack:
            stack.callback(objects.delete_all)
            prepare_objects(objects)
            stack.callback(sources.delete_all)
            sources.pull_secret('{"auths": {}}')
            first = stack.enter_context(Controller(cluster, "first", folder, kubeconfig=kubeconfig, lease=self.LEASE))
            proxy.kill = first.stop
            wait_until(lambda: objects.leader() or not first.pid, "a controller leads, or the first one is stopped", 60)
            stack.enter_context(Controller(cluster, "second", folder, lease=self.LEASE))
            sources.kubelet("pods", maxPods=9)
            sources.runtime("pids", pidsLimit=2048)
            sources.setting("images", "Image", spec={})
            sources.setting("imagedigestmirrorsets", "ImageDigestMirrorSet", "mirrors",
                            spec={"imageDigestMirrors": [{"source": "r.test", "mirrors": ["m.test"]}]})
            sources.setting("clusterversions", "ClusterVersion", "version",
                            status={"desired": {"image": "r.test/release@sha256:" + "0" * 64, "version": "4.20"}})
            sources.setting("nodes", "Node", spec={"cgroupMode": "v2"})
            sources.setting("featuregates", "FeatureGate",
                            status={"featureGates": [{"version": "4.20", "enabled": [{"name": "Own"}], "disabled": []}]})
            wait_until(lambda: self.target_with(objects, sources, ("maxPods: 9\n", "m.test", "2048")), "all is rendered", 60)
            sources.wait_for_condition("containerruntimeconfigs", "pids", "Success")
            self.change_all(sources, tmp_path)
            changed = wait_until(lambda: self.target_with(
                objects, sources, ("maxPods: 11\n", "m.test", "2048"), "other.test", "BEGIN%20CERTIFICATE"),
                "all changes are rendered", 60)
            specs = spec_of_each(sources.admin)
            # The settings stay until the end, since their configs stay, too.
            for path in (f"{GROUP}/kubeletconfigs/pods", f"{GROUP}/containerruntimeconfigs/pids"):
                sources.remove(path)
            wait_until_deleted(sources)
            without = wait_until(lambda: self.target_with(
                objects, sources, ("maxPods: 250\n", "m.test", None), "other.test", "BEGIN%20CERTIFICATE"),
                "the deleted objects are taken back", 60)
            return {"changed": changed, "configs": specs, "without": without,
                    "configs without": spec_of_each(sources.admin)}

    @staticmethod
    def change_all(sources, tmp_path):
        """Changes an object that has a config, the pull secret, and a certificate."""
        sources.admin.must("PATCH", f"{GROUP}/kubeletconfigs/pods", {"spec": {"kubeletConfig": {"maxPods": 11}}}, MERGE)
        sources.admin.must("PATCH", f"{SECRETS}/pull-secret", {
            "data": {".dockerconfigjson": base64.b64encode(b'{"auths":{"other.test":{}}}').decode()}}, MERGE)
        certificate = tmp_path / "authority.pem"
        if not certificate.exists():  # Each run gets the same certificate.
            certificate.write_bytes(certs.Authority(tmp_path / "authority", "user").certificate.read_bytes())
        sources.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller", {"spec": {
            "additionalTrustBundle": base64.b64encode(certificate.read_bytes()).decode()}}, MERGE)

    @staticmethod
    def target_with(objects, sources, texts, pull_secret="", trust=""):
        """Returns the pool's target if its files have these texts; None stands for a file that is not there."""
        target = objects.target("worker")
        paths = ("/etc/kubernetes/kubelet.conf", "/etc/containers/registries.conf",
                 "/etc/crio/crio.conf.d/01-ctrcfg-pidsLimit", "/etc/dns", TRUST)
        have = [sources.file(target, path) or "" for path in paths] if target else []
        wanted = [*texts, pull_secret, trust]
        return have and all(text in file if text is not None else not file
                            for file, text in zip(have, wanted)) and target
