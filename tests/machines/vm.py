# SPDX-License-Identifier: Apache-2.0
"""The OSTree node with a kernel and an initramfs of its own, in QEMU without KVM: a boot takes a quarter of a minute.

The tests replace the boot loader: they copy the kernel of the first boot entry out of the disk, and pass it to QEMU.
"""

import argparse
import contextlib
import json
import shutil
import socket
import sys
import time

from . import image
from .container import ENVIRONMENT
from .disk import Disk
from .guest_agent import GuestAgent
from .machine import Machine, new_name, split_command_line
from .programs import BUILD_ON_MACHINE
from .shell import CommandFailed, need, run
from .supervised import MachineDied, SupervisedProcess
from .wait import wait_until

# This kernel argument is added to those of the boot entry.  On a busy host, the emulated timer ticks so late that the
# kernel's check of the timer ends in a panic.
FOR_THE_EMULATOR = "no_timer_check"


class Vm(Machine):
    """A Machine in QEMU, with copies of `programs`, which are files of the host, in BUILD_ON_MACHINE."""

    def __init__(self, name=None, programs=()):
        super().__init__(name or new_name("vm"))
        self.programs = programs

    def _prepare(self):
        self._disk = Disk(self._scratch / "disk")
        if self.programs:
            _make_program_disk(self._scratch / "programs", self.programs)

    def _boot(self):
        kernel, initramfs = self._scratch / "kernel", self._scratch / "initramfs"
        self._disk.extract(self.boot_entry["linux"], kernel)
        self._disk.extract(self.boot_entry["initrd"], initramfs)
        programs = _drive(self._scratch / "programs.disk", "readonly=on") if self.programs else []
        return Emulator(self.name, self._scratch, [
            *_drive(self._disk.path), *programs, *self._devices(),
            "-kernel", kernel, "-initrd", initramfs, "-append", self._command_line()])

    def _devices(self):
        """Returns QEMU's options for additional devices."""
        return []

    def _command_line(self):
        return f"{self.boot_entry['options']} {FOR_THE_EMULATOR}"

    def start(self, fall_back=False):
        super().start(fall_back)
        if self.programs:
            self.run("mkdir", "--parents", BUILD_ON_MACHINE)
            self.run("mount", "-o", "ro", "LABEL=programs", BUILD_ON_MACHINE)


class Emulator(SupervisedProcess):
    """One boot of QEMU."""

    def __init__(self, name, scratch, options):
        self.name = name
        self._agent_path, self._monitor_path = scratch / "agent", scratch / "monitor"
        for path in (self._agent_path, self._monitor_path):
            path.unlink(missing_ok=True)
        self._agent = self._monitor = None
        super().__init__({"command": [str(word) for word in (*_qemu(scratch), *options)]}, scratch,
                         scratch / "console.log")

    def wait_ready(self, seconds=240):
        """Like Container.wait_ready."""
        try:
            self.wait_until_it_answers(seconds)
            return self.run("systemctl", "is-system-running", "--wait", check=False).stdout.strip()
        except (ConnectionError, MachineDied) as died:
            # The machine may have ended during the request.
            end = "not yet"
            with contextlib.suppress(TimeoutError):
                end = self.wait_end(10)
            if end == "reboot":
                return end
            raise MachineDied(f"{self.name} ended while it booted ({died}): {end}", self.console()) from died

    def wait_until_it_answers(self, seconds=240):
        deadline = time.monotonic() + seconds
        self._monitor = self._connected(_socket_to, self._monitor_path)
        # The monitor reports events only after this.
        self._monitor.sendall(b'{"execute": "qmp_capabilities"}\n')
        self._agent = self._connected(GuestAgent, self._agent_path)
        while not self._agent.answers(1):
            self.expect_alive("booting")
            if time.monotonic() > deadline:
                raise MachineDied(f"{self.name} has not booted after {seconds} s", self.console())

    def _connected(self, connect, path):
        def attempt():
            self.expect_alive("starting QEMU")
            try:
                return connect(path)
            except (FileNotFoundError, ConnectionRefusedError):
                return None
        return wait_until(attempt, f"QEMU listens at {path}", 30)

    def run(self, *words, check=True, input=None):
        """Runs a command in the machine, as root."""
        words = [str(word) for word in words]
        self.expect_alive(f"running {' '.join(words)}")
        result = self._agent.run(words, ENVIRONMENT, input)
        if check and result.returncode != 0:
            raise CommandFailed([f"{self.name}:", *words], result)
        return result

    def wait_end(self, seconds):
        """Waits for the machine to end by itself; returns "reboot", "poweroff" or another reason."""
        status = self.wait(seconds)
        with self._monitor.makefile() as lines:
            events = [event for event in map(json.loads, lines) if event.get("event") == "SHUTDOWN"]
        reason = events[-1]["data"]["reason"] if events else f"status {status}"
        return {"guest-reset": "reboot", "guest-shutdown": "poweroff"}.get(reason, reason)


def _socket_to(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    return connection


def _qemu(scratch):
    """Returns the words that run QEMU from its folder, with its own libraries and the devices of every machine."""
    tools = image.qemu_tools()
    libraries = tools / "usr/lib/x86_64-linux-gnu"
    return [tools / "usr/lib64/ld-linux-x86-64.so.2", "--library-path", libraries,
            tools / "usr/bin/qemu-system-x86_64", "-L", tools / "usr/share/qemu", "-L", tools / "usr/share/seabios",
            "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024", "-nodefaults", "-no-user-config",
            # A reboot ends QEMU, since the boot loader has to choose again.
            "-display", "none", "-no-reboot",
            "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
            "-chardev", f"file,id=console,path={scratch}/console.log,append=on", "-serial", "chardev:console",
            "-chardev", f"socket,id=agent,path={scratch}/agent,server=on,wait=off",
            "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0",
            "-qmp", f"unix:{scratch}/monitor,server=on,wait=off"]


def _drive(path, *options):
    """Returns QEMU's options for a disk.  Its syncs need not reach the host's disk, because a power cut of the host
    would end the test as well.
    """
    return ["-drive", ",".join([f"file={path},format=raw,if=virtio,cache=unsafe", *options])]


def _make_program_disk(directory, programs):
    need("mkfs.ext4")
    directory.mkdir()
    for program in programs:
        shutil.copy2(program, directory)
    kibibytes = sum(path.stat().st_size for path in directory.iterdir()) // 1024
    run("mkfs.ext4", "-q", "-L", "programs", "-d", directory, directory.with_suffix(".disk"),
        str(kibibytes + kibibytes // 4 + 8192))


def main(argv):
    """`vm [-- COMMAND...]`"""
    own, command = split_command_line(argv)
    about = "Boots a virtual machine; without a command, runs the lines of its input as shell commands in it."
    argparse.ArgumentParser(prog="machines vm", description=about).parse_args(own)
    with Vm() as vm:
        print(f"{vm.name} is {vm.state} after {vm.boot_seconds:.1f} s", file=sys.stderr)
        if command:
            return _run_and_show(vm, command)
        print("each line is run as a shell command in it, until the input ends", file=sys.stderr, flush=True)
        for line in sys.stdin:
            _run_and_show(vm, ["bash", "-c", line])
    return 0


def _run_and_show(vm, words):
    result = vm.run(*words, check=False)
    print(result.stdout, end="", flush=True)
    print(result.stderr, end="", file=sys.stderr, flush=True)
    return result.returncode
