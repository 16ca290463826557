# SPDX-License-Identifier: Apache-2.0
"""The pools and nodes of a fleet in a cluster, and the memory of a controller that works there."""

import contextlib
import time
from pathlib import Path

from fleet_objects import node_of, report_of
from machines.controller import GROUP, MERGE
from machines.wait import wait_until

PATIENCE = 1800    # Seconds.
IDLE = 10          # Seconds.  Freed memory is given back a few seconds after the last event.


class Fleet:
    """`size` nodes, whose pools are all of the same size.  The first pool is that of the workers."""

    def __init__(self, client, objects, size, pools):
        self.client, self.objects, self.size = client, objects, size
        self.pools = ["worker", *(f"pool-{number:02}" for number in range(pools - 1))]
        self.targets = {}

    def make_pools(self, start_controller):
        """Makes the pools, and has a first controller render their configs."""
        for pool in self.pools[1:]:
            self.objects.config(f"50-{pool}", role=pool, files={f"/etc/{pool}": "1"})
            self.objects.custom_pool(pool, maxUnavailable="20%")
        with start_controller("first"):
            self.targets = {pool: self.objects.wait_for_target(pool) for pool in self.pools}
        self.objects.set_pool("worker", maxUnavailable="20%")

    def make_nodes(self, completed=lambda node: node):
        """Makes the nodes and their MachineConfigNodes.  `completed` adds to a node what the API server does not add."""
        def make(number):
            pool = self.pools[number % len(self.pools)]
            made = self.client.must("POST", "/api/v1/nodes", completed(node_of(number, pool, self.targets[pool])))
            self.client.must("POST", f"{GROUP}/machineconfignodes", report_of(made))
        self.client.for_each(make, range(self.size))
        node = self.client.must("GET", "/api/v1/nodes/node-0000")
        print(f"{self.size:,} nodes in {len(self.pools)} pools; a node has {len(str(node)):,} bytes", flush=True)

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
        """Returns how many nodes the pools count as updated."""
        return sum(status.get("updatedMachineCount", 0) for status in self.statuses().values())

    def wait_until_updated(self, check=lambda: None):
        def is_updated():
            check()
            statuses = self.statuses()
            return sum(status.get("updatedMachineCount", 0) for status in statuses.values()) == self.size and \
                all(statuses[pool]["configuration"].get("name") == target for pool, target in self.targets.items())
        wait_until(is_updated, "the pools count all nodes as updated", PATIENCE, 0.5)

    def wait_until_reported(self):
        def is_reported():
            items = self.client.must("GET", f"{GROUP}/machineconfignodes")["items"]
            return all(item["spec"]["pool"]["name"] != "not-yet-set" for item in items)
        wait_until(is_reported, "all MachineConfigNodes have their pool", PATIENCE, 1)

    def send_heartbeats(self):
        """Reports once for each kubelet that it is alive."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        conditions = [{**condition, "lastHeartbeatTime": now}
                      for condition in node_of(0, "worker", "")["status"]["conditions"]]
        self.client.for_each(lambda number: self.client.must(
            "PATCH", f"/api/v1/nodes/node-{number:04}/status", {"status": {"conditions": conditions}}, MERGE),
            range(self.size))


class Memory:
    """Measures the resident memory of a controller in each phase of its work."""

    def __init__(self, controller):
        self._controller = controller
        self.peak = self.idle = 0    # MiB
        self.excluded = 0            # Seconds that do not count for the time of the phase in which they passed.

    @contextlib.contextmanager
    def phase(self, name):
        """Prints how long the body of the `with` took, and the memory at its end and its peak."""
        Path(f"/proc/{self._controller.pid}/clear_refs").write_text("5", encoding="ascii")    # Forgets the peak.
        began, excluded = time.monotonic(), self.excluded
        yield
        taken = time.monotonic() - began - (self.excluded - excluded)
        now, peak = self._controller.resident_kib() / 1024, self._controller.peak_kib() / 1024
        self.peak = max(self.peak, peak)
        print(f"  {name}: {taken:.1f} s; {now:.1f} MiB resident, {peak:.1f} MiB at the most", flush=True)

    def measure_idle(self, name):
        """Measures the memory that remains a while after the phase of this name."""
        with self.phase(f"idle after {name}"):
            time.sleep(IDLE)
        self.idle = self._controller.resident_kib() / 1024

    def measure_start(self, fleet):
        with self.phase("started, until the pools count all nodes as updated"):
            fleet.wait_until_updated()
        with self.phase("until each MachineConfigNode has its pool"):
            fleet.wait_until_reported()
        self.measure_idle("the start")
        with self.phase("each node reports that it is alive"):
            fleet.send_heartbeats()
