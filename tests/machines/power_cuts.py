# SPDX-License-Identifier: Apache-2.0
"""Power cuts of virtual machines, and instants for them that are spread over the time that an operation takes."""

import os
import random
import re
import time

from .supervised import MachineDied

SEED = int(os.environ.get("PINTLE_SEED", "1"))
EMULATOR_FAILED = re.compile(r"qemu-system-\w+: .*Assertion .* failed")


def instants(count, seconds):
    """Returns instants in a random order, one in each of `count` equal parts of the time.

    PINTLE_SEED selects other instants.
    """
    generator = random.Random(SEED)
    chosen = [(part + generator.random()) * seconds / count for part in range(count)]
    generator.shuffle(chosen)
    return chosen


def cut_power(vm, seconds):
    """Cuts the power after some seconds, in which the machine may reboot."""
    deadline = time.monotonic() + seconds
    vm.kill_after(seconds)
    if time.monotonic() < deadline:
        vm.start_and_kill_after(deadline - time.monotonic())


def start_after_cut(vm):
    """Starts the machine. A failure of QEMU itself, which happens once in some hundred boots, counts as a power cut."""
    for _ in range(3):
        try:
            return vm.start()
        except MachineDied as died:
            if not EMULATOR_FAILED.search(str(died)):
                raise
            print(f"{died}", flush=True)
    return vm.start()
