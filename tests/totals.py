#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up the JUnit files of the given builds, and prints one line at the end: N passed, N failed, N skipped.

A suite in which no test ran counts as a failure, because something was not tested. So does a file that is not
well-formed.
"""

import pathlib
import sys
import xml.etree.ElementTree


def count(path):
    """Returns (passed, failed, skipped) of one JUnit file."""
    failed = skipped = total = 0
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        total += 1
        failed += case.find("failure") is not None or case.find("error") is not None
        skipped += case.find("skipped") is not None
    return total - failed - skipped, failed, skipped


def files_of(build):
    """Returns the files that Meson wrote.  If a test runs pytest, the file that pytest wrote replaces Meson's file."""
    results = build / "test-results"
    by_pytest = {path.stem for path in results.glob("*.xml")}
    for path in sorted((build / "meson-logs").glob("*.junit.xml")):
        if path.name.removesuffix(".junit.xml") not in by_pytest:
            yield path
    yield from sorted(results.glob("*.xml"))


def main(builds):
    totals = [0, 0, 0]
    complaints = []
    for build in map(pathlib.Path, builds):
        for path in files_of(build):
            name = path.name.removesuffix(".xml").removesuffix(".junit")
            try:
                counts = count(path)
            except xml.etree.ElementTree.ParseError as error:
                totals[1] += 1
                complaints.append(f"{path} cannot be read: {error}")
                continue
            print(f"{build.name + '/' + name:28} {counts[0]:5} passed {counts[1]:3} failed {counts[2]:3} skipped")
            totals = [a + b for a, b in zip(totals, counts)]
            if sum(counts) == 0:
                complaints.append(f"no test ran in {build.name}/{name}")
    for complaint in complaints:
        print(complaint)
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] or complaints or totals[0] == 0 else 0


sys.exit(main(sys.argv[1:]))
