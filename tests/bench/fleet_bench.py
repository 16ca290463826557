#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `pintle-controller start` in clusters of thousands of nodes, with a RolloutPolicy for each pool.

Arguments: the build folder, and the numbers of nodes and of pools; without these numbers, several sizes are measured.

The API server is fleet_server.py.  The nodes are as large as real ones, and their agents are simulated.  A new config is
rolled out to all nodes, first without policies and then with them.  The program returns 1 if memory or the number of
writes exceeds its budget.  Times are only printed, because they depend on the machine.
"""

import contextlib
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["PINTLE_BUILD"] = str(Path(sys.argv[1] if len(sys.argv) > 1 else "build-bench").resolve())

from fleet_agents import Agents  # noqa: E402
from fleet_client import Client, Server  # noqa: E402
from fleet_objects import node_of, report_of, with_managed_fields  # noqa: E402
from machines.controller import GROUP, MERGE, Controller, Objects  # noqa: E402
from machines.wait import wait_until  # noqa: E402

SIZES = [(2000, 20), (2500, 25), (5000, 50), (10_000, 100)]    # Nodes and pools.
MEMORY = {2000: 64, 10_000: 160}    # MiB
PASS = {2000: 60, 10_000: 200}      # ms
LARGEST_GROWTH = 1.25    # The second half of the nodes may take so many times the memory of the first half.
POLICIES = "/apis/pintle.io/v1alpha1/rolloutpolicies"
WAVES = [{"name": "canary", "nodes": 1, "soak": "1s"},
         {"name": "quarter", "nodes": "25%", "soak": "1s", "failureThreshold": 2},
         {"name": "rest", "failureThreshold": "10%"}]
PATIENCE = 1800    # s
IDLE = 10          # Seconds.  Freed memory is given back a few seconds after the last event.
POKES = 20
POKE_PAUSE = 0.5   # Seconds, in which a pass has ended.


class Cluster:
    """The objects of the fleet, on a server that has none yet."""

    def __init__(self, client, nodes, pools, folder):
        self.client, self.folder, self.size = client, folder, nodes
        self.objects = Objects(self, admin=client)
        self.pools = ["worker", *(f"pool-{number:02}" for number in range(pools - 1))]
        self.targets = {}

    def make_pools(self, start_controller):
        self.objects.controller_config()
        for pool in self.pools[1:]:
            self.objects.config(f"50-{pool}", role=pool, files={f"/etc/{pool}": "1"})
            self.objects.custom_pool(pool, maxUnavailable="20%")
        self.objects.config("50-worker", files={"/etc/worker": "1"})
        with start_controller("first"):
            self.targets = {pool: self.objects.wait_for_target(pool) for pool in self.pools}
        self.objects.set_pool("worker", maxUnavailable="20%")

    def make_nodes(self):
        def make(number):
            pool = self.pools[number % len(self.pools)]
            node = with_managed_fields(node_of(number, pool, self.targets[pool]))
            made = self.client.must("POST", "/api/v1/nodes", node)
            self.client.must("POST", f"{GROUP}/machineconfignodes", report_of(made))
        self.client.for_each(make, range(self.size))

    def make_policies(self):
        for pool in self.pools:
            self.client.must("POST", POLICIES, {"metadata": {"name": pool}, "spec": {"pool": pool, "waves": WAVES}})

    def change_config(self, text):
        """Changes the config of all pools, and waits until each has a new target."""
        self.objects.config("99-change", files={"/etc/change": text.replace(" ", "-")})
        self.targets = {pool: self.objects.wait_for_target(pool, other_than=target, seconds=PATIENCE)
                        for pool, target in self.targets.items()}

    def statuses(self):
        pools = self.client.must("GET", f"{GROUP}/machineconfigpools")["items"]
        return {pool["metadata"]["name"]: pool.get("status", {}) for pool in pools
                if pool["metadata"]["name"] in self.pools}

    def updated(self):
        return sum(status.get("updatedMachineCount", 0) for status in self.statuses().values())

    def wait_until_updated(self, check=lambda: None):
        def is_updated():
            check()
            statuses = self.statuses()
            return sum(status.get("updatedMachineCount", 0) for status in statuses.values()) == self.size and \
                all(statuses[pool]["configuration"].get("name") == target for pool, target in self.targets.items())
        wait_until(is_updated, "all nodes are counted as updated", PATIENCE, 0.5)

    def wait_until_reported(self):
        def is_reported():
            items = self.client.must("GET", f"{GROUP}/machineconfignodes")["items"]
            return all(item["spec"]["pool"]["name"] != "not-yet-set" for item in items)
        wait_until(is_reported, "all MachineConfigNodes have their pool", PATIENCE, 1)

    def wait_until_all_complete(self):
        def are_complete():
            pools = [pool for policy in self.client.must("GET", POLICIES)["items"]
                     for pool in policy.get("status", {}).get("pools", [])]
            return sum(pool["phase"] == "Complete" for pool in pools) == len(self.pools)
        wait_until(are_complete, "all policies are complete", PATIENCE, 0.5)

    def send_heartbeats(self):
        """Reports once for each kubelet that it is alive."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        conditions = [{**condition, "lastHeartbeatTime": now}
                      for condition in node_of(0, "worker", "")["status"]["conditions"]]
        self.client.for_each(lambda number: self.client.must(
            "PATCH", f"/api/v1/nodes/node-{number:04}/status", {"status": {"conditions": conditions}}, MERGE),
            range(self.size))

    def poke(self, number):
        """Makes a change that leads to a pass, and to nothing else."""
        self.client.must("PATCH", "/api/v1/nodes/node-0000",
                         {"metadata": {"annotations": {"pintle.io/poke": str(number)}}}, MERGE)

    def requests(self):
        """Returns how many requests of each kind the controller has made."""
        return self.client.must("GET", "/bench/counts").get("pintle", {})

    def wait_until_quiet(self):
        """Waits until the controller has written nothing but its lease for two seconds."""
        def was_quiet():
            before = writes(self.requests())
            time.sleep(2)
            return writes(self.requests()) == before
        wait_until(was_quiet, "the controller writes nothing", PATIENCE)


def writes(requests):
    """Returns the counts of writes, without leases."""
    return {request: count for request, count in requests.items()
            if not request.startswith(("GET", "WATCH")) and "leases" not in request}


def difference(after, before):
    return {request: count - before.get(request, 0) for request, count in sorted(after.items())
            if count != before.get(request, 0)}


def processor_seconds(controller):
    """Returns the processor time of the controller's loop."""
    return int(Path(f"/proc/{controller.pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9


def forget_peak(controller):
    Path(f"/proc/{controller.pid}/clear_refs").write_text("5", encoding="ascii")


class Measurement:
    """The phases of one size of the fleet, and what exceeded its budget."""

    def __init__(self, cluster, controller):
        self.cluster, self.controller = cluster, controller
        self.peak = self.idle = 0    # MiB
        self._paused = 0             # Seconds in which passes were measured; they do not count for the phase.

    @contextlib.contextmanager
    def phase(self, name):
        forget_peak(self.controller)
        began, paused = time.monotonic(), self._paused
        yield
        taken = time.monotonic() - began - (self._paused - paused)
        now, peak = self.controller.resident_kib() / 1024, self.controller.peak_kib() / 1024
        self.peak = max(self.peak, peak)
        print(f"  {name}: {taken:.1f} s; {now:.1f} MiB resident, {peak:.1f} MiB at the most", flush=True)

    def rest(self, name):
        with self.phase(f"idle after {name}"):
            time.sleep(IDLE)
        self.idle = self.controller.resident_kib() / 1024

    def pass_time(self, name):
        """Prints the processor time of a pass: that of a change without an effect, from the watch to the end."""
        began = time.monotonic()
        self.cluster.wait_until_quiet()
        spent = []
        for poke in (lambda number: None, self.cluster.poke):
            before = processor_seconds(self.controller)
            for number in range(POKES):
                poke(f"{name} {number}")
                time.sleep(POKE_PAUSE)
            spent.append(processor_seconds(self.controller) - before)
        budget = PASS.get(self.cluster.size)
        print(f"  a pass {name}: {1000 * (spent[1] - spent[0]) / POKES:.1f} ms of processor time"
              f"{f' (budget: {budget})' if budget else ''}", flush=True)
        self._paused += time.monotonic() - began

    def start(self):
        with self.phase("started, until all nodes are counted"):
            self.cluster.wait_until_updated()
        with self.phase("until each MachineConfigNode has its pool"):
            self.cluster.wait_until_reported()
        self.rest("the start")
        with self.phase("each node reports that it is alive"):
            self.cluster.send_heartbeats()
        self.pass_time("without a rollout")

    def roll_out(self, name, agents, during=None):
        """Rolls out a new config; returns the writes that it took."""
        before = writes(self.cluster.requests())
        self.cluster.change_config(name)
        with self.phase(f"a rollout {name}"):
            if during:
                during()
            self.cluster.wait_until_updated(agents.check)
            if during:
                self.cluster.wait_until_all_complete()
            self.cluster.wait_until_quiet()
        self.rest(f"the rollout {name}")
        taken = difference(writes(self.cluster.requests()), before)
        print(f"  its writes: {', '.join(f'{request}: {count:,}' for request, count in taken.items())}", flush=True)
        return taken

    def measure_within_rollout(self, agents):
        """Holds the agents when a third of the nodes is updated, and measures a pass there."""
        wait_until(lambda: self.cluster.updated() > self.cluster.size / 3, "a third is updated", PATIENCE, 0.5)
        agents.hold()
        self.pass_time("within a rollout with policies")
        agents.go_on()


def exceeded_by_writes(cluster, plain, with_policies):
    """Prints the additional writes of policies; returns what exceeds its budget.

    A kind of writes of which there were fewer with policies does not make up for the others.
    """
    more = sum(max(count - plain.get(request, 0), 0) for request, count in with_policies.items())
    budget = cluster.size + len(WAVES) * len(cluster.pools)
    print(f"  policies took {more:,} writes more, {more / cluster.size:.2f} a node (budget: one for each node and each "
          f"wave of each pool, {budget:,})", flush=True)
    return [f"{more:,} additional writes"] if more > budget else []


def measure(nodes, pools):
    """Measures one size; returns the idle memory in MiB, and what exceeded its budget."""
    with tempfile.TemporaryDirectory() as name, Server() as server:
        folder = Path(name)
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig(), encoding="ascii")
        cluster = Cluster(Client(server.port), nodes, pools, folder)

        def start_controller(replica):
            return Controller(cluster, replica, kubeconfig=kubeconfig, lease=("60s", "40s", "5s"))
        cluster.make_pools(start_controller)
        cluster.make_nodes()
        node = cluster.client.must("GET", "/api/v1/nodes/node-0000")
        print(f"{nodes:,} nodes in {pools} pools; a node has {len(str(node)):,} bytes", flush=True)
        with start_controller("controller") as controller, Agents(cluster.client) as agents:
            measured = Measurement(cluster, controller)
            measured.start()
            plain = measured.roll_out("without policies", agents)
            cluster.make_policies()
            cluster.wait_until_all_complete()
            with_policies = measured.roll_out("with policies", agents,
                                              lambda: measured.measure_within_rollout(agents))
            exceeded = exceeded_by_writes(cluster, plain, with_policies)
        budget = MEMORY.get(nodes)
        print(f"  at the most: {measured.peak:.1f} MiB{f' (budget: {budget})' if budget else ''}; idle at the end: "
              f"{measured.idle:.1f} MiB", flush=True)
        if budget and measured.peak > budget:
            exceeded.append(f"{measured.peak:.1f} MiB")
        return measured.idle, [f"{nodes:,} nodes: {what}" for what in exceeded]


def exceeded_by_growth(idle):
    """Returns whether memory grows faster than the number of nodes."""
    first, second = idle[5000] - idle[2500], (idle[10_000] - idle[5000]) / 2
    print(f"2,500 more nodes take {first:.1f} MiB from 2,500 on, and {second:.1f} MiB from 5,000 on")
    return ["memory does not grow linearly"] if second > first * LARGEST_GROWTH else []


def main():
    sizes = [(int(sys.argv[2]), int(sys.argv[3]))] if len(sys.argv) > 3 else SIZES
    idle, exceeded = {}, []
    for nodes, pools in sizes:
        idle[nodes], too_much = measure(nodes, pools)
        exceeded += too_much
    if len(sizes) > 1:
        exceeded += exceeded_by_growth(idle)
    if exceeded:
        sys.exit("over budget: " + "; ".join(exceeded))


if __name__ == "__main__":
    main()
