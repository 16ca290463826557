# SPDX-License-Identifier: Apache-2.0
"""A proxy for the API server that kills the client at a chosen write, before or after the server has received it."""

import json
import os
import random
import threading

from .proxy import Proxy

BEFORE, AFTER = "before", "after"
SAMPLE = 6    # The number of moments at which kill_at_moments() kills the client, except in the nightly run.


class DeadlyProxy(Proxy):
    """Counts writes.  At the write with the given number, calls kill(), and gives the client no answer.  If `moment` is
    AFTER, first forwards this write to the server.

    Of the writes to leases only the first counts, since the number of renewals depends on time.  A write counts only if
    its description contains the text `counted`.  The client may send further requests before kill() ends it; these
    requests still reach the server.
    """

    def __init__(self, cluster, user, number=0, moment=BEFORE, kill=None, counted=""):
        super().__init__(cluster, user)
        self.number, self.moment, self.kill, self.counted = number, moment, kill, counted
        self.writes = []    # Each is described by its method and path.
        self._writes_lock = threading.Lock()

    @property
    def fatal_write(self):
        """Returns the write at which the client was killed, or None if there were fewer writes."""
        return self.writes[self.number - 1] if 0 < self.number <= len(self.writes) else None

    def treat(self, request, body):
        if not (_is_write(request, body) and self._count(request) == self.number):
            return super().treat(request, body)
        if self.moment == AFTER:
            with self.forwarded(request, body) as answer:
                answer.read()
        self.kill()
        return None

    def _count(self, request):
        """Counts the write, and returns its number.  Returns None for a write that does not count."""
        write = f"{request.command} {request.path.split('?')[0]}"
        if self.counted not in write:
            return None
        with self._writes_lock:
            if "/leases" in write and any("/leases" in earlier for earlier in self.writes):
                return None
            self.writes.append(write)
            return len(self.writes)


def kill_at_moments(cluster, user, play):
    """Plays a story without a kill, and then with a kill before or after each of a sample of its writes.

    `play` gets the proxy, sets proxy.kill, and fails if the story ends otherwise than it should.  A kill before a write
    has reached the API server loses the write, and a kill after it loses only the answer.
    """
    with DeadlyProxy(cluster, user) as proxy:
        play(proxy)
        count = len(proxy.writes)
    moments = [(number, moment) for number in range(1, count + 1) for moment in (BEFORE, AFTER)]
    tried = moments if "PINTLE_NIGHTLY" in os.environ else _spread(moments, SAMPLE)
    failed, killed = {}, 0
    for number, moment in tried:
        with DeadlyProxy(cluster, user, number, moment) as proxy:
            try:
                play(proxy)
            except Exception as failure:  # pylint: disable=broad-exception-caught
                failed[f"{moment} write {number}, {proxy.fatal_write}"] = str(failure)
            killed += bool(proxy.fatal_write)
    print(f"the client makes {count} writes; of {len(moments)} moments to kill it, {len(tried)} were tried and {killed} "
          "were reached")
    assert not failed, "\n".join(f"{moment}: {why}" for moment, why in failed.items())
    # The number of writes differs between runs, so the last moments do not occur in each.
    assert killed >= 0.8 * len(tried)


def _spread(moments, count):
    """Returns this many of the moments, at equal distances; another PINTLE_SEED gives other moments."""
    distance = len(moments) / count
    offset = random.Random(int(os.environ.get("PINTLE_SEED", "1"))).random() * distance
    return [moments[int(offset + index * distance)] for index in range(count)]


def _is_write(request, body):
    # A dry run only asks whether an eviction would be allowed.
    is_dry = request.path.split("?")[0].endswith("/eviction") and "dryRun" in json.loads(body).get("deleteOptions", {})
    return request.command != "GET" and not is_dry
