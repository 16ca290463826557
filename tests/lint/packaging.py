#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the spec file and Debian's lists package what Meson installs with their options, each file once, and that
the spec has Meson's version.

Also checks that the files of FIXED_FOLDERS go there with Meson's default prefix, which is /usr/local, and that the
packages can be built where only Build-Depends is installed and the builder is not root.
"""

import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import sources

SPEC = sources.TOP / "packaging/pintle.spec"
DEBIAN = sources.TOP / "packaging/debian"
# The directories that debhelper gives to Meson, on one of Debian's architectures.
DEBIAN_DIRECTORIES = ["--libdir=lib/x86_64-linux-gnu", "--sysconfdir=/etc", "--localstatedir=/var"]
# The directories of Fedora and RHEL.
MACROS = {"_prefix": "/usr", "_bindir": "/usr/bin", "_sbindir": "/usr/sbin", "_libexecdir": "/usr/libexec",
          "_datadir": "/usr/share", "_mandir": "/usr/share/man", "_unitdir": "/usr/lib/systemd/system",
          "_tmpfilesdir": "/usr/lib/tmpfiles.d", "_libdir": "/usr/lib64", "selinuxtype": "targeted"}
DIRECTORIES = ["bindir", "sbindir", "libdir", "libexecdir", "datadir", "mandir"]
# Each of these files is read by a program that looks nowhere else, except for a folder of the administrator.
FIXED_FOLDERS = {"io.pintle.Agent1.conf": ["/usr/share/dbus-1/system.d"],
                 "io.pintle.agent.policy": ["/usr/share/polkit-1/actions"],
                 "pintled.service": ["/lib/systemd/system", "/usr/lib/systemd/system"]}
# The unit tests of a folder need root if one of them includes these headers or prints such a message.
NEEDS_ROOT = re.compile(r'"support/(small_machine|two_deployments)\.h"|run this test as root|be root"')


def expanded(text):
    return re.sub(r"%\{(\w+)\}", lambda macro: MACROS.get(macro[1], macro[0]), text)


def options(spec):
    """Returns the options of the spec's call of Meson, without the one that turns tests on or off."""
    call = re.search(r"(?m)^%meson ((?:.*\\\n)*.*)", spec)[1].replace("\\\n", " ")
    return [expanded(word) for word in call.split() if word.startswith("-D") and not word.startswith("-Dtests=")]


def packaged(spec):
    """Returns the lines of the spec that name installed files: {path: [number of the line]}."""
    files, is_list = {}, False
    for number, line in enumerate(spec.splitlines(), 1):
        words = line.split()
        if line.startswith("%") and not line.startswith(("%{_", "%dir ", "%ghost ", "%license ", "%doc ")):
            is_list = words[0] == "%files"
        elif is_list and words and words[0].startswith("%{_"):
            # Manual pages are compressed when the package is built.
            files.setdefault(expanded(line).removesuffix("*"), []).append(number)
    return files


def installed(options, build, prefix="/usr"):
    """Returns what a build with these options would install."""
    subprocess.run(["meson", "setup", f"--prefix={prefix}", "-Dtests=false", *options, build, sources.TOP], check=True,
                   stdout=subprocess.DEVNULL)
    plan = json.loads(subprocess.run(["meson", "introspect", build, "--installed"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    return set(plan.values())


def check_default_prefix(findings, paths):
    """Checks the installed paths of a build with Meson's default prefix."""
    for name, folders in FIXED_FOLDERS.items():
        for path in paths:
            if path.endswith(f"/{name}") and path.removesuffix(f"/{name}") not in folders:
                findings.add(sources.TOP / "systemd/meson.build", 1, f"{path} is not in {' or '.join(folders)}, where "
                                                                     "its program looks")


def debian_options():
    """Returns the options in the first assignment of MESON in debian/rules."""
    rules = (DEBIAN / "rules").read_text(encoding="utf-8").replace("\\\n", " ")
    return re.search(r"(?m)^MESON = (.*)", rules)[1].split()


def check_debian(findings, paths):
    """Compares Debian's lists with the installed paths, and returns how many lines they have."""
    owners, lines = {}, 0
    for list_file in sorted(DEBIAN.glob("*.install")):
        for number, pattern in enumerate(list_file.read_text(encoding="utf-8").splitlines(), 1):
            lines += 1
            # A line can name a folder, too.
            matches = [path for path in paths if fnmatch.fnmatch(path, f"/{pattern}")
                       or fnmatch.fnmatch(path, f"/{pattern}/*")]
            if not matches:
                findings.add(list_file, number, f"/{pattern} is not installed")
            for path in matches:
                if path in owners:
                    findings.add(list_file, number, f"{path} is also in {owners[path]}")
                owners[path] = list_file.name
    for path in sorted(paths - set(owners)):
        findings.add(DEBIAN / "rules", 1, f"{path} is installed and in no list of packaging/debian")
    return lines


def check_build_depends(findings):
    """Checks that Build-Depends has the package of each library that Meson finds by pkg-config and cannot do without.

    Only Debian knows the packages.
    """
    if not shutil.which("dpkg-query"):
        return
    control = (DEBIAN / "control").read_text(encoding="utf-8")
    build_depends = re.findall(r"(?m)^ ([a-z0-9.+-]+)", control.partition("\nPackage:")[0])
    required = {}
    for path in sources.tracked("*meson.build"):
        if not path.is_relative_to(sources.TOP / "tests/bench"):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for name in re.findall(r"dependency\('([^']+)'(?!, required: false)", line):
                    required[f"{name}.pc"] = (path, number)
    # The search fails because a few libraries, such as Boost, have no file for pkg-config.
    listed = subprocess.run(["dpkg-query", "--search", *(f"*/pkgconfig/{file}" for file in required)], check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8").stdout
    for package, file in re.findall(r"(?m)^([a-z0-9.+-]+)(?::\w+)?: .*/([^/]+)$", listed):
        if file in required and package not in build_depends:
            findings.add(*required[file], f"{package}, which has {file}, is not in Build-Depends of packaging/debian/control")


def check_suite_root(findings):
    """Checks that each folder of unit tests that needs root is in the suite "root"."""
    lists = sources.TOP / "tests/unit/meson.build"
    in_suite = re.search(r"(?m)^need_root = \[(.*)\]", lists.read_text(encoding="utf-8"))[1]
    for path in sources.tracked("tests/unit/*.cc", "tests/unit/*.h"):
        folder = path.relative_to(sources.TOP / "tests/unit").parts[0]
        if NEEDS_ROOT.search(path.read_text(encoding="utf-8")) and f"'{folder}'" not in in_suite:
            findings.add(path, 1, f"it needs root, so '{folder}' has to be in need_root of tests/unit/meson.build")


def main():
    findings = sources.Findings()
    check_build_depends(findings)
    check_suite_root(findings)
    spec = SPEC.read_text(encoding="utf-8")
    version = re.search(r"(?m)^\s*version: '([^']+)'", (sources.TOP / "meson.build").read_text(encoding="utf-8"))[1]
    MACROS["version"] = version
    files = packaged(spec)
    with tempfile.TemporaryDirectory(prefix="pintle-lint-") as folder:
        directories = [f"--{name}={MACROS['_' + name]}" for name in DIRECTORIES]
        installed_paths = installed([*directories, *options(spec)], pathlib.Path(folder) / "rpm")
        debian_paths = installed([*DEBIAN_DIRECTORIES, *debian_options()], pathlib.Path(folder) / "deb")
        check_default_prefix(findings, installed([], pathlib.Path(folder) / "default", prefix="/usr/local"))
    for path, lines in files.items():
        if path not in installed_paths:
            findings.add(SPEC, lines[0], f"{path} is not installed")
        for line in lines[1:]:
            findings.add(SPEC, line, f"{path} is in two lists")
    for path in sorted(installed_paths - set(files)):
        findings.add(SPEC, 1, f"{path} is installed and in no package")
    if f"Version:        {version}\n" not in spec:
        findings.add(SPEC, 1, f"its version is not {version}, as in meson.build")
    findings.report(len(files) + check_debian(findings, debian_paths))


main()
