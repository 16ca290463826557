# SPDX-License-Identifier: Apache-2.0
"""The users of the test cluster: the administrator, nodes, ServiceAccounts, and the cluster's own servers."""

import base64
import contextlib
import http.client
import json
import time

from . import api_client, shell


class Refused(Exception):
    """The API server refused a request; `status` is its HTTP status and `answer` its Status object."""

    def __init__(self, method, path, status, answer):
        self.status, self.answer = status, answer
        super().__init__(f"{method} {path}: {status} {answer.get('message', answer)}")


class User:
    """A user with a client certificate, and with a kubeconfig that needs no other files.

    Requests to the API server authenticate by the client certificate `pair`, and have the additional `headers`.  With a
    token, they authenticate by that instead: the API server verifies a certificate anew for each request.
    """

    def __init__(self, cluster, name, pair, token=None):
        self.name, self.pair = name, pair
        self._set_up(cluster, pair.key.with_suffix(".kubeconfig"), token)

    def _set_up(self, cluster, kubeconfig, token):
        self._cluster, self.kubeconfig, self.token = cluster, kubeconfig, token
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._connections = api_client.PersistentConnections(self.connect)
        credentials = {"token": token} if token else {
            "client-certificate-data": _base64_of(self.pair.certificate), "client-key-data": _base64_of(self.pair.key)}
        kubeconfig.touch(mode=0o600)
        kubeconfig.write_text(json.dumps(self._config(credentials)), encoding="ascii")

    def connect(self):
        """Returns a new connection; its requests need the additional headers."""
        return self._cluster.connection(None if self.token else self.pair)

    def kubectl(self, *words, **options):
        """Runs kubectl to its end; see shell.run for the options."""
        return shell.run(self._cluster.commands / "kubectl", f"--kubeconfig={self.kubeconfig}", *words, **options)

    def get(self, *words):
        """Returns the result of `kubectl get` as parsed JSON.

        Tests call this in loops, in which starting kubectl would be most of the work.  So the request is sent directly.
        kubectl is started only if GetArguments does not support the words, if the server does not serve the resource,
        or if the request failed.  Then the caller gets kubectl's error.
        """
        arguments = api_client.GetArguments(words)
        if arguments.is_supported:
            with contextlib.suppress(OSError, http.client.HTTPException, Refused):
                resource = self._cluster.resources.named(arguments.resource, self._read)
                if resource:
                    return api_client.as_kubectl_prints(self._read(arguments.path(resource)), resource)
        return json.loads(self.kubectl("get", "-o", "json", *words).stdout)

    def create(self, thing):
        """Creates an object given as a dict, or as YAML.

        A dict is sent directly.  kubectl sends YAML.  If a dict cannot be sent or is refused, kubectl sends it again,
        so that the caller gets kubectl's error.  kubectl does not validate the object, because it would have to read
        all schemas for that; the API server validates it.
        """
        if not isinstance(thing, str):
            with contextlib.suppress(OSError, http.client.HTTPException, Refused):
                resource = self._cluster.resources.of_kind(thing["apiVersion"], thing["kind"], self._read)
                if resource:
                    path = api_client.path_of(resource, thing["metadata"].get("namespace", "default"))
                    made = self.must("POST", path, thing)
                    return f"{resource.entry['name']}/{made['metadata']['name']} created\n"
        text = thing if isinstance(thing, str) else json.dumps(thing)
        return self.kubectl("create", "--validate=false", "-f", "-", input=text).stdout

    def apply_files(self, *files):
        """Applies the objects in YAML files; not kubectl but the API server validates them."""
        self.kubectl("apply", "--validate=false", *(f"--filename={file}" for file in files))

    def apply(self, text):
        """Applies objects given as YAML."""
        return self.kubectl("apply", "-f", "-", input=text).stdout

    def request(self, method, path, body=None, content_type=None):
        """Sends a request to the API server, without kubectl; returns the status and the parsed answer."""
        content_type = content_type or (
            "application/strategic-merge-patch+json" if method == "PATCH" else "application/json")
        headers = {"Accept": "application/json", "User-Agent": api_client.USER_AGENT} | \
            ({} if body is None else {"Content-Type": content_type}) | self.headers
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        status, answer = self._connections.request(method, path, text, headers)
        return status, _parsed(answer)

    def must(self, method, path, body=None, content_type=None):
        """Like request(), but returns only the answer, and raises Refused if it is an error."""
        status, answer = self.request(method, path, body, content_type)
        if status >= 300:
            raise Refused(method, path, status, answer)
        return answer

    def _read(self, path):
        return self.must("GET", path)

    def _config(self, credentials):
        return {"apiVersion": "v1", "kind": "Config", "current-context": "pintle",
                "clusters": [{"name": "pintle", "cluster": {
                    "server": self._cluster.url,
                    "certificate-authority-data": _base64_of(self._cluster.authority.certificate)}}],
                "users": [{"name": self.name, "user": credentials}],
                "contexts": [{"name": "pintle", "context": {"cluster": "pintle", "user": self.name}}]}


class Account(User):
    """A ServiceAccount, which authenticates by a token that the API server has issued."""

    def __init__(self, cluster, namespace, name):
        self.name, self.pair = f"system:serviceaccount:{namespace}:{name}", None
        token = cluster.admin.must("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            # No test takes longer than this.
            "spec": {"expirationSeconds": 24 * 60 * 60}})["status"]["token"]
        self._set_up(cluster, cluster.folder / f"{namespace}-{name}.kubeconfig", token)


class PatientUser:
    """A user who repeats requests while the API server is down."""

    def __init__(self, user, seconds=60):
        self._user, self._seconds = user, seconds

    def request(self, method, path, body=None, content_type=None):
        deadline = time.monotonic() + self._seconds
        is_repeated = False
        while True:
            try:
                status, answer = self._user.request(method, path, body, content_type)
            except (OSError, http.client.HTTPException):
                status, answer = 503, {"message": "the API server does not answer"}
            # A restarted server does not know the custom kinds at first, and then its answer is not even a Status.
            if status == 404 and answer.get("kind") != "Status":
                status = 503
            # A request that got no answer may have taken effect.
            if is_repeated and (method, status) == ("DELETE", 404):
                return 200, answer
            if is_repeated and (method, status) == ("POST", 409):
                return self.request("GET", f"{path}/{body['metadata']['name']}")
            if status < 500 or time.monotonic() > deadline:
                return status, answer
            is_repeated = True
            time.sleep(0.05)

    must = User.must


def _base64_of(path):
    return base64.b64encode(path.read_bytes()).decode("ascii")


def _parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return {"message": text.decode("utf-8", "replace")}
