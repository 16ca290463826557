#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every file with code names its licence in its first lines (a script's first line names its interpreter).
"""

import sources

WANTED = "SPDX-License-Identifier: Apache-2.0"
KINDS = ["*.cc", "*.h", "*.in", "*.py", "*.sh", "*.bash", "*.build", "*meson_options.txt", "dev", ".ci/run", "man/*.[0-9]",
         "*.service", "*.spec", ".clang-format", ".clang-tidy", ".editorconfig"]


def main():
    findings = sources.Findings()
    paths = sources.tracked(*KINDS)
    for path in paths:
        first_lines = path.read_text(encoding="utf-8").splitlines()[:3]
        if not any(WANTED in line for line in first_lines):
            findings.add(path, 1, f"does not contain \"{WANTED}\"")
    findings.report(len(paths))


main()
