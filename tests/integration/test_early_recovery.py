# SPDX-License-Identifier: Apache-2.0
"""Tests a machine that is killed in the middle of a change and boots again: even before `pintle recover` runs, services
read and run all of the old config or all of the new one.

With PINTLE_NIGHTLY, which `./dev test --nightly` sets, the machine is killed 30 times instead of 5.
"""

import json
import os

import pytest
from configured import PINTLE, file

from machines.installed import Installed
from machines.node import Node
from machines.wait import wait_until

KILLS = 30 if os.environ.get("PINTLE_NIGHTLY") else 5
# The test tries this many more times, because some changes are complete before the machine is killed.
MORE_ATTEMPTS = 20
FILES_BETWEEN = 4000      # These files between the first and the last make the change take a while.
JOURNAL = "/var/lib/pintle/change/journal.json"
FIRST, LAST = "/etc/app/0000", f"/etc/app/{FILES_BETWEEN + 1:04}"

# A service of the OS, which records the files that it reads.
RECORDER = f"""[Service]
Type=oneshot
ExecStart=/bin/sh -c 'cat {FIRST} {LAST} >/run/recorded'
[Install]
WantedBy=multi-user.target
"""
# Services of the configs.  runner.service differs in each config; only.service is in the config "two" only.
RUNNER = """[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'echo {} >>/run/ran'
[Install]
WantedBy=multi-user.target
"""
ONLY = RUNNER.replace("{}", "only")
POLICY = {"files": [{"path": "/etc", "actions": [{"type": "None"}]}],
          "units": [{"name": "*", "actions": [{"type": "None"}]}], "sshkey": {"actions": [{"type": "None"}]}}


def config(name):
    files = [file(f"/etc/app/{number:04}", name + "%0A") for number in range(FILES_BETWEEN + 2)]
    units = [{"name": "runner.service", "enabled": True, "contents": RUNNER.format(name)}]
    if name == "two":
        units.append({"name": "only.service", "enabled": True, "contents": ONLY})
    return {"ignition": {"version": "3.4.0"}, "storage": {"files": files}, "systemd": {"units": units}}


@pytest.fixture(scope="module")
def machine():
    with Node(plain=True) as node:
        installed = Installed(node, PINTLE)
        # Without this unit, the machine stays in the state in which the early unit leaves it.
        installed.run("systemctl", "disable", "pintle-recover.service")
        installed.run("tee", "/etc/systemd/system/recorder.service", input=RECORDER)
        installed.run("systemctl", "enable", "recorder.service")
        installed.run("tee", "/root/policy.json", input=json.dumps(POLICY))
        yield installed


def apply_words(name, machine):
    """Writes a config, and returns the command that applies it."""
    machine.run("tee", "/root/configs/50-all.ign", input=json.dumps(config(name)))
    return [PINTLE, "apply", "--yes", "--policy", "/root/policy.json", "/root/configs"]


def kill_while_applying(machine, name):
    """Kills the whole machine when the first file of the change is in place, and boots it again; returns the journal.
    """
    node = machine.machine
    words = apply_words(name, machine)
    first = node.path(FIRST)
    machine.run("systemd-run", "--no-block", *words)
    wait_until(lambda: first.read_text() == f"{name}\n", "the first file is changed", 60, every=0.001)
    node.kill()
    node.start()
    journal = node.path(JOURNAL)
    return json.loads(journal.read_text()) if journal.exists() else None


def test_services_read_and_run_one_config_after_a_crash_in_the_middle_of_a_change(machine):
    node = machine.machine
    machine.run(*apply_words("one", machine))
    in_the_middle = 0
    for _ in range(MORE_ATTEMPTS + KILLS):
        journal = kill_while_applying(machine, "two")
        is_cut_short = journal is not None and journal["phase"] == "applying"
        now = "one" if is_cut_short else "two"
        assert machine.read("/run/recorded") == f"{now}\n{now}\n"
        ran = machine.read("/run/ran").split()
        assert sorted(ran) == (["one"] if now == "one" else ["only", "two"])
        assert machine.run("systemctl", "list-jobs", "--no-legend").stdout == ""
        assert node.state == "running"
        # `pintle recover` ends the change later.
        output = machine.run(PINTLE, "recover").stdout
        assert ("is undone" in output) == is_cut_short
        machine.pintle("verify")
        in_the_middle += is_cut_short
        if in_the_middle == KILLS:
            return
        if now == "two":
            machine.run(*apply_words("one", machine))
    raise AssertionError(f"the machine was killed only {in_the_middle} times in the middle of a change")
