# SPDX-License-Identifier: Apache-2.0
"""The kubelets of all nodes where machines have none: pods run, and end when they are deleted."""

import contextlib

from . import kubelet
from .agent_node import Watch
from .cluster_user import Patient, Refused


class Kubelets(Watch):
    path = "/api/v1/pods"

    def saw(self, thing):
        node, status = thing["spec"].get("nodeName"), thing.get("status", {})
        is_asked_to_go = "deletionTimestamp" in thing["metadata"] and not thing["metadata"].get("finalizers")
        if not node or not (is_asked_to_go or status.get("phase") == "Pending"):
            return
        with contextlib.suppress(Refused):    # The pod is gone already, or has changed again.
            kubelet.tend(Patient(self._cluster.node(node)), thing)
