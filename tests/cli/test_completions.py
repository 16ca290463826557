# SPDX-License-Identifier: Apache-2.0
"""What bash offers behind `pintle`: the verbs, and the options that each verb's --help tells of."""

import os
import pathlib
import subprocess

import pytest
from program import PINTLE, pintle
from test_words import OPTIONS

COMPLETIONS = pathlib.Path(__file__).parents[2] / "completions/pintle.bash"
COMPLETE = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pintle; printf "%s\\n" "${COMPREPLY[@]}"'


def offered(*words):
    """What there is to choose from for the last of the words."""
    answer = subprocess.run(["bash", "-c", COMPLETE, "bash", COMPLETIONS, os.path.abspath(PINTLE), *words],
                            capture_output=True, text=True, check=True)
    assert answer.stderr == ""
    return answer.stdout.split()


def test_offers_each_verb():
    listed = [line.split()[0] for line in pintle("help").stdout.splitlines() if line.startswith("  ")]
    assert sorted(offered("")) == sorted(listed) and set(OPTIONS) <= set(listed)
    assert offered("appl") == ["apply"]
    assert offered("wrong") == []


@pytest.mark.parametrize("verb", OPTIONS)
def test_offers_the_options_of_a_verb(verb):
    assert sorted(offered(verb, "-")) == sorted({"--help", *OPTIONS[verb]})
    assert offered(verb, "--hel") == offered(verb, "word", "--hel") == ["--help"]


def test_offers_what_a_config_can_be_made_into():
    assert offered("convert", "--to", "m") == ["machineconfig"]
    assert {"ignition", "3.5", "2.2"} < set(offered("convert", "--to", ""))


def test_leaves_files_to_the_shell():
    assert offered("apply", "") == offered("apply", "--root", "/et") == []
    asked = subprocess.run(["bash", "-c", 'source "$1"; complete -p pintle', "bash", COMPLETIONS], capture_output=True,
                           text=True, check=True)
    assert "-o default" in asked.stdout


def test_an_unknown_verb_has_no_options_but_help():
    assert offered("wrong", "-") == ["--help"]
