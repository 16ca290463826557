# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle generate`, which makes the MachineConfigs of templates, KubeletConfigs, mirrors and the like."""

import base64
import hashlib
import shutil
import subprocess
import urllib.parse

import pytest
from generate_inputs import (SECRET, controller_config, feature_gate, kubelet_config, pool, put_manifests, put_template,
                             put_templates, secret, setting)
from program import PINTLE, pintle, refused, write

TEMPLATE_CONFIGS = ["00-master", "00-worker", "01-master-role", "01-worker-role"]


@pytest.fixture
def templates(tmp_path):
    return put_templates(tmp_path / "templates")


@pytest.fixture
def generate(tmp_path, templates):
    """Runs `pintle generate` over manifests; `objects` come in addition to the objects that every cluster has."""

    def words(*more, objects=(), base=(controller_config(), pool("master"), pool("worker"), secret())):
        folder = put_manifests(tmp_path / "manifests", *base, *objects)
        return ["generate", "--templates", templates, "--from", folder, *more]

    def run(*more, **inputs):
        return pintle(*words(*more, **inputs))
    run.words = words
    return run


def names(answer):
    return answer.stdout.splitlines()


def contents(config, path):
    for file in config["spec"]["config"].get("storage", {}).get("files", []):
        if file["path"] == path:
            source = file["contents"]["source"]
            head, _, data = source.partition(",")
            return base64.b64decode(data).decode() if head.endswith("base64") else urllib.parse.unquote(data)
    return None


def items(answer):
    return {item["metadata"]["name"]: item for item in answer.json()["items"]}


def test_prints_the_configs_of_templates_in_the_order_of_their_names(generate):
    answer = generate("-o", "names")
    assert (answer.status, names(answer)) == (0, TEMPLATE_CONFIGS), answer.stderr
    assert "Node named cluster" in answer.stderr and "FeatureGate" in answer.stderr


def test_templates_without_the_folder_of_a_role_make_no_config_and_a_note(generate, templates):
    for role in ("master", "worker"):
        shutil.rmtree(templates / role)
    answer = generate("--only", "templates", "-o", "names")
    assert (answer.status, answer.stdout) == (0, "")
    assert f"{templates}: it has no folder of a role, such as {templates}/worker" in answer.stderr


def test_all_formats_are_about_the_same_configs(generate):
    as_json = generate("-o", "json")
    made = items(as_json)
    assert list(made) == TEMPLATE_CONFIGS and as_json.json()["kind"] == "List"
    assert contents(made["00-worker"], "/etc/dns") == "10.0.0.10"
    as_yaml = generate().stdout
    assert as_yaml.count("\n---\n") == 3 and as_yaml.startswith("apiVersion: machineconfiguration.openshift.io/v1\n")
    digests = generate("-o", "digests")
    raw = ('{"ignition":{"version":"3.5.0"},"storage":{"files":[{"overwrite":true,"path":"/etc/role",'
           '"contents":{"source":"data:,worker"},"mode":420}]}}')
    assert digests.json()[3] == {"name": "01-worker-role", "file": "01-worker-role.json",
                                 "sha256OfSpecConfigRaw": hashlib.sha256(raw.encode()).hexdigest()}
    assert digests.stdout.startswith('[\n {\n  "name": "00-master",\n  "file": "00-master.json",\n')


def test_a_kubelet_config_becomes_a_config_of_its_pool(generate):
    answer = generate("-o", "json", "--only", "kubelet", objects=[kubelet_config(maxPods=9)])
    assert answer.status == 0, answer.stderr
    made = items(answer)
    assert list(made) == ["99-worker-generated-kubelet"]
    assert "maxPods: 9\n" in contents(made["99-worker-generated-kubelet"], "/etc/kubernetes/kubelet.conf")


def test_settings_of_the_cluster_become_configs(generate):
    objects = [feature_gate(), setting("Node", spec={"cgroupMode": "v2"}), setting("Image", spec={}),
               setting("ClusterVersion", "version", status={"desired": {"image": "r.test/release@sha256:" + "0" * 64}}),
               setting("ImageDigestMirrorSet", "m", spec={
                   "imageDigestMirrors": [{"source": "a.test", "mirrors": ["m.test"]}]}),
               {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-0"}}]
    answer = generate("-o", "json", objects=objects)
    assert (answer.status, answer.stderr) == (0, "")
    made = items(answer)
    assert [name for name in made if name not in TEMPLATE_CONFIGS] == [
        "97-master-generated-kubelet", "97-worker-generated-kubelet", "98-master-generated-kubelet",
        "98-worker-generated-kubelet", "99-master-generated-registries", "99-worker-generated-registries"]
    assert "m.test" in contents(made["99-worker-generated-registries"], "/etc/containers/registries.conf")
    assert 'cgroup_no_v1="all"' in made["97-worker-generated-kubelet"]["spec"]["kernelArguments"]
    for kind, configs in [("node", "97"), ("features", "98"), ("images", "99"), ("runtime", None)]:
        chosen = names(generate("-o", "names", "--only", kind, objects=objects))
        assert chosen == [name for name in made if configs and name.startswith(configs)]
    both = names(generate("-o", "names", "--only", "node", "--only", "features", objects=objects))
    assert both == [name for name in made if name[:2] in ("97", "98")]


def test_an_object_that_is_refused_is_named_and_the_other_configs_are_printed(generate, tmp_path):
    bad = kubelet_config("bad", clusterDomain="x.test")
    answer = generate("-o", "names", objects=[bad])
    assert answer.status == 1 and names(answer) == TEMPLATE_CONFIGS
    assert (f"{tmp_path}/manifests/04-kubeletconfig.json: KubeletConfig bad: Error: KubeletConfiguration: clusterDomain "
            "is not allowed to be set, but contains: x.test") in answer.stderr


def test_an_error_in_a_template_has_its_place(generate, templates):
    put_template(templates, "worker/00-worker/_base/files/bad.yaml", "path: /etc/x\n{{.NoSuchField}}\n")
    answer = generate("-o", "names")
    assert answer.status == 1 and names(answer) == []
    assert "worker/00-worker/_base/files/bad.yaml:2:2" in answer.stderr


def test_all_files_that_cannot_be_read_are_named(generate, tmp_path):
    folder = tmp_path / "manifests"
    words = generate.words()
    write(folder / "a.yaml", "a: [")
    write(folder / "b.yaml", "metadata: {name: x}\n")
    wrong = kubelet_config("c")
    wrong["spec"]["logLevel"] = "loud"
    write(folder / "butane.yaml", "variant: fcos\nversion: 1.5.0\n")
    refused(*words, texts=["a.yaml", "b.yaml: an object without a kind", "butane.yaml: Butane; make a MachineConfig of it"])
    (folder / "a.yaml").unlink()
    (folder / "butane.yaml").unlink()
    (folder / "b.yaml").unlink()
    write(folder / "c.json", wrong)
    refused(*words, texts=["c.json: KubeletConfig c", "$.spec.logLevel"])


def test_objects_of_other_kinds_and_other_files_do_not_matter(generate, tmp_path):
    words = generate.words("-o", "names")
    write(tmp_path / "manifests/README.md", "no manifest")
    write(tmp_path / "manifests/x.yaml", "kind: Namespace\napiVersion: v1\nmetadata: {name: x}\n")
    answer = pintle(*words)
    assert (answer.status, names(answer)) == (0, TEMPLATE_CONFIGS)
    assert f"left out: {tmp_path}/manifests/README.md" in answer.stderr and "Namespace" not in answer.stderr


def test_nothing_is_generated_without_a_controller_config(generate):
    refused(*generate.words(base=[pool("worker")]),
            texts=["there is no ControllerConfig machine-config-controller", "add it"])
    refused(*generate.words("--bootstrap", base=[pool("worker")]), texts=["no controllerconfig found in dir"])


def test_without_pools_there_are_those_of_every_cluster(generate):
    answer = generate("-o", "names", "--only", "features", base=[controller_config(), feature_gate()])
    assert answer.status == 0 and "master, worker" in answer.stderr
    assert names(answer) == ["98-master-generated-kubelet", "98-worker-generated-kubelet"]


def test_the_pull_secret_comes_from_a_file_or_a_manifest(generate, templates, tmp_path):
    put_template(templates, "worker/00-worker/_base/files/pull.yaml",
                 "path: /etc/pull\ncontents:\n  inline: |\n    {{.PullSecret}}\n")

    def pull(*words, **inputs):
        answer = generate("-o", "json", "--only", "templates", *words, **inputs)
        assert answer.status == 0 and "planted-secret" not in answer.stderr, answer.stderr
        return contents(items(answer)["00-worker"], "/etc/pull"), answer.stderr
    without = [controller_config(), pool("worker")]
    assert pull() == (SECRET + "\n", "")
    alone = write(tmp_path / "manifests/pull.json", '{"auths": {"other.test": {}}}')
    assert pull("--pull-secret", alone) == ('{"auths":{"other.test":{}}}\n', "")
    alone.unlink()
    manifest = write(tmp_path / "secret.json", secret())
    for more in [[], ["--bootstrap"]]:
        assert pull("--pull-secret", manifest, *more, base=without)[0] == SECRET + "\n"
    empty, note = pull(base=without)
    assert empty == '{"auths":{}}\n' and "--pull-secret" in note


@pytest.mark.parametrize("more", [[], ["--bootstrap"]])
@pytest.mark.parametrize("template", ["path: [{{.PullSecret}}\n", "path: /x\nmode: {{.PullSecret}}\n",
                                      "path: /x\n{{index .PullSecret 9999}}\n", "path: /x\n{{.PullSecret.Field}}\n"])
def test_no_error_contains_the_pull_secret(generate, templates, more, template, tmp_path):
    put_template(templates, "worker/00-worker/_base/files/bad.yaml", template)
    pull_secret = write(tmp_path / "secret.json", secret())
    answer = generate(*more, "--pull-secret", pull_secret, objects=[feature_gate()])
    assert answer.status == 1 and "planted" not in answer.stderr and "c2VjcmV0" not in answer.stderr, answer.stderr


def test_a_broken_pull_secret_is_an_error_that_does_not_contain_the_secret(generate, tmp_path):
    broken = write(tmp_path / "secret.json", SECRET[:-1])
    answer = generate("--pull-secret", broken, "--only", "templates")
    assert answer.status == 1 and "couldn't compact pullsecret" in answer.stderr
    assert "c2VjcmV0" not in answer.stderr
    other = write(tmp_path / "pool.json", pool("worker"))
    refused(*generate.words("--pull-secret", other), texts=["pool.json", "MachineConfigPool instead of Secret"])


def test_an_installation_writes_other_bytes_for_a_kubelet_config(generate, tmp_path):
    objects = [feature_gate(), kubelet_config(maxPods=9)]
    pull_secret = write(tmp_path / "secret.json", secret())
    running = generate("-o", "digests", "--only", "kubelet", objects=objects)
    installed = generate("-o", "digests", "--only", "kubelet", "--bootstrap", objects=objects)
    assert (running.status, installed.status) == (0, 0), installed.stderr
    assert running.json()[0]["name"] == installed.json()[0]["name"] == "99-worker-generated-kubelet"
    assert running.json() != installed.json()
    everything = generate("-o", "names", "--bootstrap", "--pull-secret", pull_secret, objects=objects)
    assert (everything.status, everything.stderr) == (0, "")
    assert names(everything) == [*TEMPLATE_CONFIGS, *[
        f"{kind.partition('-')[0]}-{role}-generated-{kind.partition('-')[2]}"
        for kind in ("99-registries", "98-kubelet", "97-kubelet") for role in ("master", "worker")],
        "99-worker-generated-kubelet"]


def test_all_inputs_that_cannot_be_listed_or_read_are_reported(generate, tmp_path):
    words = generate.words()
    (tmp_path / "manifests/x.yaml").symlink_to("nowhere")
    write(tmp_path / "manifests/y.yaml", "a: [")
    refused(*words, texts=["x.yaml: the file is a link", "y.yaml"])


def test_an_installation_ends_with_the_first_error(generate):
    bad = kubelet_config("bad", clusterDomain="x.test")
    refused(*generate.words("--bootstrap", objects=[feature_gate(), bad]),
            texts=["KubeletConfig bad", "clusterDomain is not allowed to be set, but contains: x.test"])
    refused(*generate.words("--bootstrap"), texts=["no featuregate found in dir"])


def test_generated_configs_can_be_rendered_and_compared(generate, tmp_path):
    """Runs the three programs as a person would, with pipes between them."""
    words = {"pool": write(tmp_path / "pool.json", pool("worker")),
             "config": write(tmp_path / "cc.json", controller_config())}

    def rendered(objects, output):
        made = subprocess.Popen([PINTLE, *map(str, generate.words(objects=objects))], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
        answer = pintle("render", "--pool", words["pool"], "--controller-config", words["config"], "-", "-o", output,
                        stdin=made.stdout)
        made.stdout.close()
        assert (made.wait(), answer.status) == (0, 0), answer.stderr
        return answer.stdout
    before = write(tmp_path / "before.yaml", rendered([], "yaml"))
    with (tmp_path / "after.yaml").open("w+b") as after:
        after.write(rendered([kubelet_config(maxPods=9)], "yaml").encode())
        after.seek(0)
        answer = pintle("diff", before, "-", stdin=after)
    assert answer.status == 2, answer.stderr
    assert "/etc/kubernetes/kubelet.conf" in answer.stdout and "maxPods: 9" in answer.stdout


def test_the_command_line_is_checked(generate, templates, tmp_path):
    refused("generate", "--templates", templates, texts="--from is needed")
    refused("generate", "--from", tmp_path, texts="--templates is needed")
    refused(*generate.words("extra"), texts=["extra", "--from"])
    refused(*generate.words("--only", "pools"), texts=["--only pools", "templates|images"])
    refused("generate", "--templates", tmp_path / "none", "--from", tmp_path / "neither",
            texts=["none", "neither", "No such file"])


def test_a_folder_of_dumps_from_a_cluster_gives_what_the_cluster_has(generate):
    """Names, statuses and configs that exist already are taken into account."""
    first = generate("-o", "json", objects=[kubelet_config("a", maxPods=9)])
    known = kubelet_config("a", maxPods=9)
    known["metadata"].update(annotations={"machineconfiguration.openshift.io/mc-name-suffix": "2"}, uid="1",
                             finalizers=["99-worker-generated-kubelet-2"])
    known["status"] = {"conditions": [{"type": "Failure", "status": "True", "message": "an error of last year"}]}
    second = generate("-o", "names", "--only", "kubelet", objects=[known, *items(first).values()])
    assert (second.status, names(second)) == (0, ["99-worker-generated-kubelet-2"]), second.stderr
    assert "last year" not in second.stderr


def test_names_the_file_of_an_object_that_has_the_name_of_one_in_another_namespace(generate):
    def policy(kind, scope, **metadata):
        key = {"policyType": "PublicKey", "publicKey": {"keyData": base64.b64encode(b"KEY").decode()}}
        made = setting(kind, name="p", spec={"scopes": [scope], "policy": {"rootOfTrust": key}})
        made["metadata"].update(metadata)
        return made
    objects = [policy("ImagePolicy", "s.test/x", namespace="a"), policy("ImagePolicy", "t.test", namespace="b"),
               policy("ClusterImagePolicy", "s.test"), feature_gate("SigstoreImageVerification"),
               setting("Image", spec={}), setting("ClusterVersion", name="version", status={
                   "desired": {"image": "r.test/release@sha256:" + "0" * 64, "version": "0.0.1-snapshot"}})]
    answer = generate("--only", "images", "-o", "names", objects=objects)
    assert "04-imagepolicy.json: ImagePolicy a/p: has conflicting scope(s)" in answer.stderr
    assert "replaces an object" not in answer.stderr
