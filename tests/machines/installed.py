# SPDX-License-Identifier: Apache-2.0
"""Pintle on a test machine, with its units as the package has them, and configs for it to apply."""

import json
import os
import pathlib
import re

from . import programs

BUILD = pathlib.Path(os.environ.get("PINTLE_BUILD", "build"))
SOURCE = pathlib.Path(__file__).resolve().parents[2]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl someone"
KEYS_FILE = "/home/core/.ssh/authorized_keys.d/ignition"
APP = {"name": "app.service", "enabled": True,
       "contents": "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"}


def file(path, contents, mode=0o644):
    return {"path": path, "mode": mode, "contents": {"source": "data:," + contents}}


def machine_config(files, image="", arguments=(), units=(), users=()):
    spec = {"osImageURL": image, "kernelArguments": list(arguments),
            "config": {"ignition": {"version": "3.4.0"}, "storage": {"files": files},
                       "systemd": {"units": list(units)}, "passwd": {"users": list(users)}}}
    return {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
            "metadata": {"name": "50-all", "labels": {"machineconfiguration.openshift.io/role": "worker"}}, "spec": spec}


def everything(image=""):
    """Returns a config with files in /etc and /var, a unit, a key, kernel arguments, and an image if one is named."""
    files = [file("/etc/managed", "new"), file("/etc/new/folder/file", "deep", 0o600), file("/var/lib/managed", "new"),
             file("/etc/issue", "ours")]
    return machine_config(files, image, ["probe=1", 'quoted="a b"'], [APP],
                          [{"name": "core", "sshAuthorizedKeys": [KEY]}])


class Installed:
    """A machine with Pintle's units; `program` is the path of `pintle` in it."""

    def __init__(self, machine, program):
        self.machine, self.program = machine, program
        self.run = machine.run
        self.run("useradd", "--create-home", "--password", "*", "core")
        self.run("mkdir", "/root/configs")
        if not programs.are_installed():
            self._install_units(str(program))
        self.run("systemctl", "enable", "pintle-recover-files.service", "pintle-recover.service")

    def _install_units(self, program):
        """Installs the units and the D-Bus policy as packages do, for programs of a build folder."""
        agent = program.replace("ctl/pintle", "agent/pintled")
        for unit in (BUILD / "systemd").glob("*.service"):
            text = re.sub(r"(?m)^(Exec\w+=)\S+/(pintled?)(?= |$)",
                          lambda match: match[1] + (agent if match[2] == "pintled" else program), unit.read_text())
            self.run("tee", f"/etc/systemd/system/{unit.name}", input=text)
        self.run("mkdir", "--parents", "/etc/dbus-1/system.d")
        bus = SOURCE / "systemd/io.pintle.Agent1.conf"
        self.run("tee", f"/etc/dbus-1/system.d/{bus.name}", input=bus.read_text())
        self.run("systemctl", "daemon-reload")

    def pintle(self, *words, status=0):
        """Runs `pintle`, which has to end with this exit status; returns its output, from both streams."""
        answer = self.run(self.program, *words, check=False)
        assert answer.returncode == status, (answer.returncode, answer.stdout, answer.stderr)
        return answer.stdout + answer.stderr

    def write_config(self, config):
        self.run("tee", "/root/configs/50-all.json", input=json.dumps(config))

    def apply(self, config, *words, status=2):
        """Applies the config; with None, removes the config that is in effect.

        The command does not reboot; the test has to.  The exit status 2 means that a reboot is needed.
        """
        if config:
            self.write_config(config)
        source = ["/root/configs"] if config else ["--none"]
        return self.pintle("apply", "--yes", "--no-reboot", *words, *source, status=status)

    def settle(self):
        """Waits until the change that needed this boot has ended."""
        self.run("systemctl", "start", "pintle-recover.service")

    def read(self, path):
        return self.run("cat", path).stdout

    def has(self, path):
        return self.run("test", "-e", path, check=False).returncode == 0

    def arguments(self):
        return self.read("/proc/cmdline").split()

    def of_everything(self):
        """Returns which parts of everything() are in effect."""
        return {**{path: self.read(path) if self.has(path) else None
                   for path in ("/etc/managed", "/etc/new/folder/file", "/var/lib/managed", KEYS_FILE)},
                "argument": "probe=1" in self.arguments(),
                "unit": self.run("systemctl", "is-active", "app.service", check=False).stdout.strip()}


# The results of Installed.of_everything() if no part of everything() is in effect, and if all parts are.
NOTHING = {"/etc/managed": None, "/etc/new/folder/file": None, "/var/lib/managed": None, KEYS_FILE: None,
           "argument": False, "unit": "inactive"}
ALL = {"/etc/managed": "new", "/etc/new/folder/file": "deep", "/var/lib/managed": "new", KEYS_FILE: KEY + "\n",
       "argument": True, "unit": "active"}
