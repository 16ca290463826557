# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle render`, which renders many configs to one and computes its name."""

import os
import pathlib
import shutil
import threading

from program import file, ignition, machine_config, pintle, refused, with_files, write

DATA = pathlib.Path(__file__).parents[1] / "vectors/data/render/005-one-file"
WORDS = ["render", "--pool", DATA / "pool.yaml", "--controller-config", DATA / "controllerconfig.yaml", DATA / "inputs"]


def test_all_formats_are_the_same_config():
    name = (DATA / "expected-name.txt").read_text().strip()
    assert pintle(*WORDS, "-o", "name").stdout == name + "\n"
    rendered = pintle(*WORDS, "-o", "json")
    assert rendered.status == 0
    assert rendered.json()["metadata"]["name"] == name
    assert name in pintle(*WORDS).stdout
    assert pintle(*WORDS, "-o", "hash-input").stdout == (DATA / "expected-hash-input.yaml").read_text()


def test_names_a_config_that_is_already_rendered(tmp_path):
    config = write(tmp_path / "a.json", pintle(*WORDS, "-o", "json").stdout)
    name = (DATA / "expected-name.txt").read_text().strip()
    assert pintle("render", "--hash-only", "worker", config).stdout == name + "\n"
    assert pintle("render", "--hash-only", "worker", "-o", "json", config).json() == {"name": name}


def test_refuses_a_file_that_is_not_a_pool(tmp_path):
    other = write(tmp_path / "other.json", machine_config())
    refused(*WORDS[:1], "--pool", other, *WORDS[3:], texts=[str(other), "MachineConfigPool"])


def test_refuses_a_directory_without_configs(tmp_path):
    refused(*WORDS[:-1], tmp_path, texts=["no *.yaml, *.yml, *.json, *.bu, *.butane or *.fcc", str(tmp_path)])


def test_leaves_out_entries_that_are_no_files_and_ignores_hidden_files(tmp_path):
    inputs = shutil.copytree(WORDS[-1], tmp_path / "inputs")
    os.mkfifo(inputs / "00-pipe.yaml")
    (inputs / ".#50.yaml").symlink_to("someone@host.1:2")
    write(inputs / ".50.yaml", "a: [")
    answer = pintle(*WORDS[:-1], inputs, "-o", "name")
    assert answer.stdout == pintle(*WORDS, "-o", "name").stdout
    assert answer.stderr == f"pintle: render: left out: {inputs}/00-pipe.yaml is a pipe\n"
    (inputs / "60.yaml").symlink_to("nowhere")
    refused(*WORDS[:-1], inputs, texts=["60.yaml", "its target does not exist"])


def test_takes_a_pipe_that_is_named(tmp_path):
    os.mkfifo(tmp_path / "config.yaml")
    text = pintle(*WORDS, "-o", "json").stdout
    writer = threading.Thread(target=(tmp_path / "config.yaml").write_text, args=[text], daemon=True)
    writer.start()
    name = pintle("render", "--hash-only", "worker", tmp_path / "config.yaml").stdout
    writer.join(60)
    assert name == (DATA / "expected-name.txt").read_text().strip() + "\n"


def test_names_the_file_that_it_cannot_read(tmp_path):
    broken = write(tmp_path / "broken.yaml", "a: [")
    refused(*WORDS, broken, texts=["broken.yaml", "line 2"])


def copy_of_inputs(tmp_path):
    return shutil.copytree(WORDS[-1], tmp_path / "inputs")


def test_names_the_objects_that_it_leaves_out(tmp_path):
    inputs = copy_of_inputs(tmp_path)
    write(inputs / "kubelet.yaml", "kind: KubeletConfig\nmetadata: {name: set-max-pods}\n---\nkind: Namespace\n")
    write(inputs / "README.md", "no config")
    answer = pintle(*WORDS[:-1], inputs, "-o", "name")
    assert (answer.status, answer.stdout) == (0, pintle(*WORDS, "-o", "name").stdout)
    assert answer.stderr.splitlines() == [
        f"pintle: render: left out: {inputs}/README.md: its name ends in none of .yaml, .yml, .json, .bu, .butane, .fcc",
        f"pintle: render: left out: {inputs}/kubelet.yaml: KubeletConfig set-max-pods is not a MachineConfig",
        f"pintle: render: left out: {inputs}/kubelet.yaml: Namespace is not a MachineConfig"]


def test_takes_butane(tmp_path):
    inputs = copy_of_inputs(tmp_path)
    header = ("variant: openshift\nversion: 4.16.0\nmetadata:\n  name: 99-x\n"
              "  labels: {machineconfiguration.openshift.io/role: worker}\nopenshift: {kernel_arguments: [quiet]}\n")
    files = "storage:\n  files:\n  - {path: /etc/x, mode: 0644, contents: {inline: on}}\n"
    for name in ["99.bu", "99.fcc", "99.yaml"]:
        path = write(inputs / name, header + files)
        spec = pintle(*WORDS[:-1], inputs, "-o", "json").json()["spec"]
        assert spec["kernelArguments"] == ["quiet"]
        assert "/etc/x" in [entry["path"] for entry in spec["config"]["storage"]["files"]]
        path.unlink()
    named = write(tmp_path / "any-name", header + files)
    same = write(tmp_path / "same.yaml", pintle("convert", "--to", "machineconfig", named).stdout)
    names = {pintle(*WORDS, path, "-o", "name").stdout for path in [named, same]}
    assert len(names) == 1 and "rendered-worker-" in names.pop()
    refused(*WORDS, write(tmp_path / "fcos.bu", "variant: fcos\nversion: 1.5.0\n"),
            texts=["fcos.bu", "needs a name and the label", "`variant: openshift`"])


def test_reports_all_errors_at_once(tmp_path):
    inputs = copy_of_inputs(tmp_path)
    write(inputs / "10-broken.yaml", "a: [")
    write(inputs / "20-nothing.yaml", "metadata: {name: nothing}\n")
    write(inputs / "30-type.json", machine_config(kernelArguments="quiet"))
    write(inputs / "40-butane.bu", "variant: fcos\nversion: 1.5.0\nstorage: {files: [{path: a}, {path: b}]}\n")
    write(inputs / "50-two.json", machine_config(with_files(file("a"), file("/b/"), file("/c", mode=0o1644)), name="50-two",
                                                 kernelType="fast"))
    write(inputs / "60-bare.json", ignition())
    refused(*WORDS[:-1], inputs, texts=[
        'error parsing "10-broken.yaml" manifest: ', 'error parsing "20-nothing.yaml" manifest: Object \'Kind\' is missing',
        'error parsing "30-type.json" manifest: json: cannot unmarshal string',
        'error parsing "40-butane.bu" manifest: ', "$.storage.files.0.path", "$.storage.files.1.path",
        f"{inputs}/50-two.json: error: MachineConfig 50-two: $.spec.kernelType: kernelType=fast is invalid",
        "$.spec.config.storage.files.0.path: path not absolute (begin the path with a slash)",
        "$.spec.config.storage.files.1.path: path is not fully simplified",
        'error parsing "60-bare.json" manifest: Object \'Kind\' is missing: this is Ignition alone'])


def test_reports_all_inputs_that_it_cannot_list(tmp_path):
    inputs = copy_of_inputs(tmp_path)
    (inputs / "10-dangling.yaml").symlink_to("nowhere")
    (inputs / "20-dangling.yaml").symlink_to("nowhere")
    write(inputs / "30-broken.yaml", "a: [")
    (tmp_path / "empty").mkdir()
    refused(*WORDS[:-1], tmp_path / "empty", inputs, texts=[
        "no *.yaml, *.yml, *.json, *.bu, *.butane or *.fcc in", "10-dangling.yaml: the file is a link",
        "20-dangling.yaml: the file is a link", 'error parsing "30-broken.yaml" manifest: '])


def test_reports_all_errors_of_all_configs_beside_the_operators_message(tmp_path):
    inputs = copy_of_inputs(tmp_path)
    for name in ["50-one", "50-two"]:
        write(inputs / f"{name}.json", machine_config(with_files(file("a"), file("/b/")), name=name))
    answer = refused(*WORDS[:-1], inputs,
                     texts=["50-one: parsing Ignition config spec v3 failed", "50-two: parsing Ignition"])
    for name in ["50-one", "50-two"]:
        for index in range(2):
            assert f"{inputs}/{name}.json: error: MachineConfig {name}: $.spec.config.storage.files.{index}" in answer.stderr


def test_reports_all_missing_files(tmp_path):
    refused("render", "--pool", tmp_path / "pool", "--controller-config", tmp_path / "cc", tmp_path / "config",
            "--current", tmp_path / "current",
            texts=[f"reading {tmp_path}/{name}" for name in ["pool", "cc", "current"]])
