# SPDX-License-Identifier: Apache-2.0
"""The packages of the commit that is checked out, built once for all tests."""

import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def build(*options):
    built = subprocess.run([sys.executable, SOURCE / "packaging/build_packages.py", "--for-tests", *options], check=True,
                           stdout=subprocess.PIPE, encoding="utf-8").stdout.split()
    return [SOURCE / path for path in built]


@pytest.fixture(scope="session")
def debian_packages():
    """Returns the packages by their names."""
    return {path.name.partition("_")[0]: path for path in build()}


@pytest.fixture(scope="session")
def rpms():
    """Returns all RPMs by their names; `source` is the one with the sources."""
    return {"source" if path.name.endswith(".src.rpm") else path.name.rsplit("-", 2)[0]: path for path in build("--rpm")}
