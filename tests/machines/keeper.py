# SPDX-License-Identifier: Apache-2.0
"""Keeps one running machine.  It is a program of its own: it ends with its machine, and its machine ends with it.

A JSON file describes the machine; the end of standard input stops it.  Standard input also ends when the test
program dies, in whatever way.  Then nobody else is left to clean up, so the machine's files are removed as well.

It is started in a mount namespace of its own, so that its mounts are visible to the machine only and cannot outlive
it.  Since it is run as a file there, it imports none of our modules.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CGROUPS = pathlib.Path("/sys/fs/cgroup")
RUN = pathlib.Path("/run/pintle")
SYSROOT = RUN / "initramfs/sysroot"
FITHAW = 0xC0045878

libc = ctypes.CDLL(None, use_errno=True)


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def only_the_second_cgroup_version():
    """Some hosts mount both versions; systemd wants one, and machines that run side by side want separate groups."""
    if os.path.ismount(CGROUPS):
        subprocess.run(["umount", "--recursive", CGROUPS], check=True)
    mount("-t", "cgroup2", "none", CGROUPS)


def overlay(boot, run):
    """Mounts a root over the plain one, which is never written.  Returns the root and its nspawn options."""
    root = run / "root"
    root.mkdir()
    layers = pathlib.Path(boot["layers"])
    mount("-t", "overlay", "overlay", "-o",
          f"lowerdir={boot['lower']},upperdir={layers}/upper,workdir={layers}/work", root)
    return root, []


def deployment(boot, run):
    """Does the initramfs's work: the OS's own ostree-prepare-root finds the deployment that the boot entry names."""
    initramfs, arguments = SYSROOT.parent, run / "cmdline"
    arguments.write_text(boot["options"] + "\n")
    initramfs.mkdir()
    mount("-t", "tmpfs", "tmpfs", initramfs)
    for name in ("usr", "proc", "dev", "sys", "run", "etc", "tmp", "sysroot"):
        (initramfs / name).mkdir()
    for name in ("bin", "lib", "lib64"):
        (initramfs / name).symlink_to(f"usr/{name}")
    # The disk needs a file system of its own, since libostree really remounts it.  The machine's syncs need not reach
    # the host's disk, since a power cut of the host would end the test as well.
    mount("-o", "loop,barrier=0", boot["disk"], SYSROOT)
    chosen = next(word for word in reversed(boot["options"].split()) if word.startswith("ostree="))
    mount("--bind", SYSROOT / chosen.removeprefix("ostree=/") / "usr", initramfs / "usr")
    for name in ("proc", "dev", "sys"):
        mount("--rbind", f"/{name}", initramfs / name)
    mount("--bind", "/run", initramfs / "run")
    mount("--bind", arguments, initramfs / "proc/cmdline")
    subprocess.run(["chroot", initramfs, "/usr/lib/ostree/ostree-prepare-root", "/sysroot"], check=True)
    options = [
        # The file is in a /run that the machine covers with its own.
        "--bind-ro=/run/ostree-booted", "--tmpfs=/run/ostree:mode=0755",
        # nspawn mounts over /proc from inside the machine, so the source has to be there, too.
        f"--bind-ro={arguments}:/run/host/cmdline", "--bind-ro=/run/host/cmdline:/proc/cmdline",
    ]
    if pathlib.Path("/run/ostree-sysroot-ro.stamp").exists():
        # This file in the initramfs makes ostree-remount mount /sysroot read-only.  It cannot be a mount, since
        # ostree-remount has to remove it.
        ask = run / "ask.conf"
        ask.write_text("[Service]\nExecStartPre=touch /run/ostree-sysroot-ro.stamp\n")
        options.append(f"--bind-ro={ask}:/run/systemd/system/ostree-remount.service.d/ask.conf")
    return SYSROOT, options


def thaw():
    """Thaws a file system that the machine has frozen, as ostree does for a moment after changing /boot.

    A real power cut has no such problem.  Here, the kernel would keep the disk busy for ever.
    """
    if not os.path.ismount(SYSROOT):
        return
    disk = os.open(SYSROOT, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(disk, FITHAW, 0)
    except OSError as error:
        if error.errno != errno.EINVAL:  # The file system is not frozen.
            raise
    finally:
        os.close(disk)


def container(boot):
    """Mounts the root of a container with systemd, and returns the command that boots it."""
    RUN.mkdir()
    root, options = {"overlay": overlay, "deployment": deployment}[boot["root"]](boot, RUN)
    return ["systemd-nspawn", "--quiet", "--boot", f"--directory={root}", *options, *boot["nspawn"],
            *boot.get("options", "").split()]


@contextlib.contextmanager
def own_run():
    """Mounts a /run of our own, so that nspawn leaves nothing in the host's; our mounts below it go with it.

    The kernel would unmount them, too, but would not tell when it is done with the disk.
    """
    mount("-t", "tmpfs", "tmpfs", "/run")
    try:
        yield
    finally:
        subprocess.run(["umount", "--recursive", "/run"], check=True)


@contextlib.contextmanager
def cgroup(name):
    """Makes a group for the machine's processes; none survives it."""
    group = CGROUPS / name
    group.mkdir()
    try:
        yield group
    finally:
        empty(group)
        for directory, _, _ in os.walk(group, topdown=False):
            os.rmdir(directory)


def kill(group):
    (group / "cgroup.kill").write_text("1")


def empty(group):
    """Kills the remaining processes of a group, and reaps those that have become our children by that."""
    kill(group)
    deadline = time.monotonic() + 10
    while "populated 1" in (group / "cgroup.events").read_text():
        reap()
        thaw()  # A process that waits for the frozen file system cannot die.
        if time.monotonic() > deadline:
            raise TimeoutError(f"the processes of {group} do not die")
        time.sleep(0.005)
    reap()
    thaw()


def reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass


def run_until_told(words, group=None):
    """Runs a command until it ends, or until our standard input does.  Returns its exit status."""
    def prepare():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if group:
            (group / "cgroup.procs").write_text("0")

    # We have one thread only, so running code between fork and exec is safe.
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, preexec_fn=prepare)
    ended, told = os.pidfd_open(child.pid), sys.stdin.fileno()
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(told, select.POLLIN)
    if ended not in dict(poll.poll()):
        # All at once, like a power cut: no process may clean up after another one has died.
        kill(group) if group else child.kill()
    return child.wait()


def keep(boot):
    if "command" in boot:
        return run_until_told(boot["command"])
    only_the_second_cgroup_version()
    with own_run(), cgroup(boot["cgroup"]) as group:
        return run_until_told(container(boot), group)


def main():
    boot = json.loads(pathlib.Path(sys.argv[1]).read_text())
    # We get a Ctrl-C as well, but our owner decides when the machine ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        status = keep(boot)
    finally:
        if os.getppid() != boot["owner"]:
            shutil.rmtree(boot["scratch"])
    sys.exit(status if status >= 0 else 128 - status)


main()
