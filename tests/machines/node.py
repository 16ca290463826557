# SPDX-License-Identifier: Apache-2.0
"""A node that boots in about a second: a container with real systemd, D-Bus and logind, and real OSTree deployments.

The harness plays the boot loader and the kernel: it chooses the boot entry anew at each boot, lets the node's own
ostree-prepare-root find the deployment, shows the kernel arguments in /proc/cmdline, and starts systemd.
"""

import argparse
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile
import time

from . import image
from .container import ENVIRONMENT, REBOOT, Container, MachineDied
from .disk import Disk

BUILD = "/run/pintle-build"  # Where a node sees the build directory that PINTLE_BUILD names.


class Node:
    """A context manager.  Its disk lives until the end of the context, through reboots and power cuts.

    plain    no OSTree: an overlay over a plain Debian
    network  "private", or "host" to share the loopback device of the tests, or the path of a network namespace
    binds    directories of the host for the node to read: {"/some/directory": "/run/place"}
    """

    def __init__(self, plain=False, name=None, network="private", binds=None):
        self.plain, self.network = plain, network
        self.name = name or f"node-{secrets.token_hex(3)}"
        self.binds = dict(binds or {})
        if "PINTLE_BUILD" in os.environ:
            self.binds[os.environ["PINTLE_BUILD"]] = BUILD
        self.state = self.boot_entry = self.boot_seconds = None
        self._scratch = self._disk = self._container = None

    def __enter__(self):
        try:
            self._scratch = pathlib.Path(tempfile.mkdtemp(prefix="pintle-"))
            if self.plain:
                for layer in ("upper", "work"):
                    (self._scratch / layer).mkdir(mode=0o755)
            else:
                self._disk = Disk(self._scratch / "disk")
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._container:
            self._container.kill()
        if self._scratch:
            shutil.rmtree(self._scratch)
        self._container = self._scratch = None

    def start(self, fall_back=False):
        """Boots and waits until systemd has; then `state` is "running", or "degraded" if a unit failed.

        With fall_back the boot loader takes the second entry, as one does that counts failed boots.
        """
        started = time.monotonic()
        self._container = Container(self.name, self._root(fall_back), self._scratch, self.network, self.binds.items())
        self.state = self._container.wait_ready()
        self.boot_seconds = time.monotonic() - started

    def run(self, *words, check=True, input=None):
        """Runs a command in the node as root, and returns it with its output as text."""
        return self._container.run(*words, check=check, **({} if input is None else {"input": input}))

    def reboot(self):
        """Reboots in the orderly way, through logind."""
        self._ask_logind("Reboot")
        self.follow_reboot()

    def follow_reboot(self, seconds=90):
        """Waits for the node to reboot by itself, and starts it again as its firmware would."""
        self._wait_for_end(REBOOT, seconds)
        self.start()

    def poweroff(self):
        """Ends the node in the orderly way; start() boots it again."""
        self._ask_logind("PowerOff")
        self._wait_for_end(0, 90)

    def kill(self):
        """Ends the node like a power cut, but that what was written to the disk is there; start() boots it again."""
        self._container.kill()

    def end_within(self, seconds):
        """Ends the node like kill(), unless it ends by itself before the seconds are over."""
        try:
            self._container.wait(seconds)
        except TimeoutError:
            self._container.kill()

    @property
    def running(self):
        return self._container is not None and self._container.alive

    @property
    def bus_address(self):
        """The node's system bus, for a client on the host (which root is allowed to be)."""
        return f"unix:path={self.path('/run/dbus/system_bus_socket')}"

    def path(self, path):
        """Where a file of the running node is to be seen from the host.  Absolute links in it lead astray."""
        return pathlib.Path(f"/proc/{self._container.leader}/root", str(path).lstrip("/"))

    def console(self):
        """All that the node has written to its console, in all its boots."""
        return self._container.console()

    def entering(self):
        """The words before a command on the host that make it run in the node."""
        return self._container.entering()

    def _root(self, fall_back):
        if self.plain:
            return {"root": "overlay", "lower": str(image.debian_root()), "layers": str(self._scratch)}
        self.boot_entry = self._disk.boot_entries()[1 if fall_back else 0]
        return {"root": "deployment", "disk": str(self._disk.path), "options": self.boot_entry["options"]}

    def _ask_logind(self, method):
        # The node may be gone before it has answered.  If it stays, we shall notice.
        self.run("busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1",
                 "org.freedesktop.login1.Manager", method, "b", "false", check=False)

    def _wait_for_end(self, wanted, seconds):
        status = self._container.wait(seconds)
        if status != wanted:
            raise MachineDied(f"{self.name} ended with status {status}, not {wanted}", self.console())


def main(argv):
    """`node [--plain] [--network private|host|PATH] [-- COMMAND...]`"""
    own, command = (argv[:argv.index("--")], argv[argv.index("--") + 1:]) if "--" in argv else (argv, [])
    parser = argparse.ArgumentParser(prog="machines node", description="Boots a node; without a command, a shell in it.")
    parser.add_argument("--plain", action="store_true", help="no OSTree")
    parser.add_argument("--network", default="private", help="private, host, or the path of a network namespace")
    options = parser.parse_args(own)
    with Node(plain=options.plain, network=options.network) as node:
        print(f"{node.name} is {node.state} after {node.boot_seconds:.1f} s", file=sys.stderr)
        if command:
            return subprocess.run([*node.entering(), *command], env=ENVIRONMENT, check=False).returncode
        if sys.stdin.isatty():
            return _shell(node)
        print(f"to run a command in it:  {' '.join(node.entering())} COMMAND\nits system bus:          {node.bus_address}",
              flush=True)
        sys.stdin.read()
    return 0


def _shell(node):
    """A login shell on a terminal of the node's own; another one after the node was rebooted from it."""
    shell = ["script", "--quiet", "--return", "--command", "/bin/bash -l", "/dev/null"]
    environment = {**ENVIRONMENT, "TERM": os.environ.get("TERM", "dumb")}
    while True:
        status = subprocess.run([*node.entering(), *shell], env=environment, check=False).returncode
        if node.running and node.run("systemctl", "is-system-running", check=False).stdout.strip() == node.state:
            return status
        try:
            node.follow_reboot()
        except MachineDied as died:
            return print(died, file=sys.stderr)
        print(f"rebooted in {node.boot_seconds:.1f} s", file=sys.stderr)
