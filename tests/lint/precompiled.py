#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the compiler accepts a precompiled header whose sources have other times by now, but the same contents.

The header may come from ccache's cache, and its sources may have been checked out again since it was compiled.

usage: precompiled.py BUILD (a build directory with compile_commands.json)
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import compile_commands


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    _, directory, compiler, _ = next(compile_commands.of_sources(build))
    with tempfile.TemporaryDirectory() as folder:
        header, source, precompiled = (pathlib.Path(folder) / name for name in ("a.h", "a.cc", "a.h.pch"))
        header.write_text("constexpr int kFive = 5;\n", encoding="utf-8")
        source.write_text("static_assert(kFive == 5);\n", encoding="utf-8")
        run = {"cwd": directory, "check": True, "env": os.environ | {"CCACHE_DISABLE": "1"}}
        subprocess.run([*compiler, "-x", "c++-header", str(header), "-o", str(precompiled)], **run)
        os.utime(header, (1, 1))
        subprocess.run([*compiler, "-include-pch", str(precompiled), "-fsyntax-only", str(source)], **run)


main()
