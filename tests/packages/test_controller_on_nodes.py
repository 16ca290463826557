# SPDX-License-Identifier: Apache-2.0
"""Tests the controller as its own Deployment, from its own image, on the nodes that it updates.

The pods are run by real kubelets, as the manifests in deploy/ describe them.
"""

import pytest
from controller_image import NAME, VERSION, apply_overlay, build, digest

from machines import pod_images, real_kubelet
from machines.agent_node import Watch
from machines.controller import GROUP, MERGE, NAMESPACE, OWN_NAMESPACE, Objects
from machines.kubelet_nodes import KubeletFirmware, kubelet_nodes
from machines.wait import wait_until

pytestmark = pytest.mark.skipif(real_kubelet.obstacle() is not None, reason=str(real_kubelet.obstacle()))

PODS = f"/api/v1/namespaces/{OWN_NAMESPACE}/pods"


@pytest.fixture(scope="module")
def site(debian_packages, tmp_path_factory):
    """Returns (cluster, nodes, firmware): the controller runs on the nodes, and the agents have not started."""
    output = build(debian_packages["pintle-controller"], tmp_path_factory.mktemp("image"))
    archive, = output.glob("*.tar")
    pause, _ = pod_images.make(tmp_path_factory.mktemp("images"))
    with kubelet_nodes([pause, archive]) as (cluster, nodes):
        for node in nodes:
            # The Deployment names the image by its digest, and the nodes reach no registry.
            node.kubelet.tag(f"{NAME}:{VERSION}", f"{NAME}@{digest(output)}")
        apply_overlay(cluster, output)
        with KubeletFirmware(nodes) as firmware:
            yield cluster, nodes, firmware


class Holders(Watch):
    """Records the holders of the controller's lease; "" stands for a lease that was released."""

    path = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"

    def __init__(self, cluster):
        super().__init__(cluster)
        self.seen = []

    def receive(self, thing):
        holder = thing["spec"].get("holderIdentity", "")
        if thing["metadata"]["name"] == "machine-config-controller" and [holder] != self.seen[-1:]:
            self.seen.append(holder)


def running(cluster):
    """Returns the ready replicas, as {name of the pod: pod}."""
    def is_ready(pod):
        conditions = {each["type"]: each["status"] for each in pod.get("status", {}).get("conditions", [])}
        return conditions.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]
    return {pod["metadata"]["name"]: pod for pod in cluster.admin.must("GET", PODS)["items"] if is_ready(pod)}


def wait_for_replicas(cluster):
    def both():
        found = running(cluster)
        return found if len(found) == 2 else None
    return wait_until(both, lambda: f"two replicas are ready: {cluster.admin.must('GET', PODS)['items']}", 60)


def leader(cluster):
    """Returns the name of the pod that leads, or None."""
    holder = Objects(cluster).leader()
    return next((name for name in running(cluster) if f"{name}_" in holder), None)


def test_the_deployment_rolls_out_a_change_to_the_nodes_on_which_it_runs(site):
    cluster, nodes, firmware = site
    objects = Objects(cluster)
    objects.controller_config(base_image="")
    replicas = wait_for_replicas(cluster)
    assert len({pod["spec"]["nodeName"] for pod in replicas.values()}) == 2
    wait_until(lambda: leader(cluster), "a replica leads", 60)
    objects.config("00-worker", files={})
    first = objects.wait_for_target("worker")
    objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/worker",
                       {"metadata": {"annotations": {"pintle.io/drain-eviction-retry": "1s"}}}, MERGE)
    for node in nodes:
        node.annotate(currentConfig=first, desiredConfig=first)
        node.start()
    objects.wait_until_updated("worker", first)

    with Holders(cluster) as holders:
        objects.config("50-more", files={"/etc/more": "new"})
        target = objects.wait_for_target("worker", other_than=first)
        objects.wait_until_updated("worker", target, seconds=240)
        after = wait_for_replicas(cluster)
    for node in nodes:
        node.wait_done(target)
        assert node.read("/etc/more") == "new"
        assert firmware.reboots[node.name] == 1
        node.wait_for_kubelet()
    # The controller has evicted its own replicas, and each one that led has released the lease before it ended.
    assert len(set(holders.seen) - {""}) > 1
    assert all("" in pair for pair in zip(holders.seen, holders.seen[1:])), holders.seen
    assert not replicas.keys() & after.keys()
    assert all(pod["status"]["containerStatuses"][0]["restartCount"] == 0 for pod in after.values())
    wait_until(lambda: leader(cluster), "a replica leads", 60)
