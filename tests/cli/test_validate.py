# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle validate`, which reports all problems at once, each with its place and its remedy."""

import base64
import gzip
import json

from program import file, ignition, machine_config, pintle, refused, with_files, write

INVALID_CONFIG = with_files(file("etc/a"), file("/etc/b/"), file("/etc/c", mode=0o10644), file("/etc/c"))


def test_a_good_config_leads_to_no_output(tmp_path):
    path = write(tmp_path / "a.ign", with_files(file("/etc/a", "text", mode=0o644)))
    assert vars(pintle("validate", path)).items() >= {"status": 0, "stdout": "", "stderr": ""}.items()
    assert pintle("validate", "-o", "json", path).json() == []


def test_reports_all_problems_with_line_path_and_remedy(tmp_path):
    path = write(tmp_path / "a.ign", json.dumps(INVALID_CONFIG, indent=1))
    answer = refused("validate", path, texts=[
        f"{path}:8:13: error: $.storage.files.0.path: path not absolute (begin the path with a slash)",
        "$.storage.files.1.path: path is not fully simplified (", "$.storage.files.2.mode: illegal file mode (",
        "$.storage.files.3: duplicate entry defined (keep one",
    ])
    findings = pintle("validate", "-o", "json", path)
    assert findings.status == 1
    assert findings.stderr == ""
    assert len(findings.json()) == len(answer.stderr.splitlines())
    assert findings.json()[0] == {
        "file": str(path), "line": 8, "column": 13, "severity": "error", "path": "$.storage.files.0.path",
        "problem": "path not absolute", "remedy": "begin the path with a slash"}


def test_reports_all_problems_of_a_machine_config(tmp_path):
    config = machine_config(INVALID_CONFIG, kernelType="fast", extensions=["chess"])
    refused("validate", write(tmp_path / "a.json", config), texts=[
        "MachineConfig 99-worker", "$.spec.kernelType: kernelType=fast is invalid",
        "$.spec.extensions: invalid extensions found: [chess]", "$.spec.config.storage.files.0.path: path not absolute",
        "$.spec.config.storage.files.3: duplicate entry defined"])


def test_reports_each_file_mode_that_a_machine_config_may_not_have(tmp_path):
    config = machine_config(with_files(file("/etc/a", mode=0o1644), file("/etc/b", mode=0o4755)))
    refused("validate", write(tmp_path / "a.json", config),
            texts=["files.0.mode: invalid mode", "files.1.mode: invalid mode"])


def test_a_file_of_pintles_own_is_refused_and_a_file_beside_it_is_not(tmp_path):
    beside = file("/etc/machine-config-daemon/no-reboot/containers-gpg.pub")
    for path in ["/etc/machine-config-daemon/currentconfig", "/var/lib/pintle/x", "/run/pintle"]:
        config = with_files(file(path), beside)
        for name, text in [("a.ign", config), ("b.json", machine_config(config))]:
            refused("validate", write(tmp_path / name, text),
                    texts=[f"cannot write {path}: Pintle keeps its own records there", "leave it out of the config"])
    assert pintle("validate", write(tmp_path / "c.ign", with_files(beside))).status == 0


def test_a_file_below_a_file_is_refused(tmp_path):
    config = with_files(file("/etc/q/f"), file("/etc/q/f/deep/g"), file("/etc/q/fg"))
    for name, text in [("a.ign", config), ("b.json", machine_config(config))]:
        refused("validate", write(tmp_path / name, text),
                texts=["cannot write /etc/q/f/deep/g: /etc/q/f is a file of the same config",
                       "remove one of the two files"])
    assert pintle("validate", write(tmp_path / "c.ign", with_files(file("/etc/q/f"), file("/etc/q/fg")))).status == 0


def test_warns_of_configs_that_refer_to_others(tmp_path):
    merging = {"ignition": {"version": "3.4.0", "config": {"merge": [{"source": "https://example.com/more.ign"}]}}}
    for name, text, place in [("a.ign", merging, "$.ignition.config"),
                              ("b.json", machine_config(merging), "$.spec.config.ignition.config")]:
        answer = pintle("validate", write(tmp_path / name, text))
        assert answer.status == 0, answer.stderr
        assert f"warning: {place}: nothing fetches other configs" in answer.stderr.replace("MachineConfig 99-worker: ", "")


def test_reports_all_problems_of_all_files_and_documents(tmp_path):
    first = write(tmp_path / "a.json", with_files(file("a")))
    second = write(tmp_path / "b.yaml", "\n---\n".join(json.dumps(machine_config(with_files(file(name)), name=name))
                                                        for name in ["one", "two"]))
    refused("validate", first, tmp_path / "missing", second, texts=[
        f"{first}:1:", "missing", "MachineConfig one: $.spec.config.storage.files.0.path",
        "MachineConfig two: $.spec.config.storage.files.0.path"])


def test_each_item_of_a_list_is_validated(tmp_path):
    items = [machine_config(with_files(file(name)), name=name) for name in ["one", "two"]]
    for kind in ["List", "MachineConfigList"]:
        path = write(tmp_path / f"{kind}.json", {"apiVersion": "v1", "kind": kind, "items": items})
        refused("validate", path, texts=["MachineConfig one: ", "MachineConfig two: "])


def test_reports_a_duplicate_key(tmp_path):
    json_file = write(tmp_path / "a.json", '{"ignition": {"version": "3.4.0", "version": "3.4.0"}}')
    yaml_file = write(tmp_path / "a.yaml", "kind: MachineConfig\nmetadata: {name: a}\nspec: {}\nspec: {}\n")
    for path, place in [(json_file, "$.ignition.version"), (yaml_file, "$.spec")]:
        answer = pintle("validate", path)
        assert answer.status == 0
        assert f"{place}: occurs more than once" in answer.stderr


def test_reads_any_kind_from_standard_input(tmp_path):
    good = json.dumps(ignition()).encode()
    packed = gzip.compress(good)
    for text in [good, packed, base64.b64encode(packed), b"variant: fcos\nversion: 1.4.0\n",
                 json.dumps(machine_config()).encode(), b"kind: MachineConfig\nmetadata: {name: a}\nspec: {}\n"]:
        answer = pintle("validate", "-", stdin=text)
        assert answer.status == 0, answer.stderr
    refused("validate", "-", stdin=json.dumps(INVALID_CONFIG).encode(), texts="-:1:")


def test_empty_files_are_no_configs(tmp_path):
    for name in ["a.json", "a.yaml", "a.bu"]:
        refused("validate", write(tmp_path / name, ""), texts=[name, "empty"])


def test_reports_problems_of_butane_under_butanes_names(tmp_path):
    path = write(tmp_path / "a.bu", "variant: fcos\nversion: 1.4.0\nstorage:\n  files:\n  - path: a\n"
                 "    contents: {inline: x}\n    mode: 0644\n  - path: b\n    user: {name: a, id: 3}\n")
    refused("validate", path, texts=["$.storage.files.0.path", "$.storage.files.1.path", "$.storage.files.1.user"])
