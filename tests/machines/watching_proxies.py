# SPDX-License-Identifier: Apache-2.0
"""Proxies for the API server whose watches are late, or lose, repeat or reorder events.

They do nothing that a real API server cannot do.  Lists and single objects are unchanged.  Events of one watch keep
their order.  After a lost event, the proxy ends the watch.  Either it first sends the error 410 Gone, possibly after
further events, so that the client lists the objects again; or it forwards nothing more, so that the client resumes the
watch from an earlier event and gets the lost one again.
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
    """Delays each event by `delay` seconds, and keeps the order of the events of a watch."""

    def __init__(self, cluster, user, delay=0):
        super().__init__(cluster, user)
        self.delay = delay

    def pass_on_events(self, request, answer):
        for line in _delayed_lines(answer, lambda: self.delay):
            if line:
                request.wfile.write(line)
                request.wfile.flush()


class UnreliableWatches(Proxy):
    """Loses or repeats each event with the probability `fault_rate`.

    Each watch has its own delay, so that an event of one kind may arrive before an earlier one of another kind.
    """

    def __init__(self, cluster, user, seed, fault_rate=0.1):
        super().__init__(cluster, user)
        self.fault_rate, self.random = fault_rate, random.Random(seed)
        self.faults = {}    # The number of faults so far, by kind.

    def pass_on_events(self, request, answer):
        delay = self.random.uniform(0, 0.3)
        for line in self._with_faults(_delayed_lines(answer, lambda: delay)):
            request.wfile.write(line)
            request.wfile.flush()

    def _with_faults(self, lines):
        """Yields the lines that the client gets, with the faults that the module describes."""
        for line in lines:
            fault = self._fault() if line else None
            if fault == "lost with all later events":
                return
            if fault == "lost":
                yield from _lines_until(time.monotonic() + self.random.choice((0, 1)), lines)
                yield _GONE
                return
            if line:
                yield line
            if fault == "twice":
                yield line

    def _fault(self):
        if self.random.random() >= self.fault_rate:
            return None
        fault = self.random.choice(("lost", "lost with all later events", "twice"))
        self.faults[fault] = self.faults.get(fault, 0) + 1
        return fault


def _lines_until(end, lines):
    """Yields the lines that arrive before the time `end`."""
    for line in lines:
        if time.monotonic() > end:
            return
        if line:
            yield line


def _delayed_lines(answer, delay):
    """Yields each line delay() seconds after it has arrived, and None each time that no line arrives for a while."""
    lines = queue.SimpleQueue()

    def read():
        line = True
        while line:
            try:
                line = answer.readline()
            except Exception:    # The connection was closed, in whatever way.
                line = b""
            lines.put((time.monotonic() + delay(), line))

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
