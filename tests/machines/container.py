# SPDX-License-Identifier: Apache-2.0
"""One boot of a systemd-nspawn container, from its start to its end.  The host itself need not run systemd."""

import os
import select
import socket
import time

from . import shell
from .supervised import MachineDied, SupervisedProcess

ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
               "LANG": "C.UTF-8"}

REBOOTED = 133  # The exit status of nspawn when the machine reboots.


class Container(SupervisedProcess):
    """Boots the machine that `boot` describes (see keeper.py); ready when systemd has finished starting."""

    def __init__(self, name, boot, scratch, network="private", binds=()):
        shell.need("systemd-nspawn", "nsenter", "mount")
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

    def wait_ready(self, seconds=300):
        """Waits until systemd has started everything; returns "running", or "degraded" if a unit failed.

        If the machine reboots before that, it returns "reboot".
        """
        deadline = time.monotonic() + seconds
        ready = False
        while not ready:
            if not self.alive and self.keeper.returncode == REBOOTED:
                self.wait(0)
                return "reboot"
            self.expect_alive("booting")
            if time.monotonic() > deadline:
                raise MachineDied(f"{self.name} has not booted after {seconds} s", self.console())
            if select.select([self._notify], [], [], 0.1)[0]:
                message = self._notify.recv(4096).decode()
                fields = dict(line.split("=", 1) for line in message.splitlines() if "=" in line)
                self.leader = fields.get("X_NSPAWN_LEADER_PID", self.leader)
                ready = fields.get("READY") == "1"
        return self.run("systemctl", "is-system-running", "--wait", check=False).stdout.strip()

    def run(self, *words, check=True, input=None):
        """Runs a command in the machine, as root."""
        words = [str(word) for word in words]
        self.expect_alive(f"running {' '.join(words)}")
        stdin_option = {} if input is None else {"input": input}
        result = shell.run(*self.entering(), *words, check=False, env=ENVIRONMENT, **stdin_option)
        if check and result.returncode != 0:
            raise shell.CommandFailed([f"{self.name}:", *words], result)
        return result

    def wait_end(self, seconds):
        """Waits for the machine to end by itself; returns "reboot", "poweroff" or "status N"."""
        status = self.wait(seconds)
        return {0: "poweroff", REBOOTED: "reboot"}.get(status, f"status {status}")

    def entering(self):
        """Returns the words that have to be put before a command so that it runs in the machine.

        A shell in the machine waits for the command.  If nsenter waited, it would stop itself (SIGSTOP) as soon as the
        shutdown stops the command along with all other processes, and nobody would continue nsenter.
        """
        return ["nsenter", "--no-fork", f"--target={self.leader}", "--all", "--",
                "/bin/sh", "-c", '"$@"; exit "$?"', "sh"]
