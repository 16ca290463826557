#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `pintle-controller start` in clusters of thousands of nodes, with a RolloutPolicy for each pool.

Arguments: the build folder, and the numbers of nodes and of pools; without these numbers, several sizes are measured.

The API server is fleet_server.py.  The nodes are as large as real ones, and their agents are simulated.  A new config
is rolled out to all nodes, first without policies and then with them.  The program returns 1 if memory or the number of
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

from fleet import PATIENCE, Fleet, Memory  # noqa: E402
from fleet_agents import Agents  # noqa: E402
from fleet_client import Client, Server  # noqa: E402
from fleet_objects import with_managed_fields  # noqa: E402

from machines.controller import MERGE, Controller, Objects  # noqa: E402
from machines.wait import wait_until  # noqa: E402

SIZES = [(2000, 20), (2500, 25), (5000, 50), (10_000, 100)]    # Nodes and pools.
MEMORY = {2000: 64, 10_000: 160}    # MiB
PASS = {2000: 60, 10_000: 200}      # ms
LARGEST_GROWTH = 1.25    # The second half of the nodes may take at most so many times the memory of the first half.
POLICIES = "/apis/pintle.io/v1alpha1/rolloutpolicies"
WAVES = [{"name": "canary", "nodes": 1, "soak": "1s"},
         {"name": "quarter", "nodes": "25%", "soak": "1s", "failureThreshold": 2},
         {"name": "rest", "failureThreshold": "10%"}]
POKES = 20
POKE_PAUSE = 0.5   # Seconds between two pokes; a pass takes less.


class MeasuredFleet(Fleet):
    """A fleet with policies, on a server that counts requests.  The files of its controllers are in `folder`."""

    def __init__(self, client, size, pools, folder):
        super().__init__(client, Objects(self, admin=client), size, pools)
        self.folder = folder

    def make_policies(self):
        for pool in self.pools:
            self.client.must("POST", POLICIES, {"metadata": {"name": pool}, "spec": {"pool": pool, "waves": WAVES}})

    def wait_until_all_complete(self):
        def are_complete():
            pools = [pool for policy in self.client.must("GET", POLICIES)["items"]
                     for pool in policy.get("status", {}).get("pools", [])]
            return sum(pool["phase"] == "Complete" for pool in pools) == len(self.pools)
        wait_until(are_complete, "all policies are complete", PATIENCE, 0.5)

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


class Measurement:
    """What is measured for one size of the fleet."""

    def __init__(self, fleet, controller):
        self.fleet, self.controller, self.memory = fleet, controller, Memory(controller)

    def measure_pass(self, name):
        """Prints the processor time of a pass, measured with changes that lead to a pass and to nothing else."""
        began = time.monotonic()
        self.fleet.wait_until_quiet()
        spent = []
        for poke in (lambda number: None, self.fleet.poke):
            before = processor_seconds(self.controller)
            for number in range(POKES):
                poke(f"{name} {number}")
                time.sleep(POKE_PAUSE)
            spent.append(processor_seconds(self.controller) - before)
        budget = PASS.get(self.fleet.size)
        print(f"  a pass {name}: {1000 * (spent[1] - spent[0]) / POKES:.1f} ms of processor time"
              f"{f' (budget: {budget})' if budget else ''}", flush=True)
        self.memory.excluded += time.monotonic() - began

    def measure_start(self):
        self.memory.measure_start(self.fleet)
        self.measure_pass("without a rollout")

    def roll_out(self, name, agents, during=None):
        """Rolls out a new config; returns the writes that it took."""
        before = writes(self.fleet.requests())
        self.fleet.change_config(name)
        with self.memory.phase(f"a rollout {name}"):
            if during:
                during()
            self.fleet.wait_until_updated(agents.check)
            if during:
                self.fleet.wait_until_all_complete()
            self.fleet.wait_until_quiet()
        self.memory.measure_idle(f"the rollout {name}")
        taken = difference(writes(self.fleet.requests()), before)
        print(f"  its writes: {', '.join(f'{request}: {count:,}' for request, count in taken.items())}", flush=True)
        return taken

    def measure_within_rollout(self, agents):
        """Holds the agents when a third of the nodes is updated, and measures a pass there."""
        wait_until(lambda: self.fleet.updated() > self.fleet.size / 3, "a third is updated", PATIENCE, 0.5)
        agents.hold()
        self.measure_pass("within a rollout with policies")
        agents.go_on()


def exceeded_by_writes(fleet, plain, with_policies):
    """Prints the additional writes of policies; returns what exceeds its budget.

    A kind of write that became rarer with policies does not offset the others.
    """
    more = sum(max(count - plain.get(request, 0), 0) for request, count in with_policies.items())
    budget = fleet.size + len(WAVES) * len(fleet.pools)
    print(f"  policies took {more:,} writes more, {more / fleet.size:.2f} a node (budget: one for each node and each "
          f"wave of each pool, {budget:,})", flush=True)
    return [f"{more:,} additional writes"] if more > budget else []


def measure(nodes, pools):
    """Measures one size; returns the idle memory in MiB, and what exceeded its budget."""
    with tempfile.TemporaryDirectory() as name, Server() as server:
        folder = Path(name)
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig(), encoding="ascii")
        fleet = MeasuredFleet(Client(server.connection), nodes, pools, folder)

        def start_controller(replica):
            return Controller(fleet, replica, kubeconfig=kubeconfig, lease=("60s", "40s", "5s"))
        fleet.objects.controller_config()
        fleet.objects.config("50-worker", files={"/etc/worker": "1"})
        fleet.make_pools(start_controller)
        fleet.make_nodes(with_managed_fields)
        with start_controller("controller") as controller, Agents(fleet.client) as agents:
            measured = Measurement(fleet, controller)
            measured.measure_start()
            plain = measured.roll_out("without policies", agents)
            fleet.make_policies()
            fleet.wait_until_all_complete()
            with_policies = measured.roll_out("with policies", agents,
                                              lambda: measured.measure_within_rollout(agents))
            exceeded = exceeded_by_writes(fleet, plain, with_policies)
        budget, memory = MEMORY.get(nodes), measured.memory
        print(f"  at the most: {memory.peak:.1f} MiB{f' (budget: {budget})' if budget else ''}; idle at the end: "
              f"{memory.idle:.1f} MiB", flush=True)
        if budget and memory.peak > budget:
            exceeded.append(f"{memory.peak:.1f} MiB")
        return memory.idle, [f"{nodes:,} nodes: {text}" for text in exceeded]


def exceeded_by_growth(idle):
    """Returns a text if the idle memory, which is given by the number of nodes, grows faster than this number."""
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
