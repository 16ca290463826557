#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the spec file packages what Meson installs with the spec's options, each file once, and has Meson's
version.
"""

import json
import pathlib
import re
import subprocess
import tempfile

import sources

SPEC = sources.TOP / "packaging/pintle.spec"
# The directories of Fedora and RHEL.
MACROS = {"_prefix": "/usr", "_bindir": "/usr/bin", "_sbindir": "/usr/sbin", "_libexecdir": "/usr/libexec",
          "_datadir": "/usr/share", "_mandir": "/usr/share/man", "_unitdir": "/usr/lib/systemd/system",
          "_tmpfilesdir": "/usr/lib/tmpfiles.d", "_libdir": "/usr/lib64"}
DIRECTORIES = ["bindir", "sbindir", "libdir", "libexecdir", "datadir", "mandir"]


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
        if line.startswith("%") and not line.startswith(("%{_", "%dir ", "%license ", "%doc ")):
            is_list = words[0] == "%files"
        elif is_list and words and words[0].startswith("%{_"):
            # Manual pages are compressed when the package is built.
            files.setdefault(expanded(line).removesuffix("*"), []).append(number)
    return files


def installed(spec, build):
    """Returns what a build with the spec's options would install."""
    directories = [f"--{name}={MACROS['_' + name]}" for name in DIRECTORIES]
    subprocess.run(["meson", "setup", "--prefix=/usr", *directories, "-Dtests=false", *options(spec), build, sources.TOP],
                   check=True, stdout=subprocess.DEVNULL)
    plan = json.loads(subprocess.run(["meson", "introspect", build, "--installed"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    return set(plan.values())


def main():
    findings = sources.Findings()
    spec = SPEC.read_text(encoding="utf-8")
    version = re.search(r"(?m)^\s*version: '([^']+)'", (sources.TOP / "meson.build").read_text(encoding="utf-8"))[1]
    MACROS["version"] = version
    files = packaged(spec)
    with tempfile.TemporaryDirectory(prefix="pintle-lint-") as folder:
        there = installed(spec, pathlib.Path(folder) / "build")
    for path, lines in files.items():
        if path not in there:
            findings.add(SPEC, lines[0], f"{path} is not installed")
        for line in lines[1:]:
            findings.add(SPEC, line, f"{path} is in two lists")
    for path in sorted(there - set(files)):
        findings.add(SPEC, 1, f"{path} is installed and in no package")
    if f"Version:        {version}\n" not in spec:
        findings.add(SPEC, 1, f"its version is not {version}, as in meson.build")
    findings.report(len(files))


main()
