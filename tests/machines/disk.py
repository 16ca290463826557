# SPDX-License-Identifier: Apache-2.0
"""A throw-away copy of the OSTree disk, and the boot loader's view of it."""

import re

from . import image
from .shell import need, run


class Disk:
    def __init__(self, path):
        self.path = path
        run("cp", "--reflink=auto", "--sparse=always", image.ostree_disk(), path)

    def boot_entries(self):
        """The entries of the Boot Loader Specification, the one to boot first: as GRUB does, without mounting.

        Each is a dictionary of its keys, and "file" is its name.
        """
        loader = re.search(r'Fast link dest: "([^"]+)"', self._debugfs("stat /boot/loader"))
        if not loader:
            raise RuntimeError(f"there is no /boot/loader on {self.path}")
        entries = f"/boot/{loader[1]}/entries"
        names = re.findall(r"/([^/]+\.conf)/", self._debugfs(f"ls -p {entries}"))
        found = [{"file": name, **_entry(self._debugfs(f"cat {entries}/{name}"))} for name in names]
        return sorted(found, key=lambda entry: int(entry["version"]), reverse=True)

    def extract(self, path, to):
        """Copies a file of /boot out of the disk; boot entries may name it with that directory or without."""
        self._debugfs(f"dump /boot/{path.removeprefix('/').removeprefix('boot/')} {to}")

    def _debugfs(self, request):
        need("debugfs")
        return run("debugfs", "-R", request, self.path).stdout


def _entry(text):
    """Parses an entry: a key and its value on each line."""
    pairs = (line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}
