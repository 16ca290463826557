# SPDX-License-Identifier: Apache-2.0
"""Tests the Kubernetes client against a real control plane, with kube_probe.cc."""

import contextlib
import json
import os
import pathlib
import queue
import signal
import subprocess
import threading

import pytest

from machines.cluster import Cluster
from machines.wait import wait_until
from budget import pods, settled

PROBE = pathlib.Path(os.environ["PINTLE_BUILD"]) / "tests/integration/kube-probe"
PATIENCE = 60    # Seconds.  The machine may be busy with other work.


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        for name in ("node-a", "node-b"):
            running.add_node(name)
        yield running


@pytest.fixture
def namespace(cluster, request):
    """A namespace of the test's own, which has only the objects that every namespace gets."""
    name = request.node.name.replace("_", "-")[:60].strip("-")
    cluster.kubectl("create", "namespace", name)
    account = f"/api/v1/namespaces/{name}/configmaps/kube-root-ca.crt"
    wait_until(lambda: cluster.admin.request("GET", account)[0] == 200, "the namespace has its CA", PATIENCE)
    # The test ignores the objects that each namespace gets.
    cluster.kubectl("label", "configmap", "--namespace", name, "--all", "ignored=")
    return name


def given_config_maps(cluster, namespace):
    """Returns the ConfigMaps that each namespace has on this API server."""
    return [each["metadata"]["name"] for each in cluster.get("configmaps", "-n", namespace, "-l", "ignored")["items"]]


def probe(kubeconfig, *words, check=True):
    """Runs the probe to its end; returns its output, or with check=False its error."""
    ran = subprocess.run([PROBE, kubeconfig, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=PATIENCE, check=False)
    if check:
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()
    assert ran.returncode == 1, ran.stdout
    return ran.stderr.strip()


class Running:
    """A probe that runs in the background and reports each event in a line."""

    def __init__(self, kubeconfig, *words):
        self.process = subprocess.Popen([PROBE, kubeconfig, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def next(self):
        return self._lines.get(timeout=PATIENCE)

    def next_without_outages(self):
        """Returns the next line that is not about an outage of the server."""
        while (line := self.next()).startswith("trouble"):
            pass
        return line

    def until(self, wanted):
        """Returns all lines up to the expected one."""
        lines = []
        while not lines or lines[-1] != wanted:
            lines.append(self.next_without_outages())
        return lines

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0

    def close(self):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()


@contextlib.contextmanager
def running(*words):
    program = Running(*words)
    try:
        yield program
    finally:
        program.close()


def config_map(cluster, namespace, name, data=None, labels=None):
    cluster.admin.must("POST", f"/api/v1/namespaces/{namespace}/configmaps", {
        "metadata": {"name": name, "labels": labels or {}}, "data": data or {}})


def change(cluster, namespace, name, value):
    cluster.admin.must("PATCH", f"/api/v1/namespaces/{namespace}/configmaps/{name}", {"data": {"value": value}},
                       "application/merge-patch+json")


def remove(cluster, namespace, name):
    cluster.admin.must("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/{name}")


class TestObjects:
    def test_are_made_read_changed_and_deleted(self, cluster, namespace):
        admin = cluster.admin.kubeconfig
        uid, = probe(admin, "create", namespace, "a", "one=1", "two=2")
        assert "already exists (status 409 AlreadyExists)" in probe(admin, "create", namespace, "a", check=False)
        probe(admin, "set", namespace, "a", "one=", "three=3")
        assert probe(admin, "get", namespace, "a") == ["three=3", "two=2"]
        assert "status 409 Conflict" in probe(admin, "delete", namespace, "a", "another-uid", check=False)
        probe(admin, "delete", namespace, "a", uid)
        assert probe(admin, "get", namespace, "a", check=False) == (
            f'reading ConfigMap {namespace}/a: configmaps "a" not found (status 404 NotFound)')

    def test_keep_fields_that_the_client_does_not_know(self, cluster, namespace):
        path = f"/api/v1/namespaces/{namespace}/configmaps/a"
        cluster.admin.must("POST", path.removesuffix("/a"), {"metadata": {"name": "a"}, "binaryData": {"b": "AAEC"}})
        probe(cluster.admin.kubeconfig, "set", namespace, "a", "one=1")
        probe(cluster.admin.kubeconfig, "count", namespace, "a", 1)
        now = cluster.admin.must("GET", path)
        assert (now["binaryData"], now["data"]) == ({"b": "AAEC"}, {"one": "1", "count": "1"})

    def test_a_json_patch_is_applied_as_a_whole_or_not_at_all(self, cluster, namespace):
        admin = cluster.admin.kubeconfig
        config_map(cluster, namespace, "a", {"x": "1"})
        assert "status 422 Invalid" in probe(admin, "test", namespace, "a", "x=2", "x=3", check=False)
        probe(admin, "test", namespace, "a", "x=1", "x=3")
        assert probe(admin, "get", namespace, "a") == ["x=3"]

    def test_server_side_apply_names_the_owner_of_a_field(self, cluster, namespace):
        admin = cluster.admin.kubeconfig
        probe(admin, "apply", namespace, "a", "one", "refuse", "x=1", "y=1")
        probe(admin, "apply", namespace, "a", "two", "refuse", "z=2")
        refused = probe(admin, "apply", namespace, "a", "two", "refuse", "x=2", check=False)
        assert 'conflict with "one": .data.x' in refused and "status 409 Conflict" in refused
        probe(admin, "apply", namespace, "a", "two", "force", "x=2")
        assert probe(admin, "get", namespace, "a") == ["x=2", "y=1"]

    def test_two_writers_of_one_object_lose_nothing(self, cluster, namespace):
        config_map(cluster, namespace, "a")
        counters = [subprocess.Popen([PROBE, cluster.admin.kubeconfig, "count", namespace, "a", "30"]) for _ in range(3)]
        assert [counter.wait(PATIENCE) for counter in counters] == [0, 0, 0]
        assert probe(cluster.admin.kubeconfig, "get", namespace, "a") == ["count=90"]

    def test_are_listed_page_by_page(self, cluster, namespace):
        own = [f"m-{i}" for i in range(5)]
        for name in own:
            config_map(cluster, namespace, name)
        names = sorted(own + given_config_maps(cluster, namespace))
        for page in (1, 2, 3, 100):
            assert probe(cluster.admin.kubeconfig, "list", namespace, page)[:-1] == names

    def test_need_memory_only_for_the_kept_fields(self, cluster, namespace):
        for i in range(40):
            config_map(cluster, namespace, f"m-{i:02}", {"large": "x" * 900_000})
        *names, grown = probe(cluster.admin.kubeconfig, "list", namespace, 100)
        assert len(names) == 40 + len(given_config_maps(cluster, namespace))
        print(f"a list of 36000 kB grew the memory by {grown} KiB")
        assert int(grown) < 12_000


class TestRights:
    def test_a_node_may_change_itself_and_no_other(self, cluster):
        node = cluster.node("node-a")
        probe(node.kubeconfig, "annotate-node", "node-a", "example.com/state=Done")
        with cluster.refusals.expected(node, "patch nodes"):
            refused = probe(node.kubeconfig, "annotate-node", "node-b", "example.com/state=Done", check=False)
        assert refused.startswith("patching Node node-b: ")
        assert 'node "node-a" is not allowed to modify node "node-b" (status 403 Forbidden)' in refused

    def test_a_token_is_read_from_its_file_as_it_is_now(self, cluster, namespace, tmp_path):
        cluster.kubectl("create", "rolebinding", "view", "--namespace", namespace, "--clusterrole=view",
                        f"--serviceaccount={namespace}:default")
        config_map(cluster, namespace, "a", {"x": "1"})
        account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        wait_until(lambda: cluster.admin.request("GET", account)[0] == 200, "the account is there", PATIENCE)
        config = json.loads(pathlib.Path(cluster.admin.kubeconfig).read_text(encoding="ascii"))
        config["users"][0]["user"] = {"tokenFile": "token"}
        (tmp_path / "config").write_text(json.dumps(config))
        (tmp_path / "token").write_text("wrong")
        assert "(status 401 Unauthorized)" in probe(tmp_path / "config", "get", namespace, "a", check=False)
        with running(tmp_path / "config", "mirror", namespace) as mirror:
            assert "(status 401 Unauthorized)" in mirror.next()
            (tmp_path / "token").write_text(cluster.account(namespace, "default").token)
            assert mirror.next_without_outages() == "added a"

    def test_an_exec_plugin_is_refused_with_an_alternative(self, cluster, tmp_path):
        config = json.loads(pathlib.Path(cluster.admin.kubeconfig).read_text(encoding="ascii"))
        config["users"][0]["user"] = {"exec": {"command": "aws"}}
        (tmp_path / "config").write_text(json.dumps(config))
        assert probe(tmp_path / "config", "get", "default", "a", check=False) == (
            f'reading the kubeconfig {tmp_path}/config: user "admin": exec: is not supported; use a token, a tokenFile, '
            "or a client-certificate with its client-key, such as those of a service account")


class TestEvents:
    def test_of_a_node_are_counted_when_they_repeat(self, cluster):
        with running(cluster.node("node-a").kubeconfig, "post-events", "node-a", "one", "two", "one", "one") as probing:
            def posted():
                events = cluster.get("events", "--field-selector=involvedObject.name=node-a,reason=Probed")["items"]
                return sorted((event["message"], event["count"]) for event in events)
            wait_until(lambda: posted() == [("one", 3), ("two", 1)], "all events are posted", PATIENCE)
            probing.end()
        assert "Probed" in cluster.kubectl("describe", "node", "node-a").stdout


class TestMirror:
    def test_follows_all_events(self, cluster, namespace):
        for name in ("a", "b", "c"):
            config_map(cluster, namespace, name, {"value": "1"})
        config_map(cluster, namespace, "other", labels={"ignored": ""})
        with running(cluster.admin.kubeconfig, "mirror", namespace) as mirror:
            assert [mirror.next() for _ in range(4)] == ["added a 1", "added b 1", "added c 1", "synced"]
            change(cluster, namespace, "a", "2")
            remove(cluster, namespace, "b")
            config_map(cluster, namespace, "d")
            assert [mirror.next() for _ in range(3)] == ["changed a 2", "removed b 1", "added d"]
            mirror.end()


class TestEviction:
    def test_is_kept_back_by_a_budget_and_knows_the_pod(self, cluster):
        cluster.apply(pods(cluster))
        first, second = settled(cluster)
        # On a slow machine the server may fail after it has counted the eviction; the budget recovers after two
        # minutes.
        wait_until(lambda: self.evict(cluster, first) == ["going"], "the budget lets one go", 180, every=1)
        assert self.evict(cluster, second) == ["kept: The disruption budget web needs 1 healthy pods and has 1 currently"]
        settled(cluster)
        assert self.evict(cluster, first) == ["gone"]
        assert self.evict(cluster, second, "another-uid") == ["gone"]

    def evict(self, cluster, pod, uid=None):
        return probe(cluster.admin.kubeconfig, "evict", "default", pod[0], uid or pod[1])


class TestLease:
    def test_is_held_by_one_and_passes_on_at_once_when_released(self, cluster, namespace):
        admin = cluster.admin.kubeconfig
        with running(admin, "lease", namespace, "l", "a") as first, running(admin, "lease", namespace, "m", "a") as other:
            assert (first.next(), other.next()) == ("won", "won")
            with running(admin, "lease", namespace, "l", "b") as second:
                renewed = self.lease(cluster, namespace)
                wait_until(lambda: self.lease(cluster, namespace)["renewTime"] > renewed["renewTime"],
                           "the lease is renewed", PATIENCE)
                first.end()
                assert second.next() == "won"
                now = self.lease(cluster, namespace)
                assert (now["holderIdentity"], now["leaseTransitions"]) == ("b", 1)
                second.end()
            assert self.lease(cluster, namespace)["holderIdentity"] == ""

    def test_passes_on_when_its_holder_was_killed(self, cluster, namespace):
        admin = cluster.admin.kubeconfig
        with running(admin, "lease", namespace, "l", "a") as first:
            assert first.next() == "won"
            with running(admin, "lease", namespace, "l", "b") as second:
                first.process.kill()
                assert second.next() == "won"

    def lease(self, cluster, namespace):
        return cluster.admin.must("GET", f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/l")["spec"]


class TestFaults:
    """These tests come last, because the cluster's own controllers need time to come back."""

    def test_a_mirror_goes_on_when_the_api_server_was_killed(self, cluster, namespace):
        config_map(cluster, namespace, "a", {"value": "1"})
        with running(cluster.admin.kubeconfig, "mirror", namespace) as mirror:
            assert mirror.until("synced") == ["added a 1", "synced"]
            cluster.stop_apiserver()
            assert mirror.next().startswith("trouble watching configmaps: ")
            cluster.start_apiserver()
            config_map(cluster, namespace, "b")
            # The mirror may have listed again, but reports nothing twice.
            assert [line for line in mirror.until("added b") if line != "synced"] == ["added b"]

    def test_a_mirror_goes_on_when_the_store_was_away(self, cluster, namespace):
        with running(cluster.admin.kubeconfig, "mirror", namespace) as mirror:
            mirror.until("synced")
            cluster.stop_etcd()
            cluster.start_etcd()
            config_map(cluster, namespace, "b")
            assert mirror.until("added b")

    def test_a_mirror_reports_the_differences_when_the_server_has_forgotten_its_versions(self, cluster, namespace):
        for name in ("a", "b", "c"):
            config_map(cluster, namespace, name, {"value": "1"})
        with running(cluster.admin.kubeconfig, "mirror", namespace) as mirror:
            mirror.until("synced")
            # The connection ends with the first server, changes are made with the second, and the third does not know
            # the old versions.
            mirror.process.send_signal(signal.SIGSTOP)
            cluster.stop_apiserver()
            cluster.start_apiserver()
            change(cluster, namespace, "a", "2")
            remove(cluster, namespace, "b")
            config_map(cluster, namespace, "d")
            cluster.stop_apiserver()
            cluster.start_apiserver()
            mirror.process.send_signal(signal.SIGCONT)
            assert mirror.until("synced") == ["changed a 2", "added d", "removed b 1", "synced"]

    def test_a_watch_from_a_forgotten_version_reports_that(self, cluster, namespace):
        cluster.stop_apiserver()
        cluster.start_apiserver()
        assert probe(cluster.admin.kubeconfig, "watch", namespace, 1) == ["expired"]

    def test_a_lease_is_lost_when_the_api_server_is_away_for_too_long(self, cluster, namespace):
        with running(cluster.admin.kubeconfig, "lease", namespace, "l", "a") as holder:
            assert holder.next() == "won"
            cluster.stop_apiserver()
            assert holder.next() == "lost"
            cluster.start_apiserver()
            assert holder.next() == "won"
