# SPDX-License-Identifier: Apache-2.0
"""Machines for the tests: each test gets a fresh one."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from machines.node import Node  # noqa: E402


@pytest.fixture
def plain_node():
    with Node(plain=True) as machine:
        yield machine


@pytest.fixture
def node():
    with Node() as machine:
        yield machine
