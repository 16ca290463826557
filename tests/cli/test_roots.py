# SPDX-License-Identifier: Apache-2.0
"""Tests file trees that were made to lead Pintle to files outside the root: no such file is touched and nothing hangs.
A change that cannot be made is refused with an error that names the thing, the place and the remedy, and leaves the
root as it was.
"""

import fcntl
import hashlib
import os
import shutil
import socket
import stat
import subprocess
import sys

import pytest
from program import PINTLE, file, pintle, refused, with_files, write
from small_machine import Machine, tree

from machines import namespace, shell

NULL = os.makedev(1, 3)
UNIT = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
ENABLED = {"units": [{"name": "a.service", "contents": UNIT, "enabled": True}]}
KEYS = {"passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA someone"]}]}}
# From <linux/fs.h>.
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS = 0x80086601, 0x40086602
FS_IMMUTABLE_FL, FS_APPEND_FL = 0x10, 0x20


@pytest.fixture(scope="session", autouse=True)
def own_mounts():
    """Runs these tests in a mount namespace of their own, so that no mount outlives them."""
    place = os.getcwd()
    namespace.enter()
    os.chdir(place)


class GuardedMachine(Machine):
    """A machine with files beside its root, which no command may touch."""

    def __init__(self, folder):
        (folder / "root").mkdir()
        super().__init__(folder / "root")
        self.folder = folder
        self.outside = folder / "outside"
        for name in ["etc/motd", "motd", "a/b", "systemd/system/a.service", "ignition"]:
            (self.outside / name).parent.mkdir(parents=True, exist_ok=True)
            (self.outside / name).write_text("not for you\n")
        os.mknod(self.outside / "null", 0o666 | stat.S_IFCHR, NULL)
        self.outside_before = self.all_outside()

    def all_outside(self):
        names = sorted(path for path in self.folder.iterdir() if path not in (self.root, self.folder / "config.ign"))
        times = {str(path): path.lstat().st_mtime_ns for path in [self.outside, *self.outside.rglob("*")]}
        return [path.name for path in names], tree(self.folder, "outside"), times

    def tree(self):
        return {path: entry for path, entry in tree(self.root, ".").items() if "/var/lib/pintle" not in f"/{path}"}

    def config(self, *files, **sections):
        return write(self.folder / "config.ign", {**with_files(*files), **sections})

    def outcome(self, verb, *words):
        """Returns the status and all output. The time is limited: nothing may wait for a pipe."""
        answer = subprocess.run([PINTLE, verb, "--root", self.root, *map(str, words)], stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=60, check=False)
        return answer.returncode, (answer.stdout + answer.stderr).decode(errors="replace")

    def apply(self, *files, **sections):
        status, output = self.outcome("apply", "--yes", self.config(*files, **sections))
        assert status == 0, output

    def must_refuse(self, texts, *files, verb="apply", words=None, status=1, **sections):
        before = self.tree()
        config = self.config(*files, **sections)
        found, output = self.outcome(verb, *(["--yes", config] if words is None else words))
        assert found == status and all(text in output for text in texts), (found, output)
        assert self.tree() == before
        # No journal is left, which the next change would have to recover from.
        assert not self.path("/var/lib/pintle/change/journal.json").exists()

    def must_apply_and_undo(self, *files, **sections):
        before = self.tree()
        self.apply(*files, **sections)
        assert self.outcome("verify")[0] == 0
        assert self.outcome("apply", "--yes", "--none")[0] == 0
        assert self.tree() == before


@pytest.fixture
def machine(tmp_path):
    machine = GuardedMachine(tmp_path)
    yield machine
    assert machine.all_outside() == machine.outside_before


# ---- paths in a config ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/etc/../../outside/motd", "/../outside/motd", "/etc/..", "/etc/../etc/motd",
                                  "//etc/motd", "/etc//motd", "/etc/./motd", "/etc/motd/", "/etc/motd/.", "",
                                  "etc/motd", "../outside/motd", ".", ".."])
def test_a_path_that_is_not_plain_is_refused(machine, path):
    machine.must_refuse(["storage.files.0", "config.ign"], file(path))


@pytest.mark.parametrize("path,error", [("/etc/motd\0.d", "NUL"), ("/etc/\0", "NUL"), ("/etc/a\0/b", "NUL"),
                                        ("/", "not the path of a file")])
def test_a_path_that_the_kernel_would_take_for_another_is_refused(machine, path, error):
    machine.must_refuse([error], file(path))
    machine.must_refuse([error], file(path), words=["--dry-run", machine.folder / "config.ign"])


@pytest.mark.parametrize("name", ["../../../../outside/a.service", "a/b.service", "../motd.service", "/etc/a.service",
                                  "\n.service", "a b.service", "a\0.service", ".service", "n" * 256 + ".service"])
def test_the_name_of_a_unit_is_no_path(machine, name):
    units = [{"name": name, "contents": UNIT, "enabled": True}]
    machine.must_refuse(["not a name for a unit"], systemd={"units": units})


@pytest.mark.parametrize("name", ["../../../../../outside/a.conf", "a/b.conf", "../a.conf", "/etc/a.conf", "a\0.conf"])
def test_the_name_of_a_drop_in_is_no_path(machine, name):
    dropins = [{"name": name, "contents": "[Unit]\n"}]
    machine.must_refuse(["not a name for a drop-in"], systemd={"units": [{"name": "a.service", "dropins": dropins}]})


@pytest.mark.parametrize("path", ["/etc/new\nline", "/etc/\x1b[31mred", "/etc/-rf", "/etc/ ", "/etc/ü", "/etc/%n$s",
                                  "/etc/...", "/etc/" + "n" * 255, "/etc/" + "ü" * 127, "/etc" + "/n" * 100 + "/a"])
def test_a_strange_name_is_a_name(machine, path):
    machine.must_apply_and_undo(file(path, "ours\n"))


@pytest.mark.parametrize("path", ["/etc/" + "n" * 256, "/etc/" + "n" * 300 + "/a", "/etc/" + "ü" * 128,
                                  "/etc" + ("/" + "n" * 200) * 21, "/etc/" + "a/" * 3000 + "a"])
def test_a_name_that_is_too_long_is_refused(machine, path):
    machine.must_refuse([path[:100], "too long", "shorten"], file(path))


@pytest.mark.parametrize("length", range(4000, 4100, 9))
def test_a_path_about_as_long_as_can_be_is_taken_or_refused(machine, length):
    path = ("/etc" + ("/" + "n" * 200) * 30)[:length - 2].rstrip("/") + "/n"
    before = machine.tree()
    status, output = machine.outcome("apply", "--yes", machine.config(file(path)))
    assert status == 0 or ("too long" in output and machine.tree() == before), output
    assert machine.outcome("verify")[0] == 0
    assert machine.outcome("apply", "--yes", "--none")[0] == 0
    assert machine.tree() == before


# ---- links ----------------------------------------------------------------------------------------------------------


def test_links_that_are_absolute_lead_into_the_root(machine):
    machine.path("/outside").mkdir()
    for target in ["/outside", "/../../outside", "../../../../../../../../outside"]:
        link = machine.path("/etc/link")
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        machine.must_apply_and_undo(file("/etc/link/motd", "ours\n"))
        machine.apply(file("/etc/link/motd", "ours\n"))
        assert machine.path("/outside/motd").read_text() == "ours\n"
        machine.run("apply", "--yes", "--none")


def test_links_to_files_outside_the_root_lead_nowhere(machine):
    for target in [machine.outside, os.path.relpath(machine.outside, machine.path("/etc")), "../../outside/a"]:
        link = machine.path("/etc/link")
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        machine.must_refuse(["/etc/link", "leads nowhere", "create its target"], file("/etc/link/motd"))


def test_etc_itself_may_be_a_link(machine):
    shutil.move(machine.path("/etc"), machine.path("/elsewhere"))
    machine.path("/etc").symlink_to("/elsewhere")
    machine.must_apply_and_undo(file("/etc/motd", "ours\n"), file("/etc/new/a", "ours\n"),
                                systemd=ENABLED, **KEYS)


def test_etc_that_is_a_link_to_the_root_is_the_root(machine):
    for path in list(machine.path("/etc").iterdir()):
        shutil.move(path, machine.root)
    machine.path("/etc").rmdir()
    machine.path("/etc").symlink_to("/")
    machine.must_apply_and_undo(file("/etc/motd", "ours\n"), file("/etc/etc/etc/new", "ours\n"))


def test_a_link_is_replaced_and_its_target_is_not(machine):
    os.mkfifo(machine.path("/etc/pipe"))
    os.mknod(machine.path("/etc/null"), 0o666 | stat.S_IFCHR, NULL)
    for target in [machine.outside / "motd", "/outside/motd", "../../outside/motd", "motd", "pipe", "null", "nowhere",
                   "link", "/etc", b"\xff\xfe"]:
        link = machine.path("/etc/link")
        link.unlink(missing_ok=True)
        os.symlink(target, link)
        machine.must_apply_and_undo(file("/etc/link", "ours\n"))


@pytest.mark.parametrize("target,error", [("loop", "symlinks form a loop"), ("one", "symlinks form a loop"),
                                          ("motd", "must be a directory"),
                                          ("null", "must be a directory"), ("pipe", "must be a directory"),
                                          ("nowhere", "leads nowhere")])
def test_a_link_that_does_not_lead_to_a_directory_is_refused(machine, target, error):
    os.mkfifo(machine.path("/etc/pipe"))
    os.mknod(machine.path("/etc/null"), 0o666 | stat.S_IFCHR, NULL)
    machine.path("/etc/one").symlink_to("other")
    machine.path("/etc/other").symlink_to("one")
    machine.path("/etc/loop").symlink_to(target)
    for path in ["/etc/loop/a", "/etc/loop/a/b/c"]:
        machine.must_refuse(["/etc/loop", error], file(path))


def test_links_in_a_home_lead_to_no_file_outside(machine):
    home = machine.path("/home/core")
    for place in [".ssh", ".ssh/authorized_keys.d"]:
        for target in [machine.outside, "../../../outside", "/outside"]:
            (home / place).parent.mkdir(exist_ok=True)
            os.chown((home / place).parent, 1000, 1000)
            (home / place).symlink_to(target)
            machine.must_refuse([f"/home/core/{place}", "remove it"], **KEYS)
            (home / place).unlink()


def test_a_home_outside_the_root_is_looked_up_inside(machine):
    passwd = machine.path("/etc/passwd")
    passwd.write_text(passwd.read_text().replace(":/home/core:", ":/../../outside:"))
    machine.must_refuse(["/../../outside"], **KEYS)
    machine.path("/outside").mkdir()
    os.chown(machine.path("/outside"), 1000, 1000)
    machine.apply(**KEYS)
    assert machine.path("/outside/.ssh/authorized_keys.d/ignition").exists()


def test_links_of_units_lead_to_no_file_outside(machine):
    units = machine.path("/etc/systemd/system")
    (units / "multi-user.target.wants").symlink_to(machine.outside)
    machine.must_refuse(["multi-user.target.wants"], systemd=ENABLED)
    (units / "multi-user.target.wants").unlink()
    (units / "a.service.d").symlink_to(machine.outside)
    machine.must_refuse(["a.service.d"], systemd={"units": [
        {"name": "a.service", "dropins": [{"name": "a.conf", "contents": "[Unit]\n"}]}]})


@pytest.mark.parametrize("place", ["/var/lib/pintle", "/var/lib", "/var", "/etc/machine-config-daemon"])
def test_links_in_place_of_pintles_folders_lead_to_no_file_outside(machine, place):
    if machine.path(place).exists():
        shutil.rmtree(machine.path(place))
    for target in [machine.outside, "../../outside", "../../../../outside", "/outside"]:
        machine.path(place).symlink_to(target)
        status, output = machine.outcome("apply", "--yes", machine.config(file("/etc/motd", "ours\n")))
        assert status == 1 and place in output and machine.path("/etc/motd").read_text() != "ours\n", output
        machine.path(place).unlink()


def test_a_root_may_be_a_link_and_must_be_a_directory(machine):
    link = machine.folder / "link"
    link.symlink_to("root")
    assert pintle("verify", "--root", link).status == 0
    link.unlink()
    for path in ["/etc/motd", "/etc/pipe"]:
        if not machine.path(path).exists():
            os.mkfifo(machine.path(path))
        refused("verify", "--root", machine.path(path), texts=str(machine.path(path)))


# ---- things that are no files ----------------------------------------------------------------------------------------


def make_socket(path):
    # The path of a socket must be short.
    with socket.socket(socket.AF_UNIX) as listener:
        folder = os.open(path.parent, os.O_PATH)
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)


# Functions that make things that are neither regular files nor directories nor links.
SPECIAL_FILES = {
    "named pipe": os.mkfifo,
    "socket": make_socket,
    "device node": lambda path: os.mknod(path, 0o666 | stat.S_IFCHR, NULL),
    "block device": lambda path: os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(7, 250)),
}


def name_of(kind):
    return "device node" if kind == "block device" else kind


@pytest.mark.parametrize("kind", SPECIAL_FILES)
def test_only_files_directories_and_links_are_replaced(machine, kind):
    SPECIAL_FILES[kind](machine.path("/etc/thing"))
    machine.must_refuse(["/etc/thing", name_of(kind), "move it away"], file("/etc/thing"))
    machine.must_refuse(["/etc/thing", "must be a directory", "move it away"], file("/etc/thing/below"))


@pytest.mark.parametrize("kind", SPECIAL_FILES)
@pytest.mark.parametrize("place", ["/etc/systemd/system/a.service", "/etc/systemd/system/a.service.d/a.conf",
                                   "/etc/systemd/system/a.service.d", "/etc/systemd/system/multi-user.target.wants",
                                   "/etc/systemd/system/multi-user.target.wants/a.service", "/home/core/.ssh",
                                   "/home/core/.ssh/authorized_keys.d/ignition", "/etc/passwd", "/etc/shadow",
                                   "/etc/machine-config-daemon", "/etc/machine-config-daemon/currentconfig",
                                   "/etc/machine-config-daemon/noorig"])
def test_nothing_waits_for_a_pipe_or_a_device(machine, kind, place):
    path = machine.path(place)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    SPECIAL_FILES[kind](path)
    for owned in [path, *path.parents]:
        if "/home/core/" in str(owned):
            os.chown(owned, 1000, 1000)
    dropins = [{"name": "a.conf", "contents": "[Unit]\n"}]
    units = {"units": [{"name": "a.service", "contents": UNIT, "enabled": True, "dropins": dropins}]}
    expected = "SSH keys" if place.endswith("/ignition") else "password" if place == "/etc/shadow" else place
    machine.must_refuse([expected], file("/etc/new/a"), systemd=units, **KEYS)


@pytest.mark.parametrize("kind", SPECIAL_FILES)
def test_pintles_own_files_may_be_anything(machine, kind):
    machine.apply(file("/etc/motd", "ours\n"))
    for place in ["/var/lib/pintle/change/journal.json", "/var/lib/pintle/lock"]:
        machine.path(place).unlink(missing_ok=True)
        SPECIAL_FILES[kind](machine.path(place))
        for verb in "recover", "verify", "apply":
            status, output = machine.outcome(verb, *([] if verb != "apply" else ["--yes", machine.config()]))
            assert status in (0, 1, 2) and (status == 0 or place in output), (verb, status, output)
        machine.path(place).unlink()


def test_presets_and_units_of_the_os_may_be_anything(machine):
    presets = machine.path("/usr/lib/systemd/system-preset")
    presets.mkdir()
    for name, make in SPECIAL_FILES.items():
        path = machine.path(f"/usr/lib/systemd/system/{name.split()[0]}.service")
        make(path)
        machine.must_refuse([path.name], systemd={"units": [{"name": path.name, "enabled": True}]})
        make(presets / "50-a.preset")
        machine.must_refuse(["50-a.preset"], systemd={"units": [{"name": "a.service", "contents": UNIT}]})
        (presets / "50-a.preset").unlink()


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), os.mkfifo, lambda path: path.symlink_to("motd"),
                                  lambda path: path.write_text("mine\n")])
def test_leftovers_beside_a_place_are_not_in_the_way(machine, make):
    machine.apply(file("/etc/motd", "one\n"))
    before = machine.tree()
    make(machine.path("/etc") / beside("motd"))
    machine.apply(file("/etc/motd", "two\n"))
    machine.apply(file("/etc/motd", "one\n"))
    assert machine.tree() == before


def test_a_user_who_takes_the_temporary_names_neither_prevents_a_change_nor_its_undo(machine):
    """The users of the machine know these names: they are made of the names of files."""
    conf = machine.path("/home/core/conf")
    conf.mkdir()
    os.chown(conf, 1000, 1000)
    before = {"/etc/motd": "one\n", "/home/core/conf/app": "one\n"}
    machine.apply(*[file(path, text) for path, text in before.items()])
    deep = conf / beside("other")
    for name in [beside(""), beside("app")]:
        (conf / name / "theirs").mkdir(parents=True)
    (deep / "/".join([".pintle-a"] * 300)).mkdir(parents=True)
    after = {"/etc/motd": "two\n", "/home/core/conf/app": "two\n", "/home/core/conf/other": "two\n"}
    machine.apply(*[file(path, text) for path, text in after.items()])
    assert {path: machine.path(path).read_text() for path in after} == after
    assert machine.outcome("recover")[0] == 0
    machine.apply(*[file(path, text) for path, text in before.items()])
    assert {path: machine.path(path).read_text() for path in before} == before
    assert sorted(path.name for path in conf.iterdir()) == sorted([beside(""), beside("app"), beside("other"), "app"])


@pytest.mark.parametrize("owner", [1000, 0])
def test_a_file_of_a_user_that_is_longer_than_any_disk_is_reported(machine, owner):
    conf = machine.path("/home/core/conf")
    conf.mkdir()
    os.chown(conf, 1000, 1000)
    machine.apply(file("/home/core/conf/app", "ours\n"))
    os.truncate(conf / "app", 1 << 43)
    os.chown(conf / "app", owner, owner)
    config = machine.config(file("/home/core/conf/app", "new\n"))
    for words in [["verify"], ["restore", "/home/core/conf/app"], ["apply", "--yes", config], ["adopt", "/home/core/conf/app"]]:
        status, output = machine.outcome(*words)
        assert status in (1, 2) and "/home/core/conf/app" in output and "move it away" in output, (words, output)
    (conf / "app").unlink()
    assert machine.outcome("restore", "/home/core/conf/app")[0] == 0


def beside(name):
    return ".pintle-" + hashlib.sha256(name.encode()).hexdigest()[:16]


# ---- things of another kind -----------------------------------------------------------------------------------------


def test_a_directory_with_something_in_it_is_not_replaced(machine):
    machine.must_refuse(["/etc/systemd", "a directory that is not empty is there", "move it away"],
                        file("/etc/systemd"))


def test_an_empty_directory_is_replaced_and_comes_back(machine):
    machine.path("/etc/empty").mkdir(mode=0o700)
    os.chown(machine.path("/etc/empty"), 1000, 1000)
    machine.must_apply_and_undo(file("/etc/empty", "ours\n"))


def test_a_file_is_no_directory(machine):
    for path in ["/etc/motd/a", "/etc/motd/a/b"]:
        machine.must_refuse(["/etc/motd", "must be a directory", "move it away"], file(path))


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def full_folder(path):
    path.mkdir()
    (path / "someone's").write_text("work of years\n")


REPLACEMENTS = {
    "empty directory": (lambda path: path.mkdir(), None), "full directory": (full_folder, "move it away"),
    "link": (lambda path: path.symlink_to("motd"), None),
    "dangling link": (lambda path: path.symlink_to("nowhere"), None),
    "link to itself": (lambda path: path.symlink_to(path.name), None),
    "other file": (lambda path: path.write_text("x"), None),
    "nothing": (lambda path: None, None),
    **{kind: (make, "move it away") for kind, make in SPECIAL_FILES.items()},
}


@pytest.mark.parametrize("kind", REPLACEMENTS)
def test_a_thing_that_someone_has_replaced_is_reported_and_restored(machine, kind):
    make, remedy = REPLACEMENTS[kind]
    machine.apply(file("/etc/new/app.conf", "ours\n"))
    wanted = machine.tree()
    place = machine.path("/etc/new/app.conf")
    remove(place)
    make(place)
    machine.must_refuse(["/etc/new/app.conf"], verb="verify", words=[], status=2)
    machine.must_refuse(["/etc/new/app.conf"], words=["--yes", "--none"], status=2)
    if remedy:
        machine.must_refuse(["/etc/new/app.conf", remedy], verb="restore", words=["/etc/new/app.conf"])
        remove(place)
    assert machine.outcome("restore", "/etc/new/app.conf")[0] == 0
    assert machine.tree() == wanted


@pytest.mark.parametrize("kind", REPLACEMENTS)
def test_a_folder_that_someone_has_replaced_is_reported(machine, kind):
    make, _ = REPLACEMENTS[kind]
    machine.apply(file("/etc/new/app.conf", "ours\n"))
    wanted = machine.tree()
    place = machine.path("/etc/new")
    shutil.rmtree(place)
    make(place)
    machine.must_refuse(["/etc/new/app.conf"], verb="verify", words=[], status=2)
    machine.must_refuse(["/etc/new/app.conf"], words=["--yes", "--none"], status=2)
    status, output = machine.outcome("restore", "/etc/new/app.conf")
    if status == 1:
        remove(place)
        status, output = machine.outcome("restore", "/etc/new/app.conf")
    assert status == 0, output
    if kind == "full directory":
        assert (place / "someone's").read_text() == "work of years\n"
        (place / "someone's").unlink()
    assert machine.tree() == wanted


def test_a_path_may_become_a_folder_and_a_folder_a_path(machine):
    before = machine.tree()
    machine.apply(file("/etc/new", "a file\n"))
    machine.apply(file("/etc/new/below", "in a folder\n"))
    assert machine.path("/etc/new/below").read_text() == "in a folder\n"
    machine.apply(file("/etc/new", "a file again\n"))
    assert machine.path("/etc/new").read_text() == "a file again\n"
    machine.run("apply", "--yes", "--none")
    assert machine.tree() == before


# ---- things that cannot be written ----------------------------------------------------------------------------------


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


@pytest.fixture
def mounts():
    """Makes mounts that end with the test."""
    made = []

    def make(place, *words):
        mount(*words, place)
        made.append(place)

    yield make
    for place in reversed(made):
        subprocess.run(["umount", "--recursive", place], check=True)


class Flagged:
    """A file with an attribute set by chattr(1)."""

    def __init__(self, path, flag):
        self.path, self.flag = path, flag

    def change(self, change):
        with_flags = os.open(self.path, os.O_RDONLY)
        flags = bytearray(8)
        fcntl.ioctl(with_flags, FS_IOC_GETFLAGS, flags)
        value = change(int.from_bytes(flags[:4], sys.byteorder))
        fcntl.ioctl(with_flags, FS_IOC_SETFLAGS, value.to_bytes(4, sys.byteorder) + bytes(4))
        os.close(with_flags)

    def __enter__(self):
        self.change(lambda flags: flags | self.flag)

    def __exit__(self, *_):
        self.change(lambda flags: flags & ~self.flag)


@pytest.mark.parametrize("flag,letter", [(FS_IMMUTABLE_FL, "i"), (FS_APPEND_FL, "a")])
@pytest.mark.parametrize("place", ["/etc/motd", "/etc/folder"])
def test_a_file_protected_by_chattr_is_refused(machine, flag, letter, place):
    machine.path("/etc/folder").mkdir()
    with Flagged(machine.path(place), flag):
        path = "/etc/motd" if place == "/etc/motd" else "/etc/folder/new"
        machine.must_refuse([path, f"chattr -{letter}"], file("/etc/first"), file(path, "ours\n"))
    machine.must_apply_and_undo(file("/etc/first"), file(path, "ours\n"))


@pytest.mark.parametrize("place", ["", "/etc", "/var", "/etc/folder", "/home/core"])
def test_a_read_only_mount_is_refused(machine, mounts, place):
    machine.path("/etc/folder").mkdir()
    mounts(machine.path(place or "/"), "--bind", machine.path(place or "/"))
    mount("-o", "remount,ro,bind", machine.path(place or "/"))
    machine.must_refuse(["read-only", "mount it read-write"], file("/etc/folder/a"), systemd=ENABLED, **KEYS)


@pytest.mark.parametrize("options,size", [("size=256k", 100_000), ("nr_inodes=4", 1)])
@pytest.mark.parametrize("place", ["/etc/folder", "/var/lib"])
def test_contents_that_do_not_fit_are_refused(machine, mounts, place, options, size):
    machine.path("/etc/folder").mkdir()
    mounts(machine.path(place), "-t", "tmpfs", "-o", options, "tmpfs")
    files = [file("/etc/motd", "ours\n"), *(file(f"/etc/folder/{number}", str(number) * size) for number in range(6))]
    machine.must_refuse(["free some "], *files)


def test_a_mount_point_is_not_replaced(machine, mounts):
    machine.path("/etc/folder").mkdir()
    machine.path("/etc/file").write_text("below\n")
    mounts(machine.path("/etc/folder"), "-t", "tmpfs", "tmpfs")
    mounts(machine.path("/etc/file"), "--bind", machine.path("/etc/motd"))
    for path in ["/etc/folder", "/etc/file"]:
        machine.must_refuse([path, "something is mounted there", "unmount it"], file(path, "ours\n"))
    machine.must_apply_and_undo(file("/etc/folder/a", "ours\n"), file("/etc/folder/b/c", "ours\n"))


def test_a_neighbour_that_is_mounted_inside_is_inside(machine, mounts):
    machine.path("/etc/folder").mkdir()
    mounts(machine.path("/etc/folder"), "--bind", machine.root)
    machine.apply(file("/etc/folder/etc/motd", "ours\n"))
    assert machine.path("/etc/motd").read_text() == "ours\n"
    machine.run("apply", "--yes", "--none")
    assert machine.path("/etc/motd").read_text() == "the OS's greeting\n"


def test_a_program_that_runs_is_replaced(machine):
    tool = machine.path("/usr/tool")
    shutil.copy("/bin/sleep", tool)
    with shell.running(tool, "600") as running:
        before = machine.tree()
        machine.apply(file("/usr/tool", "#!/bin/sh\n", mode=0o755))
        assert tool.read_text() == "#!/bin/sh\n" and running.poll() is None
        machine.run("apply", "--yes", "--none")
        assert machine.tree() == before and running.poll() is None
        running.kill()


@pytest.mark.parametrize("mode", [0o1777, 0o2775, 0o3777])
def test_folders_with_special_bits_keep_them_and_do_not_pass_them_on(machine, mode):
    folder = machine.path("/etc/folder")
    folder.mkdir()
    os.chown(folder, 1000, 1000)
    folder.chmod(mode)
    machine.apply(file("/etc/folder/a", "ours\n"), file("/etc/folder/new/b", "ours\n", user={"name": "core"}))
    found = tree(machine.root, "etc/folder")
    assert [found[path][:3] for path in sorted(found)] == [
        (oct(stat.S_IFDIR | mode), 1000, 1000), ("0o100644", 0, 0), ("0o40755", 0, 0), ("0o100644", 1000, 0)]


# ---- names that are not UTF-8 ---------------------------------------------------------------------------------------


def test_names_that_are_no_utf8_are_left_alone(machine):
    units = os.fsencode(machine.path("/etc/systemd/system"))
    os.makedirs(units + b"/multi-user.target.wants")
    os.makedirs(units + b"/\xff.target.wants")
    for path in [b"/\xff.service", b"/multi-user.target.wants/\xfe.service", b"/\xff.target.wants/b.service",
                 b"/b.service"]:
        os.symlink(b"/\xff\xfe", units + path)
    os.symlink(b"/usr/lib/\xff", units + b"/multi-user.target.wants/b.service")
    os.makedirs(units + b"/a.service.d")
    with open(units + b"/a.service.d/\xff.conf", "w") as dropin:
        dropin.write("[Install]\nWantedBy=other.target\n")
    dropins = [{"name": "a.conf", "contents": "[Unit]\n"}]
    machine.must_apply_and_undo(file("/etc/motd", "ours\n"), systemd={"units": [
        {"name": "a.service", "contents": UNIT, "enabled": True, "dropins": dropins}]})
