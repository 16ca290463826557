# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle-controller bootstrap`, and `pintle-controller serve --bootstrap` with the files that it writes."""

import base64
import json
import re
import resource
import ssl
import stat
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest
from generate_inputs import GROUP
from machines import certs
from machines.ignition_server import CONTROLLER, IgnitionServer
from machines.templates import RELEASE_FILES
from program import write

pytestmark = pytest.mark.skipif(not CONTROLLER.exists(), reason="pintle-controller was not built")

SECRET = "aHVudGVyMg"
ENCAPSULATED = "/etc/ignition-machine-config-encapsulated.json"
FILES = {**RELEASE_FILES, "secret": ("/var/lib/kubelet/config.json", "{{.PullSecret}}")}


def manifest(kind, name, version=f"{GROUP}/v1", metadata=None, **content):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **(metadata or {})}, **content}


def quoted(text):
    """Quotes a text in YAML. A pull secret, which has double quotes, goes between single ones."""
    return f"'{text}'" if "{{" in text else json.dumps(text)


def pool(name):
    role = {"matchLabels": {f"{GROUP}/role": name}}
    return manifest("MachineConfigPool", name, metadata={"uid": f"uid-of-{name}", "labels": {"pool": name}},
                    spec={"machineConfigSelector": role})


def kubelet_config(name, **configuration):
    return manifest("KubeletConfig", name, spec={
        "machineConfigPoolSelector": {"matchLabels": {"pool": "master"}}, "kubeletConfig": configuration})


class Installation:
    """The inputs of an installation, and its destination."""

    def __init__(self, folder):
        self.manifests = folder / "manifests"
        self.templates = folder / "templates"
        self.destination = folder / "destination"
        self.rendered = None
        self.manifests.mkdir()
        for role in ("master", "worker"):
            files = self.templates / role / f"00-{role}/_base/files"
            files.mkdir(parents=True)
            for name, (path, text) in FILES.items():
                write(files / f"{name}.yaml", f"path: {path}\nmode: 0644\ncontents:\n  inline: {quoted(text)}\n")
        credentials = json.dumps({"auths": {"r.test": {"auth": SECRET}}}, indent=1)
        self.pull_secret = write(folder / "pull-secret.json", manifest(
            "Secret", "pull-secret", "v1", type="kubernetes.io/dockerconfigjson",
            data={".dockerconfigjson": base64.b64encode(credentials.encode()).decode()}))
        self.put("00-controllerconfig", manifest(
            "ControllerConfig", "machine-config-controller",
            metadata={"annotations": {f"{GROUP}/generated-by-version": "v1"}},
            spec={"baseOSContainerImage": "r.test/os@sha256:1",
                  "infra": {"status": {"platformStatus": {"type": "None"}}},
                  "kubeAPIServerServingCAData": base64.b64encode(b"AUTHORITY").decode()}))
        self.put("01-featuregate.json", manifest(
            "FeatureGate", "cluster", "config.openshift.io/v1",
            status={"featureGates": [{"version": "0.0.1-snapshot", "enabled": [{"name": "GateOn"}]}]}))
        self.put("02-pools.yaml", "".join(f"---\n{json.dumps(pool(name))}\n" for name in ("master", "worker")))

    def put(self, name, contents):
        return write(self.manifests / name, contents)

    def run(self, *options, file_size=None):
        """Returns the status, the output and the errors."""
        def limit():
            if file_size is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        words = ["--manifest-dir", self.manifests, "--dest-dir", self.destination, "--pull-secret", self.pull_secret,
                 "--templates", self.templates, *options]
        answer = subprocess.run([CONTROLLER, "bootstrap", *words], capture_output=True, text=True, preexec_fn=limit,
                                check=False)
        assert SECRET not in answer.stdout + answer.stderr
        return answer.returncode, answer.stdout, answer.stderr

    def must_run(self, *options):
        status, output, errors = self.run(*options)
        assert (status, errors) == (0, "")
        return dict(line.split(": ") for line in output.splitlines())

    def refused(self, *options):
        """Returns the errors of a run that writes nothing."""
        status, output, errors = self.run(*options)
        assert (status, output, self.files()) == (1, "", [])
        return errors

    def files(self):
        if not self.destination.exists():
            return []
        found = (path for path in self.destination.rglob("*") if not path.is_dir())
        return sorted(str(path.relative_to(self.destination)) for path in found)

    def text(self, name):
        return (self.destination / name).read_text()


@pytest.fixture
def installation(tmp_path):
    return Installation(tmp_path)


def test_bootstrap_writes_pools_their_rendered_configs_and_the_files_that_a_server_needs(installation):
    rendered = installation.must_run()
    assert sorted(rendered) == ["master", "worker"]
    assert installation.files() == [
        "controller-config/machine-config-controller.yaml", f"machine-configs/{rendered['master']}.yaml",
        f"machine-configs/{rendered['worker']}.yaml", "machine-pools/master.yaml", "machine-pools/worker.yaml"]
    for name in rendered:
        text = installation.text(f"machine-pools/{name}.yaml")
        assert re.findall(r"(?m)^  configuration:\n    name: (\S+)$", text) == [rendered[name]] * 2
        assert f"uid: uid-of-{name}\n" in text
    config = installation.text(f"machine-configs/{rendered['master']}.yaml")
    assert f"\n  name: {rendered['master']}\n" in config and "- systemd.unified_cgroup_hierarchy=1\n" in config
    # The configs have the pull secret in them.
    assert SECRET in config
    for path in installation.destination.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRWXO == 0, path


def test_the_same_input_gives_the_same_files_and_another_input_another_config(installation):
    rendered = installation.must_run()
    texts = {name: installation.text(name) for name in installation.files()}
    assert installation.must_run() == rendered
    assert {name: installation.text(name) for name in installation.files()} == texts
    installation.put("03-kubeletconfig.yaml", kubelet_config("pods", maxPods=9))
    installation.put("04-apiserver.yaml", manifest("APIServer", "cluster", "config.openshift.io/v1",
                                                   spec={"tlsSecurityProfile": {"type": "Modern"}}))
    again = installation.must_run()
    assert again["master"] != rendered["master"]
    assert f"name: {again['master']}\n" in installation.text("machine-pools/master.yaml")
    assert "type: Modern\n" in installation.text("api-server/api-server.yaml")
    # The config of the earlier pool stays, for a server that has read this pool.
    assert installation.text(f"machine-configs/{rendered['master']}.yaml") == texts[
        f"machine-configs/{rendered['master']}.yaml"]


def test_a_pool_of_an_earlier_run_is_reported_because_a_server_would_use_it(installation):
    extra = installation.put("03-pool.yaml", pool("infra"))
    assert "infra" in installation.must_run()
    extra.unlink()
    status, _, errors = installation.run()
    assert status == 0
    assert f"{installation.destination}/machine-pools/infra.yaml: this file is from an earlier run" in errors


def test_a_write_that_fails_leaves_whole_files_and_no_pool(installation):
    status, output, errors = installation.run(file_size=1500)
    assert (status, output) == (1, "")
    assert "writing machine-configs/rendered-master-" in errors and "File too large" in errors
    assert "controller-config/machine-config-controller.yaml" in errors and "run the same command again" in errors
    assert installation.files() == ["controller-config/machine-config-controller.yaml"]
    installation.must_run()
    assert "machine-pools/master.yaml" in installation.files()


def test_a_destination_that_cannot_be_made_is_an_error(installation):
    installation.destination.write_text("a file")
    status, _, errors = installation.run()
    assert status == 1 and str(installation.destination) in errors


@pytest.mark.parametrize("name, contents, error", [
    ("03.yaml", kubelet_config("bad", clusterDomain="x"),
     '03.yaml" [1]: KubeletConfig bad: KubeletConfiguration: clusterDomain is not allowed to be set, but contains: x'),
    ("03.yaml", "---\n---\nkind: 7\n", '03.yaml" [1] manifest: Object \'Kind\' is missing'),
    ("03.yaml", "a: {b", "03.yaml"),
    ("03.yaml", manifest("MachineConfig", "50-bad", metadata={"labels": {f"{GROUP}/role": "master"}},
                         spec={"kernelType": "fast"}), 'rendering pool master: "'),
    ("03.yaml", manifest("Node", "cluster", "config.openshift.io/v1", spec={"cgroupMode": "v1"}),
     "unknown cgroup mode found v1"),
    ("01-featuregate.json", manifest("FeatureGate", "cluster", "config.openshift.io/v1",
                                     status={"featureGates": [{"version": "9.9.9"}]}),
     'missing desired version "0.0.1-snapshot" in featuregates.config.openshift.io/cluster; the FeatureGate lists '
     "9.9.9; name the release with --release-version"),
    ("01-featuregate.json", manifest("FeatureGate", "other", "config.openshift.io/v1"),
     "error: no featuregate found in dir: \""),
    ("00-controllerconfig", manifest("ConfigMap", "x", "v1"), "error: no controllerconfig found in dir: \""),
])
def test_a_wrong_manifest_is_named_and_nothing_is_written(installation, name, contents, error):
    installation.put(name, contents)
    errors = installation.refused()
    assert error in errors and errors.startswith("pintle-controller bootstrap: ")


def test_the_release_can_be_named(installation):
    installation.put("01-featuregate.json", manifest("FeatureGate", "cluster", "config.openshift.io/v1",
                                                     status={"featureGates": [{"version": "9.9.9"}]}))
    assert "master" in installation.must_run("--release-version", "9.9.9")


def test_the_versions_that_configs_must_have_can_be_named(installation):
    assert "ignoring controller config generated from v1 (my version: v2)" in installation.refused(
        "--payload-version", "v2")
    rendered = installation.must_run("--payload-version", "v1", "--controller-version", "HASH")
    assert f"{GROUP}/generated-by-controller-version: HASH\n" in installation.text(
        f"machine-configs/{rendered['master']}.yaml")


@pytest.mark.parametrize("secret, error", [
    (manifest("Secret", "pull-secret", "v1", type="Opaque", data={".dockerconfigjson": SECRET}),
     "expected secret type kubernetes.io/dockerconfigjson found Opaque"),
    (manifest("Secret", "pull-secret", "v1", type="kubernetes.io/dockerconfigjson",
              data={".dockerconfigjson": SECRET + "!"}), "has no valid .dockerconfigjson"),
    (manifest("Secret", "pull-secret", "v1", type="kubernetes.io/dockerconfigjson",
              data={".dockerconfigjson": base64.b64encode(SECRET.encode()).decode()}), "couldn't compact pullsecret"),
    (manifest("ConfigMap", "pull-secret", "v1"), "its kind is ConfigMap instead of Secret"),
    (SECRET, "must be an object"),
    ("", "the file must contain exactly one Secret"),
])
def test_a_wrong_pull_secret_is_refused_and_never_printed(installation, secret, error):
    write(installation.pull_secret, secret)
    assert error in installation.refused()


def test_an_error_of_a_template_does_not_contain_the_pull_secret(installation):
    write(installation.templates / "master/00-master/_base/files/secret.yaml",
          "path: /a\ncontents: {inline: {{.PullSecret}} }\n")
    assert "a text with the pull secret in it" in installation.refused()


@pytest.mark.parametrize("left_out", ["--manifest-dir", "--dest-dir", "--pull-secret"])
def test_a_missing_required_option_is_an_error(left_out):
    words = [word for option in ("--manifest-dir", "--dest-dir", "--pull-secret") if option != left_out
             for word in (option, "/nowhere")]
    answer = subprocess.run([CONTROLLER, "bootstrap", *words], capture_output=True, text=True, check=False)
    assert answer.returncode == 1 and f"{left_out} is needed" in answer.stderr


@pytest.mark.parametrize("option", ["--manifest-dir", "--dest-dir", "--pull-secret"])
def test_a_required_option_with_an_empty_value_is_named(installation, option):
    assert f"{option}: the value must not be empty" in installation.refused(option, "")


def test_a_destination_that_cannot_be_made_is_named_with_its_option(installation, tmp_path):
    write(tmp_path / "file", "")
    assert f"--dest-dir: making the directory {tmp_path}/file/below: " in installation.refused(
        "--dest-dir", tmp_path / "file/below")


def test_folders_that_do_not_exist_are_named(installation, tmp_path):
    assert "/no/templates" in installation.refused("--templates", "/no/templates")
    assert "/no/manifests" in installation.refused("--manifest-dir", "/no/manifests")
    assert str(tmp_path / "none") in installation.refused("--pull-secret", tmp_path / "none")


def test_an_object_that_is_incomplete_or_has_no_effect_is_reported(installation):
    installation.put("03-release.yaml", manifest("InternalReleaseImage", "cluster", f"{GROUP}/v1alpha1"))
    assert "internal-release-image-registry-auth" in installation.refused()
    installation.put("04-registry.yaml", manifest("Secret", "internal-release-image-registry-auth", "v1",
                                                  data={"password": "czNjcmV0"}))
    assert "spec.dns.spec.baseDomain" in installation.refused()
    installation.put("00-controllerconfig", installation.manifests.joinpath("00-controllerconfig").read_text().replace(
        '"infra":', '"dns": {"spec": {"baseDomain": "demo.test"}}, "infra":'))
    status, output, errors = installation.run()
    assert status == 0 and "InternalReleaseImage cluster: its MachineConfigs are not made" in errors
    config = re.search(r"rendered-master-\w+", output)[0]
    assert "localhost%3A22625" in installation.text(f"machine-configs/{config}.yaml")


# ---- serving new machines of the control plane ----

def direct(*handlers):
    """Returns an opener for URLs that uses no proxy."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)


def ask(url):
    """Returns the status and the answer."""
    request = urllib.request.Request(
        url, headers={"Accept": "application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1"})
    try:
        with direct().open(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def contents(config, path):
    source = next(file["contents"]["source"] for file in config["storage"]["files"] if file["path"] == path)
    return urllib.parse.unquote(source.partition(",")[2])


@pytest.fixture
def served(installation, tmp_path):
    installation.rendered = installation.must_run()
    kubeconfig = write(tmp_path / "kubeconfig", "clusters: []\n")
    write(installation.destination / "registry.crt", "REGISTRY")
    options = ["--bootstrap-kubeconfig", kubeconfig, "--bootstrap-certs", "r.test=registry.crt"]
    with IgnitionServer(installation.destination, options=options, plain=True, source="--bootstrap") as server:
        yield server


def test_a_new_machine_of_the_control_plane_gets_its_config(installation, served):
    status, config = ask(f"{served.plain}/config/master")
    assert status == 200 and config["ignition"]["version"] == "3.4.0"
    name = installation.rendered["master"]
    annotations = json.loads(contents(config, "/etc/machine-config-daemon/node-annotations.json"))
    assert annotations[f"{GROUP}/currentConfig"] == annotations[f"{GROUP}/desiredConfig"] == name
    assert contents(config, "/etc/kubernetes/kubeconfig") == "clusters: []\n"
    assert contents(config, "/etc/kubernetes/kubelet-ca.crt") == "AUTHORITY"
    assert contents(config, "/etc/docker/certs.d/r.test/ca.crt") == "REGISTRY"
    assert json.loads(contents(config, "/var/lib/kubelet/config.json")) == {"auths": {"r.test": {"auth": SECRET}}}
    encapsulated = json.loads(contents(config, ENCAPSULATED))
    assert encapsulated["metadata"]["name"] == name
    assert encapsulated["spec"]["config"] == {"ignition": {"version": "3.5.0"}}
    assert config["storage"]["files"][-1]["path"] == ENCAPSULATED


def test_pools_other_than_those_of_the_control_plane_are_refused(served):
    assert ask(f"{served.plain}/config/worker") == (500, b"")
    assert "refusing to serve bootstrap configuration to pool" in served.log()
    assert ask(f"{served.plain}/config/arbiter") == (404, b"")
    assert ask(f"{served.plain}/config/infra")[0] == 500


def test_another_run_is_served_at_once(installation, served):
    installation.put("03-kubeletconfig.yaml", kubelet_config("pods", maxPods=9))
    rendered = installation.must_run()
    assert rendered != installation.rendered
    status, config = ask(f"{served.plain}/config/master")
    assert status == 200
    assert json.loads(contents(config, ENCAPSULATED))["metadata"]["name"] == rendered["master"]


def test_files_that_are_missing_have_the_statuses_of_the_operators_server(installation, served):
    (installation.destination / "controller-config/machine-config-controller.yaml").unlink()
    assert ask(f"{served.plain}/config/master") == (500, b"")
    assert "could not find controller config on initial bootstrap" in served.log()
    (installation.destination / f"machine-configs/{installation.rendered['master']}.yaml").unlink()
    assert ask(f"{served.plain}/config/master") == (404, b"")
    (installation.destination / "machine-pools/master.yaml").unlink()
    assert ask(f"{served.plain}/config/master") == (404, b"")


def test_the_server_has_the_tls_profile_of_the_installation(installation, tmp_path):
    installation.put("04-apiserver.yaml", manifest("APIServer", "cluster", "config.openshift.io/v1",
                                                   spec={"tlsSecurityProfile": {"type": "Modern"}}))
    installation.must_run()
    authority = certs.Authority(tmp_path / "authority")
    pair = authority.server("server", ["localhost", "127.0.0.1"])

    def is_served(options, version):
        trust = ssl.create_default_context(cafile=authority.certificate)
        trust.minimum_version = trust.maximum_version = version
        opener = direct(urllib.request.HTTPSHandler(context=trust))
        with IgnitionServer(installation.destination, pair, options, source="--bootstrap") as server:
            try:
                with opener.open(f"{server.secure}/healthz", timeout=60) as answer:
                    return answer.status == 200
            except urllib.error.URLError:
                return False
    assert is_served([], ssl.TLSVersion.TLSv1_3)
    assert not is_served([], ssl.TLSVersion.TLSv1_2)
    assert is_served(["--tls-min-version", "VersionTLS12"], ssl.TLSVersion.TLSv1_2)
