# SPDX-License-Identifier: Apache-2.0
"""The main job on booted machines: a config goes on, drifts, is mended, fails, is cut short, and goes away again."""

import hashlib
import json
import os
import random
import time

import pytest

from machines.node import BUILD, Node

PINTLE = f"{BUILD}/src/ctl/pintle"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl someone"
# It comes up with good settings only, and however often it is restarted.
APP = """[Unit]
StartLimitIntervalSec=0
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/grep -q good /etc/app/app.conf
[Install]
WantedBy=multi-user.target
"""
RESTART = {"type": "Restart", "restart": {"serviceName": "app.service"}}
POLICY = {"files": [{"path": "/etc/app/app.conf", "actions": [RESTART]},
                    {"path": "/etc", "actions": [{"type": "None"}]}],
          "units": [{"name": "*", "actions": [{"type": "None"}]}],
          "sshkey": {"actions": [{"type": "None"}]}}
UNITS = ["app.service", "systemd-logind.service", "systemd-tmpfiles-clean.timer", "getty@tty1.service", "second.timer"]


def file(path, contents, **more):
    return {"path": path, "contents": {"source": "data:," + contents}, **more}


def config(settings="good", greeting="ours", key=KEY, units=()):
    """A file in the place of one of the OS, one in a new folder, a unit, a drop-in, a mask, a key."""
    return {
        "ignition": {"version": "3.4.0"},
        "storage": {"files": [file("/etc/issue", greeting), file("/etc/app/app.conf", settings, mode=0o600)]},
        "systemd": {"units": [
            {"name": "app.service", "enabled": True, "contents": APP},
            {"name": "systemd-logind.service", "dropins": [
                {"name": "10-app.conf", "contents": f"[Service]\nEnvironment=APP={greeting}\n"}]},
            *units,
        ]},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": [key]}]},
    }


MASK = {"name": "systemd-tmpfiles-clean.timer", "mask": True}
SECOND = {"name": "second.timer", "enabled": True,
          "contents": "[Timer]\nOnCalendar=yearly\n[Install]\nWantedBy=timers.target\n"}


class Machine:
    """A node with a user, and what `pintle` reads on it."""

    def __init__(self, node):
        self.node = node
        node.run("useradd", "--create-home", "--password", "*", "core")
        node.run("mkdir", "/root/configs")
        self.write("/root/policy.json", POLICY)

    def write(self, path, contents):
        text = contents if isinstance(contents, str) else json.dumps(contents)
        self.node.run("tee", path, input=text)

    def read(self, path):
        return self.node.run("cat", path).stdout

    def run(self, *words, status=0):
        answer = self.node.run(PINTLE, *words, check=False)
        assert answer.returncode == status, (answer.returncode, answer.stdout, answer.stderr)
        return answer

    def apply(self, ignition, *words, status=0):
        self.write("/root/configs/50-all.ign", ignition)
        return self.run("apply", "--yes", "--policy", "/root/policy.json", *words, "/root/configs", status=status)

    def take_away(self):
        return self.run("apply", "--yes", "--policy", "/root/policy.json", "--none")

    def state(self):
        """All that a config can change: the file tree byte for byte, and what systemd makes of it."""
        home = "/home" if self.node.plain else "/var/home"
        return {**self._tree("/etc"), **self._tree(home), "units": self._units()}

    def _tree(self, top):
        found = {}
        outside = self.node.path(top)
        for path in [outside, *outside.rglob("*")]:
            status = path.lstat()
            contents = ""
            if path.is_symlink():
                contents = os.readlink(path)
            elif path.is_file():
                contents = hashlib.sha256(self._contents(path)).hexdigest()
            name = os.path.join(top, os.path.relpath(path, outside))
            found[name] = (oct(status.st_mode), status.st_uid, status.st_gid, contents)
        return found

    @staticmethod
    def _contents(path):
        contents = path.read_bytes()
        if path.name == "shadow":  # The day on which a password was changed is another tomorrow.
            contents = b"\n".join(line.split(b":")[0] + b":" + line.split(b":")[1]
                                  for line in contents.splitlines() if b":" in line)
        return contents

    def _units(self):
        shown = self.node.run("systemctl", "show", "--property=Id,UnitFileState,LoadState,NeedDaemonReload", *UNITS)
        return shown.stdout


@pytest.fixture(params=["plain", "ostree"])
def machine(request):
    with Node(plain=request.param == "plain") as node:
        yield Machine(node)


@pytest.fixture
def plain():
    with Node(plain=True) as node:
        yield Machine(node)


def difference(before, after):
    return {key: (before.get(key), after.get(key)) for key in before.keys() | after.keys()
            if before.get(key) != after.get(key)}


def test_a_config_goes_on_and_away_again_and_leaves_nothing(machine):
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

    machine.take_away()
    assert difference(before, machine.state()) == {}
    assert run("systemctl", "is-active", "app.service", check=False).stdout == "inactive\n"


def test_an_edit_is_found_not_overwritten_explained_and_mended(machine):
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


def test_a_unit_that_someone_has_disabled_is_found_and_mended(plain):
    plain.apply(config())
    wanted = plain.state()
    plain.node.run("systemctl", "disable", "app.service")
    assert 'unit "app.service" expected enabled=true' in plain.run("verify", status=2).stdout
    plain.run("restore", "--policy", "/root/policy.json", "app.service")
    assert difference(wanted, plain.state()) == {}


def test_what_someone_wants_to_keep_becomes_a_config(plain):
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


def test_a_reboot_is_left_to_others_when_that_is_asked_for(plain):
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


def test_history_tells_what_was_done(plain):
    plain.apply(config())
    plain.apply(config(settings="bad"), status=1)
    plain.write("/etc/issue", "edited")
    plain.run("restore", "--policy", "/root/policy.json", "/etc/issue")
    plain.take_away()
    plain.node.run("journalctl", "--sync")
    changes = json.loads(plain.run("history", "-o", "json").stdout)
    assert [(change["verb"], change["outcome"]) for change in changes] \
        == [("apply", "done"), ("apply", "failed"), ("restore", "done"), ("apply", "done")]
    assert changes[0]["from"] == changes[3]["to"] == "mco-empty-mc"
    assert "restarting app.service" in changes[1]["error"]
    assert len(plain.run("history").stdout.splitlines()) == 5


def test_killed_at_any_instant_it_is_the_old_or_the_new_config_after_recovery(plain):
    configs = [config(), config(settings="good%20too", greeting="other", key=KEY + "2", units=[MASK, SECOND])]
    states, whole = [], 0
    for each in configs:
        started = time.monotonic()
        plain.apply(each)
        whole = time.monotonic() - started
        states.append(plain.state())
    seed = 20261121
    print(f"seed {seed}; uncut it takes {whole:.3f} s")
    chosen = random.Random(seed)
    current, told = 1, []
    for _ in range(30):
        new = 1 - current
        plain.write("/root/configs/50-all.ign", configs[new])
        cut = chosen.uniform(0.001, 1.2 * whole)
        # In the foreground, timeout waits for what it kills, which holds the claim to the machine until it is gone.
        answer = plain.node.run("timeout", "--foreground", "--signal=KILL", f"{cut:.4f}", PINTLE, "apply",
                                "--yes", "--policy", "/root/policy.json", "/root/configs", check=False)
        recovered = plain.run("recover").stdout
        state = plain.state()
        assert state in states, (cut, recovered, difference(states[current], state), difference(states[new], state))
        current = states.index(state)
        told.append((answer.returncode, "new" if current == new else "old"))
        print(f"cut after {cut:.3f} s: {told[-1]}")
        plain.run("verify")
    assert {outcome for _, outcome in told} == {"old", "new"}
