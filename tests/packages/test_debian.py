# SPDX-License-Identifier: Apache-2.0
"""Installs, upgrades and removes the Debian packages on a booted machine that has nothing of the build tree."""

import fcntl
import gzip
import io
import json
import pathlib
import shutil
import subprocess
import tarfile

import pytest
from built import expect_no_tags

from machines import installed
from machines.node import Node
from machines.wait import wait_until
from packaged_agent import (CONFIG, PACKAGES, agent_pid, apply_config, assert_nothing_has_begun,
                            expect_kubelet_without_package, install, make_change_that_waits_for_reboot, start_kubelet,
                            start_with_config, verify, wait_until_settled)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# What the test machines have in a tree of their own, or not at all, and what pintle-dracut depends on.
OF_DRACUT = """Package: of-dracut
Version: 1
Architecture: all
Maintainer: nobody <nobody@localhost>
Provides: curl, dracut-network, ignition
Description: what the test machines lack for pintle-dracut
"""


@pytest.fixture
def node(repository, monkeypatch):
    """A machine without the build folder."""
    monkeypatch.delenv("PINTLE_BUILD")
    with Node(plain=True, binds={str(repository): PACKAGES}) as machine:
        yield machine


def pintle(node, *words):
    return node.run("pintle", *words).stdout


@pytest.fixture
def with_config(node):
    """A machine whose agent was installed by the package, and has put a config in place."""
    install(node, "pintle")
    start_with_config(node)
    return node


def test_the_package_is_installed_and_nothing_begins_by_itself(node):
    install(node, "pintle")
    assert pintle(node, "version").startswith("pintle ")
    assert_nothing_has_begun(node)
    assert verify(node, "pintle") == []
    node.run("tee", "/root/config.json", input=json.dumps(installed.everything()))
    pintle(node, "validate", "/root/config.json")
    assert node.run("readlink", "--canonicalize", "/run/bin/machine-config-daemon").stdout.strip() == "/usr/bin/pintle"


def test_the_agent_of_the_package_applies_a_config(with_config):
    apply_config(with_config, ("/etc/managed", "newer"), ("/etc/added", "1"))
    assert verify(with_config, "pintle") == []


def test_an_upgrade_restarts_the_agent_and_keeps_its_config(with_config):
    before = agent_pid(with_config)
    install(with_config, "pintle-next")
    assert agent_pid(with_config) not in (before, "0")
    wait_until_settled(with_config)
    assert with_config.run("cat", "/etc/managed").stdout == "new"
    apply_config(with_config, ("/etc/managed", "newer"))


def test_an_upgrade_does_not_start_an_agent_that_was_not_running(node):
    install(node, "pintle")
    install(node, "pintle-next")
    assert agent_pid(node) == "0"


def test_what_a_config_has_put_in_place_stays_when_the_package_goes(with_config):
    with_config.run("apt-get", "remove", "--yes", "pintle")
    assert with_config.run("systemctl", "is-active", "pintled.service", check=False).stdout.strip() == "inactive"
    assert with_config.run("cat", "/etc/managed").stdout == "new"
    with_config.run("test", "-e", "/var/lib/pintle")
    # The package that is installed again continues where the removed one stopped.
    install(with_config, "pintle")
    with_config.run("systemctl", "start", "pintled.service")
    wait_until_settled(with_config)
    with_config.run("apt-get", "purge", "--yes", "pintle")
    assert with_config.run("cat", "/etc/managed").stdout == "new"
    assert with_config.run("cat", CONFIG).stdout
    for path in "/var/lib/pintle", "/run/pintle", "/run/bin/machine-config-daemon":
        assert with_config.run("test", "-e", path, check=False).returncode, path
    assert with_config.run("systemctl", "--failed", "--quiet").stdout == ""


def expect_to_stay(node, package):
    """Checks that the package cannot be removed, because a change waits for a reboot."""
    removed = node.run("apt-get", "purge", "--yes", package, check=False)
    output = removed.stdout + removed.stderr
    assert removed.returncode and "waits for a reboot" in output and f"{package} stays installed" in output, output
    assert node.run("dpkg-query", "--show", "--showformat=${db:Status-Abbrev}", package).stdout.strip() == "ii"


def test_the_kubelet_keeps_running_and_can_restart_when_the_package_is_removed(node):
    install(node, "pintle")
    start_kubelet(node)
    node.run("apt-get", "remove", "--yes", "pintle")
    expect_kubelet_without_package(node)


def test_a_change_that_was_cut_short_ends_before_the_package_goes(node):
    install(node, "pintle")
    node.run("useradd", "--password", "*", "core")
    config = installed.machine_config([installed.file("/etc/managed", "new")],
                                      users=[{"name": "core", "passwordHash": "$6$salt$new"}])
    node.run("tee", "/root/config.json", input=json.dumps(config))
    # The change waits for the lock before it puts the password, which is the last step.
    with node.path("/etc/.pwd.lock").open("a") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        node.run("systemd-run", "--quiet", "--collect", "--unit=change", "pintle", "apply", "--yes", "/root/config.json")
        wait_until(node.path("/etc/managed").exists, "the change has begun", 60)
        node.run("systemctl", "kill", "--signal=KILL", "change.service")
    assert "was cut short; it is undone" in node.run("apt-get", "purge", "--yes", "pintle").stdout
    for path in "/etc/managed", "/var/lib/pintle":
        assert node.run("test", "-e", path, check=False).returncode, path


def test_a_change_that_waits_for_a_reboot_keeps_the_package(node):
    install(node, "pintle")
    make_change_that_waits_for_reboot(node)
    expect_to_stay(node, "pintle")
    install(node, "pintle-image")
    expect_to_stay(node, "pintle-image")
    node.run("pintle", "recover", "--give-up")
    node.run("apt-get", "remove", "--yes", "pintle")
    assert node.run("test", "-e", "/etc/waiting", check=False).returncode


def test_purging_the_package_in_another_root_leaves_the_records_of_this_machine(node):
    install(node, "pintle")
    own, other = "/var/lib/pintle/kept", "/srv/root/var/lib/pintle"
    node.run("install", "-D", "/dev/null", own)
    node.run("mkdir", "--parents", other)
    node.run("env", "DPKG_ROOT=/srv/root", "DPKG_MAINTSCRIPT_PACKAGE=pintle", "/var/lib/dpkg/info/pintle.postrm", "purge")
    node.run("test", "-e", own)
    assert node.run("test", "-e", other, check=False).returncode


def test_all_packages_are_installed_together(node):
    install(node, "pintle", "pintle-image", "pintle-controller")
    assert node.run("pintle-controller", "version").stdout.startswith("pintle-controller ")
    install(node, "pintle-next", "pintle-image-next", "pintle-controller-next")
    assert [verify(node, name) for name in ("pintle", "pintle-image", "pintle-controller")] == [[], [], []]
    node.run("apt-get", "purge", "--yes", "pintle", "pintle-image", "pintle-controller")
    left = node.run("find", "/usr", "/etc", "-name", "*pintle*").stdout.split()
    assert left == []


def test_dracut_finds_the_module_of_the_package(node, tmp_path):
    (tmp_path / "DEBIAN").mkdir()
    (tmp_path / "DEBIAN/control").write_text(OF_DRACUT, encoding="ascii")
    subprocess.run(["dpkg-deb", "--build", tmp_path, node.path("/root/of-dracut.deb")], check=True,
                   stdout=subprocess.DEVNULL)
    node.run("dpkg", "--install", "/root/of-dracut.deb")
    install(node, "pintle", "pintle-dracut")
    assert verify(node, "pintle-dracut") == []
    assert "pintle" in node.run("dracut", "--list-modules", "--no-kernel").stdout.split()
    install(node, "pintle-next", "pintle-dracut-next")
    node.run("apt-get", "purge", "--yes", "pintle-dracut")
    assert node.run("find", "/usr", "-path", "*90pintle*").stdout == ""
    assert "pintle" not in node.run("dracut", "--list-modules", "--no-kernel").stdout.split()


@pytest.mark.parametrize("name", ["pintle", "pintle-image", "pintle-controller"])
def test_the_notice_of_a_library_that_is_compiled_in_is_in_the_package(debian_packages, name):
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", debian_packages[name]], check=True, stdout=subprocess.PIPE)
    notice = subprocess.run(["tar", "--extract", "--to-stdout", f"./usr/share/doc/{name}/copyright.nlohmann-json.gz"],
                            check=True, input=data.stdout, stdout=subprocess.PIPE)
    assert b"Niels Lohmann" in gzip.decompress(notice.stdout)


def files_below(archive, folder):
    """Returns the contents of the files below a folder of a tar archive, by their paths in this folder."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        return {member.name.partition(folder)[2]: members.extractfile(member).read() for member in members
                if member.isfile() and folder in member.name}


@pytest.mark.parametrize("name", ["pintle", "pintle-controller"])
def test_zsh_finds_the_completions_of_the_package(debian_packages, name):
    listed = subprocess.run(["dpkg-deb", "--contents", debian_packages[name]], check=True, stdout=subprocess.PIPE,
                            encoding="utf-8").stdout
    folders = subprocess.run(["zsh", "-f", "-c", "print -l $fpath"], check=True, stdout=subprocess.PIPE,
                             encoding="utf-8").stdout.split()
    assert any(f" .{folder}/_{name}\n" in listed for folder in folders)


def test_kubectl_can_read_the_manifests_in_the_package(debian_packages):
    packaged = subprocess.run(["dpkg-deb", "--fsys-tarfile", debian_packages["pintle-controller"]], check=True,
                              stdout=subprocess.PIPE).stdout
    source = subprocess.run(["git", "-C", SOURCE, "archive", "HEAD", "deploy"], check=True, stdout=subprocess.PIPE).stdout
    assert files_below(packaged, "/pintle-controller/deploy/") == files_below(source, "deploy/")


def test_lintian_finds_nothing(debian_packages, tmp_path):
    """The file .changes names all packages, so lintian checks them, too."""
    for path in [*debian_packages.values(), *(SOURCE / "build/packages/deb").glob("pintle_*.*")]:
        shutil.copy(path, tmp_path)
    changes, = tmp_path.glob("*.changes")
    expect_no_tags(changes)
