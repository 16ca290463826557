# SPDX-License-Identifier: Apache-2.0
"""Proxies for the API server whose watches are late, or lose, repeat or reorder events.

They do nothing that a real API server cannot do.  Lists and single objects are unchanged.  Events of one watch keep
their order.  A watch that has lost an event ends, either with 410 Gone, or so that the client can resume it from before
the event.
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
    """Loses or repeats a part of the events.

    Each watch has its own delay, so that an event of one kind may arrive before an earlier one of another kind.
    """

    def __init__(self, cluster, user, seed, part=0.1):
        super().__init__(cluster, user)
        self.part, self.chance = part, random.Random(seed)
        self.done = {}    # The number of faults by kind.

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
    """Yields each line after late() seconds, and None each time that there is none for a while."""
    lines = queue.SimpleQueue()

    def read():
        line = True
        while line:
            try:
                line = answer.readline()
            except Exception:    # The connection was closed, in whatever way.
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
