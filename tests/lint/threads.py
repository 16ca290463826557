#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that threads are started by StartThread() of src/base/thread.h only.

std::thread throws if there can be no more threads, and nothing in src/ catches that. So a std::thread may be declared,
to hold the result of StartThread(), but not constructed with a function.
"""

import re

import sources

STARTS = sources.TOP / "src/base/thread.h"
DECLARED = re.compile(r"\bstd::thread \w+(;| = TRY\(StartThread\()")
MADE = re.compile(r"\bstd::(thread|jthread|async)\b|\b(pthread_create|thrd_create)\(")
COMMENT = re.compile(r"^\s*//")


def main():
    findings = sources.Findings()
    paths = sources.tracked("src/*.cc", "src/*.h")
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if path == STARTS or COMMENT.match(line):
                continue
            if MADE.search(DECLARED.sub("", line)):
                findings.add(path, number, "threads are started by StartThread() of base/thread.h, which does not throw")
    findings.report(len(paths))


main()
