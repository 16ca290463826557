#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the sources of tests/bench compile: they are built only for measurements and at night.

They are compiled without optimization, with the flags of a unit test of the controller.

usage: benchmarks.py BUILD (a build directory with compile_commands.json)
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import compile_commands
import sources

TESTS = sources.TOP / "tests/unit/controller"


def problem_of(source, directory, words, objects):
    """Returns the compiler's error, or None.  `words` are the compiler and its flags.

    The paths are relative, so that ccache knows the result also in another clone.
    """
    name, made = (os.path.relpath(path, directory) for path in (source, objects / f"{source.stem}.o"))
    quick = ["-O0", "-g0", "-U_FORTIFY_SOURCE", "-fdiagnostics-color=never", '-DOWN_TEMPLATES_DIR=""']
    result = subprocess.run([*words, *quick, "-c", name, "-o", made],
                            cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return result.stdout if result.returncode != 0 else None


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    directory, words = next((directory, words) for source, directory, words, _ in compile_commands.of_sources(build)
                            if source.parent == TESTS)
    objects = build / "lint-benchmarks"
    objects.mkdir(exist_ok=True)
    benchmarks = sources.tracked("tests/bench/*.cc")
    findings = sources.Findings()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = pool.map(lambda source: problem_of(source, directory, words, objects), benchmarks)
        for source, problem in zip(benchmarks, problems):
            if problem:
                findings.add(source, 1, f"does not compile:\n{problem}")
    findings.report(len(benchmarks))


main()
