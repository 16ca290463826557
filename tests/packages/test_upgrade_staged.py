# SPDX-License-Identifier: Apache-2.0
"""Upgrades the Debian packages on an OSTree machine while a deployment that the older package has staged waits for the
reboot: the newer package ends the change, whether it comes with the deployment, or is installed before the reboot.

test_upgrade.py describes which packages these are by day and in the nightly run.
"""

import random
import re

import pytest

from machines import deploy
from machines.image import BRANCH
from machines.installed import ALL, NOTHING, Installed, everything
from machines.node import Node
from packaged_agent import NEWER, OLDER, PACKAGES, install, nightly

KILLS = 10
SHUTDOWN = 1.5  # Seconds.  A shutdown takes about this long.


class Packaged(Installed):
    """A machine whose image has the package."""

    def __init__(self, machine):
        self.machine, self.program, self.run = machine, "pintle", machine.run

    def version(self):
        return self.run("dpkg-query", "--show", "--showformat=${Version}", "pintle").stdout

    def install(self, suffix):
        install(self.machine, f"pintle{suffix}", f"pintle-image{suffix}")

    def unlock(self):
        """Makes /usr writable until the next boot."""
        self.run("ostree", "admin", "unlock")

    def commit(self, branch):
        """Commits the image of the machine with all changes of the unlocked /usr; returns the commit."""
        upper = re.search("upperdir=([^,]+)", self.run("findmnt", "--noheadings", "--output=OPTIONS", "/usr").stdout)[1]
        # /sysroot is read-only, and stays so outside this mount namespace.  A file of the image that was removed is a
        # device in the layer.
        return self.run("unshare", "--mount", "sh", "-ec", """
            mount -o remount,rw /sysroot
            mkdir /var/tmp/tree
            cp --archive "$1" /var/tmp/tree/usr
            find /var/tmp/tree -type c -delete
            ostree commit --repo="$2" --branch="$3" --tree=ref="$4" --tree=dir=/var/tmp/tree --no-xattrs --subject="$3"
            rm -r /var/tmp/tree
            """, "sh", upper, deploy.REPOSITORY, branch, BRANCH).stdout.strip()

    def reboot(self):
        self.machine.reboot()
        self.settle()

    def expect_all(self, image, version):
        assert self.of_everything() == ALL
        assert deploy.booted_commit(self.machine) == image and self.version() == version
        assert self.pintle("recover") == "Nothing was cut short.\n"
        self.pintle("verify")
        assert self.machine.state == "running"


@pytest.fixture(scope="module")
def begin(repository):
    def node(saved=None):
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("PINTLE_BUILD")    # The machine has nothing of the build tree.
            return Node(binds={str(repository): PACKAGES}, saved=saved)
    return node


@pytest.fixture(scope="module")
def prepared(begin, tmp_path_factory):
    """Returns the disk of a machine whose image has the older package, an image with the newer one, and its version."""
    saved = tmp_path_factory.mktemp("staged") / "saved"
    with begin() as node:
        machine = Packaged(node)
        machine.unlock()
        machine.install(OLDER)
        older_version, older = machine.version(), machine.commit("test/older")
        machine.install(NEWER)
        newer_version, newer = machine.version(), machine.commit("test/newer")
        assert older_version != newer_version
        node.run("useradd", "--create-home", "--password", "*", "core")
        node.run("mkdir", "/root/configs")
        node.run("systemctl", "enable", "pintle-recover.service")
        deploy.stage(node, older)
        node.reboot()
        assert machine.version() == older_version
        node.poweroff()
        node.save(saved)
    return saved, newer, newer_version


@pytest.fixture
def staged(begin, prepared):
    """A machine on which the older package has staged everything, and an image with the newer package."""
    saved, newer, _ = prepared
    with begin(saved) as node:
        machine = Packaged(node)
        assert "reboot is pending" in machine.apply(everything(newer))
        yield machine


@nightly
def test_the_newer_package_of_the_new_image_ends_the_change(staged, prepared):
    _, newer, version = prepared
    staged.reboot()
    staged.expect_all(newer, version)


@nightly
def test_an_upgrade_between_staging_and_the_reboot_leaves_the_change_whole(staged, prepared):
    _, newer, version = prepared
    staged.unlock()
    staged.install(NEWER)
    assert staged.version() == version
    assert "ends with a reboot" in staged.pintle("verify", status=2)
    assert staged.of_everything() == NOTHING
    staged.reboot()
    staged.expect_all(newer, version)


@nightly
@pytest.mark.parametrize("number", range(KILLS))
def test_a_kill_in_the_shutdown_after_an_upgrade_leads_to_the_old_or_the_new_machine(staged, prepared, number):
    _, newer, version = prepared
    cut = random.Random(number).uniform(0, SHUTDOWN)
    staged.unlock()
    staged.install(NEWER)
    staged.run("systemctl", "reboot", check=False)
    staged.machine.kill_after(cut)
    staged.machine.start()
    staged.settle()
    now = staged.of_everything()
    print(f"killed after {cut:.2f} s: {'new' if now['argument'] else 'old'}")
    assert now in (NOTHING, ALL)
    if now == NOTHING:    # The commands below are those of the older package, which the old deployment still has.
        assert staged.pintle("recover") == "Nothing was cut short.\n"
        assert "reboot is pending" in staged.apply(everything(newer))
        staged.reboot()
    staged.expect_all(newer, version)
    deploy.fsck(staged.machine)
