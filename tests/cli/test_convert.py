# SPDX-License-Identifier: Apache-2.0
"""`pintle convert`: Ignition JSON out of anything that holds an Ignition config."""

import json

import pytest
from program import file, ignition, machine_config, pintle, refused, with_files, write


@pytest.mark.parametrize("version", ["2.2", "3.1", "3.2", "3.3", "3.4", "3.5"])
def test_gives_the_version_that_was_asked_for(version, tmp_path):
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


def test_refuses_what_it_cannot_convert(tmp_path):
    path = write(tmp_path / "a.json", ignition())
    refused("convert", "--to", "9.9", path, says=["9.9", "3.5"])
    refused("convert", "--to", "3.4", write(tmp_path / "b.json", with_files(file("a"))), says="path not absolute")
    two = write(tmp_path / "c.yaml", "---\n".join([json.dumps(machine_config()) + "\n"] * 2))
    refused("convert", "--to", "3.4", two, says=[str(two), "2 configs", "one is needed"])


# What kubectl makes of YAML.
@pytest.mark.parametrize("text,value", [
    ("0644", 420), ("0o644", 420), ("420", 420), ("0x1A4", 420), ("4_20", 420), ("0b110100100", 420), ("420.0", 420),
])
def test_numbers_are_those_of_yaml_1_1(text, value, tmp_path):
    path = write(tmp_path / "a.yaml", "kind: MachineConfig\nspec:\n  config:\n    ignition: {version: 3.4.0}\n"
                 f"    storage: {{files: [{{path: /etc/a, mode: {text}}}]}}\n")
    assert pintle("convert", "--to", "3.4", path).json()["storage"]["files"][0]["mode"] == value


@pytest.mark.parametrize("text,value", [("yes", True), ("on", True), ("True", True), ("no", False), ("Off", False)])
def test_truths_are_those_of_yaml_1_1(text, value, tmp_path):
    path = write(tmp_path / "a.yaml", "kind: MachineConfig\nspec:\n  config:\n    ignition: {version: 3.4.0}\n"
                 f"    systemd: {{units: [{{name: a.service, enabled: {text}}}]}}\n")
    assert pintle("convert", "--to", "3.4", path).json()["systemd"]["units"][0]["enabled"] is value


def test_quotes_make_texts(tmp_path):
    path = write(tmp_path / "a.yaml", "kind: MachineConfig\nspec:\n  config:\n    ignition: {version: '3.4.0'}\n"
                 "    storage: {files: [{path: /etc/a, mode: '0644'}]}\n")
    refused("convert", "--to", "3.4", path, says="mode")


def test_anchors_and_merge_keys_are_resolved(tmp_path):
    path = write(tmp_path / "a.yaml", "kind: MachineConfig\nspec:\n  config:\n    ignition: {version: 3.4.0}\n"
                 "    storage:\n      files:\n      - &one {path: /etc/a, mode: 0600}\n"
                 "      - {<<: *one, path: /etc/b}\n")
    assert pintle("convert", "--to", "3.4", path).json()["storage"]["files"] == [
        {"path": "/etc/a", "mode": 384}, {"path": "/etc/b", "mode": 384}]
