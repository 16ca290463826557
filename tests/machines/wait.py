# SPDX-License-Identifier: Apache-2.0
"""Waits for conditions, never for a fixed time."""

import time


FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.15


def wait_until(condition, what, seconds, every=None):
    """Returns the first true value of condition(); after the given seconds, raises TimeoutError with `what`.

    `what` is a text, or a function that returns one, so that the error describes the state at its time.

    The pauses between two calls of condition() become longer, because many conditions ask an API server, which would
    be busy with little else.  With `every`, all pauses have this length.
    """
    deadline = time.monotonic() + seconds
    pause = every or FIRST_PAUSE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"\"{what() if callable(what) else what}\" is not true after {seconds} s")
        time.sleep(pause)
        if not every:
            pause = min(pause * 1.2, LONGEST_PAUSE)
