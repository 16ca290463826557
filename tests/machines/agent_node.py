# SPDX-License-Identifier: Apache-2.0
"""Nodes of a test cluster that run our agent, and a simulated controller that answers their drain requests."""

import contextlib
import http.client
import json
import pathlib
import threading
import time

from . import grants, programs
from .cluster import Cluster
from .installed import Installed
from .node import Node
from .wait import wait_until

PREFIX = "machineconfiguration.openshift.io/"
KUBECONFIG = "/var/lib/kubelet/kubeconfig"
DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
MCO_NAMESPACE = "openshift-machine-config-operator"
CONF = """[Agent]
NodeName={name}
[Health]
Units=
LimitSec=20s
{more}
"""


def prepare_cluster(cluster):
    """Installs the kinds that the agent uses, and its access rights."""
    cluster.admin.apply_files(*sorted((DEPLOY / "crds").glob("*.yaml")), DEPLOY / "agent/rbac.yaml")
    cluster.kubectl("create", "namespace", MCO_NAMESPACE)
    cluster.wait_until_kinds_are_served()
    grants.wait_until_known(cluster.admin)


class AgentNode(Installed):
    """A node that is registered with the cluster under `name` and has the agent, which is not started yet.

    `more` is added to the agent's pintled.conf.
    """

    def __init__(self, machine, cluster, name, more="", role="worker"):
        super().__init__(machine, programs.on_machine("pintle"))
        self.cluster, self.name = cluster, name
        self.user = self._join(role)
        self.run("mkdir", "--parents", "/etc/pintle", "/var/lib/kubelet")
        self.run("tee", "/etc/pintle/pintled.conf", input=CONF.format(name=name, more=more))
        self.run("tee", KUBECONFIG, input=self.user.kubeconfig.read_text())

    def _join(self, role):
        """Makes the node a part of the cluster, and returns its user."""
        return self.cluster.add_node(self.name, role)

    def start(self):
        started = self.run("systemctl", "enable", "--now", "pintled.service", check=False)
        assert started.returncode == 0, f"{started.stderr}\n{self.log()}"

    def log(self):
        """Returns the latest lines of the agent's log."""
        return self.run("journalctl", "--unit=pintled", "--output=cat", "--lines=40", check=False).stdout

    def annotations(self):
        return annotations_of(self.cluster.get("node", self.name))

    def annotate(self, **values):
        """Sets annotations, as the controller or a person would."""
        patch = {"metadata": {"annotations": {PREFIX + key: value for key, value in values.items()}}}
        self.cluster.admin.must("PATCH", f"/api/v1/nodes/{self.name}", patch)

    def wait_for(self, seconds=60, **wanted):
        """Waits until the annotations have these values.  A value may be a predicate."""
        def matching_annotations():
            have = self.annotations()
            fits = all(value(have.get(key, "")) if callable(value) else have.get(key) == value
                       for key, value in wanted.items())
            return have if fits else None
        try:
            return wait_until(matching_annotations, f"{self.name} has {wanted}", seconds, every=0.05)
        except TimeoutError as late:
            raise AssertionError(f"{late}; it has {self.annotations()}; its agent has logged:\n{self.log()}") from None

    def wait_done(self, config, seconds=60):
        return self.wait_for(seconds, state="Done", currentConfig=config, reason="")

    def status(self):
        return json.loads(self.run(self.program, "status", "-o", "json", check=False).stdout)


def annotations_of(node):
    """Returns the annotations of the agent and the controller, without the prefix of their names."""
    return {key.removeprefix(PREFIX): value for key, value in node["metadata"].get("annotations", {}).items()
            if key.startswith(PREFIX)}


def create_rendered(cluster, name, spec):
    """Creates a rendered config of this name."""
    cluster.admin.create({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
                          "metadata": {"name": name}, "spec": spec})
    return name


def conditions_now(node):
    """Returns {type: status} for the conditions of the node's MachineConfigNode, or {} if the node has none."""
    found = node.cluster.get("machineconfignodes", f"--field-selector=metadata.name={node.name}")["items"]
    return {condition["type"]: condition["status"] for report in found
            for condition in report.get("status", {}).get("conditions", [])}


class Watch(contextlib.AbstractContextManager):
    """Watches a collection of objects inside `with`, and calls receive() with each new state of an object.

    The end of `with` raises the error of receive(), if there was one: without further objects, many tests would pass.
    """

    path = None

    def __init__(self, cluster):
        self._cluster, self._ending = cluster, threading.Event()
        self._connection = self._trouble = None

    def receive(self, thing):
        raise NotImplementedError

    def __enter__(self):
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, _, error, *__):
        self._ending.set()
        deadline = time.monotonic() + 60
        while self._thread.is_alive() and time.monotonic() < deadline:
            # The thread may be opening a connection, which can be closed only later.
            self._disconnect()
            self._thread.join(0.1)
        if self._trouble and (error is None or isinstance(error, Exception)):
            raise self._trouble from error

    def _disconnect(self):
        socket = self._connection and self._connection.sock
        with contextlib.suppress(OSError):    # The server may have closed the connection.
            if socket:
                socket.shutdown(2)

    def _run(self):
        try:
            while not self._ending.is_set():
                # The API server may be down for a while, which is part of some tests.
                with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                    self._watch()
                self._ending.wait(0.05)  # This is the pause before the next attempt.
        except Exception as trouble:
            if not self._ending.is_set():
                self._trouble = trouble

    def _watch(self):
        with contextlib.closing(self._cluster.connection(self._cluster.admin.pair)) as self._connection:
            self._connection.request("GET", f"{self.path}?watch=1", headers={"Accept": "application/json"})
            answer = self._connection.getresponse()
            # An API server that has just started may refuse the watch.
            for line in answer if answer.status == 200 else ():
                thing = json.loads(line)["object"]
                if thing["kind"] == "Status":
                    break
                self.receive(thing)


class AnnotationHistory(Watch):
    """Records the annotations of all nodes in `seen`, as pairs of a name and annotations."""

    path = "/api/v1/nodes"

    def __init__(self, cluster):
        super().__init__(cluster)
        self.seen, self._versions = [], {}

    def receive(self, thing):
        name = thing["metadata"]["name"]
        self.seen.append((name, annotations_of(thing)))
        self._versions[name] = int(thing["metadata"]["resourceVersion"])
        self.react(*self.seen[-1])

    def catch_up(self, name):
        """Waits until the watch has delivered this node as it is now."""
        now = int(self._cluster.get("node", name)["metadata"]["resourceVersion"])
        wait_until(lambda: self._versions.get(name, 0) >= now, f"the watch has delivered {name}", 60)

    def react(self, name, annotations):
        """Subclasses override this to react."""

    def of(self, name, *keys):
        """Returns the values that these annotations of a node had together, without consecutive repetitions."""
        values = []
        for node, annotations in list(self.seen):
            value = tuple(annotations.get(key, "") for key in keys)
            if node == name and (not values or values[-1] != value):
                values.append(value)
        return values


class Conditions(Watch):
    """Records the changes of MachineConfigNodes' conditions in `seen`: (name of the node, type, status, message)."""

    path = "/apis/machineconfiguration.openshift.io/v1/machineconfignodes"

    def __init__(self, cluster):
        super().__init__(cluster)
        self.seen, self._last = [], {}

    def receive(self, thing):
        name = thing["metadata"]["name"]
        # The agent writes several conditions at once, in the order in which they have changed.
        for condition in thing.get("status", {}).get("conditions", []):
            report = (condition["status"], condition["message"])
            if self._last.get((name, condition["type"])) != report and condition["reason"] != "NotYetOccurred":
                self.seen.append((name, condition["type"], *report))
            self._last[name, condition["type"]] = report

    def of(self, name):
        """Returns the changes of one node's conditions as "Type=Status"."""
        return [f"{kind}={status}" for node, kind, status, _ in list(self.seen) if node == name]


class DrainController(AnnotationHistory):
    """Answers the agents' drain requests as the controller does when there are no pods to evict.

    `requests` has all requests, as pairs of the node's name and "drain-CONFIG" or "uncordon-CONFIG".
    """

    def __init__(self, cluster, answers=True):
        super().__init__(cluster)
        self.requests, self.answers = [], answers

    def react(self, name, annotations):
        desired = annotations.get("desiredDrain")
        if not desired or desired == annotations.get("lastAppliedDrain"):
            return
        if (name, desired) not in self.requests[-1:]:
            self.requests.append((name, desired))
        if self.answers:
            patch = {"metadata": {"annotations": {PREFIX + "lastAppliedDrain": desired}},
                     "spec": {"unschedulable": desired.startswith("drain-") or None}}
            self._cluster.admin.must("PATCH", f"/api/v1/nodes/{name}", patch)


@contextlib.contextmanager
def agent_cluster():
    """A cluster that is ready for agents; its policy lets files in /etc/live change without a reboot."""
    policy = {"files": [{"path": "/etc/live", "actions": [{"type": "None"}]}]}
    with Cluster() as cluster:
        prepare_cluster(cluster)
        cluster.admin.create({"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration",
                              "metadata": {"name": "cluster"}, "spec": {"nodeDisruptionPolicy": policy}})
        yield cluster


@contextlib.contextmanager
def node_maker(cluster):
    """Yields a function that makes nodes.  Each has its own name in the cluster, and lasts until the end of `with`."""
    with contextlib.ExitStack() as stack:
        def make(plain=True, more=""):
            machine = stack.enter_context(Node(plain=plain, network="host"))
            return AgentNode(machine, cluster, machine.name, more)
        yield make
