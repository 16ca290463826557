#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds Pintle's SELinux policy module: `build_policy.py OUTPUT`, where OUTPUT is *.pp, or *.pp.bz2 to compress it.

Needs the package selinux-policy-dev (Debian) or selinux-policy-devel (Fedora).
"""

import bz2
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent
MAKEFILE = pathlib.Path("/usr/share/selinux/devel/Makefile")


def build(output):
    if not MAKEFILE.exists():
        sys.exit(f"{MAKEFILE} is missing: install selinux-policy-dev (Debian) or selinux-policy-devel (Fedora)")
    # The makefile builds the modules of its folder, and leaves files there.
    with tempfile.TemporaryDirectory(prefix="pintle-") as folder:
        for kind in ("te", "fc", "if"):
            shutil.copy(SOURCE / f"pintle.{kind}", folder)
        made = subprocess.run(["make", "-f", MAKEFILE, "pintle.pp"], cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        module = pathlib.Path(folder, "pintle.pp")
        if made.returncode or not module.exists():
            sys.exit(f"{made.stdout}\nthe policy cannot be built")
        data = module.read_bytes()
    output.write_bytes(bz2.compress(data) if output.suffix == ".bz2" else data)


if __name__ == "__main__":
    build(pathlib.Path(sys.argv[1]))
