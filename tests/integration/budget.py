# SPDX-License-Identifier: Apache-2.0
"""Two pods, on node-b or on any node, with a disruption budget that allows the eviction of one of them."""

from machines.wait import wait_until

_PODS = """
apiVersion: POLICY
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {kubernetes.io/hostname: node-b}
      containers: [{name: web, image: example.com/web}]
"""


def pods(cluster):
    return _PODS.replace("POLICY", cluster.api("policy", "v1", "v1beta1"))


def pods_anywhere(cluster):
    return pods(cluster).replace("      nodeSelector: {kubernetes.io/hostname: node-b}\n", "")


def settled(cluster):
    """Returns the name and the uid of each pod, once both run and the budget allows the eviction of one."""
    def condition():
        pods = [(pod["metadata"]["name"], pod["metadata"]["uid"]) for pod in cluster.run_pods("node-b")]
        return len(pods) == 2 and cluster.get("poddisruptionbudget", "web")["status"]["disruptionsAllowed"] == 1 and pods
    return wait_until(condition, "two pods run, and the budget allows one eviction", 60)
