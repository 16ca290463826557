# SPDX-License-Identifier: Apache-2.0
"""The images and tools of test machines: a plain Debian root, an OSTree disk with the same system, QEMU, and Ignition.

All packages come from the Debian mirror of this machine's apt.  Each image is made once and kept in the cache.
"""

import inspect
import os
import pathlib
import shlex
import shutil
import sys
import tempfile

from . import cache, programs
from .namespace import OWN_MOUNTS
from .shell import need, run

# The name and the branch of the operating system that is deployed on the OSTree disk.
OS_NAME = "debian"
BRANCH = "debian/test"

SUITE = "bookworm"
# The last line has the libraries and programs that Pintle needs.
PACKAGES = """
    systemd systemd-sysv dbus libpam-systemd udev kmod procps iproute2 less ca-certificates e2fsprogs zstd cpio
    ostree ostree-boot dracut qemu-guest-agent linux-image-cloud-amd64
    libsystemd0 libcurl4 libssl3 libfmt9 libyaml-0-2 zlib1g libostree-1-1 libarchive13 libselinux1 skopeo
""".split()

# Debian 12's QEMU 7.2 without KVM sometimes gives its guests impossible CPU flags, and then they panic.
QEMU_SUITE = "trixie"
QEMU_PACKAGES = ["qemu-system-x86", "ovmf"]

# Ignition is a module for dracut, and needs the other two packages.
IGNITION_PACKAGES = ["ignition", "dracut-network", "curl"]

KERNEL_ARGUMENTS = "root=LABEL=root rw console=ttyS0 panic=-1 mitigations=off quiet systemd.show_status=0".split()
DISK_SIZE = 3 << 30

# Units that timers start would disturb every test.
MASKED_UNITS = """
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
    systemd-boot-random-seed.service
""".split()

# An uncompressed initramfs is faster where the CPU is emulated.
DRACUT = ["dracut", "--force", "--no-hostonly", "--reproducible", "--compress=cat", "--add", "ostree",
          "--omit", "plymouth network network-legacy network-manager crypt dm dmraid lvm mdraid multipath nfs iscsi "
                    "fcoe lunmask resume i18n terminfo btrfs",
          "--drivers", "virtio_blk virtio_pci virtio_console ext4 overlay erofs loop"]

# An OSTree deployment has no state of its own outside /etc.  These directories become links to the shared /var, to
# /run, or to the OSTree repository.
LINKS_TO_STATE = {
    "home": "var/home", "root": "var/roothome", "srv": "var/srv", "mnt": "var/mnt", "opt": "var/opt",
    "media": "run/media", "usr/local": "../var/usrlocal", "ostree": "sysroot/ostree",
}
STATE_DIRECTORIES = """
d /var/home 0755 root root -
d /var/roothome 0700 root root -
d /var/srv 0755 root root -
d /var/mnt 0755 root root -
d /var/opt 0755 root root -
d /var/usrlocal 0755 root root -
d /var/usrlocal/bin 0755 root root -
d /var/tmp 1777 root root -
L /var/lib/dpkg - - - - ../../usr/lib/dpkg-db
"""


def debian_root():
    """Returns the plain root, a directory.  It is only used as the lower layer of an overlay.

    It has Pintle's packages installed if there are packages to test (programs.py).
    """
    packages = programs.packages_for_machines()
    if not packages:
        return _debian_without_pintle()
    key = _recipe(_install_pintle, _inside, _debian_without_pintle().name, *packages)
    return cache.made_once("debian-root", key, lambda root: _install_pintle(root, packages),
                           programs.folder_of_images())


def _debian_without_pintle():
    return cache.made_once("debian-root", _recipe(_debian, _bootstrap, SUITE, PACKAGES, MASKED_UNITS), _debian)


def _install_pintle(root, packages):
    _say("installing Pintle's packages")
    run("cp", "--archive", "--reflink=auto", _debian_without_pintle(), root)
    _inside(root, [("mnt", "--bind", packages[0].parent)], 'dpkg --install --force-unsafe-io "$@"',
            *(f"/mnt/{package.name}" for package in packages))


def ostree_disk():
    """Returns an image of an ext4 disk with one OSTree deployment of the plain root.  The file is sparse; copy it."""
    key = _recipe(_disk, _tree, _move_state_away, _inside, debian_root().name, DRACUT, LINKS_TO_STATE,
                  STATE_DIRECTORIES, KERNEL_ARGUMENTS, DISK_SIZE, OS_NAME, BRANCH)
    return cache.made_once("ostree-disk", key, _disk, programs.folder_of_images())


def qemu_tools():
    """Returns a directory with QEMU and the UEFI firmware, to be run in place."""
    return cache.made_once("qemu-tools", _recipe(_qemu, _bootstrap, QEMU_SUITE, QEMU_PACKAGES), _qemu)


def ignition_tools():
    """Returns a directory with Ignition's module for dracut and its dependencies."""
    key = _recipe(_ignition, _bootstrap, SUITE, IGNITION_PACKAGES)
    return cache.made_once("ignition-tools", key, _ignition)


def unpack(root, packages):
    """Unpacks packages with their dependencies, without running their scripts."""
    _bootstrap(root, SUITE, packages, "extract")


def _recipe(*parts):
    return cache.recipe_key(*(inspect.getsource(part) if callable(part) else part for part in parts))


def _say(what):
    print(f"  {what} ...", file=sys.stderr, flush=True)


def _mirror():
    found = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian")
    if not found.stdout:
        raise RuntimeError("apt knows no Debian mirror here (is there one in its sources, and was it ever updated?)")
    return found.stdout.splitlines()[0]


def _bootstrap(root, suite, packages, variant, *options):
    need("mmdebstrap", "apt-get")
    left_out = [f"--dpkgopt=path-exclude=/usr/share/{kind}/*" for kind in ("doc", "man", "locale", "info")]
    # The kernel package would make an initramfs that we replace anyway.
    run("mmdebstrap", f"--variant={variant}", "--mode=root", "--format=directory", f"--include={','.join(packages)}",
        "--aptopt=Acquire::Languages \"none\"", "--aptopt=Acquire::Check-Valid-Until \"false\"",
        "--dpkgopt=force-unsafe-io", *left_out, *options, suite, root, _mirror(), env={**os.environ, "INITRD": "No"})


def _debian(root):
    _say(f"installing Debian {SUITE}")
    _bootstrap(root, SUITE, PACKAGES, "minbase")
    # A machine gets its name from its caller, and its identity when it boots.
    (root / "etc/hostname").unlink(missing_ok=True)
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    (root / "etc/machine-id").write_text("")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    (root / "var/log/journal").mkdir(exist_ok=True)
    run("systemctl", f"--root={root}", "mask", *MASKED_UNITS)
    run("chroot", root, "passwd", "--delete", "root")


def _qemu(root):
    _say(f"unpacking the QEMU of Debian {QEMU_SUITE}")
    _bootstrap(root, QEMU_SUITE, QEMU_PACKAGES, "extract")


def _ignition(root):
    _say("unpacking Ignition")
    _bootstrap(root, SUITE, IGNITION_PACKAGES, "extract")


def _inside(root, binds, script, *words):
    """Runs a shell script in a root, in a mount namespace of its own so that no mount can be left behind."""
    mounts = ['mount -t tmpfs tmpfs /run', 'mount -t proc proc "$root/proc"']
    mounts += [f'mount --rbind /{place} "$root/{place}"' for place in ("dev", "sys")]
    mounts += [f'mount -t tmpfs tmpfs "$root/{place}"' for place in ("run", "tmp", "var/tmp")]
    mounts += [f'mount {options} {shlex.quote(str(source))} "$root/{place}"' for place, options, source in binds]
    enter = 'exec chroot "$root" /bin/sh -ec "$script" sh "$@"'
    run(*OWN_MOUNTS, "sh", "-ec", "\n".join(['root=$1 script=$2', 'shift 2', *mounts, enter]),
        "sh", root, script, *words)


def _tree(plain, tree):
    """Turns a copy of the plain root into what an OSTree commit holds, with an initramfs that knows OSTree."""
    run("cp", "--archive", "--reflink=auto", plain, tree)
    kernel = next(tree.glob("boot/vmlinuz-*"))
    version = kernel.name.removeprefix("vmlinuz-")
    shutil.copy2(kernel, tree / "usr/lib/modules" / version / "vmlinuz")
    # The initramfs takes this file along.
    (tree / "usr/lib/ostree").mkdir(exist_ok=True)
    (tree / "usr/lib/ostree/prepare-root.conf").write_text("[sysroot]\nreadonly = true\n")
    _say("making the initramfs")
    initramfs = f"/usr/lib/modules/{version}/initramfs.img"
    _inside(tree, [], 'exec "$@"', "env", "DRACUT_NO_XATTR=1", *DRACUT, "--kver", version, initramfs)
    _move_state_away(tree)


def _move_state_away(tree):
    shutil.move(tree / "var/lib/dpkg", tree / "usr/lib/dpkg-db")
    for name in ("dev", "run", "boot", "var", "tmp", *LINKS_TO_STATE):
        shutil.rmtree(tree / name, ignore_errors=True)
    for link in [*tree.glob("vmlinuz*"), *tree.glob("initrd*")]:
        link.unlink()
    for name in ("dev", "run", "boot", "var", "tmp", "sysroot"):
        (tree / name).mkdir()
    (tree / "tmp").chmod(0o1777)
    for name, target in LINKS_TO_STATE.items():
        (tree / name).symlink_to(target)
    (tree / "usr/lib/tmpfiles.d/ostree-state.conf").write_text(STATE_DIRECTORIES.lstrip())
    (tree / "etc").rename(tree / "usr/etc")


def _disk(disk):
    need("mkfs.ext4", "mount")
    plain = debian_root()
    with tempfile.TemporaryDirectory(prefix="pintle-") as scratch:
        tree = pathlib.Path(scratch, "tree")
        _tree(plain, tree)
        _say("deploying it on a disk")
        with open(disk, "wb") as file:
            file.truncate(DISK_SIZE)
        # The kernel would write out a lazily made inode table at the first mount, and the file would grow by it.
        run("mkfs.ext4", "-q", "-L", "root", "-O", "verity", "-i", "32768", "-E", "lazy_itable_init=0", disk)
        # The guest's own ostree makes the disk: what it writes, the guest can read.
        _inside(plain, [("media", "--bind", tree), ("mnt", "-o loop", disk)], """
            ostree admin init-fs --modern /mnt
            ostree admin os-init --sysroot=/mnt "$1"
            ostree config --repo=/mnt/ostree/repo set sysroot.bootloader none
            ostree config --repo=/mnt/ostree/repo set sysroot.readonly true
            ostree commit --repo=/mnt/ostree/repo --branch="$2" --tree=dir=/media --subject=first \\
                          --add-metadata-string=version=1
            os=$1 branch=$2
            shift 2
            # A directory that is there before the first boot, so that its journal is kept.
            mkdir -p "/mnt/ostree/deploy/$os/var/log/journal"
            ostree admin deploy --sysroot=/mnt --os="$os" "$@" "$branch"
            """, OS_NAME, BRANCH, *(f"--karg={argument}" for argument in KERNEL_ARGUMENTS))
