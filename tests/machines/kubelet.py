# SPDX-License-Identifier: Apache-2.0
"""Sends a kubelet's requests to the API server, for nodes without a kubelet.

The requests have the node's own credentials, so that the API server checks them as it checks a kubelet's.
"""

import datetime


def register(user, name):
    """Creates the Node object `name`, with the condition Ready and with room for pods."""
    user.create({"apiVersion": "v1", "kind": "Node",
                 "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
                 "status": {"capacity": _ROOM, "allocatable": _ROOM, "conditions": [_condition("Ready")],
                            "addresses": [{"type": "Hostname", "address": name}]}})


def run_pods(user, name):
    """Makes the node's pods run and become ready, and ends those that are being deleted; returns the running ones."""
    pods = user.get("pods", "--all-namespaces", f"--field-selector=spec.nodeName={name}")["items"]
    return [running for pod in pods if (running := tend(user, pod))]


def tend(user, pod, address=None):
    """Makes one pod run and become ready, or terminates it if it is being deleted; returns the pod if it runs.

    `address` is the address at which the API server reaches the pod.
    """
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
    if "deletionTimestamp" in pod["metadata"]:
        user.must("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}})
        return None
    network = {"podIP": address, "podIPs": [{"ip": address}]} if address else {}
    return user.must("PATCH", f"{path}/status", {"status": {**_running(pod), **network}})


def _running(pod):
    started = {"running": {"startedAt": _now()}}
    return {"phase": "Running",
            "conditions": [_condition(kind) for kind in ("Initialized", "ContainersReady", "Ready")],
            "containerStatuses": [
                {"name": container["name"], "image": container["image"], "imageID": "", "ready": True, "started": True,
                 "restartCount": 0, "state": started} for container in pod["spec"]["containers"]]}


_ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "20Gi"}


def _condition(kind):
    return {"type": kind, "status": "True", "reason": "Simulated", "lastTransitionTime": _now()}


def _now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
