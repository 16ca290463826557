# SPDX-License-Identifier: Apache-2.0
"""A node that boots in about a second: a container with real systemd, D-Bus and logind, and real OSTree deployments.

The tests replace the boot loader and the kernel: at each boot they choose the boot entry, let the node's own
ostree-prepare-root find the deployment, put the kernel arguments into /proc/cmdline, and start systemd.
"""

import argparse
import os
import pathlib
import subprocess
import sys

from . import image, programs
from .container import ENVIRONMENT, Container
from .disk import Disk
from .installed import Installed
from .machine import Machine, new_name, split_command_line
from .programs import BUILD_ON_MACHINE
from .shell import run
from .supervised import MachineDied


class Node(Machine):
    """A Machine that is a container.

    plain    no OSTree: an overlay over a plain Debian
    network  "private", or "host" to share the loopback device of the tests, or the path of a network namespace
    binds    directories of the host that the node can read: {"/some/directory": "/run/place"}
    saved    a path to which another node of the same kind was saved; the node begins with a copy of its disk
    """

    def __init__(self, plain=False, name=None, network="private", binds=None, saved=None):
        super().__init__(name or new_name("node"))
        self.plain, self.network, self._saved = plain, network, saved
        self.binds = dict(binds or {})
        if "PINTLE_BUILD" in os.environ:
            self.binds[os.environ["PINTLE_BUILD"]] = BUILD_ON_MACHINE

    def _prepare(self):
        if not self.plain:
            self._disk = Disk(self._scratch / "disk", self._saved)
            return
        (self._scratch / "work").mkdir(mode=0o755)
        if self._saved:
            _copy_tree(self._saved, self._scratch / "upper")
        else:
            (self._scratch / "upper").mkdir(mode=0o755)

    def save(self, path):
        """Copies the disk of this node, which has to be powered off, for other nodes to begin with."""
        if self.plain:
            _copy_tree(self._scratch / "upper", path)
        else:
            Disk(path, self._disk.path)

    def _boot(self):
        if self.plain:
            root = {"root": "overlay", "lower": str(image.debian_root()), "layers": str(self._scratch)}
        else:
            root = {"root": "deployment", "disk": str(self._disk.path), "options": self.boot_entry["options"]}
        return Container(self.name, root, self._scratch, self.network, self.binds.items())

    @property
    def leader(self):
        """Returns the process ID that the node's systemd has on the host."""
        return self._process.leader

    @property
    def bus_address(self):
        """Returns the address of the node's system bus for a client on the host; the client has to be root."""
        return f"unix:path={self.path('/run/dbus/system_bus_socket')}"

    def path(self, path):
        """Returns the host's path of a file of the running node.  Absolute symlinks in it are resolved wrongly."""
        return pathlib.Path(f"/proc/{self.leader}/root", str(path).lstrip("/"))

    def entering(self):
        """Returns the words that have to be put before a command so that it runs in the node instead of on the host."""
        return self._process.entering()


def _copy_tree(tree, to):
    run("cp", "--archive", "--reflink=auto", tree, to)


def _install(node):
    """Puts Pintle's programs and units into the node.  The agent does not run until someone starts it."""
    Installed(node, programs.on_machine("pintle"))
    if programs.are_installed():
        return
    node.run("mkdir", "--parents", "/usr/local/bin")
    for program in ("pintle", "pintled"):
        node.run("ln", "--symbolic", programs.on_machine(program), "/usr/local/bin/")


def main(argv):
    """`node [--plain] [--network private|host|PATH] [-- COMMAND...]`"""
    own, command = split_command_line(argv)
    about = "Boots a node, and runs a command or a shell in it."
    parser = argparse.ArgumentParser(prog="machines node", description=about)
    parser.add_argument("--plain", action="store_true", help="no OSTree")
    parser.add_argument("--network", default="private", help="private, host, or the path of a network namespace")
    options = parser.parse_args(own)
    with Node(plain=options.plain, network=options.network) as node:
        print(f"{node.name} is {node.state} after {node.boot_seconds:.1f} s", file=sys.stderr)
        if "PINTLE_BUILD" in os.environ:
            _install(node)
        if command:
            return subprocess.run([*node.entering(), *command], env=ENVIRONMENT, check=False).returncode
        if sys.stdin.isatty():
            return _shell(node)
        print(f"to run a command in it:  nsenter --target={node.leader} --all COMMAND\n"
              f"its system bus:          {node.bus_address}", flush=True)
        sys.stdin.read()
    return 0


def _shell(node):
    """Runs a login shell on a terminal in the node, and another one after a reboot from that shell."""
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
