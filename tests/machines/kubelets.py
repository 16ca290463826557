# SPDX-License-Identifier: Apache-2.0
"""Does the work of the kubelets of all nodes, for tests without machines: pods run, and end when they are deleted."""

import contextlib

from . import kubelet
from .agent_node import Watch
from .cluster_user import PatientUser, Refused


class Kubelets(Watch):
    path = "/api/v1/pods"

    def receive(self, thing):
        node, status = thing["spec"].get("nodeName"), thing.get("status", {})
        is_being_deleted = "deletionTimestamp" in thing["metadata"] and not thing["metadata"].get("finalizers")
        if not node or not (is_being_deleted or status.get("phase") == "Pending"):
            return
        with contextlib.suppress(Refused):    # The pod is gone already, or has changed again.
            kubelet.tend(PatientUser(self._cluster.node(node)), thing)
