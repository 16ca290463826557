#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares every include and every meson.build with the two tables of ARCHITECTURE.md.

The first table defines which folder may use which; an arrow also covers the folders that its target may use.  The
second table defines in which files a C library may be included.
"""

import fnmatch
import re
import sys

import sources

ARROW = re.compile(r"^(\w+)\s+->\s+(\([\w ]+\)|[\w, ]+?)(\s{2,}.*)?$")
LIBRARY = re.compile(r"^\| (`[^|]+`) \| (`[^|]+`) \|$")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
DEPENDENCIES = re.compile(r"^(\w+) = declare_dependency\(.*?dependencies: \[([^\]]*)\]", re.M | re.S)


def read_arrows(text):
    """Returns {folder: the folders that its arrows name}."""
    arrows = {}
    for line in text.splitlines():
        match = ARROW.match(line)
        if match:
            targets = match[2]
            arrows[match[1]] = set() if targets.startswith("(") else {t.strip() for t in targets.split(",")}
    return arrows


def read_libraries(text):
    """Returns [(patterns of headers, patterns of the files that may include them)]."""
    def names(cell):
        return [name.strip() for name in re.findall(r"`([^`]+)`", cell)]
    return [(names(m[1]), names(m[2])) for m in map(LIBRARY.match, text.splitlines()) if m]


def reach(arrows, folder):
    """Returns the folder itself and all that can be reached from it."""
    reached, to_visit = set(), [folder]
    while to_visit:
        current = to_visit.pop()
        if current not in reached:
            reached.add(current)
            to_visit.extend(arrows.get(current, ()))
    return reached


def check_include(arrows, path, number, target, findings):
    folder = path.relative_to(sources.TOP / "src").parts[0]
    used = target.split("/")[0]
    if folder not in arrows:
        findings.add(path, number, f"the folder {folder}/ has no line in the table of ARCHITECTURE.md")
    elif used not in arrows:
        findings.add(path, number, f'"{target}" is not in a folder of src/')
    elif used not in reach(arrows, folder):
        findings.add(path, number, f"{folder}/ may not use {used}/: ARCHITECTURE.md has no arrow {folder} -> {used}")


def check_library(libraries, path, number, header, findings):
    name = str(path.relative_to(sources.TOP / "src"))
    rows = [users for headers, users in libraries if any(fnmatch.fnmatch(header, pattern) for pattern in headers)]
    allowed = [user for users in rows for user in users]
    if rows and not any(fnmatch.fnmatch(name, pattern) for pattern in allowed):
        findings.add(path, number, f"<{header}> may be included only in {', '.join(allowed)} (ARCHITECTURE.md)")


def check_sources(arrows, libraries, findings):
    paths = sources.tracked("src/*.cc", "src/*.h", "src/*.in")
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match[1] == '"':
                check_include(arrows, path, number, match[2], findings)
            elif match:
                check_library(libraries, path, number, match[2], findings)
    return len(paths)


def check_meson(arrows, findings):
    """Checks that a folder is built with the folders that its arrows name, and with nothing else of ours."""
    for folder, targets in arrows.items():
        path = sources.TOP / "src" / folder / "meson.build"
        if not path.is_file():
            findings.add(path, 1, f"is missing: ARCHITECTURE.md names the folder {folder}/")
            continue
        declared = [m for m in DEPENDENCIES.finditer(path.read_text(encoding="utf-8")) if m[1] == folder]
        if not declared:
            findings.add(path, 1, f"declares no dependency named {folder}")
            continue
        used_folders = {name.strip() for name in declared[0][2].split(",")} & set(arrows)
        for extra in sorted(used_folders - targets):
            findings.add(path, 1, f"uses {extra}, but ARCHITECTURE.md has no arrow {folder} -> {extra}")
        for missing in sorted(targets - used_folders):
            findings.add(path, 1, f"does not use {missing}, but ARCHITECTURE.md has the arrow {folder} -> {missing}")


def main():
    text = (sources.TOP / "ARCHITECTURE.md").read_text(encoding="utf-8")
    arrows, libraries = read_arrows(text), read_libraries(text)
    if not arrows or not libraries:
        sys.exit("ARCHITECTURE.md: the table of arrows or that of libraries cannot be found")
    findings = sources.Findings()
    check_meson(arrows, findings)
    findings.report(check_sources(arrows, libraries, findings))


main()
