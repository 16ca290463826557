# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/install.md as the page has them, on machines with the packages of these tests.

The folder in which the commands run has build/packages, as a clone has it after `./dev package`.  Other tests run the
commands that build: test_clean_root.py (`./dev package`), test_image.py (`./dev image`, which the image's commands follow
there) and test_release.py (`./dev release`).
"""

import re

import pytest
from install_page import blocks, commands

from machines.node import Node
from packaged_agent import assert_nothing_has_begun, start_kubelet, wait_until_settled, write_config
from packaged_rpms import binds, dnf, releases, verify

CLONE = "/root/clone"

# How each block of the page begins, and where its commands are run, or why they are not.
BLOCKS = {
    "./dev package": "here", "systemctl enable --now": "here",
    "dnf builddep": "the first two lines need Fedora; the third one is run",
    "meson dist": "rpmbuild needs Fedora's macros; test_release.py runs the first command",
    "apt install selinux-policy-default": "tests/vm/test_selinux.py runs the same commands in another order",
    "FROM the image": "there is no such image here",
    "systemctl disable --now": "here",
    "./dev image": "test_image.py", "./dev release": "test_release.py",
}


def test_each_command_of_the_page_is_run_somewhere_or_has_a_reason():
    assert len(blocks()) == len(BLOCKS)
    for block, beginning in zip(blocks(), BLOCKS):
        assert block[0].startswith(beginning), block


def in_clone(node, command):
    return node.run("sh", "-ec", f"cd {CLONE} && {command}")


@pytest.fixture
def node(debian_packages, repositories, monkeypatch):
    """A machine with the clone's build/packages, and with dnf."""
    monkeypatch.delenv("PINTLE_BUILD")
    folder = next(iter(debian_packages.values())).parent
    with Node(plain=True, binds={**binds(repositories), str(folder): "/run/built"}) as machine:
        machine.run("mkdir", "--parents", f"{CLONE}/build")
        machine.run("ln", "--symbolic", "/run/built", f"{CLONE}/build/packages")
        yield machine


def test_the_commands_for_debian_install_start_and_leave_the_machine(node):
    _, install = commands("./dev package")
    in_clone(node, install)
    assert_nothing_has_begun(node)
    node.run("mkdir", "--parents", "/etc/pintle/config.d")
    write_config(node, ("/etc/managed", "new"))
    start, = commands("systemctl enable --now")
    in_clone(node, start)
    node.follow_reboot()
    wait_until_settled(node)
    assert node.run("cat", "/etc/managed").stdout == "new"
    # Before a deployment without Pintle is booted: the kubelet has to start there.
    start_kubelet(node)
    for command in commands("systemctl disable --now"):
        in_clone(node, command)
    assert_nothing_has_begun(node)
    assert node.run("find", "/etc/systemd/system", "-name", "pintle*").stdout == ""


def test_the_command_for_fedora_installs_exactly_the_package_that_it_means(node):
    *_, install = commands("dnf builddep")
    words = install.split()
    assert words[:2] == ["dnf", "install"]
    packages = [in_clone(node, f"ls {word}").stdout.split() for word in words[2:]]
    (package,), = packages
    assert re.fullmatch(r"\./build/packages/pintle-[0-9.]+-[^-]+\.x86_64\.rpm", package)
    dnf(node, "install", package.replace("./build/packages", "/machine/run/built"))
    assert releases(node, "pintle") == ["1"] and verify(node, "pintle") == ""
