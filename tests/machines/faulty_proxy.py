# SPDX-License-Identifier: Apache-2.0
"""A way to the API server on which things go wrong: answers of 409, 429 and 500, lost connections, and watches that end.

It speaks plain HTTP on loopback and has the credentials of one user, for whom it asks.
"""

import contextlib
import http.client
import http.server
import json
import random
import threading
import time


class FaultyProxy(contextlib.AbstractContextManager):
    """`url` leads to the cluster as this user.  A part of the requests fails, and a watch lasts a second.

    What a watch tells can be late: by so many seconds for each event, behind all events before it.
    """

    def __init__(self, cluster, user, part=0.3, seed=1, late=0):
        self.cluster, self.user, self.part, self.late = cluster, user, part, late
        self.chance = random.Random(seed)
        self.failed = {}    # How often each way of failing was met.
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_any(self):
                proxy.serve(self)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_any

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def kubeconfig(self):
        """That of the user, with this way instead of the straight one, and no credentials."""
        config = json.loads(self.user.kubeconfig.read_text())
        for each in config["clusters"]:
            each["cluster"] = {"server": self.url}
        for each in config["users"]:
            each["user"] = {}
        return json.dumps(config)

    def serve(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        request.close_connection = True
        fault = self.chance.choice(("409", "429", "500", "lost", "lost after it")) \
            if self.chance.random() < self.part else None
        if fault:
            self.failed[fault] = self.failed.get(fault, 0) + 1
        if fault in ("409", "429", "500"):
            return self._refuse(request, int(fault))
        if fault == "lost":
            return None
        with contextlib.closing(self.cluster.connection(self.user.pair)) as connection:
            headers = {key: value for key, value in request.headers.items()
                       if key.lower() not in ("host", "content-length", "connection", "accept-encoding")}
            connection.request(request.command, request.path, body or None, headers)
            answer = connection.getresponse()
            is_watch = "watch=" in request.path
            if fault == "lost after it":
                # All that the server does has been done; a watch would tell of it for minutes.
                return None if is_watch else answer.read() and None
            return self._hand_on(request, answer, is_watch)

    def _refuse(self, request, status):
        reason = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError"}[status]
        text = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": status,
                           "message": f"a fault of the proxy: {reason}"}).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(text)))
        request.send_header("Connection", "close")
        request.end_headers()
        request.wfile.write(text)

    def _hand_on(self, request, answer, is_watch):
        request.send_response(answer.status)
        request.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
        request.send_header("Connection", "close")
        with contextlib.suppress(OSError, http.client.HTTPException):
            if not is_watch:
                text = answer.read()
                request.send_header("Content-Length", str(len(text)))
                request.end_headers()
                request.wfile.write(text)
                return
            request.end_headers()
            # The end of the second also ends a wait for the next line.
            timer = threading.Timer(1, lambda: answer.fp and answer.fp.raw._sock.shutdown(2))
            timer.start()
            until = time.monotonic() + 1
            while time.monotonic() < until and (line := answer.readline()):
                time.sleep(self.late)
                request.wfile.write(line)
                request.wfile.flush()
            timer.cancel()
