# SPDX-License-Identifier: Apache-2.0
"""Tests deploy/: a real API server accepts what Kustomize makes of it, and the controller has exactly the rights that
it needs.
"""

import json
import os
import pathlib
import re
import subprocess

import pytest
from machines.cluster import Cluster
from machines.controller import GROUP, account, wait_until_owners_are_known

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
CONTROLLER = pathlib.Path(os.environ["PINTLE_BUILD"]) / "src/controller/pintle-controller"
NAMESPACE = "openshift-machine-config-operator"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:pintle-controller"
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
REFUSED = [
    *((verb, "secrets", "", NAMESPACE, "") for verb in ("get", "list", "create")),
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


def for_this_cluster(cluster, text):
    """Adapts the manifests: the cluster may be too old for the newest version of this one kind, which has not changed
    since.
    """
    return text.replace("policy/v1\n", cluster.api("policy", "v1", "v1beta1") + "\n")


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        yield running


@pytest.fixture(scope="module")
def applied(cluster):
    made = cluster.kubectl("kustomize", DEPLOY).stdout
    cluster.apply(for_this_cluster(cluster, made))
    return cluster


def test_kustomize_has_each_file(cluster):
    def listed(folder):
        return set(re.findall(r"(?m)^  - (\S+)$", (folder / "kustomization.yaml").read_text()))

    def files(folder, top):
        return {str(path.relative_to(top)) for path in folder.glob("*.yaml") if path.name != "kustomization.yaml"}

    controller, ignition = DEPLOY / "controller", DEPLOY / "ignition"
    assert listed(DEPLOY) == {"controller"} | files(DEPLOY / "crds", DEPLOY) | files(DEPLOY / "agent", DEPLOY)
    assert listed(controller) == files(controller, controller)
    assert listed(ignition) == {"../controller"} | files(ignition, ignition)
    openshift = DEPLOY / "openshift"
    assert listed(openshift) == {"../controller"} | files(openshift, openshift)
    kinds = re.findall(r"(?m)^kind: (\w+)$", cluster.kubectl("kustomize", DEPLOY / "monitoring").stdout)
    assert sorted(kinds) == ["ConfigMap", "PrometheusRule", "ServiceMonitor"]


def test_the_api_server_takes_all_of_it(applied):
    deployment = applied.get("deployment", "pintle-controller", "-n", NAMESPACE)
    assert deployment["spec"]["replicas"] == 2
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    for kind, selector in (("service/machine-config-controller", lambda spec: spec["selector"]),
                           ("pdb/pintle-controller", lambda spec: spec["selector"]["matchLabels"])):
        assert selector(applied.get(kind, "-n", NAMESPACE)["spec"]).items() <= labels, kind


def test_it_applies_again_without_a_change(applied):
    again = applied.apply(for_this_cluster(applied, applied.kubectl("kustomize", DEPLOY).stdout)).splitlines()
    assert again and [line for line in again if not line.endswith("unchanged")] == []


def test_pods_are_restricted(applied):
    """The pods fulfil the Pod Security Standard `restricted`, which some clusters enforce."""
    pod = applied.get("deployment", "pintle-controller", "-n", NAMESPACE)["spec"]["template"]["spec"]
    # The pod names no user, because OpenShift refuses a user that is not of the namespace's own.
    assert pod["securityContext"]["runAsNonRoot"] is True and "runAsUser" not in pod["securityContext"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not any(pod.get(host) for host in ("hostNetwork", "hostPID", "hostIPC", "volumes"))
    for container in pod["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False and context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert not any(port.get("hostPort") for port in container["ports"])
        # The kubelet restarts a replica that hangs, and a replica that has not read the cluster is not ready.
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "metrics", "scheme": "HTTP"}
        assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "metrics", "scheme": "HTTP"}
        assert container["resources"]["limits"]["memory"]
    namespace = applied.get("namespace", NAMESPACE)["metadata"]["labels"]
    assert namespace["pod-security.kubernetes.io/enforce"] == "restricted"


def test_on_openshift_it_generates_from_the_templates_of_the_release(applied):
    made = for_this_cluster(applied, applied.kubectl("kustomize", DEPLOY / "openshift").stdout)
    applied.kubectl("create", "namespace", "openshift-config")
    taken = applied.kubectl("apply", "--dry-run=server", "--output=json", "-f", "-", input=made).stdout
    deployment, = (item for item in json.loads(taken)["items"] if item["kind"] == "Deployment")
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
    # A container of the namespace's own user may write into the volume, since it is no other's.
    assert pod["securityContext"]["runAsNonRoot"] is True and "hostNetwork" not in pod


def test_on_openshift_the_init_container_copies_the_operators_whole_folder(cluster, tmp_path):
    made = cluster.kubectl("kustomize", DEPLOY / "openshift").stdout
    command = re.search(r"\n +- cp\n((?: +- \S+\n)+)", made)[1].split()[1::2]
    *options, source, target = command
    # The Machine Config Operator's image has its templates there.
    assert source == "/etc/mcc/templates/." and target == "/templates"
    image, volume = tmp_path / "image", tmp_path / "volume"
    for path in ("common/_base/files/a.yaml", "worker/00-worker/_base/units/b.yaml", "worker/00-worker/aws/files/.c"):
        (image / path).parent.mkdir(parents=True, exist_ok=True)
        (image / path).write_text(path)
    volume.mkdir()
    # A container that is started again copies again.
    for _ in range(2):
        subprocess.run(["cp", *options, f"{image}/.", volume], check=True)
        copied = {str(path.relative_to(volume)): path.read_text() for path in volume.rglob("*") if path.is_file()}
        assert copied == {path: path for path in copied} and len(copied) == 3


def test_on_openshift_an_overlay_names_the_releases_image(cluster, tmp_path):
    """docs/controller.md describes such an overlay."""
    image = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:" + "0" * 64
    name, _, digest = image.partition("@")
    place = os.path.relpath(DEPLOY / "openshift", tmp_path)
    (tmp_path / "kustomization.yaml").write_text(
        # The kustomize in an old kubectl takes folders by this name only.
        f"bases: [{place}]\n"
        f'images:\n  - {{name: machine-config-operator, newName: {name}, digest: "{digest}"}}\n')
    made = cluster.kubectl("kustomize", tmp_path).stdout
    assert made.count(f"image: {image}\n") == 1 and "image: machine-config-operator" not in made


def test_with_ignition_it_serves_on_each_master_from_the_operators_secrets(applied):
    made = for_this_cluster(applied, applied.kubectl("kustomize", DEPLOY / "ignition").stdout)
    taken = applied.kubectl("apply", "--dry-run=server", "--output=json", "-f", "-", input=made).stdout
    deployment, = (item for item in json.loads(taken)["items"] if item["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    assert deployment["spec"]["replicas"] == 3 and pod["hostNetwork"] is True
    namespace, = (item for item in json.loads(taken)["items"] if item["kind"] == "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    container, = pod["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    # The host ports keep two replicas from one machine.
    assert {port["hostPort"] for port in container["ports"]} == {8797, 22623}
    # The program knows all of these options, and finds its files where the Secrets are mounted.
    help_text = subprocess.run([CONTROLLER, *container["args"], "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    secrets = {volume["name"]: volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume}
    assert secrets[mounts["/etc/ssl/mcs"]] == "machine-config-server-tls" and "[/etc/ssl/mcs/tls.crt]" in help_text
    assert secrets[mounts["/etc/mcs/bootstrap-token"]] == "node-bootstrapper-token"
    assert "[/etc/mcs/bootstrap-token]" in help_text
    # The server refuses a key that everyone may read.
    assert {volume["secret"]["defaultMode"] for volume in pod["volumes"] if "secret" in volume} == {0o440}


def allowed(cluster, verb, resource, group, namespace, name):
    kind, _, subresource = resource.partition("/")
    attributes = {"verb": verb, "resource": kind, "subresource": subresource, "group": group, "namespace": namespace,
                  "name": name}
    review = cluster.admin.must("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": ACCOUNT, "groups": ["system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}"],
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


def test_a_pool_may_be_made_to_wait_for_its_configs(applied):
    """OpenShift requires a right on the owner for `blockOwnerDeletion`, and so does the test cluster."""
    applied.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    wait_until_owners_are_known(applied)
    pool = applied.admin.must("POST", f"{GROUP}/machineconfigpools", {
        "apiVersion": f"{MACHINE_CONFIG}/v1", "kind": "MachineConfigPool", "metadata": {"name": "owner"}, "spec": {}})
    blocking = owned("rendered-owner-1", pool, controller=True, blockOwnerDeletion=True)
    account(applied).must("POST", f"{GROUP}/machineconfigs", blocking)
    # An account that may only create configs may not set this.
    applied.kubectl("create", "serviceaccount", "other", "-n", NAMESPACE)
    applied.kubectl("create", "clusterrole", "other", "--verb=create", f"--resource=machineconfigs.{MACHINE_CONFIG}")
    applied.kubectl("create", "clusterrolebinding", "other", "--clusterrole=other", f"--serviceaccount={NAMESPACE}:other")
    other = applied.account(NAMESPACE, "other")
    other.must("POST", f"{GROUP}/machineconfigs", owned("unblocking", pool))
    status, answer = other.request("POST", f"{GROUP}/machineconfigs", blocking)
    assert status == 403 and "cannot set blockOwnerDeletion" in answer["message"], answer


def test_no_right_is_given_that_is_not_needed(applied):
    """Each verb on each resource of the controller's roles is one of NEEDED."""
    needed = {(verb, resource, group) for verb, resource, group, _, _ in NEEDED}
    # The right to list all objects includes reading one of them.
    needed |= {("get", resource, group) for verb, resource, group in needed
               if verb == "list" and resource != "configmaps"}
    needed.add(("watch", "poddisruptionbudgets", "policy"))
    roles = [applied.get("clusterrole", name) for name in ("pintle-controller", "pintle-controller-events")]
    roles.append(applied.get("role", "pintle-controller", "-n", NAMESPACE))
    given = {(verb, resource, group) for role in roles for rule in role["rules"] for verb in rule["verbs"]
             for resource in rule["resources"] for group in rule["apiGroups"]}
    assert given == needed
    assert "*" not in json.dumps(roles[0]["rules"])
