# SPDX-License-Identifier: Apache-2.0
"""Simulates the agents of nodes without machines, by setting the annotations of each Node as its agent would.

Many such nodes can be simulated quickly, for tests of the controller.  Tests of real agents use machines.agent_node.
"""

import contextlib
import threading

from .cluster_user import Refused
from .wait import wait_until

PREFIX = "machineconfiguration.openshift.io/"
_MERGE = "application/merge-patch+json"
_ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110"}


class SimulatedAgents(contextlib.AbstractContextManager):
    """Simulates the agents of all nodes that `add` was called for, from the start to the end of the `with` block.

    With `drains`, the agents request a drain before they change a node, and an uncordon before they report Done.
    """

    def __init__(self, cluster, drains=False, admin=None):
        self.admin = admin or cluster.admin
        self.drains = drains
        self.names = []
        self.broken = set()        # Configs that no node can apply.
        self.deadly = set()        # Configs with which a node becomes NotReady until it is given another one.
        self.most_at_work = 0      # The largest number of nodes that were changing at once.
        self.order = []            # The nodes in the order in which they have changed.
        self._held = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.trouble = None

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, _, error, *__):
        self._ended.set()
        self._thread.join()
        # After the thread has failed, most tests time out, so the thread's error is the cause of the test's error.
        if self.trouble and (error is None or isinstance(error, Exception)):
            raise self.trouble from error

    def add(self, name, config, labels=("node-role.kubernetes.io/worker",), has_report=True, **more_labels):
        """Adds a node that has booted with a config; has_report decides whether it gets a MachineConfigNode."""
        annotations = {PREFIX + "currentConfig": config, PREFIX + "desiredConfig": config, PREFIX + "state": "Done"}
        node = self.admin.must("POST", "/api/v1/nodes", {
            "metadata": {"name": name, "annotations": annotations,
                         "labels": {"kubernetes.io/os": "linux", **dict.fromkeys(labels, ""), **more_labels}},
            "status": {"capacity": _ROOM, "allocatable": _ROOM, "conditions": [_ready("True")]}})
        if has_report:
            self.admin.must("POST", "/apis/machineconfiguration.openshift.io/v1/machineconfignodes", {
                "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigNode",
                "metadata": {"name": name, "ownerReferences": [{
                    "apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}]},
                "spec": {"node": {"name": name}, "pool": {"name": "not-yet-set"},
                         "configVersion": {"desired": "not-yet-set"}}})
        self.names.append(name)

    def hold(self):
        """Makes all agents pause."""
        self._held.set()

    def go_on(self):
        self._held.clear()

    def configs(self):
        """Returns {node: (current config, desired config)}."""
        nodes = self.admin.must("GET", "/api/v1/nodes")["items"]
        return {node["metadata"]["name"]: _configs(node) for node in nodes if node["metadata"]["name"] in self.names}

    def wait_until_all_have(self, config, names=None, seconds=60):
        names = names or self.names
        wait_until(lambda: all(self.configs()[name] == (config, config) for name in names),
                   f"{names} have {config}", seconds)

    def _run(self):
        try:
            while not self._ended.wait(0.02):
                self._answer_all()
        except Exception as trouble:    # It is raised at the end of `with`.
            self.trouble = trouble

    def _answer_all(self):
        names = set(self.names)
        nodes = [node for node in self.admin.must("GET", "/api/v1/nodes")["items"] if node["metadata"]["name"] in names]
        at_work = [node for node in nodes if len(set(_configs(node))) > 1]
        self.most_at_work = max(self.most_at_work, len(at_work))
        for node in nodes:
            if self._held.is_set():
                return
            with contextlib.suppress(Refused):    # The node has been removed.
                self._answer(node)

    def _answer(self, node):
        name = node["metadata"]["name"]
        current, desired = _configs(node)
        state = _annotation(node, "state")
        if current == desired:
            if state != "Done" and self._is_uncordoned(node, desired):
                self._annotate(name, state="Done", reason="")
                self._set_ready(name, "True")
        elif desired in self.broken:
            if state != "Degraded" and self._is_drained(node, desired):
                self._annotate(name, state="Degraded", reason=f"{desired} cannot be applied")
        elif desired in self.deadly:
            if state != "Working":
                self._annotate(name, state="Working")
                self._set_ready(name, "False")
        elif state != "Working":
            self._annotate(name, state="Working", reason="")
        elif self._is_drained(node, desired) and self._is_uncordoned(node, desired):
            self._set_ready(name, "True")
            # A test that waits for this config reads the order as soon as the Node has the config.
            self.order.append(name)
            self._annotate(name, state="Done", reason="", currentConfig=desired)

    def _is_drained(self, node, config):
        """Returns whether the node is drained; requests the drain if it was not requested yet."""
        if not self.drains or _annotation(node, "desiredDrain") == f"uncordon-{config}":
            return True
        return self._is_granted(node, f"drain-{config}")

    def _is_uncordoned(self, node, config):
        if not self.drains or not _annotation(node, "desiredDrain"):
            return True
        return self._is_granted(node, f"uncordon-{config}")

    def _is_granted(self, node, request):
        """Returns whether the controller has carried out the request; makes the request if it is a new one."""
        if _annotation(node, "desiredDrain") != request:
            self._annotate(node["metadata"]["name"], desiredDrain=request)
            return False
        return _annotation(node, "lastAppliedDrain") == request

    def _annotate(self, name, **annotations):
        self.admin.must("PATCH", f"/api/v1/nodes/{name}", {
            "metadata": {"annotations": {PREFIX + key: value for key, value in annotations.items()}}}, _MERGE)

    def _set_ready(self, name, status):
        self.admin.must("PATCH", f"/api/v1/nodes/{name}/status", {"status": {"conditions": [_ready(status)]}})


def _ready(status):
    return {"type": "Ready", "status": status, "reason": "Simulated"}


def _annotation(node, key):
    return node["metadata"].get("annotations", {}).get(PREFIX + key)


def _configs(node):
    return _annotation(node, "currentConfig"), _annotation(node, "desiredConfig")
