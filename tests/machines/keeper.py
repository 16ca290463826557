# SPDX-License-Identifier: Apache-2.0
"""A program that runs one machine.  The program ends with its machine, and the machine ends with the program.

A JSON file describes the machine; the functions below get its contents as `boot`.  When standard input ends, this
program stops the machine.  Standard input also ends when the test program dies, in whatever way.  Then nobody else is
left to clean up, so this program also removes the machine's files.

This program has a mount namespace of its own, so that only the machine sees its mounts, and they end with it.  Since it
is run as a file, it imports none of our modules.
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
    """Mounts only cgroup2.  Some hosts mount both versions of cgroups, but the machine needs only cgroup2."""
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
    # The disk is mounted as a file system of its own, because libostree remounts it.  The machine's syncs need not
    # reach the host's disk (barrier=0), because a power cut of the host would end the test as well.
    mount("-o", "loop,barrier=0", boot["disk"], SYSROOT)
    chosen = next(word for word in reversed(boot["options"].split()) if word.startswith("ostree="))
    mount("--bind", SYSROOT / chosen.removeprefix("ostree=/") / "usr", initramfs / "usr")
    for name in ("proc", "dev", "sys"):
        mount("--rbind", f"/{name}", initramfs / name)
    mount("--bind", "/run", initramfs / "run")
    mount("--bind", arguments, initramfs / "proc/cmdline")
    subprocess.run(["chroot", initramfs, "/usr/lib/ostree/ostree-prepare-root", "/sysroot"], check=True)
    options = [
        # The host's file is bound into the machine, because the machine mounts its own /run over the host's.
        "--bind-ro=/run/ostree-booted", "--tmpfs=/run/ostree:mode=0755",
        # nspawn mounts over /proc from inside the machine, so the source has to be there, too.
        f"--bind-ro={arguments}:/run/host/cmdline", "--bind-ro=/run/host/cmdline:/proc/cmdline",
    ]
    if pathlib.Path("/run/ostree-sysroot-ro.stamp").exists():
        # This file makes ostree-remount mount /sysroot read-only.  ostree-remount has to remove the file, which is not
        # possible for a bind mount.  So a drop-in creates the file in the machine.
        drop_in = run / "stamp.conf"
        drop_in.write_text("[Service]\nExecStartPre=touch /run/ostree-sysroot-ro.stamp\n")
        options.append(f"--bind-ro={drop_in}:/run/systemd/system/ostree-remount.service.d/stamp.conf")
    return SYSROOT, options


def thaw():
    """Thaws the file system if the machine was killed while it was frozen: ostree freezes it after changing /boot.

    Otherwise, the host's kernel would keep the disk busy for ever.
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
    """Mounts a /run of our own, so that nspawn leaves nothing in the host's; at the end, unmounts it and all below it.

    The kernel would unmount these mounts with the namespace, but we could not wait until it has released the disk.
    """
    mount("-t", "tmpfs", "tmpfs", "/run")
    try:
        yield
    finally:
        subprocess.run(["umount", "--recursive", "/run"], check=True)


@contextlib.contextmanager
def cgroup(name):
    """Makes a cgroup for the machine's processes; at the end, kills them and removes the cgroup."""
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
    """Kills the remaining processes of a cgroup, and reaps those that have become our children."""
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


@contextlib.contextmanager
def old_cgroups(groups):
    """Makes these cgroups of the first version; at the end, removes them with all that was made below them."""
    try:
        for group in groups:
            group.mkdir()
            # A new cgroup has no processors and no memory, and so can have no process.
            for setting in ("cpuset.cpus", "cpuset.mems"):
                if (group / setting).exists():
                    (group / setting).write_text((group.parent / setting).read_text())
        yield groups
    finally:
        reap_all()
        for group in groups:
            for directory, _, _ in os.walk(group, topdown=False):
                remove_old_cgroup(directory)


def remove_old_cgroup(directory):
    deadline = time.monotonic() + 10
    while True:
        try:
            return os.rmdir(directory)
        except OSError as error:
            # The kernel may still be busy with processes that were reaped already.
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.005)


def reap_all():
    """Waits until all our children have ended.  The first process of a PID namespace ends after all others in it."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def run_until_stopped(words, group=None, old_groups=()):
    """Runs a command until it ends, or until our standard input does.  Returns its exit status."""
    def prepare():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for each in [group, *old_groups] if group else old_groups:
            (each / "cgroup.procs").write_text("0")

    # This program has one thread, so running code between fork and exec is safe.
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, preexec_fn=prepare)
    ended, stop = os.pidfd_open(child.pid), sys.stdin.fileno()
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(stop, select.POLLIN)
    if ended not in dict(poll.poll()):
        # All processes die at once, as in a power cut, so that none can clean up after another.
        kill(group) if group else child.kill()
    return child.wait()


def keep(boot):
    if "old_cgroups" in boot:
        with old_cgroups([pathlib.Path(path) for path in boot["old_cgroups"]]) as groups:
            return run_until_stopped(boot["command"], old_groups=groups)
    if "command" in boot:
        return run_until_stopped(boot["command"])
    only_the_second_cgroup_version()
    with own_run(), cgroup(boot["cgroup"]) as group:
        return run_until_stopped(container(boot), group)


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
