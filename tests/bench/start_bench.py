#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of `pintle-controller start` beside a real API server, from its start to the end of a rollout.

Arguments: the build folder, and the number of nodes. The Node objects are as large as real ones: they have images,
conditions, annotations of other programs, and managedFields. The controller also does the work of the operator, and
makes configs from as many templates as an OpenShift release has.
"""

import concurrent.futures
import contextlib
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["PINTLE_BUILD"] = str(Path(sys.argv[1] if len(sys.argv) > 1 else "build-bench").resolve())

from fleet_objects import node_of, report_of  # noqa: E402

from machines.cluster import Cluster  # noqa: E402
from machines.controller import GROUP, MERGE, Controller, Objects  # noqa: E402
from machines.openshift_settings import Settings, prepare_operator_cluster  # noqa: E402
from machines.simulated_agents import PREFIX  # noqa: E402
from machines.templates import write_templates  # noqa: E402
from machines.wait import wait_until  # noqa: E402

NODES = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
POOLS = ["worker", *(f"pool-{number:02}" for number in range(19))]
BUDGET = 64  # MiB
PATIENCE = 600  # s
TEMPLATES = 217
IDLE = 10  # Seconds.  Freed memory is given back a few seconds after the last event.


class Clients:
    """Sends many requests to the API server at once, over persistent connections."""

    def __init__(self, cluster, count=4):
        self._cluster, self._own = cluster, threading.local()
        self._threads = concurrent.futures.ThreadPoolExecutor(count)

    def request(self, method, path, body=None, kind="application/json"):
        if not hasattr(self._own, "connection"):
            self._own.connection = self._cluster.connection(self._cluster.admin.pair)
        headers = {"Accept": "application/json", "Content-Type": kind}
        self._own.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self._own.connection.getresponse()
        text = answer.read()
        assert answer.status < 300, f"{method} {path}: {answer.status} {text[:300]}"
        return json.loads(text)

    def for_each(self, act, things):
        list(self._threads.map(act, things))


def write_many_templates(folder):
    """Writes TEMPLATES templates of two kilobytes, half of which are common to all roles."""
    write_templates(folder)
    places = ["common/_base", "master/00-master/_base", "common/_base", "worker/00-worker/_base"]
    script = "".join(f"    echo \"line {line} of a script\" >> /run/own/log\n" for line in range(40))
    for number in range(TEMPLATES - sum(1 for path in folder.rglob("*.yaml"))):
        (folder / places[number % len(places)] / "files" / f"own-{number}.yaml").write_text(
            f"path: /etc/own/{number}\nmode: 0644\ncontents:\n  inline: |\n    dns={{{{.ClusterDNSIP}}}}\n{script}")


class Bench:
    def __init__(self, cluster, templates):
        self.cluster, self.objects, self.clients = cluster, Objects(cluster), Clients(cluster)
        self._templates = templates

    def controller(self, name):
        return Controller(self.cluster, name, f"--templates={self._templates}")

    def make_pools(self):
        for pool in POOLS[1:]:
            self.objects.config(f"50-{pool}", role=pool, files={f"/etc/{pool}": "1"})
            self.objects.custom_pool(pool, maxUnavailable="20%")
        with self.controller("first"):
            self.targets = {pool: self.objects.wait_for_target(pool) for pool in POOLS}
        self.objects.set_pool("worker", maxUnavailable="20%")

    def make_nodes(self):
        def make(number):
            pool = POOLS[number % len(POOLS)]
            node = self.clients.request("POST", "/api/v1/nodes", node_of(number, pool, self.targets[pool]))
            self.clients.request("POST", f"{GROUP}/machineconfignodes", report_of(node))
        self.clients.for_each(make, range(NODES))
        node = self.clients.request("GET", "/api/v1/nodes/node-0000")
        print(f"{NODES} nodes in {len(POOLS)} pools, each of {len(json.dumps(node)):,} bytes")

    def pools(self):
        pools = self.clients.request("GET", f"{GROUP}/machineconfigpools")["items"]
        return [pool for pool in pools if pool["metadata"]["name"] in POOLS]

    def wait_until_counted(self):
        def counted():
            pools = self.pools()
            return sum(pool.get("status", {}).get("updatedMachineCount", 0) for pool in pools) == NODES and \
                all(pool["status"]["configuration"].get("name") == pool["spec"]["configuration"]["name"] for pool in pools)
        wait_until(counted, "all nodes are counted as updated", PATIENCE, 0.5)

    def wait_until_reported(self):
        def reported():
            items = self.clients.request("GET", f"{GROUP}/machineconfignodes")["items"]
            return all(item["spec"]["pool"]["name"] != "not-yet-set" for item in items)
        wait_until(reported, "all MachineConfigNodes have their pool", PATIENCE, 1)

    def send_heartbeats(self):
        """Reports once for each kubelet that it is alive."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.clients.for_each(lambda number: self.clients.request(
            "PATCH", f"/api/v1/nodes/node-{number:04}/status",
            {"status": {"conditions": [{"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": now}]}},
            "application/strategic-merge-patch+json"), range(NODES))

    def answer_until_updated(self):
        """Sets each node's current config as soon as the controller has set its desired config."""
        def answer(node):
            desired = node["metadata"]["annotations"][PREFIX + "desiredConfig"]
            self.clients.request("PATCH", "/api/v1/nodes/" + node["metadata"]["name"], {
                "metadata": {"annotations": {PREFIX + "currentConfig": desired, PREFIX + "state": "Done"}}}, MERGE)

        def all_updated():
            nodes = self.clients.request("GET", "/api/v1/nodes")["items"]
            annotations = [node["metadata"]["annotations"] for node in nodes]
            targeted = [node for node, values in zip(nodes, annotations)
                        if values[PREFIX + "desiredConfig"] != values[PREFIX + "currentConfig"]]
            self.clients.for_each(answer, targeted)
            return all(values[PREFIX + "currentConfig"] in self.targets.values() for values in annotations)
        wait_until(all_updated, "all nodes have the new config", PATIENCE, 0.5)


@contextlib.contextmanager
def step(name, controller):
    started = time.monotonic()
    yield
    print(f"{name}: {time.monotonic() - started:.1f} s; {controller.resident_kib() / 1024:.1f} MiB resident, "
          f"{controller.peak_kib() / 1024:.1f} MiB at the most so far", flush=True)


def main():
    with Cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        prepare_operator_cluster(cluster)
        settings = Settings(cluster)
        settings.put_all()
        settings.install_release()
        templates = Path(folder) / "templates"
        write_many_templates(templates)
        bench = Bench(cluster, templates)
        bench.make_pools()
        bench.make_nodes()
        with bench.controller("controller") as controller:
            with step("started, until all is counted", controller):
                bench.wait_until_counted()
            with step("until each MachineConfigNode has its pool", controller):
                bench.wait_until_reported()
            with step("idle", controller):
                time.sleep(IDLE)
            with step("each node reports that it is alive", controller):
                bench.send_heartbeats()
            bench.objects.config("10-more", files={"/etc/more": "1"})
            bench.targets = {pool: bench.objects.wait_for_target(pool, other_than=target, seconds=PATIENCE)
                             for pool, target in bench.targets.items()}
            with step("a rollout to all of them", controller):
                bench.answer_until_updated()
                bench.wait_until_counted()
            with step("idle", controller):
                time.sleep(IDLE)
            peak = controller.peak_kib() / 1024
            print(f"the most: {peak:.1f} MiB (budget: {BUDGET})")


main()
