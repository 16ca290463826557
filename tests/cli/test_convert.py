# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle convert`, which makes Ignition JSON of any file that has an Ignition config."""

import json

import pytest
from program import file, ignition, machine_config, pintle, refused, with_files, write

ROLE = "machineconfiguration.openshift.io/role"
HEADER = f"variant: openshift\nversion: 4.16.0\nmetadata: {{name: 99-worker-x, labels: {{{ROLE}: worker}}}}\n"
OPENSHIFT = ("openshift:\n  kernel_arguments: [quiet, 1]\n  extensions: [usbguard]\n  fips: true\n"
             "  kernel_type: realtime\n")
FIELDS = ["kernel_arguments", "extensions", "fips", "kernel_type"]


@pytest.mark.parametrize("version", ["2.2", "3.1", "3.2", "3.3", "3.4", "3.5"])
def test_converts_to_the_requested_version(version, tmp_path):
    path = write(tmp_path / "a.json", with_files(file("/etc/a", "text", mode=0o600, overwrite=True)))
    for words in [[], ["-o", "json"]]:
        answer = pintle("convert", "--to", version, path, *words)
        assert (answer.status, answer.stderr) == (0, "")
        assert answer.json()["ignition"]["version"] == version + ".0"
        assert answer.json()["storage"]["files"][0]["mode"] == 0o600


def test_reads_machine_configs_and_butane(tmp_path):
    config = with_files(file("/etc/a", "x"))
    butane = ("variant: fcos\nversion: 1.4.0\nstorage:\n"
              "  files:\n  - path: /etc/a\n    contents: {inline: x}\n    mode: 0644\n")
    for path in [write(tmp_path / "a.json", machine_config(config)), write(tmp_path / "a.bu", butane)]:
        files = pintle("convert", "--to", "3.4", path).json()["storage"]["files"]
        assert [entry["path"] for entry in files] == ["/etc/a"]


def test_reads_standard_input():
    assert pintle("convert", "--to", "3.1", "-", stdin=json.dumps(ignition()).encode()).json() == {
        "ignition": {"version": "3.1.0"}}


def test_refuses_a_config_that_cannot_be_converted(tmp_path):
    path = write(tmp_path / "a.json", ignition())
    refused("convert", "--to", "9.9", path, texts=["9.9", "3.5"])
    refused("convert", "--to", "3.4", write(tmp_path / "b.json", with_files(file("a"))), texts="path not absolute")
    two = write(tmp_path / "c.yaml", "---\n".join([json.dumps(machine_config()) + "\n"] * 2))
    refused("convert", "--to", "3.4", two, texts=[str(two), "2 configs", "exactly one is needed"])


def test_problems_are_reported_with_the_file(tmp_path):
    unread = write(tmp_path / "a.json", with_files(file("a")))
    refused("convert", unread, texts=f"pintle: convert: {unread}: failed to parse Ignition config")
    other = write(tmp_path / "b.json", {"kind": "ConfigMap"})
    refused("convert", other, texts=f"{other}: its kind is ConfigMap instead of MachineConfig")
    doubtful = write(tmp_path / "c.ign", ignition(other={}))
    assert pintle("convert", doubtful).stderr.startswith(f"{doubtful}: warning: $.")


# This is how kubectl reads the YAML.
@pytest.mark.parametrize("text,value", [
    ("0644", 420), ("0o644", 420), ("420", 420), ("0x1A4", 420), ("4_20", 420), ("0b110100100", 420), ("420.0", 420),
])
def test_numbers_are_those_of_yaml_1_1(text, value, tmp_path):
    path = write(tmp_path / "a.yaml", "kind: MachineConfig\nspec:\n  config:\n    ignition: {version: 3.4.0}\n"
                 f"    storage: {{files: [{{path: /etc/a, mode: {text}}}]}}\n")
    assert pintle("convert", "--to", "3.4", path).json()["storage"]["files"][0]["mode"] == value


@pytest.mark.parametrize("text,value", [("yes", True), ("on", True), ("True", True), ("no", False), ("Off", False)])
def test_booleans_are_those_of_yaml_1_1(text, value, tmp_path):
    path = write(tmp_path / "a.yaml", "kind: MachineConfig\nspec:\n  config:\n    ignition: {version: 3.4.0}\n"
                 f"    systemd: {{units: [{{name: a.service, enabled: {text}}}]}}\n")
    assert pintle("convert", "--to", "3.4", path).json()["systemd"]["units"][0]["enabled"] is value


def test_quotes_make_texts(tmp_path):
    path = write(tmp_path / "a.yaml", "kind: MachineConfig\nspec:\n  config:\n    ignition: {version: '3.4.0'}\n"
                 "    storage: {files: [{path: /etc/a, mode: '0644'}]}\n")
    refused("convert", "--to", "3.4", path, texts="mode")


def test_anchors_and_merge_keys_are_resolved(tmp_path):
    path = write(tmp_path / "a.yaml", "kind: MachineConfig\nspec:\n  config:\n    ignition: {version: 3.4.0}\n"
                 "    storage:\n      files:\n      - &one {path: /etc/a, mode: 0600}\n"
                 "      - {<<: *one, path: /etc/b}\n")
    assert pintle("convert", "--to", "3.4", path).json()["storage"]["files"] == [
        {"path": "/etc/a", "mode": 384}, {"path": "/etc/b", "mode": 384}]


@pytest.mark.parametrize("to", [[], ["--to", "ignition"], ["--to", "3.4"]], ids=["default", "ignition", "version"])
def test_refuses_to_drop_settings_that_ignition_does_not_have(to, tmp_path):
    butane = write(tmp_path / "a.bu", HEADER + OPENSHIFT)
    refused("convert", *to, butane, texts=[str(butane), *[f"openshift.{field}" for field in FIELDS],
                                           "use `--to machineconfig`, which keeps"])
    refused("convert", *to, write(tmp_path / "b.bu", HEADER + "openshift: {fips: true}\n"),
            texts="remove it from the file")
    for settings, place in [({"kernelArguments": ["quiet"]}, "spec.kernelArguments"), ({"fips": True}, "spec.fips"),
                            ({"extensions": ["usbguard"]}, "spec.extensions"),
                            ({"kernelType": "realtime"}, "spec.kernelType"),
                            ({"osImageURL": "registry.example/os@sha256:1"}, "spec.osImageURL")]:
        refused("convert", *to, write(tmp_path / "a.json", machine_config(**settings)),
                texts=[f"Ignition cannot express {place}, ", "--to machineconfig"])


def test_drops_nothing_if_the_file_has_only_ignition_settings(tmp_path):
    butane = write(tmp_path / "a.bu", HEADER + "openshift: {kernel_type: default, fips: false, extensions: []}\n")
    assert pintle("convert", butane).json() == {"ignition": {"version": "3.4.0"}}
    config = write(tmp_path / "a.json", machine_config(kernelType="default", fips=False, kernelArguments=[]))
    assert pintle("convert", "--to", "3.2", config).json() == {"ignition": {"version": "3.2.0"}}


def test_the_default_version_is_that_of_butane_or_the_newest(tmp_path):
    butane = write(tmp_path / "a.bu", "variant: fcos\nversion: 1.4.0\n")
    for to in [[], ["--to", "ignition"]]:
        assert pintle("convert", *to, butane).json()["ignition"]["version"] == "3.3.0"
        assert pintle("convert", *to, write(tmp_path / "a.ign", ignition())).json()["ignition"]["version"] == "3.5.0"
    assert pintle("convert", write(tmp_path / "old.bu", "variant: fcos\nversion: 1.0.0\n")).json()["ignition"] == {
        "version": "3.1.0"}


def test_makes_a_machine_config_of_butane(tmp_path):
    files = "storage:\n  files:\n  - {path: /etc/a, mode: 0644, contents: {inline: on}}\n"
    butane = write(tmp_path / "a.bu", HEADER + OPENSHIFT + files)
    expected = {
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
        "metadata": {"name": "99-worker-x", "labels": {ROLE: "worker"}},
        "spec": {"kernelArguments": ["quiet", "1"], "extensions": ["usbguard"], "fips": True, "kernelType": "realtime",
                 "config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
                     {"path": "/etc/a", "mode": 420, "contents": {"source": "data:,on", "compression": ""}}]}}}}
    answer = pintle("convert", "--to", "machineconfig", "-o", "json", butane)
    assert (answer.status, answer.stderr, answer.json()) == (0, "", expected)
    yaml = pintle("convert", "--to", "machineconfig", butane)
    assert yaml.stdout == pintle("convert", "--to", "machineconfig", "-o", "yaml", butane).stdout
    assert "\nkind: MachineConfig\n" in yaml.stdout
    # The output can be read again and means the same.
    again = pintle("convert", "--to", "machineconfig", "-o", "json", write(tmp_path / "a.yaml", yaml.stdout))
    assert again.json() == expected
    assert pintle("validate", tmp_path / "a.yaml").status == 0


def test_a_machine_config_needs_a_name_and_a_role(tmp_path):
    for name, text in [("a.bu", "variant: fcos\nversion: 1.5.0\n"), ("a.ign", ignition())]:
        refused("convert", "--to", "machineconfig", write(tmp_path / name, text),
                texts=[name, "needs a name and the label", "`variant: openshift`"])


def test_lists_the_possible_targets(tmp_path):
    path = write(tmp_path / "a.ign", ignition())
    refused("convert", "--to", "machine-config", path, texts=["ignition", "machineconfig", "3.5"])
    refused("convert", "-o", "yaml", path, texts=["-o yaml", "json"])
    refused("convert", "--to", "machineconfig", "-o", "wrong", path, texts=["-o wrong", "yaml", "json"])


@pytest.mark.parametrize("text", ["on", "12", "1.10", "0644", "1e3", "yes", "2024-01-02", "0x1A", ".inf", "true"])
def test_strings_of_butane_keep_their_text(text, tmp_path):
    path = write(tmp_path / "a.bu", "variant: fcos\nversion: 1.5.0\nstorage:\n  files:\n"
                 f"  - {{path: /etc/a, contents: {{inline: {text}}}}}\n"
                 f"passwd: {{users: [{{name: core, ssh_authorized_keys: [{text}]}}]}}\n")
    config = pintle("convert", "--to", "3.4", path).json()
    assert config["storage"]["files"][0]["contents"]["source"] == f"data:,{text}"
    assert config["passwd"]["users"][0]["sshAuthorizedKeys"] == [text]


def test_the_kind_of_a_file_does_not_depend_on_its_name(tmp_path):
    config = with_files(file("/etc/a", "x"))
    texts = ["variant: fcos\nversion: 1.4.0\nstorage:\n  files:\n  - path: /etc/a\n    contents: {inline: x}\n",
             "kind: MachineConfig\nspec:\n  config: " + json.dumps(config), json.dumps(config),
             json.dumps(machine_config(config))]
    for name in ["a.fcc", "a.bu", "a.ign", "a.json", "a.yaml", "a.conf", "a"]:
        for text in texts:
            answer = pintle("convert", "--to", "3.4", write(tmp_path / name, text))
            assert answer.status == 0, (name, text, answer.stderr)
            assert [entry["path"] for entry in answer.json()["storage"]["files"]] == ["/etc/a"]


@pytest.mark.parametrize("mode,octal,meant", [(644, "01204", "0644"), (755, "01363", "0755"), (400, "0620", "0400")])
def test_asks_about_a_mode_in_decimal_that_looks_like_octal(mode, octal, meant, tmp_path):
    butane = write(tmp_path / "a.bu", "variant: fcos\nversion: 1.5.0\nstorage:\n  files:\n"
                   f"  - {{path: /etc/a, mode: {mode}, contents: {{inline: x}}}}\n")
    question = f"$.storage.files.0.mode: is {octal} in octal: did you mean {meant}?"
    assert question in pintle("convert", "--to", "3.4", butane).stderr
    assert question in pintle("validate", butane).stderr
    for name, config in [("a.ign", with_files(file("/etc/a", mode=mode))),
                         ("a.json", machine_config(with_files(file("/etc/a", mode=mode))))]:
        assert f"did you mean {meant}, which is {int(meant, 8)} in decimal?" in pintle(
            "validate", write(tmp_path / name, config)).stderr
