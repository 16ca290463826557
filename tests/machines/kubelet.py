# SPDX-License-Identifier: Apache-2.0
"""What a kubelet would tell the API server, where no kubelet runs.

All of it is said with the node's own credentials, so that the API server judges it as it judges a kubelet.
"""

import datetime


def register(user, name):
    """Creates the Node object, Ready and with room for pods."""
    user.create({"apiVersion": "v1", "kind": "Node",
                 "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
                 "status": {"capacity": _ROOM, "allocatable": _ROOM, "conditions": [_condition("Ready")],
                            "addresses": [{"type": "Hostname", "address": name}]}})


def run_pods(user, name):
    """Lets the pods bound to the node run and be ready, and those asked to go be gone; returns the running ones."""
    pods = user.get("pods", "--all-namespaces", f"--field-selector=spec.nodeName={name}")["items"]
    return [running for pod in pods if (running := tend(user, pod))]


def tend(user, pod):
    """Lets one pod run and be ready, or be gone if it has been asked to go; returns it if it runs."""
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
    if "deletionTimestamp" in pod["metadata"]:
        user.must("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}})
        return None
    return user.must("PATCH", f"{path}/status", {"status": _running(pod)})


def _running(pod):
    started = {"running": {"startedAt": _now()}}
    return {"phase": "Running",
            "conditions": [_condition(kind) for kind in ("Initialized", "ContainersReady", "Ready")],
            "containerStatuses": [
                {"name": container["name"], "image": container["image"], "imageID": "", "ready": True, "started": True,
                 "restartCount": 0, "state": started} for container in pod["spec"]["containers"]]}


_ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "20Gi"}


def _condition(kind):
    return {"type": kind, "status": "True", "reason": "Said", "lastTransitionTime": _now()}


def _now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
