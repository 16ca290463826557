# SPDX-License-Identifier: Apache-2.0
"""Changing the operating system of a test machine by hand, with the ostree command in it."""

from .image import BRANCH, OS_NAME

REPOSITORY = "/sysroot/ostree/repo"


def commit(machine, files, version):
    """Commits the machine's image with other contents of some files, {path: text}; returns the commit's checksum.

    A file of /etc is given as it lies in an image, below /usr/etc.
    """
    tree = "/var/tmp/commit"
    for path, text in files.items():
        place = f"{tree}{path}"
        machine.run("mkdir", "--parents", place.rpartition("/")[0])
        machine.run("tee", place, input=text)
    # /sysroot is read-only, and stays so for the others.
    return machine.run("unshare", "--mount", "sh", "-ec", """
        mount -o remount,rw /sysroot
        ostree commit --repo="$1" --branch="$2" --tree=ref="$2" --tree=dir="$3" --owner-uid=0 --owner-gid=0 \\
                      --subject="$4" --add-metadata-string=version="$4"
        rm -r "$3"
        """, "sh", REPOSITORY, BRANCH, tree, version).stdout.strip()


def stage(machine, commit_or_branch=BRANCH, kernel_arguments=()):
    """Stages a deployment for the next boot, with the kernel arguments of this boot and some more."""
    machine.run("ostree", "admin", "deploy", "--stage", f"--os={OS_NAME}", "--karg-proc-cmdline",
                *(f"--karg={argument}" for argument in kernel_arguments), commit_or_branch)


def roll_back(machine):
    """Makes the other one of two deployments the one to boot, by exchanging the versions of their boot entries.

    Debian 12's `ostree admin` has no set-default yet.  libostree reads the order of deployments from the same versions.
    """
    machine.run("sh", "-ec", "sed -i 's/^version 1$/version 2/; t; s/^version 2$/version 1/' /boot/loader/entries/*.conf")


def booted_commit(machine):
    """The checksum of the deployment that the machine runs from."""
    for line in machine.run("ostree", "admin", "status").stdout.splitlines():
        if line.startswith("*"):
            return line.split()[2].partition(".")[0]
    raise AssertionError("no deployment is marked as booted")


def fsck(machine):
    """Fails if an object in the repository is missing or damaged."""
    machine.run("ostree", "fsck", "--quiet", f"--repo={REPOSITORY}")
