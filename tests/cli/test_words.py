# SPDX-License-Identifier: Apache-2.0
"""Tests behaviour that all verbs share: help, errors in the command line, JSON, exit statuses, a full disk."""

import json
import os
import re
import subprocess

import pytest
from machines import shell
from machines.namespace import OWN_MOUNTS
from program import PINTLE, machine_config, pintle, refused, with_files, file, write

OPTIONS = {
    "validate": ["-o"],
    "convert": ["--to", "-o"],
    "render": ["--pool", "--controller-config", "--current", "--overrides", "--os-image-stream", "--controller-version",
               "--operator-version", "--hash-only", "-o"],
    "diff": ["--policy", "--overrides", "--kubeconfig", "--context", "--with", "--show-private", "-o"],
    "generate": ["--templates", "--from", "--pull-secret", "--only", "--bootstrap", "--controller-version", "-o"],
    "template": ["--data", "--controller-config", "--api-server", "--pull-secret"],
    "rollout": ["--pool", "--nodes", "--with", "--feature-gates", "--operator-node", "--simulate", "--node-time",
                "--begin", "--kubeconfig", "--context", "-o"],
    "version": ["-o"],
    "apply": ["--dry-run", "--none", "--yes", "--no-reboot", "--policy", "--show-private", "--root", "-o"],
    "adopt": ["--root", "-o"],
    "check": [],
    "explain": ["--policy", "--show-private", "--root", "-o"],
    "history": ["-o"],
    "ignore": ["--until", "--end", "--root", "-o"],
    "pause": [],
    "recover": ["--give-up", "--reboot", "--files", "--set-aside", "--root", "-o"],
    "finalize-staged": ["--drop"],
    "firstboot": ["--once", "--if-nothing-to-do", "--file", "--command-line", "--no-reboot", "--root"],
    "pivot": ["--reboot", "--force", "--yes", "-o"],
    "restore": ["--yes", "--no-reboot", "--policy", "--show-private", "--root", "-o"],
    "resume": [],
    "retry": [],
    "status": ["--watch", "-o"],
    "verify": ["--show-private", "--root", "-o"],
}
SWITCHES = ["--bootstrap", "--drop", "--dry-run", "--files", "--force", "--give-up", "--if-nothing-to-do", "--none",
            "--no-reboot", "--once", "--reboot", "--set-aside", "--show-private", "--simulate", "--watch", "--yes"]


@pytest.mark.parametrize("verb", OPTIONS)
def test_help_lists_each_option(verb):
    answer = pintle(verb, "--help")
    assert (answer.status, answer.stderr) == (0, "")
    assert f"Usage: pintle {verb}" in answer.stdout
    listed = [line.split()[0] for line in answer.stdout.splitlines() if line.startswith("  -")]
    assert sorted(listed) == sorted(OPTIONS[verb])


def test_help_lists_each_verb():
    for word in ["help", "--help", "-h"]:
        answer = pintle(word)
        assert (answer.status, answer.stderr) == (0, "")
        assert all(f"\n  {verb} " in answer.stdout for verb in OPTIONS)


@pytest.mark.parametrize("verb", OPTIONS)
def test_help_of_a_verb_is_the_same_in_all_ways(verb):
    helped = pintle(verb, "--help")
    for words in [["help", verb], ["--help", verb], ["-h", verb], [verb, "-h"]]:
        answer = pintle(*words)
        assert (answer.status, answer.stdout, answer.stderr) == (0, helped.stdout, ""), words


def test_help_of_help_is_help():
    for words in [["help", "help"], ["help", "--help"], ["help", "-h"]]:
        assert pintle(*words).stdout == pintle("help").stdout


def test_no_verb_and_an_unknown_verb_are_refused():
    refused(texts="pintle help")
    refused("rendr", texts=['"rendr" is not a verb; did you mean render?', "pintle help"])
    refused("help", "statsu", texts='"statsu" is not a verb; did you mean status?')
    assert "did you mean" not in refused("applesauce", texts="pintle help").stderr


def test_an_option_before_the_verb_is_refused_with_its_place(tmp_path):
    refused("--root", "/x", "verify", texts=['"--root" is not a verb; options go after the verb', "pintle help"])
    result = called("kubectl-pintle", "--context", "x", "status", tmp_path=tmp_path)
    assert result.returncode == 1 and '"--context" is not a verb; options go after the verb' in result.stderr


def test_an_error_names_the_forms_for_files_and_for_a_cluster():
    refused("diff", "worker", texts=["OLD and NEW", "POOL, with --kubeconfig"])
    refused("rollout", texts=["--pool and --nodes", "POOL, with --kubeconfig"])
    refused("convert", "a", "b", texts="one file at a time")


# Hides the journals of this machine, and runs a program.
WITHOUT_JOURNAL = """
for folder in /var/log/journal /run/log/journal; do
  [ ! -d $folder ] || mount -t tmpfs none $folder || exit
done
exec "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts an empty folder, which needs root")
def test_a_history_without_changes_is_reported_as_such():
    answer = shell.run(*OWN_MOUNTS, "sh", "-c", WITHOUT_JOURNAL, "sh", PINTLE.resolve(), "history")
    assert answer.stdout == "The system journal has no change of this machine, or you may not read it.\n"


def test_an_option_that_is_nearly_right_is_named():
    refused("apply", "--dryrun", texts=["unknown option --dryrun; did you mean --dry-run?", "--help"])
    refused("diff", "--kubeconfg=x", texts="unknown option --kubeconfg; did you mean --kubeconfig?")
    refused("diff", "--output", "json", texts="unknown option --output; did you mean -o?")


def test_a_format_may_follow_its_option_without_a_space(tmp_path):
    path = write(tmp_path / "a.json", machine_config())
    assert pintle("validate", "-ojson", path).json() == []
    refused("validate", "-oxml", path, texts="-o xml: the value must be one of text|json|yaml")


def called(program, *words, tmp_path):
    link = tmp_path / program
    if not link.exists():
        link.symlink_to(PINTLE.resolve())
    return subprocess.run([link, *words], capture_output=True, text=True, check=False)


def test_the_plugin_helps_like_the_program(tmp_path):
    everything = called("kubectl-pintle", "help", tmp_path=tmp_path)
    assert everything.returncode == 0 and all(f"\n  {verb} " in everything.stdout for verb in ["diff", "rollout", "status"])
    for words in [["-h"], ["--help"], [], ["help", "help"]]:
        assert called("kubectl-pintle", *words, tmp_path=tmp_path).stdout == everything.stdout
    for words in [["help", "rollout"], ["-h", "rollout"], ["rollout", "-h"]]:
        assert "Usage: kubectl pintle rollout" in called("kubectl-pintle", *words, tmp_path=tmp_path).stdout
    for words in [["rolout"], ["help", "rolout"]]:
        result = called("kubectl-pintle", *words, tmp_path=tmp_path)
        assert result.returncode == 1 and '"rolout" is not a verb; did you mean rollout?' in result.stderr


def test_help_of_the_old_program_only_prints_help(tmp_path):
    for words in [["help", "pivot"], ["pivot", "-h"], ["--help", "pivot"]]:
        answer = called("machine-config-daemon", *words, tmp_path=tmp_path)
        assert (answer.returncode, answer.stderr) == (0, "")
        assert "Usage: machine-config-daemon pivot" in answer.stdout
    result = called("machine-config-daemon", "pivto", tmp_path=tmp_path)
    assert result.returncode == 1
    assert 'unknown command "pivto" for "machine-config-daemon"; did you mean pivot?' in result.stderr


@pytest.mark.parametrize("verb", OPTIONS)
def test_an_unknown_option_is_refused(verb):
    refused(verb, "--bogus", texts=[verb, "--bogus", "--help"])


@pytest.mark.parametrize("verb,option", [(verb, option) for verb in OPTIONS for option in OPTIONS[verb]
                                         if option not in SWITCHES])
def test_an_option_without_its_value_is_refused(verb, option):
    refused(verb, option, texts=[verb, option, "needs a value"])


@pytest.mark.parametrize("verb", [verb for verb in OPTIONS if "-o" in OPTIONS[verb]])
def test_an_unknown_format_is_refused(verb):
    words = {"convert": ["--to", "3.4", "x"], "diff": ["x", "y"], "validate": ["x"], "render": ["x"],
             "generate": ["--templates", "x", "--from", "y"],
             "rollout": ["--pool", "x", "--nodes", "y"], "adopt": ["/x"], "apply": ["x"], "explain": ["/x"],
             "pivot": ["x"], "restore": ["/x"]}.get(verb, [])
    refused(verb, *words, "-o", "wrong", texts=["-o wrong", "json"])


@pytest.mark.parametrize("words", [
    ["validate"], ["convert", "--to", "3.4"], ["convert"], ["convert", "a", "b"], ["render"], ["render", "x.yaml"], ["diff"],
    ["diff", "a"], ["rollout"], ["rollout", "--pool", "x"], ["rollout", "word"], ["version", "word"],
    ["render", "--hash-only", "worker"], ["apply"], ["apply", "--none", "word"], ["recover", "word"], ["verify", "word"],
    ["adopt"], ["adopt", "relative"], ["adopt", "/a", "/b"], ["explain"], ["explain", "/a", "/b"], ["history", "word"],
    ["restore"], ["ignore", "/a", "/b"], ["ignore", "/a"], ["ignore", "--until", "2h"], ["ignore", "/a", "--end", "/a"],
    ["pause", "word"], ["pivot"], ["pivot", "a", "b"], ["firstboot", "word"], ["firstboot", "--command-line", "x"],
    ["resume", "word"], ["status", "word"], ["check", "word"], ["retry", "word"], ["generate"], ["generate", "word"],
    ["template"], ["template", "a"], ["template", "a", "b"], ["diff", "--with", "x", "a", "b"],
])
def test_missing_and_needless_words_are_refused(words):
    refused(*words, texts=f"pintle: {words[0]}: ")


@pytest.mark.parametrize("words", [
    ["validate", "FILE"], ["convert", "--to", "3.4", "FILE"], ["diff", "FILE", "FILE"],
    ["template", "FILE", "--data", "FILE"],
    ["render", "--pool", "FILE", "--controller-config", "FILE", "FILE"], ["render", "--hash-only", "worker", "FILE"],
    ["rollout", "--pool", "FILE", "--nodes", "FILE"],
])
def test_a_file_that_is_missing_or_a_directory_is_named(words, tmp_path):
    missing = tmp_path / "missing.yaml"
    refused(*[missing if word == "FILE" else word for word in words], texts=[str(missing), "No such file"])
    refused(*[tmp_path if word == "FILE" else word for word in words], texts=[str(tmp_path), "directory"])


@pytest.mark.parametrize("verb", [verb for verb in OPTIONS if "-o" in OPTIONS[verb] and verb != "convert"])
def test_verbs_have_the_formats_that_their_help_lists(verb):
    listed = re.search(r"(?m)^  -o (\S+) ", pintle(verb, "--help").stdout)[1].split("|")
    assert {"json", "yaml"} <= set(listed)
    assert ("name" in listed) == (verb in ["adopt", "ignore", "render", "rollout", "verify"])
    for wrong in ["xml", "", *({"name", "text"} - set(listed))]:
        refused(verb, f"-o={wrong}", texts=[f"-o {wrong}", "|".join(listed)])


def test_yaml_is_the_same_as_json(tmp_path):
    old, new = [write(tmp_path / name, machine_config(with_files(file("/etc/a", name)))) for name in ["old", "new"]]
    assert pintle("version", "-o", "yaml").stdout == f"version: {pintle('version', '-o', 'json').json()['version']}\n"
    result = pintle("diff", old, new, "-o", "yaml")
    assert result.status == 2 and "\ndiffers: true\n" in result.stdout
    found = pintle("validate", "-o", "yaml", write(tmp_path / "wrong", "{}"))
    assert found.status == 1 and found.stdout.startswith("- ") and "\n  severity: error\n" in found.stdout


def test_version_is_printed_as_text_and_as_json():
    version = pintle("version").stdout.removeprefix("pintle ").strip()
    assert version == pintle("--version").stdout.split()[-1]
    assert pintle("version", "-o", "json").json() == {"version": version}


def test_an_answer_that_cannot_be_written_is_an_error(tmp_path):
    config = write(tmp_path / "a.json", with_files(*[file(f"/etc/{i}") for i in range(1000)]))
    old = write(tmp_path / "old.json", machine_config())
    new = write(tmp_path / "new.json", machine_config(json.loads(config.read_text())))
    for words in [["version"], ["help"], ["convert", "--to", "3.5", config], ["diff", old, new]]:
        with open("/dev/full", "wb") as full:
            answer = pintle(*words, stdout=full)
        assert answer.status == 1
        assert "pintle: cannot write to standard output: No space left on device\n" in answer.stderr
