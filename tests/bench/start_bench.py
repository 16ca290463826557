#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of `pintle-controller start` beside a real API server, from its start to the end of a rollout.

Arguments: the build folder, and the number of nodes. The Node objects are as large as real ones: they have images,
conditions, annotations of other programs, and managedFields. The controller also does the work of the operator, and
makes configs from as many templates as an OpenShift release has.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["PINTLE_BUILD"] = str(Path(sys.argv[1] if len(sys.argv) > 1 else "build-bench").resolve())

from fleet import PATIENCE, Fleet, Memory  # noqa: E402
from fleet_client import Client  # noqa: E402

from machines.cluster import Cluster  # noqa: E402
from machines.controller import MERGE, Controller, Objects  # noqa: E402
from machines.openshift_settings import Settings, prepare_operator_cluster  # noqa: E402
from machines.simulated_agents import PREFIX  # noqa: E402
from machines.templates import write_templates  # noqa: E402
from machines.wait import wait_until  # noqa: E402

NODES = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
POOLS = 20
BUDGET = 64  # MiB
TEMPLATES = 217


def write_many_templates(folder):
    """Writes TEMPLATES templates of two kilobytes, half of which are common to all roles."""
    write_templates(folder)
    places = ["common/_base", "master/00-master/_base", "common/_base", "worker/00-worker/_base"]
    script = "".join(f"    echo \"line {line} of a script\" >> /run/own/log\n" for line in range(40))
    for number in range(TEMPLATES - sum(1 for path in folder.rglob("*.yaml"))):
        (folder / places[number % len(places)] / "files" / f"own-{number}.yaml").write_text(
            f"path: /etc/own/{number}\nmode: 0644\ncontents:\n  inline: |\n    dns={{{{.ClusterDNSIP}}}}\n{script}")


def answer_until_updated(fleet):
    """Sets each node's current config as soon as the controller has set its desired config."""
    def answer(node):
        desired = node["metadata"]["annotations"][PREFIX + "desiredConfig"]
        fleet.client.must("PATCH", "/api/v1/nodes/" + node["metadata"]["name"], {
            "metadata": {"annotations": {PREFIX + "currentConfig": desired, PREFIX + "state": "Done"}}}, MERGE)

    def all_updated():
        nodes = fleet.client.must("GET", "/api/v1/nodes")["items"]
        annotations = [node["metadata"]["annotations"] for node in nodes]
        targeted = [node for node, values in zip(nodes, annotations)
                    if values[PREFIX + "desiredConfig"] != values[PREFIX + "currentConfig"]]
        fleet.client.for_each(answer, targeted)
        return all(values[PREFIX + "currentConfig"] in fleet.targets.values() for values in annotations)
    wait_until(all_updated, "all nodes have the new config", PATIENCE, 0.5)


def main():
    with Cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        prepare_operator_cluster(cluster)
        settings = Settings(cluster)
        settings.put_all()
        settings.install_release()
        templates = Path(folder) / "templates"
        write_many_templates(templates)

        def start_controller(name):
            return Controller(cluster, name, f"--templates={templates}")
        fleet = Fleet(Client(lambda: cluster.connection(cluster.admin.pair)), Objects(cluster), NODES, POOLS)
        fleet.make_pools(start_controller)
        fleet.make_nodes()
        with start_controller("controller") as controller:
            memory = Memory(controller)
            memory.measure_start(fleet)
            fleet.change_config("a rollout")
            with memory.phase("a rollout to all nodes"):
                answer_until_updated(fleet)
                fleet.wait_until_updated()
            memory.measure_idle("the rollout")
            print(f"at the most: {memory.peak:.1f} MiB (budget: {BUDGET})", flush=True)
            if memory.peak > BUDGET:
                sys.exit("over budget: the peak")


main()
