# SPDX-License-Identifier: Apache-2.0
"""Tests damaged records of Pintle: every error names the remedy, and the remedy works."""

import os

import pytest
from program import file, with_files, write
from small_machine import Machine

REMEDY = "pintle recover --set-aside"
JOURNAL = "/var/lib/pintle/change/journal.json"
CONTENTS = "/var/lib/pintle/change/contents"
CONFIG = "/etc/machine-config-daemon/currentconfig"
OTHER_RECORDS = ["/var/lib/pintle/ignored.json", "/var/lib/pintle/policy.json"]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to users, which needs root")


def journal(**more):
    return {"version": 1, "phase": "applying", "from": "a", "to": "b", "bootID": "", "steps": [], "undo": [],
            "actions": [], "nextBoot": None, **more}


MISSING = journal(undo=[{"kind": "file", "key": "/etc/motd", "want": {"kind": "file", "sha256": "0" * 64}}])
UNUSABLE = {
    "nothing": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(os.urandom(4096)),
    "truncated JSON": lambda path: path.write_text('{"phase": "app'),
    "a list": lambda path: path.write_text("[1]"),
    "a directory": lambda path: path.mkdir(),
    "a full directory": lambda path: (path / "more").mkdir(parents=True),
    "a dangling link": lambda path: path.symlink_to("/nowhere"),
    "a pipe": os.mkfifo,
    "too much": lambda path: path.open("wb").truncate(65 << 20),
}
JOURNALS = {
    "another version's": journal(version=2),
    "a version that is no number": journal(version="x"),
    "an unknown step": journal(steps=[{"kind": "firewall", "key": "x"}]),
    "an unknown phase": journal(phase="resting"),
    "an unknown action": journal(phase="applied", actions=[{"type": "Teleport"}]),
    "an action without a service": journal(phase="applied", actions=[{"type": "Restart"}]),
}


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "root").mkdir()
    machine = Machine(tmp_path / "root")
    write(tmp_path / "a.ign", with_files(file("/etc/motd", "ours\n")))
    machine.run("apply", "--yes", tmp_path / "a.ign")
    machine.config = tmp_path / "a.ign"
    return machine


def replaced(machine, place, make):
    path = machine.path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    make(path)


def check_error_and_remedy(machine, place, verbs):
    """Checks that the commands fail and change nothing, and that they work again after the remedy."""
    before = machine.path("/etc/motd").read_bytes()
    for verb in verbs:
        words = ["--yes", machine.config] if verb == "apply" else []
        error = machine.run(verb, *words, status=1).stderr
        assert REMEDY in error and place in error, error
    assert machine.path("/etc/motd").read_bytes() == before
    answer = machine.run("recover", "--set-aside", "-o", "json", status=2 if place == CONFIG else 0).json()
    (moved,) = answer["setAside"]
    assert place.startswith(moved["path"]) and moved["why"] and os.path.lexists(machine.path(moved["keptAs"]))
    assert machine.run("recover").stdout == "Nothing was cut short.\n"
    again = machine.run("recover", "--set-aside", "-o", "json").json()
    assert again["setAside"] == [] and again["findings"] == []
    machine.run("apply", "--yes", machine.config)
    assert machine.run("verify").stdout.startswith("This machine is as ")
    return moved


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_journal_that_cannot_be_read_is_set_aside(machine, kind):
    replaced(machine, JOURNAL, UNUSABLE[kind])
    moved = check_error_and_remedy(machine, JOURNAL, ["recover", "verify", "apply"])
    assert moved["keptAs"].startswith("/var/lib/pintle/set-aside/")
    assert os.path.lexists(machine.path(moved["keptAs"] + "/journal.json"))


@pytest.mark.parametrize("kind", JOURNALS)
def test_a_journal_with_an_unknown_action_or_version_is_damaged(machine, kind):
    write(machine.path(JOURNAL), JOURNALS[kind])
    check_error_and_remedy(machine, JOURNAL, ["recover", "verify", "apply"])


@pytest.mark.parametrize("kind", ["nothing", "garbage", "a directory", "a full directory", "a dangling link", "a pipe"])
def test_contents_that_cannot_be_read_are_set_aside(machine, kind):
    write(machine.path(JOURNAL), MISSING)
    replaced(machine, CONTENTS, UNUSABLE[kind])
    damaged = machine.path(CONTENTS).read_bytes() if kind == "garbage" else b""
    moved = check_error_and_remedy(machine, CONTENTS, ["recover"])
    # The moved files are unchanged, so that a person can inspect them.
    if damaged:
        assert machine.path(moved["keptAs"] + "/contents").read_bytes() == damaged


def test_a_directory_in_the_way_of_the_next_contents_is_set_aside(machine):
    replaced(machine, CONTENTS, UNUSABLE["a full directory"])
    assert REMEDY in machine.run("apply", "--yes", write(machine.root / "b.ign", with_files(file("/etc/b", "b"))),
                                  status=1).stderr
    assert machine.run("recover", "--set-aside", "-o", "json").json()["setAside"]
    machine.run("apply", "--yes", machine.config)


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_config_that_cannot_be_read_is_set_aside(machine, kind):
    replaced(machine, CONFIG, UNUSABLE[kind])
    check_error_and_remedy(machine, CONFIG, ["verify", "apply"])


@pytest.mark.parametrize("place", OTHER_RECORDS)
@pytest.mark.parametrize("kind", ["garbage", "a full directory"])
def test_other_records_can_be_damaged_too(machine, place, kind):
    replaced(machine, place, UNUSABLE[kind])
    (moved,) = machine.run("recover", "--set-aside", "-o", "json").json()["setAside"]
    assert moved["path"] == place and REMEDY in moved["why"]
    machine.run("apply", "--yes", machine.config)


def test_differences_are_listed_afterwards_and_can_be_restored(machine):
    write(machine.path(JOURNAL), JOURNALS["another version's"])
    machine.path("/etc/motd").write_text("half made\n")
    answer = machine.run("recover", "--set-aside", status=2).stdout
    assert "in version 2 of its format, and this one knows version 1" in answer
    assert "will neither continue nor be undone" in answer and "pintle restore" in answer and "/etc/motd" in answer
    machine.run("restore", "/etc/motd")
    assert machine.path("/etc/motd").read_text() == "ours\n"


def test_a_record_that_can_be_read_stays(machine):
    write(machine.path(JOURNAL), journal(undo=[{"kind": "file", "key": "/etc/motd"}]))
    answer = machine.run("recover", "--set-aside", status=2)
    assert "nothing was set aside" in answer.stdout and "was cut short" in answer.stderr
    answer = machine.run("recover", "--set-aside", "-o", "json", status=2).json()
    assert (answer["setAside"], answer["pending"]) == ([], "b")
    assert machine.run("verify", "-o", "json", status=2).json()["pending"] == "b"
    assert "undone" in machine.run("recover").stdout


def test_set_aside_cannot_be_combined_with_give_up(machine):
    assert "--set-aside cannot be combined with" in machine.run("recover", "--set-aside", "--give-up", status=1).stderr
