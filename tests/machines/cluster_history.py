# SPDX-License-Identifier: Apache-2.0
"""The history of a cluster's pools and nodes, and of what the ClusterOperator has reported about them.

The API server numbers the versions of all objects in one sequence, whatever their kinds.  So the history knows which
pools and nodes there were at the moment of each report.
"""

import contextlib
import re
import threading

from .agent_node import Watch, annotations_of
from .controller import GROUP
from .openshift_settings import CONFIG
from .wait import wait_until

_COLLECTIONS = {"ClusterOperator": f"{CONFIG}/clusteroperators", "ControllerConfig": f"{GROUP}/controllerconfigs",
                "MachineConfigPool": f"{GROUP}/machineconfigpools", "Node": "/api/v1/nodes"}
_RELEASE = "machineconfiguration.openshift.io/release-image-version"
_REQUIRED = "operator.machineconfiguration.openshift.io/required-for-upgrade"


class _Recorder(Watch):
    def __init__(self, cluster, path, receive):
        super().__init__(cluster)
        self.path, self._receive = path, receive

    def receive(self, thing):
        self._receive(thing)


class ClusterHistory(contextlib.AbstractContextManager):
    """Records inside `with`."""

    def __init__(self, cluster):
        self._admin = cluster.admin
        self._lock = threading.Lock()
        self._versions = {kind: {} for kind in _COLLECTIONS}    # {kind: {(version, name): object}}
        self._watches = [_Recorder(cluster, path, self._receive) for path in _COLLECTIONS.values()]
        self._watching = contextlib.ExitStack()

    def __enter__(self):
        for watch in self._watches:
            self._watching.enter_context(watch)
        return self

    def __exit__(self, *error):
        self._watching.close()

    def catch_up(self):
        """Waits until the watches have delivered all objects as they are now."""
        for kind, path in _COLLECTIONS.items():
            for thing in self._admin.must("GET", path)["items"]:
                name, version = thing["metadata"]["name"], int(thing["metadata"]["resourceVersion"])
                wait_until(lambda kind=kind, name=name, version=version: any(
                    known == name and seen >= version for seen, known, _ in self._all(kind)),
                    f"the watch has delivered {kind} {name}", 60)

    def reported(self, condition):
        """Returns the values that a condition of the ClusterOperator had, as pairs of its status and its message."""
        values = []
        for _, _, report in self._all("ClusterOperator"):
            found = _conditions_of(report)[condition]
            value = (found["status"], found.get("message", ""))
            if values[-1:] != [value]:
                values.append(value)
        return values

    def contradictions(self):
        """Returns a text for each false statement in the reports of the ClusterOperator.

        The first report is older than the history, so it is not checked.
        """
        reports = [(version, report) for version, _, report in self._all("ClusterOperator")]
        texts = []
        for number in range(1, len(reports)):
            version, report = reports[number]
            # The controller makes a report while its other writes are on their way.  So a report may describe the
            # pools as they were at any moment since the report before the previous one.
            since, previous = reports[max(number - 2, 0)][0], reports[number - 1][1]
            texts += [f"{problem}, in version {version}: {report['status']}"
                      for problem in self._problems_of(report, previous, since, version)]
        return texts

    def _receive(self, thing):
        metadata = thing["metadata"]
        with self._lock:
            self._versions[thing["kind"]][int(metadata["resourceVersion"]), metadata["name"]] = thing

    def _all(self, kind):
        """Returns all objects of a kind as they have ever been: (version, name, object), sorted."""
        with self._lock:
            return [(*key, self._versions[kind][key]) for key in sorted(self._versions[kind])]

    def _at(self, kind, moment):
        """Returns the objects as they were at that moment.  An object that was seen only later counts as unchanged."""
        found = {}
        for version, name, thing in self._all(kind):
            if version <= moment or name not in found:
                found[name] = thing
        return list(found.values())

    def _problems_of(self, report, previous, since, moment):
        conditions, release = _conditions_of(report), _version_of(report)
        if conditions["Available"]["status"] != "True":
            yield "the operator is not available"
        yield from self._problems_of_progress(conditions["Progressing"], release, moment)
        if release != _version_of(previous):
            yield from self._problems_of_installation(release, moment)
        changes = [version for version, _, _ in self._all("MachineConfigPool") if since < version <= moment]
        yield from _problems_of_pools(report, [self._at("MachineConfigPool", then) for then in [since, *changes]])

    def _problems_of_progress(self, progressing, installed, moment):
        wanted = progressing["message"].split()[-1]
        released = [thing["metadata"]["annotations"].get(_RELEASE)
                    for version, _, thing in self._all("ControllerConfig") if version <= moment]
        if wanted not in [installed, *released]:
            yield f"{wanted} is no release of the cluster"
        if (progressing["status"] == "True") != (wanted != installed):
            yield f"{installed} is installed, and {wanted} is wanted"

    def _problems_of_installation(self, release, moment):
        """A release is installed when each node of each required pool has a config of the release."""
        required = [pool for pool in self._at("MachineConfigPool", moment) if _is_required(pool)]
        if not required:
            yield f"{release} is installed without a required pool"
        for pool in required:
            name, target = pool["metadata"]["name"], pool["spec"]["configuration"]["name"]
            if not _is_updated(pool) or pool["status"]["configuration"]["name"] != target:
                yield f"{release} is installed, but the pool {name} is not updated"
            config = self._admin.must("GET", f"{GROUP}/machineconfigs/{target}")
            if config["metadata"]["annotations"].get(_RELEASE) != release:
                yield f"{release} is installed, but {target} is of another release"
            nodes = [node for node in self._at("Node", moment)
                     if _selects(pool["spec"]["nodeSelector"], node["metadata"]["labels"])]
            if not nodes:
                yield f"{release} is installed, but the pool {name} has no node"
            for node in nodes:
                have = annotations_of(node)
                if [have.get(key) for key in ("currentConfig", "desiredConfig", "state")] != [target, target, "Done"]:
                    yield f"{release} is installed, but {node['metadata']['name']} has {have}"


def _selects(selector, labels):
    """Returns whether a selector that the controller writes selects these labels."""
    expressions = selector.get("matchExpressions", [])
    assert all(expression["operator"] == "Exists" for expression in expressions), expressions
    return selector.get("matchLabels", {}).items() <= labels.items() and \
        all(expression["key"] in labels for expression in expressions)


def _problems_of_pools(report, moments):
    """`moments` has the pools as they were at each moment that the report may describe."""
    conditions = _conditions_of(report)
    is_degraded = [any(_is_true(pool, "Degraded") for pool in pools) for pools in moments]
    if (conditions["Upgradeable"]["status"] != "True") not in is_degraded:
        yield "Upgradeable does not follow from the pools"
    are_well = [all(_is_updated(pool) and not _is_true(pool, "Degraded") for pool in pools if _is_required(pool))
                for pools in moments]
    if conditions["Degraded"]["status"] == "True" and all(are_well):
        yield "the operator is degraded, but all required pools are updated"
    for name, summary in report["status"]["extension"].items():
        match = re.fullmatch(r"all (\d+) nodes are at latest configuration (\S+)", summary)
        if match and not any(pool["metadata"]["name"] == name and _is_true(pool, "Updated")
                             and str(pool["status"].get("machineCount", 0)) == match[1]
                             and pool["status"]["configuration"]["name"] == match[2]
                             for pools in moments for pool in pools):
            yield f"the pool {name} is not as its summary reports"


def _version_of(report):
    return next(version["version"] for version in report["status"]["versions"] if version["name"] == "operator")


def _conditions_of(thing):
    return {condition["type"]: condition for condition in thing.get("status", {}).get("conditions", [])}


def _is_true(pool, kind):
    return _conditions_of(pool).get(kind, {}).get("status") == "True"


def _is_required(pool):
    return _REQUIRED in pool["metadata"].get("labels", {})


def _is_updated(pool):
    return _is_true(pool, "Updated") and pool["status"]["observedGeneration"] == pool["metadata"]["generation"]
