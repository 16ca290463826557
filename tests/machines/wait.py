# SPDX-License-Identifier: Apache-2.0
"""Waits for conditions, never for a fixed time."""

import time


FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.15
# On some virtual machines, a page fault or a new process costs ten times as much as elsewhere.
_PATIENCE = 3


def wait_until(condition, what, seconds, every=None):
    """Returns the first true value of condition(); if there is none for too long, raises TimeoutError with `what`.

    `seconds` are enough on an idle machine. On a busy or slow machine, the wait may take a few times as long.

    `what` is a text, or a function that returns one, so that the error describes the state at its time.

    The pauses between two calls of condition() become longer, because many conditions ask an API server, which would
    be busy with little else.  With `every`, all pauses have this length.
    """
    seconds *= _PATIENCE
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
