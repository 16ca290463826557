#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that messages cannot contain a secret of a document (docs/security.md, "Texts that leave the process").

Messages contain only those keys of a document that known_keys.cc lists, so each key that we read has to be listed. A
library's message about a text may contain a part of the text. So only json/parse.cc uses such messages, and removes
that part.
"""

import re

import sources

KNOWN = sources.TOP / "src/json/known_keys.cc"
CUTS_OUT = sources.TOP / "src/json/parse.cc"
FIELD = re.compile(r'\b(?:Field|Required)\{"([^"]+)"')
TEXT = re.compile(r'"([^"]+)"')


def folded(key):
    """Folds a key as IsKnownKey() does."""
    return re.sub("[_-]", "", key).lower()


def main():
    findings = sources.Findings()
    known = {folded(key) for key in TEXT.findall(KNOWN.read_text(encoding="utf-8"))}
    paths = sources.tracked("src/*.cc", "src/*.h")
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for key in FIELD.findall(line):
                if folded(key) not in known:
                    findings.add(path, number, f"the key {key} is missing in src/json/known_keys.cc")
            if ".what()" in line and path != CUTS_OUT:
                findings.add(path, number, "what() may contain a part of the input: see src/json/parse.cc")
    findings.report(len(paths))


main()
