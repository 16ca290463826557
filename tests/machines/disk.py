# SPDX-License-Identifier: Apache-2.0
"""A throw-away copy of an OSTree disk, and its boot entries as a boot loader reads them."""

import contextlib
import pathlib
import re

from . import image
from .shell import need, run
from .wait import wait_until


class Disk:
    def __init__(self, path, source=None):
        self.path = path
        run("cp", "--reflink=auto", "--sparse=always", source or image.ostree_disk(), path)

    def boot_entries(self):
        """Returns the entries of the Boot Loader Specification, in the order in which a boot loader tries them.

        Each entry is a dictionary of its keys; "file" is the name of its file.
        """
        wait_until(lambda: not self._attached(), f"the last boot has released {self.path}", 120)
        self._replay_journal()
        loader = re.search(r'Fast link dest: "([^"]+)"', self._debugfs("stat /boot/loader"))
        if not loader:
            raise RuntimeError(f"there is no /boot/loader on {self.path}")
        entries = f"/boot/{loader[1]}/entries"
        names = re.findall(r"/([^/]+\.conf)/", self._debugfs(f"ls -p {entries}"))
        found = [{"file": name, **_entry(self._debugfs(f"cat {entries}/{name}"))} for name in names]
        return sorted(found, key=lambda entry: int(entry["version"]), reverse=True)

    def extract(self, path, to):
        """Copies a file of /boot out of the disk; `path` may begin with /boot or not, as in boot entries."""
        self._debugfs(f"dump /boot/{path.removeprefix('/').removeprefix('boot/')} {to}")

    def _attached(self):
        """Returns whether a loop device uses the disk as its backing file; then the file may lack some writes."""
        for backing_file in pathlib.Path("/sys/block").glob("loop*/loop/backing_file"):
            with contextlib.suppress(OSError):
                if backing_file.read_text().rstrip("\n") == str(self.path):
                    return True
        return False

    def _replay_journal(self):
        """Replays the journal of the file system after a power cut.

        GRUB does not replay it.  If the power is cut between ostree's change of /boot and the freeze that flushes the
        change, GRUB may be unable to read /boot.  These tests are not about that case, so the journal is replayed here.
        """
        need("e2fsck")
        result = run("e2fsck", "-p", "-E", "journal_only", self.path, check=False)
        if result.returncode not in (0, 1):
            raise RuntimeError(f"the file system on {self.path} is damaged: {result.stdout}{result.stderr}")

    def _debugfs(self, request):
        need("debugfs")
        return run("debugfs", "-R", request, self.path).stdout


def _entry(text):
    """Parses an entry: a key and its value on each line."""
    pairs = (line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}
