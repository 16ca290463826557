# SPDX-License-Identifier: Apache-2.0
"""Tests faults between a controller and the API server: the state at the end is the same as without faults, and at no
time are too many nodes being updated.
"""

import contextlib
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

import controller_stories as stories
from machines.cluster import Cluster
from machines.cluster_user import PatientUser
from machines.controller import Controller, Objects, account, prepare_cluster
from machines.deadly_proxy import kill_at_moments
from machines.kubelets import Kubelets
from machines.simulated_agents import SimulatedAgents
from machines.wait import wait_until
from machines.watching_proxies import LateWatches, UnreliableWatches

NIGHTLY = "PINTLE_NIGHTLY" in os.environ
SEED = int(os.environ.get("PINTLE_SEED", "1"))
LEASE = ("1s", "800ms", "200ms")    # This lease lets another replica take over soon.
SEEDS = range(SEED, SEED + (3 if NIGHTLY else 1))
DELAY = 30 if NIGHTLY else 2    # The seconds by which events arrive late.
RESTARTS = 6 if NIGHTLY else 3


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        with Kubelets(running):
            yield running


class Stage(contextlib.AbstractContextManager):
    """An empty cluster with agents, in which stories are run, and with a counter of nodes that are being updated."""

    def __init__(self, cluster):
        admin = PatientUser(cluster.admin)
        self.objects = Objects(cluster, admin)
        self.agents = SimulatedAgents(cluster, drains=True, admin=admin)
        self.updating_nodes = stories.UpdatingNodes(cluster)
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        self._stack.callback(stories.delete_all, self.objects)
        self._stack.enter_context(self.agents)
        self._stack.enter_context(self.updating_nodes)
        return self

    def __exit__(self, kind, *failure):
        if kind:
            print(self.agents.trouble, json.dumps(stories.end_state(self.objects)["nodes"], indent=1))
        self._stack.__exit__(kind, *failure)

    def play(self, story, *more, seconds=60, **options):
        return story(self.objects, self.agents, *more, seconds=seconds, **options)

    def must_end_as(self, expected, seconds=30, without=()):
        """Waits for the expected state; the parts named in `without` may differ."""
        expected = {part: state for part, state in expected.items() if part not in without}

        def end_state():
            return {part: state for part, state in stories.end_state(self.objects).items() if part in expected}
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: end_state() == expected, "the end state is the same", seconds, every=0.1)
        assert stories.differences(expected, end_state()) == []
        assert max(self.updating_nodes.most.values()) == 1, f"at once there were {self.updating_nodes.most}"


def end_of(cluster, story):
    """Returns the end state of a story without faults."""
    with Stage(cluster) as stage, Controller(cluster, "clean"):
        stage.play(story)
        return stories.state_at_rest(stage.objects)


@pytest.fixture(scope="module")
def short_end(cluster):
    return end_of(cluster, stories.short)


@pytest.fixture(scope="module")
def whole_end(cluster):
    return end_of(cluster, stories.whole)


@pytest.fixture(scope="module")
def waved_end(cluster):
    return end_of(cluster, stories.waved)


@pytest.fixture(scope="module")
def halted_end(cluster):
    return end_of(cluster, stories.halted)


class TestLeaderKilled:
    def test_at_any_write(self, cluster, short_end, tmp_path):
        kill_at_moments(cluster, account(cluster),
                        lambda proxy: self.play(cluster, proxy, stories.short, short_end, tmp_path))

    def test_at_any_write_of_a_rollout_in_waves(self, cluster, waved_end, tmp_path):
        kill_at_moments(cluster, account(cluster),
                        lambda proxy: self.play(cluster, proxy, stories.waved, waved_end, tmp_path))

    @pytest.mark.skipif(not NIGHTLY, reason="takes minutes; a similar test is not nightly")
    def test_at_any_write_about_a_rollout_that_halts(self, cluster, halted_end, tmp_path):
        kill_at_moments(cluster, account(cluster),
                        lambda proxy: self.play(cluster, proxy, stories.halted, halted_end, tmp_path, "rolloutpolicies"))

    def play(self, cluster, proxy, story, expected, tmp_path, counted=""):
        proxy.counted = counted
        first = Controller(cluster, "first", kubeconfig=written(proxy, tmp_path), lease=LEASE)
        with Stage(cluster) as stage, first:
            proxy.kill = first.stop
            wait_until(lambda: stage.objects.leader() or not first.pid,
                       "a controller leads, or the first one is stopped", 60)
            with Controller(cluster, "second", lease=LEASE):
                stage.play(story)
                stage.must_end_as(expected)


class LateAfterAnUpdate(LateWatches):
    """Delays all watches from the moment at which this node is updated, and discards the answer to that write."""

    def __init__(self, cluster, node):
        super().__init__(cluster, account(cluster))
        self.path, self.on_answer = f"/api/v1/nodes/{node}", None

    def treat(self, request, body):
        if request.command != "PATCH" or request.path.split("?")[0] != self.path or b"desiredConfig" not in body \
                or not self.on_answer:
            return super().treat(request, body)
        then, self.on_answer = self.on_answer, None
        self.delay = max(DELAY, 6)    # Longer than another replica needs to take over.
        with self.forwarded(request, body) as answer:
            answer.read()
        then()
        return None


class TestWatches:
    def test_the_leader_sees_old_objects(self, cluster, short_end, tmp_path):
        with LateWatches(cluster, account(cluster), DELAY) as proxy, Stage(cluster) as stage:
            with Controller(cluster, "late", kubeconfig=written(proxy, tmp_path)):
                stage.play(stories.short, seconds=60 + 10 * DELAY)
                stage.must_end_as(short_end, 30 + 10 * DELAY)

    def test_the_next_leader_sees_old_objects(self, cluster, tmp_path):
        """The next leader does not yet see that a node is being updated.  It would prefer other nodes, because this node
        cannot be drained.
        """
        with LateAfterAnUpdate(cluster, "worker-1") as proxy, Stage(cluster) as stage, \
                Controller(cluster, "first", kubeconfig=written(proxy, tmp_path), lease=LEASE) as first:
            wait_until(stage.objects.leader, "the first controller leads", 60)
            have = stage.play(stories.begin_short, count=3)
            with Controller(cluster, "second", kubeconfig=written(proxy, tmp_path), lease=LEASE) as second, \
                    ThreadPoolExecutor() as executor:
                proxy.on_answer = lambda: (first.stop(), stories.create_budget(stage.objects, "alone"))
                second_half = executor.submit(stage.play, stories.end_short, have, seconds=90 + 10 * DELAY)
                wait_until(lambda: "the drain cannot succeed" in second.log_text() or second_half.done(),
                           "the second controller tries", 90 + 5 * DELAY)
                proxy.delay = 0
                stories.delete_budget(stage.objects, "alone")
                second_half.result()
            assert first.pid is None and stage.updating_nodes.most == {"worker": 1}

    @pytest.mark.parametrize("seed", SEEDS)
    def test_events_are_lost_and_come_twice_and_in_another_order(self, cluster, whole_end, tmp_path, seed):
        with UnreliableWatches(cluster, account(cluster), seed) as proxy, Stage(cluster) as stage:
            with Controller(cluster, "misled", kubeconfig=written(proxy, tmp_path)):
                stage.play(stories.whole, seconds=120)
                # If the controller learns of two changes at once, it makes no config for the first one alone.
                stage.must_end_as(whole_end, 60, without=["configs"])
            print(f"seed {seed}: {proxy.faults}")
            assert len(proxy.faults) == 3


class TestApiServer:
    @pytest.mark.parametrize("seed", SEEDS)
    def test_is_restarted_in_the_middle(self, cluster, whole_end, seed):
        generator, restarts = random.Random(seed), 0
        # The story runs in another thread, because the server must not outlive the thread that starts it.
        with Stage(cluster) as stage, Controller(cluster, "cut-off"), ThreadPoolExecutor() as executor:
            story = executor.submit(stage.play, stories.whole, seconds=180)
            while restarts < RESTARTS and not wait([story], generator.uniform(0, 5)).done:
                cluster.stop_apiserver()
                wait([story], generator.uniform(0, 1))
                cluster.start_apiserver()
                restarts += 1
            story.result()
            stage.must_end_as(whole_end, 60)
        print(f"seed {seed}: restarted {restarts} times")
        assert restarts >= 2


def written(proxy, folder):
    """Writes the proxy's kubeconfig to a file, and returns its path."""
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(proxy.kubeconfig())
    return kubeconfig
