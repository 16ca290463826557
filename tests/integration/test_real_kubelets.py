# SPDX-License-Identifier: Apache-2.0
"""Tests drains and reboots on nodes with real kubelets: real pods end within their grace periods, and a node is ready
because its kubelet reports it.
"""

import pathlib
import subprocess
import sys

import pytest

from machines import grants, pod_images, pod_policies, real_kubelet
from machines.agent_node import Watch, annotations_of
from machines.controller import GROUP, MERGE, Controller, Objects
from machines.kubelet_nodes import KubeletFirmware, kubelet_nodes
from machines.node_network import NodeNetwork
from machines.wait import wait_until

pytestmark = pytest.mark.skipif(real_kubelet.obstacle() is not None, reason=str(real_kubelet.obstacle()))

GRACE, ENDING = 20, 5    # Seconds: the grace period of the pods `web`, and how long they take to end.
STUBBORN_GRACE = 3
# The pods write to this folder of the node, because a kubelet may remove a pod before it has reported how it ended.
DIARIES = "/var/lib/diaries"
WEB = f"""
trap 'date +"TERM %s" >/diaries/$HOSTNAME; sleep {ENDING}; date +"ended %s" >>/diaries/$HOSTNAME; exit' TERM
httpd -p 8080 -h /www
while :; do sleep 1 & wait $!; done
"""
STUBBORN = """
trap 'date +"TERM %s" >/diaries/$HOSTNAME' TERM
while :; do
  sleep 0.2 & wait $!
  [ ! -e /diaries/$HOSTNAME ] || date +"alive %s" >>/diaries/$HOSTNAME
done
"""
# A program that has a kubelet until it is killed.
OWNER = """
import sys, types
from machines.real_kubelet import RealKubelet
kubeconfig, authority, path, pods, address = sys.argv[1:]
cluster = types.SimpleNamespace(node_kubeconfig=lambda name: kubeconfig,
                                authority=types.SimpleNamespace(certificate=authority))
network = types.SimpleNamespace(path=path, pods=pods, address=address)
with RealKubelet(cluster, "owned", network, []) as kubelet:
    kubelet.start()
    print(kubelet.var, flush=True)
    sys.stdin.read()
"""
PODS = "/api/v1/namespaces/default/pods"
APPS = "/apis/apps/v1/namespaces/default"


class Recorder(Watch):
    """Records all states of the objects of a collection."""

    def __init__(self, cluster, path):
        super().__init__(cluster)
        self.path, self.seen = path, []

    def receive(self, thing):
        self.seen.append(thing)

    def of(self, name):
        return [thing for thing in list(self.seen) if thing["metadata"]["name"] == name]


class Site:
    """A cluster whose worker pool has three nodes and is up to date."""

    def __init__(self, cluster, nodes, firmware):
        self.cluster, self.nodes, self.firmware = cluster, nodes, firmware
        self.admin, self.objects = cluster.admin, Objects(cluster)

    def set_schedulable(self, nodes, schedulable):
        for node in nodes:
            self.admin.must("PATCH", f"/api/v1/nodes/{node.name}", {"spec": {"unschedulable": not schedulable}})

    def pods(self, app):
        return [pod for pod in self.admin.must("GET", f"{PODS}?labelSelector=app%3D{app}")["items"]
                if "deletionTimestamp" not in pod["metadata"]]

    def wait_until_ready(self, app, count):
        def ready():
            pods = [pod for pod in self.pods(app) if is_ready(pod)]
            return pods if len(pods) == count else None
        return wait_until(ready, lambda: f"{count} pods of {app} are ready: {self.pods(app)}", 60)

    def roll_out(self, name, path):
        """Changes the config of the pool, and returns its new target."""
        before = self.objects.target("worker")
        self.objects.config(name, files={path: "new"})
        return self.objects.wait_for_target("worker", other_than=before)

    def wait_until_updated(self, target):
        self.objects.wait_until_updated("worker", target, seconds=240)
        for node in self.nodes:
            node.wait_done(target)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    images = pod_images.make(tmp_path_factory.mktemp("images"))
    with kubelet_nodes(images) as (cluster, nodes):
        allow_diaries(cluster)
        objects = Objects(cluster)
        objects.controller_config(base_image="")
        with Controller(cluster), KubeletFirmware(nodes) as firmware:
            made = Site(cluster, nodes, firmware)
            objects.config("00-worker", files={})
            first = objects.wait_for_target("worker")
            objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/worker",
                               {"metadata": {"annotations": {"pintle.io/drain-eviction-retry": "1s"}}}, MERGE)
            for node in nodes:
                node.annotate(currentConfig=first, desiredConfig=first)
                node.start()
            made.wait_until_updated(first)
            yield made


def is_ready(pod):
    conditions = {each["type"]: each["status"] for each in pod.get("status", {}).get("conditions", [])}
    return "deletionTimestamp" not in pod["metadata"] and conditions.get("Ready") == "True"


def version(thing):
    """Returns the version of an object.  The versions of all objects of a cluster are in the order of the writes."""
    return int(thing["metadata"]["resourceVersion"])


def diary(node, name):
    """Returns what a pod has written, as [(word, seconds)]."""
    lines = (node.kubelet.var / "lib/diaries" / name).read_text(encoding="ascii").splitlines()
    return [(word, int(at)) for word, at in map(str.split, lines)]


def pod_spec(script, **of_container):
    volume = {"name": "diaries", "hostPath": {"path": DIARIES, "type": "DirectoryOrCreate"}}
    return {"volumes": [volume], "containers": [{
        "name": "c", "image": pod_images.BUSYBOX, "command": ["sh", "-c", script],
        "volumeMounts": [{"name": "diaries", "mountPath": "/diaries"}], **of_container}]}


def allow_diaries(cluster):
    """Lets the controllers of Kubernetes create pods with a folder of the node, which they must not by default."""
    if pod_policies.PLUGIN not in cluster.plugins:
        return
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    cluster.admin.must("POST", f"{rbac}/clusterrolebindings", {"metadata": {"name": "diaries"}, "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "pods-privileged"}, "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:serviceaccounts"}]})
    grants.wait_until_known(cluster.admin)


def create_web(site):
    """Creates two pods that serve HTTP, and a budget that keeps one of them."""
    labels = {"app": "web"}
    probe = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
    site.admin.must("POST", f"{APPS}/deployments", {"metadata": {"name": "web"}, "spec": {
        "replicas": 2, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
            **pod_spec(WEB, readinessProbe=probe), "terminationGracePeriodSeconds": GRACE}}}})
    budgets = f"/apis/{site.cluster.api('policy', 'v1', 'v1beta1')}/namespaces/default/poddisruptionbudgets"
    site.admin.must("POST", budgets, {"metadata": {"name": "web"},
                                      "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}})
    wait_until(lambda: site.admin.must("GET", f"{budgets}/web").get("status", {}).get("disruptionsAllowed") == 1,
               "the budget allows one eviction", 60)


def create_stubborn(site, node):
    """Creates a pod that ends only when it is killed."""
    site.admin.must("POST", PODS, {"metadata": {"name": "stubborn", "labels": {"app": "stubborn"}}, "spec": {
        **pod_spec(STUBBORN), "nodeName": node.name, "terminationGracePeriodSeconds": STUBBORN_GRACE}})


def fewest_ready(recorder):
    """Returns the smallest number of pods that were ready at the same time, since the first time that two were."""
    ready, fewest = set(), None
    for pod in recorder.seen:
        if pod["metadata"]["labels"]["app"] != "web":
            continue
        (ready.add if is_ready(pod) else ready.discard)(pod["metadata"]["name"])
        fewest = 2 if fewest is None and len(ready) == 2 else fewest and min(fewest, len(ready))
    return fewest


def test_a_drain_ends_real_pods_and_the_node_goes_on_when_they_are_gone(site):
    first, *others = site.nodes
    site.set_schedulable(others, False)
    with Recorder(site.cluster, PODS) as pods, Recorder(site.cluster, "/api/v1/nodes") as nodes:
        create_web(site)
        create_stubborn(site, first)
        originals = {pod["metadata"]["name"] for pod in site.wait_until_ready("web", 2)}
        site.wait_until_ready("stubborn", 1)
        assert {pod["spec"]["nodeName"] for pod in site.pods("web")} == {first.name}
        site.set_schedulable(others, True)
        boots, reboots = {node.name: node.boot_id() for node in site.nodes}, dict(site.firmware.reboots)

        target = site.roll_out("50-drain", "/etc/drain")
        site.wait_until_updated(target)
        site.wait_until_ready("web", 2)

        drained = next(version(node) for node in nodes.of(first.name)
                       if annotations_of(node).get("lastAppliedDrain") == f"drain-{target}")
        for name, grace in (*((name, GRACE) for name in originals), ("stubborn", STUBBORN_GRACE)):
            states = pods.of(name)
            granted = {pod["metadata"]["deletionGracePeriodSeconds"] for pod in states
                       if "deletionTimestamp" in pod["metadata"]}
            assert {grace} <= granted <= {grace, 0}    # At last, the kubelet deletes the object without a grace period.
            assert version(states[-1]) < drained
        for name in originals:
            (got, at), (ended, end) = diary(first, name)
            # Both times are without fractions of seconds.
            assert (got, ended) == ("TERM", "ended") and ENDING - 1 <= end - at < GRACE
        # The kernel has killed this pod when its grace period was over.
        (got, at), *_, (alive, last) = diary(first, "stubborn")
        assert (got, alive) == ("TERM", "alive") and last - at >= STUBBORN_GRACE - 1
        assert fewest_ready(pods) == 1
        # The budget has let the second pod go only when the replacement of the first was ready.
        replacements = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in reversed(pods.seen)
                        if is_ready(pod) and version(pod) < drained and pod["metadata"]["labels"]["app"] == "web"
                        and pod["metadata"]["name"] not in originals}
        assert replacements and first.name not in replacements.values()

    for node in site.nodes:
        assert site.firmware.reboots[node.name] == reboots[node.name] + 1
        node.wait_for_kubelet()
        assert node.boot_id() != boots[node.name]
        assert node.read("/etc/drain") == "new"
    site.admin.must("DELETE", f"{APPS}/deployments/web", {"propagationPolicy": "Background"})


def test_while_a_node_is_off_its_pool_waits_and_the_kubelet_of_its_next_boot_makes_it_ready(site):
    labels = {"app": "everywhere"}
    site.admin.must("POST", f"{APPS}/daemonsets", {"metadata": {"name": "everywhere"}, "spec": {
        "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod_spec(STUBBORN)}}})
    before = {pod["spec"]["nodeName"]: pod["metadata"]["uid"] for pod in site.wait_until_ready("everywhere", 3)}
    reboots, old = dict(site.firmware.reboots), site.objects.target("worker")
    site.firmware.hold()
    target = site.roll_out("60-off", "/etc/off")

    def off():
        return next((node for node in site.nodes if site.firmware.reboots[node.name] > reboots[node.name]), None)
    node = wait_until(off, "one node reboots", 120)
    # Nobody reports for the node, so Kubernetes finds after a while that it is lost.
    wait_until(lambda: node.kubelet.ready() == ("Unknown", "NodeStatusUnknown"), f"{node.name} is lost", 60)
    wait_until(lambda: site.objects.pool("worker")["status"]["unavailableMachineCount"] == 1, "the pool counts it", 60)
    assert {each.annotations()["desiredConfig"] for each in site.nodes if each is not node} == {old}

    site.firmware.go_on()
    site.wait_until_updated(target)
    for each in site.nodes:
        each.wait_for_kubelet()
    events = site.admin.must("GET", "/api/v1/namespaces/default/events")["items"]
    rebooted = {(event["involvedObject"]["name"], event["source"]["component"]) for event in events
                if event["reason"] == "Rebooted"}
    assert rebooted == {(each.name, "kubelet") for each in site.nodes}
    # The pods are the same ones, with new containers.
    pods = site.wait_until_ready("everywhere", 3)
    assert {pod["spec"]["nodeName"]: pod["metadata"]["uid"] for pod in pods} == before
    assert all(pod["status"]["containerStatuses"][0]["restartCount"] >= 1 for pod in pods)


def test_nothing_remains_of_a_kubelet_whose_test_was_killed(site):
    with NodeNetwork() as network:
        words = [sys.executable, "-c", OWNER, site.cluster.node_kubeconfig("owned"), site.cluster.authority.certificate,
                 network.path, network.pods, network.address]
        with subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as owner:
            folder = pathlib.Path(owner.stdout.readline().strip()).parent
            groups = [pathlib.Path(hierarchy, folder.name) for hierarchy in real_kubelet.hierarchies().values()]
            assert folder.exists() and groups and all(group.exists() for group in groups)
            owner.kill()
        wait_until(lambda: not folder.exists() and not any(group.exists() for group in groups),
                   f"{folder} and its cgroups are gone", 60)
    site.admin.request("DELETE", "/api/v1/nodes/owned")
