# SPDX-License-Identifier: Apache-2.0
"""Tests the notices of pintle-controller with a real control plane, simulated agents, and a webhook in Python."""

import hashlib
import hmac
import json
import threading

import pytest

import controller_stories as stories
from machines import certs
from machines.cluster import Cluster
from machines.controller import Controller, Objects, prepare_cluster
from machines.loopback_server import Handler, LoopbackServer
from machines.simulated_agents import SimulatedAgents
from machines.wait import wait_until

POLICIES = "/apis/pintle.io/v1alpha1/rolloutpolicies"
WORKERS = ["worker-0", "worker-1", "worker-2"]
OLD_KEY, NEW_KEY = b"0" * 64, b"1" * 64


class Webhook(LoopbackServer):
    """A receiver that answers 503 to its first requests, and keeps the events that it has taken."""

    def __init__(self, authority, refusals):
        super().__init__(WebhookHandler, authority.server("webhook", ["127.0.0.1"]))
        self.url = f"https://{self.host}/hidden-path"
        self.refusals = refusals
        self.refused = []       # The ids of the refused events.
        self.events = []        # The events in the order of their arrival, with repetitions.
        self.keys = []          # The key that has signed each event.
        self.mistakes = []
        self._lock = threading.Lock()

    def take(self, path, headers, body):
        """Returns the status of the answer."""
        signatures = {"sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest(): key for key in (OLD_KEY, NEW_KEY)}
        with self._lock:
            key = signatures.get(headers["X-Pintle-Signature"])
            if not key or path != "/hidden-path" or headers["Content-Type"] != \
                    "application/cloudevents+json; charset=utf-8":
                self.mistakes.append((path, dict(headers), body))
                return 401
            event = json.loads(body)
            if self.refusals > 0:
                self.refusals -= 1
                self.refused.append(event["id"])
                return 503
            self.events.append(event)
            self.keys.append(key)
            return 204

    def types(self, begin=0):
        return [event["type"].removeprefix("io.pintle.") for event in self.events[begin:]]

    def wait_for(self, kind, begin=0):
        wait_until(lambda: kind in self.types(begin), f"the webhook gets {kind}", 90)
        return next(event for event in self.events[begin:] if event["type"] == "io.pintle." + kind)


class WebhookHandler(Handler):
    def do_POST(self):
        self.respond(self.server.take(self.path, self.headers, self.read_body()))


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        yield running


@pytest.fixture
def objects(cluster):
    made = Objects(cluster)
    made.controller_config()
    yield made
    made.admin.must("DELETE", POLICIES)
    made.delete_all()


@pytest.fixture
def authority(tmp_path):
    return certs.Authority(tmp_path)


@pytest.fixture
def webhook(authority):
    with Webhook(authority, refusals=2) as running:
        yield running


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(OLD_KEY + b"\n")
    path.chmod(0o400)
    return path


@pytest.fixture
def controller(cluster, objects, webhook, key_file, authority):
    with Controller(cluster, "controller", f"--notify-url={webhook.url}", f"--notify-key-file={key_file}",
                    f"--notify-ca-file={authority.certificate}", "--notify-source=/clusters/test") as running:
        wait_until(objects.leader, "the controller leads", 60)
        yield running


@pytest.fixture
def agents(cluster):
    with SimulatedAgents(cluster) as running:
        yield running


@pytest.fixture
def rolled_out(objects, controller, agents):
    """Creates three workers that have the config of their pool, and a policy with a canary; returns the config's name."""
    target = stories.three_workers(objects, agents)
    objects.admin.must("POST", POLICIES, {
        "apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "policy"},
        "spec": {"pool": "worker", "waves": [{"name": "canary", "nodes": 1}]}})
    wait_until(lambda: phase(objects) == "Complete", "the policy is in use", 60)
    return target


def phase(objects):
    pools = objects.admin.must("GET", f"{POLICIES}/policy").get("status", {}).get("pools", [])
    return next((pool["phase"] for pool in pools if pool["name"] == "worker"), None)


def test_a_webhook_gets_each_step_of_a_rollout_once_also_from_the_next_leader(objects, controller, agents, webhook,
                                                                              key_file, rolled_out):
    assert webhook.events == [] and webhook.refused == []    # The first target of a pool begins no rollout.
    objects.config("99-change", files={"/etc/change": "s3cret"})
    target = objects.wait_for_target("worker", other_than=rolled_out)
    agents.wait_until_all_have(target)
    finished = webhook.wait_for("rollout.finished")
    assert webhook.types() == ["rollout.begun", "rollout.wave-done", "rollout.wave-done", "rollout.finished"]
    begun, first, second, _ = webhook.events
    assert webhook.refused == [begun["id"]] * 2
    assert [first["data"]["wave"], second["data"]["wave"]] == [1, 2] and first["data"]["policy"] == "policy"
    assert all(event["specversion"] == "1.0" and event["source"] == "/clusters/test" and event["time"].endswith("Z")
               and event["subject"] == "machineconfigpools/worker" and event["data"]["pool"] == "worker"
               and event["data"]["config"] == target for event in webhook.events)
    assert finished["data"]["nodes"] == 3

    # The next leader repeats the events, with the same ids, and signs them by the new key.
    known = {event["id"] for event in webhook.events}
    assert len(known) == 4
    controller.end()
    key_file.unlink()
    key_file.write_bytes(NEW_KEY)
    key_file.chmod(0o400)
    controller.start()
    wait_until(lambda: len(webhook.events) >= 8, "the next leader repeats the notices", 90)
    assert {event["id"] for event in webhook.events} == known
    assert webhook.keys == [OLD_KEY] * 4 + [NEW_KEY] * 4

    # The same config, taken back and rolled out again, is another rollout.
    before = len(webhook.events)
    objects.remove_config("99-change")
    agents.wait_until_all_have(rolled_out)
    webhook.wait_for("rollout.finished", before)
    between = len(webhook.events)
    objects.config("99-change", files={"/etc/change": "s3cret"})
    agents.wait_until_all_have(target)
    again = webhook.wait_for("rollout.finished", between)
    assert again["data"]["config"] == target and again["id"] != finished["id"]
    ids = [event["id"] for event in webhook.events[before:]]
    assert len(set(ids)) == len(ids) and not known & set(ids)
    assert webhook.mistakes == [] and "s3cret" not in json.dumps(webhook.events)
    log = controller.log_text()
    assert "answers 503" in log and "hidden-path" not in log


def test_a_webhook_gets_a_halt_and_the_faults_of_nodes(objects, controller, agents, webhook, rolled_out):
    agents.hold()
    objects.config("99-change", files={"/etc/change": "broken"})
    target = objects.wait_for_target("worker", other_than=rolled_out)
    agents.broken.add(target)
    agents.go_on()
    halted = webhook.wait_for("rollout.halted")
    assert halted["data"]["cause"] == "FailureThreshold" and "kubectl pintle resume worker" in halted["data"]["message"]
    degraded = webhook.wait_for("node.degraded")
    assert degraded["subject"] == "nodes/" + degraded["data"]["node"] and degraded["data"]["node"] in WORKERS
    assert degraded["data"]["reason"] == f"{target} cannot be applied" and degraded["data"]["config"] == target
    assert sorted(webhook.types()) == ["node.degraded", "rollout.begun", "rollout.halted"]
    known = {event["id"] for event in webhook.events}
    controller.end()
    controller.start()
    wait_until(lambda: len(webhook.events) >= 6, "the next leader repeats the notices", 90)
    assert {event["id"] for event in webhook.events} == known
    assert webhook.mistakes == []
