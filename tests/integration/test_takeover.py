# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle-controller takeover` on a real API server, with stand-ins for the programs of the Machine Config
Operator.
"""

import collections
import contextlib
import datetime
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import textwrap
import time

import pytest
from sync_cases import differences

from machines import audit, daemon, grants, kubelet, openshift_kinds, programs, shell
from machines.background_work import BackgroundWork
from machines.cluster import Cluster
from machines.cluster_user import Refused
from machines.controller import (DEPLOY, GROUP, MERGE, NAMESPACE, OWN_NAMESPACE, Controller, Objects, account,
                                 prepare_cluster)
from machines.deadly_proxy import AFTER, BEFORE
from machines.openshift_settings import Settings
from machines.proxy import Proxy
from machines.simulated_agents import SimulatedAgents
from machines.wait import wait_until

NIGHTLY = "PINTLE_NIGHTLY" in os.environ
PROGRAM = programs.here("pintle-controller")
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
SERVERS = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
OURS = f"/apis/apps/v1/namespaces/{OWN_NAMESPACE}/deployments/pintle-controller"
VERSION = "/apis/config.openshift.io/v1/clusterversions/version"
RECORD = f"/api/v1/namespaces/{OWN_NAMESPACE}/configmaps/pintle-takeover"
IDENTITY = "pintle-controller_"
MASTER = "node-role.kubernetes.io/master"
# The Ignition servers of the operator and of Pintle listen here.  The API server connects to no pod at a loopback address.
ADDRESS, PORT = "198.51.100.22", daemon.free_ports(1)[0]
# Times of the leases: how long others wait, when a holder gives up, and how often each tries.
WAIT, DEADLINE, RETRY = 4, 3, 0.3


def deployment(namespace, name, grace=0):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels},
                                  "spec": {"containers": [{"name": "c", "image": "example.com/c"}],
                                           "terminationGracePeriodSeconds": grace}}}}


def daemon_set(name, selector, grace=0):
    """Returns a DaemonSet of the operator that runs on the nodes with a label.

    With a grace period of 0 s, a pod is gone as soon as somebody deletes it, and no kubelet ends it before.
    """
    made = deployment(NAMESPACE, name, grace)
    del made["spec"]["replicas"]
    made["kind"] = "DaemonSet"
    made["spec"]["template"]["spec"]["nodeSelector"] = selector
    return made


class Background(BackgroundWork):
    """Work for a cluster that lasts until the end of `with`."""

    def __init__(self, cluster):
        super().__init__()
        self._cluster, self._admin = cluster, cluster.admin


class OldProgram(Background):
    """Stands in for one of the operator's programs: it holds its lease while its Deployment has a replica.

    When it cannot renew the lease, it acts until its deadline, as the operator's programs do.  It takes the lease of
    another holder when the lease has not changed for WAIT seconds, whatever duration the lease names.
    """

    def __init__(self, cluster, lease, name):
        super().__init__(cluster)
        self._lease, self.name = f"{LEASES}/{lease}", name
        self._path = f"{DEPLOYMENTS}/{name}"
        self._seen, self._seen_at, self._acts_until = None, 0, 0

    @property
    def acts(self):
        return time.monotonic() < self._acts_until

    def work(self):
        while not self.ending.wait(RETRY):
            if self._admin.must("GET", self._path)["spec"]["replicas"] == 0:
                self._leave()
            else:
                self._try()

    def _leave(self):
        self._acts_until, self._seen = 0, None
        found, lease = self._admin.request("GET", self._lease)
        if found == 200 and lease["spec"].get("holderIdentity") == self.name:
            self._write(lease, "")

    def _try(self):
        found, lease = self._admin.request("GET", self._lease)
        if found == 404:
            found, lease = self._admin.request("POST", LEASES, {
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": self._lease.rpartition("/")[2]}, "spec": {}})
            if found != 201:
                return
        if lease["spec"] != self._seen:
            self._seen, self._seen_at = lease["spec"], time.monotonic()
        holder = lease["spec"].get("holderIdentity", "")
        if holder in ("", self.name) or time.monotonic() > self._seen_at + WAIT:
            self._write(lease, self.name)

    def _write(self, lease, holder):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        began = time.monotonic()
        found, _ = self._admin.request("PATCH", self._lease, {
            "metadata": {"resourceVersion": lease["metadata"]["resourceVersion"]},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": WAIT, "renewTime": now, "acquireTime": now}}, MERGE)
        if found == 200 and holder:
            self._acts_until = began + DEADLINE


class OldServer(Background):
    """Stands in for the operator's server for new machines: it listens while its DaemonSet has a pod."""

    def __init__(self, cluster):
        super().__init__(cluster)
        self._socket = None

    @property
    def listens(self):
        return self._socket is not None

    def work(self):
        while not self.ending.wait(0.1):
            if server_pods(self._cluster):
                self._serve()
            else:
                self._close()
        self._close()

    def _serve(self):
        if self._socket is None:
            made = socket.socket()
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.settimeout(0)
            try:
                made.bind((ADDRESS, PORT))
            except OSError:    # Pintle's server has the port, so the kubelet would start this one again.
                made.close()
                return
            made.listen()
            self._socket = made
        with contextlib.suppress(OSError):
            self._socket.accept()[0].close()

    def _close(self):
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class VersionOperator(Background):
    """Stands in for the cluster's version operator: it restores the objects of the release, and counts these writes.

    It leaves an object alone if the ClusterVersion has an override that makes the object unmanaged.
    """

    def __init__(self, cluster):
        super().__init__(cluster)
        self.writes = collections.Counter()    # By the path of the object.
        maps = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
        kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        self._objects = {path: self._managed_part(self._admin.must("GET", path)) for path in (
            f"{DEPLOYMENTS}/machine-config-operator", f"{maps}/machine-config-operator-images",
            f"{maps}/machine-config-osimageurl", f"{kinds}/machineconfigs.machineconfiguration.openshift.io",
            f"{kinds}/machineconfigpools.machineconfiguration.openshift.io")}

    def work(self):
        while not self.ending.wait(RETRY):
            unmanaged = {(each["kind"], each["name"]) for each in
                         self._admin.must("GET", VERSION)["spec"].get("overrides", []) if each["unmanaged"]}
            for path, wanted in self._objects.items():
                found = self._admin.must("GET", path)
                if (found["kind"], found["metadata"]["name"]) in unmanaged or self._managed_part(found) == wanted:
                    continue
                with contextlib.suppress(Refused):    # Somebody else has changed the object, so it is tried again.
                    self._admin.must("PATCH", path, wanted | {
                        "metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}}, MERGE)
                    self.writes[path] += 1

    @staticmethod
    def _managed_part(thing):
        return {"spec": {"replicas": thing["spec"]["replicas"]}} if thing["kind"] == "Deployment" else {
            key: thing[key] for key in ("spec", "data") if key in thing}


class Watcher(Background):
    """Looks all the time whether a program of the operator acts while a replica of Pintle acts under the same lease.

    A replica acts from the line in its log with which it begins to lead to the line with which it has ceased, whatever
    the lease has.  A program of the operator acts until its deadline, also after it has lost its lease.
    """

    LINES = {"machine-config-controller": (" leads now", " no longer leads"),
             "machine-config": (" acts as the operator now", " no longer acts as the operator")}

    def __init__(self, cluster, programs):
        super().__init__(cluster)
        self._log = cluster.folder / "ours.log"
        self._programs = dict(zip(OLD, programs))
        self.looks = 0
        self.ours_seen = set()      # The leases under which Pintle has acted.
        self.theirs_seen = set()    # The leases under which the operator has acted.
        self.violations = []

    def work(self):
        while not self.ending.wait(0.02):
            self.looks += 1
            for lease, program in self._programs.items():
                # A program that acts before and after the look has acted at that moment.
                acted = program.acts
                is_ours = self._do_ours_act(lease)
                acts = acted and program.acts
                if is_ours:
                    self.ours_seen.add(lease)
                if acts:
                    self.theirs_seen.add(lease)
                if is_ours and acts:
                    self.violations.append((lease, time.monotonic()))

    def _do_ours_act(self, lease):
        log = self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""
        begun, ceased = (log.rfind(line) for line in self.LINES[lease])
        return begun > ceased


class StandInAgent(Background):
    """Answers the label of a node as an agent with WaitForHandover=yes does, without a machine to look at.

    test_takeover_nodes.py has real agents.
    """

    def __init__(self, cluster, name):
        super().__init__(cluster)
        self.name, self.has_met_the_daemon = name, False

    def work(self):
        while not self.ending.wait(0.1):
            label, report = handover_of(self._cluster, self.name)
            wanted = "standby"
            if label == "acts" and report:
                wanted = "begins" if report == "standby" else "acts"
            if wanted != "standby" and self.name in daemon_nodes(self._cluster):
                self.has_met_the_daemon = True
            if wanted != report:
                patch = {"metadata": {"annotations": {"pintle.io/agent-state": wanted}}}
                self._cluster.node(self.name).must("PATCH", f"/api/v1/nodes/{self.name}", patch, MERGE)


def handover_of(cluster, node):
    """Returns the label that gives a node to its agent, and what the agent reports."""
    metadata = cluster.admin.must("GET", f"/api/v1/nodes/{node}")["metadata"]
    return metadata.get("labels", {}).get("pintle.io/agent", ""), \
        metadata.get("annotations", {}).get("pintle.io/agent-state", "")


def pods_of(cluster, name):
    return cluster.admin.must("GET", f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app%3D{name}")["items"]


def server_pods(cluster):
    return pods_of(cluster, "machine-config-server")


def daemon_nodes(cluster):
    return {pod["spec"].get("nodeName") for pod in pods_of(cluster, "machine-config-daemon")}


def serves_machines(cluster):
    """Returns whether Pintle's server answers new machines."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        return daemon.status_of(daemon.https(ADDRESS, PORT, cluster.authority.certificate), "/healthz") == 200
    return False


class OurReplica(Background):
    """Runs pintle-controller while its Deployment has a replica."""

    def __init__(self, cluster, *options):
        super().__init__(cluster)
        self._options = options

    def work(self):
        running = None
        while not self.ending.wait(0.1):
            wanted = self._admin.must("GET", OURS)["spec"]["replicas"] > 0
            if wanted and running is None:
                running = Controller(self._cluster, "ours", "--operator=yes", *self._options,
                                     lease=(f"{WAIT}s", f"{DEADLINE}s", f"{RETRY * 1000:.0f}ms"))
                running.__enter__()
            elif not wanted and running is not None:
                running.end()
                running = None
        if running is not None:
            running.end()


class Kubelets(Background):
    """Runs the pods of all nodes."""

    def __init__(self, cluster):
        super().__init__(cluster)
        self.down = set()    # The nodes whose machine is off.

    def work(self):
        while not self.ending.wait(0.2):
            for pod in self._cluster.admin.must("GET", "/api/v1/pods")["items"]:
                is_new = pod.get("status", {}).get("phase") != "Running"
                is_up = "nodeName" in pod["spec"] and pod["spec"]["nodeName"] not in self.down
                if is_up and (is_new or "deletionTimestamp" in pod["metadata"]):
                    with contextlib.suppress(Refused):    # The pod is gone already, or has changed again.
                        self.tend(pod)

    def tend(self, pod):
        kubelet.tend(self._cluster.node(pod["spec"]["nodeName"]), pod, ADDRESS)


@pytest.fixture(scope="module", autouse=True)
def address():
    shell.run("ip", "address", "replace", f"{ADDRESS}/32", "dev", "lo")
    yield
    shell.run("ip", "address", "delete", f"{ADDRESS}/32", "dev", "lo")


@pytest.fixture(scope="module")
def pair(cluster):
    """The certificate of Pintle's Ignition server."""
    return cluster.authority.server("ignition", [ADDRESS])


def prepare_openshift(cluster):
    """Installs the kinds of OpenShift, and Pintle's account."""
    prepare_cluster(cluster)
    openshift_kinds.install(cluster, [openshift_kinds.CLUSTER_OPERATOR, next(
        kind for kind in openshift_kinds.KINDS if kind[2] == "ClusterVersion")])
    Settings.install(cluster)
    cluster.apply((DEPLOY / "openshift/rbac.yaml").read_text())
    account(cluster)


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_openshift(running)
        yield running


def takeover_user(cluster):
    """Returns an administrator who does nothing but take over."""
    return cluster.administrator(audit.TAKEOVER)


def takeover(cluster, *words, status=0, patience="180s", user=None):
    kubeconfig = (user or takeover_user(cluster)).kubeconfig
    done = subprocess.run(
        [PROGRAM, "takeover", *words, "--kubeconfig", kubeconfig, "--patience", patience],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert status is None or done.returncode == status, done.stdout
    return done.stdout


# The files of templates that configs of nodes and of registries are made from.
TEMPLATES = {
    "common/_base/files/kubelet": ("/etc/kubernetes/kubelet.conf", "kind: KubeletConfiguration\n"),
    "common/_base/files/storage": ("/etc/containers/storage.conf", '[storage]\ndriver = "overlay"\n'),
    "common/_base/files/registries": ("/etc/containers/registries.conf", ""),
    "common/_base/files/policy": ("/etc/containers/policy.json",
                                  '{"default":[{"type":"insecureAcceptAnything"}],"transports":{}}'),
    "master/00-master/_base/files/role": ("/etc/role", "master"),
    "worker/00-worker/_base/files/role": ("/etc/role", "worker"),
}


def write_template(folder, name, path, text):
    file = folder / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"path: {path}\nmode: 0644\ncontents:\n  inline: {json.dumps(text)}\n", encoding="utf-8")


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("templates")
    for name, (path, text) in TEMPLATES.items():
        write_template(folder, name, path, text)
    return folder


@pytest.fixture
def generated(cluster, templates):
    """A cluster whose MachineConfigs are made from templates."""
    admin, objects, settings = cluster.admin, Objects(cluster), Settings(cluster)
    settings.put_all()
    settings.install_release()
    admin.must("POST", VERSION.rpartition("/")[0], {
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"}, "spec": {}})
    admin.must("PATCH", f"{VERSION}/status", {"status": {
        "desired": {"image": f"r.test/release@sha256:{'0' * 64}", "version": "4.21.0"}}}, MERGE)
    with Controller(cluster, "generator", "--operator=yes", f"--templates={templates}"):
        for pool in ("master", "worker"):
            objects.wait_for_target(pool)
    yield objects
    for path in (VERSION, *(f"{LEASES}/{lease}" for lease in OLD)):
        admin.request("DELETE", path)
    settings.forget_all()
    objects.delete_all()


KEPT = "pintle.io/rendered-configs-kept-until"


def forget_controller(admin):
    """Removes what Pintle's controller has left in pools, so that it can stand for the operator's controller."""
    for pool in admin.must("GET", f"{GROUP}/machineconfigpools")["items"]:
        admin.must("PATCH", f"{GROUP}/machineconfigpools/{pool['metadata']['name']}",
                   {"metadata": {"annotations": {KEPT: None}}}, MERGE)


def everything(admin):
    """Returns the objects that a takeover and its undo must leave as they were.

    The fields in which the API server and the cluster's controllers count are left out.
    """
    objects = [admin.must("GET", VERSION), *admin.must("GET", f"{GROUP}/machineconfigpools")["items"],
               *admin.must("GET", f"{GROUP}/controllerconfigs")["items"], admin.must("GET", OURS),
               *(admin.must("GET", f"{SERVERS}/machine-config-{name}") for name in ("server", "daemon")),
               *(admin.must("GET", f"{DEPLOYMENTS}/{name}") for name in OLD.values())]
    for thing in objects:
        for field in ("resourceVersion", "managedFields", "generation"):
            thing["metadata"].pop(field, None)
        if thing["kind"] in ("DaemonSet", "Deployment", "MachineConfigPool", "ControllerConfig"):
            thing.pop("status", None)
        thing["metadata"].get("annotations", {}).pop("deprecated.daemonset.template.generation", None)
        if thing["metadata"].get("annotations") == {}:
            del thing["metadata"]["annotations"]
    return objects


# Kinds whose objects come and go in any cluster.  The operator makes a MachineConfigNode for each node, and so do we.
RENEWED = ("controllerrevisions", "endpoints", "endpointslices", "events", "leases", "machineconfignodes", "pods",
           "replicasets")
# The operator's controller writes the former, and the API server counts in the latter.
RENEWED_ANNOTATIONS = ("machineconfiguration.openshift.io/controlPlaneTopology",
                       "deprecated.daemonset.template.generation")


def all_objects(admin):
    """Returns the objects of all kinds of the cluster but those of RENEWED, by kind, namespace and name.

    Left out are statuses, which report the present, and fields in which the API server counts.
    """
    groups = ["/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}"
                           for group in admin.must("GET", "/apis")["groups"])]
    found = {}
    for group in groups:
        for kind in admin.must("GET", group)["resources"]:
            if "list" not in kind["verbs"] or kind["name"] in RENEWED:
                continue
            for thing in admin.must("GET", f"{group}/{kind['name']}")["items"]:
                metadata = thing["metadata"]
                for field in ("resourceVersion", "managedFields", "generation"):
                    metadata.pop(field, None)
                for name in RENEWED_ANNOTATIONS:
                    metadata.get("annotations", {}).pop(name, None)
                thing.pop("status", None)
                found[f"{group}/{kind['name']} {metadata.get('namespace', '')} {metadata['name']}"] = thing
    return found


def marks(admin):
    """Returns Pintle's annotations of each object that its controller writes, and the types of the conditions."""
    found = {}
    for path in ("/api/v1/nodes", *(f"{GROUP}/{kind}" for kind in (
            "machineconfigpools", "machineconfigs", "machineconfignodes", "controllerconfigs")),
                 *(f"/api/v1/namespaces/{NAMESPACE}/{kind}" for kind in ("configmaps", "secrets"))):
        for thing in admin.must("GET", path)["items"]:
            metadata = thing["metadata"]
            ours = {key: value for key, value in metadata.get("annotations", {}).items() if key.startswith("pintle.io/")}
            conditions = {each["type"] for each in thing.get("status", {}).get("conditions", [])}
            found[path, metadata["name"]] = (ours, conditions)
    return found


# The operator's Deployments, by the names of their leases.
OLD = {"machine-config": "machine-config-operator", "machine-config-controller": "machine-config-controller"}


def create_deployments(admin, **container):
    """Creates the ClusterVersion, the operator's Deployments, and that of Pintle with these fields of its container."""
    admin.must("POST", VERSION.rpartition("/")[0], {
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
        "spec": {"clusterID": "c"}})
    ours = deployment(OWN_NAMESPACE, "pintle-controller")
    ours["spec"]["template"]["spec"]["containers"][0] |= {"args": ["start", "--operator=yes"], **container}
    admin.must("POST", OURS.rpartition("/")[0], ours)
    for name in OLD.values():
        admin.must("POST", DEPLOYMENTS, deployment(NAMESPACE, name))


@pytest.fixture
def kubelets(cluster):
    return Kubelets(cluster)


@pytest.fixture
def token(cluster, tmp_path):
    """Returns the folder of the token for new machines."""
    folder = tmp_path / "bootstrap-token"
    folder.mkdir()
    (folder / "token").write_text("word", encoding="ascii")
    (folder / "ca.crt").write_bytes(cluster.authority.certificate.read_bytes())
    return folder


@pytest.fixture
def operators_cluster(cluster, pair, kubelets, token):
    """A cluster of the Machine Config Operator, in which Pintle's controller is a candidate."""
    admin, objects, settings = cluster.admin, Objects(cluster), Settings(cluster)
    settings.put_all()
    settings.install_release()
    for role in ("master", "worker"):
        objects.config(f"00-{role}", role=role, files={"/etc/base": "1"})
    with SimulatedAgents(cluster) as agents, contextlib.ExitStack() as stack:
        # An earlier controller makes the ControllerConfig and the rendered configs.
        with Controller(cluster, "before", "--operator=yes"):
            agents.add("master-0", objects.wait_for_target("master"), labels=[MASTER], has_report=False)
            for pool in ("master", "worker"):
                objects.wait_until_updated(pool)
        forget_controller(admin)
        create_deployments(admin, ports=[{"name": "ignition", "containerPort": PORT}])
        admin.must("POST", SERVERS, daemon_set("machine-config-server", {MASTER: ""}))
        admin.must("POST", SERVERS, daemon_set("machine-config-daemon", {"kubernetes.io/os": "linux"}))
        cluster.add_node("infra-0", role="infra")
        stack.enter_context(kubelets)
        old = [stack.enter_context(OldProgram(cluster, lease, name)) for lease, name in OLD.items()]
        wait_until(lambda: all(program.acts for program in old), "the operator acts", 60)
        server = stack.enter_context(OldServer(cluster))
        wait_until(lambda: server.listens, "the operator's server has its port", 60)
        stack.enter_context(OurReplica(cluster, f"--ignition-listen={ADDRESS}:{PORT}", f"--tls-cert={pair.certificate}",
                                       f"--tls-key={pair.key}", f"--bootstrap-token={token}"))
        wait_until(lambda: admin.must("GET", OURS).get("status", {}).get("readyReplicas"), "our replica is ready", 60)
        yield objects, agents, old
    for path in (VERSION, OURS, RECORD, *(f"{SERVERS}/machine-config-{name}" for name in ("server", "daemon")),
                 *(f"{DEPLOYMENTS}/{name}" for name in OLD.values()), *(f"{LEASES}/{lease}" for lease in OLD)):
        admin.request("DELETE", path)
    settings.forget_all()
    objects.delete_all()


@pytest.fixture
def version_operator(cluster, operators_cluster):
    with VersionOperator(cluster) as running:
        yield running


@pytest.fixture
def watcher(cluster, operators_cluster):
    """Fails the test if a program of the operator and a replica of Pintle act at once."""
    with Watcher(cluster, operators_cluster[2]) as running:
        yield running
    assert not running.violations and running.looks > 100


def holders(cluster):
    return {lease: cluster.admin.must("GET", f"{LEASES}/{lease}")["spec"].get("holderIdentity", "") for lease in OLD}


def test_a_cluster_is_taken_over_and_given_back(cluster, operators_cluster):
    objects, agents, old = operators_cluster
    before, configs_before = everything(cluster.admin), agents.configs()
    assert "A takeover can begin" in takeover(cluster, "check")
    plan = takeover(cluster, "plan")
    assert "spec.overrides becomes" in plan and "spec.replicas from 1 to 0" in plan
    assert everything(cluster.admin) == before
    assert takeover(cluster, "status", status=2)

    takeover(cluster, "start")
    assert all(holder.startswith(IDENTITY) for holder in holders(cluster).values())
    assert not any(program.acts for program in old)
    assert takeover(cluster, "status").splitlines()[0].split() == ["record", "done"]
    assert agents.configs() == configs_before
    # A second run has nothing to do, and an update goes through Pintle.
    assert takeover(cluster, "start") == "All steps are done.\n"
    objects.config("10-more", role="master", files={"/etc/more": "1"})
    target = objects.wait_for_target("master", other_than=configs_before["master-0"][0])
    objects.wait_until_updated("master", target)
    objects.remove_config("10-more")
    objects.wait_until_updated("master", configs_before["master-0"][0])

    takeover(cluster, "undo")
    wait_until(lambda: holders(cluster) == OLD, "the operator holds its leases", 60)
    assert everything(cluster.admin) == before
    assert cluster.admin.request("GET", RECORD)[0] == 404
    assert agents.configs() == configs_before


def test_the_version_operator_restores_nothing_and_two_never_act(cluster, operators_cluster, version_operator, watcher):
    # Without a takeover, the version operator restores whatever somebody changes.
    path = f"{DEPLOYMENTS}/machine-config-operator"
    images = f"/api/v1/namespaces/{NAMESPACE}/configmaps/machine-config-osimageurl"
    cluster.admin.must("PATCH", images, {"data": {"baseOSContainerImage": "of somebody"}}, MERGE)
    cluster.admin.must("PATCH", path, {"spec": {"replicas": 0}}, MERGE)
    wait_until(lambda: version_operator.writes == {path: 1, images: 1}, "the objects are restored", 60)
    wait_until(lambda: holders(cluster) == OLD, "the operator holds its leases again", 60)
    assert watcher.theirs_seen == set(OLD) and not watcher.ours_seen
    version_operator.writes.clear()
    before = everything(cluster.admin)

    takeover(cluster, "start")
    wait_until(lambda: watcher.ours_seen == set(OLD), "Pintle acts under both leases", 60)
    takeover(cluster, "undo")
    wait_until(lambda: holders(cluster) == OLD, "the operator holds its leases", 60)
    assert everything(cluster.admin) == before
    assert not version_operator.writes


def test_undo_removes_all_marks_of_our_controller(cluster, operators_cluster):
    objects, agents, _ = operators_cluster
    admin = cluster.admin
    agents.add("worker-0", objects.target("worker"), has_report=False)
    data = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
    admin.must("POST", data, {"metadata": {"name": "kubeconfig-data"}, "data": {"ca-bundle.crt": ""}})
    worker, master = (f"{GROUP}/machineconfigpools/{pool}" for pool in ("worker", "master"))
    admin.must("PATCH", worker, {"spec": {"paused": True}}, MERGE)
    admin.must("PATCH", master, {"metadata": {"annotations": {"pintle.io/drain-timeout": "soon"}}}, MERGE)
    before, marks_before = everything(admin), marks(admin)
    takeover(cluster, "start")
    node = "/api/v1/nodes/worker-0"
    wait_until(lambda: "pintle.io/controller-config-waits-until" in admin.must("GET", node)["metadata"]["annotations"],
               "the files of the node wait", 60)
    for path, condition in (worker, "PausedPending"), (master, "Misconfigured"):
        wait_until(lambda path=path, condition=condition: condition in {
            each["type"] for each in admin.must("GET", path)["status"]["conditions"]}, f"there is {condition}", 60)
    # These annotations are made in a drain, in a rollout by a policy, and when the API server's authorities change.
    admin.must("PATCH", node, {"metadata": {"annotations": {
        "pintle.io/keep-cordoned": "true", "pintle.io/drain-started": "2026-11-21T20:00:00Z drain-x"}}}, MERGE)
    admin.must("PATCH", f"{data}/kubeconfig-data",
               {"metadata": {"annotations": {"pintle.io/copied-at": "2026-11-21T20:00:00Z"}}}, MERGE)
    takeover(cluster, "undo")
    assert everything(admin) == before
    after = marks(admin)
    assert {key: after[key] for key in marks_before} == marks_before
    assert not any(after[key][0] for key in after.keys() - marks_before.keys())


def test_the_server_is_handed_over_if_that_is_wanted(cluster, operators_cluster):
    before, all_before = everything(cluster.admin), all_objects(cluster.admin)
    log = cluster.folder / "ours.log"
    waits = "Address already in use; the Ignition server starts when the address is free"
    wait_until(lambda: log.exists() and waits in log.read_text(), "our server waits for its port", 60)
    takeover(cluster, "start")
    assert server_pods(cluster) and not serves_machines(cluster)
    assert takeover(cluster, "status", "--server", status=2).splitlines()[-2].startswith("server ")
    takeover(cluster, "start", "--server")
    # Before the command ended, it sent a request to our server through the API server.
    assert not server_pods(cluster) and serves_machines(cluster)
    assert takeover(cluster, "status", "--server").splitlines()[-1].split() == ["serving", "done"]
    takeover(cluster, "undo")
    wait_until(lambda: server_pods(cluster), "the server runs again", 60)
    assert everything(cluster.admin) == before
    assert differences(all_before, all_objects(cluster.admin)) == []


def test_undo_names_the_machine_whose_server_it_waits_for(cluster, operators_cluster, kubelets):
    before = everything(cluster.admin)
    takeover(cluster, "start", "--server")
    kubelets.down.add("master-0")
    printed = takeover(cluster, "undo", status=1, patience="60s")
    assert re.search(r"serving: still waits until all pods of the DaemonSet machine-config-server are ready "
                     r"\(0 of 1 are\)\. The pod machine-config-server-\w+ on the node master-0 is not ready", printed)
    assert printed.endswith("; then run the same command again\n")
    kubelets.down.clear()
    takeover(cluster, "undo")
    assert everything(cluster.admin) == before


@pytest.fixture
def stand_ins(cluster, operators_cluster):
    """The agents of two more nodes."""
    objects, agents, _ = operators_cluster
    with contextlib.ExitStack() as stack:
        names = ("worker-0", "worker-1")
        for name in names:
            agents.add(name, objects.target("worker"), has_report=False)
        yield [stack.enter_context(StandInAgent(cluster, name)) for name in names]


def test_nodes_are_given_to_their_agents_and_back(cluster, operators_cluster, stand_ins):
    agents, workers = operators_cluster[1], [agent.name for agent in stand_ins]
    others = {"master-0", "infra-0"}
    wait_until(lambda: daemon_nodes(cluster) == {*others, *workers}, "the daemon runs on all nodes", 60)
    wait_until(lambda: all(handover_of(cluster, name) == ("", "standby") for name in workers),
               "the agents stand by", 60)
    before, configs_before = everything(cluster.admin), agents.configs()
    obstacle = "obstacle  the agent on the node worker-0 may not get machineconfigs.machineconfiguration.openshift.io"
    wait_until(lambda: obstacle in takeover(cluster, "check", "--daemons", status=None),
               "the right that the agents lack is an obstacle", 60)
    cluster.admin.apply_files(DEPLOY / "agent/rbac.yaml")
    wait_until(lambda: "agent/rbac.yaml" not in takeover(cluster, "check", "--daemons", status=None),
               "the agents have their rights", 60)
    found = takeover(cluster, "check", "--daemons")
    assert "notice    2 of 4 nodes keep the Machine Config Operator's daemon" in found
    takeover(cluster, "start")
    assert daemon_nodes(cluster) == {*others, *workers}

    printed = takeover(cluster, "start", "--daemons").splitlines()
    # Each node was handed over only after the node before it.
    assert [line.split()[0] for line in printed][:3] == ["daemons", *workers]
    assert daemon_nodes(cluster) == others
    assert all(handover_of(cluster, name) == ("acts", "acts") for name in workers)
    assert agents.configs() == configs_before
    assert takeover(cluster, "start", "--daemons") == "All steps are done.\n"

    takeover(cluster, "undo")
    assert daemon_nodes(cluster) == {*others, *workers}
    assert all(handover_of(cluster, name) == ("", "standby") for name in workers)
    assert everything(cluster.admin) == before and agents.configs() == configs_before
    for agent in stand_ins:
        agent.end()
        assert not agent.has_met_the_daemon


def test_no_node_is_given_away_without_an_agent(cluster, operators_cluster):
    assert "no node has an agent that stands by" in takeover(cluster, "check", "--daemons", status=2)


def page_blocks():
    """Returns the indented blocks of docs/takeover.md, which are commands."""
    page = (DEPLOY.parent / "docs/takeover.md").read_text(encoding="utf-8")
    return [textwrap.dedent(block) for block in re.findall(r"(?m)(?:^    \S[^\n]*\n)+", page)]


def test_the_commands_of_the_page_take_a_cluster_over_and_give_it_back(cluster, operators_cluster, templates, tmp_path):
    _, agents, _ = operators_cluster
    before, configs_before = everything(cluster.admin), agents.configs()
    (tmp_path / "FILE").symlink_to(takeover_user(cluster).kubeconfig)
    client = tmp_path / "oc"
    client.write_text(f"""#!/bin/sh -e
case "$1 $2" in
  "adm release") test "$*" = "adm release info --image-for=machine-config-operator"; echo registry.test/operator ;;
  "image extract") test "$3 $4 $5" = "registry.test/operator --path /etc/mcc/templates/:templates"
                   cp -r {templates}/. templates ;;
  *) exit 1 ;;
esac
""", encoding="ascii")
    client.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{PROGRAM.parent}:{os.environ['PATH']}"}
    verbs, comparison = page_blocks()

    def run(command):
        return subprocess.run(["sh", "-ec", command], cwd=tmp_path, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    # The templates can be read, but the configs of this cluster do not come from them, so there are obstacles.
    compared = run(comparison)
    assert compared.returncode == 2 and "obstacle" in compared.stdout, compared.stdout
    assert "give the folder" not in compared.stdout
    for command in verbs.splitlines():
        done = run(command)
        assert done.returncode == 0, f"{command}: {done.stdout}"
    assert everything(cluster.admin) == before and agents.configs() == configs_before


def killed_start(cluster):
    """Begins a takeover, and kills it as soon as it has changed something; returns False if it ended before."""
    def state():
        return everything(cluster.admin), holders(cluster), cluster.admin.request("GET", RECORD)

    before = state()
    program = subprocess.Popen([PROGRAM, "takeover", "start", "--kubeconfig", takeover_user(cluster).kubeconfig],
                               stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: program.poll() is not None or state() != before, "the takeover changes something", 240)
    finally:
        program.kill()
    return program.wait(60) == -signal.SIGKILL


@pytest.mark.usefixtures("watcher")
def test_a_takeover_goes_on_after_it_was_killed_at_each_step(cluster, operators_cluster):
    _, agents, _ = operators_cluster
    before, configs_before = everything(cluster.admin), agents.configs()
    # Each run continues where the one before it was killed.
    for _ in range(3):
        assert killed_start(cluster)
    assert everything(cluster.admin) != before
    # A takeover can also be taken back halfway.
    takeover(cluster, "undo")
    wait_until(lambda: holders(cluster) == OLD, "the operator holds its leases", 60)
    assert everything(cluster.admin) == before
    kills = 0
    while killed_start(cluster):
        kills += 1
        assert kills < 50
    assert kills >= 3
    takeover(cluster, "start")
    assert all(holder.startswith(IDENTITY) for holder in holders(cluster).values())
    takeover(cluster, "undo")
    assert everything(cluster.admin) == before and agents.configs() == configs_before


def name_of_write(request, body):
    """Returns the object that a request of a takeover changes, and how, or None for a request that changes nothing."""
    path = request.path.split("?")[0]
    if request.command == "GET" or "/authorization.k8s.io/" in path:
        return None
    if request.command == "POST":
        return json.loads(body)["metadata"]["name"] + " is created"
    name = path.removesuffix("/status").rpartition("/")[2]
    if request.command == "DELETE":
        return name + " is deleted"
    changes = {}
    for each in json.loads(body):
        place, value = each["path"].split("/")[1:], each.get("value")
        if place[:2] == ["metadata", "annotations"]:
            changes.setdefault("annotations", "")    # Some of them have times.
        elif place != ["metadata", "resourceVersion"]:
            value = value.get("holderIdentity") if isinstance(value, dict) else value
            changes[place[-1]] = f"={value}" if isinstance(value, (int, str)) else ""
    if len(changes) > 1:
        changes.pop("annotations", None)
    return " ".join([name, *(key + value for key, value in sorted(changes.items()))])


class DeadlyTakeoverProxy(Proxy):
    """Kills a takeover at the first write of the given name, before or after the API server receives this write.

    `writes` are the names of all writes so far.  A lease that is renewed counts once.
    """

    def __init__(self, cluster, user, name, moment):
        super().__init__(cluster, user)
        self.name, self.moment, self.kill = name, moment, None
        self.writes = []

    def treat(self, request, body):
        name = name_of_write(request, body)
        is_new = name is not None and name not in self.writes
        if is_new:
            self.writes.append(name)
        if not is_new or name != self.name:
            return super().treat(request, body)
        if self.moment == AFTER:
            with self.forwarded(request, body) as answer:
                answer.read()
        self.kill()
        return None


def writes_of(cluster, *words, name=None, moment=BEFORE):
    """Runs a takeover, and kills it at the write of this name; returns the names of its writes."""
    with DeadlyTakeoverProxy(cluster, takeover_user(cluster), name, moment) as proxy:
        kubeconfig = cluster.folder / "killed.kubeconfig"
        kubeconfig.write_text(proxy.kubeconfig(), encoding="ascii")
        with shell.running(PROGRAM, "takeover", *words, "--kubeconfig", kubeconfig,
                           stdout=subprocess.DEVNULL) as program:
            proxy.kill = program.kill
            status = program.wait(300)
        assert status == (-signal.SIGKILL if name in proxy.writes else 0), proxy.writes
        return proxy.writes


def state_after(cluster, agents):
    """Returns the objects of a takeover, and who acts where."""
    objects = everything(cluster.admin)
    for thing in objects:
        # While Pintle's controller leads, it writes this annotation with a time.
        thing["metadata"].get("annotations", {}).pop(KEPT, None)
        if thing["metadata"].get("annotations") == {}:
            del thing["metadata"]["annotations"]
    found, record = cluster.admin.request("GET", RECORD)
    leaders = {lease: IDENTITY if holder.startswith(IDENTITY) else holder for lease, holder in holders(cluster).items()}
    nodes = [node["metadata"]["name"] for node in cluster.admin.must("GET", "/api/v1/nodes")["items"]]
    return {"objects": objects, "record": record["data"] if found == 200 else None, "leaders": leaders,
            "nodes": {name: handover_of(cluster, name) for name in nodes}, "daemons": daemon_nodes(cluster),
            "servers": len(server_pods(cluster)), "serves": serves_machines(cluster), "configs": agents.configs()}


# The moments at which a takeover is killed, except in the nightly run, which tries all.
CHOSEN = {
    "start": [("machine-config spec=pintle-takeover-offer", AFTER), ("worker-0 pintle.io~1agent=acts", BEFORE)],
    "undo": [("pintle-controller replicas=0", AFTER), ("machine-config-operator replicas=1", BEFORE)],
}


@pytest.mark.usefixtures("watcher")
@pytest.mark.parametrize("verb", ["start", "undo"])
def test_a_takeover_that_was_killed_at_a_write_ends_the_same(cluster, operators_cluster, stand_ins, verb):
    _, agents, _ = operators_cluster
    words = {"start": ("start", "--server", "--daemons"), "undo": ("undo",)}
    cluster.admin.apply_files(DEPLOY / "agent/rbac.yaml")
    grants.wait_until_known(cluster.admin)
    wait_until(lambda: all(handover_of(cluster, agent.name) == ("", "standby") for agent in stand_ins),
               "the agents stand by", 60)
    ends, names = {"undo": state_after(cluster, agents)}, {}

    def compare(verb, moment):
        # Pods start and end some time after the last write.
        wait_until(lambda: state_after(cluster, agents) == ends[verb], f"{verb} has ended the same, {moment}", 60)

    for each in ("start", "undo"):
        names[each] = writes_of(cluster, *words[each])
        ends.setdefault(each, state_after(cluster, agents))
    compare("undo", "without a kill")
    print(f"{verb} makes these writes: {', '.join(names[verb])}")
    moments = [(name, moment) for name in names[verb] for moment in (BEFORE, AFTER)] if NIGHTLY else CHOSEN[verb]
    killed = 0
    for name, moment in moments:
        if verb == "undo":
            takeover(cluster, *words["start"])
        killed += name in writes_of(cluster, *words[verb], name=name, moment=moment)
        takeover(cluster, *words[verb])
        compare(verb, f"though it was killed {moment} the write \"{name}\"")
        if verb == "start":
            takeover(cluster, "undo")
            compare("undo", f"after a start that was killed {moment} the write \"{name}\"")
    # Some of our controller's annotations are not there in each run, so that undo does not remove them.
    assert killed == len(moments) if not NIGHTLY else killed >= 0.8 * len(moments)
    for agent in stand_ins:
        agent.end()
        assert not agent.has_met_the_daemon


def test_no_takeover_begins_while_there_is_an_obstacle(cluster, operators_cluster):
    objects, agents, _ = operators_cluster
    before = everything(cluster.admin)
    # The pool needs another rendered config than its present target.
    objects.config("10-more", role="master", files={"/etc/more": "1"})
    found = takeover(cluster, "check", status=2)
    assert "obstacle  pool master: its target would become rendered-master-" in found
    assert "Nothing was changed" in takeover(cluster, "start", status=2)
    objects.remove_config("10-more")
    # The ControllerConfig differs from the one that Pintle would make.
    cluster.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller",
                       {"spec": {"clusterDNSIP": "192.0.2.53"}}, MERGE)
    assert "spec.clusterDNSIP would change" in takeover(cluster, "check", status=2)
    cluster.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller",
                       {"spec": {"clusterDNSIP": "172.30.0.10"}}, MERGE)
    assert "A takeover can begin" in takeover(cluster, "check")
    cluster.admin.must("PATCH", "/api/v1/nodes/master-0", {"metadata": {"annotations": {
        "machineconfiguration.openshift.io/desiredDrain": "drain-x"}}}, MERGE)
    assert "node master-0 is being drained" in takeover(cluster, "check", status=2)
    assert everything(cluster.admin) == before


def test_an_object_that_cannot_be_read_is_one_obstacle_among_others(cluster, operators_cluster):
    path = "/apis/operator.openshift.io/v1/machineconfigurations"
    present, _ = cluster.admin.request("GET", f"{path}/cluster")
    if present == 404:
        cluster.admin.must("POST", path, {"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration",
                                          "metadata": {"name": "cluster"}, "spec": {"managementState": "Managed"}})
    # The API server does not know this field's type.
    cluster.admin.must("PATCH", f"{path}/cluster", {"spec": {"nodeDisruptionPolicy": "none"}}, MERGE)
    cluster.admin.must("PATCH", "/api/v1/nodes/master-0", {"metadata": {"annotations": {
        "machineconfiguration.openshift.io/desiredDrain": "drain-x"}}}, MERGE)
    found = takeover(cluster, "check", status=2)
    assert ("obstacle  cluster: decoding a MachineConfiguration from the API server: $.spec.nodeDisruptionPolicy: "
            in found)
    assert "`kubectl edit machineconfigurations.operator.openshift.io cluster`" in found
    assert "node master-0 is being drained" in found
    assert "Nothing was changed" in takeover(cluster, "start", status=2)
    cluster.admin.must("PATCH", f"{path}/cluster", {"spec": {"nodeDisruptionPolicy": None}}, MERGE)
    if present == 404:
        cluster.admin.must("DELETE", f"{path}/cluster")
    assert "nodeDisruptionPolicy" not in takeover(cluster, "check", status=2)


def test_generated_configs_are_compared_byte_by_byte(cluster, generated, templates, tmp_path):
    assert {"00-master", "00-worker", "99-worker-generated-registries"} <= {
        config["metadata"]["name"] for config in cluster.admin.must("GET", f"{GROUP}/machineconfigs")["items"]}
    # This cluster has no Deployments to take over, so there are always obstacles.
    found = takeover(cluster, "check", f"--templates={templates}", status=2)
    assert "MachineConfig " not in found and "were not compared" not in found
    others = tmp_path / "others"
    shutil.copytree(templates, others)
    write_template(others, "worker/00-worker/_base/files/role", "/etc/role", "hidden")
    found = takeover(cluster, "check", f"--templates={others}", status=2)
    assert [line for line in found.splitlines() if "MachineConfig " in line] == [
        "obstacle  MachineConfig 00-worker would change at spec.config.storage.files[/etc/role].contents.source"]
    assert "hidden" not in found
    assert "were not compared" in takeover(cluster, "check", status=2)
    assert "--templates: " in takeover(cluster, "check", f"--templates={tmp_path}/missing", status=1)


def test_rights_that_are_missing_are_obstacles(cluster, operators_cluster):
    before = everything(cluster.admin)
    # This account may read everything, and change nothing.
    cluster.kubectl("create", "serviceaccount", "reader", "-n", NAMESPACE)
    cluster.apply(json.dumps({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                              "metadata": {"name": "reader"},
                              "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]}))
    cluster.kubectl("create", "clusterrolebinding", "reader", "--clusterrole=reader",
                    f"--serviceaccount={NAMESPACE}:reader")
    reader = cluster.account(NAMESPACE, "reader")
    found = takeover(cluster, "check", status=2, user=reader).splitlines()
    for right in (f"patch deployments.apps machine-config-operator in the namespace {NAMESPACE}",
                  "patch clusterversions.config.openshift.io version",
                  f"create configmaps in the namespace {OWN_NAMESPACE}"):
        assert f"obstacle  you may not {right}; use an administrator's kubeconfig, or get this right" in found
    assert "Nothing was changed." in takeover(cluster, "start", status=2, user=reader)
    # Pintle's account lacks a right that the controller needs with --operator=yes.
    settings = cluster.get("clusterrolebinding", "pintle-controller-settings")
    cluster.kubectl("delete", "clusterrolebinding", "pintle-controller-settings")
    found = wait_until(lambda: (lines := takeover(cluster, "check", status=None)) and "obstacle" in lines and lines,
                       "the right is missing", 60)
    assert "Pintle's account pintle/pintle-controller may not list dnses.config.openshift.io" in found
    assert "apply deploy/openshift/operator-settings-rbac.yaml" in found
    cluster.apply(json.dumps({key: settings[key] for key in ("apiVersion", "kind", "roleRef", "subjects")}
                             | {"metadata": {"name": "pintle-controller-settings"}}))
    wait_until(lambda: "A takeover can begin" in takeover(cluster, "check", status=None), "the right is back", 60)
    assert everything(cluster.admin) == before
