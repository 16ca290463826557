# SPDX-License-Identifier: Apache-2.0
"""Tests the agent's interface on the system bus of a real node, and the verbs that use it."""

import contextlib
import itertools
import json
import pathlib

import pytest

from machines import programs
from machines.background_program import BackgroundProgram
from machines.node import BUILD_ON_MACHINE, Node
from machines.wait import wait_until

PROBE = f"{BUILD_ON_MACHINE}/tests/integration/agent-bus-probe"
PINTLE = programs.on_machine("pintle")
POLICY = pathlib.Path(__file__).parents[2] / "systemd/io.pintle.Agent1.conf"
PLACE = ["io.pintle.Agent1", "/io/pintle/Agent1"]
AGENT = [*PLACE, "io.pintle.Agent1"]
PROPERTIES = [*PLACE, "org.freedesktop.DBus.Properties"]
DENIED = "Error org.freedesktop.DBus.Error.AccessDenied:"
DBUS = ["org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"]
LOGIND = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"]
PATIENCE = 60
LOGINS = itertools.count()

# This policy lets the probe take polkit's name.
POLKIT_POLICY = """<busconfig><policy user="root"><allow own="org.freedesktop.PolicyKit1"/></policy>
<policy context="default"><allow send_destination="org.freedesktop.PolicyKit1"/></policy></busconfig>"""

STATUS = {
    "source": "kubernetes", "node": "worker-0", "current": "rendered-worker-1", "desired": "rendered-worker-2",
    "desiredImage": "quay.io/os@sha256:1", "state": "Working", "reason": "", "phase": "draining",
    "since": "2026-11-21T05:41:43Z", "doing": "waiting for the drain", "next": "the reboot, once the node is drained",
    "findings": 0, "warnings": [],
}
SETTLED = {**STATUS, "current": "rendered-worker-2", "state": "Done", "phase": "settled", "doing": "", "next": ""}
TYPES = {"findings": "u", "warnings": "as"}


class Agent(BackgroundProgram):
    """The probe, which serves the agent's interface on the bus."""

    def __init__(self, node, *words, before=()):
        super().__init__(node, *before, PROBE, "serve", *words)
        self._published = 0

    def __enter__(self):
        super().__enter__()
        self.awaits("serving")
        return self

    def publish(self, status):
        self.write(json.dumps(status) + "\n")
        self._published += 1
        self.awaits("published", self._published)


@pytest.fixture(scope="module")
def node():
    with Node(plain=True) as machine:
        machine.run("tee", "/etc/dbus-1/system.d/io.pintle.Agent1.conf", input=POLICY.read_text())
        machine.run("systemctl", "reload", "dbus.service")
        machine.run("useradd", "--create-home", "core")
        yield machine


@pytest.fixture
def agent(node):
    with Agent(node) as begun:
        await_agent(node)
        begun.publish(STATUS)
        yield begun


def ask(node, *words, user="root", check=True):
    return node.run("runuser", "-u", user, "--", "busctl", "--json=short", *words, check=check)


def await_agent(node, *options):
    """Waits until the agent has its name on the bus."""
    wait_until(lambda: ask(node, *options, "call", *AGENT[:2], "org.freedesktop.DBus.Peer", "Ping",
                           check=False).returncode == 0, "the agent is on the bus", PATIENCE)


def properties(node, *options, user="root"):
    answer = ask(node, *options, "call", *PROPERTIES, "GetAll", "s", AGENT[2], user=user)
    return json.loads(answer.stdout)["data"][0]


def order(node, name, user="root"):
    """Sends the agent an order; returns the error, or ""."""
    return ask(node, "call", *AGENT, name, user=user, check=False).stderr.strip()


def refusal(node, name, user="nobody"):
    """Returns the whole error of an answer; busctl replaces some errors by its own words."""
    answer = node.run("runuser", "-u", user, "--", "dbus-send", "--system", "--print-reply", f"--dest={AGENT[0]}",
                      AGENT[1], f"{AGENT[2]}.{name}", check=False)
    assert answer.returncode == 1
    return answer.stderr.strip()


def pintle(node, *words, status=0, user="root"):
    answer = node.run("runuser", "-u", user, "--", PINTLE, *words, check=False)
    assert answer.returncode == status, (answer.stdout, answer.stderr)
    return answer


def property_name(field):
    return field[0].upper() + field[1:]


def test_each_field_is_a_property_that_anyone_may_read(node, agent):
    wanted = {property_name(field): {"type": TYPES.get(field, "s"), "data": value}
              for field, value in {**STATUS, "currentImage": "", "leftAside": ""}.items()}
    assert properties(node) == properties(node, user="nobody") == wanted
    answer = ask(node, "get-property", *AGENT, "Phase", user="nobody")
    assert json.loads(answer.stdout) == {"type": "s", "data": "draining"}


def test_methods_signals_and_properties_are_described(node, agent):
    description = ask(node, "--json=off", "introspect", *PLACE, "io.pintle.Agent1", user="nobody").stdout
    lines = {line.split()[0]: line.split()[1:] for line in description.splitlines()[1:]}
    methods = [name for name, words in lines.items() if words[0] == "method"]
    assert methods == [".Check", ".ListLogins", ".Pause", ".Resume", ".Retry"]
    assert lines[".StateChanged"][:2] == ["signal", "ss"] and lines[".Progress"][:2] == ["signal", "s"]
    assert lines[".LoginsChanged"][0] == "signal"
    of_fields = {f".{property_name(field)}" for field in (*STATUS, "currentImage", "leftAside")}
    assert {name for name, words in lines.items() if words[0] == "property"} == of_fields
    assert all(lines[name][-1] == "emits-change" for name in of_fields)


def test_changes_of_the_status_are_signalled(node, agent):
    rule = "type='signal',path='/io/pintle/Agent1'"
    with BackgroundProgram(node, "busctl", "--json=short", "monitor", f"--match={rule}") as monitor:
        wait_until(lambda: any("Monitoring" in line for line in monitor.lines), "the monitor runs", PATIENCE)
        agent.publish(STATUS)  # Nothing has changed, so there is no signal.
        agent.publish({**STATUS, "doing": "evicting pods", "findings": 1})
        agent.publish({**STATUS, "doing": "evicting pods", "findings": 1, "state": "Degraded", "reason": "no \x1f"})
        wait_until(lambda: len(signals_in(monitor)) >= 4, "signals come", PATIENCE)
        changed, progress, degraded, state = signals_in(monitor)
    assert changed == ("PropertiesChanged", [AGENT[2], {"Doing": {"type": "s", "data": "evicting pods"},
                                                        "Findings": {"type": "u", "data": 1}}, []])
    assert progress == ("Progress", ["evicting pods"])
    assert degraded[1][1] == {"State": {"type": "s", "data": "Degraded"}, "Reason": {"type": "s", "data": "no \\x1F"}}
    assert state == ("StateChanged", ["Degraded", "no \\x1F"])


def signals_in(monitor):
    messages = [json.loads(line) for line in monitor.lines if line.startswith("{")]
    return [(message["member"], message["payload"]["data"]) for message in messages]


def test_orders_of_root_are_carried_out(node, agent):
    for name in "Check", "Retry", "Pause", "Resume":
        assert order(node, name) == ""
        agent.awaits(name.lower())


def test_the_reason_of_a_failed_order_is_returned(node):
    with Agent(node, "a cluster says that") as agent:
        await_agent(node)
        assert order(node, "Pause") == "Call failed: a cluster says that"
        assert refusal(node, "Pause", "root") == "Error io.pintle.Error.Failed: a cluster says that"
        assert pintle(node, "pause", status=1).stderr == "pintle: pause: the agent: a cluster says that\n"
        assert pintle(node, "resume", status=1).stderr == "pintle: resume: the agent: a cluster says that\n"
        agent.awaits("resume")


def test_without_polkit_only_root_gives_orders(node, agent):
    for name in "Check", "Retry", "Pause", "Resume":
        assert refusal(node, name).startswith(f"{DENIED} only root may do this, since polkit does not answer: ")
        assert name.lower() not in agent.lines
    assert "only root" in pintle(node, "pause", status=1, user="nobody").stderr
    assert order(node, "Check") == ""


def test_polkit_decides_about_users_other_than_root(node, agent):
    node.run("tee", "/etc/dbus-1/system.d/polkit.conf", input=POLKIT_POLICY)
    node.run("systemctl", "reload", "dbus.service")
    with BackgroundProgram(node, PROBE, "polkit", "no") as polkit:
        polkit.awaits("serving")
        assert refusal(node, "Retry") == f"{DENIED} polkit does not allow you to do this (io.pintle.agent.retry)"
        polkit.awaits("system-bus-name name io.pintle.agent.retry 0")
        assert order(node, "Check") == "" and len(polkit.lines) == 2, "polkit is not asked about root"
    wait_until(lambda: "polkit does not answer" in refusal(node, "Retry"), "polkit is gone", PATIENCE)
    with BackgroundProgram(node, PROBE, "polkit", "yes") as polkit:
        polkit.awaits("serving")
        for name, action in ("Check", "check"), ("Retry", "retry"), ("Pause", "pause"), ("Resume", "pause"):
            assert order(node, name, user="nobody") == ""
            polkit.awaits(f"system-bus-name name io.pintle.agent.{action} 1", times=2 if name == "Resume" else 1)
            agent.awaits(name.lower())
        pintle(node, "pause", user="nobody")
        agent.awaits("pause", times=2)


@contextlib.contextmanager
def polkit_that_waits(node):
    """Replaces polkit by a probe that never answers, as if polkit waited for a password."""
    node.run("tee", "/etc/dbus-1/system.d/polkit.conf", input=POLKIT_POLICY)
    node.run("systemctl", "reload", "dbus.service")
    with BackgroundProgram(node, PROBE, "polkit", "wait") as polkit:
        polkit.awaits("serving")
        yield polkit
    wait_until(lambda: "polkit does not answer" in refusal(node, "Retry", "daemon"), "polkit is gone", PATIENCE)


def waiting_orders(node, user, connections, calls):
    """Runs the probe as a user whose orders wait for their answers: this many orders on each of the connections."""
    return BackgroundProgram(node, "runuser", "-u", user, "--", PROBE, "hold", str(connections), str(calls))


CHECK_ASKED = "system-bus-name name io.pintle.agent.check 0"
TOO_MANY = "org.freedesktop.DBus.Error.LimitsExceeded"


def orders_of_root_go_through(node, agent):
    for name in "Check", "Retry", "Pause", "Resume":
        before = agent.lines.count(name.lower())
        assert order(node, name) == ""
        agent.awaits(name.lower(), times=before + 1)
    pintle(node, "status")
    pintle(node, "retry")


@pytest.mark.parametrize("connections,calls", [(1, 120), (40, 3)])
# A user may have 4 open orders, kPlacesOfUser in src/agent/callers.h.
def test_a_user_who_has_reached_the_limit_of_open_orders_does_not_limit_others(node, agent, connections, calls):
    with polkit_that_waits(node) as polkit:
        for times in 1, 2:
            with waiting_orders(node, "nobody", connections, calls) as holder:
                holder.awaits(TOO_MANY, times=connections * calls - 4)
                polkit.awaits(CHECK_ASKED, times=5 * times - 1)
                orders_of_root_go_through(node, agent)
                with waiting_orders(node, "core", 1, 1):
                    polkit.awaits(CHECK_ASKED, times=5 * times)
                polkit.awaits("cancelled", times=5 * times - 4)
                assert holder.lines.count(TOO_MANY) == connections * calls - 4
            # When a connection is closed, its open orders no longer count.
            polkit.awaits("cancelled", times=5 * times)


def test_a_user_who_reads_no_answers_does_not_delay_root(node, agent):
    def kilobytes():
        pid = node.run("busctl", "call", *DBUS, "GetConnectionUnixProcessID", "s", AGENT[0]).stdout.split()[1]
        status = node.run("cat", f"/proc/{pid}/status").stdout.splitlines()
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

    before = kilobytes()
    with polkit_that_waits(node) as polkit:
        with BackgroundProgram(node, "runuser", "-u", "nobody", "--", PROBE, "deaf", "5000") as deaf:
            polkit.awaits(CHECK_ASKED, times=4)
            orders_of_root_go_through(node, agent)
            deaf.awaits("sent")
            orders_of_root_go_through(node, agent)
        polkit.awaits("cancelled", times=4)
    assert kilobytes() - before < 8_000


def test_nobody_but_root_can_be_the_agent(node):
    with Agent(node, before=("runuser", "-u", "nobody", "--")) as begun:
        wait_until(lambda: any("not on the system bus" in line for line in begun.lines),
                   "the agent logs that it is not on the bus", PATIENCE)
        assert ask(node, "call", *AGENT, "Check", check=False).returncode != 0


def test_the_agent_continues_after_a_restart_of_the_bus(node, agent):
    for _ in range(2):
        node.run("systemctl", "restart", "dbus.service")
        await_agent(node)
    assert properties(node)["Node"]["data"] == "worker-0"
    agent.publish(SETTLED)
    assert properties(node)["Phase"]["data"] == "settled"
    assert order(node, "Check") == ""
    agent.awaits("check")
    assert len([line for line in agent.lines if "not on the system bus" in line]) == 2
    assert len([line for line in agent.lines if line.endswith("on the system bus as io.pintle.Agent1")]) >= 2


def test_the_agent_works_without_a_bus_until_there_is_one(node):
    address = "unix:path=/run/late-bus"
    with Agent(node, before=("env", f"DBUS_SYSTEM_BUS_ADDRESS={address}")) as agent:
        wait_until(lambda: any("not on the system bus" in line for line in agent.lines),
                   "the agent logs that it is not on the bus", PATIENCE)
        agent.publish(STATUS)
        agent.publish(SETTLED)
        with BackgroundProgram(node, "dbus-daemon", "--config-file=/usr/share/dbus-1/system.conf",
                               f"--address={address}", "--nofork", "--nopidfile"):
            await_agent(node, f"--address={address}")
            assert properties(node, f"--address={address}")["Phase"]["data"] == "settled"
    node.run("rm", "-f", "/run/late-bus")


@contextlib.contextmanager
def login(node, user, host=None):
    """Simulates a login over SSH, from `host` if it is given.

    Without a host the login goes through PAM, so the session survives a restart of logind. With a host, the session is
    created through logind's bus interface. It has a process, but nothing keeps the session open as a real sshd does.
    """
    unit = f"login-{next(LOGINS)}.service"
    by_pam = [] if host else ["--property=PAMName=sshd", f"--property=User={user}"]
    node.run("systemd-run", "--collect", f"--unit={unit}", *by_pam, "sleep", "infinity")
    if host:
        create_session(node, unit, user, "sshd", host)
    try:
        yield
    finally:
        end_session(node, unit)


def create_session(node, unit, user, service, host):
    pid = node.run("systemctl", "show", "--property=MainPID", "--value", unit).stdout.strip()
    uid = node.run("id", "-u", user).stdout.strip()
    node.run("busctl", "call", *LOGIND, "CreateSession", "uusssssussbssa(sv)", uid, pid, service, "tty", "user", "", "",
             "0", "", "", "true" if host else "false", "", host or "", "0")


def end_session(node, unit):
    node.run("systemctl", "kill", unit, check=False)
    node.run("systemctl", "stop", unit, check=False)


@pytest.fixture
def nobody_logged_in(node):
    yield
    wait_until(lambda: not node.run("loginctl", "--no-legend", "list-sessions").stdout, "all are logged out", PATIENCE)


def logins(node):
    return json.loads(ask(node, "call", *AGENT, "ListLogins").stdout)["data"][0]


def test_only_root_can_read_who_logs_in(node, nobody_logged_in):
    with Agent(node) as agent, BackgroundProgram(node, "busctl", "--json=short", "monitor", "--match=type='signal'") as monitor:
        await_agent(node)
        wait_until(lambda: any("Monitoring" in line for line in monitor.lines), "the monitor runs", PATIENCE)
        agent.publish(STATUS)
        with BackgroundProgram(node, PINTLE, "status", "--watch", "-o", "json") as watch, login(node, "core", "10.0.0.1"):
            agent.awaits("login core from 10.0.0.1")
            wait_until(lambda: any("10.0.0.1" in line for line in watch.lines), "root sees it", PATIENCE)
            assert [host for _, host, _ in logins(node)] == ["10.0.0.1"]
            wait_until(lambda: any("LoginsChanged" in line for line in monitor.lines),
                       "the login is announced", PATIENCE)
        published = [line for line in monitor.lines if AGENT[1] in line]
        assert published and not any("10.0.0.1" in line for line in published)
        # The bus's policy forbids other users to read logins, and so does the agent.
        assert "10.0.0.1" not in str(properties(node, user="nobody"))
        assert "10.0.0.1" not in pintle(node, "status", "-o", "json", user="nobody").stdout
        assert refusal(node, "ListLogins").startswith(DENIED)
        policy = "/etc/dbus-1/system.d/io.pintle.Agent1.conf"
        node.run("tee", policy, input=POLICY.read_text().replace("<deny ", "<allow "))
        node.run("systemctl", "reload", "dbus.service")
        try:
            assert refusal(node, "ListLogins") == f"{DENIED} only root may do this"
        finally:
            node.run("tee", policy, input=POLICY.read_text())
            node.run("systemctl", "reload", "dbus.service")


def test_logins_over_ssh_are_seen(node, nobody_logged_in):
    with login(node, "core"), Agent(node) as agent:
        agent.awaits("login core from ")
        with login(node, "root", "10.0.0.1"):
            agent.awaits("login root from 10.0.0.1")
            agent.publish(STATUS)
            listed = logins(node)
            assert [(user, host) for user, host, _ in listed] == [("core", ""), ("root", "10.0.0.1")]
            assert all(when.endswith("Z") for _, _, when in listed)
        node.run("systemctl", "restart", "dbus.service")
        await_agent(node)
        with login(node, "core", "node-8"):
            agent.awaits("login core from node-8")
        assert len([line for line in agent.lines if line.startswith("login ")]) == 3, "nobody is seen twice"
        last_lines = pintle(node, "status").stdout.splitlines()[-3:]
        assert [line.split("Z ")[1] for line in last_lines] == ["core", "root from 10.0.0.1", "core from node-8"]


def test_other_sessions_are_not_reported(node, nobody_logged_in):
    with Agent(node) as agent:
        await_agent(node)
        node.run("systemd-run", "--collect", "--unit=local.service", "sleep", "infinity")
        create_session(node, "local.service", "core", "cron", None)
        with login(node, "core", "node-9"):
            agent.awaits("login core from node-9")
        end_session(node, "local.service")
        assert len([line for line in agent.lines if line.startswith("login ")]) == 1


def test_no_more_than_twenty_logins_are_kept(node, nobody_logged_in):
    with Agent(node) as agent:
        await_agent(node)
        for i in range(22):
            with login(node, "core", f"10.0.0.{i}"):
                agent.awaits(f"login core from 10.0.0.{i}")
        kept = [host for _, host, _ in logins(node)]
        assert len(kept) == 20 and kept[-1] == "10.0.0.21"


def test_status_prints_the_same_for_every_user(node, agent):
    for user in "root", "nobody":
        assert pintle(node, "status", user=user).stdout == """\
Node:     worker-0
Configs:  from the cluster
Current:  rendered-worker-1
Desired:  rendered-worker-2
          quay.io/os@sha256:1
State:    Working, draining since 2026-11-21T05:41:43Z
Doing:    waiting for the drain
Next:     the reboot, once the node is drained
Findings: none
"""


def test_status_in_json_has_everything(node, agent):
    assert json.loads(pintle(node, "status", "-o", "json", user="nobody").stdout) == {**STATUS, "running": True}
    assert json.loads(pintle(node, "status", "-o", "json").stdout) == {**STATUS, "running": True, "logins": []}


def test_the_exit_status_of_status_reports_problems(node, agent):
    agent.publish({**SETTLED, "findings": 3})
    assert "3; `pintle verify` lists them" in pintle(node, "status", status=2).stdout
    agent.publish({**SETTLED, "state": "Degraded", "phase": "degraded", "reason": "a disk is full"})
    assert "Reason:   a disk is full\n" in pintle(node, "status", status=2).stdout
    agent.publish(SETTLED)
    pintle(node, "status")


def test_without_an_agent_status_is_read_from_the_disk(node):
    assert pintle(node, "status").stdout == "No agent runs on this machine; it has no config.\n"
    assert "only root may see" in pintle(node, "status", user="nobody").stdout
    answer = json.loads(pintle(node, "status", "-o", "json").stdout)
    assert answer == {"running": False, "current": "mco-empty-mc"}
    assert json.loads(pintle(node, "status", "-o", "json", user="nobody").stdout) == {"running": False}


def test_watching_goes_on_while_the_agent_comes_and_goes(node):
    with BackgroundProgram(node, PINTLE, "status", "--watch", "-o", "json") as watch:
        def awaits(**wanted):
            wait_until(lambda: watch.lines and wanted.items() <= json.loads(watch.lines[-1]).items(),
                       lambda: f"{wanted} in {watch.lines}", PATIENCE)

        awaits(running=False)
        with Agent(node) as agent:
            awaits(running=True, phase="starting")
            agent.publish(STATUS)
            awaits(phase="draining")
            agent.publish(SETTLED)
            awaits(phase="settled", current="rendered-worker-2")
        awaits(running=False)
        with Agent(node):
            awaits(running=True)


def test_at_a_terminal_the_status_is_drawn_in_place_until_control_c(node, agent):
    with BackgroundProgram(node, "script", "--quiet", "--return", "--command", f"{PINTLE} status --watch", "/dev/null") as watch:
        def awaits(text):
            wait_until(lambda: any(text in line for line in watch.lines), lambda: f"{text} in {watch.lines}", PATIENCE)

        awaits("draining since")
        agent.publish(SETTLED)
        awaits("settled since")
        assert len([line for line in watch.lines if line.startswith("\x1b[H\x1b[JNode:")]) == 2
        watch.write("\x03")
        assert watch.wait() == 130


def test_watching_without_a_terminal_separates_statuses_by_empty_lines(node, agent):
    with BackgroundProgram(node, PINTLE, "status", "--watch") as watch:
        watch.awaits("Findings: none")
        agent.publish(SETTLED)
        watch.awaits("Findings: none", times=2)
        assert watch.lines.count("") == 1 and "\x1b" not in "".join(watch.lines)


def test_a_machine_without_an_agent_is_paused_by_a_file(node):
    paused = "/etc/pintle/paused"
    for _ in range(2):
        assert "until `pintle resume`" in pintle(node, "pause").stdout
        assert "pintle resume" in node.run("cat", paused).stdout
    assert "run it as root" in pintle(node, "resume", status=1, user="nobody").stderr
    for _ in range(2):
        pintle(node, "resume")
        assert node.run("test", "-e", paused, check=False).returncode == 1


def test_an_agent_that_runs_is_asked_to_pause_and_to_resume(node, agent):
    pintle(node, "pause")
    agent.awaits("pause")
    pintle(node, "resume")
    agent.awaits("resume")
    assert node.run("test", "-e", "/etc/pintle/paused", check=False).returncode == 1, "the command made the file"
