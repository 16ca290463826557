# SPDX-License-Identifier: Apache-2.0
"""OpenShift's kinds that MachineConfigs are generated from.  Unlike OpenShift's own definitions, these allow any field.
"""

# Each kind is described by its group, version, kind, plural and scope.
KINDS = [
    ("config.openshift.io", "v1", "APIServer", "apiservers", "Cluster"),
    ("config.openshift.io", "v1", "CRIOCredentialProviderConfig", "criocredentialproviderconfigs", "Cluster"),
    ("config.openshift.io", "v1", "ClusterImagePolicy", "clusterimagepolicies", "Cluster"),
    ("config.openshift.io", "v1", "ClusterVersion", "clusterversions", "Cluster"),
    ("config.openshift.io", "v1", "FeatureGate", "featuregates", "Cluster"),
    ("config.openshift.io", "v1", "Image", "images", "Cluster"),
    ("config.openshift.io", "v1", "ImageDigestMirrorSet", "imagedigestmirrorsets", "Cluster"),
    ("config.openshift.io", "v1", "ImagePolicy", "imagepolicies", "Namespaced"),
    ("config.openshift.io", "v1", "ImageTagMirrorSet", "imagetagmirrorsets", "Cluster"),
    ("config.openshift.io", "v1", "Node", "nodes", "Cluster"),
    ("operator.openshift.io", "v1alpha1", "ImageContentSourcePolicy", "imagecontentsourcepolicies", "Cluster"),
]

# The kind in which the operator reports its status.  Only OpenShift has this kind, so most tests do not install it.
CLUSTER_OPERATOR = ("config.openshift.io", "v1", "ClusterOperator", "clusteroperators", "Cluster")

# The kinds of the objects that describe a cluster, from which the ControllerConfig is made.
SETTINGS = [
    ("config.openshift.io", "v1", "DNS", "dnses", "Cluster"),
    ("config.openshift.io", "v1", "Image", "images", "Cluster"),
    ("config.openshift.io", "v1", "Infrastructure", "infrastructures", "Cluster"),
    ("config.openshift.io", "v1", "Network", "networks", "Cluster"),
    ("config.openshift.io", "v1", "Proxy", "proxies", "Cluster"),
]

# The kind of the objects from which a cluster makes machines.
MACHINE_SET = ("machine.openshift.io", "v1beta1", "MachineSet", "machinesets", "Namespaced")


def _definition(group, version, kind, plural, scope):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": scope,
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
                     "versions": [{"name": version, "served": True, "storage": True, "subresources": {"status": {}},
                                   "schema": {"openAPIV3Schema": {
                                       "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def install(cluster, kinds=KINDS):
    for kind in kinds:
        cluster.admin.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", _definition(*kind))
    cluster.wait_until_kinds_are_served()
