# SPDX-License-Identifier: Apache-2.0
"""Builds the packages of the commit that is checked out, and lets lintian check Debian packages."""

import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# The maintainer has no mail address.  No distribution has the packages, so none has a bug that asks for them.
TAGS_THAT_ARE_ACCEPTED = ("bogus-mail-host", "bogus-mail-host-in-debian-changelog", "initial-upload-closes-no-bugs")


def build(*options):
    built = subprocess.run([sys.executable, SOURCE / "packaging/build_packages.py", "--for-tests", "--release", *options],
                           check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.split()
    return [SOURCE / path for path in built]


def built_for_machines():
    """Returns the Debian packages that ./dev has built for the test machines, or none if they are not of this commit.

    The test machines have copies of these packages.
    """
    head = subprocess.run(["git", "-C", SOURCE, "rev-parse", "HEAD"], check=True, stdout=subprocess.PIPE).stdout
    # The file is written last.
    commit = SOURCE / "build/packages-of-machines/commit"
    is_current = commit.exists() and commit.read_bytes() == head
    return list((SOURCE / "build/packages").glob("*.deb")) if is_current else []


def copy_with_next_version(package, to):
    """Copies a package and changes its version only."""
    tree = to.with_suffix(".tree")
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN/control"
    # The other packages depend on exactly this version.
    control.write_text(re.sub(r"(?m)(^Version: |\(= )[0-9.]+", r"\g<0>+next", control.read_text()))
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, to], check=True,
                   stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)


def expect_no_tags(*files):
    """Checks that lintian finds nothing in packages, or in a file .changes and all that it names."""
    found = subprocess.run(["lintian", "--allow-root", "--fail-on=error,warning", "--profile=debian",
                            "--no-tag-display-limit", f"--suppress-tags={','.join(TAGS_THAT_ARE_ACCEPTED)}", *files],
                           stdout=subprocess.PIPE, encoding="utf-8", check=False)
    assert (found.returncode, found.stdout) == (0, "")
