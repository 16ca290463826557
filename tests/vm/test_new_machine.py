# SPDX-License-Identifier: Apache-2.0
"""Tests a new machine: Ignition writes the first config in the initramfs, and Pintle checks there whether the OS is as
the config wants it.
"""

import json
import os
import pathlib
import tempfile
import urllib.parse
import urllib.request

import pytest

from machines import deploy, new_machine
from machines.ignition_server import IgnitionServer
from machines.installed import APP, KEY, KEYS_FILE, file, machine_config
from machines.new_machine import FIRST_CONFIG, NewMachine
from machines.wait import wait_until

CURRENT_CONFIG = "/etc/machine-config-daemon/currentconfig"
IN_THE_INITRAMFS, IN_THE_REAL_ROOT = "pintle-initrd-firstboot.service", "pintle-firstboot.service"
NAME = "rendered-worker-1"
DONE = f"Done: the OS is as {NAME} wants it."
# The header that Ignition 2.14 sends.
ACCEPT = "application/vnd.coreos.ignition+json;version=3.3.0, */*;q=0.1"
PATIENCE = 120


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    disk = tmp_path_factory.mktemp("image") / "disk"
    commit = new_machine.make_disk(disk, pathlib.Path(os.environ["PINTLE_BUILD"]))
    yield disk, commit
    disk.unlink()


def rendered(commit, arguments=(), users=({"name": "core", "sshAuthorizedKeys": [KEY]},)):
    units = [APP, *({"name": unit, "enabled": True} for unit in (IN_THE_REAL_ROOT, "pintle-recover.service"))]
    config = machine_config([file("/etc/managed", "new")], commit, arguments, units, users)
    config["metadata"]["name"] = NAME
    return config


def served(config):
    """Returns what Ignition gets on a new machine: the whole config, and a file with the parts that Ignition cannot
    apply.
    """
    def of_kind(kind, name, **parts):
        return {"apiVersion": config["apiVersion"], "kind": kind, "metadata": {"name": name}, **parts}
    chosen = {"configuration": {"name": NAME}}
    objects = {"mc.yaml": config, "pool.yaml": of_kind("MachineConfigPool", "worker", spec=chosen, status=chosen),
               "controllerconfig.yaml": of_kind("ControllerConfig", "machine-config-controller", spec={}),
               "kubeconfig": {"apiVersion": "v1", "kind": "Config"}}
    with tempfile.TemporaryDirectory(prefix="pintle-") as folder:
        for name, value in objects.items():
            pathlib.Path(folder, name).write_text(json.dumps(value))
        with IgnitionServer(folder, plain=True) as server:
            request = urllib.request.Request(f"{server.plain}/config/worker", headers={"Accept": ACCEPT})
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)


def read(vm, path):
    return vm.run("cat", path).stdout


def has(vm, path):
    return vm.run("test", "-e", path, check=False).returncode == 0


def log_of(vm, unit):
    return vm.run("journalctl", "--output=cat", f"--unit={unit}").stdout


def ran(vm, unit):
    return vm.run("systemctl", "show", "--property=ConditionResult", "--value", unit).stdout == "yes\n"


def expect_configured(vm):
    assert (vm.state, read(vm, "/etc/managed")) == ("running", "new")
    assert vm.run("systemctl", "is-active", "app.service").stdout == "active\n"
    assert json.loads(read(vm, CURRENT_CONFIG))["metadata"]["name"] == NAME
    assert not has(vm, FIRST_CONFIG) and has(vm, FIRST_CONFIG + ".bak")
    assert not has(vm, "/var/lib/pintle/change/journal.json")
    # Pintle wrote its files to the /var that all deployments share, not to the deployment's own /var, which is hidden.
    assert vm.run("sh", "-c", "ls -d /sysroot/ostree/deploy/*/deploy/*/var/lib/pintle", check=False).returncode != 0
    assert vm.run("pintle", "verify").stdout == f"This machine is as {NAME} wants it.\n"


def test_a_new_machine_with_the_right_image_is_configured_in_one_boot(image):
    disk, commit = image
    with NewMachine(disk, served(rendered(commit, ["mitigations=off"]))) as vm:
        assert DONE in log_of(vm, IN_THE_INITRAMFS) and not ran(vm, IN_THE_REAL_ROOT)
        expect_configured(vm)
        assert read(vm, KEYS_FILE) == KEY + "\n"
        assert vm.boots == 1 and deploy.booted_commit(vm) == commit
        # With this, the real root gives SELinux labels to the files that were written in the initramfs.
        assert has(vm, "/run/tmpfiles.d/pintle-initrd.conf")


def test_work_that_needs_another_deployment_is_left_to_the_real_root_and_takes_one_reboot(image):
    disk, commit = image
    with NewMachine(disk, served(rendered(commit, ["probe=1"]))) as vm:
        assert "There is something to do" in log_of(vm, IN_THE_INITRAMFS)
        expect_configured(vm)
        assert read(vm, KEYS_FILE) == KEY + "\n"
        arguments = read(vm, "/proc/cmdline").split()
        assert vm.boots == 2 and "probe=1" in arguments and "ignition.firstboot" not in arguments


def test_without_var_in_the_initramfs_the_real_root_completes_the_first_config_without_a_reboot(image):
    disk, commit = image
    with NewMachine(disk, served(rendered(commit, users=())), arguments=["without=/var"]) as vm:
        assert DONE not in log_of(vm, IN_THE_INITRAMFS) and DONE in log_of(vm, IN_THE_REAL_ROOT)
        expect_configured(vm)
        assert vm.boots == 1


def test_a_machine_with_an_invalid_first_config_boots_and_reports_the_error(image):
    disk, commit = image
    config = served(rendered(commit))
    first = next(each for each in config["storage"]["files"] if each["path"] == FIRST_CONFIG)
    original_source, first["contents"]["source"] = first["contents"]["source"], "data:,%7B"
    with NewMachine(disk, config, settles=False) as vm:
        for unit in (IN_THE_INITRAMFS, IN_THE_REAL_ROOT):
            wait_until(lambda unit=unit: "failed to parse MachineConfig" in log_of(vm, unit),
                       f"{unit} reports the error", PATIENCE)
        assert has(vm, FIRST_CONFIG) and not has(vm, CURRENT_CONFIG)
        # A corrected config is used at the next try.
        vm.run("tee", FIRST_CONFIG, input=urllib.parse.unquote(original_source.removeprefix("data:,")))
        vm.state = vm.run("systemctl", "is-system-running", "--wait", check=False).stdout.strip()
        expect_configured(vm)
        assert vm.boots == 1
