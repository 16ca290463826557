# SPDX-License-Identifier: Apache-2.0
"""Tests `./dev release`: what it refuses before it builds, and the files of a release."""

import hashlib
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import previous_release
import pytest
from built import expect_no_tags

SOURCE = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"(?m)^\s*version: '([^']+)'", (SOURCE / "meson.build").read_text(encoding="utf-8"))[1]
NIGHTLY = "PINTLE_NIGHTLY" in os.environ


class Clone:
    """A clone of the last commit, in which a release can be prepared."""

    def __init__(self, folder):
        self.folder = folder
        self.git("clone", "--quiet", SOURCE, folder, cwd=None)
        # Tests that compile nothing need no sources.  Without them, a tarball is compressed in a moment.
        self.git("rm", "--quiet", "-r", "src", *(path for path in (folder / "tests").iterdir() if path.name != "packages"))
        self.git("commit", "--quiet", "--message", "remove the sources")
        self.git("branch", "without-sources")

    def reset(self, to="without-sources"):
        self.git("reset", "--quiet", "--hard", to)
        shutil.rmtree(self.folder / "build", ignore_errors=True)
        self.git("tag", "--delete", *self.tags())

    def tags(self, *options):
        return subprocess.run(["git", "-C", self.folder, "tag", *options], check=True, stdout=subprocess.PIPE,
                              encoding="utf-8").stdout.split()

    def git(self, *words, cwd="."):
        subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@localhost", *map(str, words)], check=True,
                       cwd=cwd and self.folder / cwd)

    def edit(self, path, pattern, replacement):
        """Replaces the first text that matches, and commits the edit."""
        file = self.folder / path
        text, count = re.subn(pattern, replacement, file.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
        assert count == 1
        file.write_text(text, encoding="utf-8")
        self.git("commit", "--quiet", "--all", "--message", f"edit {path}")

    def name_the_changes(self, version=VERSION):
        self.edit("CHANGELOG.md", "^## Unreleased$", f"## {version}")

    def release(self, *options, version=VERSION):
        return subprocess.run([sys.executable, self.folder / "packaging/release.py", version, *options], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", cwd="/")

    def refusal(self, **options):
        found = self.release(**options)
        assert found.returncode == 1 and not found.stdout
        assert not (self.folder / "build").exists()
        return found.stderr


@pytest.fixture(scope="module")
def one_clone(tmp_path_factory):
    return Clone(tmp_path_factory.mktemp("release") / "clone")


@pytest.fixture
def clone(one_clone):
    one_clone.reset()
    return one_clone


def test_edits_that_are_not_committed_are_refused(clone):
    (clone.folder / "README.md").write_text("", encoding="utf-8")
    assert "edits that are not committed; commit or remove them" in clone.refusal()


def test_a_version_other_than_that_of_the_sources_is_refused(clone):
    assert f"meson.build has the version {VERSION}; write 99.0 there" in clone.refusal(version="99.0")
    clone.edit("meson.build", f"version: '{VERSION}'", "version: '99.0'")
    assert f"packaging/pintle.spec has the version {VERSION}; write 99.0 there" in clone.refusal(version="99.0")


def test_changes_without_a_version_are_refused(clone):
    assert f'its first section is "Unreleased"; write the heading "## {VERSION}" above' in clone.refusal()


def test_a_version_of_another_commit_is_refused(clone):
    clone.git("tag", f"v{VERSION}")
    clone.name_the_changes()
    assert f"the tag v{VERSION} is of another commit" in clone.refusal()


def replace_builder(clone, lines):
    """Replaces the program that builds packages by one that runs only these lines, and commits it."""
    body = "".join(f"    {line}\n" for line in lines)
    clone.edit("packaging/build_packages.py", r"^def main\(\):$", f"def main():\n{body}\n\ndef unused_main():")


def test_a_build_that_fails_leaves_no_release(clone):
    replace_builder(clone, ["sys.exit('No space left on device')"])
    clone.name_the_changes()
    found = clone.release()
    assert found.returncode == 1 and not (clone.folder / "build/release" / VERSION).exists() and not clone.tags()
    assert "No space left on device\nrelease.py: `" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_commit_that_is_made_during_the_build_is_refused(clone):
    replace_builder(clone, [
        "subprocess.run(['git', '-C', TOP, '-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', "
        "'--quiet', '--allow-empty', '--message', 'meanwhile'], check=True)",
        "package = TOP / 'build/pintle-controller_1.deb'",
        "package.write_bytes(b'')",
        "print(package)"])
    clone.edit("packaging/build_image.py", r"^main\(\)$", "")
    clone.name_the_changes()
    found = clone.release()
    assert found.returncode == 1 and not (clone.folder / "build/release" / VERSION).exists() and not clone.tags()
    assert "the clone has changed since the release was begun" in found.stderr


def test_two_builds_that_differ_are_no_release(clone):
    replace_builder(clone, [
        "package = TOP / 'build/pintle-controller_1.deb'",
        "package.parent.mkdir(exist_ok=True)",
        "package.write_bytes(os.urandom(8))",
        "print(package)"])
    clone.edit("packaging/build_image.py", r"^main\(\)$", "")
    clone.name_the_changes()
    found = clone.release("--twice")
    assert found.returncode == 1 and not (clone.folder / "build/release" / VERSION).exists() and not clone.tags()
    assert "two builds of this commit differ in pintle-controller_1.deb" in found.stderr


def test_a_release_whose_upgrade_from_the_last_one_was_not_tested_is_refused(clone):
    clone.git("tag", "v0.0.9", "HEAD^")
    last = subprocess.run(["git", "-C", clone.folder, "rev-parse", "v0.0.9"], check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout.strip()
    assert f"packaging/previous-release does not name the commit of v0.0.9; write {last} there" in clone.refusal()
    clone.edit("packaging/previous-release", "^[0-9a-f]{40}$", last)
    assert "its first section is \"Unreleased\"" in clone.refusal()    # The next check.


def test_a_release_runs_the_unit_tests_once(clone):
    replace_builder(clone, [
        "print(*sys.argv[1:], file=open(os.environ['CALLS'], 'a', encoding='ascii'))",
        "package = TOP / 'build/pintle-controller_1.deb'",
        "package.parent.mkdir(exist_ok=True)",
        "package.write_bytes(b'')",
        "print(package)"])
    clone.edit("packaging/build_image.py", r"^main\(\)$", "")
    clone.name_the_changes()
    calls = clone.folder.with_name("calls")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CALLS", str(calls))
        made = clone.release("--twice")
    assert made.returncode == 0, made.stderr
    first = ["--release", "--release --source", "--release --rpm --check"]
    assert calls.read_text(encoding="ascii").splitlines() == [*first, *(call.replace(" --check", "") for call in first)]


def test_the_previous_release_is_a_commit_before_this_one():
    commit = previous_release.commit()
    assert re.fullmatch("[0-9a-f]{40}", commit)
    if previous_release.is_known():    # A shallow clone may lack it.
        subprocess.run(["git", "-C", SOURCE, "merge-base", "--is-ancestor", commit, "HEAD"], check=True)


def source_packages(clone, *options):
    """Builds the source packages of the last commit, and returns Debian's version and the release of the RPM."""
    builder = [sys.executable, clone.folder / "packaging/build_packages.py", "--source", *options]
    names = "".join(subprocess.run([*builder, *kind], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
                    for kind in ([], ["--rpm"]))
    return re.search(r"pintle_(\S+)\.dsc", names)[1], re.search(rf"pintle-{VERSION}-(\S+)\.src\.rpm", names)[1]


def test_packages_of_a_later_commit_are_newer_and_those_of_a_release_are_the_newest(clone, monkeypatch):
    versions = []
    for time in "2026-12-01T09:59:59Z", "2026-12-01T10:00:00Z":
        monkeypatch.setenv("GIT_COMMITTER_DATE", time)
        clone.git("commit", "--quiet", "--allow-empty", "--message", time)
        versions.append(source_packages(clone))
    versions.append(source_packages(clone, "--release"))
    assert versions[-1] == (f"{VERSION}-1", "1")
    for (debian, rpm), (newer_debian, newer_rpm) in itertools.pairwise(versions):
        subprocess.run(["dpkg", "--compare-versions", debian, "lt", newer_debian], check=True)
        compared = subprocess.run(["rpm", "--eval", f'%{{lua:print(rpm.vercmp("{rpm}", "{newer_rpm}"))}}'], check=True,
                                  stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()
        assert compared == "-1"


def test_the_source_packages_of_clones_with_different_umasks_and_times_are_the_same(clone, tmp_path):
    sums = []
    for umask in 0o022, 0o077:
        # The files of the clone have the permissions that the umask gives, too.
        folder = tmp_path / f"{umask:o}"
        subprocess.run(["git", "clone", "--quiet", clone.folder, folder], check=True, umask=umask)
        os.utime(folder / "packaging/pintle.spec", (umask, umask))    # Someone may have checked it out at any time.
        builder = [sys.executable, folder / "packaging/build_packages.py", "--source", "--release"]
        built = [subprocess.run([*builder, *kind], check=True, umask=umask, stdout=subprocess.PIPE,
                                encoding="utf-8").stdout.split() for kind in ([], ["--rpm"])]
        sums.append({path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in itertools.chain(*built)})
    assert sums[0] == sums[1] and len(sums[0]) == 4


def test_lintian_finds_nothing_in_the_source_package(clone, tmp_path):
    builder = [sys.executable, clone.folder / "packaging/build_packages.py", "--source", "--release"]
    built = subprocess.run(builder, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.split()
    folder = clone.folder / "build/packages"
    for path in [*(clone.folder / path for path in built), *(folder / "deb").glob("pintle_*.*")]:
        shutil.copy(path, tmp_path)
    changes, = tmp_path.glob("*_source.changes")
    expect_no_tags(changes)


def members(tarball):
    """Returns the files and links of a tarball, each as its name, its size and the target of a link."""
    with tarfile.open(tarball) as archive:
        return {(member.name, member.size, member.linkname) for member in archive if not member.isdir()}


def test_the_tarball_has_the_files_of_meson_dist(tmp_path):
    build = pathlib.Path(os.environ["PINTLE_BUILD"])
    subprocess.run(["meson", "dist", "-C", build, "--no-tests", "--formats=gztar", "--allow-dirty"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tarball = build / f"meson-dist/pintle-{VERSION}.tar.gz"
    ours = tmp_path / "ours.tar.xz"
    subprocess.run([sys.executable, "-c", "import build_packages, sys; build_packages.write_tarball(*sys.argv[1:])",
                    f"pintle-{VERSION}", ours, "-0"], cwd=SOURCE / "packaging", check=True)
    assert members(ours) == members(tarball)
    shutil.rmtree(tarball.parent)


@pytest.mark.skipif(not NIGHTLY, reason="building all packages twice takes minutes")
def test_two_builds_in_different_folders_are_the_same(clone):
    clone.reset(to="origin/HEAD")
    clone.name_the_changes()
    made = clone.release("--twice", "--no-check")
    assert made.returncode == 0, made.stderr
    assert "A second build, in another folder, has the same" in made.stdout
    folder = clone.folder / "build/release" / VERSION
    names = {path.name for path in folder.iterdir()}
    assert {f"pintle-{VERSION}.tar.xz", f"pintle_{VERSION}-1_amd64.deb", f"pintle_{VERSION}-1.dsc",
            f"pintle-{VERSION}-1.src.rpm", f"pintle-{VERSION}-1.x86_64.rpm", f"pintle-selinux-{VERSION}-1.noarch.rpm",
            f"pintle-debuginfo-{VERSION}-1.x86_64.rpm", f"pintle-controller-{VERSION}.tar", f"pintle-controller-{VERSION}.spdx.json",
            "CHANGES.md", "SHA256SUMS"} <= names
    sums = dict(reversed(line.split()) for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    assert sums == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names - {"SHA256SUMS"}}
    assert clone.tags("--points-at", "HEAD") == [f"v{VERSION}"]
