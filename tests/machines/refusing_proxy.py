# SPDX-License-Identifier: Apache-2.0
"""A proxy for the API server that always refuses chosen requests, and counts them."""

import threading
import time

from .proxy import Proxy, refuse


class Refusal:
    """Requests that are refused with this status and message; with the status None, they get no answer.

    A request matches if it has the method, its path ends with `path`, and its body contains `having` but not `without`.
    """

    def __init__(self, message, status, method, path, having=b"", without=b"\0", headers=()):
        self.message, self.status, self.headers = message, status, dict(headers)
        self._method, self._path, self._having, self._without = method, path, having, without
        self._times = []

    def matches(self, request, body):
        return request.command == self._method and request.path.split("?")[0].endswith(self._path) \
            and self._having in body and self._without not in body

    def count(self):
        self._times.append(time.monotonic())

    def seconds(self):
        """Returns the time since the first refusal, or 0 if there was none."""
        return time.monotonic() - self._times[0] if self._times else 0

    def count_in_first_minute(self):
        return sum(moment <= self._times[0] + 60 for moment in self._times)


class RefusingProxy(Proxy):
    def __init__(self, cluster, user, refusals):
        super().__init__(cluster, user)
        self.refusals = refusals
        self._ended = threading.Event()

    def __exit__(self, *failure):
        self._ended.set()
        super().__exit__(*failure)

    def treat(self, request, body):
        refusal = next((each for each in self.refusals if each.matches(request, body)), None)
        if refusal is None:
            return super().treat(request, body)
        refusal.count()
        if refusal.status is None:
            self._ended.wait()
            return None
        return refuse(request, refusal.status, refusal.message, refusal.headers)
