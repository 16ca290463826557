# SPDX-License-Identifier: Apache-2.0
"""The packages of the commit that is checked out, built once for all tests."""

import os
import pathlib
import re
import shutil
import sys

import previous_release
import pytest
from built import build, built_for_machines, copy_with_next_version
from packaged_agent import NIGHTLY
from packaged_rpms import make_repositories

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Here, the test machines do not have Pintle: the tests install its packages.
os.environ.pop("PINTLE_PACKAGES", None)
# test_rpm.py and test_upgrade.py use configured.py of the integration tests.
sys.path.append(str(SOURCE / "tests/integration"))


@pytest.fixture(scope="session")
def debian_packages():
    """Returns the packages by their names."""
    return {path.name.partition("_")[0]: path for path in built_for_machines() or build()}


def write_next_version_of_journal(clone):
    """Edits the sources so that the journal has the next version of its format."""
    header = clone / "src/change/format.h"
    text, count = re.subn(r'(/journal\.json", )(\d+)', lambda match: f"{match[1]}{int(match[2]) + 1}", header.read_text())
    assert count == 1
    header.write_text(text)


@pytest.fixture(scope="session")
def repository(debian_packages, tmp_path_factory):
    """A folder with each package: NAME.deb, and NAME-next.deb, which differs in its version only.

    In the nightly run, it also has the packages of the previous release, NAME-previous.deb.
    """
    folder = tmp_path_factory.mktemp("packages")
    for name, package in debian_packages.items():
        shutil.copy(package, folder / f"{name}.deb")
        copy_with_next_version(package, folder / f"{name}-next.deb")
    if NIGHTLY:
        for name, package in previous_release.packages().items():
            shutil.copy(package, folder / f"{name}-previous.deb")
    return folder


@pytest.fixture(scope="session")
def next_format(repository, tmp_path_factory):
    """Adds the packages of a Pintle that writes the next version of the journal, NAME-next-format.deb."""
    built = tmp_path_factory.mktemp("next-format") / "packages"
    previous_release.build_commit("HEAD", "99", built, write_next_version_of_journal)
    for package in built.glob("*.deb"):
        shutil.copy(package, repository / f"{package.name.partition('_')[0]}-next-format.deb")


@pytest.fixture(scope="session")
def rpms():
    """Returns all RPMs by their names; `source` is the one with the sources."""
    return {"source" if path.name.endswith(".src.rpm") else path.name.rsplit("-", 2)[0]: path for path in build("--rpm")}


@pytest.fixture(scope="session")
def repositories(rpms, tmp_path_factory):
    """A folder with two repositories: `first` with the RPMs, and `next` with their next release."""
    folder = tmp_path_factory.mktemp("repositories")
    make_repositories(rpms, folder)
    return folder
