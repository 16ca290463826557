# SPDX-License-Identifier: Apache-2.0
"""Tests configs on booted machines: they are applied, restored after an edit, undone after a failure, and removed."""

import json

import pytest
from configured import KEY, MASK, PINTLE, POLICY, SECOND, Machine, config, difference, file

from machines.node import Node


@pytest.fixture(params=["plain", "ostree"])
def machine(request):
    with Node(plain=request.param == "plain") as node:
        yield Machine(node)


@pytest.fixture
def plain():
    with Node(plain=True) as node:
        yield Machine(node)


def test_a_config_that_is_removed_leaves_nothing(machine):
    before = machine.state()
    assert "Done: this machine is as rendered-local-" in machine.apply(config(units=[MASK, SECOND])).stdout
    assert machine.read("/etc/issue") == "ours" and machine.read("/etc/app/app.conf") == "good"
    assert machine.read("/home/core/.ssh/authorized_keys.d/ignition") == KEY + "\n"
    run = machine.node.run
    assert run("systemctl", "is-enabled", "app.service", "second.timer").stdout.split() == ["enabled", "enabled"]
    assert run("systemctl", "is-active", "app.service").stdout == "active\n"
    assert run("systemctl", "is-enabled", MASK["name"], check=False).stdout == "masked\n"
    assert "APP=ours" in run("systemctl", "show", "--property=Environment", "systemd-logind.service").stdout
    assert machine.run("verify").stdout.startswith("This machine is as rendered-local-")
    assert machine.apply(config(units=[MASK, SECOND])).stdout.startswith("Nothing to do")

    machine.remove_config()
    assert difference(before, machine.state()) == {}
    assert run("systemctl", "is-active", "app.service", check=False).stdout == "inactive\n"


def test_an_edit_is_found_kept_explained_and_restored(machine):
    machine.apply(config())
    wanted = machine.state()
    machine.write("/etc/issue", "someone else's")
    edited = machine.state()
    for words in ["verify"], ["apply", "--yes", "--none"]:
        answer = machine.run(*words, status=2)
        assert 'content mismatch for file "/etc/issue"' in answer.stdout.splitlines()[0]
        assert "pintle restore /etc/issue" in answer.stdout and "+someone else's" in answer.stdout
    assert machine.state() == edited
    explained = machine.run("explain", "--policy", "/root/policy.json", "/etc/issue", status=2).stdout
    assert "written by 50-all" in explained and "None" in explained
    machine.run("restore", "--policy", "/root/policy.json", "/etc/issue")
    assert difference(wanted, machine.state()) == {}
    machine.run("verify")


def test_a_unit_that_someone_has_disabled_is_found_and_enabled(plain):
    plain.apply(config())
    wanted = plain.state()
    plain.node.run("systemctl", "disable", "app.service")
    assert 'unit "app.service" expected enabled=true' in plain.run("verify", status=2).stdout
    plain.run("restore", "--policy", "/root/policy.json", "app.service")
    assert difference(wanted, plain.state()) == {}


def test_a_unit_that_the_first_config_disabled_gets_the_preset_of_the_os_when_no_config_names_it_any_more(machine):
    unit, presets = "own.service", "/etc/systemd/system-preset"
    run = machine.node.run
    machine.write(f"/etc/systemd/system/{unit}", "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n")
    run("mkdir", "--parents", presets)
    # The presets of the OS, and those that Ignition makes of a first config.
    machine.write(f"{presets}/90-os.preset", f"enable {unit}\n")
    machine.write(f"{presets}/20-ignition.preset", f"disable {unit}\n")
    machine.apply(config(units=[{"name": unit, "enabled": False}]))
    assert run("systemctl", "is-enabled", unit, check=False).stdout == "disabled\n"
    machine.apply(config())
    assert run("systemctl", "is-enabled", unit, check=False).stdout == "enabled\n"
    assert run("ls", presets).stdout.split() == ["90-os.preset"]


TRUST = "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt"
UPDATES_TRUST = "coreos-update-ca-trust.service"


def test_authorities_are_trusted_even_if_the_service_that_updates_the_trust_store_does_not_exist(plain):
    plain.write("/root/policy.json", {**POLICY, "files": [*POLICY["files"], {"path": TRUST, "actions": [
        {"type": "Restart", "restart": {"serviceName": UPDATES_TRUST}}]}]})
    authorities = config()
    authorities["storage"]["files"].append(file(TRUST, "authorities"))
    failed = plain.apply(authorities, status=1).stderr
    assert f"restarting {UPDATES_TRUST} service failed: " in failed
    assert "; and without the service: running update-ca-trust: " in failed
    plain.write("/usr/local/bin/update-ca-trust", f"#!/bin/sh\ncp {TRUST} /run/trusted\n")
    plain.node.run("chmod", "+x", "/usr/local/bin/update-ca-trust")
    plain.apply(authorities)
    assert plain.read("/run/trusted") == "authorities"


def test_an_adopted_edit_becomes_a_config(plain):
    plain.apply(config())
    plain.write("/etc/issue", "kept")
    plain.node.run("chmod", "0640", "/etc/issue")
    plain.write("/root/configs/99.yaml", plain.run("adopt", "/etc/issue").stdout)
    assert "Done" in plain.apply(config()).stdout
    assert plain.read("/etc/issue") == "kept"
    plain.run("verify")


def test_a_service_that_does_not_come_up_undoes_the_change(machine):
    machine.apply(config())
    before = machine.state()
    answer = machine.apply(config(settings="bad", greeting="other", units=[MASK, SECOND]), status=1)
    assert "restarting app.service service failed" in answer.stderr
    assert "this machine is as it was before" in answer.stderr
    assert difference(before, machine.state()) == {}
    assert machine.node.run("systemctl", "is-active", "app.service").stdout == "active\n"
    assert machine.run("recover").stdout == "Nothing was cut short.\n"


def test_with_no_reboot_the_change_does_not_reboot(plain):
    plain.write("/root/configs/50-all.ign", config())
    answer = plain.run("apply", "--yes", "--no-reboot", "/root/configs", status=2)
    assert "A reboot is pending" in answer.stdout and plain.read("/etc/issue") == "ours"
    assert "waits for a reboot" in plain.run("recover", status=2).stdout
    plain.node.reboot()
    assert "finished" in plain.run("recover").stdout
    plain.run("verify")
    assert plain.node.run("systemctl", "is-active", "app.service").stdout == "active\n"


def test_a_change_that_needs_a_reboot_reboots(plain):
    plain.write("/root/configs/50-all.ign", config())
    plain.node.run(PINTLE, "apply", "--yes", "/root/configs", check=False)
    plain.node.follow_reboot()
    assert "finished" in plain.run("recover").stdout
    plain.run("verify")


def test_history_lists_the_changes(plain):
    plain.apply(config())
    plain.apply(config(settings="bad"), status=1)
    plain.write("/etc/issue", "edited")
    plain.run("restore", "--policy", "/root/policy.json", "/etc/issue")
    plain.remove_config()
    plain.node.run("journalctl", "--sync")
    changes = json.loads(plain.run("history", "-o", "json").stdout)
    assert [(change["verb"], change["outcome"]) for change in changes] \
        == [("apply", "done"), ("apply", "failed"), ("restore", "done"), ("apply", "done")]
    assert changes[0]["from"] == changes[3]["to"] == "mco-empty-mc"
    assert "restarting app.service" in changes[1]["error"]
    assert len(plain.run("history").stdout.splitlines()) == 5
