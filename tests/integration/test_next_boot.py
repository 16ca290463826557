# SPDX-License-Identifier: Apache-2.0
"""Tests changes that come with the next boot: image, kernel arguments and files switch together, and back together."""

import time

import pytest

from machines import deploy, power_cuts, programs
from machines.image import BRANCH, OS_NAME
from machines.installed import ALL, APP, NOTHING, Installed, everything, file, machine_config
from machines.node import Node


@pytest.fixture
def machine():
    with Node() as node:
        yield Installed(node, programs.on_machine("pintle"))


def reboot(machine):
    machine.machine.reboot()
    machine.settle()


def booted(machine):
    return deploy.booted_commit(machine.machine)


def commit(machine, files, version="2"):
    return deploy.commit(machine.machine, files, version)


def test_image_arguments_files_units_and_keys_come_with_one_boot(machine):
    first = booted(machine)
    second = commit(machine, {"/usr/etc/issue": "from the image", "/usr/etc/image.conf": "image"})
    assert "reboot is pending" in machine.apply(everything(second))
    # The running system has not changed.
    assert machine.of_everything() == NOTHING
    assert "ends with a reboot" in machine.pintle("verify", status=2)
    assert "waits for a reboot" in machine.apply(machine_config([file("/etc/other", "x")]))
    machine.run("tee", "/etc/late.conf", input="made while it waited")
    reboot(machine)
    assert booted(machine) == second and machine.of_everything() == ALL
    assert [machine.read(f"/etc/{name}") for name in ("issue", "image.conf", "late.conf")] \
        == ["ours", "image", "made while it waited"]
    machine.pintle("verify")
    assert machine.pintle("recover") == "Nothing was cut short.\n"
    deploy.fsck(machine.machine)

    # The config is removed; the image stays, because nothing names another one.
    machine.apply(None)
    reboot(machine)
    assert machine.of_everything() == NOTHING and not machine.has("/etc/machine-config-daemon")
    assert booted(machine) == second != first


def test_the_old_deployment_has_its_own_files(machine):
    machine.apply(everything())
    reboot(machine)
    assert machine.of_everything() == ALL
    deploy.roll_back(machine.machine)
    reboot(machine)
    assert not machine.has("/etc/managed") and "probe=1" not in machine.arguments()
    assert machine.pintle("recover") == "Nothing was cut short.\n"


def test_an_edit_made_while_the_change_waits_is_not_overwritten(machine):
    machine.run("tee", "/etc/managed", input="the admin's")
    before = booted(machine)
    machine.apply(everything(commit(machine, {"/usr/share/probe": "new"})))
    machine.run("tee", "/etc/managed", input="edited while it waited")
    reboot(machine)
    assert booted(machine) == before
    assert machine.of_everything() == {**NOTHING, "/etc/managed": "edited while it waited"}
    assert "/etc/managed was edited while the change to" in machine.run("journalctl", "--output=cat").stdout
    assert machine.pintle("recover") == "Nothing was cut short.\n"


def test_a_change_that_waits_can_be_given_up(machine):
    def deployments():
        return machine.run("ostree", "admin", "status").stdout

    before = deployments()
    machine.apply(everything())
    assert deployments() != before
    assert "is undone: it was given up" in machine.pintle("recover", "--give-up")
    assert deployments() == before
    reboot(machine)
    assert machine.of_everything() == NOTHING
    assert "reboot is pending" in machine.apply(everything())


def test_the_default_of_a_new_image_does_not_replace_a_managed_file(machine):
    """The managed file is as in the old image, so the merge of /etc would take the file of the new image."""
    old = commit(machine, {"/usr/etc/held": "wanted", "/usr/etc/free": "old"})
    files = [file("/etc/held", "wanted"), file("/etc/managed", "new")]
    machine.apply(machine_config(files, old, units=[APP]))
    reboot(machine)
    new = commit(machine, {"/usr/etc/held": "another", "/usr/etc/free": "new"}, "3")
    machine.apply(machine_config(files, new, units=[APP]))
    reboot(machine)
    assert booted(machine) == new
    assert [machine.read(f"/etc/{name}") for name in ("held", "free")] == ["wanted", "new"]
    machine.pintle("verify")


def test_a_boot_that_falls_back_has_the_old_files_and_gives_up_the_new_deployment(machine):
    machine.apply(everything())
    machine.machine.poweroff()
    machine.machine.start(fall_back=True)
    machine.settle()
    assert machine.of_everything() == NOTHING
    assert "the new deployment did not boot" in machine.pintle("history")
    assert len(machine.run("ls", "/boot/loader/entries").stdout.split()) == 1
    reboot(machine)
    assert machine.of_everything() == NOTHING


def test_a_deployment_that_someone_else_finalized_gets_its_files_and_boots_once_more(machine):
    machine.apply(everything())
    # As if Pintle's unit had stopped without dropping the deployment.
    machine.run("ln", "--symbolic", "--force", "/dev/null", "/etc/systemd/system/pintle-finalize-staged.service")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "stop", "ostree-finalize-staged.service")
    reboot(machine)
    assert machine.of_everything() == ALL
    machine.pintle("verify")


def test_a_finalizer_that_is_killed_leaves_the_machine_on_the_old_deployment(machine):
    before = booted(machine)
    machine.apply(everything(commit(machine, {"/usr/share/probe": "new"})))
    folder = "/etc/systemd/system/pintle-finalize-staged.service.d"
    machine.run("mkdir", folder)
    machine.run("tee", f"{folder}/slow.conf",
                input="[Service]\nExecStop=\nExecStop=/bin/sleep infinity\nTimeoutStopSec=10\n")
    machine.run("systemctl", "daemon-reload")
    reboot(machine)
    assert "Stopping timed out" in machine.run("journalctl", "--unit=pintle-finalize-staged.service").stdout
    assert booted(machine) == before and machine.of_everything() == NOTHING
    assert "pintle-finalize-staged.service failed or was killed" in machine.pintle("history")
    assert machine.pintle("recover") == "Nothing was cut short.\n"


def test_a_finalizer_that_cannot_read_the_journal_leaves_the_machine_on_the_old_deployment(machine):
    before = booted(machine)
    machine.apply(everything(commit(machine, {"/usr/share/probe": "new"})))
    machine.run("tee", "/var/lib/pintle/change/journal.json", input="{")
    machine.machine.reboot()
    assert booted(machine) == before and machine.of_everything() == NOTHING


def stage_by_hand(machine, commit):
    machine.run("ostree", "admin", "deploy", f"--os={OS_NAME}", "--stage", commit)


def test_a_deployment_staged_by_someone_else_survives_when_the_change_is_given_up(machine):
    theirs = commit(machine, {"/usr/share/probe": "theirs"})
    machine.apply(everything())
    stage_by_hand(machine, theirs)
    output = machine.pintle("recover", "--give-up")
    assert "it was given up; the deployment " in output and "belongs to someone else, and is still the next one to boot" in output
    assert theirs in output
    reboot(machine)
    assert booted(machine) == theirs and not machine.has("/etc/managed")
    assert machine.pintle("recover") == "Nothing was cut short.\n"


def test_a_deployment_staged_by_someone_else_is_booted_and_the_change_reported_as_undone(machine):
    ours, theirs = (commit(machine, {"/usr/share/probe": name}, name) for name in ("ours", "theirs"))
    machine.apply(everything(ours))
    stage_by_hand(machine, theirs)
    reboot(machine)
    assert booted(machine) == theirs and not machine.has("/etc/managed")
    assert "the machine has booted a deployment that was not staged for" in machine.pintle("history")
    assert machine.pintle("recover") == "Nothing was cut short.\n"


def test_a_deployment_that_someone_has_staged_before_is_not_replaced(machine):
    theirs = commit(machine, {"/usr/share/probe": "theirs"})
    stage_by_hand(machine, theirs)
    output = machine.apply(everything(), status=1)
    assert theirs in output and "would be lost: reboot into it, or drop it by `rpm-ostree cleanup --pending`" in output
    assert machine.pintle("recover") == "Nothing was cut short.\n"
    reboot(machine)
    assert booted(machine) == theirs
    assert "reboot is pending" in machine.apply(everything())


def test_a_new_deployment_that_is_not_as_wanted_is_rolled_back(machine):
    first = booted(machine)
    machine.apply(everything(commit(machine, {
        "/usr/share/probe": "new", "/usr/lib/tmpfiles.d/spoil.conf": "f+ /etc/managed 0644 root root - spoilt\n"})))
    reboot(machine)
    assert booted(machine) == first and machine.of_everything() == NOTHING
    assert 'content mismatch for file "/etc/managed"' in machine.pintle("history")
    assert machine.pintle("recover") == "Nothing was cut short.\n"


def test_paths_of_the_image_are_refused(machine):
    output = machine.apply(machine_config([file("/usr/lib/mine", "x")]), status=1)
    assert "/usr/lib/mine is neither in /etc nor in /var" in output
    assert machine.pintle("recover") == "Nothing was cut short.\n"


def test_an_obstacle_is_reported_before_anything_is_staged(machine):
    machine.run("mkdir", "--parents", "/etc/managed/mine")
    output = machine.apply(everything(), status=1)
    assert ("the config has a file at /etc/managed, but there is a directory with mine in it: move the directory away"
            in output)
    assert machine.pintle("recover") == "Nothing was cut short.\n"


def test_a_machine_that_is_killed_while_it_shuts_down_is_old_or_new(machine):
    cuts, killed = None, 0
    for _ in range(7):
        machine.apply(everything())
        # The first shutdown is not cut short, to measure how long a shutdown takes on this machine.
        cut = cuts.pop() if cuts else 60
        started = time.monotonic()
        machine.run("systemctl", "reboot", check=False)
        killed += machine.machine.kill_after(cut)
        cuts = power_cuts.instants(6, time.monotonic() - started) if cuts is None else cuts
        machine.machine.start()
        machine.settle()
        now = machine.of_everything()
        print(f"killed after {cut:.2f} s: {'new' if now['argument'] else 'old'}")
        assert now in (NOTHING, ALL)
        if now == ALL:
            machine.apply(None)
            reboot(machine)
            assert machine.of_everything() == NOTHING
    assert killed > 0, "each shutdown had ended before its power cut"
    deploy.fsck(machine.machine)


def test_kernel_arguments_that_someone_removed_are_found_and_restored(machine):
    machine.apply(everything())
    reboot(machine)
    # As an administrator would do it with rpm-ostree.
    machine.run("ostree", "admin", "deploy", "--stage", "--karg-none", "--os=" + OS_NAME, BRANCH)
    machine.run("systemctl", "start", "ostree-finalize-staged.service")
    machine.machine.reboot()
    output = machine.pintle("verify", status=2)
    assert "missing expected kernel arguments: [probe=1 quoted=" in output
    assert "pintle restore os" in output
    machine.pintle("restore", "--no-reboot", "os", status=2)
    reboot(machine)
    assert machine.of_everything() == ALL
    machine.pintle("verify")
