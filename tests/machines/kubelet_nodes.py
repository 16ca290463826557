# SPDX-License-Identifier: Apache-2.0
"""Nodes of a test cluster that have an agent and a real kubelet."""

import contextlib
import threading

from .agent_node import AgentNode, prepare_cluster
from .api_service import ApiService
from .cluster import Cluster
from .node import Node
from .node_network import NodeNetwork
from .real_kubelet import RealKubelet
from .wait import wait_until
from .whole import Firmware

# Shorter times let the tests wait less, and busy machines lose nodes.
_LOST_AFTER = "16s"


class KubeletNode(AgentNode):
    """An AgentNode that is registered with the cluster by its kubelet."""

    def __init__(self, machine, cluster, kubelet, more=""):
        self.kubelet = kubelet
        super().__init__(machine, cluster, machine.name, more)

    def _join(self, role):
        self.kubelet.start(self.boot_id())
        self.kubelet.wait_ready()
        labels = {f"node-role.kubernetes.io/{role}": ""}
        self.cluster.admin.must("PATCH", f"/api/v1/nodes/{self.name}", {"metadata": {"labels": labels}})
        return self.cluster.node(self.name)

    def wait_for_kubelet(self):
        """Waits until the node is ready because its kubelet has reported so in this boot."""
        wait_until(lambda: self.kubelet.is_ready_since(self.boot_id()),
                   lambda: f"{self.name} is ready: {self.kubelet.ready()}; {self.kubelet.end_of_log()}", 60)

    def boot_id(self):
        return self.run("cat", "/proc/sys/kernel/random/boot_id").stdout.strip()


class KubeletFirmware(Firmware):
    """Starts nodes again that have rebooted by themselves, each with its kubelet.  It starts none while it is held."""

    def __init__(self, nodes):
        super().__init__(nodes)
        self._may_start = threading.Event()
        self._may_start.set()

    def __exit__(self, *words):
        self._may_start.set()
        return super().__exit__(*words)

    def hold(self):
        self._may_start.clear()

    def go_on(self):
        self._may_start.set()

    def start(self, node):
        node.kubelet.stop()
        self._may_start.wait()
        node.machine.start()
        node.kubelet.start(node.boot_id())


@contextlib.contextmanager
def kubelet_nodes(images, count=3):
    """Yields a cluster and its nodes; `images` are archives of images, which all pods can use."""
    with contextlib.ExitStack() as stack:
        networks = [stack.enter_context(NodeNetwork()) for _ in range(count)]
        # The nodes reach each address of this machine.
        cluster = stack.enter_context(Cluster(networks[0].host, lost_after=_LOST_AFTER))
        prepare_cluster(cluster)
        nodes = []
        for network in networks:
            stack.enter_context(ApiService(cluster, network))
            machine = stack.enter_context(Node(network=network.path))
            kubelet = stack.enter_context(RealKubelet(cluster, machine.name, network, images))
            nodes.append(KubeletNode(machine, cluster, kubelet))
        yield cluster, nodes
