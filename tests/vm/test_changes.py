# SPDX-License-Identifier: Apache-2.0
"""Tests changes during which the power of the machine is cut, so that it loses all unsynced data."""

import contextlib
import os
import pathlib
import random
import time

import pytest

from machines import deploy, programs, shell
from machines.installed import ALL, NOTHING, Installed, everything
from machines.node import BUILD_ON_MACHINE
from machines.power_cuts import cut_power, start_after_cut
from machines.vm import Vm

# At each boot, this service appends a line to RECORDED: the contents of two files of everything(), one in /etc and one
# in /var, as "newnew"; or "none none" if there are no such files.
RECORDED = "/var/log/recorded"
RECORDER = f"""[Service]
Type=oneshot
ExecStart=/bin/sh -c 'echo $(cat /etc/managed /var/lib/managed 2>&1 | sed "s/^cat:.*/none/") >>{RECORDED}'
[Install]
WantedBy=multi-user.target
"""
ROUNDS = int(os.environ.get("PINTLE_POWER_CUTS", "30"))
PROGRAM = "/var/usrlocal/bin/pintle"
# Each night has other instants.  PINTLE_SEED repeats those of a night that failed.
SEED = int(os.environ.get("PINTLE_SEED") or random.SystemRandom().randrange(1 << 32))
MODULES = "/var/usrlocal/host/"  # A program in a build folder looks for modules in ../host.


@contextlib.contextmanager
def machine_with_pintle(folder):
    """Starts a machine, and returns it with the path of its `pintle`."""
    if programs.are_installed():
        with Vm() as vm:
            yield vm, programs.on_machine("pintle")
        return
    build = pathlib.Path(os.environ["PINTLE_BUILD"])
    (module,) = (build / "src/host").glob("pintle-ostree-*.so")
    for path in (build / "src/ctl/pintle", module):
        shell.run("strip", "-o", folder / path.name, path)
    with Vm(programs=[folder / "pintle", folder / module.name]) as vm:
        vm.run("install", "-D", f"{BUILD_ON_MACHINE}/pintle", PROGRAM)
        vm.run("install", "-D", "-t", MODULES, f"{BUILD_ON_MACHINE}/{module.name}")
        yield vm, PROGRAM


@pytest.fixture
def installed(tmp_path):
    with machine_with_pintle(tmp_path) as (vm, program):
        result = Installed(vm, program)
        vm.run("tee", "/etc/systemd/system/recorder.service", input=RECORDER)
        vm.run("systemctl", "enable", "recorder.service")
        vm.run("sync")
        yield result


@pytest.mark.nightly
def test_a_power_cut_during_a_change_leads_to_the_old_or_the_new_machine(installed):
    vm = installed.machine
    second = deploy.commit(vm, {"/usr/share/probe": "second"}, "2")
    was_new, full_change = False, None
    print(f"PINTLE_SEED={SEED}", flush=True)
    generator = random.Random(SEED)
    for number in range(ROUNDS + 1):
        installed.write_config(everything(second))
        source = "--none" if was_new else "/root/configs"
        command = [installed.program, "apply", "--yes", source]
        vm.run("sync")
        started = time.monotonic()
        vm.run("systemd-run", "--no-block", *command)
        # The first change is not cut short, to measure how long a change takes on this machine.
        if full_change is None:
            vm.follow_reboot(300)
            installed.settle()
            full_change = time.monotonic() - started
            cut = full_change
        else:
            cut = generator.uniform(0, full_change)
            cut_power(vm, cut)
            start_after_cut(vm)
            installed.settle()
        now = installed.of_everything()
        is_new = now == ALL
        # Even services that started before the change was completed have read the files of one config.
        # If a cut loses the contents of a new line, but not the new size of the file, the file has zeros there.
        read = set(installed.read(RECORDED).replace("\0", "").splitlines())
        assert read <= {"none none", "newnew"}, read
        print(f"{number}: cut after {cut:.1f} s of {full_change:.1f} s, from {was_new} to {is_new}", flush=True)
        assert now in (NOTHING, ALL) and (number > 0 or is_new)
        if is_new:
            assert deploy.booted_commit(vm) == second
        assert installed.pintle("recover") == "Nothing was cut short.\n"
        installed.pintle("verify")
        deploy.fsck(vm)
        was_new = is_new


@pytest.mark.nightly
def test_when_a_new_deployment_does_not_boot_the_old_one_has_the_old_files(installed):
    vm = installed.machine
    first = deploy.booted_commit(vm)
    broken = deploy.commit(vm, {"/usr/lib/systemd/systemd": "no program"}, "2")
    installed.apply(everything(broken))
    vm.poweroff(300)
    vm.start_broken("Freezing execution", "Kernel panic", "emergency mode", "Failed to execute")
    vm.start(fall_back=True)
    installed.settle()
    assert deploy.booted_commit(vm) == first and installed.of_everything() == NOTHING
    assert "the new deployment did not boot" in installed.pintle("history")
    vm.reboot()
    assert deploy.booted_commit(vm) == first and installed.of_everything() == NOTHING
