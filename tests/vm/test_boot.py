# SPDX-License-Identifier: Apache-2.0
"""Tests of boots that need a virtual machine: a kernel with its arguments, an initramfs, power cuts."""

import os
import random
import time

import pytest

from machines import deploy, shell
from machines.node import BUILD_ON_MACHINE
from machines.vm import FOR_THE_EMULATOR, Vm

ROUNDS = 4


def read(vm, path):
    return vm.run("cat", path).stdout


def test_a_virtual_machine_boots_its_deployment_and_runs_a_program_of_ours(tmp_path):
    compiler = os.environ.get("CC", "cc")
    shell.need(compiler)
    (tmp_path / "probe.c").write_text("#include <systemd/sd-daemon.h>\n"
                                      "int main(void) { return sd_booted() == 1 ? 42 : 1; }\n")
    shell.run(compiler, tmp_path / "probe.c", "-o", tmp_path / "probe", "-lsystemd")
    with Vm(programs=[tmp_path / "probe"]) as vm:
        assert vm.state == "running"
        assert f"{vm.boot_entry['options']} {FOR_THE_EMULATOR}" == read(vm, "/proc/cmdline").strip()
        assert deploy.booted_commit(vm)
        assert vm.run("cat", input="through the agent").stdout == "through the agent"
        assert vm.run(f"{BUILD_ON_MACHINE}/probe", check=False).returncode == 42


@pytest.mark.nightly
def test_a_staged_deployment_is_booted_with_its_kernel_argument_and_can_be_rolled_back(vm):
    first = deploy.booted_commit(vm)
    vm.run("tee", "/etc/issue", input="edited here")
    second = deploy.commit(vm, {"/usr/share/probe": "from the image", "/usr/etc/issue": "from the image",
                                "/usr/etc/image.conf": "from the image"}, version="2")
    # The kernel itself evaluates this argument.
    deploy.stage(vm, second, ["sysctl.kernel.panic=77"])

    vm.reboot()
    assert deploy.booted_commit(vm) == second
    assert read(vm, "/proc/sys/kernel/panic") == "77\n"
    assert [read(vm, path) for path in ("/usr/share/probe", "/etc/issue", "/etc/image.conf")] \
        == ["from the image", "edited here", "from the image"]

    deploy.roll_back(vm)
    vm.reboot()
    assert deploy.booted_commit(vm) == first
    assert read(vm, "/proc/sys/kernel/panic") != "77\n"
    vm.poweroff()


@pytest.mark.nightly
def test_a_power_cut_around_a_staged_deployment_leads_to_the_old_or_the_new_deployment(vm):
    booted = deploy.booted_commit(vm)
    full_shutdown = None
    for version in range(2, 2 + ROUNDS):
        old, new = booted, deploy.commit(vm, {"/usr/share/probe": str(version)}, str(version))
        # The first shutdown is not cut short, to measure how long a shutdown takes on this machine.
        cut = random.uniform(0, full_shutdown) if full_shutdown else 600
        started = time.monotonic()
        vm.run("systemd-run", "--no-block", "sh", "-c", '"$@" && systemctl reboot', "sh", *deploy.staging(new))
        vm.kill_after(cut)
        full_shutdown = full_shutdown or time.monotonic() - started
        vm.start()
        booted = deploy.booted_commit(vm)
        result = "new" if booted == new else "old"
        print(f"cut after {cut:.1f} s of {full_shutdown:.1f} s: booted the {result} deployment")
        assert booted in (old, new) and (version > 2 or booted == new)
        assert (vm.run("cat", "/usr/share/probe", check=False).stdout == str(version)) == (booted == new)
        deploy.fsck(vm)
