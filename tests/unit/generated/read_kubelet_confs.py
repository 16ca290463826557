#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that PyYAML, which shares no code with our writer, reads the settings from our kubelet.conf files.

The argument is the program that writes the files: written_kubelet_confs.
"""

import json
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("this Python has no PyYAML")
    sys.exit(77)


def main():
    # A text may contain Unicode's line separators; they do not end a line here, but splitlines() splits at them.
    lines = subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE).stdout.decode().split("\n")[:-1]
    wrong = 0
    for line in lines:
        case = json.loads(line)
        try:
            read = yaml.safe_load(case["yaml"])
        except yaml.YAMLError as error:
            print(f"{case['yaml']!r} was not read: {error}")
            wrong += 1
            continue
        for key, value in case["settings"].items():
            if read.get(key) != value:
                print(f"{key}: {value!r} was read as {read.get(key)!r}")
                wrong += 1
    if wrong or len(lines) < 1000:
        sys.exit(f"{wrong} differences in {len(lines)} files")


main()
