# SPDX-License-Identifier: Apache-2.0
"""The administrator's requests to an API server, and the program fleet_server.py."""

import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import subprocess
import sys
import threading

from machines.cluster_user import Refused

AGENT = "bench/1"    # The server counts the requests of each client under the first word of this header.


class Server(contextlib.AbstractContextManager):
    """The process of the server; it ends with `with`."""

    def __enter__(self):
        program = pathlib.Path(__file__).with_name("fleet_server.py")
        self._process = subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._port = int(self._process.stdout.readline())
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self._port)

    def kubeconfig(self):
        return json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "fleet",
            "clusters": [{"name": "fleet", "cluster": {"server": f"http://127.0.0.1:{self._port}"}}],
            "users": [{"name": "fleet", "user": {}}],
            "contexts": [{"name": "fleet", "context": {"cluster": "fleet", "user": "fleet"}}]})


class Client:
    """Sends requests over persistent connections, one for each thread."""

    def __init__(self, connect, threads=4):
        """`connect` returns a new connection to the server."""
        self._connect, self._own = connect, threading.local()
        self._threads = concurrent.futures.ThreadPoolExecutor(threads)

    def request(self, method, path, body=None, kind="application/json"):
        if not hasattr(self._own, "connection"):
            self._own.connection = self._connect()
        headers = {"User-Agent": AGENT, "Content-Type": kind}
        self._own.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self._own.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def must(self, method, path, body=None, kind="application/json"):
        """Returns the answer, or raises Refused."""
        status, answer = self.request(method, path, body, kind)
        if status >= 300:
            raise Refused(method, path, status, answer)
        return answer

    def for_each(self, act, things):
        """Calls `act` with each of the things, in several threads at once."""
        list(self._threads.map(act, things))

    @contextlib.contextmanager
    def watched(self, path):
        """Yields the events of a watch from now on, as they come."""
        connection = self._connect()
        version = self.must("GET", path + "?limit=1")["metadata"]["resourceVersion"]
        connection.request("GET", f"{path}?watch=1&timeoutSeconds=86400&resourceVersion={version}",
                           headers={"User-Agent": AGENT})
        answer = connection.getresponse()
        try:
            yield (json.loads(line) for line in answer)
        finally:
            connection.close()
