# SPDX-License-Identifier: Apache-2.0
"""Waiting for something to become true, never for a time to pass."""

import time


def wait_until(condition, what, seconds, every=0.02):
    """Returns the first true value of condition(); says what did not happen when the seconds are over."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: still not so after {seconds} s")
        time.sleep(every)
