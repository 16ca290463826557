# SPDX-License-Identifier: Apache-2.0
"""Nodes and MachineConfigNodes as large as real ones, for measurements of the controller."""

import json

from machines.simulated_agents import PREFIX

# The types of the conditions of a MachineConfigNode.
CONDITIONS = ("UpdatePrepared", "UpdateExecuted", "UpdatePostActionComplete", "UpdateComplete", "Updated", "Resumed",
              "Drained", "AppliedFilesAndOS", "Cordoned", "Uncordoned", "RebootedNode", "NodeDegraded",
              "PinnedImageSetsProgressing", "PinnedImageSetsDegraded")


def node_of(number, pool, config):
    roles = {"node-role.kubernetes.io/worker": "", f"node-role.kubernetes.io/{pool}": ""}
    name = f"node-{number:04}"
    condition = {"status": "False", "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                 "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "KubeletHasSufficient",
                 "message": "kubelet has sufficient of what it needs"}
    return {"metadata": {
                "name": name,
                "annotations": {
                    PREFIX + "currentConfig": config, PREFIX + "desiredConfig": config, PREFIX + "state": "Done",
                    "k8s.ovn.org/network-info": json.dumps({f"network-{index}": "10.128.0.0/23" for index in range(60)})},
                "labels": {"kubernetes.io/os": "linux", "kubernetes.io/hostname": name,
                           "topology.kubernetes.io/zone": f"zone-{number % 3}", **roles,
                           **{f"example.com/feature-{index}": "true" for index in range(15)}}},
            "status": {
                "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                "conditions": [{**condition, "type": kind}
                               for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")]
                              + [{**condition, "type": "Ready", "status": "True"}],
                "images": [{"names": [f"registry/release@sha256:{image:064x}", f"registry/release:{image}"],
                            "sizeBytes": 100_000_000 + image} for image in range(50)]}}


def conditions_of_report(updated, time="2026-01-01T00:00:00Z"):
    """Returns the conditions of a MachineConfigNode; only `Updated` is true, if the node is updated."""
    return [{"type": kind, "status": "True" if updated and kind == "Updated" else "False", "reason": "NotYet",
             "lastTransitionTime": time, "message": "this step has not been taken yet"} for kind in CONDITIONS]


def report_of(node):
    name = node["metadata"]["name"]
    return {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigNode",
            "metadata": {"name": name, "ownerReferences": [{
                "apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}]},
            "spec": {"node": {"name": name}, "pool": {"name": "not-yet-set"},
                     "configVersion": {"desired": "not-yet-set"}},
            "status": {"configVersion": {"desired": "not-yet-set"}, "observedGeneration": 1,
                       "conditions": conditions_of_report(updated=True)}}


def managed_fields(value):
    """Returns the fields of an object as the API server records them for each manager."""
    if isinstance(value, dict):
        return {f"f:{key}": managed_fields(part) for key, part in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict) and "type" in value[0]:
        return {f"k:{json.dumps({'type': part['type']})}": {".": {}, **managed_fields(part)} for part in value}
    return {}


def with_managed_fields(node):
    managers = [{"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
                 "fieldsType": "FieldsV1", "fieldsV1": managed_fields(part)}
                for manager, part in (("installer", {"metadata": {
                    key: node["metadata"][key] for key in ("annotations", "labels")}}),
                    ("kubelet", {"status": node["status"]}))]
    return node | {"metadata": node["metadata"] | {"managedFields": managers}}
