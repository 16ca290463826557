# SPDX-License-Identifier: Apache-2.0
"""How a build calls the compiler."""

import json
import pathlib
import shlex

# What a call says of its one source file, and what checking does without.
WITH_VALUE = {"-o", "-c", "-MF", "-MQ", "-MT", "-include-pch"}
ALONE = {"-MD", "-MMD", "-MP"}


def flags_of(command):
    kept = []
    words = iter(shlex.split(command))
    for word in words:
        if word in WITH_VALUE:
            next(words)
        elif word not in ALONE:
            kept.append(word)
    return kept


def of_sources(build):
    """(source file, working directory, compiler and flags) of every source file."""
    for command in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        directory = pathlib.Path(command["directory"])
        yield (directory / command["file"]).resolve(), directory, flags_of(command["command"])
