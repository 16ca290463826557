# SPDX-License-Identifier: Apache-2.0
"""Changes the operating system of a test machine by hand, with the ostree command in it."""

from .image import BRANCH, OS_NAME

REPOSITORY = "/sysroot/ostree/repo"
KEPT_FREE = "core.min-free-space-size"


def commit(machine, files, version, timestamp=""):
    """Commits the machine's image with other contents of some files, {path: text}; returns the commit's checksum.

    Files of /etc are given by their path in an image, below /usr/etc.  With the same timestamp, which is in words like
    "2026-01-01 00:00:00 +0000", machines with the same image make the same commit.
    """
    tree = "/var/tmp/commit"
    for path, text in files.items():
        place = f"{tree}{path}"
        machine.run("mkdir", "--parents", place.rpartition("/")[0])
        machine.run("tee", place, input=text)
    options = [f"--timestamp={timestamp}"] if timestamp else []
    # /sysroot is read-only, and stays so outside this mount namespace.
    return machine.run("unshare", "--mount", "sh", "-ec", """
        repository=$1 branch=$2 tree=$3 version=$4
        shift 4
        mount -o remount,rw /sysroot
        ostree commit --repo="$repository" --branch="$branch" --tree=ref="$branch" --tree=dir="$tree" \\
                      --subject="$version" --add-metadata-string=version="$version" "$@"
        rm -r "$tree"
        """, "sh", REPOSITORY, BRANCH, tree, version, *options).stdout.strip()


def require_free_space(machine, size):
    """Makes OSTree refuse whatever would leave less free space than `size`; with None, ends this."""
    # /sysroot is read-only, and stays so outside this mount namespace.
    machine.run("unshare", "--mount", "sh", "-ec", """
        mount -o remount,rw /sysroot
        ostree config "$@"
        """, "sh", f"--repo={REPOSITORY}", *(["set", KEPT_FREE, size] if size else ["unset", KEPT_FREE]))


def staging(commit_or_branch, kernel_arguments=()):
    """Returns a command that stages a deployment with this boot's kernel arguments and the given ones.

    At shutdown, a unit finalises the deployment.  systemd starts this unit some time after the staged deployment was
    written.  If the shutdown begins earlier, nothing fails, but the deployment is lost.  So the command waits for the
    unit.
    """
    return ["sh", "-ec", """
        ostree admin deploy --stage --karg-proc-cmdline "$@"
        until systemctl --quiet is-active ostree-finalize-staged.service; do sleep 0.05; done
        """, "sh", f"--os={OS_NAME}", *(f"--karg={argument}" for argument in kernel_arguments), commit_or_branch]


def stage(machine, commit_or_branch=BRANCH, kernel_arguments=()):
    """Stages a deployment for the next boot."""
    machine.run(*staging(commit_or_branch, kernel_arguments))


def roll_back(machine):
    """Makes the machine boot the other one of its two deployments, by exchanging the versions of their boot entries.

    Debian 12's `ostree admin` has no set-default.  libostree reads the order of deployments from these versions.
    """
    exchange = "s/^version 1$/version 2/; t; s/^version 2$/version 1/"
    machine.run("sh", "-ec", 'sed -i "$1" /boot/loader/entries/*.conf', "sh", exchange)


def booted_commit(machine):
    """Returns the checksum of the booted deployment."""
    for line in machine.run("ostree", "admin", "status").stdout.splitlines():
        if line.startswith("*"):
            return line.split()[2].partition(".")[0]
    raise AssertionError("no deployment is marked as booted")


def fsck(machine):
    """Fails if an object in the repository is missing or damaged."""
    machine.run("ostree", "fsck", "--quiet", f"--repo={REPOSITORY}")
