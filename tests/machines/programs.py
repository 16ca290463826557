# SPDX-License-Identifier: Apache-2.0
"""Where Pintle's programs are: in a build folder, or where its packages install them.

PINTLE_BUILD names the build folder.  It is quick after an edit, and it always has the tests' own programs.  If
PINTLE_PACKAGES names a folder with Pintle's Debian packages, all test machines have these packages installed, and every
test uses the installed programs, units, and D-Bus files.
"""

import functools
import os
import pathlib

from . import cache
from .shell import run

BUILD_ON_MACHINE = "/run/pintle-build"    # The place at which a test machine mounts the build folder.
# The packages that are installed on all test machines, and those from which this machine takes programs.
_ON_MACHINES = ("pintle", "pintle-image")
_HERE = ("pintle", "pintle-controller")
_PLACES = {"pintle": ("src/ctl/pintle", "/usr/bin/pintle"), "pintled": ("src/agent/pintled", "/usr/sbin/pintled"),
           "pintle-controller": ("src/controller/pintle-controller", "/usr/sbin/pintle-controller")}


def are_installed():
    return "PINTLE_PACKAGES" in os.environ


def on_machine(name):
    """Returns the path of one of Pintle's programs on a test machine."""
    in_build, installed = _PLACES[name]
    return installed if are_installed() else f"{BUILD_ON_MACHINE}/{in_build}"


def here(name):
    """Returns the path of one of Pintle's programs for this machine."""
    in_build, installed = _PLACES[name]
    if are_installed():
        return _unpacked() / installed.lstrip("/")
    return pathlib.Path(os.environ.get("PINTLE_BUILD", "build"), in_build).absolute()


def folder_of_images():
    """Returns the folder for images that have Pintle's packages, or None for the cache, if the machines do not have them.

    It is beside the packages, because each clone has other packages, and its tests may run at the same time.
    """
    if not are_installed():
        return None
    folder = pathlib.Path(os.environ["PINTLE_PACKAGES"]).parent / "machines-with-packages"
    folder.mkdir(exist_ok=True)
    return folder


def packages_for_machines():
    """Returns the files of the packages that have to be installed on test machines; none without PINTLE_PACKAGES."""
    return [package(name) for name in _ON_MACHINES] if are_installed() else []


def package(name):
    """Returns the file of one of Pintle's packages."""
    folder = pathlib.Path(os.environ["PINTLE_PACKAGES"])
    found = list(folder.glob(f"{name}_*.deb"))
    if len(found) != 1:
        raise RuntimeError(f"PINTLE_PACKAGES is {folder}, which has {len(found)} files {name}_*.deb instead of one; "
                           "`./dev package` builds the packages in build/packages")
    return found[0]


@functools.cache
def _unpacked():
    packages = [package(name) for name in _HERE]

    def unpack(folder):
        for each in packages:
            run("dpkg-deb", "--extract", each, folder)
    return cache.made_once("programs", cache.recipe_key(*packages), unpack, folder_of_images())
