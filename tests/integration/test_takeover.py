# SPDX-License-Identifier: Apache-2.0
"""`pintle-controller takeover` on a real API server, with stand-ins for the Machine Config Operator's programs."""

import datetime
import os
import pathlib
import re
import subprocess
import threading
import time

import pytest

from machines import audit, kubelet, openshift_kinds
from machines.cluster import Cluster
from machines.controller import (DEPLOY, GROUP, MERGE, NAMESPACE, OWN_NAMESPACE, Controller, Objects, account,
                                 prepare_cluster)
from machines.openshift_settings import Settings
from machines.simulated_agents import SimulatedAgents
from machines.wait import wait_until

PROGRAM = pathlib.Path(os.environ["PINTLE_BUILD"]) / "src/controller/pintle-controller"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
SERVERS = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
OURS = f"/apis/apps/v1/namespaces/{OWN_NAMESPACE}/deployments/pintle-controller"
VERSION = "/apis/config.openshift.io/v1/clusterversions/version"
RECORD = f"/api/v1/namespaces/{OWN_NAMESPACE}/configmaps/pintle-takeover"
IDENTITY = "pintle-controller_"
MASTER = "node-role.kubernetes.io/master"
# Times of the leases: how long others wait, when a holder gives up, and how often each tries.
WAIT, DEADLINE, RETRY = 4, 3, 0.3


def deployment(namespace, name):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels},
                                  "spec": {"containers": [{"name": "c", "image": "example.com/c"}],
                                           "terminationGracePeriodSeconds": 0}}}}


def daemon_set(name):
    """Returns a DaemonSet that runs on the control plane, as the Machine Config Operator's server does."""
    made = deployment(NAMESPACE, name)
    del made["spec"]["replicas"]
    made["kind"] = "DaemonSet"
    made["spec"]["template"]["spec"]["nodeSelector"] = {MASTER: ""}
    return made


class OldProgram(threading.Thread):
    """One of the operator's programs: it holds its lease while its Deployment has a replica.

    Like those, it acts until its deadline when it has lost the lease, and waits for a time of its own for the lease of
    another holder, whatever that has written.
    """

    def __init__(self, cluster, lease, name):
        super().__init__(daemon=True)
        self._admin = cluster.admin
        self._lease, self.name = f"{LEASES}/{lease}", name
        self._path = f"{DEPLOYMENTS}/{name}"
        self._seen, self._seen_at, self._acts_until = None, 0, 0
        self._ended = threading.Event()

    @property
    def acts(self):
        return time.monotonic() < self._acts_until

    def run(self):
        while not self._ended.wait(RETRY):
            if self._admin.must("GET", self._path)["spec"]["replicas"] == 0:
                self._leave()
            else:
                self._try()

    def end(self):
        self._ended.set()
        self.join()

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


class OurReplica(threading.Thread):
    """Runs pintle-controller while its Deployment has a replica."""

    def __init__(self, cluster, admin):
        super().__init__(daemon=True)
        self._cluster, self._admin = cluster, admin
        self._ended = threading.Event()

    def run(self):
        running = None
        while not self._ended.wait(0.1):
            wanted = self._admin.must("GET", OURS)["spec"]["replicas"] > 0
            if wanted and running is None:
                running = Controller(self._cluster, "ours", "--operator=yes",
                                     lease=(f"{WAIT}s", f"{DEADLINE}s", f"{RETRY * 1000:.0f}ms"))
                running.__enter__()
            elif not wanted and running is not None:
                running.end()
                running = None
        if running is not None:
            running.end()

    def end(self):
        self._ended.set()
        self.join()


class Kubelets(threading.Thread):
    """Runs the pods of all nodes."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self._cluster = cluster
        self._ended = threading.Event()

    def run(self):
        while not self._ended.wait(0.2):
            for pod in self._cluster.admin.must("GET", "/api/v1/pods")["items"]:
                is_new = pod.get("status", {}).get("phase") != "Running"
                if "nodeName" in pod["spec"] and (is_new or "deletionTimestamp" in pod["metadata"]):
                    kubelet.tend(self._cluster.node(pod["spec"]["nodeName"]), pod)

    def end(self):
        self._ended.set()
        self.join()


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        openshift_kinds.install(running, [openshift_kinds.CLUSTER_OPERATOR, next(
            kind for kind in openshift_kinds.KINDS if kind[2] == "ClusterVersion")])
        Settings.install(running)
        account(running)
        yield running


def kubeconfig(cluster):
    """Returns the kubeconfig of an administrator who does nothing but take over."""
    return cluster.administrator(audit.TAKEOVER).kubeconfig


def takeover(cluster, *words, status=0, patience="180s"):
    done = subprocess.run(
        [PROGRAM, "takeover", *words, "--kubeconfig", kubeconfig(cluster), "--patience", patience],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == status, done.stdout
    return done.stdout


def everything(admin):
    """Returns what a takeover must leave as it was, without what the API server and the cluster's controllers count."""
    objects = [admin.must("GET", VERSION), *admin.must("GET", f"{GROUP}/machineconfigpools")["items"],
               *admin.must("GET", f"{GROUP}/controllerconfigs")["items"], admin.must("GET", OURS),
               admin.must("GET", f"{SERVERS}/machine-config-server"),
               *(admin.must("GET", f"{DEPLOYMENTS}/{name}") for name in OLD.values())]
    for one in objects:
        for field in ("resourceVersion", "managedFields", "generation"):
            one["metadata"].pop(field, None)
        if one["kind"] in ("DaemonSet", "Deployment", "MachineConfigPool", "ControllerConfig"):
            one.pop("status", None)
        for annotation in ("pintle.io/rendered-configs-kept-until", "deprecated.daemonset.template.generation"):
            one["metadata"].get("annotations", {}).pop(annotation, None)
        if one["metadata"].get("annotations") == {}:
            del one["metadata"]["annotations"]
    return objects


OLD = {"machine-config": "machine-config-operator", "machine-config-controller": "machine-config-controller"}


@pytest.fixture
def taken(cluster):
    """A cluster of the Machine Config Operator, in which Pintle's controller is a candidate."""
    admin, objects, settings = cluster.admin, Objects(cluster), Settings(cluster)
    settings.put_all()
    settings.install_release()
    for role in ("master", "worker"):
        objects.config(f"00-{role}", role=role, files={"/etc/base": "1"})
    with SimulatedAgents(cluster) as agents:
        # Somebody has made the ControllerConfig and the rendered configs before.
        with Controller(cluster, "before", "--operator=yes"):
            agents.add("master-0", objects.wait_for_target("master"), labels=[MASTER], has_report=False)
            for pool in ("master", "worker"):
                objects.wait_until_updated(pool)
        admin.must("POST", VERSION.rpartition("/")[0], {
            "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
            "spec": {"clusterID": "c"}})
        admin.must("POST", OURS.rpartition("/")[0], deployment(OWN_NAMESPACE, "pintle-controller"))
        for name in OLD.values():
            admin.must("POST", DEPLOYMENTS, deployment(NAMESPACE, name))
        admin.must("POST", SERVERS, daemon_set("machine-config-server"))
        cluster.add_node("infra-0", role="infra")
        threads = [Kubelets(cluster), *(OldProgram(cluster, lease, name) for lease, name in OLD.items())]
        for thread in threads:
            thread.start()
        old = threads[1:]
        wait_until(lambda: all(program.acts for program in old), "the operator acts", 60)
        threads.append(OurReplica(cluster, admin))
        threads[-1].start()
        wait_until(lambda: admin.must("GET", OURS).get("status", {}).get("readyReplicas"), "our replica is ready", 60)
        yield objects, agents, old
        for thread in threads:
            thread.end()
    for path in (VERSION, OURS, RECORD, f"{SERVERS}/machine-config-server", *(f"{DEPLOYMENTS}/{name}" for name in OLD.values()),
                 *(f"{LEASES}/{lease}" for lease in OLD)):
        admin.request("DELETE", path)
    settings.forget_all()
    objects.delete_all()


def holders(cluster):
    return {lease: cluster.admin.must("GET", f"{LEASES}/{lease}")["spec"].get("holderIdentity", "") for lease in OLD}


def test_a_cluster_is_taken_over_and_given_back(cluster, taken):
    objects, agents, old = taken
    before, told = everything(cluster.admin), agents.configs()
    assert "Nothing speaks against a takeover" in takeover(cluster, "check")
    plan = takeover(cluster, "plan")
    assert "spec.overrides becomes" in plan and "spec.replicas from 1 to 0" in plan
    assert everything(cluster.admin) == before
    assert takeover(cluster, "status", status=2)

    takeover(cluster, "start")
    assert all(holder.startswith(IDENTITY) for holder in holders(cluster).values())
    assert not any(program.acts for program in old)
    assert takeover(cluster, "status").splitlines()[0].split() == ["record", "done"]
    assert agents.configs() == told
    # A second run has nothing to do, and an update goes through Pintle.
    assert takeover(cluster, "start") == "All steps are done.\n"
    objects.config("10-more", role="master", files={"/etc/more": "1"})
    target = objects.wait_for_target("master", other_than=told["master-0"][0])
    objects.wait_until_updated("master", target)
    objects.remove_config("10-more")
    objects.wait_until_updated("master", told["master-0"][0])

    takeover(cluster, "undo")
    wait_until(lambda: holders(cluster) == OLD, "the operator holds its leases", 60)
    assert everything(cluster.admin) == before
    assert cluster.admin.request("GET", RECORD)[0] == 404
    assert agents.configs() == told


def test_the_server_is_handed_over_if_that_is_wanted(cluster, taken):
    before = everything(cluster.admin)

    def scheduled():
        return cluster.admin.must("GET", f"{SERVERS}/machine-config-server")["status"].get("currentNumberScheduled", 0)
    wait_until(lambda: scheduled() == 1, "the server runs", 60)
    takeover(cluster, "start")
    assert scheduled() == 1
    takeover(cluster, "start", "--server")
    assert scheduled() == 0
    takeover(cluster, "undo")
    wait_until(lambda: scheduled() == 1, "the server runs again", 60)
    assert everything(cluster.admin) == before


def test_the_commands_of_the_page_do_it(cluster, taken):
    _, agents, _ = taken
    before, told = everything(cluster.admin), agents.configs()
    page = (DEPLOY.parent / "docs/takeover.md").read_text(encoding="utf-8")
    verbs = re.findall(r"(?m)^    pintle-controller takeover (\w+) +--kubeconfig FILE ", page)
    assert verbs == ["check", "plan", "start", "status", "undo"]
    for verb in verbs:
        takeover(cluster, verb)
    assert everything(cluster.admin) == before and agents.configs() == told


def test_a_takeover_goes_on_after_it_was_killed_at_any_time(cluster, taken):
    _, agents, _ = taken
    before, told = everything(cluster.admin), agents.configs()
    for tenths in (2, 7, 15, 30, 60):
        with subprocess.Popen([PROGRAM, "takeover", "start", "--kubeconfig", kubeconfig(cluster)],
                              stdout=subprocess.DEVNULL) as killed:
            try:
                killed.wait(tenths / 10)
            except subprocess.TimeoutExpired:
                killed.kill()
        if tenths == 15:
            # It can be taken back from the middle, too.
            takeover(cluster, "undo")
            wait_until(lambda: holders(cluster) == OLD, "the operator holds its leases", 60)
            assert everything(cluster.admin) == before
    takeover(cluster, "start")
    assert all(holder.startswith(IDENTITY) for holder in holders(cluster).values())
    takeover(cluster, "undo")
    assert everything(cluster.admin) == before and agents.configs() == told


def test_nothing_begins_while_something_speaks_against_it(cluster, taken):
    objects, agents, _ = taken
    before = everything(cluster.admin)
    # Another config is wanted than the one that is rendered.
    objects.config("10-more", role="master", files={"/etc/more": "1"})
    found = takeover(cluster, "check", status=2)
    assert "obstacle  pool master: its target would become rendered-master-" in found
    assert "Nothing was changed" in takeover(cluster, "start", status=2)
    objects.remove_config("10-more")
    # The ControllerConfig is not what it would be made to.
    cluster.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller",
                       {"spec": {"clusterDNSIP": "192.0.2.53"}}, MERGE)
    assert "spec.clusterDNSIP would change" in takeover(cluster, "check", status=2)
    cluster.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller",
                       {"spec": {"clusterDNSIP": "172.30.0.10"}}, MERGE)
    assert "Nothing speaks against a takeover" in takeover(cluster, "check")
    cluster.admin.must("PATCH", "/api/v1/nodes/master-0", {"metadata": {"annotations": {
        "machineconfiguration.openshift.io/desiredDrain": "drain-x"}}}, MERGE)
    assert "node master-0 is being drained" in takeover(cluster, "check", status=2)
    assert everything(cluster.admin) == before
