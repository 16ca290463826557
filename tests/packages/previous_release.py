# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of the previous release, whose commit packaging/previous-release names.

They are built as that commit builds them, once, and kept in the cache of the test machines.  No tag is needed.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from machines import cache

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILE = SOURCE / "packaging/previous-release"


def commit():
    (line,) = [line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return line


def is_known():
    """Returns whether this clone has the commit; a shallow clone can lack it."""
    return not subprocess.run(["git", "-C", SOURCE, "cat-file", "-e", f"{commit()}^{{commit}}"], check=False,
                              stderr=subprocess.DEVNULL).returncode


def packages():
    """Returns the packages by their names."""
    # The packages depend on the libraries of the distribution on which they were built.
    key = cache.recipe_key(commit(), pathlib.Path("/etc/os-release"))
    folder = cache.made_once("previous-release", key, _build)
    return {path.name.partition("_")[0]: path for path in folder.glob("*.deb")}


def _build(folder):
    if not is_known():
        raise RuntimeError(f"this clone lacks {commit()}, which packaging/previous-release names: `git fetch --unshallow` "
                           "gets all commits")
    # Until meson.build gets another version after a release, the packages of the release and those of today would have
    # the same version.  So the packages of the release get a version here that is older than all others.
    build_commit(commit(), f"0~{commit()[:12]}", folder)


def build_commit(revision, version, folder, edit=lambda clone: None):
    """Builds the Debian packages of a commit, perhaps with an edit, into a new folder."""
    with tempfile.TemporaryDirectory(prefix="pintle-") as scratch:
        clone = pathlib.Path(scratch) / "clone"

        def git(*words):
            subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-C", clone, *words], check=True)

        subprocess.run(["git", "clone", "--quiet", "--no-checkout", SOURCE, clone], check=True)
        git("checkout", "--quiet", "--detach", revision)
        edit(clone)
        git("commit", "--quiet", "--all", "--allow-empty", "--message=for a test")
        built = subprocess.run([sys.executable, clone / "packaging/build_packages.py", "--for-tests", "--version", version],
                               check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.split()
        folder.mkdir()
        for package in built:
            shutil.copy(clone / package, folder)
