# SPDX-License-Identifier: Apache-2.0
"""Checks that the test cluster validates, stores and evicts as a production cluster does, and leaves nothing behind."""

import datetime
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

import machines
from machines import audit, cache, daemon, shell
from machines.cluster import Cluster
from machines.cluster_user import Refused
from machines.wait import wait_until
from budget import pods, settled


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        for name in ("node-a", "node-b"):
            running.add_node(name)
        yield running


def forbidden(cluster, user, request, *words):
    """Runs kubectl as a user whose request the API server must refuse; returns the error output."""
    with cluster.refusals.expected(user, request):
        result = user.kubectl(*words, check=False)
    assert result.returncode != 0, "it was not forbidden"
    assert "(Forbidden)" in result.stderr
    return result.stderr


class TestNodes:
    def test_kubectl_lists_them_as_ready_workers(self, cluster):
        lines = cluster.kubectl("get", "nodes", "--no-headers").stdout.splitlines()
        assert [line.split()[:3] for line in lines] == [["node-a", "Ready", "worker"], ["node-b", "Ready", "worker"]]

    def test_a_node_may_annotate_itself(self, cluster):
        cluster.node("node-a").kubectl("annotate", "node", "node-a", "example.com/state=Done")
        assert cluster.get("node", "node-a")["metadata"]["annotations"]["example.com/state"] == "Done"

    def test_a_node_may_not_annotate_another(self, cluster):
        error = forbidden(cluster, cluster.node("node-a"), "patch nodes",
                          "annotate", "node", "node-b", "example.com/state=Done")
        assert 'node "node-a" is not allowed to modify node "node-b"' in error

    def test_a_node_may_not_give_itself_a_role(self, cluster):
        error = forbidden(cluster, cluster.node("node-a"), "patch nodes",
                          "label", "node", "node-a", "node-role.kubernetes.io/master=")
        assert "is not allowed to modify labels: node-role.kubernetes.io/master" in error

    def test_a_node_may_not_read_secrets_of_others(self, cluster):
        cluster.kubectl("create", "secret", "generic", "password", "--from-literal=word=x")
        error = forbidden(cluster, cluster.node("node-a"), "get secrets", "get", "secret", "password")
        assert "no relationship found between node 'node-a' and this object" in error

    def test_a_refusal_that_no_test_declares_is_an_error_at_the_end_of_the_cluster(self, cluster):
        node = cluster.node("node-a")
        with cluster.refusals.expected(node, "list secrets"):
            assert node.request("GET", "/api/v1/secrets")[0] == 403
        # Another reader of the same log does not know the declaration.
        with pytest.raises(AssertionError, match=r"system:node:node-a: list secrets: .* \(1 times\)"):
            audit.Refusals(audit.log_in(cluster.folder)).check()

    def test_after_a_start_only_admission_plug_ins_may_still_refuse(self, tmp_path):
        log = audit.log_in(tmp_path)
        refusals = audit.Refusals(log)
        with refusals.ignored_at_the_start():
            pass
        soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=30)

        def refuse(decision, verb):
            event = {"kind": "Event", "verb": verb, "user": {"username": "a"}, "requestURI": "/apis/g/v1/things",
                     "objectRef": {"resource": "things"}, "responseStatus": {"code": 403},
                     "requestReceivedTimestamp": soon.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                     "annotations": {"authorization.k8s.io/decision": decision}}
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(event, separators=(",", ":")) + "\n")
        refuse("allow", "create")
        refusals.check()
        refuse("forbid", "list")
        with pytest.raises(AssertionError, match="a: list things"):
            refusals.check()

    def test_a_kubeconfig_stands_alone(self, cluster, tmp_path):
        moved = shutil.copy(cluster.node_kubeconfig("node-a"), tmp_path)
        cluster.kubectl("get", "node", "node-a", f"--kubeconfig={moved}")


POOL = "/apis/example.com/v1/pools/worker"


@pytest.fixture(scope="module")
def pools(cluster):
    """A custom resource with a structural schema and a status subresource."""
    cluster.apply("""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pools.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: pools, singular: pool, kind: Pool}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              paused: {type: boolean}
              maxUnavailable: {x-kubernetes-int-or-string: true}
              sources: {type: array, items: {type: string}}
          status:
            type: object
            properties: {machineCount: {type: integer, format: int32}}
""")
    wait_until(lambda: cluster.admin.request("GET", "/apis/example.com/v1/pools")[0] == 200, "pools are served", 30)
    return cluster


@pytest.fixture
def pool(pools):
    """Creates the pool POOL before each test; returns the user who may change it."""
    pools.admin.create({"apiVersion": "example.com/v1", "kind": "Pool", "metadata": {"name": "worker"},
                        "spec": {"paused": False, "maxUnavailable": "10%", "sources": ["a"]}})
    yield pools.admin
    pools.admin.must("DELETE", POOL)


class TestCustomResources:
    def test_a_merge_patch_changes_only_its_members(self, pool):
        changed = pool.must("PATCH", POOL, {"spec": {"paused": True, "maxUnavailable": None}},
                            "application/merge-patch+json")
        assert changed["spec"] == {"paused": True, "sources": ["a"]}

    def test_a_json_patch_is_refused_when_its_test_fails(self, pool):
        path = "/spec/sources/0"
        patch = [{"op": "test", "path": path, "value": "b"}, {"op": "replace", "path": path, "value": "c"}]
        with pytest.raises(Refused) as refused:
            pool.must("PATCH", POOL, patch, "application/json-patch+json")
        assert refused.value.status == 422
        patch[0]["value"] = "a"
        assert pool.must("PATCH", POOL, patch, "application/json-patch+json")["spec"]["sources"] == ["c"]

    def test_server_side_apply_finds_the_conflict_with_another_manager(self, pool):
        wanted = json.dumps({"apiVersion": "example.com/v1", "kind": "Pool", "spec": {"paused": True}})
        apply = "application/apply-patch+yaml"
        pool.must("PATCH", f"{POOL}?fieldManager=one&force=true", wanted, apply)
        with pytest.raises(Refused, match='conflict with "one"') as refused:
            pool.must("PATCH", f"{POOL}?fieldManager=two", wanted.replace("true", "false"), apply)
        assert refused.value.status == 409

    def test_the_status_is_changed_through_its_subresource_alone(self, pool):
        merge = "application/merge-patch+json"
        pool.must("PATCH", f"{POOL}/status", {"spec": {"paused": True}, "status": {"machineCount": 3}}, merge)
        pool.must("PATCH", POOL, {"status": {"machineCount": 4}}, merge)
        now = pool.must("GET", POOL)
        assert (now["status"], now["spec"]["paused"]) == ({"machineCount": 3}, False)

    def test_values_that_the_schema_forbids_are_refused(self, pool):
        with pytest.raises(Refused, match="spec.paused in body must be of type boolean") as refused:
            pool.must("PATCH", POOL, {"spec": {"paused": "yes"}}, "application/merge-patch+json")
        assert refused.value.status == 422


class TestEviction:
    def test_a_budget_lets_one_pod_go_at_a_time(self, cluster):
        cluster.apply(pods(cluster))
        first, second = settled(cluster)
        assert self.evict(cluster, first) == (201, "Success")
        status, error = self.evict(cluster, second)
        assert status == 429
        assert "Cannot evict pod as it would violate the pod's disruption budget." in error
        replaced = settled(cluster)
        assert first not in replaced and second in replaced
        assert self.evict(cluster, second) == (201, "Success")

    def evict(self, cluster, pod):
        name, _ = pod
        status, answer = cluster.admin.request("POST", f"/api/v1/namespaces/default/pods/{name}/eviction", {
            "apiVersion": cluster.eviction_api, "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}})
        return status, answer.get("message", answer["status"])


class TestFaults:
    def test_objects_outlive_the_api_server(self, cluster):
        cluster.kubectl("create", "configmap", "kept", "--from-literal=a=1")
        cluster.stop_apiserver()
        with pytest.raises(ConnectionRefusedError):
            cluster.admin.request("GET", "/readyz")
        cluster.start_apiserver()
        assert cluster.get("configmap", "kept")["data"] == {"a": "1"}

    def test_the_api_server_is_not_ready_without_its_store_and_recovers_with_it(self, cluster):
        cluster.kubectl("create", "configmap", "stored", "--from-literal=a=1")
        cluster.stop_etcd()
        # Newer API servers answer for some time with their last result.
        wait_until(lambda: cluster.admin.request("GET", "/readyz")[0] == 500, "the API server is not ready", 60)
        cluster.start_etcd()
        assert cluster.get("configmap", "stored")["data"] == {"a": "1"}


def test_a_second_cluster_shares_nothing_with_the_first(cluster):
    with Cluster() as other:
        assert other.url != cluster.url
        assert other.get("nodes")["items"] == []
        result = other.kubectl("get", "nodes", f"--server={cluster.url}", check=False)
        assert "certificate signed by unknown authority" in result.stderr


class TestByHand:
    """Tests `python3 -m machines cluster` in a process of its own."""

    def start(self, *words, variables=None):
        environment = os.environ | {"PYTHONPATH": str(pathlib.Path(machines.__file__).parents[1]),
                                    "PINTLE_CACHE": str(cache.directory())} | (variables or {})
        return shell.running(sys.executable, "-m", "machines", "cluster", *words, env=environment, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def test_a_command_finds_the_cluster_and_its_status_is_the_exit_status(self, tmp_path):
        script = "kubectl get namespace default -o name; echo $KUBECONFIG; exit 7"
        with self.start("--", "bash", "-c", script, variables={"HOME": str(tmp_path)}) as started:
            namespace, kubeconfig = started.communicate(timeout=240)[0].splitlines()
        assert (started.returncode, namespace) == (7, "namespace/default")
        assert nothing_is_left(folder_of(kubeconfig))
        assert not list(tmp_path.iterdir())

    def test_kubectl_finds_the_plugin(self, tmp_path):
        script = "kubectl pintle help && pintle version && pintle-controller version && kubectl get nodes -o name"
        with self.start("--", "bash", "-c", script, variables={"HOME": str(tmp_path)}) as started:
            output = started.communicate(timeout=240)[0]
        assert started.returncode == 0 and "Usage: kubectl pintle VERB" in output
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_nothing_is_left_after_a_signal(self, number, status):
        with self.start() as started:
            kubeconfig = started.stdout.readline().removeprefix("export KUBECONFIG=").strip()
            folder = folder_of(kubeconfig)
            assert len(processes_of(folder)) == 4
            started.send_signal(number)
            assert started.wait(60) == status
        assert nothing_is_left(folder)

    def test_the_servers_end_when_the_program_that_started_them_is_killed(self):
        with self.start() as started:
            folder = folder_of(started.stdout.readline().removeprefix("export KUBECONFIG=").strip())
            started.kill()
        try:
            wait_until(lambda: not processes_of(folder), "the servers are gone", 60)
        finally:
            shutil.rmtree(folder)


def test_nothing_is_left_when_a_cluster_has_ended():
    with Cluster() as ended:
        ended.add_node("node-c")
        folder, pids, ports = ended.folder, [server.pid for server in ended.daemons], ended.ports
    assert not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids)
    assert not any(daemon.listens("127.0.0.1", port) for port in ports)
    assert nothing_is_left(folder)


def folder_of(kubeconfig):
    return pathlib.Path(kubeconfig).parents[1]


def nothing_is_left(folder):
    assert folder.name.startswith("pintle-cluster-")
    return not folder.exists() and not processes_of(folder)


def processes_of(folder):
    """Returns the processes with the cluster's folder in their command line."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue    # The process has ended meanwhile.
        if os.fsencode(folder) in words:
            found.append(int(process.name))
    return found
