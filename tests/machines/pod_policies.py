# SPDX-License-Identifier: Apache-2.0
"""Lets the accounts of a test cluster create restricted pods only, as on OpenShift.

These tests use PodSecurityPolicies in place of OpenShift's SecurityContextConstraints.  Kubernetes 1.25 and later have no
PodSecurityPolicies, and enforce the labels of namespaces instead.  With these versions, do not call create().
"""

PLUGIN = "PodSecurityPolicy"
RESTRICTED = "restricted"
# OpenShift gives each namespace a range of users like this one.
USERS = {"min": 1_000_650_000, "max": 1_000_659_999}

_SECCOMP = "seccomp.security.alpha.kubernetes.io/"
_RBAC = "rbac.authorization.k8s.io"
_ANY = {"rule": "RunAsAny"}
_IN_RANGE = {"rule": "MustRunAs", "ranges": [USERS]}
# {name: (spec, annotations)}
_POLICIES = {
    RESTRICTED: (
        {"privileged": False, "allowPrivilegeEscalation": False, "requiredDropCapabilities": ["ALL"],
         "volumes": ["configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret"],
         "runAsUser": _IN_RANGE, "fsGroup": _IN_RANGE, "supplementalGroups": _ANY, "seLinux": _ANY},
        {_SECCOMP + "allowedProfileNames": "runtime/default", _SECCOMP + "defaultProfileName": "runtime/default"}),
    # Administrators may use each policy without a binding.
    "privileged": (
        {"privileged": True, "allowPrivilegeEscalation": True, "allowedCapabilities": ["*"], "volumes": ["*"],
         "hostNetwork": True, "hostPorts": [{"min": 0, "max": 65535}], "hostIPC": True, "hostPID": True,
         "runAsUser": _ANY, "fsGroup": _ANY, "supplementalGroups": _ANY, "seLinux": _ANY},
        {_SECCOMP + "allowedProfileNames": "*"}),
}
# The group that may use each policy.  A kubelet creates the mirror pods of its static pods as
# system:node:NAME.
_GROUPS = {RESTRICTED: "system:serviceaccounts", "privileged": "system:nodes"}


def create(admin):
    """Creates the policies, and the rights to use them."""
    for policy, group in _GROUPS.items():
        name = f"pods-{policy}"
        admin.must("POST", f"/apis/{_RBAC}/v1/clusterroles", {"metadata": {"name": name}, "rules": [
            {"apiGroups": ["policy"], "resources": ["podsecuritypolicies"], "resourceNames": [policy],
             "verbs": ["use"]}]})
        admin.must("POST", f"/apis/{_RBAC}/v1/clusterrolebindings", {
            "metadata": {"name": name}, "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": group}]})
    for name, (spec, annotations) in _POLICIES.items():
        admin.must("POST", "/apis/policy/v1beta1/podsecuritypolicies", {
            "metadata": {"name": name, "annotations": annotations}, "spec": spec})
