# SPDX-License-Identifier: Apache-2.0
"""Tests drains against a real control plane, with drain_probe.cc.  Pods are objects; the tests simulate the kubelets.
"""

import base64
import datetime
import json
import os
import pathlib
import subprocess
import tempfile

import pytest

from machines import certs
from machines.agent_node import PREFIX, Conditions, annotations_of, conditions_now, create_rendered, prepare_cluster
from machines.cluster import Cluster
from machines.controller import account
from machines.faulty_proxy import FaultyProxy
from machines.installed import file, machine_config
from machines.kubelets import Kubelets
from machines.loopback_server import Handler, LoopbackServer
from machines.proxy import Proxy
from machines.wait import wait_until

PROBE = pathlib.Path(os.environ["PINTLE_BUILD"]) / "tests/integration/drain-probe"
STARTED = "pintle.io/drain-started"
KEPT = "pintle.io/keep-cordoned"
QUICK = ["pintle.io/drain-attempt=2s", "pintle.io/drain-pause=1s", "pintle.io/drain-eviction-retry=1s"]
PATIENCE = 60    # Seconds.  The machine may be busy with other work.


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        with Kubelets(running):
            yield running


@pytest.fixture
def node(cluster, request):
    """A Node of the test's own, with a simulated agent."""
    name = request.node.name.removeprefix("test_").replace("_", "-")[:50].strip("-")
    return SimulatedNode(cluster, name)


class SimulatedNode:
    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.user = cluster.add_node(name)
        self.user.create({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigNode",
                          "metadata": {"name": name},
                          "spec": {"node": {"name": name}, "pool": {"name": "worker"},
                                   "configVersion": {"desired": "rendered-worker-2"}}})

    def ask(self, what):
        """Requests a drain or an uncordon, as the node's agent does."""
        self.annotate(desiredDrain=what)

    def annotate(self, **values):
        self.patch({"metadata": {"annotations": {PREFIX + key: value for key, value in values.items()}}})

    def patch(self, patch):
        self.cluster.admin.must("PATCH", f"/api/v1/nodes/{self.name}", patch)

    def get(self):
        return self.cluster.admin.must("GET", f"/api/v1/nodes/{self.name}")

    def all_annotations(self):
        return self.get()["metadata"]["annotations"]

    def is_cordoned(self):
        return self.get()["spec"].get("unschedulable", False)

    def wait_answered(self, what):
        wait_until(lambda: annotations_of(self.get()).get("lastAppliedDrain") == what, f"{what} is answered", PATIENCE,
                   every=0.05)

    def pod(self, name, labels=None, **spec):
        """Creates a pod without an owner that runs on the node."""
        return self.create_pod(self.cluster.admin, {"name": name, "labels": labels or {}}, spec)

    def create_pod(self, user, metadata, spec=None):
        made = user.must("POST", "/api/v1/namespaces/default/pods", {
            "metadata": metadata,
            "spec": {"nodeName": self.name, "containers": [{"name": "c", "image": "example.com/c"}],
                     "terminationGracePeriodSeconds": 1, **(spec or {})}})
        name = made["metadata"]["name"]
        wait_until(lambda: self.pod_named(name)["status"].get("phase") == "Running", f"{name} runs", PATIENCE, every=0.05)
        return made

    def pod_named(self, name):
        return self.cluster.admin.must("GET", f"/api/v1/namespaces/default/pods/{name}")

    def pods(self):
        found = self.cluster.admin.must("GET", f"/api/v1/pods?fieldSelector=spec.nodeName%3D{self.name}")["items"]
        return {pod["metadata"]["name"] for pod in found}

    def condition(self, kind):
        report = self.cluster.admin.must(
            "GET", f"/apis/machineconfiguration.openshift.io/v1/machineconfignodes/{self.name}")
        for condition in report.get("status", {}).get("conditions", []):
            if condition["type"] == kind:
                return condition
        return {}

    def events(self, reason):
        found = self.cluster.admin.must("GET", "/api/v1/namespaces/default/events")["items"]
        return [event["message"] for event in found
                if event["reason"] == reason and event["involvedObject"]["name"] == self.name]

    def wait_event(self, reason):
        return wait_until(lambda: self.events(reason), f"the event {reason}", PATIENCE, every=0.1)[0]


def budgets_of(cluster, space="default"):
    return f"/apis/{cluster.api('policy', 'v1', 'v1beta1')}/namespaces/{space}/poddisruptionbudgets"


def budget(cluster, name, app, wait=True, space="default", **spec):
    """Creates a disruption budget for the pods of an app, and waits until its status counts them."""
    budgets = budgets_of(cluster, space)
    cluster.admin.must("POST", budgets, {
        "metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": app}}, **spec}})
    if wait:
        wait_until(lambda: cluster.admin.must("GET", f"{budgets}/{name}").get("status", {}).get("currentHealthy"),
                   f"{name} knows of its pods", PATIENCE, every=0.05)


def without_budget(cluster, name):
    cluster.admin.must("DELETE", f"{budgets_of(cluster)}/{name}")


class Controller:
    """The part of the controller that drains, which runs inside `with`."""

    def __init__(self, kubeconfig, *annotations):
        self._words = [PROBE, str(kubeconfig), "run", *annotations]

    def __enter__(self):
        self._log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(self._words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self._log)
        return self

    def log(self):
        self._log.flush()
        with open(f"/proc/self/fd/{self._log.fileno()}", encoding="utf-8") as log:
            return log.read()

    def wait_for_log(self, text):
        wait_until(lambda: text in self.log(), f"the log has {text}", PATIENCE, every=0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, kind, *_):
        if kind:
            print(self.log())
        self.process.stdin.close()
        try:
            ended = self.process.wait(60)
            assert kind or ended in (0, -9), self.log()
        finally:
            self.process.kill()
            self.process.wait()
            self._log.close()


def forecast(cluster, *nodes):
    """Returns lines of (node, prospect, summary), in the order in which the nodes would be drained."""
    ran = subprocess.run([PROBE, account(cluster).kubeconfig, "forecast", *(node.name for node in nodes)],
                         capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 0, ran.stderr
    return [tuple(line.split(" ", 2)) for line in ran.stdout.splitlines()]


class TestDrain:
    def test_evicts_pods_and_leaves_those_that_stay(self, cluster, node):
        node.pod("unmanaged", volumes=[{"name": "data", "emptyDir": {}}])
        node.pod("finished")
        node.user.must("PATCH", "/api/v1/namespaces/default/pods/finished/status", {"status": {"phase": "Succeeded"}})
        owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.get()["metadata"]["uid"],
                 "controller": True}
        node.create_pod(node.user, {"name": f"static-{node.name}", "ownerReferences": [owner],
                                    "annotations": {"kubernetes.io/config.mirror": "hash"}})
        labels = {"kubernetes.io/hostname": node.name}
        cluster.admin.must("POST", "/apis/apps/v1/namespaces/default/daemonsets", {
            "metadata": {"name": "everywhere"},
            "spec": {"selector": {"matchLabels": {"app": "everywhere"}}, "template": {
                "metadata": {"labels": {"app": "everywhere"}},
                "spec": {"nodeSelector": labels, "containers": [{"name": "c", "image": "example.com/c"}]}}}})
        cluster.admin.must("POST", "/apis/apps/v1/namespaces/default/deployments", {
            "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"nodeSelector": labels, "containers": [{"name": "c", "image": "example.com/c"}],
                         "terminationGracePeriodSeconds": 1}}}})
        wait_until(lambda: len(node.pods()) == 5, "all pods are on the node", PATIENCE)
        stay = {name for name in node.pods() if name.startswith(("static-", "everywhere-"))}
        with Controller(account(cluster).kubeconfig) as controller, Conditions(cluster) as conditions:
            node.ask("drain-rendered-worker-2")
            node.wait_answered("drain-rendered-worker-2")
            assert node.pods() == stay and len(stay) == 2
            assert node.is_cordoned()
            assert STARTED not in node.all_annotations() and KEPT not in node.all_annotations()
            node.ask("uncordon-rendered-worker-2")
            node.wait_answered("uncordon-rendered-worker-2")
            assert not node.is_cordoned()
            # All conditions are set before the agent gets its answer, in this order.
            wait_until(lambda: "Uncordoned=True" in conditions.of(node.name), "the conditions were seen", PATIENCE)
            assert conditions.of(node.name) == [
                "UpdateExecuted=Unknown", "Cordoned=True", "UpdateExecuted=Unknown", "Drained=Unknown",
                "UpdateExecuted=Unknown", "Drained=True", "UpdateComplete=True", "Uncordoned=True"]
            log = controller.log()
            for text in ("initiating cordon (currently schedulable: true)", "initiating drain",
                         "Evicted pod default/unmanaged", "Evicted pod default/finished",
                         "operation successful; applying completion annotation", "uncordon succeeded"):
                assert f"node {node.name}: {text}" in log
        assert node.condition("Drained")["message"] == (
            "Drained node. The drain is complete as the desired drainer matches current drainer: drain-rendered-worker-2")

    def test_waits_for_a_budget_and_reports_how_long(self, cluster, node):
        node.pod("kept", {"app": "kept"})
        budget(cluster, "kept", "kept", minAvailable=1)
        with Controller(account(cluster).kubeconfig, *QUICK, "pintle.io/drain-timeout=3s",
                        "pintle.io/drain-slow-after=3s", "pintle.io/drain-slow-pause=1s") as controller:
            node.ask("drain-rendered-worker-2")
            why = ('error when evicting pods/"kept" -n "default": global timeout reached: 2s: '
                   "The disruption budget kept needs 1 healthy pods and has 1 currently")
            blocked = node.wait_event("DrainBlocked")
            assert blocked == (f"node {node.name}: the drain cannot succeed: pod default/kept is kept by disruption budget "
                               "kept: it requires all of its 1 pods to be healthy, and so never allows an eviction; allow "
                               "one of them to be unavailable, or run more")
            controller.wait_for_log(f"Drain failed. Waiting 1 second then retrying. Error message from drain: {why}")
            assert node.wait_event("DrainThresholdExceeded") == (
                "Drain failed. Drain has been failing for more than 3 seconds. Waiting 1 second then retrying. "
                f"Error message from drain: {why}")
            assert node.wait_event("DrainFailed") == (
                f"node {node.name}: drain exceeded timeout: 3s. Will continue to retry.")
            wait_until(lambda: why in node.condition("Drained").get("message", ""), "the condition has the reason",
                       PATIENCE)
            assert "lastAppliedDrain" not in annotations_of(node.get())
            without_budget(cluster, "kept")
            node.wait_answered("drain-rendered-worker-2")
            assert node.pods() == set()

    def test_names_the_finalizers_that_keep_a_pod(self, cluster, node):
        node.create_pod(cluster.admin, {"name": "held", "finalizers": ["example.com/hold"]})
        with Controller(account(cluster).kubeconfig, *QUICK) as controller:
            node.ask("drain-rendered-worker-2")
            controller.wait_for_log('error when waiting for pod "held" in namespace "default" to terminate: '
                                    "global timeout reached: 2s (it has finalizers: example.com/hold)")
            cluster.admin.must("PATCH", "/api/v1/namespaces/default/pods/held", {"metadata": {"finalizers": None}})
            node.wait_answered("drain-rendered-worker-2")

    def test_goes_on_through_faults_of_the_server(self, cluster, node):
        for number in range(10):
            node.pod(f"many-{number}")
        with FaultyProxy(cluster, account(cluster), fault_rate=0.2) as proxy, \
                tempfile.NamedTemporaryFile("w") as kubeconfig:
            kubeconfig.write(proxy.kubeconfig())
            kubeconfig.flush()
            # Sometimes a write fails three times in a row; it is tried again after the pause.
            with Controller(kubeconfig.name, "pintle.io/drain-pause=1s", "pintle.io/drain-eviction-retry=1s"):
                node.ask("drain-rendered-worker-2")
                node.wait_answered("drain-rendered-worker-2")
                assert node.pods() == set()
                node.ask("uncordon-rendered-worker-2")
                node.wait_answered("uncordon-rendered-worker-2")
            assert sum(proxy.faults.values()) > 5


class TestVersions:
    def test_evicts_by_the_newest_version_that_the_server_has(self, cluster, node):
        node.pod("old")
        with RecordingProxy(cluster) as proxy, tempfile.NamedTemporaryFile("w") as kubeconfig:
            kubeconfig.write(proxy.kubeconfig())
            kubeconfig.flush()
            with Controller(kubeconfig.name):
                node.ask("drain-rendered-worker-2")
                node.wait_answered("drain-rendered-worker-2")
        real_evictions = [version for version, dry in proxy.evictions if not dry]
        # The older version is used only after the newer one was refused.
        assert real_evictions == (
            ["policy/v1"] if cluster.eviction_api == "policy/v1" else ["policy/v1", "policy/v1beta1"])


class RecordingProxy(Proxy):
    """Records the version of each eviction of the pod `old`, and whether it is a dry run."""

    def __init__(self, cluster):
        super().__init__(cluster, account(cluster))
        self.evictions = []

    def treat(self, request, body):
        if request.path.split("?")[0].endswith("/pods/old/eviction"):
            eviction = json.loads(body)
            self.evictions.append((eviction["apiVersion"], "dryRun" in eviction.get("deleteOptions", {})))
        super().treat(request, body)


class Webhook(LoopbackServer):
    """An admission webhook that allows everything, and records whether each request is a dry run."""

    def __init__(self, authority):
        super().__init__(WebhookHandler, authority.server("webhook", ["127.0.0.1"]))
        self.url = f"https://{self.host}/"
        self.dry_runs = []


class WebhookHandler(Handler):
    def do_POST(self):
        request = json.loads(self.read_body())["request"]
        self.server.dry_runs.append(request.get("dryRun", False))
        self.respond(200, json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                                      "response": {"uid": request["uid"], "allowed": True}}).encode())


class TestCordon:
    def test_of_an_admin_is_kept(self, cluster, node):
        cluster.kubectl("cordon", node.name)
        with Controller(account(cluster).kubeconfig) as controller:
            node.ask("drain-rendered-worker-2")
            node.wait_answered("drain-rendered-worker-2")
            node.ask("uncordon-rendered-worker-2")
            node.wait_answered("uncordon-rendered-worker-2")
            assert node.is_cordoned()
            assert KEPT not in node.all_annotations()
            assert "stays cordoned, because it was cordoned before its drain" in controller.log()
            # The next drain finds the node still cordoned by the administrator.
            cluster.kubectl("uncordon", node.name)
            node.ask("drain-rendered-worker-3")
            node.wait_answered("drain-rendered-worker-3")
            node.ask("uncordon-rendered-worker-3")
            node.wait_answered("uncordon-rendered-worker-3")
            assert not node.is_cordoned()

    def test_of_a_drain_for_another_config_is_not_an_admins(self, cluster, node):
        with Controller(account(cluster).kubeconfig):
            node.ask("drain-rendered-worker-2")
            node.wait_answered("drain-rendered-worker-2")
            node.ask("drain-rendered-worker-3")
            node.wait_answered("drain-rendered-worker-3")
            node.ask("uncordon-rendered-worker-3")
            node.wait_answered("uncordon-rendered-worker-3")
            assert not node.is_cordoned()

    def test_is_removed_by_an_uncordon_request_without_a_drain(self, cluster, node):
        node.patch({"spec": {"unschedulable": True}})
        with Controller(account(cluster).kubeconfig):
            node.ask("uncordon-test-hash")
            node.wait_answered("uncordon-test-hash")
            assert not node.is_cordoned()

    def test_is_set_again_when_somebody_uncordons_during_a_drain(self, cluster, node):
        node.pod("middle", {"app": "middle"})
        budget(cluster, "middle", "middle", minAvailable=1)
        with Controller(account(cluster).kubeconfig, *QUICK) as controller:
            node.ask("drain-rendered-worker-2")
            wait_until(lambda: node.is_cordoned() and STARTED in node.all_annotations(), "the drain has begun", PATIENCE)
            started = node.all_annotations()[STARTED]
            cluster.kubectl("uncordon", node.name)
            wait_until(node.is_cordoned, "the node is cordoned again", PATIENCE, every=0.05)
            controller.wait_for_log("External actor has unexpectedly uncordoned node")
            assert "lastAppliedDrain" not in annotations_of(node.get())
            assert node.all_annotations()[STARTED] == started
            without_budget(cluster, "middle")
            node.wait_answered("drain-rendered-worker-2")
            assert node.is_cordoned()

    def test_is_not_answered_while_it_is_undone(self, cluster, node):
        """The node was uncordoned, and its controller has not seen that yet."""
        node.ask("drain-rendered-worker-2")
        node.patch({"metadata": {"annotations": {STARTED: "2020-01-01T00:00:00Z drain-rendered-worker-2"}}})
        with Controller(account(cluster).kubeconfig):
            node.wait_answered("drain-rendered-worker-2")
            assert node.is_cordoned()


class TestClock:
    def test_outlives_the_controller(self, cluster, node):
        node.pod("clock", {"app": "clock"})
        budget(cluster, "clock", "clock", minAvailable=1)
        with Controller(account(cluster).kubeconfig, *QUICK) as first:
            node.ask("drain-rendered-worker-2")
            first.wait_for_log("Drain failed.")
            started = node.all_annotations()[STARTED]
            first.kill()
        # The drain seems to have begun a year ago, so all of its limits are over.
        time, request = started.split(" ")
        assert request == "drain-rendered-worker-2"
        year_ago = datetime.datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ") - datetime.timedelta(days=365)
        earlier = f"{year_ago:%Y-%m-%dT%H:%M:%SZ} {request}"
        node.patch({"metadata": {"annotations": {STARTED: earlier}}})
        with Controller(account(cluster).kubeconfig, *QUICK) as second:
            assert node.wait_event("DrainFailed") == (
                f"node {node.name}: drain exceeded timeout: 1h0m0s. Will continue to retry.")
            second.wait_for_log("Drain has been failing for more than 10 minutes. Waiting 5 minutes then retrying.")
            assert node.all_annotations()[STARTED] == earlier
        without_budget(cluster, "clock")


class TestRequest:
    def test_reports_a_malformed_request(self, cluster, node):
        with Controller(account(cluster).kubeconfig) as controller:
            node.ask("reboot-now")
            controller.wait_for_log(f"node {node.name}: non-recognized drain verb detected reboot")
            assert not node.is_cordoned()

    def test_that_is_taken_back_ends_the_drain(self, cluster, node):
        node.pod("back", {"app": "back"})
        budget(cluster, "back", "back", minAvailable=1)
        with Controller(account(cluster).kubeconfig, *QUICK):
            node.ask("drain-rendered-worker-2")
            wait_until(node.is_cordoned, "the drain has begun", PATIENCE, every=0.05)
            node.ask("uncordon-rendered-worker-1")
            node.wait_answered("uncordon-rendered-worker-1")
            assert not node.is_cordoned()
            assert STARTED not in node.all_annotations()
            assert node.pods() == {"back"}
        without_budget(cluster, "back")


class TestForecast:
    def test_of_a_single_worker_with_a_routers_budget_is_hopeless(self, cluster, node):
        node.patch({"metadata": {"labels": {"routers": "yes"}}})
        routers = {"app": "router"}
        for name in ("router-1", "router-2"):
            node.pod(name, routers, nodeSelector={"routers": "yes"})
        budget(cluster, "router-default", "router", minAvailable=1)
        (_, prospect, why), = forecast(cluster, node)
        assert prospect == "hopeless"
        assert why == ("pod default/router-2 is kept by disruption budget router-default: it allows the eviction of 1 at a "
                       "time, and no other schedulable node can run a replacement; add a node or allow more to be "
                       "unavailable")
        # The node was not changed.
        assert not node.is_cordoned() and node.pods() == {"router-1", "router-2"}

        second = SimulatedNode(cluster, "second-router-node")
        second.patch({"metadata": {"labels": {"routers": "yes"}}})
        assert [line[1] for line in forecast(cluster, node)] == ["clear"]
        cluster.kubectl("cordon", second.name)
        assert [line[1] for line in forecast(cluster, node)] == ["hopeless"]
        without_budget(cluster, "router-default")

    def test_lets_another_node_go_first(self, cluster, node):
        other = SimulatedNode(cluster, "other-node")
        node.pod("full", {"app": "full"})
        budget(cluster, "full", "full", minAvailable=1)
        other.pod("free")
        assert [line[:2] for line in forecast(cluster, node, other)] == [(other.name, "clear"), (node.name, "hopeless")]
        without_budget(cluster, "full")

    def test_expects_a_pod_that_is_to_be_made(self, cluster, node):
        """A quota prevents the second pod from being created.  The budget expects only the first pod, as during the
        replacement of a pod.
        """
        SimulatedNode(cluster, "node-for-the-second")
        few = {"app": "few"}
        template = {"metadata": {"labels": few}, "spec": {
            "nodeName": node.name, "containers": [{"name": "c", "image": "example.com/c"}]}}
        for kind, version, more in (("ReplicaSet", "apps/v1", {"selector": {"matchLabels": few}}),
                                    ("StatefulSet", "apps/v1", {"selector": {"matchLabels": few}, "serviceName": "few"}),
                                    ("ReplicationController", "v1", {"selector": few})):
            space = f"few-of-{kind.lower()}"
            cluster.kubectl("create", "namespace", space)
            cluster.kubectl("create", "quota", "one", "--hard=pods=1", "-n", space)
            wait_until(lambda s=space: "used" in cluster.get("quota/one", "-n", s)["status"], "pods are counted", PATIENCE)
            cluster.apply(json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": "few", "namespace": space},
                                      "spec": {"replicas": 2, "template": template, **more}}))
            budget(cluster, "few", "few", space=space, minAvailable=1)
            assert cluster.get("pdb/few", "-n", space)["status"]["expectedPods"] == 1
            (_, prospect, why), = forecast(cluster, node)
            assert prospect == "may-pass" and "1 of its pods are healthy and 1 have to be" in why, kind
            cluster.kubectl("scale", f"{kind.lower()}/few", "--replicas=1", "-n", space)
            (_, prospect, why), = forecast(cluster, node)
            assert prospect == "hopeless" and "it requires all of its 1 pods to be healthy" in why, kind
            cluster.kubectl("delete", f"{kind.lower()}/few", "pdb/few", "-n", space)
            wait_until(lambda s=space: not cluster.get("pods", "-n", s)["items"], "its pod is gone", PATIENCE)

    def test_reports_a_pod_with_two_budgets(self, cluster, node):
        node.pod("two", {"app": "two"})
        budget(cluster, "one-budget", "two", minAvailable=0)
        budget(cluster, "two-budgets", "two", minAvailable=0)
        (_, prospect, why), = forecast(cluster, node)
        assert (prospect, why.split(": ")[0]) == (
            "hopeless", "pod default/two is kept by disruption budget one-budget, two-budgets")
        without_budget(cluster, "one-budget")
        without_budget(cluster, "two-budgets")

    def test_asks_the_server_about_each_pod(self, cluster, node):
        """Only the server knows this: a webhook is down, so no pod can be evicted."""
        node.pod("hooked")
        hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        cluster.admin.must("POST", hooks, {"metadata": {"name": "down"}, "webhooks": [{
            "name": "down.example.com", "clientConfig": {"url": "https://127.0.0.1:1/"}, "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                       "resources": ["pods/eviction"]}]}]})
        try:
            wait_until(lambda: forecast(cluster, node)[0][1] == "may-pass", "the server knows of the webhook", PATIENCE)
            (_, _, why), = forecast(cluster, node)
            assert why.startswith("pod default/hooked cannot be evicted: ")
            assert 'failed calling webhook "down.example.com"' in why
        finally:
            cluster.admin.must("DELETE", f"{hooks}/down")
        assert node.pods() == {"hooked"}

    def test_is_a_dry_run_for_webhooks_as_well(self, cluster, node, tmp_path):
        authority = certs.Authority(tmp_path)
        bundle = base64.b64encode(authority.certificate.read_bytes()).decode()
        node.pod("counted")
        hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        with Webhook(authority) as webhook:
            cluster.admin.must("POST", hooks, {"metadata": {"name": "counts"}, "webhooks": [{
                "name": "counts.example.com", "clientConfig": {"url": webhook.url, "caBundle": bundle},
                "sideEffects": "NoneOnDryRun", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
                "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                           "resources": ["pods/eviction"]}]}]})
            try:
                def is_asked():
                    assert [line[1] for line in forecast(cluster, node)] == ["clear"]
                    return webhook.dry_runs
                wait_until(is_asked, "the server asks the webhook", PATIENCE)
                assert set(webhook.dry_runs) == {True}
                assert node.pods() == {"counted"}
            finally:
                cluster.admin.must("DELETE", f"{hooks}/counts")


def test_an_agent_is_drained_rebooted_and_uncordoned(cluster, new_node):
    """Tests both halves of the protocol, on a node that reboots."""
    node = new_node()
    first = create_rendered(cluster, f"rendered-{node.name}-0", machine_config([])["spec"])
    node.annotate(desiredConfig=first)
    node.start()
    node.wait_done(first)
    wait_until(lambda: conditions_now(node).get("Updated") == "True", "the first update is reported", PATIENCE)
    cluster.admin.must("POST", "/api/v1/namespaces/default/pods", {
        "metadata": {"name": "guest"}, "spec": {"nodeName": node.name, "terminationGracePeriodSeconds": 1,
                                                "containers": [{"name": "c", "image": "example.com/c"}]}})
    second = create_rendered(cluster, f"rendered-{node.name}-1",
                             machine_config([file("/etc/needs-a-reboot", "new")])["spec"])
    with Controller(account(cluster).kubeconfig), Conditions(cluster) as conditions:
        node.annotate(desiredConfig=second)
        node.machine.follow_reboot(120)
        node.wait_done(second, 120)
        # The agent and the controller write the last two at the same time.
        wait_until(lambda: {"Updated=True", "Uncordoned=True"} <= set(conditions.of(node.name)[5:]),
                   "the conditions were seen", PATIENCE)
        assert not cluster.get("node", node.name)["spec"].get("unschedulable")
        assert cluster.admin.request("GET", "/api/v1/namespaces/default/pods/guest")[0] == 404
        seen = conditions.of(node.name)
        order = [seen.index(each) for each in ("Cordoned=True", "Drained=True", "AppliedFilesAndOS=True",
                                               "RebootedNode=True", "UpdateComplete=True", "Uncordoned=True")]
        assert order == sorted(order), seen
