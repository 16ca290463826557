# SPDX-License-Identifier: Apache-2.0
"""Tests the alerts of deploy/monitoring: promtool evaluates them over simulated time, and a real Prometheus evaluates
them with Pintle's metrics.
"""

import base64
import contextlib
import datetime
import http.client
import json
import os
import pathlib
import re
import shutil

import pytest
from machines import certs, daemon, openshift_kinds, shell
from machines.cluster import Cluster
from machines.controller import GROUP, MERGE, NAMESPACE, Controller, Objects, account, prepare_cluster
from machines.loopback_server import Handler, LoopbackServer
from machines.openshift_settings import Settings
from machines.prometheus import Prometheus, rules
from machines.proxy import Proxy
from machines.simulated_agents import SimulatedAgents
from machines.wait import wait_until

PROBE = pathlib.Path(os.environ.get("PINTLE_BUILD", "build")) / "tests/integration/pause-probe"
PROMTOOL_TESTS = sorted((pathlib.Path(__file__).parent / "alerts").glob("*.yaml"))
DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
DASHBOARD = DEPLOY / "monitoring/dashboard.json"
AGENT_METRICS = DEPLOY.parent / "src/agent/metrics.cc"
KUBELET_CA = "MachineConfigControllerPausedPoolKubeletCA"
PATH = "/etc/kubernetes/kubelet-ca.crt"
BUNDLE = "/etc/pki/ca-trust/source/anchors/ours.crt"
POLICY = "pintle.io/pause-policy"
WAITS_UNTIL = "pintle.io/controller-config-waits-until"
WAITING = "pintle.io/waiting-files"
ANNOTATION = "machineconfiguration.openshift.io/"
NOW = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)


def moment(when):
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def authority(folder, days):
    """Returns the certificate of an authority that expires in this many days."""
    made = certs.Authority(folder, "kube-apiserver-to-kubelet-signer",
                           certs.Validity(datetime.timedelta(days=-1), datetime.timedelta(days=days)))
    return made.certificate.read_text()


def ignition(contents):
    source = "data:;base64," + base64.b64encode(contents.encode()).decode()
    return {"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": BUNDLE, "contents": {"source": source}}]}}


def waiting(days):
    """Returns an agent's annotation: a new bundle waits, and the node's bundle expires in this many days."""
    return json.dumps([{"path": PATH, "validUntil": moment(NOW + datetime.timedelta(days=days)), "subject": "CN=old"}])


def paused_pool(days, paused=True, policy="Strict"):
    """Returns the input of pause-probe: a worker's bundle expires in this many days, and another bundle waits."""
    node = {"metadata": {"name": "worker-0", "annotations": {
        ANNOTATION + "currentConfig": "old", ANNOTATION + "desiredConfig": "old", ANNOTATION + "state": "Done",
        WAITING: waiting(days)}}}
    pool = {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
            "metadata": {"name": "worker", "annotations": {POLICY: policy}},
            "spec": {"paused": paused, "configuration": {"name": "old"}},
            "status": {"configuration": {"name": "old"}, "machineCount": 1, "updatedMachineCount": 0,
                       "readyMachineCount": 0, "unavailableMachineCount": 0, "degradedMachineCount": 0,
                       "conditions": [], "certExpirys": []}}
    return {"pool": pool, "nodes": [node], "configs": [], "now": moment(NOW), "hasControllerConfig": True}


def ask(question):
    """Returns the answer of pause-probe."""
    return json.loads(shell.run(PROBE, input=json.dumps(question)).stdout)


@contextlib.contextmanager
def served(text):
    """Serves /metrics; yields the address, and a function that replaces the text."""
    current = [text]

    class MetricsHandler(Handler):
        def do_GET(self):
            self.respond(200, current[0].encode(), "text/plain; version=0.0.4; charset=utf-8")

    with LoopbackServer(MetricsHandler) as server:
        yield server.host, lambda text: current.__setitem__(0, text)


def test_alerts_fire_at_the_times_of_the_runbook_and_not_before(tmp_path):
    (tmp_path / "rules.yaml").write_text(rules())
    for times in PROMTOOL_TESTS:
        (tmp_path / times.name).write_text(times.read_text())
    shell.need("promtool")
    shell.run("promtool", "check", "rules", tmp_path / "rules.yaml")
    shell.run("promtool", "test", "rules", *(tmp_path / times.name for times in PROMTOOL_TESTS), cwd=tmp_path)
    assert len(PROMTOOL_TESTS) == 2


def test_the_test_of_the_alerts_fails_for_an_alert_that_fires_a_day_early(tmp_path):
    """Checks that the test above can fail."""
    (tmp_path / "rules.yaml").write_text(rules().replace("86400 * 14", "86400 * 15"))
    (tmp_path / PROMTOOL_TESTS[1].name).write_text(PROMTOOL_TESTS[1].read_text())
    answer = shell.run("promtool", "test", "rules", tmp_path / PROMTOOL_TESTS[1].name, cwd=tmp_path, check=False)
    assert answer.returncode == 1 and KUBELET_CA in answer.stdout + answer.stderr


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """Two bundles: one expires in 13 days, and the other one waits."""
    folder = tmp_path_factory.mktemp("authorities")
    return [authority(folder / str(days), days) for days in (13, 365)]


def kubelet_ca(prometheus, state):
    """Returns the severities of the alert that are in this state."""
    return sorted(alert["labels"]["severity"] for alert in prometheus.alerts()
                  if alert["labels"]["alertname"] == KUBELET_CA and alert["state"] == state)


def test_prometheus_alerts_of_a_kubelet_ca_that_waits():
    answer = ask(paused_pool(13))
    condition = answer["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "PausedPending", "True", "CertificateExpiresSoon")
    with served(answer["metrics"]) as (target, serve):
        # The test cannot wait for the hour of `for:`, so the rules get no time there.
        with Prometheus(target, rules().replace("for: 60m", "for: 0m")) as prometheus:
            prometheus.wait_for(lambda: kubelet_ca(prometheus, "firing") == ["critical", "warning"], "both alerts fire")
            firing = [a for a in prometheus.alerts() if a["labels"]["alertname"] == KUBELET_CA]
            end = moment(NOW + datetime.timedelta(days=13))[:10]
            assert all("pool 'worker'" in alert["annotations"]["summary"] for alert in firing)
            assert any(f"expires on {end}" in alert["annotations"]["summary"] for alert in firing)

            serve(ask(paused_pool(15))["metrics"])
            prometheus.wait_for(lambda: kubelet_ca(prometheus, "firing") == ["warning"], "15 days are not critical")
            serve(ask(paused_pool(13, policy="CertificatesPass"))["metrics"])
            prometheus.wait_for(lambda: kubelet_ca(prometheus, "firing") == [], "certificates that pass alert nobody")
            serve(ask(paused_pool(13))["metrics"])
            prometheus.wait_for(lambda: kubelet_ca(prometheus, "firing") == ["critical", "warning"], "they wait again")
            serve(ask(paused_pool(13, paused=False))["metrics"])
            prometheus.wait_for(lambda: kubelet_ca(prometheus, "firing") == [], "an unpaused pool alerts nobody")

            assert prometheus.query("query", query="up")["result"][0]["value"][1] == "1"
            assert prometheus.query("targets")["activeTargets"][0]["lastError"] == ""
        with Prometheus(target, rules()) as prometheus:
            serve(answer["metrics"])
            prometheus.wait_for(lambda: kubelet_ca(prometheus, "pending") == ["critical", "warning"],
                                "both alerts wait for their hour")
            assert kubelet_ca(prometheus, "firing") == []


def test_rules_and_dashboard_use_existing_metrics():
    """The controller or the agent has each metric of Pintle that they use, and Prometheus can parse each query."""
    text = ask(paused_pool(13))["metrics"]
    existing_metrics = set(re.findall(r"(?m)^# TYPE (\w+) ", text))
    existing_metrics |= set(re.findall(r'Begin\("(mcd_\w+)"', AGENT_METRICS.read_text(encoding="utf-8")))
    queries = re.findall(r"(?m)^ +(?:- )?expr: (?:\|\n +)?(.+)$", rules())
    queries += [target["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"]
                for target in panel.get("targets", ())]
    metric_name = re.compile(r"\b((?:mcc|mcd|mco|pintle|os_image|machine_config)_\w+)")
    named = {name for query in queries for name in metric_name.findall(query)}
    assert len(queries) > 35 and named <= existing_metrics, named - existing_metrics
    with served(text) as (target, _), Prometheus(target, "groups: []\n") as prometheus:
        for query in queries:
            prometheus.query("query", query=query.replace("$pool", "worker"))


class Refusing(Proxy):
    """Drops requests whose method and path match `refused`."""

    refused = "GET /api/v1/nodes"

    def treat(self, request, body):
        if not self.refused or not re.match(self.refused, f"{request.command} {request.path}"):
            super().treat(request, body)


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_prometheus_alerts_when_nobody_leads(tmp_path):
    """The alert fires before the cluster is read, and while the lease cannot be renewed; it does not fire while another
    program acts.
    """
    port = daemon.free_ports(1)[0]
    with Cluster() as cluster, Refusing(cluster, None) as proxy:
        prepare_cluster(cluster)
        proxy.user = account(cluster)
        objects = Objects(cluster)
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(proxy.kubeconfig())
        controller = Controller(cluster, "controller", f"--metrics-listen-address=127.0.0.1:{port}",
                                kubeconfig=kubeconfig)
        with controller, Prometheus(f"127.0.0.1:{port}", rules().replace("for: 15m", "for: 0m")) as prometheus:
            def becomes(leads, what, waits="0"):
                def is_so():
                    samples = prometheus.query("query", query='{__name__=~"pintle_controller_(leads|waits)"}')["result"]
                    values = {sample["metric"]["__name__"]: sample["value"][1] for sample in samples}
                    firing = [alert["labels"]["alertname"] for alert in prometheus.alerts() if alert["state"] == "firing"]
                    return values == {"pintle_controller_leads": leads, "pintle_controller_waits": waits} \
                        and ("PintleControllerHasNoLeader" in firing) == (leads == waits == "0")
                prometheus.wait_for(is_so, what)

            wait_until(objects.leader, "the controller has the lease", 60)
            wait_until(lambda: get(port, "/readyz") == (503, "not read from the API server yet: nodes\n"),
                       "all but the nodes is read", 60)
            becomes("0", "a controller that cannot read the nodes does nothing")
            assert get(port, "/healthz") == (200, "")

            proxy.refused = None
            becomes("1", "the controller leads")
            assert get(port, "/readyz") == (200, "")

            proxy.refused = "(PATCH|POST) .*/leases"
            becomes("0", "the lease cannot be renewed")
            assert (get(port, "/readyz"), get(port, "/healthz")) == ((200, ""), (200, ""))

            proxy.refused = None
            becomes("1", "the controller leads again")

            now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            cluster.admin.must("PATCH", f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/"
                               "machine-config-controller", {"spec": {
                                   "holderIdentity": "another", "acquireTime": now, "renewTime": now,
                                   "leaseDurationSeconds": 3600}}, MERGE)
            becomes("0", "another program has the lease", waits="1")


def firing(prometheus, name):
    """Returns the severities with which an alert fires."""
    return sorted(alert["labels"]["severity"] for alert in prometheus.alerts()
                  if alert["labels"]["alertname"] == name and alert["state"] == "firing")


def test_prometheus_alerts_while_an_input_of_the_controller_config_is_missing():
    port, = daemon.free_ports(1)
    with Cluster() as cluster:
        prepare_cluster(cluster)
        openshift_kinds.install(cluster, [openshift_kinds.CLUSTER_OPERATOR])
        Settings.install(cluster)
        settings = Settings(cluster)
        settings.put_all()
        settings.install_release()
        controller = Controller(cluster, "controller", "--operator=yes", f"--metrics-listen-address=127.0.0.1:{port}")
        with controller, Prometheus(f"127.0.0.1:{port}", rules().replace("for: 15m", "for: 0m")) as prometheus:
            def is_outdated(value):
                samples = prometheus.query("query", query='pintle_operator_task_failed{task="RenderConfig"}')["result"]
                return [sample["value"][1] for sample in samples] == [value] and \
                    firing(prometheus, "PintleControllerConfigOutdated") == (["warning"] if value == "1" else [])

            prometheus.wait_for(lambda: is_outdated("0"), "the ControllerConfig is made")
            settings.remove_config_map("openshift-config-managed", "kube-apiserver-client-ca")
            prometheus.wait_for(lambda: is_outdated("1"), "the alert fires")
            settings.put_all()
            prometheus.wait_for(lambda: is_outdated("0"), "the alert ends")


def test_prometheus_alerts_of_a_served_certificate_that_is_not_renewed(tmp_path):
    authority = certs.Authority(tmp_path / "authority")
    six_days = certs.Validity(datetime.timedelta(days=-1), datetime.timedelta(days=6))
    soon = authority.server("soon", ["127.0.0.1"], six_days)
    renewed = authority.server("renewed", ["127.0.0.1"])
    port, ignition_port = daemon.free_ports(2)
    with Cluster() as cluster:
        prepare_cluster(cluster)
        controller = Controller(cluster, "controller", f"--metrics-listen-address=127.0.0.1:{port}",
                                f"--ignition-listen=127.0.0.1:{ignition_port}", f"--cert={soon.certificate}",
                                f"--key={soon.key}", f"--bootstrap-token={tmp_path}")
        with controller, Prometheus(f"127.0.0.1:{port}", rules()) as prometheus:
            name = "PintleIgnitionCertificateExpires"
            prometheus.wait_for(lambda: firing(prometheus, name) == ["warning"], "six days are too few")
            # Nothing happens in the cluster, and the metric follows the files all the same.
            for made, used in ((renewed.certificate, soon.certificate), (renewed.key, soon.key)):
                shutil.copy(made, used)
            prometheus.wait_for(lambda: firing(prometheus, name) == [], "the renewed certificate ends the alert")
            samples = prometheus.query("query", query="pintle_ignition_certificate_expires_seconds")["result"]
            assert [sample["metric"]["source"] for sample in samples] == ["served"]


def annotate_node(cluster, name, key, value):
    cluster.admin.must("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"annotations": {key: value}}}, MERGE)


def waits_until(cluster):
    """Returns the time until which files wait on each node, or None."""
    nodes = cluster.admin.must("GET", "/api/v1/nodes")["items"]
    return [node["metadata"].get("annotations", {}).get(WAITS_UNTIL) for node in nodes]


def test_the_controller_reports_waiting_changes_and_lets_certificates_pass(bundles):
    """Runs the controller with the rights of deploy/ only: a pause, its alert, and the policy that lets certificates
    pass.
    """
    soon, new = bundles
    port = daemon.free_ports(1)[0]
    with Cluster() as cluster:
        prepare_cluster(cluster)
        objects = Objects(cluster)
        objects.controller_config()
        objects.config("00-worker", config=ignition(soon))
        controller = Controller(cluster, "controller", f"--metrics-listen-address=127.0.0.1:{port}")
        with controller, SimulatedAgents(cluster) as agents:
            before = objects.wait_for_target("worker")
            for name in ("worker-0", "worker-1"):
                agents.add(name, before)
            objects.wait_until_updated("worker", before)
            objects.set_pool("worker", paused=True)
            objects.config("00-worker", config=ignition(soon + new))
            target = objects.wait_for_target("worker", other_than=before)
            condition = objects.wait_for_reason("worker", "PausedPending", "CertificateExpiresSoon")
            assert f"up to {target} waits for 2 of 2 nodes" in condition["message"]
            assert "Unpausing drains and reboots the nodes" in condition["message"]
            # Files of the ControllerConfig wait as well: the controller asks the nodes for that, and the nodes report
            # the files.
            wait_until(lambda: all(waits_until(cluster)), "each node is asked to hold back files", 60)
            for name in ("worker-0", "worker-1"):
                annotate_node(cluster, name, WAITING, waiting(13))
            wait_until(lambda: f"Files of the ControllerConfig wait on 2 of 2 nodes: {PATH}."
                       in objects.condition("worker", "PausedPending")["message"], "the condition lists the files", 60)
            with Prometheus(f"127.0.0.1:{port}", rules().replace("for: 60m", "for: 0m")) as prometheus:
                prometheus.wait_for(lambda: kubelet_ca(prometheus, "firing") == ["critical", "warning"], "both fire")
                # So far, no change was let through.  Certificates pass once a policy needs no reboot for them.
                assert objects.pool("worker")["status"]["configuration"]["name"] == before
                cluster.admin.must("POST", "/apis/operator.openshift.io/v1/machineconfigurations", {
                    "apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration",
                    "metadata": {"name": "cluster"},
                    "spec": {"nodeDisruptionPolicy": {"files": [{"path": BUNDLE, "actions": [{"type": "None"}]}]}}})
                wait_until(lambda: "needs no drain and no reboot" in objects.condition("worker", "PausedPending")["message"],
                           "the policy counts", 60)
                cluster.admin.must("PATCH", f"{GROUP}/machineconfigpools/worker", {
                    "metadata": {"annotations": {POLICY: "CertificatesPass"}}}, MERGE)
                wait_until(lambda: not any(waits_until(cluster)), "no node is asked to hold back files", 60)
                objects.wait_until_updated("worker", target)
                objects.wait_for_condition("worker", "PausedPending", "False")
                assert objects.pool("worker")["spec"]["paused"] is True
                prometheus.wait_for(lambda: kubelet_ca(prometheus, "firing") == [], "the alerts end")
            # A change of another file is not let through.
            objects.config("99-else", files={"/etc/else": "x"})
            objects.wait_for_reason("worker", "PausedPending", "RebootWaits")
            assert "no certificates are among the changes" in objects.condition("worker", "PausedPending")["message"]
            assert objects.pool("worker")["status"]["configuration"]["name"] == target
        assert "forbidden" not in controller.log_text().lower(), controller.log_text()
