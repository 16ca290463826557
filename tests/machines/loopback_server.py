# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on a loopback address that answers on threads of its own, for services that a test plays itself."""

import http.server
import ssl
import threading


class LoopbackServer(http.server.ThreadingHTTPServer):
    """Answers inside `with`; with a certificate `pair`, over TLS."""

    request_queue_size = 64    # If the queue were full, the next connection would wait for a second.

    def __init__(self, handler, pair=None):
        super().__init__(("127.0.0.1", 0), handler)
        self.host = f"127.0.0.1:{self.server_port}"
        if pair:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pair.certificate, pair.key)
            # The handshake is left to the thread of each connection.  accept() must not wait for a client that sends
            # nothing, because then the server would accept no other connection, and could not be shut down.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self._thread.join()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    """Handles the requests of one connection, without a log."""

    def read_body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def respond(self, status, body=b"", content_type="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
