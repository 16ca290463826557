# SPDX-License-Identifier: Apache-2.0
"""Upgrades the package while the agent makes a change: whatever is stopped or killed meanwhile, the machine gets the new
config as a whole, by the new package.

By day, the newer Debian package differs from the older one in its version only.  With PINTLE_NIGHTLY, which `./dev test
--nightly` sets, the older package is that of the previous release, the newer one is that of the last commit, and there
are 50 kills at random instants.  PINTLE_SEED selects other instants.  Some tests upgrade RPMs, too; they differ in their
release only.
"""

import contextlib
import fcntl
import functools
import json
import os
import random
import time
from collections import Counter

import pytest
from configured import KEY, difference, file, tree_of

from machines.node import Node
from machines.wait import wait_until
import packaged_rpms
from packaged_agent import NEWER, OLDER, PACKAGES, agent_pid, install, nightly, verify, wait_until_settled

KILLS = 50
SEED = int(os.environ.get("PINTLE_SEED", "20261128"))
PATIENCE = 120
FILES = 400  # The change takes long enough to be cut short between two of them.
FIRST, LAST = "/etc/app/000", f"/etc/app/{FILES - 1:03}"
CONFIG = "/etc/pintle/config.d/50-all.ign"
JOURNAL = "/var/lib/pintle/change/journal.json"
GATE = "/run/gate"

# How the changes of a machine end if the second one is killed in a phase.
ENDED = {"applying": ["done", "cut short", "undone", "done"], "applied": ["done", "cut short", "finished"]}

NO_ACTION = [{"type": "None"}]
POLICY = {
    "files": [{"path": "/etc", "actions": NO_ACTION}],
    "units": [{"name": "slow.service", "actions": [{"type": "Restart", "restart": {"serviceName": "slow.service"}}]},
              {"name": "*", "actions": NO_ACTION}],
    "sshkey": {"actions": NO_ACTION},
}
# The agent of a test may be stopped for long.
DROP_IN = "[Service]\nWatchdogSec=0\n"
# While there is a gate, the start of this service takes until someone writes to it.
SLOW = f"""[Unit]
StartLimitIntervalSec=0
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'test ! -p {GATE} || read line <{GATE}; echo NAME >/run/slow'
[Install]
WantedBy=multi-user.target
"""
# A service of the OS, which records two of the files as it reads them during the boot.
RECORDER = f"""[Service]
Type=oneshot
ExecStart=/bin/sh -c 'cat {FIRST} {LAST} >/run/recorded'
[Install]
WantedBy=multi-user.target
"""


def config(name):
    """Returns a config with files, a unit that is restarted, another unit, a drop-in, a key and a password."""
    units = [{"name": "slow.service", "enabled": True, "contents": SLOW.replace("NAME", name)},
             {"name": f"only-{name}.timer", "enabled": True,
              "contents": "[Timer]\nOnCalendar=yearly\n[Install]\nWantedBy=timers.target\n"},
             {"name": "systemd-logind.service",
              "dropins": [{"name": "10-app.conf", "contents": f"[Service]\nEnvironment=APP={name}\n"}]}]
    users = [{"name": "core", "sshAuthorizedKeys": [f"{KEY}-{name}"], "passwordHash": f"$6$salt${name}"}]
    return {"ignition": {"version": "3.4.0"},
            "storage": {"files": [file(f"/etc/app/{number:03}", name + "%0A") for number in range(FILES)]},
            "systemd": {"units": units}, "passwd": {"users": users}}


class DebianPackages:
    """The older and the newer package on a machine with apt."""

    def __init__(self, node):
        self.node, self.run = node, node.run

    @staticmethod
    def binds(fixture):
        return {str(fixture("repository")): PACKAGES}

    def install_older(self):
        install(self.node, f"pintle{OLDER}")

    def install_newer(self):
        install(self.node, f"pintle{NEWER}")

    def unpack_newer(self):
        """Replaces the files of the package, as the first part of an upgrade does."""
        self.run("dpkg", "--unpack", f"{PACKAGES}/pintle{NEWER}.deb")

    def configure_newer(self):
        """Runs the scripts of the package whose files are unpacked."""
        self.run("dpkg", "--configure", "pintle")

    def finish_upgrade(self):
        """Does what a person does after an upgrade that was cut short."""
        self.run("dpkg", "--configure", "--pending")
        self.run("dpkg", "--install", f"{PACKAGES}/pintle{NEWER}.deb")

    def version(self):
        return self.run("dpkg-query", "--show", "--showformat=${Version}", "pintle").stdout

    def differences(self):
        return verify(self.node, "pintle")


class Rpms:
    """The older and the newer package on a machine with dnf."""

    def __init__(self, node):
        self.node = node

    @staticmethod
    def binds(fixture):
        return packaged_rpms.binds(fixture("repositories"))

    def install_older(self):
        packaged_rpms.dnf(self.node, "install", "pintle")

    def install_newer(self):
        packaged_rpms.dnf(self.node, "upgrade", "pintle", repository="next")

    def unpack_newer(self):
        """Replaces the files of the package, as the first part of an upgrade does."""
        found = self.node.run("find", f"{PACKAGES}/next", "-name", "pintle-[0-9]*.x86_64.rpm").stdout.split()
        packaged_rpms.run_tool(self.node, "rpm", "--root=/machine", "--upgrade", "--noscripts",
                               *(f"/machine{path}" for path in found))

    def configure_newer(self):
        packaged_rpms.dnf(self.node, "reinstall", "pintle", repository="next")

    finish_upgrade = configure_newer

    def version(self):
        return packaged_rpms.releases(self.node, "pintle")[0]

    def differences(self):
        return packaged_rpms.verify(self.node, "pintle").splitlines()


MANAGERS = {"apt": DebianPackages, "dnf": Rpms}
both_managers = pytest.mark.parametrize("manager", ["apt", pytest.param("dnf", marks=nightly)], indirect=True)


class Upgraded:
    """A machine with the package."""

    def __init__(self, node, packages):
        self.node, self.run, self.packages = node, node.run, packages

    def write(self, path, contents):
        self.run("mkdir", "--parents", path.rpartition("/")[0])
        self.run("tee", path, input=contents if isinstance(contents, str) else json.dumps(contents))

    def write_config(self, name):
        # The agent may read the directory at any time, so the file is complete when it gets its name.
        self.write("/root/config", config(name))
        self.run("mv", "/root/config", CONFIG)

    def read(self, path):
        """Returns the text of a file, or None if it is missing."""
        try:
            return self.node.path(path).read_text()
        except FileNotFoundError:
            return None

    def journal(self):
        """Returns the change that is under way, or None."""
        text = self.read(JOURNAL)
        return text and json.loads(text)

    def phase(self):
        journal = self.journal()
        return journal["phase"] if journal else "none"

    def unit(self, name, *properties):
        return self.run("systemctl", "show", f"--property={','.join(properties)}", "--value", name).stdout.split()

    def state(self):
        """Describes everything that a config changes."""
        units = self.run("systemctl", "show", "--property=Id,UnitFileState,LoadState,NeedDaemonReload", "slow.service",
                         "only-one.timer", "only-two.timer", "systemd-logind.service").stdout
        slow = [*self.unit("slow.service", "ActiveState", "Job"), self.read("/run/slow")]
        return {**tree_of(self.node, "/etc"), **tree_of(self.node, "/home"), "units": units, "slow": slow}

    def signal_agent(self, name):
        # systemd sends the signal.  The built-in `kill` of run()'s shell would send it to a process of the host.
        self.run("systemctl", "kill", "--kill-whom=main", f"--signal=SIG{name}", "pintled.service")

    def stop_agent(self):
        """Stops the agent's process, as it is, in the middle of what it does."""
        self.signal_agent("STOP")
        status = f"/proc/{agent_pid(self.node)}/status"
        wait_until(lambda: "State:\tT" in self.run("cat", status).stdout, "the agent's process is stopped", PATIENCE)

    def pass_time(self, seconds):
        """Waits for a chosen instant; the machine does not end meanwhile."""
        with contextlib.suppress(TimeoutError):
            self.node.await_end("poweroff", seconds)

    def outcomes(self):
        """Returns how the changes of this machine have ended, the first one first."""
        return [change["outcome"] for change in json.loads(self.run("pintle", "history", "-o", "json").stdout)]

    def tree(self):
        """Describes everything that Pintle may change."""
        return {**tree_of(self.node, "/etc"), **tree_of(self.node, "/home"), **tree_of(self.node, "/var/lib/pintle")}

    def change_version_of_journal(self, by):
        """Makes the journal one of a Pintle whose format is newer by this much."""
        document = self.journal()
        document["version"] += by
        # A journal is padded with spaces (host/files/paired_file.h).
        self.node.path(JOURNAL).write_text(json.dumps(document).ljust(len(self.read(JOURNAL))))

    def expect_refusal(self, before, error):
        """Checks that the agent reports the error, and that nobody has touched anything."""
        def status():
            return json.loads(self.run("pintle", "status", "-o", "json", check=False).stdout)
        wait_until(lambda: status()["running"] and status()["state"] == "Degraded", "the agent is degraded", PATIENCE)
        assert error in status()["reason"] and "install the newer one again" in status()["reason"]
        refused = self.run("pintle", "recover", check=False)
        assert refused.returncode == 1 and error in refused.stderr
        assert difference(before, self.tree()) == {}

    def settles_with(self, name):
        wait_until(lambda: self.read(LAST) == f"{name}\n" and not self.journal(), f"the machine has {name}", PATIENCE)
        wait_until_settled(self.node)

    def expect_whole(self, name, wanted, version):
        """Checks that the machine has the config as if nothing had been cut short, and runs this version of the package."""
        self.settles_with(name)
        assert difference(wanted, self.state()) == {}
        assert self.run("pintle", "verify", check=False).returncode == 0
        assert self.packages.version() == version and self.packages.differences() == []
        # The agent does not run a program that the upgrade has replaced.
        assert self.run("readlink", f"/proc/{agent_pid(self.node)}/exe").stdout.strip() == "/usr/sbin/pintled"
        assert self.run("systemctl", "--failed", "--quiet").stdout == ""


class Boots:
    """Boots machines that have the older package and the config "one"; they begin with copies of one disk."""

    def __init__(self, packages, binds, saved):
        self._packages, self._binds, self._saved, self._expected = packages, binds, saved, None
        with self._begin() as machine:
            node = machine.node
            node.run("useradd", "--create-home", "--password", "*", "core")
            machine.write("/etc/systemd/system/recorder.service", RECORDER)
            machine.write("/etc/systemd/system/pintled.service.d/10-test.conf", DROP_IN)
            machine.write("/etc/pintle/policy.json", POLICY)
            machine.write("/etc/pintle/pintled.conf", "[Agent]\nSource=local\nPolicyFile=/etc/pintle/policy.json\n")
            machine.write(CONFIG, config("one"))
            machine.packages.install_older()
            node.run("systemctl", "enable", "recorder.service")
            node.run("systemctl", "enable", "--now", "pintle-recover.service", "pintled.service")
            machine.settles_with("one")
            node.poweroff()
            node.save(saved)

    @contextlib.contextmanager
    def _begin(self, saved=None):
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("PINTLE_BUILD")    # The machine has nothing of the build tree.
            node = Node(plain=True, binds=self._binds, saved=saved)
        with node:
            yield Upgraded(node, self._packages(node))

    @contextlib.contextmanager
    def __call__(self):
        with self._begin(self._saved) as machine:
            wait_until_settled(machine.node)
            yield machine

    def expected(self):
        """Returns the version and the state of a machine on which nothing is cut short, and the seconds that its change
        and its upgrade take.
        """
        self._expected = self._expected or self._uncut()
        return self._expected

    def _uncut(self):
        with self() as machine:
            older = machine.packages.version()
            started = time.monotonic()
            machine.write_config("two")
            machine.settles_with("two")
            changed = time.monotonic()
            machine.packages.install_newer()
            upgraded = time.monotonic()
            machine.settles_with("two")
            newer = machine.packages.version()
            assert newer != older
            print(f"from {older} to {newer}: change {changed - started:.1f} s, upgrade {upgraded - changed:.1f} s")
            return newer, machine.state(), changed - started, upgraded - changed


@pytest.fixture
def manager(request):
    return getattr(request, "param", "apt")


@pytest.fixture(scope="module")
def boots(request, tmp_path_factory):
    """Returns a function from the name of a package manager to its Boots, which are made once."""
    @functools.cache
    def made(name):
        packages = MANAGERS[name]
        saved = tmp_path_factory.mktemp(f"upgrade-{name}") / "saved"
        return Boots(packages, packages.binds(request.getfixturevalue), saved)
    return made


@pytest.fixture
def boot(boots, manager):
    return boots(manager)


@pytest.fixture
def expected(boot):
    return boot.expected()


def open_gate(machine):
    """Lets the service go on, now and at its next starts.  Returns the descriptor to close in the end."""
    path = machine.node.path(GATE)
    gate = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    os.write(gate, b"\n" * 8)
    path.unlink()
    return gate


@contextlib.contextmanager
def change_held(machine, phase):
    """Begins a change, and stops the agent in this phase of it."""
    with contextlib.ExitStack() as stack:
        if phase == "applying":
            # The agent waits for the lock before it puts the password, which is the last step.
            lock = stack.enter_context(machine.node.path("/etc/.pwd.lock").open("a"))
            fcntl.lockf(lock, fcntl.LOCK_EX)
        else:
            machine.run("mkfifo", GATE)
        machine.write_config("two")
        wait_until(lambda: machine.phase() == phase and machine.read(LAST) == "two\n", f"the change is {phase}", PATIENCE)
        if phase == "applied":
            is_starting = ["activating"]
            wait_until(lambda: machine.unit("slow.service", "ActiveState") == is_starting, "the service starts", PATIENCE)
        machine.stop_agent()
        if phase == "applying":
            lock.close()
        else:
            stack.callback(os.close, open_gate(machine))
        assert machine.phase() == phase
        yield


@nightly
@both_managers
@pytest.mark.parametrize("phase", ["applying", "applied"])
def test_the_older_agent_ends_its_change_when_the_upgrade_stops_it(boot, expected, phase):
    version, state, _, _ = expected
    with boot() as machine:
        with change_held(machine, phase):
            machine.packages.install_newer()    # systemd continues a stopped process when it terminates it.
        machine.expect_whole("two", state, version)
        assert machine.outcomes() == ["done", "done"]


@both_managers
@pytest.mark.parametrize("phase", ["applying", "applied"])
def test_the_newer_agent_ends_the_change_of_an_older_one_that_is_killed_during_the_upgrade(boot, expected, phase):
    version, state, _, _ = expected
    with boot() as machine:
        with change_held(machine, phase):
            machine.packages.unpack_newer()
            machine.signal_agent("KILL")
        machine.settles_with("two")    # systemd has restarted the agent; the upgrade goes on later.
        machine.packages.configure_newer()
        machine.expect_whole("two", state, version)
        assert machine.outcomes() == ENDED[phase]


@nightly
@both_managers
@pytest.mark.parametrize("phase", ["applying", "applied"])
def test_the_newer_package_ends_the_change_after_the_machine_is_killed_during_the_upgrade(boot, expected, phase):
    version, state, _, _ = expected
    with boot() as machine:
        with change_held(machine, phase):
            machine.packages.unpack_newer()
        machine.node.kill()
        machine.node.start()
        now = "one" if phase == "applying" else "two"
        assert machine.read("/run/recorded") == f"{now}\n{now}\n"
        machine.packages.finish_upgrade()
        machine.expect_whole("two", state, version)
        assert machine.outcomes() == ENDED[phase]


@pytest.mark.parametrize("is_real", [False, pytest.param(True, marks=nightly)])
def test_an_older_agent_that_meets_a_newer_journal_touches_nothing(boot, expected, is_real, request):
    _, state, _, _ = expected
    if is_real:
        request.getfixturevalue("next_format")
    newer, older = ("-next-format", "") if is_real else (NEWER, OLDER)
    with boot() as machine:
        install(machine.node, f"pintle{newer}")
        with change_held(machine, "applying"):
            machine.write("/run/systemd/system/pintled.service.d/20-test.conf", "[Service]\nRestart=no\n")
            machine.run("systemctl", "daemon-reload")
            machine.signal_agent("KILL")
        wait_until(lambda: agent_pid(machine.node) == "0", "the agent has ended", PATIENCE)
        if not is_real:
            machine.change_version_of_journal(1)
        before, written = machine.tree(), machine.journal()["version"]
        error = f"{JOURNAL}: a newer Pintle wrote it in version {written} of its format, and this one knows version"
        machine.run("dpkg", "--install", f"{PACKAGES}/pintle{older}.deb")
        machine.run("systemctl", "restart", "pintled.service")
        machine.expect_refusal(before, error)
        machine.node.reboot()
        assert machine.run("systemctl", "is-failed", "pintle-recover-files.service").stdout == "failed\n"
        machine.expect_refusal(before, error)
        if not is_real:
            machine.change_version_of_journal(-1)
        install(machine.node, f"pintle{newer}")
        machine.run("systemctl", "reset-failed")
        machine.expect_whole("two", state, machine.packages.version())


@nightly
def test_kills_at_random_instants_of_an_upgrade_and_a_change_leave_a_whole_machine(boot, expected):
    version, state, change_seconds, upgrade_seconds = expected
    print(f"seed {SEED}, {KILLS} instants")
    generator = random.Random(SEED)
    seen = Counter()
    for number in range(KILLS):
        victim = ["machine", "upgrade", "agent"][number % 3]
        # The upgrade replaces the programs at some instant of the change, or restarts the agent there.
        lead = generator.uniform(0, upgrade_seconds)
        cut = generator.uniform(0, upgrade_seconds + change_seconds - lead)
        about = f"instant {number} of seed {SEED}: change after {lead:.3f} s, {victim} killed {cut:.3f} s later"
        with boot() as machine:
            machine.run("systemd-run", "--quiet", "--collect", "--unit=upgrade", "--setenv=DEBIAN_FRONTEND=noninteractive",
                        "apt-get", "install", "--yes", "--no-install-recommends", f"{PACKAGES}/pintle{NEWER}.deb")
            machine.pass_time(lead)
            machine.write_config("two")
            machine.pass_time(cut)
            if victim == "machine":
                machine.node.kill()
                machine.node.start()
                first, last = machine.read("/run/recorded").split()
                assert first == last, about
            else:
                unit = {"agent": "pintled.service", "upgrade": "upgrade.service"}[victim]
                machine.run("systemctl", "kill", "--signal=KILL", unit, check=False)
            phase = machine.phase()
            wait_until(lambda: machine.unit("upgrade.service", "ActiveState") == ["inactive"], "the upgrade ends", PATIENCE)
            now = machine.packages.version()
            print(f"{about}; afterwards, the change is in the phase {phase} and the package is {now}")
            machine.packages.finish_upgrade()
            machine.expect_whole("two", state, version)
        seen[victim, phase] += 1
    for (victim, phase), count in sorted(seen.items()):
        print(f"{count:4}  {victim} killed, phase {phase}")
