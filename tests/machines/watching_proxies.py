# SPDX-License-Identifier: Apache-2.0
"""Ways to the API server on which what watches tell is late, is lost, comes twice, or in another order.

What no real API server does is not done: lists and single objects are as they are, within one watch the order stays, and
a watch that has lost an event ends, with 410 Gone or where it can be gone on with from before the event.
"""

import json
import queue
import random
import threading
import time

from .proxy import Proxy

_GONE = json.dumps({"type": "ERROR", "object": {
    "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410,
    "message": "a fault of the proxy: too old resource version"}}).encode() + b"\n"


class LateWatches(Proxy):
    """Each event comes `late` seconds after it has happened, in the order of its watch."""

    def __init__(self, cluster, user, late=0):
        super().__init__(cluster, user)
        self.late = late

    def pass_on_events(self, request, answer):
        for line in _late_lines(answer, lambda: self.late):
            if line:
                request.wfile.write(line)
                request.wfile.flush()


class UnreliableWatches(Proxy):
    """A part of the events is lost, or comes twice.

    Each watch is late in its own way, so that what happens to one kind is known before what happened earlier to another.
    """

    def __init__(self, cluster, user, seed, part=0.1):
        super().__init__(cluster, user)
        self.part, self.chance = part, random.Random(seed)
        self.done = {}    # How often each of it was done.

    def pass_on_events(self, request, answer):
        late = self.chance.uniform(0, 0.3)
        for line in self._spoilt(_late_lines(answer, lambda: late)):
            request.wfile.write(line)
            request.wfile.flush()

    def _spoilt(self, lines):
        for line in lines:
            fault = self._fault() if line else None
            if fault == "lost with all behind it":
                return
            if fault == "lost":
                yield from _until(time.monotonic() + self.chance.choice((0, 1)), lines)
                yield _GONE
                return
            if line:
                yield line
            if fault == "twice":
                yield line

    def _fault(self):
        if self.chance.random() >= self.part:
            return None
        fault = self.chance.choice(("lost", "lost with all behind it", "twice"))
        self.done[fault] = self.done.get(fault, 0) + 1
        return fault


def _until(end, lines):
    for line in lines:
        if time.monotonic() > end:
            return
        if line:
            yield line


def _late_lines(answer, late):
    """What comes, late() seconds later; and None each time that nothing does for a while."""
    lines = queue.SimpleQueue()

    def read():
        line = True
        while line:
            try:
                line = answer.readline()
            except Exception:    # However it was ended.
                line = b""
            lines.put((time.monotonic() + late(), line))

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            due, line = lines.get(timeout=0.2)
        except queue.Empty:
            yield None
            continue
        time.sleep(max(0.0, due - time.monotonic()))
        if not line:
            return
        yield line
