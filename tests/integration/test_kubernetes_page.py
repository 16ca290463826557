# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/kubernetes.md exactly as the page has them, in a cluster that was empty.

The cluster runs no pods, so the controller runs beside it, with the account that the page created.
"""

import os
import pathlib
import re
import shutil
import time

from machines import programs, shell
from machines.cluster import Cluster
from machines.controller import OWN_NAMESPACE, Controller, Objects, wait_until_owners_are_known
from machines.manifests import copy_for
from machines.simulated_agents import SimulatedAgents

PROGRAM = programs.here("pintle-controller")
PAGE = pathlib.Path(__file__).parents[2] / "docs/kubernetes.md"


def blocks():
    """Returns the page's commands, [(what follows `sh` on the first line, text)]."""
    return re.findall(r"(?ms)^```sh *([^\n]*)\n(.*?)^```$", PAGE.read_text())


def test_each_command_is_run_or_marked():
    text = PAGE.read_text()
    assert text.count("\n```sh") == len(blocks()) == text.count("\n```") / 2
    assert [mark for mark, _ in blocks() if mark] == ["on a node", "for new machines"]


def test_the_commands_lead_from_an_empty_cluster_to_a_config(tmp_path):
    with Cluster() as cluster, SimulatedAgents(cluster) as agents:
        agents.add("worker-0", "rendered-worker-before", labels=(), has_report=False)
        copy_for(cluster, tmp_path / "deploy")

        def run(text):
            environment = os.environ | {"KUBECONFIG": str(cluster.admin.kubeconfig),
                                        "PATH": f"{cluster.commands}:{PROGRAM.parent}:{os.environ['PATH']}"}
            return shell.run("sh", "-ec", text, cwd=tmp_path, env=environment)

        began = time.monotonic()
        for _, text in [block for block in blocks() if not block[0]]:
            run(text)
        deployment = cluster.get("deployment", "pintle-controller", "-n", OWN_NAMESPACE)
        container, = deployment["spec"]["template"]["spec"]["containers"]
        assert container["image"] == "registry.example/pintle-controller:0.1"
        wait_until_owners_are_known(cluster)
        user = cluster.account(OWN_NAMESPACE, "pintle-controller")
        with Controller(cluster, kubeconfig=user.kubeconfig):
            objects = Objects(cluster)
            target = objects.wait_for_target("worker")
            files = cluster.get("machineconfig", target)["spec"]["config"]["storage"]["files"]
            assert [file["path"] for file in files] == ["/etc/motd"]
            selector = objects.pool("master")["spec"]["nodeSelector"]
            assert selector == {"matchExpressions": [
                {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]}
            # The controller sets the node's desired config, and the simulated agent applies it.
            agents.wait_until_all_have(target)
            objects.wait_until_updated("worker", target)
            # The page states how long this takes.
            print(f"from the first command to the updated pool: {time.monotonic() - began:.1f} s")
        pair = cluster.authority.server("ignition", ["ignition.test"])
        shutil.copy(pair.certificate, tmp_path / "tls.crt")
        shutil.copy(pair.key, tmp_path / "tls.key")
        new_machines, = [text for mark, text in blocks() if mark == "for new machines"]
        printed = run(new_machines).stdout
        assert re.search(r'"Bearer [\w-]+\.[\w-]+"', printed), printed
        deployment = cluster.get("deployment", "pintle-controller", "-n", OWN_NAMESPACE)
        container, = deployment["spec"]["template"]["spec"]["containers"]
        assert 22623 in [port["containerPort"] for port in container["ports"]]
        secrets = {"pintle-token-keys", "machine-config-server-tls"}
        assert secrets <= {secret["metadata"]["name"]
                           for secret in cluster.get("secrets", "-n", OWN_NAMESPACE)["items"]}
