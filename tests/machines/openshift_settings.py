# SPDX-License-Identifier: Apache-2.0
"""The objects that describe an OpenShift cluster, from which the ControllerConfig is made."""

import base64
import json

from . import grants, openshift_kinds
from .certs import named_authority
from .controller import DEPLOY, MERGE, NAMESPACE, prepare_cluster

CONFIG = "/apis/config.openshift.io/v1"
OPERATOR = f"{CONFIG}/clusteroperators/machine-config"
NAMESPACES = ("openshift-config", "openshift-config-managed", "openshift-kube-apiserver-operator",
              "openshift-machine-api")


def allow_operator(cluster):
    """Gives the controller the rights that it needs as the operator, in the namespaces that OpenShift has."""
    for name in NAMESPACES:
        cluster.admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    for name in ("operator-status-rbac", "operator-settings-rbac"):
        cluster.apply((DEPLOY / f"openshift/{name}.yaml").read_text())
    grants.wait_until_known(cluster.admin)


def prepare_operator_cluster(cluster):
    """Installs all kinds that the controller knows, and the rights of the controller and of the agents."""
    prepare_cluster(cluster)
    openshift_kinds.install(cluster, dict.fromkeys([
        *openshift_kinds.KINDS, openshift_kinds.CLUSTER_OPERATOR, *openshift_kinds.SETTINGS,
        openshift_kinds.MACHINE_SET]))
    allow_operator(cluster)
    # One of these Roles is in a namespace that allow_operator() makes.
    cluster.admin.apply_files(DEPLOY / "openshift/rbac.yaml", DEPLOY / "agent/rbac.yaml")
    grants.wait_until_known(cluster.admin)


# The registry that the cluster runs itself, and the account that pulls OS images from it.
REGISTRY = "image-registry.openshift-image-registry.svc:5000"
PULLER = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/machine-os-puller"


class Settings:
    """The settings of a cluster of one release, as an installer and the cluster's other operators write them."""

    def __init__(self, cluster, release="4.21.0"):
        self.admin = cluster.admin
        self._release = release

    @staticmethod
    def install(cluster):
        """Adds the kinds and the namespaces of OpenShift to a cluster, and the controller's rights in them."""
        openshift_kinds.install(cluster, [*openshift_kinds.SETTINGS, openshift_kinds.MACHINE_SET])
        allow_operator(cluster)

    def put_all(self):
        self.setting("Infrastructure", "infrastructures", {"platformSpec": {"type": "AWS"}}, {
            "apiServerInternalURI": "https://api-int.demo.test:6443", "controlPlaneTopology": "HighlyAvailable",
            "infrastructureTopology": "HighlyAvailable", "platform": "AWS", "platformStatus": {"type": "AWS"}})
        self.setting("Network", "networks", {"networkType": "OVNKubernetes", "serviceNetwork": ["172.30.0.0/16"]},
                     {"networkType": "OVNKubernetes"})
        self.setting("DNS", "dnses", {"baseDomain": "demo.test"}, {})
        self.setting("Proxy", "proxies", {}, {})
        self.setting("Image", "images", {}, {})
        self.config_map("kube-system", "root-ca", {"ca.crt": named_authority("root")})
        self.config_map("kube-system", "bootstrap", {"status": "complete"})
        self.config_map("openshift-config-managed", "kube-apiserver-client-ca",
                        {"ca-bundle.crt": named_authority("clients")})
        self.config_map("openshift-config", "initial-kube-apiserver-server-ca",
                        {"ca-bundle.crt": named_authority("installer")})
        self.config_map("openshift-config-managed", "image-registry-ca", {"registry..5000": "of the registry"})
        self.secret("openshift-config", "pull-secret", "dockerconfigjson",
                    {"auths": {"quay.test": {"auth": "cXVheQ=="}}})
        self.secret(NAMESPACE, "puller-1", "dockercfg", {REGISTRY: {"auth": "cmVn"}})
        self.puller("puller-1")
        self.release(self._release)

    def install_release(self, version="4.21.0"):
        """Creates the ClusterOperator as it is in a cluster in which this release has been installed."""
        self.admin.must("POST", OPERATOR.rpartition("/")[0], {
            "apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": {"name": "machine-config"},
            "spec": {}})
        self.admin.must("PATCH", f"{OPERATOR}/status",
                        {"status": {"versions": [{"name": "operator", "version": version}]}}, MERGE)

    def release(self, version, os_image="registry/os@sha256:1"):
        """Writes the ConfigMaps of a release one after the other, as the cluster's version operator does."""
        self.config_map(NAMESPACE, "machine-config-operator-images", {"images.json": json.dumps({
            "releaseVersion": version, "machineConfigOperator": f"registry/operator:{version}",
            "infraImage": f"registry/infra:{version}"})})
        self.config_map(NAMESPACE, "machine-config-osimageurl", {
            "releaseVersion": version, "baseOSContainerImage": os_image,
            "baseOSExtensionsContainerImage": os_image.replace("os@", "extensions@")})

    def setting(self, kind, plural, spec, status):
        path = f"{CONFIG}/{plural}"
        found, _ = self.admin.request("GET", f"{path}/cluster")
        if found == 404:
            self.admin.must("POST", path, {"apiVersion": "config.openshift.io/v1", "kind": kind,
                                           "metadata": {"name": "cluster"}, "spec": spec})
        else:
            self.admin.must("PATCH", f"{path}/cluster", {"spec": spec}, MERGE)
        self.admin.must("PATCH", f"{path}/cluster/status", {"status": status}, MERGE)

    def config_map(self, namespace, name, data):
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        found, _ = self.admin.request("GET", f"{path}/{name}")
        if found == 404:
            self.admin.must("POST", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                                           "data": data})
        else:
            self.admin.must("PATCH", f"{path}/{name}", {"data": data}, MERGE)

    def secret(self, namespace, name, form, credentials):
        """Writes credentials for registries, in one of the two forms that Kubernetes knows."""
        data = {f".{form}": base64.b64encode(json.dumps(credentials).encode()).decode()}
        path = f"/api/v1/namespaces/{namespace}/secrets"
        found, _ = self.admin.request("GET", f"{path}/{name}")
        if found == 404:
            self.admin.must("POST", path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
                                           "type": f"kubernetes.io/{form}", "data": data})
        else:
            self.admin.must("PATCH", f"{path}/{name}", {"data": data}, MERGE)

    def puller(self, *secrets):
        """Makes the account for OS images pull with these Secrets, as OpenShift does when it renews them."""
        pulls = {"imagePullSecrets": [{"name": name} for name in secrets]}
        found, _ = self.admin.request("GET", PULLER)
        if found == 404:
            self.admin.must("POST", PULLER.rpartition("/")[0], {
                "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "machine-os-puller"}, **pulls})
        else:
            self.admin.must("PATCH", PULLER, pulls, MERGE)

    def remove_config_map(self, namespace, name):
        self.admin.must("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/{name}")

    def forget_all(self):
        for _, _, _, plural, _ in openshift_kinds.SETTINGS:
            self.admin.must("DELETE", f"{CONFIG}/{plural}")
        for namespace in ("openshift-config", "openshift-config-managed", NAMESPACE):
            self.admin.must("DELETE", f"/api/v1/namespaces/{namespace}/configmaps")
        for name in ("root-ca", "bootstrap"):
            self.admin.request("DELETE", f"/api/v1/namespaces/kube-system/configmaps/{name}")
        self.admin.request("DELETE", "/api/v1/namespaces/openshift-config/secrets/pull-secret")
        for name in ("puller-1", "puller-2"):
            self.admin.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/secrets/{name}")
        self.admin.request("DELETE", PULLER)
        self.admin.request("DELETE", OPERATOR)
