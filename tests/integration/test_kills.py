# SPDX-License-Identifier: Apache-2.0
"""Kills `pintle apply` at random instants, every other time with the whole machine: after `pintle recover`, the files
and systemd's state are those of the old config or of the new one.

With PINTLE_NIGHTLY, which `./dev test --nightly` sets, it tries 200 instants.  PINTLE_SEED selects other instants.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter

import pytest
from configured import APP, KEY, MASK, PINTLE, Machine, difference, file

from machines.container import ENVIRONMENT
from machines.node import Node
from machines.wait import wait_until

COUNT = 200 if os.environ.get("PINTLE_NIGHTLY") else 30
SEED = int(os.environ.get("PINTLE_SEED", "20261121"))
JOURNAL = "/var/lib/pintle/change/journal.json"

# This service records the settings that it was started with.
APP_THAT_RECORDS = APP.replace("ExecStart=/bin/grep -q good /etc/app/app.conf",
                              "ExecStart=/bin/sh -c 'grep -q good /etc/app/app.conf && cp /etc/app/app.conf /run/app'")
RUNNER = """[Service]
Type=exec
ExecStart=/bin/sh -c 'echo {} >/run/runner; exec sleep infinity'
[Install]
WantedBy=multi-user.target
"""
EXTRA = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
RESTARTED = ["app.service", "runner.service", "extra.service"]
OTHERS = ["systemd-logind.service", "systemd-tmpfiles-clean.timer", "systemd-pstore.service"]


def restart(unit):
    return [{"type": "Restart", "restart": {"serviceName": unit}}]


NOTHING = [{"type": "None"}]
POLICY = {
    "files": [{"path": "/etc/app/app.conf", "actions": restart("app.service")}, {"path": "/etc", "actions": NOTHING}],
    "units": [*({"name": unit, "actions": restart(unit)} for unit in RESTARTED), {"name": "*", "actions": NOTHING}],
    "sshkey": {"actions": NOTHING},
}


def config(name, settings, *files, units=(), mode=0o600):
    """Returns a config with a file in place of one of the OS's, a file in a new folder, units with and without
    contents, a drop-in and a key.
    """
    return {
        "ignition": {"version": "3.4.0"},
        "storage": {"files": [file("/etc/issue", name), file("/etc/app/app.conf", settings, mode=mode), *files]},
        "systemd": {"units": [
            {"name": "app.service", "enabled": True, "contents": APP_THAT_RECORDS},
            {"name": "runner.service", "enabled": True, "contents": RUNNER.format(name)},
            {"name": "systemd-logind.service", "dropins": [
                {"name": "10-app.conf", "contents": f"[Service]\nEnvironment=APP={name}\n"}]},
            *units,
        ]},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": [f"{KEY}-{name}"]}]},
    }


MORE = {"units": [MASK, {"name": "extra.service", "enabled": True, "contents": EXTRA},
                  {"name": "systemd-pstore.service", "enabled": False}]}
DEEP = file("/etc/deep/down/below/file", "deep", user={"id": 33}, group={"id": 34})
CONFIGS = {
    "one": config("one", "good%20one"),
    "two": config("two", "good%20two", DEEP, mode=0o640, **MORE),
}
# Configs with which app.service does not start, by the name of the config that they replace.
BROKEN = {
    "one": config("three", "bad", DEEP, **MORE),
    "two": config("three", "bad"),
}


class KillableMachine(Machine):
    def __init__(self, node):
        super().__init__(node)
        self.write("/root/policy.json", POLICY)

    def whole_state(self):
        """Describes everything that a config can change, with the running services and their settings."""
        show = ["systemctl", "show", "--property=Id,UnitFileState,LoadState,NeedDaemonReload"]
        return {**self.state(), "units": self.node.run(*show, *RESTARTED, *OTHERS).stdout,
                "running": self.node.run(*show[:2], "--property=Id,ActiveState,SubState,Job", *RESTARTED).stdout,
                "with": self.node.run("grep", "-s", "", "/run/app", "/run/runner", check=False).stdout}

    def apply_words(self):
        return [PINTLE, "apply", "--yes", "--policy", "/root/policy.json", "/root/configs"]

    def kill_program(self, cut):
        # With --foreground, timeout waits for the killed program, which holds the claim until it has ended.
        return self.node.run("timeout", "--foreground", "--signal=KILL", f"{cut:.4f}", *self.apply_words(), check=False)

    def kill_machine(self, cut):
        words = [*self.node.entering(), *self.apply_words()]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=ENVIRONMENT) as process:
            try:
                process.wait(cut)
            except subprocess.TimeoutExpired:
                pass
            self.node.kill()
            stdout, stderr = process.communicate()
        self.node.start()
        return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)

    def journal(self):
        path = self.node.path(JOURNAL)
        return json.loads(path.read_text()) if path.exists() else None

    def has_no_jobs(self):
        return self.node.run("systemctl", "list-jobs", "--no-legend").stdout == ""


def output_of(answer):
    return f"status {answer.returncode}\n{answer.stdout}{answer.stderr}"


@pytest.fixture(scope="module")
def killed():
    with Node(plain=True) as node:
        yield KillableMachine(node)


@pytest.fixture(scope="module")
def states(killed):
    """Returns the state of the machine with each config, by name, and how long a change takes."""
    found, seconds = {}, 0
    for name in ["one", "two", "one", "two"]:
        started = time.monotonic()
        killed.apply(CONFIGS[name])
        seconds = max(seconds, time.monotonic() - started)
        state = killed.whole_state()
        assert difference(found.setdefault(name, state), state) == {}
    killed.node.reboot()
    assert difference(found["two"], killed.whole_state()) == {}
    return found, seconds


def test_after_a_kill_at_any_instant_recovery_gives_the_old_or_the_new_config(killed, states):
    found, seconds = states
    print(f"seed {SEED}, {COUNT} instants; a whole change takes {seconds:.3f} s")
    generator = random.Random(SEED)
    current, seen = "two", Counter()
    for number in range(COUNT):
        other = "one" if current == "two" else "two"
        is_broken = generator.random() < 0.25
        killed.write("/root/configs/50-all.ign", (BROKEN if is_broken else CONFIGS)[current if is_broken else other])
        cut = generator.uniform(0, 1.2 * seconds)
        kills_machine = number % 2 == 1
        applied = (killed.kill_machine if kills_machine else killed.kill_program)(cut)
        journal = killed.journal()
        phase = journal["phase"] if journal else "none"
        recovered = killed.node.run(PINTLE, "recover", check=False)
        wait_until(killed.has_no_jobs, "the node's jobs end", 60)
        state = killed.whole_state()
        victim = "the machine" if kills_machine else "the program"
        about = [f"instant {number} of seed {SEED}: {victim} killed after {cut:.4f} s",
                 f"from {current} to {'what fails' if is_broken else other}", f"apply: {output_of(applied)}",
                 f"journal before recovery: {json.dumps(journal)}", f"recover: {output_of(recovered)}"]
        wanted = [current] if is_broken else [current, other]
        if state not in [found[name] for name in wanted] or killed.journal():
            about += [f"difference to {name}: {difference(found[name], state)}" for name in wanted]
            about.append(killed.node.run("journalctl", "-b", "-n", "150", "-o", "short-monotonic", "--no-pager").stdout)
            raise AssertionError("\n".join(about))
        # If the change itself has failed, recovery undoes it and reports the failure again.
        assert recovered.returncode == 0 or (is_broken and phase in ("applied", "undoing")), "\n".join(about)
        result = next(name for name in wanted if state == found[name])
        seen["machine" if kills_machine else "program", phase, "broken" if is_broken else
             "old" if result == current else "new"] += 1
        print(f"{number}: {about[0].split(': ')[1]}, journal: {phase}, afterwards {result}")
        current = result
        verified = killed.node.run(PINTLE, "verify", check=False)
        assert verified.returncode == 0, "\n".join([*about, output_of(verified)])
    for kind, count in sorted(seen.items()):
        print(f"{count:4}  {', '.join(kind)}")
    assert {outcome for _, _, outcome in seen} == {"old", "new", "broken"}


POLL_CALLS = {"7", "271"} if os.uname().machine == "x86_64" else {"73"}  # The system calls poll(2) and ppoll(2).


class Background:
    """A command in the node that runs in the background."""

    def __init__(self, machine, *words):
        self.output = tempfile.TemporaryFile("w+")
        self.shell = subprocess.Popen([*machine.node.entering(), *words], stdin=subprocess.DEVNULL, stdout=self.output,
                                      stderr=subprocess.STDOUT, env=ENVIRONMENT)

    def process(self):
        """Returns the host's process ID of the command, or None if it has not begun or has ended."""
        children = pathlib.Path(f"/proc/{self.shell.pid}/task/{self.shell.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def waits_for_an_answer(self):
        process = self.process()
        return process and pathlib.Path(f"/proc/{process}/syscall").read_text().split()[0] in POLL_CALLS

    def end(self):
        status = self.shell.wait(120)
        with self.output:
            self.output.seek(0)
            return status, self.output.read()


def test_a_job_that_systemd_has_not_begun_does_not_run_after_recovery(killed, states):
    found, _ = states
    killed.apply(CONFIGS["one"])
    # The change of this many files takes so long that the test can stop systemd before the change sends it a request.
    other = config("one", "good%20one", *(file(f"/etc/deep/{number}", "x") for number in range(500)),
                   units=[{"name": "systemd-pstore.service", "enabled": False}])
    killed.write("/root/configs/50-all.ign", other)
    applied = Background(killed, *killed.apply_words())
    wait_until(lambda: (killed.journal() or {}).get("phase") == "applying", "the change begins", 60,
               every=0.001)
    systemd = int(killed.node.leader)
    os.kill(systemd, signal.SIGSTOP)
    try:
        wait_until(applied.waits_for_an_answer, "systemd is asked", 60)
        os.kill(applied.process(), signal.SIGKILL)
        applied.end()
        recovered = Background(killed, PINTLE, "recover")
        wait_until(recovered.waits_for_an_answer, "systemd is asked again", 60)
    finally:
        os.kill(systemd, signal.SIGCONT)
    status, output = recovered.end()
    assert status == 0 and "undone" in output, output
    assert difference(found["one"], killed.whole_state()) == {}
