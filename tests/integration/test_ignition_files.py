# SPDX-License-Identifier: Apache-2.0
"""Compares two file trees of a small OS: one after `pintle apply --root`, and one after the files stage of Ignition
2.14 and a first boot.

The configs are random combinations of what MachineConfigs may contain, the same in every run: contents, modes, owners,
paths through links, units and their enablement, SSH keys and passwords. Whole trees are compared. The intended
differences are listed below, each with its reason in docs/compatibility.md.

Instances of template units are left out, because Ignition asks a running systemd about them.
"""

import base64
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import tempfile
import time
import urllib.parse

import pytest

from machines import programs, shell

PINTLE = programs.here("pintle")
IGNITION = pathlib.Path("/usr/lib/dracut/modules.d/30ignition/ignition")  # Debian installs no other copy of Ignition.
CONFIG_COUNT = 1000 if os.environ.get("PINTLE_NIGHTLY") else 100

CORE, WWW = (1000, 1000), (33, 33)
UNITS_OF_THE_OS = {
    "os.service": "[Service]\nExecStart=/bin/os\n[Install]\nWantedBy=multi-user.target\n",
    "idle.service": "[Service]\nExecStart=/bin/idle\n[Install]\nWantedBy=multi-user.target\nAlias=lazy.service\n",
    "tick.timer": "[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n",
    "static.service": "[Service]\nExecStart=/bin/static\n",
    "also.timer": "[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n",
}
UNITS = ["new.service", "more.service", "other.timer", "unknown.service", "os.service", "idle.service", "tick.timer",
         "static.service"]
WANTED = "[Install]\nWantedBy=multi-user.target\n"
REQUIRED = "[Install]\nRequiredBy=one.target two.target\n"
# systemd does not know the key Alsø= and ignores it.
ALSO = "[Install]\nWantedBy=sockets.target\nAlsø=x\nAlso=also.timer\n"
# This preset has enabled units of the OS before Ignition runs, so Ignition's config does not decide about them.
PRESET_OF_THE_OS = "enable os.service\ndisable *\n"
FILES_OF_THE_OS = {
    "/etc/motd": (0o644, (0, 0)), "/etc/secret": (0o600, (0, 0)), "/etc/setgid": (0o2755, WWW),
    "/etc/conf.d/os.conf": (0o640, WWW), "/var/lib/app/state": (0o666, CORE), "/opt/tool": (0o755, (0, 0)),
}
FOLDERS_OF_THE_OS = {
    "/etc/conf.d": (0o750, WWW), "/etc/empty": (0o700, CORE), "/etc/shared": (0o775, (0, 33)),
    "/var/tmp": (0o1777, (0, 0)), "/home/core": (0o700, CORE), "/etc/systemd/system": (0o755, (0, 0)),
}
LINKS_OF_THE_OS = {
    "/etc/link": "motd", "/etc/absolute": "/etc/motd", "/etc/dangling": "nowhere", "/etc/out": "../../../../etc/motd",
    "/opt": "var/opt", "/srv": "/var/srv", "/etc/through": "/../../etc/shared",
}
# Paths in folders that exist, that are reached by a link, or that do not exist yet.
EXISTING_PATHS = [*FILES_OF_THE_OS, "/etc/link", "/etc/absolute", "/etc/dangling", "/etc/out", "/etc/empty"]
NEW_PATHS = [folder + name for folder in
             ["/etc/", "/etc/conf.d/", "/etc/through/", "/var/tmp/", "/opt/", "/srv/", "/etc/new/",
              "/etc/new/deep/down/", "/opt/new/", "/srv/new/down/", "/var/lib/fresh/", "/home/core/", "/usr/local/bin/"]
             for name in ["a", "b.conf", "name with a space", "ü", ".hidden", "-dash", "n" * 255]]


class Maker:
    """Makes random configs."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def some(self, choices, most, least=0):
        return self.random.sample(choices, self.random.randint(least, most))

    def with_probability(self, probability):
        return self.random.random() < probability

    def pick(self, *choices):
        return self.random.choice(choices)

    @staticmethod
    def without_nulls(**members):
        return {key: value for key, value in members.items() if value is not None}

    def bytes(self):
        size = self.pick(0, 1, 7, 100, 5000, 100_000)
        return self.pick(self.random.randbytes(size), b"text %41 #;, \n" * (size // 14), b"\0" * size)

    def contents(self):
        contents = self.bytes()
        compression = self.pick(None, None, "", "gzip")
        packed = gzip.compress(contents, mtime=0) if compression == "gzip" else contents
        if self.with_probability(0.5):
            url = "data:" + self.pick("", "text/plain", "text/plain;charset=utf-8") + ";base64,"
            url += base64.b64encode(packed).decode()
        else:
            url = "data:," + urllib.parse.quote(packed, safe="")
        return self.without_nulls(source=url, compression=compression)

    def owner(self):
        return self.pick(None, {}, {"id": 0}, {"id": 77}, {"id": 65534}, {"name": "core"}, {"name": "www-data"},
                         {"name": "root"})

    def file(self, path):
        overwrite = True if path in EXISTING_PATHS else self.pick(None, True, False)
        mode = self.pick(None, 0, 0o400, 0o600, 0o640, 0o644, 0o755, 0o777, self.random.randrange(0o1000))
        return self.without_nulls(path=path, contents=self.contents(), overwrite=overwrite, mode=mode,
                                  user=self.owner(), group=self.owner())

    def files(self):
        paths = [*self.some(EXISTING_PATHS, 5), *self.some(NEW_PATHS, 8)]
        self.random.shuffle(paths)
        return [self.file(path) for path in paths]

    def unit_text(self, name):
        install = self.pick("", WANTED, REQUIRED, f"[Install]\nAlias=also-{name}\n")
        if name == "os.service":  # This unit is enabled already, and stays so.
            install = WANTED
        if name == "new.service":  # Only one unit has Also=, because another one could disable what it enables.
            install = self.pick(ALSO, install)
        return self.pick("", "[Unit]\nDescription=ü\n") + "[Service]\nExecStart=/bin/new\n" + install

    def dropins(self):
        return [{"name": name, "contents": self.pick("[Unit]\nDescription=more\n", "[Service]\nNice=1\n")}
                for name in self.some(["10-a.conf", "20-b.conf", "ü.conf"], 2)]

    def unit(self, name):
        unit = {"name": name, "dropins": self.dropins() if self.with_probability(0.4) else None,
                "enabled": self.pick(None, True, True, False), "mask": self.pick(None, None, None, True, False)}
        if name not in UNITS_OF_THE_OS or self.with_probability(0.2):
            unit["contents"] = self.unit_text(name)
        return self.without_nulls(**unit)

    def units(self):
        return [self.unit(name) for name in self.some(UNITS, 5)]

    def users(self):
        keys = self.some([f"ssh-ed25519 AAAA{number} someone" for number in range(4)], 4, least=1)
        hash = self.pick(None, "$6$salt$hash", "$y$j9T$x$y")
        return [self.without_nulls(name="core", sshAuthorizedKeys=keys, passwordHash=hash)]

    def config(self):
        config = {"ignition": {"version": self.pick("3.2.0", "3.3.0")}, "storage": {"files": self.files()},
                  "systemd": {"units": self.units()}}
        if self.with_probability(0.3):
            config["passwd"] = {"users": self.users()}
        return config


def at(root, path):
    return pathlib.Path(f"{root}{path}")


def make_small_os(root):
    shutil.rmtree(root, ignore_errors=True)
    for folder in ["etc/systemd/system/multi-user.target.wants", "usr/lib/systemd/system",
                   "usr/lib/systemd/system-preset", "var/lib", "var/opt", "var/srv", "run"]:
        at(root, f"/{folder}").mkdir(parents=True)
    for path, (mode, owner) in FOLDERS_OF_THE_OS.items():
        at(root, path).mkdir(parents=True, exist_ok=True)
        os.chown(at(root, path), *owner)
        at(root, path).chmod(mode)
    for path, target in LINKS_OF_THE_OS.items():
        at(root, path).symlink_to(target)
    for path, (mode, owner) in FILES_OF_THE_OS.items():
        place = at(root, path)
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"{path} of the OS\n")
        os.chown(place, *owner)
        place.chmod(mode)
    for name, text in UNITS_OF_THE_OS.items():
        at(root, f"/usr/lib/systemd/system/{name}").write_text(text)
    at(root, "/usr/lib/systemd/system-preset/90-os.preset").write_text(PRESET_OF_THE_OS)
    at(root, "/etc/systemd/system/multi-user.target.wants/os.service").symlink_to("/usr/lib/systemd/system/os.service")
    accounts = [("root", 0, "/root"), ("core", 1000, "/home/core"), ("www-data", 33, "/var/www")]
    at(root, "/etc/passwd").write_text("".join(f"{name}:x:{id}:{id}::{home}:/bin/sh\n" for name, id, home in accounts))
    at(root, "/etc/group").write_text("".join(f"{name}:x:{id}:\n" for name, id, _ in accounts))
    at(root, "/etc/shadow").write_text("".join(f"{name}:*:19000:0:99999:7:::\n" for name, _, _ in accounts))
    at(root, "/etc/shadow").chmod(0o600)


class Ignition:
    """Runs the stages of a first boot in the initramfs, and then applies presets as the first start of systemd does."""

    def __init__(self, folder):
        shell.need(IGNITION, "usermod", "systemctl")
        self.scratch = folder / "ignition"
        programs = folder / "programs"
        programs.mkdir()
        # Ignition runs setfiles to label the files; Pintle leaves that to the running system.  The OS has no policy, so
        # this stand-in for setfiles does nothing.
        (programs / "setfiles").write_text("#!/bin/sh\nexec cat >/dev/null\n")
        (programs / "setfiles").chmod(0o755)
        self.path = f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin"

    def run(self, config, root):
        """Returns None, or the errors."""
        at(root, "/etc/selinux").mkdir()
        at(root, "/etc/selinux/config").write_text("SELINUXTYPE=targeted\n")
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        places = {name: self.scratch / name for name in ["config-cache", "state-file", "neednet"]}
        for stage in ["fetch-offline", "files"]:
            words = [IGNITION, "-platform=file", f"-stage={stage}", f"-root={root}", "-log-to-stdout",
                     *(f"-{name}={place}" for name, place in places.items())]
            answer = shell.run(*words, check=False, env={"IGNITION_CONFIG_FILE": str(config), "PATH": self.path})
            if answer.returncode != 0:  # Ignition logs the whole config, too.
                return "\n".join(line for line in answer.stdout.splitlines() if "CRITICAL" in line)
        shell.run("systemctl", f"--root={root}", "preset-all", "--preset-mode=enable-only", check=False)
        shutil.rmtree(at(root, "/etc/selinux"))
        return None


def what_is_at(path):
    """Returns the mode, the owner and the contents; for a link, "link", the owner and the target."""
    status = path.lstat()
    owner = status.st_uid, status.st_gid
    if path.is_symlink():
        return "link", owner, os.readlink(path)
    return oct(status.st_mode), owner, path.read_bytes() if path.is_file() else None


def attributes_of(path):
    names = os.listxattr(path, follow_symlinks=False)
    return {name: os.getxattr(path, name, follow_symlinks=False) for name in names}


def tree(root):
    """Returns everything in the tree, by its path."""
    found = {}
    for folder, folders, files in os.walk(root):
        for path in [pathlib.Path(folder, name) for name in [*folders, *files]]:
            found["/" + os.path.relpath(path, root)] = *what_is_at(path), attributes_of(path)
    return found


def by_name(found):
    """Replaces the target of each link in a .wants folder by the target's name, so that trees are compared without the
    folders that these links lead to: systemd starts the unit with the name of the link, wherever the link leads.
    """
    for path, (mode, owner, contents, attributes) in found.items():
        if mode == "link" and "/etc/systemd/system/" in path and ".wants/" in path:
            found[path] = mode, owner, os.path.basename(contents), attributes
    return found


def drop(found, *paths):
    for path in [path for path in found if any(path == dropped or path.startswith(dropped + "/") for dropped in paths)]:
        del found[path]


def of_ignition(root):
    found = tree(root)
    # These are Ignition's report, and the presets from which the first boot has made links.
    drop(found, "/etc/.ignition-result.json", "/etc/systemd/system-preset")
    # These are files of usermod.
    drop(found, "/etc/.pwd.lock", "/etc/passwd-", "/etc/shadow-")
    return found


def of_pintle(root):
    found = tree(root)
    # These are the config, the original files that it has replaced, the journal and the lock.
    drop(found, "/etc/machine-config-daemon", "/var/lib/pintle")
    drop(found, "/etc/.pwd.lock")
    return found


def differences(theirs, ours):
    return [f"  {path}\n    ignition: {theirs.get(path)!r:.300}\n    pintle:   {ours.get(path)!r:.300}"
            for path in sorted(theirs.keys() | ours.keys()) if theirs.get(path) != ours.get(path)]


@pytest.fixture
def scratch():
    """A folder in memory, because no disk is needed.  All users may enter it, because Ignition writes each user's keys
    as that user.
    """
    with tempfile.TemporaryDirectory(prefix="pintle-", dir="/dev/shm") as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


def apply(config, root):
    return shell.run(PINTLE, "apply", "--root", root, "--yes", config, check=False)


def test_apply_makes_the_tree_that_ignition_makes(scratch):
    ignition, started = Ignition(scratch), time.monotonic()
    theirs, ours, path = scratch / "theirs", scratch / "ours", scratch / "config.ign"
    wrong, files, units = [], 0, 0
    for seed in range(CONFIG_COUNT):
        config = Maker(seed).config()
        path.write_text(json.dumps(config))
        for root in theirs, ours:
            make_small_os(root)
        failure, answer = ignition.run(path, theirs), apply(path, ours)
        assert failure is None, f"seed {seed}: {failure}"
        found = [answer.stderr]
        if answer.returncode == 0:
            found = differences(by_name(of_ignition(theirs)), by_name(of_pintle(ours)))
        if found:
            wrong.append("\n".join([f"seed {seed}:", *found]))
        files, units = files + len(config["storage"]["files"]), units + len(config["systemd"]["units"])
    print(f"{CONFIG_COUNT} configs with {files} files and {units} units in {time.monotonic() - started:.1f} s")
    assert not wrong, f"{len(wrong)} of {CONFIG_COUNT}\n" + "\n".join(wrong[:5])


def our_file(path, **more):
    return {"path": path, "contents": {"source": "data:,ours"}, **more}


def with_file(**file):
    return {"storage": {"files": [file]}}


def with_unit(**unit):
    return {"systemd": {"units": [unit]}}


def make_full_folder(root):
    at(root, "/etc/folder").mkdir()
    at(root, "/etc/folder/someone's").write_text("work of years")


def make_home(root):
    at(root, "/var/www").mkdir()
    os.chown(at(root, "/var/www"), *WWW)


def give_password(root):
    at(root, "/etc/shadow").write_text("core:$6$mine:19000:0:99999:7:::\n")


class Matching:
    """Equals each value that the whole pattern matches."""

    def __init__(self, pattern):
        self.pattern = pattern

    def __eq__(self, other):
        return isinstance(other, type(self.pattern)) and re.fullmatch(self.pattern, other) is not None

    def __repr__(self):
        return f"Matching({self.pattern!r})"


REFUSED = "refused"
ROOT = (0, 0)
MOTD = b"/etc/motd of the OS\n"
KEYS = {"passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA"]}]}}
WWW_KEYS = {"passwd": {"users": [{"name": "www-data", "sshAuthorizedKeys": ["k"]}]}}
FOLDER = "/etc/systemd/system"
# Each case has a function that prepares the tree, the config, a path, and what Ignition and Pintle leave at this path.
# docs/compatibility.md has the reasons.
DIFFERENT = {
    "special bits": (
        None, with_file(**our_file("/etc/a", mode=0o4755)), "/etc/a",
        ("0o100755", ROOT, b"ours"), REFUSED),
    "a file that is there": (
        None, with_file(**our_file("/etc/motd")), "/etc/motd",
        REFUSED, ("0o100644", ROOT, b"ours")),
    "no contents": (
        None, with_file(path="/etc/motd", mode=0o600), "/etc/motd",
        ("0o100600", ROOT, MOTD), REFUSED),
    "a folder that gives its group": (
        lambda root: at(root, "/etc/shared").chmod(0o2775), with_file(**our_file("/etc/shared/a")), "/etc/shared/a",
        ("0o100644", (0, 33), b"ours"), ("0o100644", ROOT, b"ours")),
    "a folder with something in it": (
        make_full_folder, with_file(**our_file("/etc/folder", overwrite=True)), "/etc/folder",
        ("0o100644", ROOT, b"ours"), REFUSED),
    "a pipe": (
        lambda root: os.mkfifo(at(root, "/etc/pipe")), with_file(**our_file("/etc/pipe", overwrite=True)), "/etc/pipe",
        ("0o100644", ROOT, b"ours"), REFUSED),
    "appending": (
        None, with_file(path="/etc/motd", append=[{"source": "data:,ours"}]), "/etc/motd",
        ("0o100644", ROOT, MOTD + b"ours"), REFUSED),
    "an owner that is unknown": (
        None, with_file(**our_file("/etc/a", user={"name": "nobody-here"})), "/etc/a",
        REFUSED, REFUSED),
    "a directory": (
        None, {"storage": {"directories": [{"path": "/etc/a"}]}}, "/etc/a",
        ("0o40755", ROOT, None), REFUSED),
    "a link": (
        None, {"storage": {"links": [{"path": "/etc/a", "target": "motd"}]}}, "/etc/a",
        ("link", ROOT, "motd"), REFUSED),
    "another user": (
        make_home, WWW_KEYS, "/var/www/.ssh/authorized_keys.d/ignition",
        ("0o100600", WWW, b"k\n"), REFUSED),
    "a password and no hash": (
        give_password, KEYS, "/etc/shadow",
        ("0o100600", ROOT, b"core:$6$mine:19000:0:99999:7:::\n"),
        ("0o100600", ROOT, Matching(rb"core:\*:[0-9]+:0:99999:7:::\n"))),
    "another [Install] section for what is enabled": (
        None, with_unit(name="os.service", enabled=True, contents=UNITS_OF_THE_OS["tick.timer"]),
        f"{FOLDER}/multi-user.target.wants/os.service",
        ("link", ROOT, "/usr/lib/systemd/system/os.service"), None),
    "two units with one alias": (
        None, {"systemd": {"units": [{"name": name, "enabled": True, "contents": "[Install]\nAlias=c.service\n"}
                                     for name in ["a.service", "b.service"]]}}, f"{FOLDER}/c.service",
        ("link", ROOT, Matching(rf"{FOLDER}/[ab]\.service")), REFUSED),
    "a unit that is enabled by another and disabled by itself": (
        None, {"systemd": {"units": [
            {"name": "tick.timer", "enabled": False},
            {"name": "new.service", "enabled": True, "contents": "[Install]\nAlso=tick.timer\n"}]}},
        f"{FOLDER}/timers.target.wants/tick.timer",
        ("link", ROOT, "/usr/lib/systemd/system/tick.timer"), None),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_differs_only_as_intended(case, scratch):
    prepare, sections, place, *wanted = DIFFERENT[case]
    theirs, ours, path = scratch / "theirs", scratch / "ours", scratch / "config.ign"
    path.write_text(json.dumps({"ignition": {"version": "3.3.0"}, **sections}))
    for root in theirs, ours:
        make_small_os(root)
        if prepare:
            prepare(root)
    before = tree(ours)

    def outcome_of(root, is_done):
        if not is_done:
            return REFUSED
        return what_is_at(at(root, place)) if os.path.lexists(at(root, place)) else None

    found = [outcome_of(theirs, Ignition(scratch).run(path, theirs) is None),
             outcome_of(ours, apply(path, ours).returncode == 0)]
    assert found == wanted
    if found[1] == REFUSED:
        after = tree(ours)
        drop(after, "/var/lib/pintle")
        assert differences(before, after) == []
