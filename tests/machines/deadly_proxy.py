# SPDX-License-Identifier: Apache-2.0
"""A way to the API server on which the one who writes dies at a write, before it has reached the server or after it."""

import json
import threading

from .proxy import Proxy

BEFORE, AFTER = "before", "after"


class DeadlyProxy(Proxy):
    """Counts writes.  At the one of this number it calls kill(), and nobody hears what the server said to it.

    The renewals of a lease do not count: how many there are is a matter of time.  What is behind the fatal write at that
    moment still comes to the server.
    """

    def __init__(self, cluster, user, number=0, moment=BEFORE, kill=None):
        super().__init__(cluster, user)
        self.number, self.moment, self.kill = number, moment, kill
        self.writes = []    # What each was.
        self._counting = threading.Lock()

    @property
    def fatal(self):
        """The write at which somebody was killed; nothing if there were not as many."""
        return self.writes[self.number - 1] if 0 < self.number <= len(self.writes) else None

    def treat(self, request, body):
        if not (_is_write(request, body) and self._counted(request) == self.number):
            return super().treat(request, body)
        if self.moment == AFTER:
            with self.asked(request, body) as answer:
                answer.read()
        self.kill()
        return None

    def _counted(self, request):
        """The number of this write; nothing for one that does not count."""
        what = f"{request.command} {request.path.split('?')[0]}"
        with self._counting:
            if "/leases" in what and any("/leases" in write for write in self.writes):
                return None
            self.writes.append(what)
            return len(self.writes)


def _is_write(request, body):
    # One that is not in earnest only asks whether an eviction could be.
    is_dry = request.path.endswith("/eviction") and "dryRun" in json.loads(body).get("deleteOptions", {})
    return request.command != "GET" and not is_dry
