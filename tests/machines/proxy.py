# SPDX-License-Identifier: Apache-2.0
"""A proxy for the API server.  It forwards all requests unchanged; its subclasses disturb them.

It serves plain HTTP on loopback, and forwards the requests with the credentials of one user.
"""

import contextlib
import http.client
import json
import threading

from . import loopback_server
from .api_client import is_reusable


class Proxy(contextlib.AbstractContextManager):
    """`url` is the address at which clients reach the API server as this user."""

    def __init__(self, cluster, user):
        self.cluster, self.user = cluster, user
        # A connection that has no request under way is idle, and is used again, because TLS handshakes are costly.
        self._connections, self._idle, self._lock = set(), [], threading.Lock()
        proxy = self

        class Handler(loopback_server.Handler):
            protocol_version = "HTTP/1.1"

            def do_any(self):
                proxy.serve(self)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_any

        self._server = loopback_server.LoopbackServer(Handler)
        self.url = f"http://{self._server.host}"

    def __enter__(self):
        self._server.__enter__()
        return self

    def __exit__(self, *_):
        self._server.__exit__()
        with self._lock:
            for connection in (*self._connections, *self._idle):
                end(connection)

    def kubeconfig(self):
        """Returns the user's kubeconfig with the proxy as the server, and without credentials."""
        config = json.loads(self.user.kubeconfig.read_text())
        for each in config["clusters"]:
            each["cluster"] = {"server": self.url}
        for each in config["users"]:
            each["user"] = {}
        return json.dumps(config)

    def serve(self, request):
        """Handles one request.  If treat() sends no answer, the client sees a lost connection."""
        body = request.read_body()
        request.close_connection = True
        # The client may have ended, and the API server may be down.
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.treat(request, body)

    def treat(self, request, body):
        """Forwards the request, and the answer back.  Subclasses override this."""
        with self.forwarded(request, body) as answer:
            self.answer(request, answer)

    @contextlib.contextmanager
    def forwarded(self, request, body):
        """Forwards the request, and yields the API server's answer."""
        connection = self._take_connection()
        is_complete = False
        try:
            headers = {key: value for key, value in request.headers.items()
                       if key.lower() not in ("host", "content-length", "connection", "accept-encoding")}
            connection.request(request.command, request.path, body or None, headers | self.user.headers)
            answer = connection.getresponse()
            yield answer
            is_complete = answer.isclosed()
        finally:
            self._give_back(connection, is_complete)

    def _take_connection(self):
        """Returns a connection to the API server that no other request uses."""
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if is_reusable(connection):
                    break
                connection.close()
            else:
                connection = self.user.connect()
            self._connections.add(connection)
        return connection

    def _give_back(self, connection, is_complete):
        with self._lock:
            self._connections.discard(connection)
            if is_complete:
                return self._idle.append(connection)
        end(connection)
        connection.close()

    def answer(self, request, answer):
        if answer.status == 200 and is_watch(request):
            begin_answer(request, answer)
            return self.pass_on_events(request, answer)
        text = answer.read()
        begin_answer(request, answer, len(text))
        request.wfile.write(text)

    def pass_on_events(self, request, answer):
        """Forwards each line of a watch."""
        while line := answer.readline():
            request.wfile.write(line)
            request.wfile.flush()


def is_watch(request):
    return "watch=" in request.path


def begin_answer(request, answer, length=None):
    request.send_response(answer.status)
    request.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
    if length is not None:
        request.send_header("Content-Length", str(length))
    request.send_header("Connection", "close")
    request.end_headers()


# The reasons that the API server gives with an HTTP status.
REASONS = {403: "Forbidden", 409: "Conflict", 410: "Gone", 422: "Invalid", 429: "TooManyRequests",
           500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout"}


def refuse(request, status, message, headers=None):
    """Answers a request with an error, as the API server would."""
    text = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": REASONS[status],
                       "code": status, "message": message}).encode()
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(text)))
    request.send_header("Connection", "close")
    for key, value in (headers or {}).items():
        request.send_header(key, value)
    request.end_headers()
    request.wfile.write(text)


def end(connection):
    """Ends all reads from this connection, also in a thread that waits for the next line."""
    with contextlib.suppress(OSError):
        if connection.sock:
            connection.sock.shutdown(2)
