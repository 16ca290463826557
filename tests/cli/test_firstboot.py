# SPDX-License-Identifier: Apache-2.0
"""Tests the part of a first boot that runs in the initramfs, where only files can be inspected, and the verbs of
`machine-config-daemon`.
"""

import hashlib
import json
import subprocess

import pytest
from program import PINTLE, Answer, machine_config, write
from small_machine import Machine

FIRST_CONFIG = "/etc/ignition-machine-config-encapsulated.json"
CURRENT_CONFIG = "/etc/machine-config-daemon/currentconfig"
COMMIT = hashlib.sha256(b"commit").hexdigest()
DIGEST = "sha256:" + hashlib.sha256(b"image").hexdigest()
IMAGE = f"quay.io/os@{DIGEST}"
ORIGIN = f"[origin]\ncontainer-image-reference = ostree-unverified-registry:{IMAGE}\n[libostree-transient]\nrefspec=x\n"
COMMAND_LINE = 'BOOT_IMAGE=/vmlinuz probe=1 quoted="a b" ostree=/ostree/boot.1/os/0000/0\n'


class NewMachine(Machine):
    """The machine in its initramfs: the deployment's tree, with the disk below /sysroot, and no running system."""

    def __init__(self, folder, origin=ORIGIN, command_line=COMMAND_LINE):
        (folder / "root").mkdir()
        super().__init__(folder / "root")
        deployments = self.root / "sysroot/ostree/deploy/os/deploy"
        (deployments / f"{COMMIT}.0").mkdir(parents=True)
        write(deployments / f"{COMMIT}.0.origin", origin)
        link = self.root / "sysroot/ostree/boot.1/os/0000/0"
        link.parent.mkdir(parents=True)
        link.symlink_to(f"../../../deploy/os/deploy/{COMMIT}.0")
        (self.root / "ostree").symlink_to("sysroot/ostree")
        self.command_line = write(folder / "cmdline", command_line)

    def encapsulate(self, **spec):
        write(self.path(FIRST_CONFIG), machine_config(name="rendered-worker-1", **spec))

    def look(self, status=0):
        """Runs `pintle firstboot` as the unit in the initramfs does."""
        return self.run("firstboot", "--if-nothing-to-do", "--command-line", self.command_line, status=status)


@pytest.fixture
def machine(tmp_path):
    return NewMachine(tmp_path)


def test_the_command_line_may_be_in_the_working_directory(machine):
    machine.encapsulate()
    words = ["firstboot", "--root", machine.root, "--if-nothing-to-do", "--command-line", machine.command_line.name]
    answer = subprocess.run([PINTLE.resolve(), *words], cwd=machine.command_line.parent, capture_output=True, text=True,
                            check=False)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("spec", [
    {}, {"osImageURL": IMAGE}, {"osImageURL": "docker://" + IMAGE}, {"kernelArguments": ["probe=1"]},
    {"osImageURL": IMAGE, "kernelArguments": ['probe=1 quoted="a b"'], "kernelType": "default", "extensions": []}])
def test_a_first_config_that_the_os_already_fulfils_is_completed(machine, spec):
    machine.encapsulate(**spec)
    config = machine.path(FIRST_CONFIG).read_text()
    assert "the OS is as rendered-worker-1 wants it" in machine.look().stdout
    assert not machine.path(FIRST_CONFIG).exists()
    assert machine.path(FIRST_CONFIG + ".bak").read_text() == config
    kept = json.loads(machine.path(CURRENT_CONFIG).read_text())
    assert kept["metadata"]["name"] == "rendered-worker-1"
    assert not machine.path("/var/lib/pintle/change/journal.json").exists()
    # A second run finds nothing to do.
    assert "Nothing to do" in machine.look().stdout


@pytest.mark.parametrize("spec", [
    {"osImageURL": "quay.io/os@sha256:" + "0" * 64}, {"osImageURL": "quay.io/another@" + "sha256:" + "1" * 64},
    {"osImageURL": "os/branch:stable"}, {"kernelArguments": ["probe=2"]}, {"kernelArguments": ["probe=1 other"]},
    {"extensions": ["usbguard"]}, {"kernelType": "realtime"}, {"fips": True}])
def test_all_other_work_is_left_for_the_real_root(machine, spec):
    machine.encapsulate(**spec)
    before = machine.tree()
    assert "There is something to do" in machine.look(status=2).stdout
    assert machine.tree() == before


def test_a_branch_and_a_commit_are_compared_too(tmp_path):
    machine = NewMachine(tmp_path, "[origin]\nrefspec=os:stable/x86\n")
    machine.encapsulate(osImageURL="os:stable/x86")
    machine.look()
    for image, status in [(COMMIT, 0), ("0" * 64, 2)]:
        machine.path(CURRENT_CONFIG).unlink()
        machine.encapsulate(osImageURL=image)
        machine.look(status)


def test_a_machine_that_has_a_config_keeps_it(machine):
    machine.encapsulate()
    machine.look()
    kept = machine.path(CURRENT_CONFIG).read_text()
    write(machine.path(FIRST_CONFIG), machine_config(name="rendered-worker-2", osImageURL="os:other"))
    assert "has rendered-worker-1 already" in machine.look().stderr
    assert machine.path(CURRENT_CONFIG).read_text() == kept and not machine.path(FIRST_CONFIG).exists()


@pytest.mark.parametrize("text,error", [("", "parse"), ("{", "parse"), ("[]", "parse"), ('{"kind": "Pod"}', "Pod")])
def test_a_first_config_that_cannot_be_read_stays(machine, text, error):
    write(machine.path(FIRST_CONFIG), text)
    answer = machine.look(status=1)
    assert "failed to parse MachineConfig" in answer.stderr and error in answer.stderr
    assert machine.path(FIRST_CONFIG).read_text() == text


def test_an_unknown_deployment_on_the_disk_is_an_error(tmp_path):
    machine = NewMachine(tmp_path, command_line="ostree=/ostree/boot.1/os/0000/7\n")
    machine.encapsulate()
    assert "finding the booted deployment" in machine.look(status=1).stderr
    assert machine.path(FIRST_CONFIG).exists()


def test_a_command_line_without_a_deployment_has_no_kernel_arguments(tmp_path):
    machine = NewMachine(tmp_path, command_line="root=/dev/sda1 probe=1\n")
    machine.encapsulate(osImageURL=IMAGE)
    machine.look(status=2)
    machine.encapsulate(kernelArguments=["probe=1"])
    machine.look(status=2)


# ---- machine-config-daemon ------------------------------------------------------------------------------------------

@pytest.fixture
def old(tmp_path):
    link = tmp_path / "machine-config-daemon"
    link.symlink_to(PINTLE.absolute())

    def run(*words, status=0):
        done = subprocess.run([link, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return Answer(done.returncode, done.stdout, done.stderr, 0)
    return run


@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["-h"]])
def test_the_old_name_lists_its_commands(old, words):
    listed = old(*words).stdout
    assert all(f"\n  {verb} " in listed for verb in ("firstboot-complete-machineconfig", "pivot", "start", "version"))


@pytest.mark.parametrize("verb,flag", [("pivot", "--keep"), ("start", "--node-name"),
                                       ("firstboot-complete-machineconfig", "--persist-nics")])
def test_the_old_name_lists_its_flags(old, verb, flag):
    assert f"\n  {flag}" in old(verb, "--help").stdout


@pytest.mark.parametrize("words", [
    ["version"], ["--v=4", "version"], ["-v", "4", "version"], ["version", "-v4", "--logtostderr", "--log_dir=/x"],
    ["version", "--alsologtostderr=false", "--payload-version", "4.20"]])
def test_the_old_name_prints_its_version_whatever_the_log_flags(old, words):
    answer = old(*words)
    assert answer.stdout.startswith("MachineConfigDaemon 0.") and answer.stderr == ""


ON = ["1", "t", "T", "TRUE", "true", "True"]
OFF = ["0", "f", "F", "FALSE", "false", "False"]


@pytest.mark.parametrize("value", ON)
def test_the_old_name_accepts_each_value_of_go_for_on(old, value):
    assert "pintle apply" in old("start", f"--skip-reboot={value}", status=1).stderr
    assert "pintle apply" in old("start", "--skip-reboot=false", f"--skip_reboot={value}", status=1).stderr


@pytest.mark.parametrize("value", OFF)
def test_the_old_name_accepts_each_value_of_go_for_off(old, value):
    # The next check of `start` finds the wrong root.
    for words in [[f"--skip-reboot={value}"], ["--skip-reboot", f"--skip_reboot={value}"]]:
        assert "--root-mount /rootfs" in old("start", *words, "--root-mount=/rootfs", status=1).stderr


@pytest.mark.parametrize("words,error", [
    (["wrong"], "unknown command"), (["version", "--wrong"], "--wrong"), (["start", "--once-from=x"], "pintle apply"),
    (["start", "--skip-reboot"], "pintle apply"), (["start", "--desired-configmap", "/x"], "HyperShift"),
    (["start", "--root-mount", "/rootfs"], "--root-mount /rootfs"), (["start", "--node-name=a\nb"], "line break"),
    (["firstboot-complete-machineconfig", "--root-mount=/rootfs"], "--root-mount /rootfs"),
    (["firstboot-complete-machineconfig", "word"], "takes no arguments"), (["pivot", "a", "b"], "one image"),
    (["pivot", "--reboot=yes", "a"], "--reboot=yes: the value of this switch must be true or false"),
    (["pivot", "--reboot=", "a"], "--reboot=: the value"), (["version", "--one_output=tRUE"], "--one-output=tRUE: "),
    (["start", "--kubelet_healthz_enabled=off"], "--kubelet-healthz-enabled=off: ")])
def test_the_old_name_refuses_flags_that_it_cannot_support(old, words, error):
    answer = old(*words, status=1)
    assert answer.stdout == "" and answer.stderr.startswith("error: ") and error in answer.stderr
