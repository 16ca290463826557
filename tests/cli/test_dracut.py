# SPDX-License-Identifier: Apache-2.0
"""Tests Pintle's module for dracut: when dracut adds the module to an initramfs, and which files the module adds.

Simple functions replace dracut's own.
"""

import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("PINTLE_BUILD", "build")).absolute()
SOURCE = pathlib.Path(__file__).parents[2]
UNITS = "usr/lib/systemd/system"
DRACUT_FUNCTIONS = """
set -euo pipefail
moddir=$1 initdir=$2 dracutbasedir=$3 systemdsystemunitdir=/usr/lib/systemd/system
require_binaries() { [ "${HAS_PINTLE:-yes}" = yes ]; }
inst_multiple() { printf '%s\\n' "$@"; }
inst_simple() { mkdir -p "$(dirname "$initdir$2")"; cp "$1" "$initdir$2"; }
inst_libdir_file() { printf '%s\\n' "$1"; }
ln_r() { ln -s "$1" "$initdir$2"; }
. "$moddir/module-setup.sh"
"""


@pytest.fixture
def run(tmp_path):
    module, initramfs, dracut = tmp_path / "90pintle", tmp_path / "initramfs", tmp_path / "dracut"
    for folder in (module, initramfs, dracut / "modules.d/30ignition"):
        folder.mkdir(parents=True)
    for path in [*(BUILD / "dracut").glob("*.s*"), SOURCE / "dracut/90pintle/initrd-labels.conf"]:
        (module / path.name).write_bytes(path.read_bytes())

    def run(command, **environment):
        return subprocess.run(["bash", "-c", DRACUT_FUNCTIONS + command, "bash", module, initramfs, dracut], check=False,
                              capture_output=True, text=True, env={**os.environ, **environment})
    run.initramfs, run.dracut = initramfs, dracut
    return run


def test_the_scripts_pass_the_shells_own_check_and_shellcheck(run):
    for command in (["bash", "-n"], ["sh", "-n"], ["shellcheck", "--shell=bash"]):
        subprocess.run([*command, BUILD / "dracut/module-setup.sh"], check=True)


def test_the_module_is_added_to_an_initramfs_if_ignition_and_pintle_exist(run):
    assert run("check").returncode == 0
    assert run("check", HAS_PINTLE="no").returncode == 1
    (run.dracut / "modules.d/30ignition").rmdir()
    assert run("check").returncode == 255
    assert "ignition" in run("depends").stdout


def test_the_module_runs_the_program_when_ignition_has_written_its_files(run):
    installed = run("install")
    assert installed.returncode == 0, installed.stderr
    unit = run.initramfs / UNITS / "pintle-initrd-firstboot.service"
    wanted = run.initramfs / UNITS / "ignition-complete.target.wants" / unit.name
    assert os.readlink(wanted) == f"/{UNITS}/{unit.name}"
    lines = unit.read_text().splitlines()
    program = next(line for line in lines if line.startswith("ExecStart=")).removeprefix("ExecStart=-").split()
    assert program[0] in installed.stdout.splitlines()
    assert program[1:] == ["firstboot", "--root", "/sysroot", "--if-nothing-to-do"]
    assert any(line.startswith("After=") and "ignition-files.service" in line for line in lines)
    assert any(line.startswith("Before=") and "initrd-cleanup.service" in line for line in lines)
    assert "libcrypto.so.3*" in installed.stdout.splitlines()
    # The initramfs contains every file that the module's units need.
    before = [line.removeprefix("ExecStartPre=").split() for line in lines if line.startswith("ExecStartPre=")]
    assert {pathlib.Path(words[0]).name for words in before} <= set(installed.stdout.splitlines())
    copied = [words[1] for words in before if words[0].endswith("/cp")]
    assert copied == ["/usr/share/pintle/initrd-labels.conf"] and (run.initramfs / copied[0].lstrip("/")).is_file()
