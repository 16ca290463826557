# SPDX-License-Identifier: Apache-2.0
"""Tests the verbs that change a machine, with --root on the file tree of a machine that is not running."""

import fcntl
import os
import pathlib
import re
import stat
import subprocess

import pytest
from machines.wait import wait_until
from program import PINTLE, file, machine_config, refused, with_files, write
from small_machine import Machine, tree

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl someone"
BUTANE = f"""variant: fcos
version: 1.5.0
passwd:
  users:
    - name: core
      ssh_authorized_keys: ["{KEY}"]
"""
UNIT = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to users, which needs root")


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "root").mkdir()
    return Machine(tmp_path / "root")


@pytest.fixture
def configs(tmp_path):
    folder = tmp_path / "configs"
    folder.mkdir()
    write(folder / "10-key.bu", BUTANE)
    write(folder / "20-motd.ign", with_files(file("/etc/motd", "ours\n"),
                                             file("/etc/new/app.conf", "password=geheim\n")))
    unit = {"systemd": {"units": [{"name": "ours.service", "enabled": True, "contents": UNIT}]}}
    write(folder / "30-unit.json", machine_config({"ignition": {"version": "3.4.0"}, **unit}, name="50-unit"))
    write(folder / "notes.txt", "nobody reads this")
    return folder


def test_applies_configs_of_all_kinds_and_removes_them_again(machine, configs):
    before = machine.tree()
    answer = machine.run("apply", "--yes", configs)
    assert "+ours" in answer.stdout and "Done: this machine is as rendered-local-" in answer.stdout
    assert machine.path("/etc/motd").read_text() == "ours\n"
    assert os.readlink(machine.path("/etc/systemd/system/multi-user.target.wants/ours.service")) \
        == "/etc/systemd/system/ours.service"
    keys = machine.path("/home/core/.ssh/authorized_keys.d/ignition")
    assert keys.read_text() == KEY + "\n" and keys.stat().st_uid == 1000
    assert stat.S_IMODE(machine.path("/etc/machine-config-daemon/currentconfig").stat().st_mode) == 0o600
    assert machine.run("verify").stdout.startswith("This machine is as rendered-local-")

    machine.run("apply", "--yes", "--none")
    assert machine.tree() == before


def test_an_empty_directory_also_removes_the_config(machine, configs, tmp_path):
    before = machine.tree()
    machine.run("apply", "--yes", configs)
    (tmp_path / "empty").mkdir()
    machine.run("apply", "--yes", tmp_path / "empty")
    assert machine.tree() == before


def test_a_directory_without_configs_does_not_remove_the_config(machine, configs, tmp_path):
    machine.run("apply", "--yes", configs)
    before = machine.tree()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/x.conf").write_text("{}")
    error = machine.run("apply", "--yes", tmp_path / "other", status=1).stderr
    assert "x.conf: its name ends in none of .yaml" in error and "--none" in error
    assert machine.tree() == before


def test_applying_again_does_nothing(machine, configs):
    machine.run("apply", "--yes", configs)
    before = machine.tree()
    assert machine.run("apply", configs).stdout.startswith("Nothing to do")
    assert machine.tree() == before


def test_a_dry_run_lists_the_changes_and_makes_none(machine, configs):
    before = tree(machine.root, ".")
    answer = machine.run("apply", "--dry-run", configs, status=2)
    assert "+++ /etc/new/app.conf" in answer.stdout and "geheim" not in answer.stdout
    assert tree(machine.root, ".") == before
    answer = machine.run("apply", "--dry-run", "-o", "json", configs, status=2).json()
    assert (answer["from"], answer["outcome"]) == ("mco-empty-mc", "would change")
    assert answer["plan"]["diffFiles"] == ["/etc/motd", "/etc/new/app.conf"]


def test_without_a_terminal_yes_is_required(machine, configs):
    before = machine.tree()
    answer = machine.run("apply", configs, status=1)
    assert "use --yes" in answer.stderr
    assert machine.tree() == before


def test_an_edit_is_reported_and_not_overwritten(machine, configs):
    machine.run("apply", "--yes", configs)
    machine.path("/etc/new/app.conf").write_text("password=anders\nmore\n")
    machine.path("/etc/motd").unlink()
    edited = machine.tree()
    for verb, words in [("verify", []), ("apply", ["--yes", "--none"])]:
        answer = machine.run(verb, *words, status=2)
        first = answer.stdout.splitlines()[0]
        assert first.startswith("unexpected on-disk state validating against rendered-local-")
        assert 'could not stat file "/etc/motd"' in first and 'content mismatch for file "/etc/new/app.conf"' in first
        assert "  written by 20-motd\n" in answer.stdout and "  +more\n" in answer.stdout
        assert f"pintle restore --root {machine.root} /etc/motd" in answer.stdout
        assert f"pintle adopt --root {machine.root} /etc/new/app.conf" in answer.stdout
        assert "geheim" not in answer.stdout + answer.stderr and "anders" not in answer.stdout + answer.stderr
    assert machine.tree() == edited
    found = machine.run("verify", "-o", "json", status=2).json()
    assert [drift["about"] for drift in found["findings"]] == ["/etc/motd", "/etc/new/app.conf"]
    assert found["findings"][0]["writtenBy"] == ["20-motd"]
    assert found["findings"][1]["details"] == ["line 1 differs in a part that is not shown"]


@pytest.mark.parametrize("spec,field", [({"kernelArguments": ["quiet"]}, "spec.kernelArguments"),
                                        ({"kernelType": "realtime"}, "spec.kernelType"),
                                        ({"extensions": ["usbguard"]}, "spec.extensions"),
                                        ({"osImageURL": "quay.io/a@sha256:" + 64 * "0"}, "spec.osImageURL")])
def test_a_change_of_the_os_is_refused_as_a_whole_without_ostree(machine, tmp_path, spec, field):
    before = machine.tree()
    config = write(tmp_path / "a.json", machine_config(with_files(file("/etc/motd", "ours\n")), **spec))
    answer = machine.run("apply", "--yes", config, status=1)
    assert field in answer.stderr and "this machine is not a running OSTree host" in answer.stderr
    assert machine.tree() == before


def test_a_change_that_no_machine_can_make_is_refused_with_advice(machine, tmp_path):
    config = write(tmp_path / "a.ign", {"ignition": {"version": "3.4.0"},
                                        "storage": {"directories": [{"path": "/etc/folder"}]}})
    assert "not reconcilable" in machine.run("apply", "--yes", config, status=1).stderr


def test_broken_files_and_equal_names_are_named(machine, tmp_path):
    first = write(tmp_path / "first.json", machine_config())
    second = write(tmp_path / "second.json", machine_config())
    error = machine.run("apply", "--yes", first, second, status=1).stderr
    assert all(text in error for text in [str(first), str(second), "99-worker"])
    broken = write(tmp_path / "broken.bu", "variant: fcos\nversion: 1.5.0\nstorage: {files: [{path: relative}]}\n")
    assert str(broken) in machine.run("apply", "--yes", broken, status=1).stderr


def test_restore_restores_only_the_named_thing(machine, configs):
    machine.run("apply", "--yes", configs)
    wanted = machine.tree()
    for path in ["/etc/motd", "/etc/new/app.conf", "/home/core/.ssh/authorized_keys.d/ignition"]:
        machine.path(path).write_text("edited\n")
    machine.path("/etc/systemd/system/multi-user.target.wants/ours.service").unlink()
    answer = machine.run("restore", "/etc/motd")
    header = "--- as the config wants it\n+++ as it is on this machine\n"
    assert header + "@@ -1 +1 @@\n-ours\n+edited" in answer.stdout and "Done" in answer.stdout
    assert header in machine.run("explain", "/etc/new/app.conf", status=2).stdout
    left = machine.run("verify", "-o", "json", status=2).json()["findings"]
    assert [drift["about"] for drift in left] == ["/etc/new/app.conf", "ours.service", "core"]
    assert machine.run("restore", "-o", "json", "core", "ours.service", "/etc/new/app.conf").json()["outcome"] == "done"
    assert machine.tree() == wanted
    assert "Nothing to do" in machine.run("restore", "/etc/motd").stdout


def test_restore_refuses_a_path_that_no_config_sets(machine, configs):
    machine.run("apply", "--yes", configs)
    before = machine.tree()
    assert "has no setting for /etc/passwd" in machine.run("restore", "/etc/motd", "/etc/passwd", status=1).stderr
    assert machine.tree() == before


def test_adopt_prints_a_config_that_keeps_the_present_state(machine, configs):
    machine.run("apply", "--yes", configs)
    machine.path("/etc/motd").write_bytes(b"kept \xff\n")
    os.chown(machine.path("/etc/motd"), 1000, 1000)
    machine.path("/etc/motd").chmod(0o640)
    machine.path("/etc/systemd/system/ours.service").write_text(UNIT.replace("true", "false"))
    kept = machine.tree()
    for path in ["/etc/motd", "/etc/systemd/system/ours.service"]:
        answer = machine.run("adopt", path)
        assert answer.stderr == "" and "machineconfiguration.openshift.io/role: local" in answer.stdout
        write(configs / f"99{path.replace('/', '-')}.yaml", answer.stdout)
    machine.run("apply", "--yes", configs)
    machine.run("verify")
    after = machine.tree()
    assert all(after[path] == kept[path] for path in kept if "machine-config-daemon" not in path)


def test_adopt_refuses_a_thing_that_no_config_can_have(machine):
    os.symlink("passwd", machine.path("/etc/link"))
    os.mkfifo(machine.path("/etc/pipe"))
    for path, why in [("/etc", "a directory"), ("/etc/link", "a link"), ("/etc/pipe", ""),
                      ("/etc/none", "no /etc/none")]:
        assert why in machine.run("adopt", path, status=1).stderr


def test_explain_prints_the_wanted_and_the_present_state_and_the_actions(machine, configs, tmp_path):
    machine.run("apply", "--yes", configs)
    machine.path("/etc/motd").chmod(0o600)
    policy = write(tmp_path / "policy.json", {"files": [{"path": "/etc/motd", "actions": [{"type": "None"}]}]})
    answer = machine.run("explain", "--policy", policy, "/etc/motd", status=2).stdout
    assert "/etc/motd: a file, 0644 0:0" in answer and "/etc/motd: a file, 0600 0:0" in answer
    assert "written by 20-motd" in answer and "mode mismatch" in answer and "\n  None\n" in answer
    assert machine.run("explain", "-o", "json", "/etc/motd", status=2).json()["actions"][0]["type"] == "Reboot"
    answer = machine.run("explain", "ours.service").stdout
    assert "ours.service: enabled" in answer and "written by 50-unit" in answer
    answer = machine.run("explain", "core").stdout
    assert answer.count("core: 1 SSH key\n") == 2 and answer.count("core: no password\n") == 2
    shadow = machine.path("/etc/shadow")
    shadow.write_text(shadow.read_text().replace("core:*:", "core::"))
    assert "core: an empty password, so that anyone can log in" in machine.run("explain", "core", status=2).stdout
    assert "has no setting for /etc/passwd" in machine.run("explain", "/etc/passwd").stdout


def test_a_machine_without_a_config_is_reported_as_such(machine):
    assert machine.run("explain", "/etc/motd").stdout.startswith("This machine has no config.\n")
    for words in [["restore", "/etc/motd"], ["ignore", "/etc/motd", "--until", "2h"]]:
        assert machine.run(*words, status=1).stderr == f"pintle: {words[0]}: this machine has no config\n"


def test_explain_describes_how_a_path_a_unit_and_a_user_are_written(machine):
    assert "motd: there is no such user; write a path with a leading slash" in machine.run("explain", "motd").stdout


def test_recover_ends_a_change_that_was_cut_short(machine, configs):
    assert machine.run("recover").stdout == "Nothing was cut short.\n"
    machine.run("apply", "--yes", configs)
    # As if the program had been killed between the last rename and writing "applied" to the journal.
    journal = {"phase": "applying", "from": "mco-empty-mc", "to": "rendered-local-x", "bootID": "", "steps": [],
               "undo": [{"kind": "file", "key": "/etc/motd"}], "actions": [], "nextBoot": None}
    write(machine.path("/var/lib/pintle/change/journal.json"), journal)
    assert "was cut short; `pintle recover" in machine.run("verify", status=2).stderr
    assert machine.run("apply", "--dry-run", configs, status=2).stdout == ""
    assert "undone" in machine.run("recover").stdout
    assert not machine.path("/etc/motd").exists()


def test_two_changes_at_once_do_not_disturb_each_other(machine, configs):
    machine.run("recover")
    with open(machine.path("/var/lib/pintle/lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another program is changing this machine" in machine.run("apply", "--yes", configs, status=1).stderr
    machine.run("apply", "--yes", configs)


def sleeps_with(process, path):
    """Returns whether the process sleeps and has this file open."""
    folder = pathlib.Path(f"/proc/{process.pid}")
    if not any(os.path.realpath(folder / "fd" / number) == str(path.resolve()) for number in os.listdir(folder / "fd")):
        return False
    return re.search(r"(?m)^State:\s+S", (folder / "status").read_text()) is not None


def test_a_change_waits_for_a_short_claim_of_another_program(machine, configs):
    machine.run("recover")
    place = machine.path("/var/lib/pintle/lock")
    with open(place, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen([PINTLE, "apply", "--root", machine.root, "--yes", configs]) as process:
            try:
                wait_until(lambda: process.poll() is not None or sleeps_with(process, place),
                           "the program waits for the lock", 60)
                assert process.poll() is None
                fcntl.flock(lock, fcntl.LOCK_UN)
                assert process.wait(60) == 0
            finally:
                process.kill()
    assert machine.path("/etc/motd").read_text() == "ours\n"


def test_a_root_that_is_missing_is_named(tmp_path):
    refused("verify", "--root", tmp_path / "missing", texts=[str(tmp_path / "missing")])


def test_a_limit_on_the_size_of_files_is_an_error_and_no_signal(machine, tmp_path):
    before = machine.tree()
    big = write(tmp_path / "big.ign", with_files(file("/etc/big", "x" * 300_000)))
    answer = machine.run("apply", "--yes", big, status=1, file_size=64 << 10)
    assert "File too large" in answer.stderr and "LimitFSIZE=" in answer.stderr
    assert machine.tree() == before
    assert machine.run("recover").stdout == "Nothing was cut short.\n"
