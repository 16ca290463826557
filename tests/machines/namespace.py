# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a mount namespace of its own, from which no mount escapes: `python3 namespace.py COMMAND...`

`unshare --mount` needs a root directory that is a mount point.  In a chroot, the root directory is often not a
mount point.  systemd-nspawn and nsenter also need a root directory that is the namespace's root.  So this program
makes the current root directory the root of the new namespace.
"""

import ctypes
import os
import pathlib
import sys

# With these words before it, a command runs in such a namespace.
OWN_MOUNTS = [sys.executable, "-I", "-S", str(pathlib.Path(__file__).resolve())]

CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]  # The C library has no function for it.

libc = ctypes.CDLL(None, use_errno=True)


def check(status):
    if status != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def climb_out_of_chroot():
    """Makes the namespace's root our root directory.  Outside the chroot, ".." leads up to this root."""
    os.chdir("/")
    os.chroot("proc")
    while not os.path.samefile(".", ".."):
        os.chdir("..")
    os.chroot(".")


def make_root_of_namespace(directory):
    """Makes the directory the namespace's root, so that a process that enters the namespace sees the same files."""
    check(libc.mount(directory.encode(), directory.encode(), None, MS_BIND | MS_REC, None))
    os.chdir(directory)
    check(libc.syscall(PIVOT_ROOT, b".", b"."))
    check(libc.umount2(b".", MNT_DETACH))


def enter():
    check(libc.unshare(CLONE_NEWNS))
    root = os.open("/", os.O_PATH | os.O_DIRECTORY)
    climb_out_of_chroot()
    check(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    os.fchdir(root)
    place = os.getcwd()
    if place != "/":
        make_root_of_namespace(place)
    os.chdir("/")
    os.close(root)


if __name__ == "__main__":
    enter()
    os.execvp(sys.argv[1], sys.argv[1:])
