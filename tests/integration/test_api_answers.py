# SPDX-License-Identifier: Apache-2.0
"""Tests the controller while a proxy for a real API server always refuses each kind of write."""

import pytest

import controller_stories as stories
from machines.cluster import Cluster
from machines.controller import GROUP, MERGE, Controller, Objects, account, prepare_cluster
from machines.kubelets import Kubelets
from machines.refusing_proxy import Refusal, RefusingProxy
from machines.simulated_agents import SimulatedAgents
from machines.wait import wait_until

MAX_REQUESTS = 10    # The limit of requests of one kind in the first minute after the first refusal.
POOL = "/machineconfigpools/"
# Each of these refusals has a pool of its own with the name KEY, and the refused requests are about this pool or its
# node.
REFUSALS_OF_POOLS = {
    "create": Refusal("no config today", 403, "POST", "/machineconfigs", b'"name":"rendered-create-'),
    "target": Refusal("no target today", 422, "PATCH", f"{POOL}target", b'"configuration"'),
    "keep": Refusal("no annotation today", 403, "PATCH", f"{POOL}keep", b"kept-until"),
    "status": Refusal("no status today", 500, "PATCH", f"{POOL}status/status"),
    "desired": Refusal("no desired config today", 409, "PATCH", "/nodes/desired", b"desiredConfig"),
    "silent": Refusal("", None, "PATCH", "/nodes/silent", b"desiredConfig"),
    "report": Refusal("no report today", 429, "PATCH", "/machineconfignodes/report", headers={"Retry-After": "1"}),
    "cordon": Refusal("no cordon today", 403, "PATCH", "/nodes/cordon", b"unschedulable"),
    "conditions": Refusal("no condition today", 422, "PATCH", "/machineconfignodes/conditions/status"),
    "evict": Refusal("no eviction today", 503, "POST", "/pods/kept/eviction", without=b"dryRun"),
    "answer": Refusal("no answer today", 504, "PATCH", "/nodes/answer", b"lastAppliedDrain"),
}
REFUSALS_OF_ALL = {
    "pool": Refusal("no pool today", 410, "POST", "/machineconfigpools", b'"name":"master"'),
    "events": Refusal("no event today", 403, "POST", "/events"),
}
# A new lease is posted; a lease that an earlier leader has released is patched.
LEASE = [Refusal("no lease today", 403, "POST", "/leases"),
         Refusal("no lease today", 403, "PATCH", "/leases/machine-config-controller")]
# The times of a real cluster.  A controller that loses its lease on a busy machine begins all its pauses anew.
LEASE_TIMES = ("137s", "107s", "26s")


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        with Kubelets(running):
            yield running


def condition_message(pool, kind):
    condition = pool_condition(pool, kind)
    return condition["message"] if condition and condition["status"] == "True" else ""


def pool_condition(pool, kind):
    return next((each for each in pool.get("status", {}).get("conditions", []) if each["type"] == kind), None)


def begin(objects, agents):
    """Creates a pool with one node for each refusal, and the workers; returns the config of all nodes."""
    objects.controller_config()
    objects.config("00-worker", files={"/etc/base": "1"})
    for name in REFUSALS_OF_POOLS:
        objects.custom_pool(name)
    first = objects.wait_for_target("worker")
    stories.quick_drains(objects, "worker")
    objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/evict",
                       {"metadata": {"annotations": {"pintle.io/drain-attempt": "20s"}}}, MERGE)
    for name in REFUSALS_OF_POOLS:
        agents.add(name, first, labels=[stories.WORKER, f"node-role.kubernetes.io/{name}"])
    agents.add("worker-0", first)
    objects.admin.must("POST", stories.PODS, {"metadata": {"name": "kept"}, "spec": {
        "nodeName": "evict", "containers": [{"name": "c", "image": "example.com/c"}]}})
    return first


def test_each_refused_write_is_tried_rarely_and_reported_and_delays_nothing_else(cluster, tmp_path):
    objects, agents = Objects(cluster), SimulatedAgents(cluster, drains=True)
    kubeconfig = tmp_path / "kubeconfig"
    every = {**REFUSALS_OF_POOLS, **REFUSALS_OF_ALL}
    with RefusingProxy(cluster, account(cluster), list(every.values())) as proxy, agents:
        kubeconfig.write_text(proxy.kubeconfig())
        with Controller(cluster, "refused", kubeconfig=kubeconfig, lease=LEASE_TIMES) as controller:
            first = begin(objects, agents)
            for name, refusal in every.items():
                wait_until(refusal.seconds, f"{name} is refused", 60)
            # Everything else goes on meanwhile.
            objects.config("10-more", role="worker", files={"/etc/more": "1"})
            target = objects.wait_for_target("worker", other_than=first)
            agents.wait_until_all_have(target, ["worker-0"])
            objects.wait_until_updated("worker", target)
            for name in ("keep", "conditions", "report"):
                objects.wait_until_updated(name)

            check_reports(objects, controller)
            # The requests of a minute are counted.  A slow machine sends fewer.
            wait_until(lambda: all(each.seconds() > 60 for each in every.values()), "the first minute is over", 120)
            counts = {name: refusal.count_in_first_minute() for name, refusal in every.items()}
            print(counts)
            assert max(counts.values()) <= MAX_REQUESTS and min(counts.values()) >= 1, counts
            assert objects.target("create") == objects.target("target") == ""
            assert all(agents.configs()[name][1] == first for name in ("desired", "silent"))
    stories.delete_all(objects)


def check_reports(objects, controller):
    """Checks that the pool reports the refusals, or that the log has them if the pool cannot report them."""
    for name, kind in {"create": "RenderDegraded", "target": "RenderDegraded", "desired": "Degraded",
                       "report": "Degraded"}.items():
        refusal = REFUSALS_OF_POOLS[name]
        wait_until(lambda name=name, kind=kind, refusal=refusal:
                   refusal.message in condition_message(objects.pool(name), kind),
                   f"{name} reports the reason", 60)
    for refusal in (REFUSALS_OF_POOLS[name] for name in ("keep", "status", "cordon", "conditions", "evict", "answer")):
        wait_until(lambda refusal=refusal: refusal.message in controller.log_text(),
                   f"the log has {refusal.message}", 120)
    for refusal in REFUSALS_OF_ALL.values():
        assert refusal.message in controller.log_text()


def test_a_controller_without_a_lease_reports_that_and_asks_rarely(cluster, tmp_path):
    kubeconfig = tmp_path / "kubeconfig"

    def times():
        return sum(refusal.count_in_first_minute() for refusal in LEASE)

    with RefusingProxy(cluster, account(cluster), LEASE) as proxy:
        kubeconfig.write_text(proxy.kubeconfig())
        with Controller(cluster, "without-lease", kubeconfig=kubeconfig, lease=LEASE_TIMES) as controller:
            # If an earlier leader was killed, its lease has to expire, and the next try comes up to a minute later.
            wait_until(lambda: LEASE[0].message in controller.log_text(), "the controller logs the reason", 150)
            wait_until(lambda: times() >= 2, "the controller tries again", 90)
            wait_until(lambda: max(refusal.seconds() for refusal in LEASE) > 60, "the first minute is over", 120)
    assert times() <= MAX_REQUESTS
