# SPDX-License-Identifier: Apache-2.0
"""pintle-controller next to a test cluster, and the objects that it watches."""

import json
import os
import pathlib
import sys

from . import programs
from .cluster_user import Refused
from .controller_config import controller_config
from .daemon import Daemon
from .wait import wait_until

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
NAMESPACE = "openshift-machine-config-operator"    # The lease and the Events are in this namespace.
OWN_NAMESPACE = "pintle"
GROUP = "/apis/machineconfiguration.openshift.io/v1"
VERSION = "v4.99.0-vectors"    # The Operator that made the vectors of rendered configs had this version.
MERGE = "application/merge-patch+json"


def prepare_cluster(cluster):
    """Installs the kinds that the controller watches, and its namespace."""
    cluster.admin.apply_files(*sorted((DEPLOY / "crds").glob("*.yaml")))
    cluster.kubectl("create", "namespace", NAMESPACE)
    cluster.wait_until_kinds_are_served()
    cluster.kubectl("api-resources")    # This makes kubectl learn the short names of the kinds.
    wait_until_owners_are_known(cluster)


def wait_until_owners_are_known(cluster):
    """Waits until the admission plug-in that looks up an owner's kind knows our kinds, which were just installed."""
    config = {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
              "metadata": {"name": "owned", "ownerReferences": [{
                  "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool", "name": "owner",
                  "uid": "00000000-0000-0000-0000-000000000000", "controller": True, "blockOwnerDeletion": True}]},
              "spec": {}}
    wait_until(lambda: cluster.admin.request("POST", f"{GROUP}/machineconfigs?dryRun=All", config)[0] == 201,
               "a pool can be an owner", 60)


def account(cluster):
    """Returns the controller's user in a cluster, with only those rights that deploy/ gives it."""
    return cluster.account(OWN_NAMESPACE, "pintle-controller", DEPLOY / "base/namespace.yaml",
                           DEPLOY / "base/rbac.yaml")


class Controller(Daemon):
    """One replica, with the controller's own rights, and with a lease so short that tests can wait for its end.

    `environment` has additional variables for the program.
    """

    def __init__(self, cluster, name="controller", *more, kubeconfig=None, lease=("4s", "3s", "300ms"),
                 environment=None):
        program = programs.here("pintle-controller")
        duration, deadline, retry = lease
        prefix = ["env", *(f"{key}={value}" for key, value in environment.items())] if environment else []
        super().__init__(cluster.folder / f"{name}.log", *prefix, program, "start", "--kubeconfig",
                         kubeconfig or account(cluster).kubeconfig,
                         f"--leader-elect-lease-duration={duration}", f"--leader-elect-renew-deadline={deadline}",
                         f"--leader-elect-retry-period={retry}", "--metrics-listen-address=", *more)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        # pytest prints this only if the test fails.
        if kind or "PYTEST_CURRENT_TEST" in os.environ:
            print(f"--- the end of the log of {self.name}:\n{self.end_of_log()}", file=sys.stderr)
        self.check()
        if self.pid:
            self.end()

    def end(self):
        """Ends the replica as an update of the deployment would, so that it releases its lease."""
        self._process.terminate()
        try:
            assert self._process.wait(30) == 0, self.end_of_log()
        finally:
            self.stop()

    def log_text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def peak_kib(self):
        return int(self._status("VmHWM"))

    def resident_kib(self):
        return int(self._status("VmRSS"))

    def _status(self, key):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return next(line.split()[1] for line in status.splitlines() if line.startswith(key + ":"))


class Objects:
    """Creates and reads machine configs, pools and the ControllerConfig, as an administrator does."""

    def __init__(self, cluster, admin=None):
        self.admin = admin or cluster.admin
        self.cluster = cluster

    def controller_config(self, base_image="registry/os@sha256:1", **annotations):
        prefix = "machineconfiguration.openshift.io/"
        self.admin.must("POST", f"{GROUP}/controllerconfigs", controller_config(
            {prefix + "generated-by-version": VERSION, **annotations}, baseOSContainerImage=base_image))

    def set_infrastructure(self, **status):
        self.admin.must("PATCH", f"{GROUP}/controllerconfigs/machine-config-controller",
                        {"spec": {"infra": {"status": status}}}, MERGE)

    def config(self, name, role="worker", files=(), config=None, **spec):
        """Creates or replaces a machine config, from {path: text} or from a whole Ignition config."""
        ignition = config or {"ignition": {"version": "3.4.0"}, "storage": {"files": [
            {"path": path, "contents": {"source": f"data:,{text}"}, "mode": 420} for path, text in dict(files).items()]}}
        body = {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
                "metadata": {"name": name, "labels": {"machineconfiguration.openshift.io/role": role}},
                "spec": {"config": ignition, **spec}}
        try:
            self.admin.must("POST", f"{GROUP}/machineconfigs", body)
        except Refused as refused:
            if refused.status != 409:
                raise
            self.admin.must("PATCH", f"{GROUP}/machineconfigs/{name}", {"spec": body["spec"]}, MERGE)

    def remove_config(self, name):
        self.admin.must("DELETE", f"{GROUP}/machineconfigs/{name}")

    def custom_pool(self, name, **spec):
        self.admin.must("POST", f"{GROUP}/machineconfigpools", {
            "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
            "metadata": {"name": name}, "spec": {
                "machineConfigSelector": {"matchExpressions": [{
                    "key": "machineconfiguration.openshift.io/role", "operator": "In", "values": ["worker", name]}]},
                "nodeSelector": {"matchLabels": {f"node-role.kubernetes.io/{name}": ""}}, **spec}})

    def set_pool(self, name, **spec):
        self.admin.must("PATCH", f"{GROUP}/machineconfigpools/{name}", {"spec": spec}, MERGE)

    def pool(self, name):
        return self.admin.must("GET", f"{GROUP}/machineconfigpools/{name}")

    def target(self, name):
        """Returns the pool's target, or "" before the first config is rendered."""
        status, pool = self.admin.request("GET", f"{GROUP}/machineconfigpools/{name}")
        return pool["spec"].get("configuration", {}).get("name", "") if status == 200 else ""

    def wait_for_target(self, name, other_than="", seconds=60):
        return wait_until(lambda: (target := self.target(name)) != other_than and target, f"{name} has a target", seconds)

    def condition(self, name, kind):
        conditions = self.pool(name).get("status", {}).get("conditions", [])
        return next((condition for condition in conditions if condition["type"] == kind), None)

    def wait_for_condition(self, name, kind, status, seconds=60):
        def condition():
            found = self.condition(name, kind)
            return found if found and found["status"] == status else None
        return wait_until(condition, f"{name} is {kind}={status}", seconds)

    def wait_for_reason(self, name, kind, reason, seconds=60):
        def condition():
            found = self.condition(name, kind)
            return found if found and found["reason"] == reason else None
        return wait_until(condition, f"{name} is {kind} because of {reason}", seconds)

    def wait_until_updated(self, name, config=None, seconds=60):
        def is_updated():
            pool = self.pool(name)
            status = pool.get("status", {})
            wanted = config or pool["spec"].get("configuration", {}).get("name")  # A new pool has no target yet.
            conditions = {each["type"]: each["status"] for each in status.get("conditions", [])}
            return conditions.get("Updated") == "True" and status["configuration"].get("name") == wanted is not None \
                and status["observedGeneration"] == pool["metadata"]["generation"] and pool
        return wait_until(is_updated, f"{name} is updated", seconds)

    def rendered(self, pool=""):
        """Returns the names of the rendered configs of a pool."""
        configs = self.admin.must("GET", f"{GROUP}/machineconfigs")["items"]
        return {config["metadata"]["name"] for config in configs
                if config["metadata"]["name"].startswith(f"rendered-{pool}")}

    def events(self, reason):
        events = self.admin.must("GET", f"/api/v1/namespaces/{NAMESPACE}/events")["items"]
        return [event["message"] for event in events if event["reason"] == reason]

    def leader(self):
        path = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/machine-config-controller"
        status, lease = self.admin.request("GET", path)
        return lease["spec"].get("holderIdentity", "") if status == 200 else ""

    def delete_all(self):
        """Deletes these objects, the nodes and the Events from the cluster, so that the next test can use it."""
        for kind in ("machineconfigs", "machineconfigpools", "controllerconfigs", "machineconfignodes"):
            self.admin.must("DELETE", f"{GROUP}/{kind}")
        self.admin.must("DELETE", "/api/v1/nodes")
        self.admin.must("DELETE", f"/api/v1/namespaces/{NAMESPACE}/events")
        wait_until(lambda: not self.admin.must("GET", f"{GROUP}/machineconfigs")["items"], "the configs are gone", 60)

    def dump(self):
        """Returns all pools and nodes as text, for a test that failed."""
        return json.dumps([self.admin.must("GET", f"{GROUP}/machineconfigpools")["items"],
                           self.admin.must("GET", "/api/v1/nodes")["items"]], indent=1)
