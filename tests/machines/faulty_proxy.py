# SPDX-License-Identifier: Apache-2.0
"""A proxy for the API server with faults: answers of 409, 429 and 500, lost connections, and watches that end early."""

import random
import threading
import time

from .proxy import REASONS, Proxy, is_watch, refuse


class FaultyProxy(Proxy):
    """Makes requests fail with the probability `fault_rate`, and ends each watch after a second.

    With `delay`, it waits that many seconds before it forwards each event of a watch.
    """

    def __init__(self, cluster, user, fault_rate=0.3, seed=1, delay=0):
        super().__init__(cluster, user)
        self.fault_rate, self.delay = fault_rate, delay
        self.random = random.Random(seed)
        self.faults = {}    # The number of faults by kind.

    def treat(self, request, body):
        fault = self.random.choice(("409", "429", "500", "lost", "lost after forwarding")) \
            if self.random.random() < self.fault_rate else None
        if fault:
            self.faults[fault] = self.faults.get(fault, 0) + 1
        if fault in ("409", "429", "500"):
            return refuse(request, int(fault), f"a fault of the proxy: {REASONS[int(fault)]}")
        if fault == "lost":
            return None
        with self.forwarded(request, body) as answer:
            if fault == "lost after forwarding":
                # The server has handled the request by then.  A watch is not read to its end, which would take minutes.
                return None if is_watch(request) else answer.read() and None
            return self.answer(request, answer)

    def pass_on_events(self, request, answer):
        # After a second, this also ends a blocking read of the next line.
        timer = threading.Timer(1, lambda: answer.fp and answer.fp.raw._sock.shutdown(2))
        timer.start()
        until = time.monotonic() + 1
        try:
            while time.monotonic() < until and (line := answer.readline()):
                time.sleep(self.delay)
                request.wfile.write(line)
                request.wfile.flush()
        finally:
            timer.cancel()
