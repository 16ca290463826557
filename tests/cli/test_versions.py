# SPDX-License-Identifier: Apache-2.0
"""Tests files that a newer Pintle wrote: verbs, and the commands of the units that run at a boot, end with an error.

They end at once and change nothing.
"""

import json
import os
import pathlib
import re
import subprocess

import pytest
from program import PINTLE, file, with_files, write
from small_machine import Machine, tree

SOURCE = pathlib.Path(__file__).parents[2]
JOURNAL = "/var/lib/pintle/change/journal.json"
PATIENCE = 60
FORMATS = re.findall(r'Format k\w+ = \{"([^"]+)", (\d+)', (SOURCE / "src/change/format.h").read_text())
assert FORMATS, "src/change/format.h has no formats"
UNITS = ["pintle-finalize-staged", "pintle-firstboot", "pintle-recover", "pintle-recover-files"]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to users, which needs root")


def record(path, version):
    """Returns the contents of a file of Pintle in this version of its format."""
    fields = {"phase": "applying", "from": "a", "to": "b", "bootID": "", "steps": [], "undo": [], "actions": [],
              "nextBoot": None} if path == JOURNAL else {}
    return json.dumps({"version": version, **fields})


def check_error(error, path, version):
    assert f"{path}: a newer Pintle wrote it in version {int(version) + 1} of its format" in error, error
    assert f"this one knows version {version}; install the newer one again" in error, error


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "root").mkdir()
    machine = Machine(tmp_path / "root")
    machine.config = write(tmp_path / "a.ign", with_files(file("/etc/motd", "ours\n")))
    machine.run("apply", "--yes", machine.config)
    machine.path("/etc/motd").write_text("edited\n")
    return machine


@pytest.mark.parametrize("path,version", FORMATS)
def test_verbs_that_change_the_machine_end_with_an_error(machine, path, version):
    machine.path(path).parent.mkdir(parents=True, exist_ok=True)
    machine.path(path).write_text(record(path, int(version) + 1))
    before = tree(machine.root, ".")
    for verb, *words in [("apply", "--yes", machine.config), ("apply", "--yes", "--none"), ("recover",),
                         ("recover", "--give-up"), ("restore", "/etc/motd"), ("ignore", "/etc/motd", "--until", "2h")]:
        check_error(machine.run(verb, *words, status=1).stderr, path, version)
        assert tree(machine.root, ".") == before


def test_the_newer_program_still_ends_the_change(machine):
    machine.path(JOURNAL).parent.mkdir(exist_ok=True)
    machine.path(JOURNAL).write_text(record(JOURNAL, 2))
    machine.run("recover", status=1)
    # The newer program reads its own version, as this program reads version 1.
    machine.path(JOURNAL).write_text(record(JOURNAL, 1))
    assert "undone" in machine.run("recover").stdout


# Runs a command with a /var/lib that has only the journal, and a /run in which a deployment is staged.  The words are
# the file to copy, the path of the journal, and the command.  Other processes keep their own folders.
ON_OTHER_MACHINE = """
mount -t tmpfs none /var/lib && mkdir -p "${2%/*}" && cp "$1" "$2" && shift 2 &&
  mount -t tmpfs none /run && mkdir /run/ostree && touch /run/ostree/staged-deployment && exec "$@"
"""


# A unit that waits would hold up the boot.
@pytest.mark.parametrize("unit", UNITS)
def test_the_commands_of_the_units_end_at_once(tmp_path, unit):
    text = (SOURCE / f"systemd/{unit}.service.in").read_text()
    commands = re.findall(r"(?m)^Exec\w+=@bindir@/pintle (.+)$", text)
    assert commands and "Restart=" not in text
    journal = write(tmp_path / "journal.json", record(JOURNAL, 2))
    for command in commands:
        answer = subprocess.run(
            ["unshare", "--mount", "sh", "-c", ON_OTHER_MACHINE, "sh", journal, JOURNAL, PINTLE.absolute(), *command.split()],
            capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert answer.returncode == 1, answer
        check_error(answer.stderr, JOURNAL, 1)
