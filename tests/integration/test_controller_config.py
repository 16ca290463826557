# SPDX-License-Identifier: Apache-2.0
"""Tests the ControllerConfig that pintle-controller makes from a cluster's settings, and the lease of the operator."""

import base64
import json

import pytest

from machines import openshift_kinds, shell
from machines.certs import named_authority
from machines.cluster import Cluster
from machines.controller import GROUP, MERGE, NAMESPACE, Controller, Objects, account, prepare_cluster
from machines.openshift_settings import CONFIG, OPERATOR, PULLER, REGISTRY, Settings, allow_operator
from machines.wait import wait_until

OBJECT = f"{GROUP}/controllerconfigs/machine-config-controller"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
LEASE = f"{LEASES}/machine-config"
RELEASE = "machineconfiguration.openshift.io/release-image-version"
ROTATES = "machineconfiguration.openshift.io/service-ca-rotate"


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        openshift_kinds.install(running, [openshift_kinds.CLUSTER_OPERATOR])
        Settings.install(running)
        yield running


@pytest.fixture
def objects(cluster):
    made = Objects(cluster)
    yield made
    made.delete_all()
    cluster.admin.request("DELETE", LEASE)


@pytest.fixture
def settings(cluster, objects):
    made = Settings(cluster)
    made.put_all()
    made.install_release()
    yield made
    made.forget_all()


@pytest.fixture
def controller(cluster, settings):
    with Controller(cluster, "controller", "--operator=yes") as running:
        yield running


def controller_config(cluster):
    found, thing = cluster.admin.request("GET", OBJECT)
    return thing if found == 200 else None


def spec(cluster):
    config = controller_config(cluster)
    return config["spec"] if config else {}


def text_of(cluster, field):
    return base64.b64decode(spec(cluster).get(field) or "").decode()


def has_present_copies(cluster):
    """Returns whether the ControllerConfig has copies of the Infrastructure and the DNS that the cluster has now."""
    return all(spec(cluster)[field]["metadata"].get("uid") ==
               cluster.admin.must("GET", f"{CONFIG}/{plural}/cluster")["metadata"]["uid"]
               for field, plural in (("infra", "infrastructures"), ("dns", "dnses")))


def credentials(cluster):
    """Returns the credentials for registries that nodes get, by registry."""
    return json.loads(text_of(cluster, "internalRegistryPullSecret") or "{}").get("auths", {})


def wait_for(cluster, is_so, what):
    return wait_until(lambda: is_so(spec(cluster)), what, 60)


def renew_time(cluster):
    return cluster.admin.must("GET", f"{LEASES}/machine-config-controller")["spec"]["renewTime"]


def degraded(cluster):
    """Returns the reason and the message of the ClusterOperator's condition Degraded; "" if it is not degraded."""
    found, operator = cluster.admin.request("GET", OPERATOR)
    conditions = operator.get("status", {}).get("conditions", []) if found == 200 else []
    return next((f"{each['reason']}: {each['message']}" for each in conditions
                 if each["type"] == "Degraded" and each["status"] == "True"), "")


def test_the_controller_config_is_made_from_the_settings_of_the_cluster(cluster, controller):
    made = wait_until(lambda: controller_config(cluster), "there is a ControllerConfig", 60)
    assert made["metadata"]["annotations"][RELEASE] == "4.21.0"
    content = made["spec"]
    assert content["clusterDNSIP"] == "172.30.0.10" and content["platform"] == "aws"
    assert content["infra"]["kind"] == "Infrastructure" and content["dns"]["spec"]["baseDomain"] == "demo.test"
    assert content["images"]["infraImageKey"] == "registry/infra:4.21.0"
    assert text_of(cluster, "kubeAPIServerServingCAData") == named_authority("clients")
    assert content["pullSecret"] == {"name": "pull-secret", "namespace": "openshift-config"}


def test_each_setting_reaches_the_controller_config(cluster, settings, controller):
    wait_until(lambda: controller_config(cluster), "there is a ControllerConfig", 60)
    renewed_authority = named_authority("renewed")
    settings.config_map("openshift-config-managed", "kube-apiserver-client-ca", {"ca-bundle.crt": renewed_authority})
    wait_until(lambda: text_of(cluster, "kubeAPIServerServingCAData") == renewed_authority, "the authority is there", 60)
    settings.setting("Proxy", "proxies", {}, {"httpProxy": "http://proxy.test", "noProxy": "a"})
    wait_for(cluster, lambda now: now["proxy"] == {"httpProxy": "http://proxy.test", "noProxy": "a"}, "the proxy is there")
    settings.admin.must("PATCH", f"{CONFIG}/proxies/cluster/status", {"status": {"httpProxy": None, "noProxy": None}}, MERGE)
    wait_for(cluster, lambda now: now["proxy"] is None, "the proxy is gone")
    settings.setting("Image", "images", {"additionalTrustedCA": {"name": "mine"}}, {})
    settings.config_map("openshift-config", "mine", {"mine..5000": "an authority"})
    wait_for(cluster, lambda now: [each["file"] for each in now.get("imageRegistryBundleUserData", [])] == ["mine..5000"],
             "the user's authority is there")
    settings.release("4.22.0", "registry/os@sha256:2")
    wait_for(cluster, lambda now: now["baseOSContainerImage"] == "registry/os@sha256:2", "the release is there")
    assert controller_config(cluster)["metadata"]["annotations"][RELEASE] == "4.22.0"


MISSING = [
    ("kube-system", "root-ca", "kube-system/root-ca"),
    ("openshift-config-managed", "kube-apiserver-client-ca", "kube-apiserver-client-ca has no ca-bundle.crt"),
    (NAMESPACE, "machine-config-operator-images", "machine-config-operator-images has no images.json"),
    (NAMESPACE, "machine-config-osimageurl", "there is no ConfigMap machine-config-osimageurl"),
]


def test_the_last_good_value_of_a_missing_setting_is_kept_and_the_setting_is_reported(cluster, settings, controller):
    before = wait_until(lambda: spec(cluster), "there is a ControllerConfig", 60)
    for namespace, name, message in MISSING:
        settings.remove_config_map(namespace, name)
        wait_until(lambda message=message: message in degraded(cluster), message, 60)
        assert degraded(cluster).startswith("RenderConfigFailed: "), degraded(cluster)
        assert spec(cluster) == before
        settings.put_all()
        wait_until(lambda: not degraded(cluster), "nothing is missing", 60)
        assert spec(cluster) == before
    for kind, plural in (("Infrastructure", "infrastructures"), ("Network", "networks"), ("DNS", "dnses"),
                         ("Proxy", "proxies"), ("Image", "images")):
        wait_until(lambda: has_present_copies(cluster), "the ControllerConfig has the present objects", 60)
        before = spec(cluster)
        settings.admin.must("DELETE", f"{CONFIG}/{plural}/cluster")
        wait_until(lambda kind=kind: f"there is no {kind} named cluster" in degraded(cluster), f"{kind} is missed", 60)
        assert spec(cluster) == before
        settings.put_all()
        wait_until(lambda: not degraded(cluster), "nothing is missing", 60)


def test_nodes_get_the_credentials_of_the_clusters_own_registry(cluster, settings, controller):
    def pulls_with(auth):
        return credentials(cluster) == {
            "default-route-openshift-image-registry.apps.demo.test": {"auth": auth}, REGISTRY: {"auth": auth},
            "quay.test": {"auth": "cXVheQ=="}}
    wait_until(lambda: pulls_with("cmVn"), "the credentials are there", 60)
    # OpenShift renews a Secret in its place, or makes another one.
    settings.secret(NAMESPACE, "puller-1", "dockercfg", {REGISTRY: {"auth": "bmV3"}})
    wait_until(lambda: pulls_with("bmV3"), "the renewed Secret counts", 60)
    settings.secret(NAMESPACE, "puller-2", "dockercfg", {REGISTRY: {"auth": "bmV4dA=="}})
    settings.puller("puller-2")
    wait_until(lambda: pulls_with("bmV4dA=="), "the next Secret counts", 60)
    # The last good value stays while something is missing.
    for path, message in ((f"/api/v1/namespaces/{NAMESPACE}/secrets/puller-2", "there is no Secret puller-2"),
                          ("/api/v1/namespaces/openshift-config/secrets/pull-secret",
                           "there is no Secret openshift-config/pull-secret"),
                          (PULLER, "there is no ServiceAccount machine-os-puller")):
        cluster.admin.must("DELETE", path)
        wait_until(lambda message=message: message in degraded(cluster), message, 60)
        assert pulls_with("bmV4dA==")
        settings.secret(NAMESPACE, "puller-2", "dockercfg", {REGISTRY: {"auth": "bmV4dA=="}})
        settings.put_all()
        settings.puller("puller-2")
        wait_until(lambda: not degraded(cluster) and pulls_with("bmV4dA=="), "nothing is missing", 60)
    assert "forbidden" not in controller.log_text().lower(), controller.log_text()


def test_a_role_that_is_missing_stops_only_what_needs_it(cluster, settings):
    """Perhaps an administrator has not applied the latest rights yet."""
    user, secrets = account(cluster), f"/api/v1/namespaces/{NAMESPACE}/secrets"
    with Controller(cluster, "before", "--operator=yes"):
        wait_until(lambda: credentials(cluster), "the credentials are there", 60)
    before = credentials(cluster)
    cluster.kubectl("delete", "rolebinding", "pintle-controller-registry-credentials", "-n", NAMESPACE)
    with cluster.refusals.expected(user, "list secrets"):
        try:
            wait_until(lambda: user.request("GET", secrets)[0] == 403, "the right is gone", 60)
            with Controller(cluster, "without", "--operator=yes"):
                wait_until(lambda: "is forbidden" in degraded(cluster), "the missing right is reported", 60)
                settings.setting("DNS", "dnses", {"baseDomain": "other.test"}, {})
                wait_for(cluster, lambda now: now["dns"]["spec"]["baseDomain"] == "other.test", "the DNS is followed")
                assert credentials(cluster) == before
        finally:
            allow_operator(cluster)
        wait_until(lambda: user.request("GET", secrets)[0] == 200, "the right is there again", 60)


def test_a_controller_config_of_the_operator_is_not_written_again(cluster, settings):
    with Controller(cluster, "first", "--operator=yes"):
        wait_until(lambda: controller_config(cluster), "there is a ControllerConfig", 60)
        wait_until(lambda: credentials(cluster), "the credentials are there", 60)
        # Annotations of the operator stay, and so does a text that differs from what we write in empty members only.
        empty = {"username": "", "password": "", "email": ""}
        operators = json.dumps({"auths": {host: {**each, **empty} for host, each in credentials(cluster).items()}})
        cluster.admin.must("PATCH", OBJECT, {"metadata": {"annotations": {
            "machineconfiguration.openshift.io/generated-by-version": "v4.21.0-operator"}},
            "spec": {"internalRegistryPullSecret": base64.b64encode(operators.encode()).decode(),
                     "etcdDiscoveryDomain": ""}}, MERGE)
    with Controller(cluster, "second", "--operator=yes"):
        wait_until(lambda: cluster.admin.must("GET", LEASE)["spec"]["holderIdentity"], "the second one acts", 60)
        renewed_authority = named_authority("renewed")
        settings.config_map("openshift-config-managed", "kube-apiserver-client-ca", {"ca-bundle.crt": renewed_authority})
        wait_until(lambda: text_of(cluster, "kubeAPIServerServingCAData") == renewed_authority, "it writes", 60)
        after = controller_config(cluster)
    # This was the only write of the second controller: the first one and this test have made one each.
    assert after["metadata"]["generation"] == 3
    assert text_of(cluster, "internalRegistryPullSecret") == operators


def test_only_the_holder_of_the_operators_lease_acts(cluster, settings, objects):
    """The lease belongs to another program, such as the Machine Config Operator, which renews it."""
    cluster.admin.must("POST", LEASES, {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "machine-config"},
        "spec": {"holderIdentity": "the operator", "leaseDurationSeconds": 5}})
    with Controller(cluster, "controller", "--operator=yes"):
        wait_until(objects.leader, "the controller leads", 60)
        wait_until(lambda: len(cluster.admin.must("GET", f"{GROUP}/machineconfigpools")["items"]) == 2,
                   "the controller makes its pools", 60)
        # The other program seems to be alive while its lease changes.
        for number in range(8):
            before = renew_time(cluster)
            cluster.admin.must("PATCH", LEASE, {"spec": {"leaseTransitions": number}}, MERGE)
            wait_until(lambda before=before: renew_time(cluster) != before, "the controller renews its own lease", 60)
            assert controller_config(cluster) is None
            assert cluster.admin.request("GET", OPERATOR)[1]["status"].keys() == {"versions"}
        wait_until(lambda: controller_config(cluster), "the controller acts when the lease is abandoned", 60)
        assert cluster.admin.must("GET", LEASE)["spec"]["holderIdentity"] == objects.leader()
    # The controller has released the lease, so the next one need not wait.
    assert cluster.admin.must("GET", LEASE)["spec"].get("holderIdentity", "") == ""


def config_map(cluster, namespace, name):
    found, thing = cluster.admin.request("GET", f"/api/v1/namespaces/{namespace}/configmaps/{name}")
    return thing if found == 200 else {}


def secret(cluster, namespace, name):
    """Returns the decoded data of a Secret; {} if the Secret does not exist."""
    found, thing = cluster.admin.request("GET", f"/api/v1/namespaces/{namespace}/secrets/{name}")
    return {key: base64.b64decode(value) for key, value in thing["data"].items()} if found == 200 else {}


def test_nodes_and_other_operators_get_renewed_authorities(cluster, settings, controller):
    def bundle():
        return base64.b64decode(config_map(cluster, NAMESPACE, "kubeconfig-data").get("binaryData", {}).get(
            "ca-bundle.crt", "")).decode()

    def rotates():
        return controller_config(cluster)["metadata"]["annotations"].get(ROTATES)
    first, second = named_authority("first"), named_authority("second")
    settings.config_map("openshift-config-managed", "kube-apiserver-server-ca", {"ca-bundle.crt": first})
    wait_until(lambda: bundle() == first and controller_config(cluster), "the authorities are copied", 60)
    assert rotates() is None
    settings.config_map("openshift-config-managed", "kube-apiserver-server-ca", {"ca-bundle.crt": second})
    wait_until(lambda: rotates() == "true", "nodes are asked to look", 60)
    assert bundle() == second
    merged = config_map(cluster, "openshift-config-managed", "merged-trusted-image-registry-ca")
    assert merged["data"] == {"registry..5000": "of the registry"}
    assert merged["metadata"]["annotations"] == {"openshift.io/owning-component": "Machine Config Operator"}


def test_each_pool_has_user_data_for_new_machines(cluster, settings, objects, controller):
    def pointer(pool):
        data = secret(cluster, "openshift-machine-api", f"{pool}-user-data-managed")
        return json.loads(data["userData"]) if data else {}
    objects.custom_pool("infra")
    for pool in ("master", "worker", "infra"):
        made = wait_until(lambda pool=pool: pointer(pool), f"{pool} has user data", 60)
        source, = made["ignition"]["config"]["merge"]
        assert source == {"source": f"https://api-int.demo.test:22623/config/{pool}"}
    assert secret(cluster, "openshift-machine-api", "infra-user-data-managed")["disableTemplating"] == b"true\n"
    settings.config_map(NAMESPACE, "machine-config-server-ca", {"ca-bundle.crt": named_authority("another")})
    encoded = base64.b64encode(named_authority("another").encode()).decode()
    wait_until(lambda: encoded in json.dumps(pointer("infra")), "the authority reaches new machines", 60)


def test_the_servers_certificate_is_made_where_the_cluster_makes_machines(cluster, settings, controller, tmp_path):
    wait_until(lambda: controller_config(cluster), "there is a ControllerConfig", 60)
    path = "/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/machinesets"
    cluster.admin.must("POST", path, {"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
                                      "metadata": {"name": "workers"}, "spec": {}})
    try:
        pair = wait_until(lambda: secret(cluster, NAMESPACE, "machine-config-server-tls"), "there is a certificate", 60)
        for name, content in (("tls.crt", pair["tls.crt"]), ("tls.key", pair["tls.key"])):
            (tmp_path / name).write_bytes(content)
        bundle = config_map(cluster, NAMESPACE, "machine-config-server-ca")["data"]["ca-bundle.crt"]
        (tmp_path / "ca.crt").write_text(bundle)
        shell.run("openssl", "verify", "-CAfile", tmp_path / "ca.crt", "-purpose", "sslserver",
                  "-verify_hostname", "api-int.demo.test", tmp_path / "tls.crt")
        wait_until(lambda: text_of(cluster, "rootCAData") == bundle, "nodes and new machines trust it", 60)
    finally:
        cluster.admin.must("DELETE", f"{path}/workers")
        for name in ("machine-config-server-tls", "machine-config-server-ca"):
            cluster.admin.must("DELETE", f"/api/v1/namespaces/{NAMESPACE}/secrets/{name}")


def test_the_controller_reads_no_more_than_it_needs(cluster, controller):
    wait_until(lambda: controller_config(cluster), "there is a ControllerConfig", 60)
    user = account(cluster)
    # The names of an account's Secrets are not known before.  So the controller may read all Secrets of the namespace,
    # but it may change only its own.
    assert user.request("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets")[0] == 200
    with cluster.refusals.expected(user, "patch secrets", "list serviceaccounts", "list configmaps", "list secrets",
                                   "delete controllerconfigs", "patch leases"):
        assert user.request("PATCH", f"/api/v1/namespaces/{NAMESPACE}/secrets/puller-1", {}, MERGE)[0] == 403
        assert user.request("GET", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts")[0] == 403
        assert user.request("GET", f"/api/v1/namespaces/{NAMESPACE}/configmaps")[0] == 403
        assert user.request("GET", "/api/v1/namespaces/openshift-config/secrets")[0] == 403
        assert user.request("GET", "/api/v1/namespaces/kube-system/configmaps")[0] == 403
        assert user.request("DELETE", OBJECT)[0] == 403
        assert user.request("PATCH", f"{LEASES}/another", {}, MERGE)[0] == 403
