# SPDX-License-Identifier: Apache-2.0
"""Compares the controller on a real API server with the Machine Config Operator's answers about pools and nodes.

tests/vectors compares only the pure functions that decide, bit for bit; here, objects are also decoded and written.
"""

import json
import os
import pathlib

import pytest

import controller_stories as stories
from machines.cluster import Cluster
from machines.controller import GROUP, MERGE, Controller, Objects, prepare_cluster
from machines.simulated_agents import PREFIX
from machines.wait import wait_until

VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors/data/rollout"
# The cluster does not have the kinds for a layered pool, and an operator's pod would need its namespace.
UNUSED_FILES = ("mosc.json", "mosb.json", "options.json", "controllerconfig.json")
# In these cases, the nodes' labels do not put them into the pool.
UNUSABLE_CASES = ("021-mu-arbiter-always-1", "053-master-no-operator-pod")
NAMES = [folder.name for folder in sorted(VECTORS.iterdir())
         if folder.name not in UNUSABLE_CASES and not any((folder / file).exists() for file in UNUSED_FILES)]
CHOSEN = NAMES if "PINTLE_NIGHTLY" in os.environ else NAMES[::2]
COUNTS = [f"{kind}MachineCount" for kind in ("updated", "ready", "unavailable", "degraded")] + ["machineCount"]
# Nothing is rendered here, and some conditions are Pintle's own.
UNCOMPARED_CONDITIONS = ("RenderDegraded", "Degraded", "Misconfigured", "PausedPending")


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        yield running


@pytest.mark.parametrize("name", CHOSEN)
def test_updates_as_many_nodes_and_reports_the_same_status(cluster, name):
    objects, vector = Objects(cluster), Vector(name)
    try:
        vector.load(objects)
        before = desired(objects)

        def updated():
            """Returns the updated nodes, without those that are unavailable already: only Pintle updates these at once.
            """
            candidates, unavailable = (set(vector.expected.get(kind, [])) for kind in ("candidates", "unavailable"))
            changed = {node for node, config in desired(objects).items() if config != before[node]}
            return changed - (unavailable - candidates)

        with Controller(cluster, "vectors"):
            status = wait_until(lambda: vector.status_now(objects), "the status is current", 30)
            # On a new node, writes of the cluster's own controllers may conflict with ours at first.
            wait_until(lambda: len(updated()) >= len(vector.updated_nodes()), "the same nodes are updated", 30)
        assert len(updated()) == len(vector.updated_nodes())
        assert updated() <= set(vector.expected.get("candidates", []))
        # Our status is the one after the update, which is the same only if no node was updated.
        if desired(objects) == before:
            assert stories.differences(reported(vector.expected["status"]), reported(status)) == []
    finally:
        stories.delete_all(objects)


class Vector:
    def __init__(self, name):
        self._folder = VECTORS / name
        self.expected = self._read("expected.json")
        self.pool = self._read("pool.json")

    def _read(self, file):
        return json.loads((self._folder / file).read_text(encoding="utf-8"))

    def load(self, objects):
        create(objects, f"{GROUP}/machineconfigpools", self.pool)
        for file, kind in (("pools.json", "MachineConfigPool"), ("machineconfigs.json", "MachineConfig"),
                           ("mcns.json", "MachineConfigNode")):
            if (self._folder / file).exists():
                for thing in self._read(file):
                    if thing["metadata"]["name"] != self.pool["metadata"]["name"] or kind != "MachineConfigPool":
                        create(objects, f"{GROUP}/{kind.lower()}s", {
                            "apiVersion": "machineconfiguration.openshift.io/v1", "kind": kind, **thing})
        for node in self._read("nodes.json"):
            create(objects, "/api/v1/nodes", node)

    def updated_nodes(self):
        """Returns the nodes that get another config, and not only a label."""
        return [patch for patch in self.expected.get("patches", [])
                if PREFIX + "desiredConfig" in patch["patch"]["metadata"].get("annotations", {})]

    def status_now(self, objects):
        """Returns the pool's status, once it was written for the pool's current generation."""
        pool = objects.pool(self.pool["metadata"]["name"])
        is_current = pool["status"].get("observedGeneration") == pool["metadata"]["generation"]
        return pool["status"] if is_current and any(
            condition["type"] == "RenderDegraded" for condition in pool["status"]["conditions"]) else None


def create(objects, path, thing):
    metadata = {key: value for key, value in thing["metadata"].items() if key in ("name", "labels", "annotations")}
    owners = [owner | {"uid": objects.pool(owner["name"])["metadata"]["uid"]}
              for owner in thing["metadata"].get("ownerReferences", [])]
    made = objects.admin.must("POST", path, {**thing, "metadata": {**metadata, "ownerReferences": owners}})
    if "status" in thing:
        status = filled(thing["status"]) if path.endswith("machineconfignodes") else thing["status"]
        objects.admin.must("PATCH", f"{path}/{made['metadata']['name']}/status", {"status": status}, MERGE)


def filled(thing):
    """Returns the status without empty versions, and with a message in each condition: an old API server treats an
    empty text as missing.
    """
    conditions = [condition | {"message": condition["message"] or "filled"}
                  for condition in thing.get("conditions", [])]
    versions = {key: value for key, value in thing.get("configVersion", {}).items() if value}
    return thing | {"conditions": conditions} | ({"configVersion": versions} if versions else {})


def desired(objects):
    return {node["metadata"]["name"]: node["metadata"].get("annotations", {}).get(PREFIX + "desiredConfig")
            for node in objects.admin.must("GET", "/api/v1/nodes")["items"]}


def reported(status):
    conditions = {condition["type"]: (condition["status"], condition["reason"], condition["message"])
                  for condition in status["conditions"] if condition["type"] not in UNCOMPARED_CONDITIONS}
    return {"conditions": conditions, "configuration": status["configuration"],
            **{count: status.get(count) for count in COUNTS}}
