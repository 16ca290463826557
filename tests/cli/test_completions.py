# SPDX-License-Identifier: Apache-2.0
"""Tests the completion of each program in the shells: its verbs, the options of a verb, and the values of options that
have only a few.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from machines import shell
from program import PINTLE
from test_words import OPTIONS

COMPLETIONS = pathlib.Path(__file__).parents[2] / "completions"
CONTROLLER = PINTLE.parents[1] / "controller/pintle-controller"
PROGRAMS = ["pintle", "kubectl-pintle", "machine-config-daemon", "pintle-controller"]
IN_BASH = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pintle; printf "%s\\n" "${COMPREPLY[@]}"'
# Runs the file in the way of the completion system.  Its two functions that print candidates are replaced such that the
# test can distinguish them; the test selects the candidates that begin like the word.
IN_ZSH = r"""
_describe() { local name=${@[-1]} one; for one in ${(P)name}; do [[ $one != $words[CURRENT]* ]] || print -r -- ${one%%:*}; done }
_files() { print FILES }
file=$1; shift; words=("$@"); CURRENT=$#; complete_here() { source $file }; complete_here
"""


def run(*words, **options):
    answer = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, **options)
    assert answer.stderr == "", answer.stderr
    return answer.stdout


def in_bash(*words):
    return run("bash", "-c", IN_BASH, "bash", COMPLETIONS / "pintle.bash", *words).split()


def in_zsh(*words):
    return run("zsh", "-f", "-c", IN_ZSH, "zsh", COMPLETIONS / "pintle.zsh", *words).split()


def in_fish(*words, folder):
    script = 'source $argv[1]; cd $argv[2]; complete -C"$argv[3]"'
    offered = run("fish", "--no-config", "-c", script, COMPLETIONS / "pintle.fish", folder, " ".join(words))
    return [line.split("\t")[0] for line in offered.splitlines()]


@pytest.fixture(params=["bash", "zsh", "fish"])
def offered(request, tmp_path, monkeypatch):
    """Returns the candidates for the last of the words; the first word is the program."""
    shell.need(request.param)
    for name in PROGRAMS[:3]:
        (tmp_path / name).symlink_to(os.path.abspath(PINTLE))
    if CONTROLLER.exists():
        (tmp_path / "pintle-controller").symlink_to(os.path.abspath(CONTROLLER))
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    if request.param == "fish":
        return lambda *words: in_fish(*words, folder=tmp_path / "empty")
    return {"bash": in_bash, "zsh": in_zsh}[request.param]


def verbs(program):
    return re.findall(r"(?m)^  ([a-z][a-z-]*) ", run(program, "help"))


def options(program, verb):
    return {"--help", *re.findall(r"(?m)^  (-\S*) ", run(program, verb, "--help"))}


@pytest.mark.parametrize("program", PROGRAMS)
def test_offers_each_verb_of_a_program_and_the_options_of_each(offered, program):
    found = verbs(program)
    assert len(found) >= 3 and sorted(offered(program, "")) == sorted(found)
    assert offered(program, "qqq") == []
    for verb in found:
        if verb != "version":
            assert sorted(offered(program, verb, "-")) == sorted(options(program, verb)), verb


def test_offers_the_candidates_that_begin_like_the_word(offered):
    assert offered("pintle", "appl") == ["apply"]
    assert offered("kubectl-pintle", "st") == ["status"]
    assert offered("pintle", "verify", "--hel") == offered("pintle", "verify", "word", "--hel") == ["--help"]
    assert set(OPTIONS) <= set(offered("pintle", ""))
    assert set(OPTIONS["render"]) <= set(offered("pintle", "render", "-"))


def test_offers_verbs_behind_help(offered):
    assert sorted(offered("pintle", "help", "")) == sorted(offered("pintle", ""))
    assert offered("pintle", "help", "stat") == ["status"]
    assert offered("pintle-controller", "help", "st") == ["start"]


def test_offers_the_targets_of_convert(offered):
    assert offered("pintle", "convert", "--to", "m") == ["machineconfig"]
    assert {"ignition", "3.5", "2.2"} < set(offered("pintle", "convert", "--to", ""))


def test_offers_the_values_that_an_option_may_have(offered):
    assert sorted(offered("pintle", "verify", "-o", "")) == ["json", "name", "yaml"]
    assert offered("pintle", "render", "-o", "ha") == ["hash-input"]
    assert sorted(offered("kubectl-pintle", "status", "-o", "")) == ["json", "name", "yaml"]


def test_an_unknown_verb_has_no_options_but_help(offered):
    assert offered("pintle", "wrong", "-") == ["--help"]


def test_leaves_files_to_the_shell(offered, request):
    # bash and fish offer files if there are no candidates.  For zsh, our file has to ask for them.
    files = ["FILES"] if request.node.callspec.params["offered"] == "zsh" else []
    assert offered("pintle", "apply", "") == offered("pintle", "apply", "--policy", "") == files


def test_bash_and_fish_offer_files(tmp_path):
    output = run("bash", "-c", 'source "$1"; complete -p pintle', "bash", COMPLETIONS / "pintle.bash")
    assert "-o default" in output
    (tmp_path / "config.bu").touch()
    if shutil.which("fish"):
        assert in_fish("pintle", "apply", "conf", folder=tmp_path) == ["config.bu"]


def test_kubectl_completes_the_words_of_the_plugin(tmp_path):
    (tmp_path / "kubectl-pintle").symlink_to(os.path.abspath(PINTLE))
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}

    def complete(*words):
        *lines, directive = run(COMPLETIONS / "kubectl_complete-pintle", *words, env=path).splitlines()
        assert all("\t" in line for line in lines)
        return [line.split("\t")[0] for line in lines], directive
    program = tmp_path / "kubectl-pintle"
    assert complete() == complete("") == (verbs(program), ":4")
    offered, directive = complete("status", "-")
    assert sorted(offered) == sorted(options(program, "status")) and directive == ":4"
    assert complete("diff", "") == ([], ":0")
