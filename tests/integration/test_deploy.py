# SPDX-License-Identifier: Apache-2.0
"""Tests deploy/: a real API server accepts the manifests that Kustomize makes of it, and the controller has exactly the
rights that it needs.
"""

import json
import re
import subprocess

import pytest
from machines import pod_policies, programs
from machines.cluster import Cluster
from machines.controller import GROUP, NAMESPACE, OWN_NAMESPACE, account, wait_until_owners_are_known
from machines.manifests import DEPLOY, for_old_kustomize, kustomize, manifests_for
from machines.wait import wait_until

CONTROLLER = programs.here("pintle-controller")
ACCOUNT = f"system:serviceaccount:{OWN_NAMESPACE}:pintle-controller"
MACHINE_CONFIG = "machineconfiguration.openshift.io"

# (verb, resource, group, namespace, name)
NEEDED = [
    *((verb, "nodes", "", "", "") for verb in ("get", "list", "watch", "patch")),
    *((verb, "machineconfigs", MACHINE_CONFIG, "", "") for verb in ("get", "list", "watch", "create", "patch", "delete")),
    *((verb, "machineconfigpools", MACHINE_CONFIG, "", "") for verb in ("get", "list", "watch", "create", "patch")),
    ("patch", "machineconfigpools/status", MACHINE_CONFIG, "", ""),
    ("update", "machineconfigpools/finalizers", MACHINE_CONFIG, "", ""),
    *((verb, "machineconfignodes", MACHINE_CONFIG, "", "") for verb in ("get", "list", "watch", "patch")),
    ("patch", "machineconfignodes/status", MACHINE_CONFIG, "", ""),
    *((verb, "controllerconfigs", MACHINE_CONFIG, "", "") for verb in ("get", "list", "watch")),
    *((verb, "machineosconfigs", MACHINE_CONFIG, "", "") for verb in ("list", "watch")),
    *((verb, "machineosbuilds", MACHINE_CONFIG, "", "") for verb in ("list", "watch")),
    *((verb, "osimagestreams", MACHINE_CONFIG, "", "") for verb in ("list", "watch")),
    *((verb, "rolloutpolicies", "pintle.io", "", "") for verb in ("list", "watch")),
    ("patch", "rolloutpolicies/status", "pintle.io", "", ""),
    *((verb, "machineconfigurations", "operator.openshift.io", "", "") for verb in ("list", "watch")),
    *((verb, "schedulers", "config.openshift.io", "", "") for verb in ("list", "watch")),
    *((verb, "pods", "", "", "") for verb in ("list", "watch")),
    ("list", "poddisruptionbudgets", "policy", "", ""),
    *(("get", maker, "apps", "any", "") for maker in ("replicasets", "statefulsets")),
    ("get", "replicationcontrollers", "", "any", ""),
    ("create", "pods/eviction", "", "any", ""),
    ("create", "leases", "coordination.k8s.io", NAMESPACE, ""),
    *((verb, "configmaps", "", NAMESPACE, "kubeconfig-data") for verb in ("list", "watch")),
    *((verb, "leases", "coordination.k8s.io", NAMESPACE, "machine-config-controller") for verb in ("get", "patch")),
    *((verb, "events", "", namespace, "") for verb in ("create", "patch") for namespace in (NAMESPACE, "default")),
]
# The namespaces in which the controller reads the settings of an OpenShift cluster.
OPENSHIFT = ("openshift-config", "openshift-config-managed", "openshift-kube-apiserver-operator", "openshift-machine-api")
OPENSHIFT_NAMESPACES = "---\n".join(
    f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n" for name in OPENSHIFT)
READ = "list watch"
# The rights in operator-settings-rbac.yaml: (namespace, verbs, group, resources, names).  Without a namespace, a right
# is for the whole cluster; without names, it is for all objects.
SETTINGS = [
    ("", READ, "config.openshift.io", "dnses images infrastructures networks proxies", ""),
    ("", "create patch", MACHINE_CONFIG, "controllerconfigs", ""),
    ("", READ, "", "namespaces", "openshift-machine-api"),
    (NAMESPACE, READ, "", "configmaps", "machine-config-server-ca machine-config-osimageurl "
     "machine-config-operator-images"),
    (NAMESPACE, "patch", "", "configmaps", "kubeconfig-data machine-config-server-ca"),
    (NAMESPACE, "list watch patch", "", "secrets", "machine-config-server-ca machine-config-server-tls"),
    (NAMESPACE, "get", "", "secrets", "machine-config-server-ca"),
    (NAMESPACE, READ, "", "serviceaccounts", "machine-os-puller"),
    (NAMESPACE, "create", "", "configmaps secrets", ""),
    (NAMESPACE, READ, "", "secrets", ""),
    ("openshift-config", READ, "", "configmaps", ""),
    ("openshift-config", READ, "", "secrets", "pull-secret"),
    ("openshift-config-managed", READ, "", "configmaps", "kube-apiserver-client-ca kube-apiserver-server-ca "
     "image-registry-ca kube-cloud-config merged-trusted-image-registry-ca"),
    ("openshift-config-managed", "patch", "", "configmaps", "merged-trusted-image-registry-ca"),
    ("openshift-config-managed", "create", "", "configmaps", ""),
    ("openshift-kube-apiserver-operator", READ, "", "configmaps", "kube-apiserver-to-kubelet-client-ca"),
    ("kube-system", READ, "", "configmaps", "root-ca bootstrap"),
    ("openshift-machine-api", "list watch create patch", "", "secrets", ""),
    ("openshift-machine-api", READ, "machine.openshift.io", "machinesets", ""),
]
REFUSED = [
    *((verb, "secrets", "", namespace, "") for namespace in (NAMESPACE, OWN_NAMESPACE) for verb in ("get", "list", "create")),
    *((verb, "secrets", "", "kube-system", "") for verb in ("get", "list")),
    *((verb, "configmaps", "", NAMESPACE, "") for verb in ("get", "list", "update")),
    ("list", "configmaps", "", "kube-system", "kubeconfig-data"),
    *((verb, "nodes", "", "", "") for verb in ("create", "delete", "update")),
    *((verb, "pods", "", NAMESPACE, "") for verb in ("create", "delete", "patch")),
    ("create", "pods/exec", "", NAMESPACE, ""),
    ("delete", "machineconfigpools", MACHINE_CONFIG, "", ""),
    *((verb, "controllerconfigs", MACHINE_CONFIG, "", "") for verb in ("create", "patch", "delete")),
    ("patch", "machineconfigurations", "operator.openshift.io", "", ""),
    *((verb, "leases", "coordination.k8s.io", NAMESPACE, "another") for verb in ("get", "patch")),
    ("patch", "leases", "coordination.k8s.io", "kube-node-lease", "worker-0"),
    ("create", "events", "", "kube-system", ""),
    *((verb, "clusterroles", "rbac.authorization.k8s.io", "", "") for verb in ("get", "escalate", "bind")),
    ("impersonate", "users", "", "", ""),
    ("create", "serviceaccounts/token", "", NAMESPACE, ""),
]


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        yield running


@pytest.fixture(scope="module")
def applied(cluster):
    cluster.apply(kustomize(cluster, DEPLOY / "crds"))
    cluster.apply(manifests_for(cluster, DEPLOY / "kubernetes"))
    return cluster


def test_kustomize_lists_each_file(cluster):
    folders = [path.parent for name in ("kustomization.yaml", "Kustomization") for path in DEPLOY.rglob(name)]
    assert len(folders) >= 10
    for folder in folders:
        text = next(folder.glob("[kK]ustomization*")).read_text()
        listed = set(re.findall(r"(?m)^  - (?:path: )?(\S+\.yaml)$", text))
        assert listed == {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml"}, folder
        for name in re.findall(r"(?m)^  - (\.\S+)$", text):
            assert (folder / name).resolve() in folders, (folder, name)
        for old in ("bases:", "commonLabels:", "patchesStrategicMerge:", "patchesJson6902:", "vars:", "imageTags:"):
            assert old not in text, folder
    kinds = re.findall(r"(?m)^kind: (\w+)$", kustomize(cluster, DEPLOY / "monitoring"))
    assert sorted(kinds) == ["ConfigMap", "PrometheusRule", "ServiceMonitor"]


def test_a_copy_for_an_old_kustomize_has_the_old_names():
    assert for_old_kustomize("resources:\n  - ../base\n  - a.yaml\npatches:\n  - path: b.yaml\n") == (
        "bases:\n  - ../base\nresources:\n  - a.yaml\npatchesStrategicMerge:\n  - b.yaml\n")


def test_the_api_server_accepts_all_manifests(applied):
    deployment = applied.get("deployment", "pintle-controller", "-n", OWN_NAMESPACE)
    assert deployment["spec"]["replicas"] == 2
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    for kind, selector in (("service/pintle-controller", lambda spec: spec["selector"]),
                           ("networkpolicy/pintle-controller", lambda spec: spec["podSelector"]["matchLabels"]),
                           ("pdb/pintle-controller", lambda spec: spec["selector"]["matchLabels"])):
        assert selector(applied.get(kind, "-n", OWN_NAMESPACE)["spec"]).items() <= labels, kind


def test_applying_the_manifests_again_changes_nothing(applied):
    again = applied.apply(manifests_for(applied, DEPLOY / "kubernetes")).splitlines()
    assert again and [line for line in again if not line.endswith("unchanged")] == []


def test_pods_are_restricted(applied):
    """The pods fulfil the Pod Security Standard `restricted`, which some clusters enforce."""
    pod = applied.get("deployment", "pintle-controller", "-n", OWN_NAMESPACE)["spec"]["template"]["spec"]
    # The pod names no user, because OpenShift refuses a user outside of the range that belongs to the namespace.
    assert pod["securityContext"]["runAsNonRoot"] is True and "runAsUser" not in pod["securityContext"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not any(pod.get(host) for host in ("hostNetwork", "hostPID", "hostIPC", "volumes"))
    for container in pod["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False and context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert not any(port.get("hostPort") for port in container["ports"])
        # The kubelet restarts a replica that hangs, and a replica that has not read the cluster is not ready.
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "probes", "scheme": "HTTP"}
        assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "probes", "scheme": "HTTP"}
        assert container["resources"]["limits"]["memory"]
    namespace = applied.get("namespace", OWN_NAMESPACE)["metadata"]["labels"]
    assert namespace["pod-security.kubernetes.io/enforce"] == "restricted"


def test_the_pods_are_made_under_a_policy_like_that_of_openshift(applied):
    """The policy of the test cluster, or the label of the namespace, allows restricted pods only."""
    def replicas():
        pods = applied.get("pods", "-n", OWN_NAMESPACE, "-l", "app.kubernetes.io/name=pintle-controller")["items"]
        return len(pods) == 2 and pods
    # There is no node, so the pods are not started.
    for pod in wait_until(replicas, "both pods are there", 60):
        if pod_policies.PLUGIN in applied.plugins:
            assert pod["metadata"]["annotations"]["kubernetes.io/psp"] == pod_policies.RESTRICTED
            user, = {container["securityContext"]["runAsUser"] for container in pod["spec"]["containers"]}
            assert user == pod_policies.USERS["min"]
    # The controller of ReplicaSets is not allowed to create a pod that is not restricted.
    unrestricted = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "unrestricted", "namespace": OWN_NAMESPACE},
                    "spec": {"hostNetwork": True, "serviceAccountName": "pintle-controller",
                             "containers": [{"name": "c", "image": "example.com/c"}]}}
    refused = applied.kubectl("create", "--as=system:serviceaccount:kube-system:replicaset-controller",
                              "--dry-run=server", "--validate=false", "-f", "-", input=json.dumps(unrestricted),
                              check=False)
    assert refused.returncode == 1 and "PodSecurity" in refused.stderr and "host" in refused.stderr.lower(), refused


def test_on_openshift_the_controller_uses_the_templates_of_the_release(applied):
    made = manifests_for(applied, DEPLOY / "openshift")
    applied.apply(OPENSHIFT_NAMESPACES)
    output = applied.kubectl("apply", "--dry-run=server", "--output=json", "-f", "-", input=made).stdout
    deployment, = (item for item in json.loads(output)["items"] if item["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    first, = pod["initContainers"]
    container, = pod["containers"]
    # The controller reads the folder that the init container fills, and nobody else writes there.
    volume, = pod["volumes"]
    written, = first["volumeMounts"]
    read, = container["volumeMounts"]
    assert volume == {"name": written["name"], "emptyDir": {}}
    assert (written["name"], written["mountPath"]) == (read["name"], read["mountPath"])
    assert read["readOnly"] is True and not written.get("readOnly")
    assert container["args"][container["args"].index("--templates") + 1] == read["mountPath"]
    assert first["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                        "capabilities": {"drop": ["ALL"]}}
    # The pod names no user, so both containers run as the namespace's own user, who may write into the volume.
    assert pod["securityContext"]["runAsNonRoot"] is True and "hostNetwork" not in pod
    # Either label makes a node one of the control plane.
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [term["matchExpressions"][0]["key"] for term in terms] == [
        "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"]


def test_on_openshift_the_init_container_copies_the_operators_whole_folder(cluster, tmp_path):
    made = kustomize(cluster, DEPLOY / "openshift")
    command = re.search(r"\n +- cp\n((?: +- \S+\n)+)", made)[1].split()[1::2]
    *options, source, target = command
    # The Machine Config Operator's image has its templates there.
    assert source == "/etc/mcc/templates/." and target == "/templates"
    image, volume = tmp_path / "image", tmp_path / "volume"
    for path in ("common/_base/files/a.yaml", "worker/00-worker/_base/units/b.yaml", "worker/00-worker/aws/files/.c"):
        (image / path).parent.mkdir(parents=True, exist_ok=True)
        (image / path).write_text(path)
    volume.mkdir()
    # A container that is restarted copies again.
    for _ in range(2):
        subprocess.run(["cp", *options, f"{image}/.", volume], check=True)
        copied = {str(path.relative_to(volume)): path.read_text() for path in volume.rglob("*") if path.is_file()}
        assert copied == {path: path for path in copied} and len(copied) == 3


def test_on_openshift_an_overlay_names_the_releases_image(cluster, tmp_path):
    """docs/controller.md describes such an overlay."""
    image = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:" + "0" * 64
    name, _, digest = image.partition("@")
    (tmp_path / "kustomization.yaml").write_text(
        "resources:\n  - ../deploy/openshift\n"
        f'images:\n  - {{name: machine-config-operator, newName: {name}, digest: "{digest}"}}\n')
    made = kustomize(cluster, tmp_path)
    assert made.count(f"image: {image}\n") == 1 and "image: machine-config-operator" not in made


@pytest.mark.parametrize("kind, replicas", [("openshift", 3), ("kubernetes", 2)])
def test_the_ignition_servers_deployment_gets_its_certificate_and_token_from_secrets(applied, kind, replicas):
    made = manifests_for(applied, DEPLOY / "ignition" / kind)
    applied.apply(OPENSHIFT_NAMESPACES)
    output = applied.kubectl("apply", "--dry-run=server", "--output=json", "-f", "-", input=made).stdout
    items = json.loads(output)["items"]
    deployment, = (item for item in items if item["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    assert deployment["spec"]["replicas"] == replicas and pod["hostNetwork"] is True
    namespaces = {item["metadata"]["name"]: item for item in items if item["kind"] == "Namespace"}
    assert namespaces.keys() == ({OWN_NAMESPACE} if kind == "openshift" else {OWN_NAMESPACE, NAMESPACE})
    namespace = namespaces[OWN_NAMESPACE]
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    container, = pod["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    # On OpenShift, the Machine Config Operator's daemon has port 8797 of each machine.
    metrics = 8799 if kind == "openshift" else 8797
    # Because of the host ports, two replicas cannot run on one machine.
    assert {port["name"]: port["hostPort"] for port in container["ports"]} == {
        "metrics": metrics, "probes": 8796, "ignition": 22623}
    arguments = container["args"]
    # No NetworkPolicy holds for the hosts' network, so the probes are at an address that no pod reaches.
    assert arguments[arguments.index("--probe-listen-address") + 1] == "127.0.0.1:8796"
    assert {container[probe]["httpGet"]["host"] for probe in ("livenessProbe", "readinessProbe")} == {"127.0.0.1"}
    assert arguments[arguments.index("--metrics-listen-address") + 1] == f":{metrics}"
    # The program knows all of these options.
    help_text = subprocess.run([CONTROLLER, *arguments, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    secrets = {volume["name"]: volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume}
    if kind == "kubernetes":
        # The program finds its files where the Secrets are mounted.
        assert secrets[mounts["/etc/ssl/mcs"]] == "machine-config-server-tls" and "[/etc/ssl/mcs/tls.crt]" in help_text
        assert secrets[mounts["/etc/mcs/bootstrap-token"]] == "node-bootstrapper-token"
        assert "[/etc/mcs/bootstrap-token]" in help_text
        # No config is served without a token, and the pod's group may read the Secrets.
        assert arguments[arguments.index("--access") + 1] == "required"
        assert secrets[mounts["/etc/pintle/tokens"]] == "pintle-token-keys"
        assert "/etc/pintle/tokens/keys" in arguments and pod["securityContext"]["fsGroup"]
        # The server refuses a key that everyone may read.
        assert {volume["secret"]["defaultMode"] for volume in pod["volumes"] if "secret" in volume} == {0o440}
    else:
        assert arguments[arguments.index("--templates") + 1] == "/templates" and secrets == {}
        # The program reads the Secrets of the Operator, and may read these two only.
        named = [arguments[arguments.index(option) + 1] for option in ("--tls-secret", "--bootstrap-token-secret")]
        role, = (item for item in items
                 if (item["kind"], item["metadata"]["name"]) == ("Role", "pintle-controller-serving"))
        assert named == [f"{NAMESPACE}/{name}" for name in role["rules"][0]["resourceNames"]]
        assert role["metadata"]["namespace"] == NAMESPACE and len(role["rules"]) == 1
        assert role["rules"][0]["resources"] == ["secrets"] and role["rules"][0]["verbs"] == ["list", "watch"]


@pytest.mark.parametrize("kind", ["kubernetes", "openshift"])
def test_only_an_overlay_serves_the_page_outside_of_the_pod(applied, kind):
    applied.apply(OPENSHIFT_NAMESPACES)
    plain, made = (json.loads(applied.kubectl("apply", "--dry-run=server", "--output=json", "-f", "-",
                                              input=manifests_for(applied, folder)).stdout)["items"]
                   for folder in (DEPLOY / kind, DEPLOY / "page" / kind))
    names = {(item["kind"], item["metadata"]["name"]) for item in made}
    assert names - {(item["kind"], item["metadata"]["name"]) for item in plain} == {
        ("ClusterRole", "pintle-page-reader"), ("ClusterRoleBinding", "pintle-controller-page"),
        ("NetworkPolicy", "pintle-page"), ("Service", "pintle-page")}
    found = {(item["kind"], item["metadata"]["name"]): item for item in made}
    assert found["ClusterRoleBinding", "pintle-controller-page"]["roleRef"]["name"] == "system:auth-delegator"
    assert found["ClusterRole", "pintle-page-reader"]["rules"] == [
        {"nonResourceURLs": ["/pintle/page"], "verbs": ["get"]}]
    before = next(item for item in plain if item["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"][0]
    pod = found["Deployment", "pintle-controller"]["spec"]["template"]["spec"]
    container, = pod["containers"]
    # The overlay adds options and changes none.
    options = ["--page-listen", ":8443", "--page-cert", "/etc/pintle/page/tls.crt", "--page-key", "/etc/pintle/page/tls.key"]
    assert sorted(container["args"]) == sorted(before["args"] + options)
    subprocess.run([CONTROLLER, *container["args"], "--help"], stdout=subprocess.DEVNULL, check=True)
    # The key is where the program looks for it, and not everyone may read it.
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    volume, = (volume for volume in pod["volumes"] if volume["name"] == mounts["/etc/pintle/page"])
    assert volume["secret"] == {"secretName": "pintle-page-tls", "defaultMode": 0o440}
    # The Service and the policy lead to the port of the page.
    assert {port["name"]: port["containerPort"] for port in container["ports"]} == {
        "metrics": 8797, "probes": 8796, "page": 8443}
    service = found["Service", "pintle-page"]["spec"]
    assert service["ports"][0]["targetPort"] == "page" and service["selector"].items() <= found[
        "Deployment", "pintle-controller"]["spec"]["template"]["metadata"]["labels"].items()
    assert found["NetworkPolicy", "pintle-page"]["spec"]["ingress"] == [{"ports": [{"port": 8443, "protocol": "TCP"}]}]


def allowed(cluster, verb, resource, group, namespace, name):
    kind, _, subresource = resource.partition("/")
    attributes = {"verb": verb, "resource": kind, "subresource": subresource, "group": group, "namespace": namespace,
                  "name": name}
    review = cluster.admin.must("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": ACCOUNT, "groups": ["system:serviceaccounts", f"system:serviceaccounts:{OWN_NAMESPACE}"],
                 "resourceAttributes": attributes}})
    return review["status"].get("allowed", False)


def test_the_controller_has_exactly_the_rights_that_it_needs(applied):
    assert [right for right in NEEDED if not allowed(applied, *right)] == []
    assert [right for right in REFUSED if allowed(applied, *right)] == []


def owned(name, pool, **more):
    """Returns a machine config that is owned by a pool."""
    owner = {"apiVersion": f"{MACHINE_CONFIG}/v1", "kind": "MachineConfigPool", "name": pool["metadata"]["name"],
             "uid": pool["metadata"]["uid"], **more}
    return {"apiVersion": f"{MACHINE_CONFIG}/v1", "kind": "MachineConfig", "spec": {},
            "metadata": {"name": name, "ownerReferences": [owner]}}


def test_the_controller_may_make_a_pool_the_owner_of_a_config(applied):
    """OpenShift requires a right on the owner for `blockOwnerDeletion`, and so does the test cluster."""
    applied.wait_until_kinds_are_served()
    wait_until_owners_are_known(applied)
    pool = applied.admin.must("POST", f"{GROUP}/machineconfigpools", {
        "apiVersion": f"{MACHINE_CONFIG}/v1", "kind": "MachineConfigPool", "metadata": {"name": "owner"}, "spec": {}})
    blocking = owned("rendered-owner-1", pool, controller=True, blockOwnerDeletion=True)
    account(applied).must("POST", f"{GROUP}/machineconfigs", blocking)
    # An account whose only right is to create configs is not allowed to set blockOwnerDeletion.
    applied.kubectl("create", "serviceaccount", "other", "-n", NAMESPACE)
    applied.kubectl("create", "clusterrole", "other", "--verb=create", f"--resource=machineconfigs.{MACHINE_CONFIG}")
    applied.kubectl("create", "clusterrolebinding", "other", "--clusterrole=other", f"--serviceaccount={NAMESPACE}:other")
    other = applied.account(NAMESPACE, "other")
    other.must("POST", f"{GROUP}/machineconfigs", owned("unblocking", pool))
    status, answer = other.request("POST", f"{GROUP}/machineconfigs", blocking)
    assert status == 403 and "cannot set blockOwnerDeletion" in answer["message"], answer


def test_the_controller_has_no_right_that_it_does_not_need(applied):
    """Each verb on each resource of the controller's roles is one of NEEDED."""
    needed = {(verb, resource, group) for verb, resource, group, _, _ in NEEDED}
    # Whoever may list all objects can read each of them, so a right to get them gives nothing more.
    needed |= {("get", resource, group) for verb, resource, group in needed
               if verb == "list" and resource != "configmaps"}
    # The role has list and watch together; the controller only lists these.
    needed.add(("watch", "poddisruptionbudgets", "policy"))
    roles = [applied.get("clusterrole", "pintle-controller"),
             *(applied.get("role", "pintle-controller", "-n", namespace) for namespace in (NAMESPACE, "default"))]
    granted = {(verb, resource, group) for role in roles for rule in role["rules"] for verb in rule["verbs"]
               for resource in rule["resources"] for group in rule["apiGroups"]}
    assert granted == needed
    assert "*" not in json.dumps(roles[0]["rules"])


def single_rights(namespace, verbs, groups, resources, names):
    return {(namespace, verb, group, resource, name)
            for verb in verbs for group in groups for resource in resources for name in names or [""]}


def test_the_rights_for_operator_yes_are_exactly_those_that_are_needed(applied):
    """tests/integration/test_controller_config.py runs the controller with --operator=yes and with these rights."""
    applied.apply(OPENSHIFT_NAMESPACES)
    text = (DEPLOY / "openshift/operator-settings-rbac.yaml").read_text()
    output = applied.kubectl("apply", "--dry-run=server", "--output=json", "-f", "-", input=text).stdout
    granted = set()
    for item in json.loads(output)["items"]:
        for rule in item.get("rules", ()):
            granted |= single_rights(item["metadata"].get("namespace", ""), rule["verbs"], rule["apiGroups"],
                                     rule["resources"], rule.get("resourceNames"))
    needed = set().union(*(single_rights(namespace, verbs.split(), [group], resources.split(), names.split())
                           for namespace, verbs, group, resources, names in SETTINGS))
    assert granted == needed


# Objects of the Machine Config Operator, and others, whose names deploy/ must not use.
OPERATORS = f"""
apiVersion: v1
kind: Namespace
metadata:
  name: {NAMESPACE}
  labels: {{pod-security.kubernetes.io/enforce: privileged, openshift.io/cluster-monitoring: "true"}}
---
{OPENSHIFT_NAMESPACES}
---
apiVersion: v1
kind: Service
metadata: {{name: machine-config-controller, namespace: {NAMESPACE}, labels: {{k8s-app: machine-config-controller}}}}
spec: {{selector: {{k8s-app: machine-config-controller}}, ports: [{{name: metrics, port: 9001}}]}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: machine-config-controller, namespace: {NAMESPACE}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: kubeconfig-data, namespace: {NAMESPACE}}}
data: {{ca-bundle.crt: an authority}}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {{name: machine-config-controller, namespace: {NAMESPACE}}}
spec: {{holderIdentity: the operator}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: machine-config-controller, namespace: {NAMESPACE}}}
spec:
  replicas: 0
  selector: {{matchLabels: {{k8s-app: machine-config-controller}}}}
  template:
    metadata: {{labels: {{k8s-app: machine-config-controller}}}}
    spec: {{serviceAccountName: machine-config-controller, containers: [{{name: c, image: example.com/operator}}]}}
"""
KINDS_COMPARED = ("namespaces,services,serviceaccounts,configmaps,secrets,leases,deployments,roles,rolebindings,"
                  "clusterroles,clusterrolebindings,networkpolicies,poddisruptionbudgets,customresourcedefinitions")


def everything(cluster):
    """Returns {(kind, namespace, name): text} for all objects of KINDS_COMPARED outside of Kubernetes' own namespaces.

    The status of Deployments is left out, because the controller manager writes it at any time.
    """
    found = {}
    for item in cluster.get(KINDS_COMPARED, "--all-namespaces")["items"]:
        metadata = item["metadata"]
        for field in ("resourceVersion", "managedFields"):
            metadata.pop(field, None)
        if item["kind"] == "Deployment":
            item.pop("status", None)
        if metadata.get("namespace", "").startswith("kube-"):
            continue
        found[item["kind"], metadata.get("namespace", ""), metadata["name"]] = json.dumps(item, sort_keys=True)
    return found


def test_on_openshift_no_existing_object_is_changed():
    with Cluster() as cluster:
        cluster.apply(OPERATORS)
        cluster.apply(kustomize(cluster, DEPLOY / "crds"))
        cluster.wait_until_kinds_are_served()
        settled = {(kind, namespace, name) for namespace in (NAMESPACE, *OPENSHIFT)
                   for kind, name in (("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt"))}
        wait_until(lambda: settled <= everything(cluster).keys(), "each namespace has its usual objects", 60)
        wait_until(lambda: cluster.get("deployment", "machine-config-controller", "-n", NAMESPACE)["metadata"][
            "annotations"].get("deployment.kubernetes.io/revision"), "the Deployment is known", 60)
        # Older versions add a Secret with a token to each account.
        if "secrets" in cluster.get("serviceaccount", "default", "-n", "default"):
            wait_until(lambda: all("secrets" in each for each in cluster.get("serviceaccounts", "-A")["items"]),
                       "the accounts have their tokens", 60)
        before = everything(cluster)
        made = manifests_for(cluster, DEPLOY / "openshift")
        cluster.apply(made)
        after = everything(cluster)
        assert {name: after.get(name) for name in before} == before
        # The new objects have names of our own, or the cluster has added them to a namespace of ours.
        new = after.keys() - before.keys()
        assert {("Role", NAMESPACE, "pintle-controller"), ("Deployment", OWN_NAMESPACE, "pintle-controller")} <= new
        assert [name for name in new if name[1] != OWN_NAMESPACE and not name[2].startswith("pintle")] == []
        cluster.kubectl("delete", "--wait=true", "--filename=-", input=made)
        wait_until(lambda: everything(cluster).keys() == before.keys(), "all that was made is gone", 120)
        assert everything(cluster) == before
