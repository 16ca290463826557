#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the list, for the linker's option --dynamic-list, of the symbols that a module takes from its program.

A program that exports all its symbols is 1.5 MB larger, and the loader reads half of that at each start.

usage: exported_symbols.py NM LIBRARY (the module's objects, as a static library)
"""

import subprocess
import sys


def main():
    nm, library = sys.argv[1:]
    # nm before version 2.37 has no format with the names alone.  "6pintle" is the mangled name of our namespace.
    listed = subprocess.run([nm, "--undefined-only", "--format=posix", library], check=True, capture_output=True,
                            text=True).stdout
    symbols = sorted({line.split()[0] for line in listed.splitlines() if "6pintle" in line})
    print("{\n" + "".join(f"  {symbol};\n" for symbol in symbols) + "};")


main()
