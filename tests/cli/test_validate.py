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


def test_butane_of_a_machine_config_needs_a_name_and_a_role(tmp_path):
    path = write(tmp_path / "a.bu", "variant: openshift\nversion: 4.14.0\n")
    missing = ["$.metadata.name: is required", "$.metadata.labels: must have the label"]
    for verb in [["validate"], ["convert"], ["diff", path]]:
        refused(*verb, path, texts=missing)


def test_keys_of_a_machine_config_without_effect_are_reported(tmp_path):
    path = write(tmp_path / "a.json", machine_config(kernelArgs=["quiet"], kernelArgument=["nosmt"]) | {"specs": {}})
    answer = pintle("validate", path)
    assert answer.status == 0
    lines = answer.stderr.splitlines()
    assert len(lines) == 3 and all("Unused key" in line and "the key has no effect" in line for line in lines)
    assert "$.spec.?: Unused key; did you mean \"kernelArguments\"?" in answer.stderr


def test_a_misspelled_key_is_compared_first_with_keys_of_its_length(tmp_path):
    config = ignition(storage={"filez": []})
    assert 'did you mean "files"?' in pintle("validate", write(tmp_path / "a.ign", config)).stderr


def test_yaml_that_is_no_mapping_is_not_a_config(tmp_path):
    for name, text in [("a.yaml", "hello\n"), ("b.yaml", "- a: b\n"), ("c.bu", "5\n")]:
        refused("validate", write(tmp_path / name, text),
                texts="not a config: a config begins with kind: MachineConfig, with variant: as Butane does, or with ignition:")


def test_a_config_without_a_version_of_ignition_has_a_remedy(tmp_path):
    for name, version in [("a.json", {}), ("b.json", {"version": 3.4})]:
        refused("validate", write(tmp_path / name, machine_config({"ignition": version})), texts=["$.spec.config: "])
    refused("validate", tmp_path / "b.json", texts="its version as text: ignition: {version: 3.4.0})")
    answer = refused("validate", tmp_path / "a.json")
    assert "(write the version, such as ignition: {version: 3.4.0})" in answer.stderr


def test_contents_that_a_running_machine_cannot_write_are_reported(tmp_path):
    def with_contents(**contents):
        return machine_config(with_files({"path": "/etc/a", "contents": contents}))

    packed = base64.b64encode(gzip.compress(b"text")).decode()
    good = write(tmp_path / "good.json", with_contents(source="data:;base64," + packed, compression="gzip"))
    assert pintle("validate", good).stderr == ""
    for name, source in [("text.json", "data:,x"), ("short.json", "data:;base64," + packed[:12])]:
        path = write(tmp_path / name, with_contents(source=source, compression="gzip"))
        answer = pintle("validate", path)
        assert answer.status == 0    # Ignition accepts the config.
        assert "warning: MachineConfig 99-worker: $.spec.config.storage.files.0.contents: cannot be unpacked: " in answer.stderr
        assert "(compress the" in answer.stderr
    answer = pintle("validate", write(tmp_path / "http.json", with_contents(source="https://example.com/x")))
    assert answer.status == 0
    assert "warning: MachineConfig 99-worker: $.spec.config.storage.files.0.contents: the source is not" in answer.stderr


def test_a_directory_and_an_empty_name_are_explained(tmp_path):
    refused("validate", tmp_path, texts=f"{tmp_path}: error: reading {tmp_path}: it is a directory; name a file in it")
    refused("validate", "", texts="the name of a file is empty")


def test_a_file_of_pintles_own_is_refused_and_a_file_beside_it_is_not(tmp_path):
    beside = file("/etc/machine-config-daemon/no-reboot/containers-gpg.pub")
    for path in ["/etc/machine-config-daemon/currentconfig", "/var/lib/pintle/x", "/run/pintle"]:
        config = with_files(file(path), beside)
        for name, text in [("a.ign", config), ("b.json", machine_config(config))]:
            refused("validate", write(tmp_path / name, text),
                    texts=[f"cannot write {path}: a file there would be in the way of Pintle's own files",
                           "leave it out of the config"])
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
