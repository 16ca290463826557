# SPDX-License-Identifier: Apache-2.0
"""A virtual machine whose kernel enforces Debian's SELinux policy with Pintle's module, and whose image has Pintle and
labels by this policy.

Debian's policy does not know OSTree hosts, so three things are as on Fedora's: the policy has aliases such as /var/home
for /home; the store of the policy's modules is in /etc, because OSTree builds the policy of a new deployment again if
/etc has other modules than the image; and systemd's own programs may follow the links of such a host and fill its /var.
"""

import inspect
import os
import pathlib
import shutil
import sys
import tempfile

from . import cache, image, programs
from .disk import Disk
from .layers import Layers, install
from .shell import need, run
from .vm import Vm

# OSTree runs semodule by bubblewrap.
PACKAGES = ["selinux-policy-default", "policycoreutils", "selinux-utils", "bubblewrap"]
TYPE = "default"
NEXT = f"{image.BRANCH}-next"
CONFIG = "etc/selinux"
POLICY = f"{CONFIG}/{TYPE}"
BUILD_POLICY = pathlib.Path(__file__).resolve().parents[2] / "selinux/build_policy.py"
ARGUMENTS = ["security=selinux", "enforcing=1"]
# Directories of /var that an OSTree host has in place of those of a usual root.
ALIASES = {"/var/home": "/home", "/var/roothome": "/root", "/var/usrlocal": "/usr/local", "/var/srv": "/srv",
           "/var/mnt": "/mnt", "/var/opt": "/opt"}
# Rules for other programs on an OSTree host.  No rule is about Pintle's domains and types, for which Pintle's own module
# has to be sufficient.
HOST_RULES = """
(allow domain default_t (lnk_file (getattr read)))
(allow domain usr_t (lnk_file (getattr read)))
(allow systemd_generator_t init_runtime_t (file (link)))
(allow systemd_tmpfiles_t dpkg_var_lib_t (lnk_file (create getattr read relabelfrom relabelto)))
"""
SEMODULE = ["semodule", "--noreload", f"--store={TYPE}"]


def selinux_tools():
    """Returns a directory with the programs of SELinux and with Debian's policy, to be laid over the plain root."""
    code = [inspect.getsource(function) for function in (_tools, _run_semodule, image.unpack)]
    key = cache.recipe_key(*code, image.SUITE, PACKAGES, image.debian_root().name, SEMODULE)
    return cache.made_once("selinux-tools", key, _tools, programs.folder_of_images())


def _tools(root):
    print("  unpacking SELinux ...", file=sys.stderr, flush=True)
    image.unpack(root, PACKAGES)
    # Packages that are only unpacked have files in directories that are links on an installed machine.
    for name in ("bin", "sbin", "lib", "lib64"):
        shutil.copytree(root / name, root / "usr" / name, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(root / name)
    (root / CONFIG / "config").write_text(f"SELINUX=enforcing\nSELINUXTYPE={TYPE}\n")
    with open(root / CONFIG / "semanage.conf", "a", encoding="utf-8") as settings:
        settings.write("store-root=/etc/selinux\n")
    with tempfile.TemporaryDirectory(prefix="pintle-") as scratch:
        print("  building the policy ...", file=sys.stderr, flush=True)
        _run_semodule(Layers(pathlib.Path(scratch), root), root / CONFIG, {},
                      "sh", "-ec", f'"$@" --install /usr/share/selinux/{TYPE}/*.pp.bz2', "sh", *SEMODULE)


def _run_semodule(layers, config, binds, *words):
    """Runs semodule; the folder `config` is /etc/selinux for it."""
    layers.run({CONFIG: ("--bind", config), **binds}, *words)


def make_disk(disk, build):
    """Makes an OSTree disk at the path `disk`, whose only deployment has the build as a package installs it.

    The branch NEXT has the same image with another policy, which has the type net_conf_t for /etc/relabelled.  Returns
    the commit of the image.
    """
    need("meson", "strip", "mount")
    tools = selinux_tools()
    with tempfile.TemporaryDirectory(prefix="pintle-") as scratch:
        layers = Layers(pathlib.Path(scratch), tools)
        install(build, layers.added)
        _add_policy(layers, pathlib.Path(scratch))
        _copy_missing(tools, layers.added, layers.plain)
        (layers.added / "etc").rename(layers.added / "usr/etc")
        run("cp", "--reflink=auto", "--sparse=always", image.ostree_disk(), disk)
        return _deploy(disk, layers)


def _add_policy(layers, scratch):
    """Adds the policy with Pintle's module, and with the aliases."""
    module, config = scratch / "module", scratch / "selinux"
    module.mkdir()
    run(sys.executable, BUILD_POLICY, module / "pintle.pp")
    shutil.copytree(layers.tools / CONFIG, config, symlinks=True)
    # This boolean lets systemd-tmpfiles make the directories of /var.
    (config / TYPE / "active/booleans.local").write_text("systemd_tmpfiles_manage_all=1\n")
    (module / "ostree-host.cil").write_text(HOST_RULES)
    _run_semodule(layers, config, {"mnt": ("--bind", module)}, *SEMODULE, "--install",
                  "/mnt/pintle.pp", "/mnt/ostree-host.cil")
    with open(config / TYPE / "contexts/files/file_contexts.subs_dist", "a", encoding="utf-8") as aliases:
        aliases.writelines(f"{alias} {path}\n" for alias, path in ALIASES.items())
    shutil.copytree(config, layers.added / CONFIG, symlinks=True, dirs_exist_ok=True)


def _copy_missing(tools, added, plain):
    """Copies what neither the plain root nor the additions have."""
    for top in ("etc", "usr"):
        for folder, directories, files in os.walk(tools / top):
            for name in [*files, *directories]:
                path = pathlib.Path(folder, name)
                place = path.relative_to(tools)
                if path.is_dir() and not path.is_symlink():
                    continue
                if os.path.lexists(added / place) or os.path.lexists(plain / place):
                    continue
                (added / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, added / place, follow_symlinks=False)


def _deploy(disk, layers):
    """Commits the image with the additions and with labels, and deploys the commit as the only one; returns it."""
    arguments = [f"--karg={argument}" for argument in (*image.KERNEL_ARGUMENTS, *ARGUMENTS)]
    return layers.run({"mnt": ("-o loop", disk), "media": ("--bind", layers.added)}, "sh", "-ec", """
        os=$1 branch=$2
        shift 2
        # ostree labels the files of a folder, but not those of a commit.
        ostree checkout --repo=/mnt/ostree/repo "$branch" /mnt/tree
        # The additions have extended attributes of an overlay, which must not be copied.
        cp --recursive --no-dereference --preserve=mode,links --remove-destination /media/. /mnt/tree/
        ostree commit --repo=/mnt/ostree/repo --branch="$branch" --tree=dir=/mnt/tree --selinux-policy=/mnt/tree \
                      --owner-uid=0 --owner-gid=0 --subject=labelled --add-metadata-string=version=1
        # The next image is committed here, because this would take minutes in a virtual machine.
        echo "/etc/relabelled -- system_u:object_r:net_conf_t:s0" \
          >/mnt/tree/usr/etc/selinux/default/contexts/files/file_contexts.local
        ostree commit --repo=/mnt/ostree/repo --branch="$branch-next" --tree=dir=/mnt/tree --selinux-policy=/mnt/tree \
                      --owner-uid=0 --owner-gid=0 --subject=next --add-metadata-string=version=2 >&2
        rm -r /mnt/tree
        ostree admin deploy --sysroot=/mnt --os="$os" "$@" "$branch" >&2
        ostree admin undeploy --sysroot=/mnt 1 >&2
        # Where the kernel has no SELinux, OSTree cannot label the folders of /etc.
        deploy=/mnt/ostree/deploy/$os
        deployment=$(echo "$deploy"/deploy/*.0)
        contexts=$deployment/etc/selinux/default/contexts/files/file_contexts
        setfiles -r "$deployment" "$contexts" "$deployment/etc" >&2
        # root's home has another user in its label, so systemd-tmpfiles may not make it.
        mkdir --parents --mode=700 "$deploy/var/roothome/.ssh"
        setfiles -r "$deploy" "$contexts" "$deploy/var" >&2
        # Outside of the deployments, label the files as an installer does.
        label() {
          type=$1
          shift
          chcon --no-dereference "system_u:object_r:$type:s0" "$@"
        }
        label root_t /mnt
        label boot_t $(find /mnt/boot)
        label usr_t $(find /mnt/ostree -path "/mnt/ostree/deploy/*/*" -prune -o -type d -print)
        # The repository's objects are left out, because they are the files of the deployments.
        label usr_t $(find /mnt/ostree -path "/mnt/ostree/deploy/*/*" -prune -o -path /mnt/ostree/repo/objects -prune -o \
                      ! -type d -print)
        """, "sh", image.OS_NAME, image.BRANCH, *arguments).stdout.strip()


class EnforcingVm(Vm):
    """`disk` was made by make_disk()."""

    def __init__(self, disk):
        super().__init__()
        self._source = disk

    def _prepare(self):
        self._disk = Disk(self._scratch / "disk", self._source)

    def denials(self):
        """Returns what the kernel, D-Bus and systemd have denied to Pintle, or to others about Pintle, in all boots."""
        return [line for line in self.all_denials() if "pintle" in line]

    def all_denials(self):
        return self.run("journalctl", "--quiet", "--output=cat", "--grep=avc: +denied", check=False).stdout.splitlines()

    def mislabelled(self, *paths):
        """Returns what restorecon would change below these paths."""
        return self.run("restorecon", "-nvr", *paths).stdout.splitlines()

    def label(self, path):
        return self.run("stat", "--format=%C", path).stdout.strip()

    def type(self, path):
        return self.label(path).split(":")[2]
