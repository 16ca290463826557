# SPDX-License-Identifier: Apache-2.0
"""Tests the help of `pintle-controller`."""

import re
import subprocess

import pytest
from machines.ignition_server import CONTROLLER

pytestmark = pytest.mark.skipif(not CONTROLLER.exists(), reason="pintle-controller was not built")


def controller(*words):
    """Returns what the program prints; it must succeed, and report no problem."""
    answer = subprocess.run([CONTROLLER, *words], capture_output=True, text=True, check=False, timeout=60)
    assert (answer.returncode, answer.stderr) == (0, ""), words
    return answer.stdout


def test_help_of_each_verb_is_its_usage_in_all_ways():
    verbs = re.findall(r"(?m)^  ([a-z]+) ", controller("help"))
    assert {"start", "takeover", "version"} <= set(verbs)
    for verb in verbs:
        helped = controller("help", verb)
        assert helped.startswith(f"Usage: pintle-controller {verb}")
        for words in [["--help", verb], [verb, "--help"], [verb, "-h"]]:
            assert controller(*words) == helped, words


def test_the_version_is_printed_in_both_ways():
    printed = controller("version")
    assert re.fullmatch(r"pintle-controller \S+\n", printed)
    assert controller("--version") == printed


def test_the_version_takes_no_other_arguments():
    for arguments, text in [(["--bogus"], "--bogus"), (["foo"], 'unexpected argument "foo"')]:
        answer = subprocess.run([CONTROLLER, "version", *arguments], capture_output=True, text=True, check=False, timeout=60)
        assert answer.returncode == 1 and answer.stdout == "" and text in answer.stderr


def test_an_answer_that_cannot_be_written_is_an_error(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("0123456789abcdef" * 4 + "\n")
    for words in [["version"], ["token", "--pool", "worker", "--key-file", keys]]:
        with open("/dev/full", "wb") as full:
            answer = subprocess.run([CONTROLLER, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                    timeout=60)
        assert answer.returncode == 1, words
        assert answer.stderr == "pintle-controller: cannot write to standard output: No space left on device\n"
