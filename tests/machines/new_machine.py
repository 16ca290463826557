# SPDX-License-Identifier: Apache-2.0
"""A machine that boots for the first time: Pintle is in its image, Ignition and Pintle's module are in its initramfs.

Three things are not real.  These tests replace the boot loader, which enables Ignition at the first boot only.  A unit
in the initramfs mounts /var for Ignition, as a part of CoreOS does.  And no file gets an SELinux label.
"""

import json
import pathlib
import shutil
import tempfile

from . import image
from .disk import Disk
from .layers import UNITS, Layers, install, write
from .shell import need, run
from .vm import Vm

FIRST_CONFIG = "/etc/ignition-machine-config-encapsulated.json"
# The command need not name the dracut modules of Ignition and Pintle: if they are installed, dracut always adds them.
OMITTED = "plymouth crypt dm dmraid lvm mdraid multipath nfs iscsi fcoe lunmask resume i18n terminfo btrfs"
DRACUT = ["dracut", "--force", "--no-hostonly", "--reproducible", "--compress=cat", "--add", "ostree",
          "--omit", OMITTED, "--drivers", "virtio_blk virtio_pci virtio_console ext4 overlay erofs loop qemu_fw_cfg"]

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
        layers = Layers(pathlib.Path(scratch))
        install(build, layers.added)
        write(OS_FILES, layers.added)
        _make_initramfs(layers, pathlib.Path(scratch, "included"))
        (layers.added / "etc").rename(layers.added / "usr/etc")
        run("cp", "--reflink=auto", "--sparse=always", image.ostree_disk(), disk)
        return _deploy(disk, layers)


def _make_initramfs(layers, included):
    """Makes the initramfs with dracut, inside the new root."""
    tools = image.ignition_tools()
    included.mkdir()
    shutil.copytree(tools / "usr/lib/dracut/modules.d", layers.tools / "usr/lib/dracut/modules.d")
    shutil.copy2(tools / "usr/bin/curl", layers.tools / "usr/bin")
    write(INITRAMFS_FILES, included)
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
