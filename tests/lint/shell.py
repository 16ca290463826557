#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs shellcheck over every shell script, which has a known name or first line."""

import re
import subprocess
import sys

import sources

SHELL = re.compile(rb"^#!.*\b(ba|da|k)?sh\b")


def is_shell(path):
    if path.suffix in (".sh", ".bash"):
        return True
    with path.open("rb") as file:
        return path.suffix == "" and SHELL.match(file.readline()) is not None


def main():
    scripts = [str(path.relative_to(sources.TOP)) for path in sources.tracked() if is_shell(path)]
    result = subprocess.run(["shellcheck", "--format=gcc", *scripts], cwd=sources.TOP, check=False)
    print(f"{len(scripts)} files checked")
    sys.exit(result.returncode if scripts else 1)


main()
