# SPDX-License-Identifier: Apache-2.0
"""Reads the compiler commands of a build."""

import json
import pathlib
import re
import shlex

import sources

# The options that flags_of() leaves out, with and without a value: they concern the one source file of the command, or
# no check needs them.
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
    """Returns the sources that are compiled together: Meson's file for a unity build includes them, by absolute paths or,
    once `./dev` has replaced those, by paths from src/ or tests/.
    """
    if UNITY.search(compiled.name):
        return [included(name) for name in INCLUDE.findall(compiled.read_text(encoding="utf-8"))]
    return [compiled.resolve()]


def included(name):
    """Returns the source that a file for a unity build includes by this name."""
    places = [sources.TOP / top / name for top in ("src", "tests")]    # An absolute name stays as it is.
    return next(path for path in places if path.is_file()).resolve()


def of_sources(build):
    """Returns (source file, working directory, compiler and flags, whether no other source comes before it) for every
    source.
    """
    for command in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        directory = pathlib.Path(command["directory"])
        for index, source in enumerate(sources_in(directory / command["file"])):
            yield source, directory, flags_of(command["command"]), index == 0
