# SPDX-License-Identifier: Apache-2.0
"""Tests the agent of a machine without a cluster: it applies the configs in its directory, and nothing else."""

import contextlib
import datetime
import json
import pathlib
import re
import time

import pytest
from configured import KEY, MASK, PINTLE, POLICY, Machine, config, difference

from machines import programs
from machines.background_program import BackgroundProgram
from machines.loopback_server import Handler, LoopbackServer
from machines.node import Node
from machines.wait import wait_until

BUS_POLICY = pathlib.Path(__file__).parents[2] / "systemd/io.pintle.Agent1.conf"
CONFIGS = "/etc/pintle/config.d"
CONFIG = f"{CONFIGS}/50-all.ign"
FINDINGS = "/run/pintle/findings.json"
PATIENCE = 60
SOON = 2  # Seconds.  A person should not have to wait longer than this for a report.
NONE = "mco-empty-mc"  # The name of the config of a machine without configs.
UNIT = f"""[Unit]
After=dbus.service
[Service]
Type=notify
ExecStart={programs.on_machine("pintled")}
[Install]
WantedBy=multi-user.target
"""
SETTINGS = "[Agent]\nSource=local\nPolicyFile=/etc/pintle/policy.json\n"


class Agent(Machine):
    """A machine with an agent that is ready."""

    def __init__(self, node):
        super().__init__(node)
        node.run("mkdir", "--parents", "/etc/pintle")
        self.write("/etc/pintle/policy.json", POLICY)
        self.write("/etc/pintle/pintled.conf", SETTINGS)
        if not programs.are_installed():
            self.write("/etc/dbus-1/system.d/io.pintle.Agent1.conf", BUS_POLICY.read_text())
            self.write("/etc/systemd/system/pintled.service", UNIT)
        node.run("systemctl", "daemon-reload")
        node.run("systemctl", "reload", "dbus.service")
        self.before = self.managed()
        node.run("systemctl", "enable", "--now", "pintled.service")
        self.awaits("the agent waits for a goal", lambda status: status["phase"] == "starting" and "waiting" in status["doing"])

    def status(self):
        """Returns the status, or None while the agent is not on the bus."""
        answer = self.node.run(PINTLE, "status", "-o", "json", check=False)
        with contextlib.suppress(json.JSONDecodeError):
            status = json.loads(answer.stdout)
            if status["running"]:
                return {**status, "exit": answer.returncode}
        return None

    def awaits(self, what, condition, seconds=PATIENCE):
        """Waits until the status fulfils the condition, which `what` describes; returns the status."""
        last = {}

        def found():
            last["status"] = self.status()
            return last["status"] if last["status"] and condition(last["status"]) else None
        try:
            return wait_until(found, what, seconds)
        except TimeoutError as error:
            raise AssertionError(f"{error}: {last}\n{self.journal()}") from error

    def settles(self, name=None, seconds=PATIENCE):
        """Waits until the agent is settled, with the config of this name if one is given; returns the config's name."""
        def is_settled(status):
            is_named = status["current"] == status["desired"] and name in (None, status["current"])
            return status["phase"] == "settled" and status["state"] == "Done" and is_named
        status = self.awaits("the agent settles", is_settled, seconds)
        assert (status["exit"], status["findings"], status["reason"]) == (0, 0, "")
        return status["current"]

    def becomes(self, ignition, path=CONFIG):
        """Writes a config, and waits until the machine has it."""
        old = self.status()["current"]
        self.node.run("mkdir", "--parents", CONFIGS)
        self.write(path, ignition)
        self.awaits("the agent has a new goal", lambda status: status["desired"] not in (old, ""))
        return self.settles()

    def degrades(self, seconds=PATIENCE):
        return self.awaits("the agent is degraded",
                           lambda status: status["phase"] == status["state"].lower() == "degraded",
                           seconds)

    def managed(self):
        """Returns the part of the state that configs manage, without the agent's own files."""
        return {path: description for path, description in self.state().items()
                if not any(own in path for own in ("/etc/pintle", "pintled.service"))}

    def findings(self):
        return json.loads(self.read(FINDINGS))

    def journal(self):
        self.node.run("journalctl", "--sync")
        return self.node.run("journalctl", "--unit=pintled.service", "--output=cat").stdout


@pytest.fixture
def agent():
    with Node(plain=True) as node:
        yield Agent(node)


BUS = ("io.pintle.Agent1", "/io/pintle/Agent1", "io.pintle.Agent1")
HASH = "$6$rounds=4096$Zk9qTx$0123456789plantedHash"
BROKEN = {
    "an escape": '{"ignition": {"version": "3.4.0"}, "passwd": {"users": [{"passwordHash": "HASH\\q"}]}}',
    "a tag": "kind: MachineConfig\nspec: {config: {passwd: {users: [{passwordHash: !!int \"HASH\"}]}}}\n",
    "an anchor": "kind: MachineConfig\nspec: {config: {passwd: {users: [{passwordHash: *HASH}]}}}\n",
    "twelve megabytes": '{"passwd": {"users": [{"passwordHash": "HASH' + "T0KEN" * 2_400_000 + '\\q"}]}}',
}


def test_the_contents_of_a_config_that_cannot_be_read_are_not_reported(agent):
    """Only root may read the config, but everyone may read the status and the bus, and some users the journal."""
    path = f"{CONFIGS}/50-secret.yaml"
    as_nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    agent.node.run("install", "--directory", "--mode=700", CONFIGS)
    for text in BROKEN.values():
        agent.write("/etc/pintle/new", text.replace("HASH", HASH))
        agent.node.run("chmod", "600", "/etc/pintle/new")
        agent.node.run("mv", "/etc/pintle/new", path)
        agent.awaits("the directory cannot be used", lambda status: status["state"] == "Degraded")
        texts = [agent.node.run(*as_nobody, PINTLE, "status", check=False).stdout,
                 agent.node.run(*as_nobody, "busctl", "get-property", *BUS, "Reason").stdout, agent.journal()]
        assert all("50-secret.yaml" in text and "line" in text for text in texts)
        assert not any(piece in text for text in texts for piece in ("plantedHash", "Zk9qTx", "T0KEN"))
        assert len(agent.status()["reason"]) < 2100 and max(map(len, texts[2].splitlines())) < 10_000
        agent.node.run("rm", path)
        agent.awaits("the agent is not degraded any more", lambda status: status["state"] != "Degraded")


def test_without_ostree_the_os_settings_of_a_config_are_ignored(agent):
    boot = agent.read("/proc/sys/kernel/random/boot_id")
    agent.becomes(config(greeting="ours"))
    os = {"osImageURL": "quay.io/os@sha256:" + "1" * 64, "kernelArguments": ["probe=1"], "extensions": ["usbguard"]}
    name = agent.becomes({
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
        "metadata": {"name": "10-os", "labels": {"machineconfiguration.openshift.io/role": "worker"}}, "spec": os},
        path=f"{CONFIGS}/10-os.yaml")
    aside = ("this machine has no OSTree, so these parts of the config are not applied: OS image, kernel arguments, "
             "extensions")
    assert agent.read("/etc/issue") == "ours" and agent.read("/proc/sys/kernel/random/boot_id") == boot
    agent.awaits("the status has what is left aside", lambda status: status.get("leftAside") == aside)
    assert f"Aside:    {aside}" in agent.run("status").stdout
    assert agent.journal().count(aside) == 1
    agent.run("verify")
    # The record of the config still has these settings, so the next start has nothing to do.
    assert "probe=1" in agent.read("/etc/machine-config-daemon/currentconfig")
    agent.node.run("systemctl", "restart", "pintled.service")
    assert agent.settles() == name and agent.status()["leftAside"] == aside
    assert agent.journal().count(aside) == 2
    agent.node.run("rm", f"{CONFIGS}/10-os.yaml")
    assert agent.awaits("nothing is left aside", lambda status: "leftAside" not in status)["current"] != name
    assert agent.read("/proc/sys/kernel/random/boot_id") == boot


def test_a_config_in_the_directory_is_applied_and_undone_when_it_is_removed(agent):
    first = agent.becomes(config(units=[MASK]))
    assert first.startswith("rendered-local-")
    assert agent.read("/etc/issue") == "ours" and agent.read("/etc/app/app.conf") == "good"
    assert agent.read("/home/core/.ssh/authorized_keys.d/ignition") == KEY + "\n"
    run = agent.node.run
    assert run("systemctl", "is-active", "app.service").stdout == "active\n"
    assert "This machine is as rendered-local-" in agent.run("verify").stdout
    assert agent.findings() == {"config": first, "text": "", "findings": []}

    second = agent.becomes(config(greeting="other"))
    assert second != first and agent.read("/etc/issue") == "other"

    # Editors and configuration management write a file beside the place and rename it.
    agent.write("/etc/pintle/new", config(greeting="moved"))
    run("mv", "/etc/pintle/new", CONFIG)
    agent.awaits("the agent has a new goal", lambda status: status["desired"] not in (first, second))
    agent.settles()
    assert agent.read("/etc/issue") == "moved"

    run("rm", CONFIG)
    agent.settles(NONE)
    run("systemctl", "restart", "pintled.service")
    agent.settles(NONE)
    assert difference(agent.before, agent.managed()) == {}
    assert run("systemctl", "is-active", "app.service", check=False).stdout == "inactive\n"

    # The config is also undone and applied again when the whole directory is moved away and comes back.
    assert agent.becomes(config()) != NONE
    run("mv", CONFIGS, "/etc/pintle/aside")
    agent.settles(NONE)
    assert difference(agent.before, agent.managed()) == {}
    run("mv", "/etc/pintle/aside", CONFIGS)
    agent.awaits("the agent has a new goal", lambda status: status["desired"] != NONE)
    agent.settles()
    run("systemctl", "restart", "pintled.service")
    agent.settles()
    assert agent.read("/etc/issue") == "ours"


def test_a_config_and_the_directory_may_be_links(agent):
    run = agent.node.run
    run("mkdir", "/srv/configs")
    run("ln", "--symbolic", "/srv/configs", CONFIGS)
    agent.write("/root/all.ign", config())
    run("ln", "--symbolic", "/root/all.ign", "/srv/configs/all.ign")
    agent.awaits("the agent has a new goal", lambda status: status["desired"] not in ("", NONE))
    first = agent.settles()
    agent.write("/root/all.ign", config(greeting="other"))
    agent.awaits("the agent has a new goal", lambda status: status["desired"] != first)
    agent.settles()
    assert agent.read("/etc/issue") == "other"


def test_an_edit_is_found_at_once_and_a_person_chooses(agent):
    name = agent.becomes(config())
    wanted = agent.managed()
    agent.write("/etc/issue", "someone else's")
    edited = agent.managed()
    status = agent.degrades(SOON)
    assert 'content mismatch for file "/etc/issue"' in status["reason"]
    assert (status["findings"], status["exit"], status["current"]) == (1, 2, name)
    assert agent.managed() == edited
    found = agent.findings()
    assert (found["config"], found["text"]) == (name, status["reason"])
    drift = found["findings"][0]
    assert drift["about"] == "/etc/issue" and drift["writtenBy"] == ["50-all"]
    assert "+someone else's" in drift["difference"]
    assert [command.split()[1] for command in drift["remedies"]] == ["restore", "adopt", "ignore"]
    assert agent.node.run("stat", "--format=%a", FINDINGS).stdout == "600\n"

    # A new config does not overwrite the edit.
    agent.write(f"{CONFIGS}/60-more.yaml", agent.run("adopt", "/etc/app/app.conf").stdout.replace("app.conf", "b.conf"))
    status = agent.awaits("the agent has a new goal", lambda status: status["desired"] != name)
    agent.degrades()
    assert agent.managed() == edited
    agent.node.run("rm", f"{CONFIGS}/60-more.yaml")
    agent.awaits("the agent has a new goal", lambda status: status["desired"] == name)

    agent.run("restore", "--policy", "/etc/pintle/policy.json", "/etc/issue")
    agent.settles(name)
    assert difference(wanted, agent.managed()) == {}
    assert agent.findings()["findings"] == []

    # Writing the right contents by hand repairs the file as well.
    agent.write("/etc/issue", "again")
    agent.degrades(SOON)
    agent.write("/etc/issue", "ours")
    agent.settles(name)


def test_a_change_that_needs_a_reboot_is_confirmed_after_it(agent):
    agent.write("/etc/pintle/policy.json", {})
    agent.node.run("mkdir", "--parents", CONFIGS)
    agent.write("/etc/pintle/new", config())
    agent.node.run("mv", "/etc/pintle/new", CONFIG)
    agent.node.follow_reboot()
    assert agent.settles().startswith("rendered-local-")
    assert agent.read("/etc/issue") == "ours"
    assert agent.node.run("systemctl", "is-active", "app.service").stdout == "active\n"


def test_an_adopted_edit_is_kept(agent):
    agent.becomes(config())
    agent.write("/etc/issue", "kept")
    agent.degrades()
    adopted = agent.run("adopt", "/etc/issue").stdout
    rule = "type='signal',path='/io/pintle/Agent1',interface='org.freedesktop.DBus.Properties'"
    with BackgroundProgram(agent.node, "busctl", "--json=short", "monitor", f"--match={rule}") as monitor:
        wait_until(lambda: any("Monitoring" in line for line in monitor.lines), "the monitor runs", PATIENCE)
        agent.write(f"{CONFIGS}/99.yaml", adopted)
        agent.settles()
        wait_until(lambda: any('"settled"' in line for line in monitor.lines), "the monitor has the last signal", PATIENCE)
        lines = list(monitor.lines)
    assert agent.read("/etc/issue") == "kept"
    # Each published status that reports the phase `settled` has no finding.
    status = {"Findings": 1}
    for line in lines:
        if line.startswith("{"):
            status |= {name: value["data"] for name, value in json.loads(line)["payload"]["data"][1].items()}
            assert status.get("Phase") != "settled" or status["Findings"] == 0
    assert status["Phase"] == "settled"


def test_a_broken_config_is_reported_and_changes_nothing(agent):
    name = agent.becomes(config())
    wanted = agent.managed()
    agent.write(f"{CONFIGS}/60-broken.json", '{"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "a"}]}}')
    status = agent.degrades()
    assert "60-broken.json" in status["reason"] and "path not absolute" in status["reason"]
    assert (status["current"], status["exit"]) == (name, 2)
    assert agent.managed() == wanted
    assert agent.journal().count("60-broken.json") == 1
    # The agent still watches the present config.
    agent.write("/etc/issue", "edited")
    agent.awaits("the edit is found", lambda status: "content mismatch" in status["reason"], SOON)
    agent.write("/etc/issue", "ours")
    agent.awaits("only the broken config is reported", lambda status: "60-broken.json" in status["reason"])

    agent.node.run("systemctl", "restart", "pintled.service")
    assert "60-broken.json" in agent.degrades()["reason"]
    agent.node.run("rm", f"{CONFIGS}/60-broken.json")
    agent.settles(name)
    assert agent.managed() == wanted


def test_an_unreadable_directory_removes_no_config(agent):
    name = agent.becomes(config())
    wanted = agent.managed()
    run = agent.node.run
    run("mv", CONFIGS, "/srv/configs")
    run("ln", "--symbolic", "/srv/mounted/configs", CONFIGS)
    status = agent.degrades()
    assert "its target does not exist" in status["reason"] and status["current"] == status["desired"] == name
    # After a boot, the agent may start before the file system with the configs is mounted.
    run("systemctl", "restart", "pintled.service")
    assert agent.degrades()["current"] == name
    assert difference(wanted, agent.managed()) == {}
    # The agent still watches the present config.
    agent.write("/etc/issue", "edited")
    agent.awaits("the edit is found", lambda status: "content mismatch" in status["reason"])
    agent.write("/etc/issue", "ours")
    run("mkdir", "/srv/mounted")
    run("mv", "/srv/configs", "/srv/mounted/configs")
    agent.settles(name)
    assert difference(wanted, agent.managed()) == {}


def test_entries_that_are_no_files_are_skipped_and_files_that_others_may_write_are_refused(agent):
    agent.node.run("mkdir", "--parents", CONFIGS)
    agent.node.run("mkfifo", f"{CONFIGS}/10-pipe.yaml")
    agent.node.run("ln", "--symbolic", "someone@host.1:2", f"{CONFIGS}/.#50-all.ign")
    name = agent.becomes(config())
    assert f"{CONFIGS}/10-pipe.yaml is a pipe" in agent.run("status").stdout
    assert agent.journal().count("10-pipe.yaml is a pipe") == 1

    agent.node.run("chmod", "g+w", CONFIG)
    status = agent.degrades()
    assert f"{CONFIG} is not used" in status["reason"] and status["current"] == status["desired"] == name
    agent.node.run("chmod", "g-w", CONFIG)
    agent.settles(name)

    agent.node.run("rm", f"{CONFIGS}/10-pipe.yaml")
    status = agent.awaits("the pipe is gone", lambda status: len(status["warnings"]) == 1)
    assert f"every user may read {CONFIG}, which has the contents of /etc/app/app.conf" in status["warnings"][0]
    agent.node.run("chmod", "go-r", CONFIG)
    agent.awaits("there are no warnings", lambda status: status["warnings"] == [])


def test_a_change_that_fails_is_undone_and_reported(agent):
    name = agent.becomes(config())
    wanted = agent.managed()
    agent.write(CONFIG, config(settings="bad", greeting="other"))
    status = agent.awaits("the change fails",
                          lambda status: "restarting app.service service failed" in status["reason"])
    assert status["desired"] != status["current"] == name
    assert agent.node.run("systemctl", "is-active", "app.service").stdout == "active\n"
    agent.write(CONFIG, config())
    agent.settles(name)
    assert difference(wanted, agent.managed()) == {}


def test_a_pause_holds_changes_and_names_them(agent):
    name = agent.becomes(config())
    agent.run("pause")
    assert agent.node.run("test", "-e", "/etc/pintle/paused", check=False).returncode == 0
    agent.write(CONFIG, config(greeting="other"))
    status = agent.awaits("the change waits", lambda status: status["phase"] == "paused")
    assert "the change to rendered-local-" in status["next"] and status["current"] == status["desired"] == name
    assert agent.read("/etc/issue") == "ours"
    # The agent changes nothing when it starts, either.
    agent.node.run("systemctl", "restart", "pintled.service")
    agent.awaits("the change waits", lambda status: status["phase"] == "paused" and status["current"] == name)
    assert agent.read("/etc/issue") == "ours"
    # A pause does not hold the config that the machine has already.
    agent.write(CONFIG, config())
    agent.settles(name)
    agent.write(CONFIG, config(greeting="other"))
    agent.awaits("the change waits", lambda status: status["phase"] == "paused")
    agent.run("resume")
    agent.awaits("the change begins", lambda status: status["desired"] != name)
    agent.settles()
    assert agent.read("/etc/issue") == "other"


class GateServer(LoopbackServer):
    """A server with an answer that can be changed, and the requests so far."""

    def __init__(self):
        super().__init__(GateHandler)
        self.status, self.requests = 503, []

    def gate(self, path="/done", **more):
        return {"name": "backup", "when": "Before", "http": {"url": f"http://{self.host}{path}"}, **more}


class GateHandler(Handler):
    def do_GET(self):
        self.server.requests.append(self.path)
        self.respond(self.server.status)


@pytest.fixture
def gate_server():
    with GateServer() as server:
        yield server


def test_a_change_waits_for_a_gate_and_names_it(gate_server):
    rollout = "/etc/pintle/rollout.yaml"

    def write_gate(gate):
        agent.write("/etc/pintle/new", {"kind": "RolloutPolicy", "spec": {"gates": [gate]}})
        agent.node.run("mv", "/etc/pintle/new", rollout)

    def waits(text):
        return agent.awaits(f"the change waits: {text}",
                            lambda status: status["phase"] == "paused" and text in status["next"])

    with Node(plain=True, network="host") as node:
        agent = Agent(node)
        before = agent.read("/etc/issue")
        write_gate(gate_server.gate("/done?token=s3cret"))
        node.run("mkdir", "--parents", CONFIGS)
        agent.write(CONFIG, config())
        status = waits("the server answers 503")
        assert re.fullmatch(r"the change to rendered-local-\w+ waits: gate backup is not met: the server answers 503; it has "
                            r"not been met since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", status["next"])
        assert (status["state"], status["exit"]) != ("Degraded", 2)
        assert status["next"] in agent.run("status").stdout and status["next"] in agent.journal()
        # The agent changes nothing when it starts, either.
        node.run("systemctl", "restart", "pintled.service")
        waits("the server answers 503")
        assert agent.read("/etc/issue") == before
        gate_server.status = 204
        first = agent.settles()
        assert first.startswith("rendered-local-") and agent.read("/etc/issue") == "ours"
        assert set(gate_server.requests) == {"/done?token=s3cret"}

        # While no change waits, the agent asks no gate.  `pintle apply` ignores gates, as it ignores windows.
        gate_server.status = 503
        gate_server.requests.clear()
        node.run("systemctl", "restart", "pintled.service")
        agent.settles(first)
        assert gate_server.requests == []
        agent.write(CONFIG, config(greeting="other"))
        waits("the server answers 503")
        assert agent.read("/etc/issue") == "ours"
        agent.apply(config(greeting="other"))
        second = agent.settles()
        assert second != first and agent.read("/etc/issue") == "other"

        # A server that is down does not meet a gate.  After the timeout, a person has to act.
        write_gate({**gate_server.gate(timeout="2s", onTimeout="Halt"), "http": {"url": "http://127.0.0.1:1/s3cret"}})
        agent.write(CONFIG, config(greeting="third"))
        status = agent.awaits("the change is halted", lambda status: "is halted" in status["reason"])
        assert (status["state"], status["exit"], status["current"]) == ("Degraded", 2, second)
        assert "gate backup is not met: cannot connect to 127.0.0.1:1: " in status["reason"]
        assert "its timeout of 2 seconds has passed" in status["reason"] and f"remove the gate from {rollout}" in status["reason"]
        assert agent.read("/etc/issue") == "other"

        # Nothing is changed either while the gates cannot be read.
        write_gate({"name": "ready", "when": "Before", "nodeCondition": {"type": "Ready"}})
        status = agent.degrades()
        assert f"{rollout}: spec.gates[0].nodeCondition is about a Node" in status["reason"]
        assert agent.read("/etc/issue") == "other"
        node.run("rm", rollout)
        agent.awaits("the change begins", lambda status: status["desired"] != second)
        agent.settles()
        assert agent.read("/etc/issue") == "third"
        assert "s3cret" not in agent.journal()


def test_an_ignored_finding_does_not_count_until_its_time_is_over(agent):
    name = agent.becomes(config())
    agent.write("/etc/issue", "mine")
    agent.degrades(SOON)
    agent.run("ignore", "/etc/issue", "--until", "2h")
    agent.settles(name)
    assert agent.read("/etc/issue") == "mine"
    assert "ignoredUntil" in agent.findings()["findings"][0]
    output = agent.run("verify").stdout
    assert "except for the things that are ignored" in output and "ignored until" in output
    assert "/etc/issue is ignored until" in agent.run("ignore").stdout
    # A config that changes something else leaves the edit alone; a config that changes the file is refused.
    other = agent.becomes(config(key=KEY + " again", units=[MASK]) | {"systemd": config()["systemd"]})
    assert other != name and agent.read("/etc/issue") == "mine"
    agent.write(CONFIG, config(greeting="newer"))
    agent.awaits("the agent refuses the change",
                 lambda status: 'content mismatch for file "/etc/issue"' in status["reason"])
    assert agent.read("/etc/issue") == "mine"
    agent.write(CONFIG, config())
    agent.settles()

    agent.run("ignore", "--end", "/etc/issue")
    agent.degrades(SOON)
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=5)
    agent.run("ignore", "/etc/issue", "--until", end.strftime("%Y-%m-%dT%H:%M:%SZ"))
    agent.settles()
    agent.degrades()
    assert time.time() >= int(end.timestamp())
