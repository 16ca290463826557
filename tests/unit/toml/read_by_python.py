#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the TOML that we write with Python's own reader, which shares no code with our writer."""

import json
import subprocess
import sys

try:
    import tomllib
except ImportError:
    print("this Python has no reader of TOML")
    sys.exit(77)


def main():
    # A text may contain Unicode's line separators; they do not end a line here, but splitlines() splits at them.
    lines = subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE).stdout.decode().split("\n")[:-1]
    nested = 0
    for line in lines:
        case = json.loads(line)
        read = tomllib.loads(case["toml"])
        if read != case["expected"]:
            sys.exit(f"was read otherwise: {case['toml']!r}\n  {read}\n  {case['expected']}")
        nested += any(isinstance(value, dict) and value for value in read.values())
    if len(lines) < 1000 or nested < 100:
        sys.exit(f"{len(lines)} tables, {nested} of them with tables inside, are too few to tell")


main()
