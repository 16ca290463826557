# SPDX-License-Identifier: Apache-2.0
"""A proxy for the API server with faults: answers of 409, 429 and 500, lost connections, and watches that end early."""

import json
import random
import threading
import time

from .proxy import Proxy, is_watch


class FaultyProxy(Proxy):
    """Makes a part of the requests fail, and ends each watch after a second.

    With `late`, it delays each event of a watch by that many seconds after the event before it.
    """

    def __init__(self, cluster, user, part=0.3, seed=1, late=0):
        super().__init__(cluster, user)
        self.part, self.late = part, late
        self.chance = random.Random(seed)
        self.failed = {}    # The number of faults by kind.

    def treat(self, request, body):
        fault = self.chance.choice(("409", "429", "500", "lost", "lost after it")) \
            if self.chance.random() < self.part else None
        if fault:
            self.failed[fault] = self.failed.get(fault, 0) + 1
        if fault in ("409", "429", "500"):
            return self._refuse(request, int(fault))
        if fault == "lost":
            return None
        with self.forwarded(request, body) as answer:
            if fault == "lost after it":
                # The server has handled the request by then.  A watch is not read to its end, which would take minutes.
                return None if is_watch(request) else answer.read() and None
            return self.answer(request, answer)

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

    def pass_on_events(self, request, answer):
        # After a second, this also ends a blocking read of the next line.
        timer = threading.Timer(1, lambda: answer.fp and answer.fp.raw._sock.shutdown(2))
        timer.start()
        until = time.monotonic() + 1
        try:
            while time.monotonic() < until and (line := answer.readline()):
                time.sleep(self.late)
                request.wfile.write(line)
                request.wfile.flush()
        finally:
            timer.cancel()
