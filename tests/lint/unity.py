#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no two files of a folder give the same name to different things, so that a unity build works.

The folders are those of src/ and tests/unit/, and tests/vectors/generated.

A unity build (`meson setup -Dunity=on`) includes the sources of a target one after the other.  Each file then sees the
anonymous namespaces of the files before it.  Two definitions of one name do not compile.  Two functions of one name
become overloads of each other.  A name in an anonymous namespace can hide the same name of an enclosing namespace from
the next files.  Overloads and hidden names can compile, with another meaning than intended.

This check understands the C++ that is usual in Pintle, not the whole language.
"""

import collections
import re

import sources

LITERAL_OR_COMMENT = re.compile(r'R"(?P<mark>[^(\s"]*)\((?:.|\n)*?\)(?P=mark)"'
                                r'|(?P<comment>//[^\n]*|/\*(?:.|\n)*?\*/)'
                                r'|"(?:\\.|[^"\\\n])*"'
                                r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'")
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
NAMESPACE = re.compile(r"^(?:inline )?namespace(?: ([\w:]+))?$")
LINKAGE = re.compile(r'^extern ""$')
OPERAND = re.compile(r"\b(?:requires|decltype|noexcept|alignas) ?(?=\()")
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class| struct)?) (?!.*\()")
ALIAS = re.compile(r"^(?:using|namespace) (?!namespace )(?:[\w:]+::)?(\w+)$")
ATTRIBUTES = re.compile(r"^(?:\[\[[^]]*\]\] )+")
# TEST() and similar macros define no name that other code uses.
NOTHING = re.compile(r"^(?:using namespace|static_assert|extern|friend)\b|\boperator\b|^[A-Z_0-9]+ ?\(|^$")
CONSTANT = re.compile(r"^(?:static|constexpr|const|constinit) (?!.*\()")

ANONYMOUS = "{}"
TRANSPARENT = ""  # extern "C"

# A definition of a name outside of functions and classes.  A private definition is meant for its file only.
# `stands_for` is the text of an alias; several files may define the same alias.
Definition = collections.namedtuple("Definition", "path line scope name stands_for is_private")


def closing(code, at):
    """Returns the place where the bracket at this place is closed."""
    depth = 0
    for at in range(at, len(code)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0:
            return at
    raise ValueError(f"a bracket is not closed: {code[:200]}")


def behind_angles(code, at):
    """Returns the place behind the `>` that belongs to the `<` at this place."""
    depth = 0
    while True:
        if code[at] in "([":
            at = closing(code, at)
        depth += (code[at] == "<") - (code[at] == ">" and code[at - 1] != "-")
        at += 1
        if depth == 0:
            return at


def without_angles(head):
    """Returns `Map<int, void(int)> x` as `Map x`: a `<` behind a word opens arguments."""
    match = re.search(r"(?<=\w)<", head)
    return without_angles(head[:match.start()] + head[behind_angles(head, match.start()):]) if match else head


def without_operands(head):
    """Returns `requires (sizeof(T) > 1) void F(T t)` as `void F(T t)`."""
    match = OPERAND.search(head)
    return without_operands(head[:match.start()] + head[closing(head, match.end()) + 1:]) if match else head


def named(head, has_body):
    """Returns the name that a declaration defines; the text is what stands before its `=`, `{` or `;`."""
    if NOTHING.search(head):
        return None
    if ALIAS.match(head):
        return ALIAS.match(head)[1]
    if TYPE.match(head):
        match = re.search(r"([\w:]+)(?: final)?$", re.sub(r" ?(?<!:):(?!:).*", "", head))
        # A nested type that is defined outside of its class gives no name here, and neither does a forward declaration.
        return match[1] if match and has_body and "::" not in match[1] else None
    head = without_angles(without_operands(head))
    match = re.search(r"([\w:~]+) ?\(", head) or re.search(r"([\w:]+)(?: ?\[.*)?$", head)
    return match[1] if match and "::" not in match[1] else None  # None: a member, which its class declares


class Reader:
    """Finds the definitions of a file."""

    def __init__(self, path):
        def blank(match):
            return (" " if match["comment"] is not None else '""') + "\n" * match[0].count("\n")

        text = LITERAL_OR_COMMENT.sub(blank, path.read_text(encoding="utf-8"))
        self._path = path
        self._is_source = path.suffix == ".cc"
        self._code = DIRECTIVE.sub(lambda match: "\n" * match[0].count("\n"), text)
        self._scopes = []
        self.found = []
        if self._is_source:
            for match in MACRO.finditer(text):
                self._add(match.start(), match[1], is_private=True)
        self._read()

    def _add(self, start, name, is_private, stands_for=None):
        line = self._code.count("\n", 0, start) + 1
        scope = "::".join(name for name in self._scopes if name not in (ANONYMOUS, TRANSPARENT))
        self.found.append(Definition(self._path, line, scope, name, stands_for, is_private))

    def _read(self):
        """Looks at everything between the braces of namespaces, declaration by declaration."""
        at = 0
        while at < len(self._code):
            if self._code[at] == "}":
                self._scopes.pop()
            if self._code[at] in "};" or self._code[at].isspace():
                at += 1
            else:
                at = self._read_declaration(at)

    def _read_declaration(self, start):
        """Returns the place behind the declaration, or behind the brace that opens a namespace."""
        code, at, head_end, is_function = self._code, start, None, False
        begin = start
        while code[at] != ";":
            if code[at] == "<" and code[begin:at].strip() == "template":
                begin = at = behind_angles(code, at)
                continue
            if code[at] == "=" and "operator" not in code[begin:at]:
                head_end = head_end or at
            elif code[at] in "([":
                at = closing(code, at)
            elif code[at] == "{":
                head = " ".join(code[begin:at].split())
                if LINKAGE.match(head):
                    self._scopes.append(TRANSPARENT)
                    return at + 1
                if NAMESPACE.match(head):
                    return self._open(start, at, NAMESPACE.match(head)[1])
                is_function = is_function or (head_end is None and "(" in without_angles(head) and not TYPE.match(head))
                head_end = head_end or at
                at = closing(code, at)
                # Before a comma or a brace, the braces are the initial value of a member, and the body comes later.
                if is_function and code[at + 1:].lstrip()[:1] not in (",", "{"):
                    break
            at += 1
        self._take(start, " ".join(code[begin:head_end or at].split()), " ".join(code[begin:at].split()),
                   head_end is not None)
        return at + 1

    def _open(self, start, at, name):
        if name is not None and "::" not in name and self._scopes:
            self._add(start, name, ANONYMOUS in self._scopes)
        self._scopes.append(name or ANONYMOUS)
        return at + 1

    def _take(self, start, head, declaration, has_body):
        head = ATTRIBUTES.sub("", head)
        name = named(head, has_body)
        if name is not None:
            is_private = ANONYMOUS in self._scopes or (self._is_source and CONSTANT.match(head) is not None)
            self._add(start, name, is_private, declaration if ALIAS.match(head) else None)


def may_share_name(first, second):
    """Returns whether both definitions are in one file, where they are intended, or are aliases of the same thing."""
    return first.path == second.path or (first.stands_for is not None and first.stands_for == second.stands_for)


def is_around(scope, inner):
    return inner == scope or inner.startswith(scope + "::")


def check(folder, definitions, outer, findings):
    """Compares the definitions of a folder; `outer` has the names that the headers of src/ declare for all."""
    by_name = collections.defaultdict(list)
    for definition in definitions:
        by_name[definition.name].append(definition)
    for name, same_named in by_name.items():
        for index, private in enumerate(same_named):
            if not private.is_private:
                continue
            others = [other for place, other in enumerate(same_named)
                      if (place < index or not other.is_private) and is_around(other.scope, private.scope)]
            others += [other for other in outer[name] if is_around(other.scope, private.scope)]
            clash = next((other for other in others if not may_share_name(private, other)), None)
            if clash is not None:
                place = f"{clash.path.relative_to(sources.TOP)}:{clash.line}"
                findings.add(private.path, private.line,
                             f"{name} also names another thing at {place}, but {folder}/ may be compiled as one file: "
                             f"share one definition, or choose two names")


def main():
    findings = sources.Findings()
    folders = collections.defaultdict(list)
    outer = collections.defaultdict(list)
    # A program of one file is not part of its folder's library.
    tracked = sources.tracked("src/*.cc", "src/*.h", "src/*.h.in", "tests/unit/*/*.cc", "tests/unit/*/*.h",
                              "tests/vectors/generated/*.cc", "tests/vectors/generated/*.h")
    paths = [path for path in tracked if path.name != "main.cc"]
    for path in paths:
        try:
            found = Reader(path).found
        except (ValueError, IndexError) as error:
            findings.add(path, 1, f"tests/lint/unity.py cannot read it ({error})")
            continue
        parts = path.relative_to(sources.TOP).parts
        folders["/".join(parts[:2] if parts[0] == "src" else parts[:3])] += found
        if parts[0] == "src" and path.suffix != ".cc":
            for definition in found:
                outer[definition.name].append(definition)
    if not any(definition.is_private for found in folders.values() for definition in found):
        findings.add(sources.TOP / "src", 1, "the check found no name in an anonymous namespace")
    for folder, definitions in sorted(folders.items()):
        check(folder, definitions, outer, findings)
    findings.report(len(paths))


if __name__ == "__main__":
    main()
