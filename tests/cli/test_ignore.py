# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle ignore`: findings about a thing are listed, but do not count for some time."""

import datetime
import json
import os
import subprocess

import pytest
from program import PINTLE, file, with_files, write
from small_machine import Machine

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to users, which needs root")


@pytest.fixture
def configs(tmp_path):
    (tmp_path / "configs").mkdir()
    write(tmp_path / "configs/10-motd.ign", with_files(file("/etc/motd", "ours"), file("/etc/other", "ours")))
    return tmp_path / "configs"


@pytest.fixture
def machine(tmp_path, configs):
    (tmp_path / "root").mkdir()
    machine = Machine(tmp_path / "root")
    machine.run("apply", "--yes", configs)
    machine.path("/etc/motd").write_text("edited")
    return machine


def test_things_are_named_as_with_other_verbs(machine):
    machine.path("/etc/other").write_text("edited, too")
    assert machine.run("verify", "-o", "name", status=2).stdout == "/etc/motd\n/etc/other\n"
    machine.run("ignore", "/etc/motd", "--until", "2h")
    assert machine.run("ignore", "-o", "name").stdout == "/etc/motd\n"
    assert machine.run("verify", "-o", "name", status=2).stdout == "/etc/other\n"
    adopted = machine.run("adopt", "/etc/other", "-o", "json").json()
    assert machine.run("adopt", "/etc/other", "-o", "name").stdout == adopted["metadata"]["name"] + "\n"
    assert (adopted["kind"], adopted["apiVersion"]) == ("MachineConfig", "machineconfiguration.openshift.io/v1")
    machine.run("restore", *machine.run("verify", "-o", "name", status=2).stdout.split())
    assert machine.run("verify", "-o", "name").stdout == ""


def test_an_ignored_finding_is_listed_and_does_not_count(machine):
    remedies = machine.run("verify", "-o", "json", status=2).json()["findings"][0]["remedies"]
    assert remedies[2] == f"pintle ignore --root {machine.root} --until 1d /etc/motd"
    assert machine.run("ignore").stdout == "Nothing is ignored.\n"
    output = machine.run("ignore", "/etc/motd", "--until", "2h").stdout
    assert output.startswith("/etc/motd is ignored until ")
    listed = machine.run("ignore", "-o", "json").json()
    until = datetime.datetime.fromisoformat(listed[0]["until"].replace("Z", "+00:00"))
    left = until - datetime.datetime.now(datetime.timezone.utc)
    assert listed[0]["about"] == "/etc/motd" and datetime.timedelta(hours=1) < left <= datetime.timedelta(hours=2)

    verified = machine.run("verify").stdout
    assert "except for the things that are ignored" in verified and f"\n  ignored until {listed[0]['until']}\n" in verified
    assert f"  to stop ignoring it:  pintle ignore --root {machine.root} --end /etc/motd\n" in verified
    assert "to ignore it:" not in verified
    found = machine.run("verify", "-o", "json").json()
    assert found["text"] == "" and found["findings"][0]["ignoredUntil"] == listed[0]["until"]
    # A finding about another thing still counts.
    machine.path("/etc/other").write_text("edited")
    text = machine.run("verify", "-o", "json", status=2).json()["text"]
    assert "/etc/other" in text and "/etc/motd" not in text
    machine.path("/etc/other").write_text("ours")

    assert machine.run("ignore", "--end", "/etc/motd").stdout == "Nothing is ignored.\n"
    machine.run("verify", status=2)
    assert "not ignored" in machine.run("ignore", "--end", "/etc/motd", status=1).stderr


def test_a_finding_counts_again_when_the_time_is_over(machine):
    kept = machine.path("/var/lib/pintle/ignored.json")
    machine.run("ignore", "/etc/motd", "--until", "2h")
    kept.write_text(json.dumps([{"about": "/etc/motd", "until": "2020-01-01T00:00:00Z"}]))
    machine.run("verify", status=2)
    assert machine.run("ignore").stdout == "Nothing is ignored.\n"


def test_a_change_leaves_an_ignored_thing_alone_unless_it_would_overwrite_it(machine, configs):
    machine.run("ignore", "/etc/motd", "--until", "1d")
    write(configs / "20-more.ign", with_files(file("/etc/more", "new")))
    machine.run("apply", "--yes", configs)
    assert machine.path("/etc/more").read_text() == "new" and machine.path("/etc/motd").read_text() == "edited"
    write(configs / "10-motd.ign", with_files(file("/etc/motd", "newer")))
    refused = machine.run("apply", "--yes", configs, status=2)
    assert "nothing was changed" in refused.stderr and "/etc/motd" in refused.stdout
    machine.run("apply", "--yes", "--none", status=2)
    assert machine.path("/etc/motd").read_text() == "edited"
    # A person may still repair the ignored thing, by hand or with `pintle restore`.
    machine.run("restore", "/etc/motd")
    assert machine.path("/etc/motd").read_text() == "ours"


def test_two_people_who_ignore_things_at_the_same_time_are_both_recorded(machine, configs):
    paths = [f"/etc/many-{number:02}" for number in range(30)]
    write(configs / "20-many.ign", with_files(*(file(path, "ours") for path in paths)))
    machine.path("/etc/motd").write_text("ours")
    machine.run("apply", "--yes", configs)
    begun = [subprocess.Popen([PINTLE, "ignore", "--root", machine.root, path, "--until", "1d"], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True) for path in paths]
    assert [process.communicate()[1] for process in begun] == [""] * len(paths)
    assert sorted(thing["about"] for thing in machine.run("ignore", "-o", "json").json()) == paths
    begun = [subprocess.Popen([PINTLE, "ignore", "--root", machine.root, "--end", path], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True) for path in paths]
    assert [process.communicate()[1] for process in begun] == [""] * len(paths)
    assert machine.run("ignore").stdout == "Nothing is ignored.\n"


@pytest.mark.parametrize("words,error", [
    (["/etc/unmanaged", "--until", "2h"], "has no setting for /etc/unmanaged"),
    (["/etc/motd", "--until", "yesterday"], "is not a time"),
    (["/etc/motd", "--until", "2020-01-01"], "is in the past"),
    (["/etc/motd", "--until", "20w", "--end", "/etc/motd"], "--end"),
])
def test_wrong_arguments_are_refused(machine, words, error):
    assert error in machine.run("ignore", *words, status=1).stderr
    assert not machine.path("/var/lib/pintle/ignored.json").exists()
