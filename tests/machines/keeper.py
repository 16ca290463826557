# SPDX-License-Identifier: Apache-2.0
"""Keeps one running machine: a program of its own, which ends with its machine and whose machine ends with it.

It is told what to do by a JSON file, and to stop by the end of its standard input.  That end also comes when the
test program dies, in whatever way; then nobody else is left to clean up, and the machine's files go too.

It is started in a mount namespace of its own, so what it mounts can be seen by the machine only and cannot outlive it.
For the same reason it imports nothing of ours: it is run as a file.
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
    """Some machines mount both; systemd wants one kind, and machines side by side want groups of their own."""
    if os.path.ismount(CGROUPS):
        subprocess.run(["umount", "--recursive", CGROUPS], check=True)
    mount("-t", "cgroup2", "none", CGROUPS)


def overlay(boot, run):
    """A root over the plain one, which is never written to.  Returns it, and the nspawn options it needs."""
    root = run / "root"
    root.mkdir()
    layers = pathlib.Path(boot["layers"])
    mount("-t", "overlay", "overlay", "-o",
          f"lowerdir={boot['lower']},upperdir={layers}/upper,workdir={layers}/work", root)
    return root, []


def deployment(boot, run):
    """Does what the initramfs does: the OS's own ostree-prepare-root finds the deployment that the boot entry names."""
    initramfs, arguments = SYSROOT.parent, run / "cmdline"
    arguments.write_text(boot["options"] + "\n")
    initramfs.mkdir()
    mount("-t", "tmpfs", "tmpfs", initramfs)
    for name in ("usr", "proc", "dev", "sys", "run", "etc", "tmp", "sysroot"):
        (initramfs / name).mkdir()
    for name in ("bin", "lib", "lib64"):
        (initramfs / name).symlink_to(f"usr/{name}")
    # The disk needs a file system of its own, since libostree really remounts it.  What the machine syncs need not
    # reach the host's disk: we are gone together in a power cut.
    mount("-o", "loop,barrier=0", boot["disk"], SYSROOT)
    chosen = next(word for word in reversed(boot["options"].split()) if word.startswith("ostree="))
    mount("--bind", SYSROOT / chosen.removeprefix("ostree=/") / "usr", initramfs / "usr")
    for name in ("proc", "dev", "sys"):
        mount("--rbind", f"/{name}", initramfs / name)
    mount("--bind", "/run", initramfs / "run")
    mount("--bind", arguments, initramfs / "proc/cmdline")
    subprocess.run(["chroot", initramfs, "/usr/lib/ostree/ostree-prepare-root", "/sysroot"], check=True)
    options = [
        # It lies in the /run that the machine hides with its own.
        "--bind-ro=/run/ostree-booted", "--tmpfs=/run/ostree:mode=0755",
        # nspawn mounts upon /proc when it is inside already, so the source must be there, too.
        f"--bind-ro={arguments}:/run/host/cmdline", "--bind-ro=/run/host/cmdline:/proc/cmdline",
    ]
    if pathlib.Path("/run/ostree-sysroot-ro.stamp").exists():
        # With this file the initramfs asks ostree-remount for a read-only /sysroot.  It cannot just be mounted, since
        # ostree-remount must be able to remove it.
        ask = run / "ask.conf"
        ask.write_text("[Service]\nExecStartPre=touch /run/ostree-sysroot-ro.stamp\n")
        options.append(f"--bind-ro={ask}:/run/systemd/system/ostree-remount.service.d/ask.conf")
    return SYSROOT, options


def thaw():
    """Lets go of a file system that the machine had frozen, as ostree does for a moment when it has changed /boot.

    A power cut does so by itself.  Here the kernel would keep the disk for ever.
    """
    if not os.path.ismount(SYSROOT):
        return
    disk = os.open(SYSROOT, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(disk, FITHAW, 0)
    except OSError as error:
        if error.errno != errno.EINVAL:  # It is not frozen.
            raise
    finally:
        os.close(disk)


def container(boot):
    """Mounts what a container with systemd boots from, and returns the command that boots it."""
    RUN.mkdir()
    root, options = {"overlay": overlay, "deployment": deployment}[boot["root"]](boot, RUN)
    return ["systemd-nspawn", "--quiet", "--boot", f"--directory={root}", *options, *boot["nspawn"],
            *boot.get("options", "").split()]


@contextlib.contextmanager
def own_run():
    """Our own /run, so that nspawn leaves nothing in the machine's; all that we mount below it goes with it.

    The kernel would do that, too, but not say when it is done with the disk.
    """
    mount("-t", "tmpfs", "tmpfs", "/run")
    try:
        yield
    finally:
        subprocess.run(["umount", "--recursive", "/run"], check=True)


@contextlib.contextmanager
def cgroup(name):
    """A group for the machine's processes, in which none survives."""
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
    """Kills what is left in a group, and reaps what has become ours by that."""
    kill(group)
    deadline = time.monotonic() + 10
    while "populated 1" in (group / "cgroup.events").read_text():
        reap()
        thaw()  # Whoever waits for that cannot die.
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
    """Runs a command until it ends, or our standard input does.  Returns its exit status."""
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
        # At once and altogether, like a power cut: nothing may tidy up after another has died.
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
    # Control-C reaches us as well, but it is our owner who decides when the machine ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        status = keep(boot)
    finally:
        if os.getppid() != boot["owner"]:
            shutil.rmtree(boot["scratch"])
    sys.exit(status if status >= 0 else 128 - status)


main()
