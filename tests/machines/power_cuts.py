# SPDX-License-Identifier: Apache-2.0
"""Instants for power cuts, spread over the time that an operation takes."""

import os
import random

SEED = int(os.environ.get("PINTLE_SEED", "1"))


def instants(count, seconds):
    """Returns instants in a random order, one in each of `count` equal parts of the time.

    PINTLE_SEED selects other instants.
    """
    generator = random.Random(SEED)
    chosen = [(part + generator.random()) * seconds / count for part in range(count)]
    generator.shuffle(chosen)
    return chosen
