# SPDX-License-Identifier: Apache-2.0
"""Runs tests that are marked `nightly` only if PINTLE_NIGHTLY is set, as `./dev test --nightly` does, because tests on
virtual machines take minutes.
"""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from machines.vm import Vm  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "nightly: takes minutes")


def pytest_collection_modifyitems(config, items):
    if os.environ.get("PINTLE_NIGHTLY"):
        return
    nightly = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=nightly)
    items[:] = [item for item in items if item not in nightly]


@pytest.fixture
def vm():
    with Vm() as machine:
        yield machine
