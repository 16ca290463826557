# SPDX-License-Identifier: Apache-2.0
"""A machine that boots for the first time: Pintle is in its image, Ignition and Pintle's module are in its initramfs.

Three things are not real.  These tests replace the boot loader, which enables Ignition at the first boot only.  A unit
in the initramfs mounts /var for Ignition, as a part of CoreOS does.  And no file gets an SELinux label.
"""

import json
import pathlib
import shlex
import shutil
import tempfile

from . import image
from .disk import Disk
from .namespace import OWN_MOUNTS
from .shell import need, run
from .vm import Vm

FIRST_CONFIG = "/etc/ignition-machine-config-encapsulated.json"
# The command need not name the dracut modules of Ignition and Pintle: if they are installed, dracut always adds them.
OMITTED = "plymouth crypt dm dmraid lvm mdraid multipath nfs iscsi fcoe lunmask resume i18n terminfo btrfs"
DRACUT = ["dracut", "--force", "--no-hostonly", "--reproducible", "--compress=cat", "--add", "ostree",
          "--omit", OMITTED, "--drivers", "virtio_blk virtio_pci virtio_console ext4 overlay erofs loop qemu_fw_cfg"]

UNITS = "usr/lib/systemd/system"
# Ignition reads the name of the SELinux policy and labels files on any kernel.  OSTree must not see this policy, so
# only the initramfs has it.
POLICY = "usr/share/selinux-for-ignition"
MOUNT_UNIT = """
[Unit]
Description=Mount {place} for Ignition
DefaultDependencies=no
ConditionKernelCommandLine=!without={place}
After=initrd-root-fs.target
Before=ignition-files.service initrd-switch-root.target
Conflicts=initrd-switch-root.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=mount --bind {source} /sysroot{place}
ExecStop=umount /sysroot{place}
"""
# Files that Ignition needs in the image and in the initramfs, by path.
OS_FILES = {
    # systemd applies presets, by which Ignition enables units, at the first boot of a machine without an identity.
    "etc/machine-id": "uninitialized\n",
    "usr/lib/systemd/system-preset/30-nothing-else.preset": "disable *\n",
}
INITRAMFS_FILES = {
    f"{UNITS}/mount-var.service": MOUNT_UNIT.format(
        source=f"/sysroot/sysroot/ostree/deploy/{image.OS_NAME}/var", place="/var"),
    f"{UNITS}/mount-policy.service": MOUNT_UNIT.format(source=f"/{POLICY}", place="/etc/selinux"),
    f"{POLICY}/config": "SELINUX=disabled\nSELINUXTYPE=targeted\n",
    "usr/sbin/setfiles": "#!/bin/sh\nexec cat >/dev/null\n",
}


class NewMachine(Vm):
    """`disk` was made by make_disk(); `config` is Ignition's config.

    settles    False if the first boot cannot reach its end by itself; then start() only waits for the guest agent
    arguments  kernel arguments of the first boot
    """

    def __init__(self, disk, config, settles=True, arguments=()):
        super().__init__()
        self._source, self._config, self._settles, self._arguments = disk, config, settles, arguments
        self.boots = 0

    def _prepare(self):
        self._disk = Disk(self._scratch / "disk", self._source)
        (self._scratch / "config.ign").write_text(json.dumps(self._config))

    def _boot(self):
        process = super()._boot()
        self.boots += 1
        return process

    def _devices(self):
        return ["-fw_cfg", f"name=opt/com.coreos/config,file={self._scratch}/config.ign"]

    def _command_line(self):
        first = ["ignition.firstboot", "ignition.platform.id=qemu", *self._arguments] if self.boots == 0 else []
        return " ".join([super()._command_line(), *first])

    def start(self, fall_back=False):
        if self._settles:
            return super().start(fall_back)
        self._load(fall_back)
        self._process.wait_until_it_answers()


def make_disk(disk, build):
    """Makes an OSTree disk at the path `disk`.  Its image contains the build as `meson install` installs it, in the
    directories of a package.  Returns the commit of the image.
    """
    need("meson", "strip", "mount")
    with tempfile.TemporaryDirectory(prefix="pintle-") as scratch:
        layers = _Layers(pathlib.Path(scratch))
        _install(build, layers.added)
        _write(OS_FILES, layers.added)
        _make_initramfs(layers)
        (layers.added / "etc").rename(layers.added / "usr/etc")
        run("cp", "--reflink=auto", "--sparse=always", image.ostree_disk(), disk)
        return _deploy(disk, layers)


class _Layers:
    """Three layers: the plain root, dracut's tools for making the initramfs, and the additions to the image."""

    def __init__(self, scratch):
        self.plain = image.debian_root()
        self.root, self.work, self.added, self.tools, self.included = (
            scratch / name for name in ("root", "work", "added", "tools", "included"))
        for folder in (self.root, self.work, self.added, self.tools / "usr/bin", self.included):
            folder.mkdir(parents=True)

    def run(self, binds, *words):
        """Runs a command with all layers as its root.  `binds` is {place: (mount's options, source)}."""
        mounts = ['mount -t overlay overlay -o "$2" "$1"']
        mounts += [f'mount --rbind /{place} "$1/{place}"' for place in ("proc", "dev", "sys")]
        mounts += [f'mount -t tmpfs tmpfs "$1/{place}"' for place in ("run", "tmp", "var/tmp")]
        mounts += [f'mount {options} {shlex.quote(str(source))} "$1/{place}"'
                   for place, (options, source) in binds.items()]
        overlay = f"lowerdir={self.tools}:{self.plain},upperdir={self.added},workdir={self.work}"
        enter = ['root=$1', 'shift 2', 'exec chroot "$root" "$@"']
        return run(*OWN_MOUNTS, "sh", "-ec", "\n".join([*mounts, *enter]), "sh", self.root, overlay, *words)


def _install(build, root):
    """Installs the build below `root`, and moves the files to the prefix of a package, /usr."""
    run("meson", "install", "-C", build, "--no-rebuild", "--strip", "--destdir", root)
    for place, below in (("usr/local", "usr"), ("lib", "usr/lib")):
        shutil.copytree(root / place, root / below, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(root / place)
    for path in [*root.glob(f"{UNITS}/*.service"), *root.glob("usr/lib/dracut/modules.d/90pintle/*")]:
        path.write_text(path.read_text().replace("/usr/local/", "/usr/"))


def _write(files, root):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _make_initramfs(layers):
    """Makes the initramfs with dracut, inside the new root."""
    tools, included = image.ignition_tools(), layers.included
    shutil.copytree(tools / "usr/lib/dracut/modules.d", layers.tools / "usr/lib/dracut/modules.d")
    shutil.copy2(tools / "usr/bin/curl", layers.tools / "usr/bin")
    _write(INITRAMFS_FILES, included)
    (included / "usr/sbin/setfiles").chmod(0o755)
    required_units = included / UNITS / "ignition-files.service.requires"
    required_units.mkdir()
    for unit in included.glob(f"{UNITS}/*.service"):
        (required_units / unit.name).symlink_to(f"../{unit.name}")
    version = next(layers.plain.glob("boot/vmlinuz-*")).name.removeprefix("vmlinuz-")
    modules = f"usr/lib/modules/{version}"
    (layers.added / modules).mkdir(parents=True)
    layers.run({"mnt": ("--bind", included)}, "env", "DRACUT_NO_XATTR=1", *DRACUT, "--include", "/mnt", "/",
               "--kver", version, f"/{modules}/initramfs.img")


def _deploy(disk, layers):
    """Deploys the image with the additions as the only deployment; returns its commit."""
    arguments = [f"--karg={argument}" for argument in image.KERNEL_ARGUMENTS]
    return layers.run({"mnt": ("-o loop", disk), "media": ("--bind", layers.added)}, "sh", "-ec", """
        os=$1 branch=$2
        shift 2
        ostree commit --repo=/mnt/ostree/repo --branch="$branch" --tree=ref="$branch" --tree=dir=/media \
                      --owner-uid=0 --owner-gid=0 --subject=new --add-metadata-string=version=2
        ostree admin deploy --sysroot=/mnt --os="$os" "$@" "$branch" >&2
        ostree admin undeploy --sysroot=/mnt 1 >&2
        # Ignition makes homes of users in this directory before systemd-tmpfiles could make the directory.
        mkdir "/mnt/ostree/deploy/$os/var/home"
        """, "sh", image.OS_NAME, image.BRANCH, *arguments).stdout.strip()
