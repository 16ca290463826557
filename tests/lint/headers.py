#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each header compiles alone, so that it never needs another one before it.

A build has compiled a header alone if its source file includes it first; all others are compiled here, with the flags
of a source file that belongs to them.

usage: headers.py BUILD (a build directory with compile_commands.json)
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import compile_commands
import sources


def flags_by_place(build):
    """Returns {place: (working directory, compiler and flags)} for every source file, and for every folder that has
    one; and the source files that are compiled without another one before them.
    """
    flags, first = {}, set()
    for source, directory, words, is_first in compile_commands.of_sources(build):
        for place in (source, source.parent):
            flags.setdefault(place, (directory, words))
        if is_first:
            first.add(source)
    return flags, first


def name_in_includes(header):
    """Returns the header's name in an include: its path from src/ or tests/."""
    return header.relative_to(sources.TOP / header.relative_to(sources.TOP).parts[0])


def flags_for(header, flags):
    """Returns the flags of the header's source or, if it has none, of a source in its folder that includes it."""
    including = [source for source in header.parent.glob("*.cc")
                 if f'#include "{name_in_includes(header)}"' in source.read_text(encoding="utf-8")]
    for place in (header.with_suffix(".cc"), *including, *header.parents):
        if place in flags:
            return flags[place]
    return next(iter(flags.values()))  # The folder has no sources yet; src/ is in every include path.


def is_first_in_its_source(header, first_sources):
    """Returns whether the build compiles the header with nothing before it."""
    source = header.with_suffix(".cc")
    if source not in first_sources:
        return False
    with source.open(encoding="utf-8") as lines:
        first = next((line for line in lines if line.startswith("#include")), "")
    return first.startswith(f'#include "{name_in_includes(header)}"')


def problem_of(header, flags, objects):
    """Returns the compiler's error. The compiler is called as in a build, so that ccache knows the result for unchanged
    files.
    """
    directory, words = flags_for(header, flags)
    # Without absolute paths, clones share the results.
    unit = objects / (str(header.relative_to(sources.TOP)).replace("/", "_") + ".cc")
    text = f'#include "{os.path.relpath(header, objects)}"\n'
    if not unit.is_file() or unit.read_text(encoding="utf-8") != text:
        unit.write_text(text, encoding="utf-8")
    quick = ["-O0", "-g0", "-U_FORTIFY_SOURCE", "-fdiagnostics-color=never"]
    name = os.path.relpath(unit, directory)
    result = subprocess.run([*words, *quick, "-c", name, "-o", f"{name}.o"],
                            cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return result.stdout if result.returncode != 0 else None


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    flags, first_sources = flags_by_place(build)
    objects = build / "lint-headers"
    objects.mkdir(exist_ok=True)
    headers = sources.tracked("src/*.h", "tests/*.h")
    alone = [header for header in headers if not is_first_in_its_source(header, first_sources)]
    findings = sources.Findings()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, problem in zip(alone, pool.map(lambda h: problem_of(h, flags, objects), alone)):
            if problem:
                findings.add(header, 1, f"does not compile alone:\n{problem}")
    findings.report(len(headers))


main()
