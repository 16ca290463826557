# SPDX-License-Identifier: Apache-2.0
"""A node with `pintle`, a user, and a service that reads a file; and a description of everything that a config changes.
"""

import contextlib
import hashlib
import json
import os

from machines.programs import on_machine

PINTLE = on_machine("pintle")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl someone"
# The service starts only with valid settings.  It may be restarted any number of times.
APP = """[Unit]
StartLimitIntervalSec=0
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/grep -q good /etc/app/app.conf
[Install]
WantedBy=multi-user.target
"""
RESTART = {"type": "Restart", "restart": {"serviceName": "app.service"}}
POLICY = {"files": [{"path": "/etc/app/app.conf", "actions": [RESTART]},
                    {"path": "/etc", "actions": [{"type": "None"}]}],
          "units": [{"name": "*", "actions": [{"type": "None"}]}],
          "sshkey": {"actions": [{"type": "None"}]}}
UNITS = ["app.service", "systemd-logind.service", "systemd-tmpfiles-clean.timer", "getty@tty1.service", "second.timer"]


def file(path, contents, **more):
    return {"path": path, "contents": {"source": "data:," + contents}, **more}


def config(settings="good", greeting="ours", key=KEY, units=()):
    """Returns a config with a file in place of one of the OS's, a file in a new folder, a unit, a drop-in, a mask and a
    key.
    """
    return {
        "ignition": {"version": "3.4.0"},
        "storage": {"files": [file("/etc/issue", greeting), file("/etc/app/app.conf", settings, mode=0o600)]},
        "systemd": {"units": [
            {"name": "app.service", "enabled": True, "contents": APP},
            {"name": "systemd-logind.service", "dropins": [
                {"name": "10-app.conf", "contents": f"[Service]\nEnvironment=APP={greeting}\n"}]},
            *units,
        ]},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": [key]}]},
    }


MASK = {"name": "systemd-tmpfiles-clean.timer", "mask": True}
SECOND = {"name": "second.timer", "enabled": True,
          "contents": "[Timer]\nOnCalendar=yearly\n[Install]\nWantedBy=timers.target\n"}


class Machine:
    """A node with a user, and the config files that `pintle` reads on it."""

    def __init__(self, node):
        self.node = node
        node.run("useradd", "--create-home", "--password", "*", "core")
        node.run("mkdir", "/root/configs")
        self.write("/root/policy.json", POLICY)

    def write(self, path, contents):
        text = contents if isinstance(contents, str) else json.dumps(contents)
        self.node.run("tee", path, input=text)

    def read(self, path):
        return self.node.run("cat", path).stdout

    def run(self, *words, status=0):
        answer = self.node.run(PINTLE, *words, check=False)
        assert answer.returncode == status, (answer.returncode, answer.stdout, answer.stderr)
        return answer

    def apply(self, ignition, *words, status=0):
        self.write("/root/configs/50-all.ign", ignition)
        return self.run("apply", "--yes", "--policy", "/root/policy.json", *words, "/root/configs", status=status)

    def remove_config(self):
        return self.run("apply", "--yes", "--policy", "/root/policy.json", "--none")

    def state(self):
        """Describes everything that a config can change: the file tree byte for byte, and the units as systemd sees
        them.
        """
        home = "/home" if self.node.plain else "/var/home"
        return {**tree_of(self.node, "/etc"), **tree_of(self.node, home), "units": self._units()}

    def _units(self):
        shown = self.node.run("systemctl", "show", "--property=Id,UnitFileState,LoadState,NeedDaemonReload", *UNITS)
        return shown.stdout


def tree_of(node, top):
    """Describes all files of a running node in and below a folder, byte for byte."""
    found = {}
    outside = node.path(top)
    for path in [outside, *outside.rglob("*")]:
        # The agent may be at work, and remove a temporary file that was listed.
        with contextlib.suppress(FileNotFoundError):
            found[os.path.join(top, os.path.relpath(path, outside))] = _description(path)
    return found


def _description(path):
    status = path.lstat()
    contents = ""
    if path.is_symlink():
        contents = os.readlink(path)
    elif path.is_file():
        contents = hashlib.sha256(_contents(path)).hexdigest()
    return oct(status.st_mode), status.st_uid, status.st_gid, contents


def _contents(path):
    contents = path.read_bytes()
    # Of shadow, only the names and passwords count.  It also has the day of a change, which differs after midnight.
    if path.name == "shadow":
        contents = b"\n".join(line.split(b":")[0] + b":" + line.split(b":")[1]
                              for line in contents.splitlines() if b":" in line)
    return contents


def difference(before, after):
    return {key: (before.get(key), after.get(key)) for key in before.keys() | after.keys()
            if before.get(key) != after.get(key)}
