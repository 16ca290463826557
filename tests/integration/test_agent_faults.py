# SPDX-License-Identifier: Apache-2.0
"""Tests the agent while everything around it fails: it reaches the wanted state, without additional reboots."""

import datetime
import os
import random
import time

import pytest

from machines import agent_node
from machines.agent_node import AnnotationHistory, DrainController, create_rendered
from machines.faulty_proxy import FaultyProxy
from machines.installed import file, machine_config
from machines.node import BUILD_ON_MACHINE
from machines.wait import wait_until

# The nightly run takes longer.
OUTAGE = 600 if "PINTLE_NIGHTLY" in os.environ else 20  # Seconds.
KILLS = int(os.environ.get("PINTLE_AGENT_KILLS", "100" if "PINTLE_NIGHTLY" in os.environ else "20"))
SEED = int(os.environ.get("PINTLE_SEED", "1"))


@pytest.fixture
def cluster():
    with agent_node.agent_cluster() as cluster:
        yield cluster


def live(node, number):
    """Creates a config that needs no reboot."""
    return create_rendered(node.cluster, f"rendered-{node.name}-{number}",
                           machine_config([file("/etc/live/a", str(number)), file("/etc/live/b", str(number))])["spec"])


def rebooting(node, number):
    """Creates a config that needs a reboot."""
    return create_rendered(node.cluster, f"rendered-{node.name}-{number}",
                           machine_config([file("/etc/a", str(number))])["spec"])


def settle_in(node):
    first = live(node, 0)
    node.annotate(desiredConfig=first)
    node.start()
    node.wait_done(first)
    return first


def pid_of(node, other_than=0):
    """Returns the process ID of the agent.  systemd may report that of a killed agent for a moment."""
    return wait_until(lambda: (pid := _main_pid(node)) not in (0, other_than) and pid, "the agent runs", 60)


def _main_pid(node):
    return int(node.run("systemctl", "show", "--property=MainPID", "--value", "pintled").stdout)


def test_the_api_server_goes_and_comes_back(cluster, new_node):
    node = new_node()
    first = settle_in(node)
    # Without the API server, the agent still watches the machine.
    cluster.stop_apiserver()
    node.run("sh", "-c", "echo mine >/etc/live/a")
    wait_until(lambda: node.status()["state"] == "Degraded", "it is degraded, without the API server", 30)
    cluster.start_apiserver()
    node.wait_for(state="Degraded", currentConfig=first)
    cluster.stop_apiserver()
    node.run("sh", "-c", "printf 0 >/etc/live/a")
    wait_until(lambda: node.status()["state"] == "Done", "it is done, without the API server", 30)
    cluster.start_apiserver()
    node.wait_done(first)
    # A config that is set during the outage is applied afterwards.
    second = live(node, 1)
    node.annotate(desiredConfig=second)
    cluster.stop_apiserver()
    cluster.start_apiserver()
    node.wait_done(second, 120)
    assert node.read("/etc/live/a") == "1"


def test_the_api_server_is_killed_again_and_again(cluster, new_node):
    """Takes ten minutes in the nightly run."""
    node = new_node()
    settle_in(node)
    until = time.monotonic() + OUTAGE
    number = 0
    while time.monotonic() < until:
        number += 1
        config = live(node, number)
        node.annotate(desiredConfig=config)
        cluster.stop_apiserver()
        cluster.start_apiserver()
    node.wait_done(config, 120)
    assert [node.read(f"/etc/live/{name}") for name in "ab"] == [str(number)] * 2
    print(f"killed {number} times")


def test_answers_that_are_errors_and_watches_that_end(cluster, new_node):
    """Three of ten requests fail, each in one of five ways, and no watch lasts longer than a second."""
    node = new_node()
    settle_in(node)
    with FaultyProxy(cluster, node.user, seed=SEED) as proxy, DrainController(cluster), \
            AnnotationHistory(cluster) as history:
        node.run("tee", agent_node.KUBECONFIG, input=proxy.kubeconfig())
        node.run("systemctl", "restart", "pintled.service")
        for number in range(1, 11):
            config = live(node, number)
            node.annotate(desiredConfig=config)
            node.wait_done(config, 120)
            assert node.read("/etc/live/a") == str(number)
        config = rebooting(node, 11)
        node.annotate(desiredConfig=config)
        node.machine.follow_reboot(180)
        node.wait_done(config, 180)
        # If the agent cannot write the report of the reboot for some time, it reboots without the report.
        assert reboots_asked_for(history, node) <= 1
        print(proxy.faults)
        assert len(proxy.faults) == 5


def test_etcd_stops_for_a_while(cluster, new_node):
    node = new_node()
    settle_in(node)
    cluster.stop_etcd()
    # The agent has something to write.
    node.run("sh", "-c", "echo mine >/etc/live/a")
    wait_until(lambda: node.status()["state"] == "Degraded", "it is degraded, without etcd", 60)
    # Without etcd, the API server answers a write after half a minute.
    wait_until(lambda: f"patching Node {node.name}: " in node.log(), lambda: f"a write fails: {node.log()}", 120)
    node.run("sh", "-c", "printf 0 >/etc/live/a")
    cluster.start_etcd()
    second = live(node, 1)
    node.annotate(desiredConfig=second)
    node.wait_done(second, 120)


def test_the_agent_is_killed_at_random_instants(cluster, new_node):
    """Each kill is soon after a new config was set; afterwards the machine is whole and has this config."""
    node = new_node()
    settle_in(node)
    node.run("mkdir", "--parents", "/etc/systemd/system/pintled.service.d")
    node.run("tee", "/etc/systemd/system/pintled.service.d/at-once.conf",
             input="[Service]\nRestartSec=0\n")
    node.run("systemctl", "daemon-reload")
    generator = random.Random(SEED)
    boot = node.read("/proc/sys/kernel/random/boot_id")
    pid = 0
    for number in range(1, KILLS + 1):
        config = live(node, number)
        pid = pid_of(node, other_than=pid)
        node.annotate(desiredConfig=config)
        node.run("sh", "-c", f"sleep {generator.uniform(0, 0.25):.3f}; kill -KILL {pid}")
        node.wait_done(config)
        assert [node.read(f"/etc/live/{name}") for name in "ab"] == [str(number)] * 2, f"seed {SEED}, kill {number}"
        node.pintle("verify")
    assert node.read("/proc/sys/kernel/random/boot_id") == boot
    assert node.pintle("recover") == "Nothing was cut short.\n"


def run_until_done(node, config):
    """Lets the node reboot as often as it needs until it has the config."""
    def is_done():
        if not node.machine.running:
            node.machine.follow_reboot()
        have = node.annotations()
        return (have.get("state"), have.get("currentConfig")) == ("Done", config)
    wait_until(is_done, f"{node.name} has {config}", 180, every=0.1)


def reboots_asked_for(history, node):
    history.catch_up(node.name)
    return [value for value, in history.of(node.name, "post-config-action")].count("Rebooting")


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "ostree"])
def test_power_cuts_during_an_update_with_a_reboot(cluster, new_node, plain):
    """Wherever the power is cut, the update is completed, without additional reboots."""
    node = new_node(plain=plain)
    settle_in(node)
    generator, killed = random.Random(SEED), 0
    with DrainController(cluster) as controller:
        for number in range(1, 4):
            config = rebooting(node, number)
            with AnnotationHistory(cluster) as history:
                wait_until(lambda: history.of(node.name, "state"), f"the watch has seen {node.name}", 60)
                node.annotate(desiredConfig=config)
                cut = generator.uniform(0, 2)
                killed += node.machine.kill_after(cut)
                # If the power cut came before the new deployment was finalized, the node needs another reboot.
                before_the_cut = reboots_asked_for(history, node)
                node.machine.start()
                run_until_done(node, config)
                all_requests = reboots_asked_for(history, node)
                print(f"cut after {cut:.2f} s: {before_the_cut} reboots asked for before, {all_requests} altogether")
                assert all_requests <= 1 + before_the_cut, f"seed {SEED}, cut {number} after {cut} s"
            assert node.read("/etc/a") == str(number)
            node.pintle("verify")
        assert controller.requests[-1] == (node.name, f"uncordon-{config}")
    assert killed > 0, "each update had ended before its power cut"


def test_the_agent_waits_for_a_desired_config_that_does_not_exist_yet(cluster, new_node):
    node = new_node()
    first = settle_in(node)
    name = f"rendered-{node.name}-1"
    node.annotate(desiredConfig=name)
    have = node.wait_for(state="Degraded")
    assert f'"{name}" not found' in have["reason"] and have["currentConfig"] == first
    live(node, 1)
    node.wait_done(name, 120)


def test_the_agent_continues_once_its_kubeconfig_is_correct_again(cluster, new_node):
    node = new_node()
    settle_in(node)
    good = node.read(agent_node.KUBECONFIG)
    node.run("sh", "-c", f"echo nonsense >{agent_node.KUBECONFIG}")
    second = live(node, 1)
    node.annotate(desiredConfig=second)
    wait_until(lambda: f"reading the config {second}: " in node.log() and agent_node.KUBECONFIG in node.log(),
               lambda: f"the agent cannot read the config: {node.log()}", 60)
    node.run("tee", agent_node.KUBECONFIG, input=good)
    node.wait_done(second, 120)


class Clock:
    """Sets the wall clock that one node's agent sees, by a preloaded library.  All nodes share the clock of their host.
    """

    DAY = 24 * 3600    # Seconds.

    def __init__(self, node):
        self._node = node
        self.set(0)
        node.run("mkdir", "--parents", "/etc/systemd/system/pintled.service.d")
        node.run("tee", "/etc/systemd/system/pintled.service.d/clock.conf", input=(
            f"[Service]\nEnvironment=LD_PRELOAD={BUILD_ON_MACHINE}/tests/integration/wall-clock.so\n"
            "Environment=PINTLE_WALL_CLOCK=/run/clock\n"))
        node.run("systemctl", "daemon-reload")
        node.run("systemctl", "restart", "pintled.service")

    def set(self, days):
        """Sets how many days the agent's clock is ahead of the host's clock."""
        self._node.run("sh", "-c", f"echo {days * self.DAY} >/run/clock.new && mv /run/clock.new /run/clock")

    def days_ahead(self):
        """Makes the agent take a look, and returns how many days its clock is ahead, from the time of this look."""
        self._node.run("touch", "/etc/live/a")
        since = datetime.datetime.fromisoformat(self._node.status()["since"].replace("Z", "+00:00"))
        return round((since - datetime.datetime.now(datetime.timezone.utc)) / datetime.timedelta(days=1))


def test_the_clock_jumps(cluster, new_node):
    node = new_node()
    settle_in(node)
    clock = Clock(node)
    number = 0
    # The clock jumps a day forward and back in the middle of a change.
    for days in (1, 0, -1, 0):
        number += 1
        config = live(node, number)
        node.annotate(desiredConfig=config)
        clock.set(days)
        node.wait_done(config)
        assert [node.read(f"/etc/live/{name}") for name in "ab"] == [str(number)] * 2
        wait_until(lambda days=days: clock.days_ahead() == days, "the node's clock is at that time", 30)
    settled = config
    # The clock jumps while the agent waits for its drain: the drain does not time out, and the answer still counts.
    with DrainController(cluster, answers=False) as controller:
        wanted = rebooting(node, number + 1)
        node.annotate(desiredConfig=wanted)
        node.wait_for(desiredDrain=f"drain-{wanted}")
        for days in (1, -1, 0):
            clock.set(days)
            node.run("touch", "/etc/live/a")
            # The agent answers after it has begun the look, and again after a turn of its loop.
            assert [node.status()["phase"] for _ in range(2)] == ["draining"] * 2
        assert node.annotations()["state"] == "Working"
        node.annotate(desiredConfig=settled)
        node.wait_for(desiredDrain=f"uncordon-{settled}")
        node.annotate(lastAppliedDrain=f"uncordon-{settled}")
        node.wait_done(settled)
        # The clock also differs between the request and the answer.
        clock.set(1)
        node.annotate(desiredConfig=wanted)
        wait_until(lambda: controller.requests[-1:] == [(node.name, f"drain-{wanted}")], "the drain is requested", 30)
        controller.answers = True
        clock.set(-1)
        node.annotate(lastAppliedDrain=f"drain-{wanted}")
        node.machine.follow_reboot(120)
        node.wait_done(wanted, 120)
    events = cluster.get("events", "--namespace", agent_node.MCO_NAMESPACE)["items"]
    assert not [event for event in events if event["reason"] == "FailedToDrain"]


def test_certificates_that_are_not_yet_valid_are_accepted_once_the_clock_is_corrected(cluster, new_node):
    node = new_node()
    settle_in(node)
    clock = Clock(node)
    second = live(node, 1)
    clock.set(-400)
    cluster.stop_apiserver()
    cluster.start_apiserver()
    node.annotate(desiredConfig=second)
    wait_until(lambda: "not yet valid" in node.log(), "the agent logs the wrong time of the certificate", 30)
    assert node.read("/etc/live/a") == "0"
    clock.set(0)
    node.wait_done(second, 120)
