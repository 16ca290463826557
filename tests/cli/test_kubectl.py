# SPDX-License-Identifier: Apache-2.0
"""Tests `kubectl pintle` with a small API server of its own; tests/integration/test_live_cluster.py uses a real one."""

import contextlib
import http.server
import json
import os
import pathlib
import subprocess
import threading

import pytest
from program import PINTLE, write

GROUP = "machineconfiguration.openshift.io"


def pool(name="worker", conditions=(), **spec):
    return {"apiVersion": f"{GROUP}/v1", "kind": "MachineConfigPool", "metadata": {"name": name},
            "spec": {"configuration": {"name": f"rendered-{name}-1"}, **spec},
            "status": {"machineCount": 2, "updatedMachineCount": 2, "conditions": [
                {"type": kind, "status": "True", "reason": "", "message": message}
                for kind, message in dict(conditions).items()]}}


class Server(http.server.ThreadingHTTPServer):
    """An API server that lists the given objects by kind, and returns one of them by name."""

    def __init__(self, **objects):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                above, _, kind = self.path.split("?")[0].rpartition("/")
                found = objects.get(kind)
                named = [each for each in objects.get(above.rpartition("/")[2], []) if each["metadata"]["name"] == kind]
                if named:
                    found = named[0]
                body = json.dumps(found if named else
                                  {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"},
                                   "items": found} if found is not None else
                                  {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound",
                                   "message": f"there are no {kind}", "code": 404}).encode()
                self.send_response(200 if found is not None else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        super().__init__(("127.0.0.1", 0), Handler)

    @contextlib.contextmanager
    def at_work(self):
        thread = threading.Thread(target=self.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            thread.join()
            self.server_close()


def kubeconfig_of(server, path):
    return write(path, {
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {}}]})


@pytest.fixture
def kubectl(tmp_path):
    """Runs the plug-in as kubectl would, in a cluster with these pools."""
    (tmp_path / "kubectl-pintle").symlink_to(pathlib.Path(PINTLE).absolute())

    def call(*words, pools=(), **objects):
        with Server(machineconfigpools=list(pools), **objects).at_work() as server:
            config = kubeconfig_of(server, tmp_path / "kubeconfig")
            return subprocess.run([tmp_path / "kubectl-pintle", *words], capture_output=True, text=True, check=False,
                                  env={**os.environ, "KUBECONFIG": str(config)})
    return call


UPDATED = {"Updated": "All nodes are updated with MachineConfig rendered-worker-1"}


def test_a_healthy_pool_ends_with_0(kubectl):
    result = kubectl("status", pools=[pool(conditions=UPDATED)])
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "worker: updated, 2 of 2 nodes have rendered-worker-1\n"


@pytest.mark.parametrize("condition", ["Misconfigured", "PausedPending", "RenderDegraded", "PinnedImageSetsDegraded",
                                       "AsNewVersionsSayIt"])
def test_a_problem_of_an_updated_pool_is_printed_and_ends_with_2(kubectl, condition):
    result = kubectl("status", pools=[pool("master", UPDATED), pool(conditions={**UPDATED, condition: "so it is"})])
    assert (result.returncode, result.stderr) == (2, "")
    assert result.stdout.splitlines()[1:] == ["worker: updated, 2 of 2 nodes have rendered-worker-1",
                                              f"  {condition}: so it is"]
    # The exit status is only about the named pools.
    assert kubectl("status", "master", pools=[pool("master", UPDATED), pool(conditions={condition: ""})]).returncode == 0


def test_status_has_the_forms_that_programs_want(kubectl):
    pools = [pool("master", UPDATED), pool(conditions={"NodeDegraded": "why"})]
    result = kubectl("status", "-o", "json", pools=pools)
    assert result.returncode == 2
    assert [each["name"] for each in json.loads(result.stdout)["pools"]] == ["master", "worker"]
    as_yaml = kubectl("status", "-o", "yaml", pools=pools)
    assert as_yaml.returncode == 2 and as_yaml.stdout.startswith("pools:\n- name: master\n  paused: false\n")
    assert kubectl("status", "-o", "name", pools=pools).stdout == "master\nworker\n"
    refused = kubectl("status", "-o", "wide", pools=pools)
    assert refused.returncode == 1 and "json|yaml|name" in refused.stderr and refused.stdout == ""


def without_a_cluster(tmp_path, *words, **more):
    (tmp_path / "kubectl-pintle").symlink_to(pathlib.Path(PINTLE).absolute())
    environment = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    return subprocess.run([tmp_path / "kubectl-pintle", *words], capture_output=True, text=True, check=False,
                          env={**environment, "HOME": str(tmp_path), **more})


def test_a_missing_kubeconfig_is_an_error_with_its_remedy(tmp_path):
    result = without_a_cluster(tmp_path, "status")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (f"kubectl pintle: status: there is no {tmp_path}/.kube/config: name a kubeconfig with "
                             "--kubeconfig or $KUBECONFIG\n")


def test_an_error_names_a_list_of_kubeconfigs_none_of_which_exists(tmp_path):
    result = without_a_cluster(tmp_path, "status", KUBECONFIG="/nowhere:/nowhere/else")
    assert result.returncode == 1 and "$KUBECONFIG is /nowhere:/nowhere/else, of which no file exists" in result.stderr


def test_a_cluster_that_does_not_answer_is_reported_once(tmp_path):
    config = write(tmp_path / "config", {
        "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}]})
    result = without_a_cluster(tmp_path, "status", "--kubeconfig", config)
    assert result.returncode == 1 and result.stderr.count("listing machineconfigpools: ") == 1


def test_arguments_are_checked_before_the_cluster_is_contacted(tmp_path):
    result = without_a_cluster(tmp_path, "diff", "--kubeconfig", "/nowhere", "a", "b", "c")
    assert result.returncode == 1 and "name two MachineConfigs, or one pool" in result.stderr


def test_rollout_has_no_options_for_files(tmp_path):
    assert "--pool" not in without_a_cluster(tmp_path, "rollout", "--help").stdout
