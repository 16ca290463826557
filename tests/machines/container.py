# SPDX-License-Identifier: Apache-2.0
"""One boot of a systemd-nspawn container, from its start to its end, where the host itself need not run systemd."""

import json
import os
import pathlib
import select
import socket
import subprocess
import sys
import time

from . import shell

KEEPER = pathlib.Path(__file__).with_name("keeper.py")
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
               "LANG": "C.UTF-8"}
REBOOT = 133  # With this exit status nspawn tells that its machine wants to be started again.


class MachineDied(Exception):
    """The machine ended when nobody had asked it to, or did not come up; the message holds what it last said."""

    def __init__(self, what, console):
        super().__init__(f"{what}; the end of its console:\n{console[-4000:]}")


class Kept:
    """A process in the care of keeper.py: it ends when we end it, or when we are no more."""

    def __init__(self, boot, scratch, console, prefix=(), **options):
        description = scratch / "boot.json"
        description.write_text(json.dumps({**boot, "owner": os.getpid(), "scratch": str(scratch)}))
        self.console_path = console
        with open(console, "ab") as log:
            self.keeper = subprocess.Popen(
                [*prefix, "unshare", "--mount", "--propagation", "private",
                 sys.executable, "-I", "-S", KEEPER, description],
                stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, **options)

    @property
    def alive(self):
        return self.keeper.poll() is None

    def console(self):
        return self.console_path.read_text(errors="replace")

    def wait(self, seconds):
        """Returns the exit status, once the process and all that it had is gone."""
        try:
            status = self.keeper.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"it still runs after {seconds} s") from None
        self.keeper.stdin.close()
        return status

    def kill(self):
        self.keeper.stdin.close()
        return self.keeper.wait(30)


class Container(Kept):
    """Boots what `boot` describes (see keeper.py) under a name, and is ready when systemd has finished starting."""

    def __init__(self, name, boot, scratch, network="private", binds=()):
        shell.need("systemd-nspawn", "nsenter", "unshare", "mount")
        if scratch.is_relative_to("/run"):
            raise RuntimeError("TMPDIR must not be below /run, which is hidden from the machine's files")
        options = ["--register=no", "--keep-unit", "--link-journal=no", "--resolv-conf=off", "--timezone=off",
                   "--console=pipe", "--notify-ready=yes", f"--machine={name}",
                   *(f"--bind-ro={source}:{place}" for source, place in binds)]
        prefix = []
        if network == "private":
            options.append("--private-network")
        elif network != "host":
            prefix = ["nsenter", f"--net={network}"]
        self.name, self.leader = name, None
        self._notify_path = scratch / "notify"
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notify_path.unlink(missing_ok=True)
        self._notify.bind(str(self._notify_path))
        super().__init__({**boot, "nspawn": options, "cgroup": scratch.name}, scratch, scratch / "console.log", prefix,
                         env={**os.environ, "NOTIFY_SOCKET": str(self._notify_path),
                              "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"})

    def wait_ready(self, seconds=60):
        """Waits until systemd has started all it wants to; returns "running", or "degraded" if a unit failed."""
        deadline = time.monotonic() + seconds
        ready = False
        while not ready:
            if not self.alive:
                raise MachineDied(f"{self.name} ended with status {self.keeper.returncode} while it booted",
                                  self.console())
            if time.monotonic() > deadline:
                raise MachineDied(f"{self.name} has not booted after {seconds} s", self.console())
            if select.select([self._notify], [], [], 0.1)[0]:
                said = dict(line.split("=", 1) for line in self._notify.recv(4096).decode().splitlines() if "=" in line)
                self.leader = int(said.get("X_NSPAWN_LEADER_PID", self.leader or 0)) or None
                ready = said.get("READY") == "1"
        return self.run("systemctl", "is-system-running", "--wait", check=False).stdout.strip()

    def run(self, *words, check=True, **options):
        """Runs a command in the machine, as root."""
        words = [str(word) for word in words]
        if not self.alive:
            raise MachineDied(f"{self.name} is gone (status {self.keeper.returncode}) and cannot run {' '.join(words)}",
                              self.console())
        result = shell.run(*self.entering(), *words, check=False, env=ENVIRONMENT, **options)
        if check and result.returncode != 0:
            raise shell.CommandFailed([f"{self.name}:", *words], result)
        return result

    def entering(self):
        """The words before a command that make it run in the machine."""
        return ["nsenter", f"--target={self.leader}", "--all", "--"]
