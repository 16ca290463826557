# SPDX-License-Identifier: Apache-2.0
"""The parts that nodes and virtual machines have in common: several boots with one disk."""

import contextlib
import pathlib
import secrets
import shutil
import tempfile
import time

from .supervised import MachineDied
from .wait import wait_until


class Machine(contextlib.AbstractContextManager):
    """A machine that runs inside `with`.  Its disk lasts until the end of `with`, through reboots and power cuts."""

    def __init__(self, name):
        self.name = name
        self.state = self.boot_entry = self.boot_seconds = None
        self._scratch = self._process = self._disk = None

    def _prepare(self):
        """Makes the disk, below self._scratch."""
        raise NotImplementedError

    def _boot(self):
        """Starts the process that is the running machine."""
        raise NotImplementedError

    def __enter__(self):
        try:
            self._scratch = pathlib.Path(tempfile.mkdtemp(prefix="pintle-")).resolve()
            self._prepare()
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        try:
            if self._process:
                self._process.kill()
        finally:
            if self._scratch:
                shutil.rmtree(self._scratch)
            self._process = self._scratch = None

    def start(self, fall_back=False):
        """Boots and waits for systemd; then `state` is "running", or "degraded" if a unit failed.

        With fall_back, it boots the second entry, as a boot loader that counts failed boots does.
        """
        started = time.monotonic()
        self._boot_once(fall_back)
        for _ in range(5):  # The machine may reboot to complete a change, but must not loop.
            if self.state != "reboot":
                break
            self._boot_once()
        else:
            if self.state == "reboot":
                raise MachineDied(f"{self.name} reboots again after each of six boots", self.console())
        self.boot_seconds = time.monotonic() - started

    def _boot_once(self, fall_back=False):
        self._load(fall_back)
        self.state = self._process.wait_ready()

    def _load(self, fall_back=False):
        if self._disk:
            self.boot_entry = self._disk.boot_entries()[1 if fall_back else 0]
        self._process = self._boot()

    def run(self, *words, check=True, input=None):
        """Runs a command in the machine as root, and returns it with its output as text."""
        return self._process.run(*words, check=check, input=input)

    def reboot(self, seconds=300):
        """Reboots in an orderly way, through logind."""
        self._ask_logind("Reboot")
        self.follow_reboot(seconds)

    def follow_reboot(self, seconds=300):
        """Waits for the machine to reboot by itself, and starts it again as its firmware would."""
        self.await_end("reboot", seconds)
        self.start()

    def poweroff(self, seconds=300):
        """Powers the machine off in an orderly way; start() boots it again."""
        self._ask_logind("PowerOff")
        self.await_end("poweroff", seconds)

    def await_end(self, wanted, seconds=300):
        """Waits for the machine to end by itself; `wanted` is "reboot" or "poweroff"."""
        end = self._process.wait_end(seconds)
        if end != wanted:
            raise MachineDied(f"{self.name} ended with {end}, not {wanted}", self.console())

    def kill(self):
        """Ends the machine at once, like a power cut; start() boots it again.  The data on its disk stays."""
        self._process.kill()

    def start_and_kill_after(self, seconds):
        """Boots without waiting, and kills the machine after some seconds, whether it has come up or not."""
        self._load()
        self.kill_after(seconds)

    def start_broken(self, *signs, seconds=400):
        """Boots a machine that cannot come up; kills it when its console has one of these texts.  Returns the text."""
        before = len(self.console())
        self._load()
        found = wait_until(lambda: next((sign for sign in signs if sign in self.console()[before:]), None),
                           f"the console has {' or '.join(signs)}", seconds)
        self.kill()
        return found

    def kill_after(self, seconds):
        """Kills the machine after some seconds, unless it ends before by itself; returns whether it was killed."""
        try:
            self._process.wait(seconds)
        except TimeoutError:
            self._process.kill()
            return True
        return False

    @property
    def running(self):
        return self._process is not None and self._process.alive

    def console(self):
        """Returns everything that the machine has written to its console, in all its boots."""
        return self._process.console()

    def _ask_logind(self, method):
        # The machine may be gone before logind answers.  If the machine stays up, the caller's wait fails.
        self.run("busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1",
                 "org.freedesktop.login1.Manager", method, "b", "false", check=False)


def new_name(kind):
    return f"{kind}-{secrets.token_hex(3)}"


def split_command_line(argv):
    """Splits a command line at the first `--` into our own options and the command to run in the machine."""
    end = argv.index("--") if "--" in argv else len(argv)
    return argv[:end], argv[end + 1:]
