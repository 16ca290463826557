# SPDX-License-Identifier: Apache-2.0
"""How a build calls the compiler."""

import json
import pathlib
import re
import shlex

# What a call says of its one source file, and what checking does without.
WITH_VALUE = {"-o", "-c", "-MF", "-MQ", "-MT", "-include-pch"}
ALONE = {"-MD", "-MMD", "-MP"}

UNITY = re.compile(r"-unity\d+\.cpp$")
INCLUDE = re.compile(r"^#include\s*<(.+)>$", re.M)


def flags_of(command):
    kept = []
    words = iter(shlex.split(command))
    for word in words:
        if word in WITH_VALUE:
            next(words)
        elif word not in ALONE:
            kept.append(word)
    return kept


def sources_in(compiled):
    """What is compiled in one: Meson's file for a unity build includes its sources."""
    if UNITY.search(compiled.name):
        return [pathlib.Path(name).resolve() for name in INCLUDE.findall(compiled.read_text(encoding="utf-8"))]
    return [compiled.resolve()]


def of_sources(build):
    """(source file, working directory, compiler and flags, whether no other source comes before it) of every source."""
    for command in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        directory = pathlib.Path(command["directory"])
        for index, source in enumerate(sources_in(directory / command["file"])):
            yield source, directory, flags_of(command["command"]), index == 0
