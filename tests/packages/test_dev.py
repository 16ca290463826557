# SPDX-License-Identifier: Apache-2.0
"""Tests what `./dev package`, `./dev image` and `./dev release` install on a machine that has no packages yet."""

import pathlib
import re
import shutil

import pytest

from machines import shell
from machines.namespace import OWN_MOUNTS

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Debian's packages of these names in Build-Depends.
REAL_NAMES = {"debhelper-compat": "debhelper", "pkgconf": "pkg-config"}


@pytest.fixture
def installed_by(tmp_path):
    """Returns a function that runs ./dev on a machine without packages, and returns the packages that it installs."""
    asked = tmp_path / "asked"
    fakes = {"dpkg-query": "exit 1", "apt-get": f'[ "$1" = update ] || {{ echo "$@" >{asked}; exit 1; }}'}
    for name, text in fakes.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    mounts = "".join(f"mount --bind {tmp_path / name} {shutil.which(name, path='/usr/bin')}\n" for name in fakes)

    def packages(*words):
        asked.unlink(missing_ok=True)
        with open(tmp_path / "output", "w", encoding="utf-8") as output:
            ended = shell.run(*OWN_MOUNTS, "sh", "-ec", f'{mounts}exec "$@"', "sh", SOURCE / "dev", *words, check=False,
                              stdout=output, stderr=output)
        assert ended.returncode and asked.exists(), (tmp_path / "output").read_text(encoding="utf-8")
        return {word for word in asked.read_text(encoding="ascii").split() if word[0] != "-"} - {"install"}
    return packages


def test_packages_and_the_image_are_built_without_what_only_the_tests_need(installed_by):
    control = (SOURCE / "packaging/debian/control").read_text(encoding="utf-8").partition("\nPackage:")[0]
    build_depends = {REAL_NAMES.get(name, name) for name in re.findall(r"(?m)^ ([a-z0-9.+-]+)", control)}
    package = installed_by("package")
    # `./dev package` itself uses the others.
    assert build_depends <= package
    assert package - build_depends == {"ca-certificates", "ccache", "dpkg-dev", "g++", "git", "ninja-build", "xz-utils"}
    rpm, image = installed_by("package", "--rpm"), installed_by("image")
    assert rpm - package == {"cpio", "debugedit", "elfutils", "rpm", "selinux-policy-dev"} and package <= rpm
    assert image == package | {"binutils"}
    assert installed_by("release", "0.1.0") == rpm | image
    assert installed_by("deps") > rpm | image | {"chromium", "golang-go"}
    assert installed_by("deps", "build") < package


def test_a_group_that_does_not_exist_is_refused():
    ended = shell.run(SOURCE / "dev", "deps", "builds", check=False)
    assert (ended.returncode, ended.stderr) == (
        1, 'dev: there is no group of packages "builds"; the groups are all, build, package, rpm and image\n')
