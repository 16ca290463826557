# SPDX-License-Identifier: Apache-2.0
"""Tests names of files and units that could control a terminal or a shell: they are printed escaped, and a remedy can
be pasted into a shell.
"""

import os
import subprocess

import pytest
from program import file, ignition, pintle, refused, write
from small_machine import Machine

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to users, which needs root")

NAMES = ["a b", "a\nb: all is well", "a\x1b[2Jb", "it's", 'say "hi"', "$(touch gone)", "`touch gone`", "a;b&c|d",
         "*?[a]", "-a", "~root", "\u202etxt.exe", "a\\nb", "ä"]
PATHS = [f"/etc/{name}" for name in NAMES]


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "ro ot").mkdir()
    machine = Machine(tmp_path / "ro ot")
    config = write(tmp_path / "a.ign", ignition(storage={"files": [file(path, "ours") for path in PATHS]}))
    machine.run("apply", "--yes", config)
    for path in PATHS:
        machine.path(path).write_text("edited")
    return machine


def is_harmless(text):
    return all(c.isprintable() or c in "\n\t" for c in text)


def words_in_bash(command):
    """Returns the words that bash would pass to a program, without running the program."""
    answer = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], check=True, stdout=subprocess.PIPE)
    return answer.stdout.decode().split("\0")[:-1]


def test_each_remedy_is_about_the_file_that_it_names(machine):
    found = machine.run("verify", "-o", "json", status=2).json()["findings"]
    assert sorted(finding["about"] for finding in found) == sorted(PATHS)
    for finding in found:
        restore, adopt, ignore = map(words_in_bash, finding["remedies"])
        about = finding["about"]
        assert restore == ["pintle", "restore", "--root", str(machine.root), about]
        assert adopt == ["pintle", "adopt", "--root", str(machine.root), about]
        assert ignore == ["pintle", "ignore", "--root", str(machine.root), "--until", "1d", about]
        assert all(is_harmless(remedy) and "\n" not in remedy for remedy in finding["remedies"])


def test_no_name_controls_the_terminal_or_forges_a_line(machine):
    for verb in [("verify",), ("explain", PATHS[1]), ("restore", *PATHS[:3])]:
        answer = machine.run(*verb, status=0 if verb[0] == "restore" else 2)
        assert is_harmless(answer.stdout + answer.stderr), verb
        assert not any(line.startswith("b: all is well") for line in answer.stdout.splitlines())


def test_errors_name_files_harmlessly(machine, tmp_path):
    missing = "/etc/\x1b[2J\nno such"
    answer = pintle("adopt", "--root", machine.root, missing)
    assert answer.status == 1 and is_harmless(answer.stderr)
    bad = write(tmp_path / "b.json", ignition(storage={"files": [file("/etc/\x1b[2Jx", "a", mode=99999)]}))
    assert is_harmless(refused("validate", bad).stderr)
    assert is_harmless(refused("validate", tmp_path / "\x1b[2J\nnone.json").stderr)
