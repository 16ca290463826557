# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on a loopback address that answers on a thread of its own, for services that a test plays itself."""

import http.server
import ssl
import threading


class LoopbackServer(http.server.ThreadingHTTPServer):
    """Answers inside `with`; with a certificate `pair`, over TLS."""

    def __init__(self, handler, pair=None):
        super().__init__(("127.0.0.1", 0), handler)
        if pair:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pair.certificate, pair.key)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self._thread = threading.Thread(target=self.serve_forever)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self._thread.join()
        self.server_close()
