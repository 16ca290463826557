#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that TRY does not stand inside the braces of an initializer, as in `Pair{First(), TRY(Second())}`.

If TRY returns there, GCC does not destroy the members that have been made before: memory leaks and descriptors stay
open. So the result of TRY is bound to a variable first. Before it looks at the sources, the program checks its own
rule.
"""

import re
import sys

import sources

RAW_TEXT = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"')
HIDDEN = re.compile(r'//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'')
TRY = re.compile(r"\bTRY\(")
# A brace after one of these begins a block. After anything else, such as a name, a comma or `=`, it begins an
# initializer.
BLOCK = re.compile(r"(?:^|[;{}:&)]"
                   r"|\b(?:else|do|try|const|noexcept|override|mutable|final)"
                   r"|-> [\w:<>,&*\s]+(?:decltype\([^;{}]*\)>?)?"
                   r"|\b(?:requires|namespace|struct|class|union|enum|concept)\b[^;{}()]*)\s*$")
CASES = {
    "return Pair{1, TRY(F())};": 1,
    "Pair a = {.b = TRY(F()), .c = TRY(G())};": 2,
    "list.push_back({a, TRY(F(b[0]))});": 1,
    "Call({a, Other(b, TRY(F()))});": 1,
    "Pair a{TRY(F())};": 1,
    "Result<> F() {\n  TRY(G());\n}": 0,
    "Result<> F() const && {\n  TRY(G());\n}": 0,
    "switch (a) {\n  case kB: {\n    TRY(G());\n  }\n}": 0,
    "Call({.done = [this](int a) -> Result<> { TRY(F(a)); return {}; }});": 0,
    "Call({.done = [&] { return TRY(F()); }});": 0,
    "class A {\n  A() : b_{1} { TRY(F()); }\n};": 0,
    "TRY(F({a, b}));": 0,
    "// Pair{TRY(F())}\nconst char* a = \"{TRY(\";": 0,
    "if (a) {\n  int b = '{';\n  TRY(F());\n}": 0,
    "template <typename T>\nResult<T> F(T a) requires C<T> {\n  TRY(G());\n}": 0,
    "auto F(A a) -> Result<decltype(g(a))> {\n  TRY(G());\n}": 0,
    "a->F({TRY(G())});\nF(a->b, {TRY(G())});": 2,
    "const auto a = [] {\n  TRY(F());\n};": 0,
}


def without_texts(code):
    """Returns the code with blanks instead of comments and literals; every other character keeps its place."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return HIDDEN.sub(blank, RAW_TEXT.sub(blank, code))


def opens_block(before):
    # A lambda without parameters ends in the bracket of its captures. An index is followed by no brace.
    return before.rstrip().endswith("]") or BLOCK.search(before) is not None


def lines_with_try_in_initializer(code):
    code = without_texts(code)
    calls = {match.start() for match in TRY.finditer(code)}
    lines, braces = [], []
    for at, character in enumerate(code):
        if character == "{":
            braces.append(opens_block(code[max(0, at - 400):at]))
        elif character == "}" and braces:
            braces.pop()
        elif at in calls and braces and not braces[-1]:
            lines.append(code.count("\n", 0, at) + 1)
    return lines


def self_test():
    for code, count in CASES.items():
        found = lines_with_try_in_initializer(code)
        if len(found) != count:
            sys.exit(f"initializers.py: expected {count} findings and got {found} in:\n{code}")
    print(f"{len(CASES)} cases are as expected")


def main():
    self_test()
    findings = sources.Findings()
    paths = sources.tracked("src/*.cc", "src/*.h")
    for path in paths:
        for line in lines_with_try_in_initializer(path.read_text(encoding="utf-8")):
            findings.add(path, line, "TRY stands in the braces of an initializer: bind its result to a variable first")
    findings.report(len(paths))


main()
