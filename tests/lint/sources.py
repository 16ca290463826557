# SPDX-License-Identifier: Apache-2.0
"""Lists the files for the checks, and collects their findings: one line each, with its place."""

import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]


def tracked(*patterns):
    """Returns the files of the repository that match, with new files that are not ignored."""
    listed = subprocess.run(["git", "-c", f"safe.directory={TOP}", "ls-files", "--cached", "--others",
                             "--exclude-standard", "-z", "--", *patterns],
                            cwd=TOP, check=True, stdout=subprocess.PIPE).stdout.decode()
    return [TOP / name for name in sorted(filter(None, listed.split("\0"))) if (TOP / name).is_file()]


def cpp_files():
    return tracked("src/*.cc", "src/*.h", "tests/*.cc", "tests/*.h")


class Findings:
    """Collects the findings, so that all of them are printed at once."""

    def __init__(self):
        self._lines = []

    def add(self, path, line, text):
        place = path.relative_to(TOP) if path.is_absolute() else path
        self._lines.append(f"{place}:{line}: {text}")

    def report(self, checked):
        """Prints the findings and ends the program; a check without any files has not passed."""
        for line in self._lines:
            print(line)
        if checked == 0:
            print("nothing was checked: the pattern of files is wrong")
            sys.exit(1)
        print(f"{checked} files checked, {len(self._lines)} findings")
        sys.exit(1 if self._lines else 0)
