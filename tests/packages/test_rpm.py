# SPDX-License-Identifier: Apache-2.0
"""Installs, upgrades and removes the RPMs on a booted machine that has nothing of the build tree."""

import json
import re
import subprocess

import pytest
from built import build
from configured import file

from machines.node import Node
from machines.wait import wait_until
from packaged_agent import (CONFIG, NIGHTLY, agent_pid, apply_config, assert_nothing_has_begun,
                            expect_kubelet_without_package, make_change_that_waits_for_reboot, nightly, start_kubelet,
                            start_with_config, wait_until_settled)
from packaged_rpms import POLICY, PROGRAMS, RPM, SOURCE, binds, dnf, releases, run_tool, verify


@pytest.fixture
def node(repositories, monkeypatch):
    """A machine without the build folder."""
    monkeypatch.delenv("PINTLE_BUILD")
    with Node(plain=True, binds=binds(repositories)) as machine:
        yield machine


@pytest.fixture
def with_config(node):
    """A machine whose agent was installed by the RPM, and has put a config in place."""
    dnf(node, "install", "pintle")
    start_with_config(node)
    return node


def test_all_rpms_are_installed_upgraded_and_removed_and_nothing_begins_by_itself(node):
    dnf(node, "install", "debian-selinux", *PROGRAMS,
        "pintle-debuginfo", "pintle-image-debuginfo", "pintle-controller-debuginfo")
    for program in "pintle", "pintle-controller":
        assert node.run(program, "version").stdout.startswith(f"{program} ")
    assert_nothing_has_begun(node)
    needed = node.run("systemctl", "show", "--property=Wants", "--value", "sysinit.target").stdout.split()
    assert "pintle-recover-files.service" in needed
    assert node.run("readlink", "--canonicalize", "/run/bin/machine-config-daemon").stdout.strip() == "/usr/bin/pintle"
    assert verify(node, *PROGRAMS, "pintle-debuginfo") == ""
    # A debugger finds the debuginfo of each program by its build ID; no link leads to nothing.
    debug_files = node.run("find", "/usr/lib/debug/.build-id", "-name", "*.debug").stdout.split()
    assert len(debug_files) == 4
    assert node.run("find", "-L", "/usr/lib/debug/.build-id", "/usr/lib/.build-id", "-type", "l").stdout == ""
    dnf(node, "upgrade", *PROGRAMS, repository="next")
    assert releases(node, *PROGRAMS) == ["2"] * len(PROGRAMS)
    assert_nothing_has_begun(node)
    assert verify(node, *PROGRAMS) == ""
    dnf(node, "remove", "pintle*")
    left = node.run("find", "/usr", "/etc", "/run/bin", "-name", "*pintle*", "-o", "-name", "machine-config-daemon")
    assert left.stdout == ""


def test_a_machine_with_selinux_gets_the_policy_with_the_package(node):
    dnf(node, "install", "pintle")
    assert node.run("test", "-e", POLICY, check=False).returncode
    dnf(node, "remove", "pintle")
    # The machine's kernel has no SELinux, so semodule is replaced by a program that records its calls.
    node.run("mkdir", "--parents", "/etc/selinux/targeted/contexts/files")
    node.run("touch", "/etc/selinux/targeted/contexts/files/file_contexts")
    node.run("tee", "/etc/selinux/config", input="SELINUX=enforcing\nSELINUXTYPE=targeted\n")
    node.run("tee", "/usr/sbin/semodule", input="#!/bin/sh\necho \"$@\" >>/root/semodule\n")
    node.run("chmod", "+x", "/usr/sbin/semodule")
    dnf(node, "install", "debian-selinux", "pintle")
    node.run("test", "-s", POLICY)
    dnf(node, "remove", "pintle-selinux", "pintle")
    assert node.run("cat", "/root/semodule").stdout.splitlines() == [
        f"--noreload --store=targeted --priority=200 --install={POLICY}",
        "--noreload --store=targeted --priority=200 --remove=pintle"]


def test_presets_of_the_machine_enable_the_agent(node):
    node.run("mkdir", "--parents", "/etc/systemd/system-preset")
    node.run("tee", "/etc/systemd/system-preset/50-node.preset",
             input="enable pintle-recover.service\nenable pintled.service\n")
    dnf(node, "install", "pintle")
    enabled = [node.run("systemctl", "is-enabled", unit, check=False).stdout.strip()
               for unit in ("pintle-recover.service", "pintled.service", "pintle-firstboot.service")]
    assert enabled == ["enabled", "enabled", "disabled"]
    assert agent_pid(node) == "0"


def test_an_upgrade_restarts_the_agent_and_keeps_its_config(with_config):
    apply_config(with_config, ("/etc/managed", "newer"), ("/etc/added", "1"))
    assert verify(with_config, "pintle") == ""
    before = agent_pid(with_config)
    dnf(with_config, "upgrade", "pintle", repository="next")
    assert releases(with_config, "pintle") == ["2"]
    assert agent_pid(with_config) not in (before, "0")
    wait_until_settled(with_config)
    assert with_config.run("cat", "/etc/managed").stdout == "newer"
    apply_config(with_config, ("/etc/managed", "newest"))
    assert verify(with_config, "pintle") == ""


def test_what_a_config_has_put_in_place_stays_when_the_package_goes(with_config):
    dnf(with_config, "remove", "pintle")
    assert agent_pid(with_config) == "0"
    assert with_config.run("find", "/etc/systemd/system", "-name", "pintle*").stdout == ""
    assert with_config.run("cat", "/etc/managed").stdout == "new"
    with_config.run("test", "-e", "/var/lib/pintle")
    assert with_config.run("systemctl", "--failed", "--quiet").stdout == ""
    # The package that is installed again continues where the removed one stopped, once its units are enabled again.
    dnf(with_config, "install", "pintle")
    with_config.run("systemctl", "enable", "--now", "pintle-recover.service", "pintled.service")
    wait_until_settled(with_config)
    apply_config(with_config, ("/etc/managed", "newer"))


def test_the_kubelet_keeps_running_and_can_restart_when_the_package_is_removed(node):
    dnf(node, "install", "pintle")
    start_kubelet(node)
    dnf(node, "remove", "pintle")
    assert node.run("find", "/etc/systemd/system", "-name", "pintle*").stdout == ""
    expect_kubelet_without_package(node)


def test_a_change_that_waits_for_a_reboot_keeps_the_package(node):
    dnf(node, "install", "pintle")
    make_change_that_waits_for_reboot(node)
    for package in "pintle", "pintle-image":
        dnf(node, "install", package)
        # Unlike rpm, dnf prints no output of scriptlets when it is quiet.
        removed = run_tool(node, "rpm", "--root=/machine", "--erase", package, check=False)
        output = removed.stdout + removed.stderr
        assert removed.returncode and "waits for a reboot" in output and f"{package} stays installed" in output, output
        assert releases(node, package) == ["1"]
    node.run("pintle", "recover", "--give-up")
    dnf(node, "remove", "pintle")
    assert node.run("test", "-e", "/etc/waiting", check=False).returncode


DAYS = 7 if NIGHTLY else 1
WEEK_POLICY = {"files": [{"path": "/etc/broken.conf", "actions": [
                   {"type": "Restart", "restart": {"serviceName": "checked.service"}}]},
                         {"path": "/etc", "actions": [{"type": "None"}]}, {"path": "/var", "actions": [{"type": "None"}]}],
               "units": [{"name": "*", "actions": [{"type": "None"}]}], "sshkey": {"actions": [{"type": "None"}]}}
CHECKED = {"name": "checked.service", "enabled": True, "contents": """[Unit]
StartLimitIntervalSec=0
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c '! grep -q broken /etc/broken.conf'
[Install]
WantedBy=multi-user.target
"""}


def configs_of_a_day(day):
    """Returns six Ignition configs, without the version: files, units, a user; some name files and units of Pintle."""
    def own(name):
        return {"name": name, "dropins": [{"name": "10-day.conf", "contents": f"[Service]\nEnvironment=DAY={day}\n"}]}
    files = [file("/etc/day", f"{day}"), file("/etc/pintle/check.d/50-day", "%23!/bin/sh%0Aexit%200%0A", mode=0o755)]
    user = {"name": "core", "sshAuthorizedKeys": [f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C"
                                                  f"9okWi0dh2l9GKJl day-{day}"], "passwordHash": f"$6$salt${day}"}
    timer = {"name": f"day-{day}.timer", "enabled": True,
             "contents": "[Timer]\nOnCalendar=yearly\n[Install]\nWantedBy=timers.target\n"}
    return [
        {"storage": {"files": files}},
        {"storage": {"files": [*files, file("/var/lib/day", f"{day}", mode=0o600), file("/etc/broken.conf", "good")]},
         "systemd": {"units": [CHECKED]}},
        {"storage": {"files": files}, "passwd": {"users": [user]}},
        {"storage": {"files": files}, "systemd": {"units": [
            timer, own("pintled.service"), own("pintle-recover.service"), {"name": "pintle-firstboot.service", "mask": True}]}},
        {"storage": {"files": files}, "systemd": {"units": [{"name": "systemd-tmpfiles-clean.timer", "mask": True}]}},
        {"storage": {"files": [file("/etc/day", f"{day}", mode=0o640)]}, "passwd": {"users": [user]},
         "systemd": {"units": [CHECKED, {**timer, "enabled": False}]}}]


def changes(node):
    """Returns how the changes of the machine have ended."""
    return [change["outcome"] for change in json.loads(node.run("pintle", "history", "-o", "json").stdout)]


def change_config(node, config, outcome="done"):
    """Gives the running agent another config, and waits until the change has ended in this way."""
    before = len(changes(node))
    node.run("tee", "/root/config", input=json.dumps({"ignition": {"version": "3.4.0"}, **config}))
    node.run("mv", "/root/config", CONFIG.replace(".json", ".ign"))
    wait_until(lambda: outcome in changes(node)[before:], lambda: f"a change is {outcome}, and the status is: "
               f"{node.run('pintle', 'status', check=False).stdout}", 60)


def test_a_week_of_changes_leaves_the_package_as_it_was(node):
    dnf(node, "install", "pintle", "pintle-image")
    node.run("useradd", "--create-home", "--password", "*", "core")
    node.run("mkdir", "--parents", "/etc/pintle/config.d")
    node.run("tee", "/etc/pintle/policy.json", input=json.dumps(WEEK_POLICY))
    node.run("tee", "/etc/pintle/pintled.conf", input="[Agent]\nSource=local\nPolicyFile=/etc/pintle/policy.json\n")
    node.run("systemctl", "enable", "--now", "pintle-recover.service", "pintled.service")
    for day in range(DAYS):
        for config in configs_of_a_day(day):
            change_config(node, config)
            wait_until_settled(node)
        # Someone edits a file, and has it written again.
        node.run("tee", "/etc/day", input="edited")
        node.run("pintle", "restore", "/etc/day")
        assert node.run("cat", "/etc/day").stdout == f"{day}"
        wait_until_settled(node)
        # A service does not start with this config, so the change is undone.
        broken = {"storage": {"files": [file("/etc/broken.conf", "broken")]}, "systemd": {"units": [CHECKED]}}
        change_config(node, broken, outcome="failed")
        assert node.run("cat", "/etc/day").stdout == f"{day}"
        assert verify(node, "pintle", "pintle-image") == "", f"day {day}"
    assert len(changes(node)) >= 7 * DAYS
    node.run("rm", CONFIG.replace(".json", ".ign"))
    wait_until(lambda: node.run("test", "-e", "/etc/day", check=False).returncode, "the config is gone", 60)
    wait_until_settled(node)
    assert verify(node, "pintle", "pintle-image") == ""


@nightly
def test_the_spec_runs_the_unit_tests():
    build("--rpm", "--check")
    log = (SOURCE / "build/packages/rpm/build.log").read_text(encoding="utf-8", errors="replace")
    assert "Executing(%check)" in log
    passed, failed = (int(re.search(rf"(?m)^{word}: +(\d+)", log)[1]) for word in ("Ok", "Fail"))
    assert passed > 20 and failed == 0


def test_rpmlint_finds_nothing_but_what_rpmlint_toml_accepts(rpms):
    found = subprocess.run(["rpmlint", f"--config={RPM}/rpmlint.toml", *rpms.values(),
                            SOURCE / "packaging/pintle.spec"], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    assert found.returncode == 0, found.stdout
    assert re.search(r"\b10 packages and 1 specfiles checked; 0 errors, 0 warnings", found.stdout), found.stdout
