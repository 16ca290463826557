#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the calls that touch a file tree, in src/host and src/change, with a table in docs/security.md.

Each file with such a call has a row in the table, which names the calls and explains why no user can misuse them. A
call without a row is an error, and so is a row that names a call that the file does not have.
"""

import re
import sys

import sources

PAGE = "docs/security.md"
HEADING = "## Changing the file tree"
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| [^|]{20,} \|$")
# The names of functions that open or change entries of a file tree: of the system, of std::filesystem and of Root.
SYSTEM = ("open|openat|openat2|creat|rename|renameat|renameat2|unlink|unlinkat|rmdir|remove|mkdir|mkdirat|mknod|mknodat|"
          "symlink|symlinkat|link|linkat|chown|fchown|lchown|fchownat|chmod|fchmod|fchmodat|setxattr|fsetxattr|"
          "lsetxattr|removexattr|fremovexattr|lremovexattr|truncate|ftruncate|mount|umount2|utimensat")
FILESYSTEM = "remove|remove_all|create_director(?:y|ies)|rename|copy|copy_file|permissions|create_symlink|create_hard_link"
ROOT = "OpenFile|WriteFile|WriteLink|MakeDirectories|Remove"
CALLS = [re.compile(rf"(?<![\w>])::({SYSTEM})\("),
         re.compile(rf"(?:fs|filesystem)::({FILESYSTEM})\("),
         re.compile(rf"\b(?:\w*root_?|next)(?:\(\))?(?:\.|->)({ROOT})\("),
         # SYS_pidfd_open opens a process.
         re.compile(r"\b(SYS_(?!pidfd_)\w*(?:open|rename|unlink|mkdir|symlink|link|chown|chmod|setxattr)\w*)")]
COMMENT = re.compile(r"^\s*//")


def calls_in(path):
    """Returns {call: the first line that has it}."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if COMMENT.match(line):
            continue
        for pattern in CALLS:
            for match in pattern.finditer(line):
                found.setdefault(match[1], number)
    return found


def rows_of(page, findings):
    """Returns {file: (line, calls)}."""
    rows, is_in_section = {}, False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            is_in_section = line == HEADING
        match = ROW.match(line) if is_in_section else None
        if match:
            rows[match[1]] = (number, set(re.findall(r"`([^`]+)`", match[2])))
        elif is_in_section and line.startswith("| `"):
            findings.add(page, number, "this row needs a file, its calls, and a sentence that explains why they are safe")
    return rows


def main():
    findings = sources.Findings()
    page = sources.TOP / PAGE
    rows = rows_of(page, findings)
    if not rows:
        sys.exit(f"{PAGE}: the table under \"{HEADING}\" cannot be found")
    paths = sources.tracked("src/host/*.cc", "src/host/*.h", "src/change/*.cc", "src/change/*.h")
    for path in paths:
        name = str(path.relative_to(sources.TOP / "src"))
        found = calls_in(path)
        row, named = rows.pop(name, (1, set()))
        for call in sorted(set(found) - named):
            findings.add(path, found[call], f"calls {call}(): explain in the table of {PAGE} why no user can make it "
                                            f"touch another file")
        for call in sorted(named - set(found)):
            findings.add(page, row, f"{name} does not call {call}()")
    for name, (row, _) in rows.items():
        findings.add(page, row, f"there is no file {name}")
    findings.report(len(paths))


main()
