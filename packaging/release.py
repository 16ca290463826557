#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a release in build/release/VERSION, as `./dev release VERSION` does.

A release is made from a commit.  The newest section of CHANGELOG.md in this commit must have the version.  The release
has the source tarball, the Debian packages with their source package, the RPMs with their source RPM, the container
image of the controller with its bill of materials, the section of the changelog, and the checksums of all these.  All
times in them are the commit's.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import build_packages
from build_packages import TOP, git

CHECKSUMS = "SHA256SUMS"
PREVIOUS = "packaging/previous-release"


class Refused(Exception):
    """The release cannot be made; the message has the remedy."""


def section_of_changelog(version):
    """Returns the lines below the heading of a version, and checks that this version is the newest one."""
    text = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"(?m)^## (\S+).*$", text)
    if not headings or headings[0] != version:
        found = f"its first section is \"{headings[0]}\"" if headings else "it has no section"
        raise Refused(f"CHANGELOG.md: {found}; write the heading \"## {version}\" above the changes since the last "
                      f"release, and commit it")
    return re.split(r"(?m)^## .*$", text)[1].strip() + "\n"


def commit_of_previous_release():
    """Returns the commit whose packages the tests upgrade from."""
    lines = (TOP / PREVIOUS).read_text(encoding="utf-8").splitlines()
    (commit,) = [line for line in lines if not line.startswith("#")]
    return commit


def check_previous_release():
    """Checks that the tests of upgrades were about the last release.  In a clone without tags, checks nothing."""
    tags = git("tag", "--list", "v*", "--merged=HEAD^", "--sort=-version:refname").splitlines()
    commit = git("rev-parse", f"{tags[0]}^{{commit}}") if tags else None
    if commit not in (None, commit_of_previous_release()):
        raise Refused(f"{PREVIOUS} does not name the commit of {tags[0]}; write {commit} there, run `./dev test --nightly "
                      "packages`, and commit it")


def check(version):
    """Checks all that can be checked before something is built."""
    if git("status", "--porcelain"):
        raise Refused("the clone has edits that are not committed; commit or remove them")
    if version != build_packages.version_of_meson():
        raise Refused(f"meson.build has the version {build_packages.version_of_meson()}; write {version} there, and commit "
                      "it")
    spec = (TOP / "packaging/pintle.spec").read_text(encoding="utf-8")
    of_spec = re.search(r"(?m)^Version:\s*(\S+)", spec)[1]
    if of_spec != version:
        raise Refused(f"packaging/pintle.spec has the version {of_spec}; write {version} there, and commit it")
    tagged = git("rev-parse", "--verify", "--quiet", f"v{version}^{{commit}}", check=False)
    if tagged and tagged != git("rev-parse", "HEAD"):
        raise Refused(f"the tag v{version} is of another commit, {tagged}; choose another version")
    check_previous_release()
    return section_of_changelog(version)


def check_unchanged(commit):
    """Checks that all files are of one commit: each step reads the commit that is checked out at its time."""
    if git("rev-parse", "HEAD") != commit or git("status", "--porcelain"):
        raise Refused(f"the clone has changed since the release was begun from the commit {commit}; check this commit out, "
                      "and leave the clone alone until the release is made")


def build_packages_with(*options):
    """Builds packages, and returns their files."""
    built = subprocess.run([sys.executable, TOP / "packaging/build_packages.py", "--release", *options], check=True,
                           cwd=TOP, stdout=subprocess.PIPE, encoding="utf-8").stdout.split()
    return [TOP / path for path in built]


def make(version, changes, commit, output, options, builds, check_options):
    """Makes all files of the release in a folder.  The folder gets its name at the end, when it is complete and, if there
    are two builds, equal to the second one.
    """
    unfinished = output.with_name(f"{output.name}.unfinished")
    build_packages.empty_folder(unfinished)
    write_release_files(unfinished, version, changes, options, check_options)
    check_unchanged(commit)
    if builds == 2:
        compare_with_another_build(version, unfinished, options)
    shutil.rmtree(output, ignore_errors=True)
    unfinished.rename(output)


def write_release_files(output, version, changes, options, check_options):
    (output / "CHANGES.md").write_text(changes, encoding="utf-8")
    build_packages.write_tarball(f"pintle-{version}", output / f"pintle-{version}.tar.xz", "-6")
    debian = build_packages_with(*options)
    for package in [*debian, *build_packages_with("--source"), *build_packages_with("--rpm", *options, *check_options)]:
        shutil.copy(package, output)
    controller = next(package for package in debian if package.name.startswith("pintle-controller_"))
    with tempfile.TemporaryDirectory() as folder:
        image = pathlib.Path(folder) / "build/image"
        subprocess.run([sys.executable, TOP / "packaging/build_image.py", "--package", controller, "--output", image],
                       check=True, cwd=TOP, stdout=subprocess.DEVNULL)
        for part in [*image.glob("*.tar"), *image.glob("*.spdx.json")]:
            shutil.copy(part, output)
    names = sorted(path.name for path in output.iterdir())
    sums = subprocess.run(["sha256sum", *names], check=True, cwd=output, stdout=subprocess.PIPE).stdout
    (output / CHECKSUMS).write_bytes(sums)


def compare_with_another_build(version, output, options):
    """Makes the release again, from a clone in another folder and without the compiler's cache; compares the checksums.

    The unit tests are not run again.
    """
    with tempfile.TemporaryDirectory(prefix="another-folder-") as folder:
        clone = pathlib.Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", TOP, clone], check=True, umask=0o077)
        environment = os.environ | {"CCACHE_DISABLE": "1", "TZ": "Asia/Kolkata"}
        environment.pop("CCACHE_DIR", None)
        subprocess.run([sys.executable, clone / "packaging/release.py", version, "--no-tag", "--no-check", *options],
                       check=True, env=environment, umask=0o077, stdout=subprocess.DEVNULL)
        sums_of_clone = (clone / "build/release" / version / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    sums = (output / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    differing = sorted({line.split()[1] for line in set(sums) ^ set(sums_of_clone)})
    if differing:
        raise Refused(f"two builds of this commit differ in {', '.join(differing)}")
    print(f"A second build, in another folder, has the same {len(sums)} checksums.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", help="the version, such as 0.2.0")
    parser.add_argument("--twice", action="store_true",
                        help="build everything a second time, in another folder, and compare the checksums")
    parser.add_argument("--no-tag", action="store_true", help="do not tag the commit")
    parser.add_argument("--no-check", action="store_true", help="do not run the unit tests")
    parser.add_argument("--for-tests", action="store_true", help="compile as ./dev does, which is quick after `./dev build`")
    arguments = parser.parse_args()
    options = ["--for-tests"] if arguments.for_tests else []
    output = TOP / "build/release" / arguments.version
    try:
        changes = check(arguments.version)
        commit = git("rev-parse", "HEAD")
        make(arguments.version, changes, commit, output, options, builds=2 if arguments.twice else 1,
             check_options=[] if arguments.no_check else ["--check"])
        if not arguments.no_tag and not git("tag", "--list", f"v{arguments.version}"):
            git("tag", f"v{arguments.version}", commit)
            print(f"The commit has the tag v{arguments.version} now; publish it with `git push origin v{arguments.version}`.")
    except Refused as refused:
        sys.exit(f"release.py: {refused}")
    except subprocess.CalledProcessError as failed:
        # The program has printed its reason.
        words = " ".join(map(str, failed.cmd))
        sys.exit(f"release.py: `{words}` has failed with status {failed.returncode}; fix the error that is "
                 "printed above, and run this command again")
    except OSError as failed:
        sys.exit(f"release.py: {failed}; fix this, and run this command again")
    for path in sorted(output.iterdir()):
        print(path.relative_to(TOP))


main()
