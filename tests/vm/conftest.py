# SPDX-License-Identifier: Apache-2.0
"""Virtual machines take minutes: all tests but the first are left to the nightly run (-m nightly)."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from machines.vm import Vm  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "nightly: takes minutes")


@pytest.fixture
def vm():
    with Vm() as machine:
        yield machine
