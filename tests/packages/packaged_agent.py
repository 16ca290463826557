# SPDX-License-Identifier: Apache-2.0
"""The agent on a machine that has it from a package."""

import json
import os
import re

import pytest

from machines import installed
from machines.wait import wait_until

NIGHTLY = "PINTLE_NIGHTLY" in os.environ
nightly = pytest.mark.skipif(not NIGHTLY, reason="takes long; a similar test is not nightly")
# The ends of the names of the packages between which the tests upgrade in the middle of a change.
OLDER, NEWER = ("-previous", "") if NIGHTLY else ("", "-next")
PACKAGES = "/run/packages"  # The machine's mount of the folder with the packages.
CONFIG = "/etc/pintle/config.d/50-all.json"
UNITS = ("pintle-firstboot.service", "pintle-recover.service", "pintled.service")
# The test machines are installed without these folders.
NOT_ON_TEST_MACHINES = re.compile(r"^missing +/usr/share/(doc|man)/|^$")


def install(node, *names):
    """Installs Debian packages as a person does; the machine has no network."""
    node.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "--yes", "--no-install-recommends",
             *(f"{PACKAGES}/{name}.deb" for name in names))


def verify(node, package):
    """Returns what dpkg finds to be different from the package."""
    lines = node.run("dpkg", "--verify", package, check=False).stdout.splitlines()
    return [line for line in lines if not NOT_ON_TEST_MACHINES.search(line)]


def write_config(node, *files):
    config = installed.machine_config([installed.file(path, text) for path, text in files])
    node.run("tee", CONFIG, input=json.dumps(config))


def wait_until_settled(node):
    wait_until(lambda: node.run("pintle", "status", check=False).returncode == 0, "the agent has settled", 60)


def apply_config(node, *files):
    """Changes the config of a running agent, and waits until the machine has rebooted and is as the config wants."""
    write_config(node, *files)
    node.follow_reboot()
    wait_until_settled(node)
    assert [node.run("cat", path).stdout for path, _ in files] == [text for _, text in files]


def start_with_config(node):
    """Starts the agent as docs/install.md describes, and waits until it has applied its first config."""
    node.run("mkdir", "--parents", "/etc/pintle/config.d")
    write_config(node, ("/etc/managed", "new"))
    node.run("systemctl", "enable", "--now", "pintle-recover.service", "pintled.service")
    node.follow_reboot()
    wait_until_settled(node)
    assert node.run("cat", "/etc/managed").stdout == "new"


def start_kubelet(node):
    """Starts a kubelet that requires the first boot to be complete, as on a node of a cluster."""
    node.run("tee", "/etc/systemd/system/kubelet.service", input="[Service]\nExecStart=/bin/sleep infinity\n")
    node.run("systemctl", "enable", "pintle-firstboot.service")
    node.run("systemctl", "start", "kubelet.service")


def expect_kubelet_without_package(node):
    """Checks that the kubelet has run on, and that it starts again."""
    node.run("systemctl", "is-active", "kubelet.service")
    node.run("systemctl", "restart", "kubelet.service")


def make_change_that_waits_for_reboot(node):
    config = installed.machine_config([installed.file("/etc/waiting", "new")])
    node.run("tee", "/root/config.json", input=json.dumps(config))
    assert node.run("pintle", "apply", "--yes", "--no-reboot", "/root/config.json", check=False).returncode == 2


def agent_pid(node):
    """Returns the process ID of the agent, which is 0 if it does not run."""
    return node.run("systemctl", "show", "--property=MainPID", "--value", "pintled.service").stdout.strip()


def assert_nothing_has_begun(node):
    for unit in UNITS:
        assert node.run("systemctl", "is-enabled", unit, check=False).stdout.strip() == "disabled", unit
        assert node.run("systemctl", "is-active", unit, check=False).stdout.strip() == "inactive", unit
    assert node.run("systemctl", "--failed", "--quiet").stdout == ""
