# SPDX-License-Identifier: Apache-2.0
"""Waits for conditions, never for a fixed time."""

import time


def wait_until(condition, what, seconds, every=0.02):
    """Returns the first true value of condition(); after the given seconds, raises TimeoutError with `what`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"\"{what}\" is not true after {seconds} s")
        time.sleep(every)
