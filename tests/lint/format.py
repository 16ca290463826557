#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the spacing with clang-format; a finding has the place of the first difference."""

import difflib
import subprocess

import sources


def unformatted(paths):
    """Returns the files with findings.  One process reads them all, since starting clang-format takes four times as long
    as formatting a file."""
    found = subprocess.run(["clang-format", "--style=file", "--dry-run", "--ferror-limit=1", *map(str, paths)], check=True,
                           stderr=subprocess.PIPE, cwd=sources.TOP).stderr.decode()
    names = {line.partition(":")[0] for line in found.splitlines()}
    return [path for path in paths if str(path) in names]


def first_difference(path):
    before = path.read_text(encoding="utf-8").splitlines()
    after = subprocess.run(["clang-format", "--style=file", str(path)], check=True, stdout=subprocess.PIPE,
                           cwd=sources.TOP).stdout.decode().splitlines()
    for tag, start, _, wanted, wanted_end in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if tag != "equal":
            return start + 1, "\n".join(after[wanted:wanted_end])
    return None


def main():
    findings = sources.Findings()
    paths = sources.cpp_files()
    for path in unformatted(paths):
        difference = first_difference(path)
        if difference:
            line, wanted = difference
            findings.add(path, line, f"not formatted; run `clang-format -i {path.relative_to(sources.TOP)}`; wanted:\n{wanted}")
    findings.report(len(paths))


main()
