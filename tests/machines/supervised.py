# SPDX-License-Identifier: Apache-2.0
"""A process that keeper.py supervises, so that it leaves nothing behind, however the test program ends."""

import json
import os
import pathlib
import subprocess
import sys

from .namespace import OWN_MOUNTS

KEEPER = pathlib.Path(__file__).resolve().with_name("keeper.py")


class MachineDied(Exception):
    """The machine ended unexpectedly, or did not come up; the message has the end of its console."""

    def __init__(self, what, console):
        super().__init__(f"{what}; the end of its console:\n{console[-4000:]}")


class SupervisedProcess:
    """A process that ends when we end it, or when the test program dies."""

    def __init__(self, boot, scratch, console, prefix=(), **options):
        description = scratch / "boot.json"
        description.write_text(json.dumps({**boot, "owner": os.getpid(), "scratch": str(scratch)}))
        self.console_path = console
        with open(console, "ab") as log:
            self.keeper = subprocess.Popen(
                [*prefix, *OWN_MOUNTS, sys.executable, "-I", "-S", KEEPER, description],
                stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, **options)

    @property
    def alive(self):
        return self.keeper.poll() is None

    def console(self):
        return self.console_path.read_text(errors="replace")

    def wait(self, seconds):
        """Returns the exit status, once the process and all its resources are gone."""
        try:
            status = self.keeper.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the process still runs after {seconds} s") from None
        self.keeper.stdin.close()
        return status

    def kill(self):
        """Ends the process and its children, all at once."""
        self.keeper.stdin.close()
        self.keeper.wait(60)

    def expect_alive(self, what):
        if not self.alive:
            raise MachineDied(f"{what}: the machine is gone (status {self.keeper.returncode})", self.console())
