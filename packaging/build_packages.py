#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the Debian packages or the RPMs of the commit that is checked out, as `./dev package` does.

`./dev release` also uses this program to build the source packages.

The packages are built from a tarball of the commit, so edits that are not committed are not in them.  The same commit
gives the same packages, bit for bit, whatever the folder, the umask and the time.  This is not so with --for-tests.
"""

import argparse
import datetime
import email.utils
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
OUTPUT = TOP / "build/packages"
# Packages for tests are compiled with these options and without the distribution's flags.  So their objects are those
# of the build folder of ./dev, and ccache has them already.  Packages for people have the distribution's flags.
MESON_OPTIONS_OF_TESTS = ("--buildtype=debugoptimized -Dwerror=true -Dcpp_args=-g1 "
                          f"-Doptimization={2 if 'PINTLE_NIGHTLY' in os.environ else 1}")
# ./dev sets the same variables for its own builds, and its comments explain them.
CACHE = {"CCACHE_NOHASHDIR": "1", "CCACHE_DEPEND": "1", "CCACHE_PCH_EXTSUM": "1",
         "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime"}
# Fedora's macros, which Debian's rpmbuild lacks.
FEDORA_MACROS = TOP / "tests/packages/rpm/macros.d/macros.fedora"


def cache_folder():
    """Returns ccache's folder; debhelper gives the compiler another home directory, in which the cache would be empty."""
    return subprocess.run(["ccache", "--get-config", "cache_dir"], check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout.strip()


def git(*words, check=True):
    return subprocess.run(["git", "-C", TOP, *words], check=check, stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()


def version_of_meson():
    return re.search(r"(?m)^\s*version: '([^']+)'", (TOP / "meson.build").read_text(encoding="utf-8"))[1]


def empty_folder(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def archive_commit(name):
    """Returns a tarball of the commit that is checked out, with all files below the folder `name`."""
    if git("status", "--porcelain"):
        print("The packages are of the last commit, without the edits since then.", file=sys.stderr)
    return subprocess.run(["git", "-C", TOP, "archive", f"--prefix={name}/", "HEAD"], check=True,
                          stdout=subprocess.PIPE).stdout


def write_tarball(name, path, level):
    """Writes the tarball of the commit, compressed by one thread: several threads would give other bytes."""
    with open(path, "wb") as tarball:
        subprocess.run(["xz", level, "--threads=1"], input=archive_commit(name), stdout=tarball, check=True)


def seconds_of_commit():
    return int(git("log", "-1", "--format=%ct"))


def snapshot():
    """Returns the suffix of the versions of a commit that is no release.  Later commits have later suffixes."""
    when = datetime.datetime.fromtimestamp(seconds_of_commit(), datetime.timezone.utc)
    # "~" sorts before the end of a version, so a release is newer than the commits before it.
    return f"~git{when:%Y%m%d%H%M%S}.{git('rev-parse', 'HEAD')[:12]}"


def run_builder(command, log, environment, cwd=None):
    """Runs a program that builds packages.

    The output of the program goes to a file.  If the program fails, the last lines of the output are printed.
    """
    # ccache keeps the objects of each locale apart, and rpmbuild sets LANG.  So the compiler gets the caller's LANG.
    lang = f"LANG={os.environ['LANG']}" if "LANG" in os.environ else "--unset=LANG"
    of_caller = {name: value for name, value in os.environ.items() if name not in CACHE}
    environment = of_caller | {"SOURCE_DATE_EPOCH": str(seconds_of_commit()), "CXX": f"env {lang} ccache c++",
                               "CCACHE_DIR": cache_folder(), **environment}
    with open(log, "wb") as out:
        status = subprocess.run(command, cwd=cwd, env=environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                check=False).returncode
    if status:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:]
        sys.exit("\n".join([*lines, f"{command[0]} failed; {log} has all of its output"]))


def replace_output(folder, *patterns):
    """Moves the packages of a folder into the output folder, in place of those of the previous build.

    Returns the files of the packages.
    """
    packages = []
    for pattern in patterns:
        for earlier in OUTPUT.glob(pathlib.PurePath(pattern).name):
            earlier.unlink()
        packages += folder.glob(pattern)
    return [pathlib.Path(shutil.move(package, OUTPUT / package.name)) for package in sorted(packages)]


def changelog(version, revision):
    when = email.utils.format_datetime(datetime.datetime.fromtimestamp(seconds_of_commit(), datetime.timezone.utc))
    # packaging/build_image.py reads the commit from this text.
    return (f"pintle ({version}-{revision}) unstable; urgency=medium\n\n  * CHANGELOG.md lists what a user can notice.\n"
            f"  * Built from the commit {git('rev-parse', 'HEAD')}.\n\n"
            f" -- The Pintle authors <pintle@localhost>  {when}\n")


def build_deb(arguments):
    """Builds the Debian packages, and returns their files."""
    folder = OUTPUT / "deb"
    empty_folder(folder)
    subprocess.run(["tar", "--extract", f"--directory={folder}"], input=archive_commit("source"), check=True)
    source = folder / "source"
    shutil.copytree(source / "packaging/debian", source / "debian")
    version = arguments.version or version_of_meson()
    revision = "1" if arguments.version or arguments.release else f"1{snapshot()}"
    (source / "debian/changelog").write_text(changelog(version, revision), encoding="utf-8")
    command = ["dpkg-buildpackage", "--unsigned-source", "--unsigned-changes"]
    if arguments.source:
        write_tarball(f"pintle-{version}", folder / f"pintle_{version}.orig.tar.xz", "-6")
        run_builder([*command, "--build=source", "--no-pre-clean", "--no-check-builddeps"], folder / "build.log", {},
                    cwd=source)
        shutil.rmtree(source)
        return replace_output(folder, "*.dsc", "*.orig.tar.xz", "*.debian.tar.xz")
    options = [f"parallel={os.cpu_count()}", *([] if arguments.check else ["nocheck"])]
    environment = CACHE
    if arguments.for_tests:
        options.append("noautodbgsym")
        environment = environment | {"PINTLE_MESON_OPTIONS": MESON_OPTIONS_OF_TESTS}
        environment |= {f"DEB_{kind}_SET": "" for kind in ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS")}
        environment["DPKG_DEB_COMPRESSOR_LEVEL"] = "0"    # The default level takes most of the time.
    run_builder([*command, "--build=binary"], folder / "build.log",
                environment | {"DEB_BUILD_OPTIONS": " ".join(options)}, cwd=source)
    shutil.rmtree(source)
    return replace_output(folder, "*.deb")


def rpmbuild(stage, top, defines, check, environment):
    """Runs rpmbuild in the folder of the RPMs; `top` is this folder, or "." for a relative path to it."""
    folder = OUTPUT / "rpm"
    command = ["rpmbuild", stage, "--with" if check else "--without", "check"]
    if shutil.which("dpkg"):
        # BuildRequires has Fedora's names, and the packages of this machine are not in rpm's database.
        command += ["--nodeps", f"--load={FEDORA_MACROS}"]
    for macro, value in (defines | {"_topdir": top, "_sourcedir": top}).items():
        command += ["--define", f"{macro} {value}"]
    log = folder / ("source.log" if stage == "-bs" else "build.log")
    run_builder([*command, "pintle.spec"], log, environment, cwd=folder)


def build_rpm(arguments):
    """Builds the RPMs, and returns their files."""
    folder = OUTPUT / "rpm"
    empty_folder(folder)
    name = f"pintle-{version_of_meson()}"
    write_tarball(name, folder / f"{name}.tar.xz", "-1" if arguments.for_tests and not arguments.source else "-6")
    # The source RPM has the permissions and the times of these two files.
    shutil.copyfile(TOP / "packaging/pintle.spec", folder / "pintle.spec")
    for file in folder.iterdir():
        os.utime(file, (seconds_of_commit(), seconds_of_commit()))
    defines = {"_buildhost": "localhost", "use_source_date_epoch_as_buildtime": "1",
               "clamp_mtime_to_source_date_epoch": "1"}
    if not arguments.release:
        defines["pintle_snapshot"] = snapshot()
    # A source RPM has the text of the spec with all macros expanded.  With relative paths, the folder makes no
    # difference.  The source RPM requires what the unit tests need, whether they are run here or not.
    rpmbuild("-bs", ".", defines, True, {})
    if arguments.source:
        return replace_output(folder, "SRPMS/*.src.rpm")
    if arguments.for_tests:
        defines["pintle_meson_options"] = MESON_OPTIONS_OF_TESTS
        defines |= {f"build_{kind}flags": "%{nil}" for kind in ("c", "cxx", "ld")}
        defines["_binary_payload"] = "w1.gzdio"    # Compress quickly, as for Debian packages.
        # Objects from the cache name the folder in which they were compiled, so their sources may not be found.  The
        # package debugsource then has no files, which is an error for rpmbuild unless this macro is 0.
        defines["_empty_manifest_terminate_build"] = "0"
    # With -ba, the RPMs would have a digest of the source RPM that is built at the same time.
    rpmbuild("-bb", folder, defines, arguments.check, CACHE if arguments.for_tests else {})
    shutil.rmtree(folder / "BUILD")
    return replace_output(folder, "RPMS/*/*.rpm", "SRPMS/*.rpm")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rpm", action="store_true", help="build RPMs")
    parser.add_argument("--version", help="the version of the Debian packages, if not the one of meson.build")
    parser.add_argument("--release", action="store_true", help="leave the commit out of the packages' versions")
    parser.add_argument("--source", action="store_true", help="build the source package and compile nothing")
    parser.add_argument("--check", action="store_true", help="run the unit tests, too")
    parser.add_argument("--for-tests", action="store_true",
                        help="compile as ./dev does, which is quick after `./dev build`")
    arguments = parser.parse_args()
    if arguments.rpm and arguments.version:
        parser.error("--version is for Debian packages: the version of the RPMs is in packaging/pintle.spec")
    # Source packages have the permissions of the files that are written here.
    os.umask(0o022)
    for package in build_rpm(arguments) if arguments.rpm else build_deb(arguments):
        print(package.relative_to(TOP))


if __name__ == "__main__":
    main()
