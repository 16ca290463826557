# SPDX-License-Identifier: Apache-2.0
"""A fresh Debian 12 with nothing but git: Pintle is built there from a clone as README.md describes it, installed,
started on the booted machine, upgraded and removed.

The compiler's cache is the one of this machine.
"""

import json
import pathlib
import shutil

from built import copy_with_next_version

from machines import image, installed, shell
from machines.namespace import OWN_MOUNTS
from machines.node import Node
from packaged_agent import (agent_pid, apply_config, assert_nothing_has_begun, nightly, start_with_config, verify,
                            wait_until_settled)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# What a machine needs to boot, besides what is needed for a build.
OF_MACHINES = ("dbus", "iproute2", "kmod", "libpam-systemd", "systemd-sysv", "udev")
CLONE = "/root/pintle"
MOUNTS = """
root=$1 cache=$2
shift 2
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
mkdir -p "$root/root/.cache/ccache"
mount --bind "$cache" "$root/root/.cache/ccache"
exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
"""


class CleanRoot:
    """A folder with a fresh Debian, in which programs run before the machine is booted."""

    def __init__(self, folder):
        self.folder = folder
        shell.run("mmdebstrap", "--variant=minbase", "--mode=root", "--format=directory", "--include=git,ca-certificates",
                  "--aptopt=Acquire::Check-Valid-Until \"false\"", image.SUITE, folder, image._mirror())
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")

    def run(self, *words):
        cache = shell.run("ccache", "--get-config", "cache_dir").stdout.strip()
        return shell.run(*OWN_MOUNTS, "sh", "-ec", MOUNTS, "sh", self.folder, cache, *words)

    def packages(self):
        listed = self.run("dpkg-query", "--show", "--showformat=${Package}\n").stdout
        return set(listed.split())


@nightly
def test_packages_alone_take_a_clean_machine_from_a_clone_to_a_working_agent(tmp_path, monkeypatch):
    root = CleanRoot(tmp_path / "root")
    shell.run("git", "clone", "--quiet", "--no-hardlinks", SOURCE, f"{root.folder}{CLONE}")
    shell.run("chown", "--recursive", "root:", f"{root.folder}{CLONE}")
    built = root.run(f"{CLONE}/dev", "package", "--check")
    packages = [pathlib.Path(line).name for line in built.stdout.splitlines()]
    assert {name.partition("_")[0] for name in packages} >= {"pintle", "pintle-image", "pintle-controller"}
    # The unit tests have run, and nothing that only other tests need was installed.
    log = (root.folder / CLONE.lstrip("/") / "build/packages/deb/build.log").read_text(errors="replace")
    assert "dh_auto_test" in log and "Fail:               0" in log
    assert not root.packages() & {"chromium", "clang", "etcd-server", "golang-go", "lintian", "ostree", "rpm"}

    root.run("sh", "-ec", f"cd {CLONE} && apt-get install --yes ./build/packages/pintle_*.deb")
    root.run("apt-get", "install", "--yes", "--no-install-recommends", *OF_MACHINES)
    config = root.folder / "root/config.json"
    config.write_text(json.dumps(installed.everything()), encoding="utf-8")
    root.run("pintle", "validate", "/root/config.json")
    newer = root.folder / "root/newer.deb"
    own, = [name for name in packages if name.startswith("pintle_")]
    copy_with_next_version(root.folder / CLONE.lstrip("/") / "build/packages" / own, newer)

    # The tree becomes a machine.  The images of other test machines lack these files and units, too.
    shutil.rmtree(root.folder / CLONE.lstrip("/"))
    for path in "etc/hostname", "etc/resolv.conf":
        (root.folder / path).unlink(missing_ok=True)
    (root.folder / "etc/machine-id").write_text("")
    shell.run("systemctl", f"--root={root.folder}", "mask", *image.MASKED_UNITS)
    monkeypatch.delenv("PINTLE_BUILD")
    monkeypatch.setattr(image, "debian_root", lambda: root.folder)
    with Node(plain=True) as node:
        assert_nothing_has_begun(node)
        assert verify(node, "pintle") == []
        start_with_config(node)
        apply_config(node, ("/etc/managed", "newer"), ("/etc/added", "1"))
        before = agent_pid(node)
        node.run("dpkg", "--install", "/root/newer.deb")
        assert agent_pid(node) not in (before, "0")
        wait_until_settled(node)
        apply_config(node, ("/etc/managed", "newest"))
        assert verify(node, "pintle") == []
        node.run("apt-get", "remove", "--yes", "pintle")
        assert node.run("cat", "/etc/managed").stdout == "newest"
        node.run("apt-get", "purge", "--yes", "pintle")
        assert node.run("test", "-e", "/var/lib/pintle", check=False).returncode
        assert node.run("systemctl", "--failed", "--quiet").stdout == ""
