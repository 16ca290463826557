# SPDX-License-Identifier: Apache-2.0
"""Checks that the nodes that other tests use behave like real ones, and leave nothing behind."""

import concurrent.futures
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest

from machines import deploy, power_cuts, shell
from machines.namespace import OWN_MOUNTS
from machines.node import BUILD_ON_MACHINE, Node
from machines.supervised import MachineDied
from machines.wait import wait_until

SYSTEMD = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"]


def boot_id(node):
    return node.run("cat", "/proc/sys/kernel/random/boot_id").stdout


def write(node, path, text):
    node.run("tee", path, input=text)


def read(node, path):
    return node.run("cat", path).stdout


def test_a_plain_node_boots_without_a_failed_unit(node_without_ostree):
    assert node_without_ostree.state == "running"
    assert node_without_ostree.run("hostname").stdout.strip() == node_without_ostree.name


def test_an_ostree_node_boots_its_deployment_without_a_failed_unit(node):
    assert node.state == "running"
    assert node.boot_entry["options"] == read(node, "/proc/cmdline").strip()
    assert deploy.booted_commit(node)


def test_a_deployment_is_read_only_but_for_etc_and_var(node):
    for path in "/usr/x", "/sysroot/x":
        assert "Read-only file system" in node.run("touch", path, check=False).stderr
    node.run("touch", "/etc/x", "/var/x")


def test_systemd_enables_and_starts_a_unit_over_dbus(node_without_ostree):
    write(node_without_ostree, "/etc/systemd/system/probe.service",
          "[Service]\nExecStart=sleep infinity\n[Install]\nWantedBy=multi-user.target\n")
    node_without_ostree.run("busctl", "call", *SYSTEMD, "Reload")
    node_without_ostree.run("busctl", "call", *SYSTEMD, "EnableUnitFiles", "asbb", "1", "probe.service", "false", "false")
    node_without_ostree.run("busctl", "call", *SYSTEMD, "StartUnit", "ss", "probe.service", "replace")
    wait_until(lambda: node_without_ostree.run("systemctl", "is-active", "probe.service", check=False).stdout == "active\n",
               "the unit is active", 60)
    node_without_ostree.reboot()
    assert node_without_ostree.run("systemctl", "is-active", "probe.service").stdout == "active\n"


def test_the_system_bus_is_reachable_from_the_host(node_without_ostree):
    shell.need("busctl")
    state = shell.run("busctl", f"--address={node_without_ostree.bus_address}", "get-property", *SYSTEMD, "SystemState")
    assert state.stdout == 's "running"\n'
    assert node_without_ostree.path("/etc/hosts").read_text() == read(node_without_ostree, "/etc/hosts")


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "ostree"])
@pytest.mark.parametrize("end", [Node.reboot, lambda node: (node.poweroff(), node.start()),
                                 lambda node: (node.kill(), node.start())], ids=["reboot", "poweroff", "kill"])
def test_a_new_boot_keeps_etc_and_var_only(plain, end):
    with Node(plain=plain) as node:
        before = boot_id(node)
        for directory in "/etc", "/var/lib", "/run":
            write(node, f"{directory}/mark", "kept")
        end(node)
        assert boot_id(node) != before
        assert "Reached target" in node.run("journalctl", "--boot=-1", "--output=cat").stdout
        assert read(node, "/etc/mark") + read(node, "/var/lib/mark") == "keptkept"
        assert not node.path("/run/mark").exists()


def test_a_node_that_reboots_by_itself_is_started_again(node_without_ostree):
    before = boot_id(node_without_ostree)
    node_without_ostree.run("systemctl", "reboot", check=False)
    node_without_ostree.follow_reboot()
    assert boot_id(node_without_ostree) != before


def test_a_command_that_is_running_ends_with_its_node(node_without_ostree):
    result = node_without_ostree.run("sh", "-c", "systemctl reboot; sleep infinity", check=False)
    assert result.returncode != 0
    node_without_ostree.follow_reboot()


def test_a_staged_deployment_is_booted_with_merged_etc_and_can_be_rolled_back(node):
    first = deploy.booted_commit(node)
    write(node, "/etc/local.conf", "made here")
    write(node, "/etc/issue", "edited here")
    second = deploy.commit(node, {"/usr/share/probe": "from the image", "/usr/etc/issue": "from the image",
                                  "/usr/etc/image.conf": "from the image"}, version="2")
    deploy.stage(node, second, ["probe=1"])
    write(node, "/etc/late.conf", "made after staging")
    assert deploy.booted_commit(node) == first and "probe=1" not in read(node, "/proc/cmdline")

    node.reboot()
    assert deploy.booted_commit(node) == second
    assert "probe=1" in read(node, "/proc/cmdline").split()
    assert read(node, "/usr/share/probe") == "from the image"
    assert [read(node, f"/etc/{name}") for name in ("local.conf", "issue", "image.conf", "late.conf")] \
        == ["made here", "edited here", "from the image", "made after staging"]

    deploy.roll_back(node)
    node.reboot()
    assert deploy.booted_commit(node) == first
    assert "probe=1" not in read(node, "/proc/cmdline")
    assert not node.path("/usr/share/probe").exists() and not node.path("/etc/image.conf").exists()


def test_the_boot_loader_can_fall_back_to_the_other_deployment(node):
    first = deploy.booted_commit(node)
    deploy.stage(node, deploy.commit(node, {"/usr/share/probe": "new"}, version="2"))
    node.reboot()
    assert deploy.booted_commit(node) != first
    node.kill()
    node.start(fall_back=True)
    assert deploy.booted_commit(node) == first


def test_a_node_killed_while_it_shuts_down_boots_the_old_or_the_new_deployment(node):
    booted = deploy.booted_commit(node)
    cuts, killed = None, 0
    for version in range(2, 6):
        old, new = booted, deploy.commit(node, {"/usr/share/probe": str(version)}, str(version))
        deploy.stage(node, new)
        # The first shutdown is not cut short, to measure how long a shutdown takes on this machine.
        cut = cuts.pop() if cuts else 60
        started = time.monotonic()
        node.run("systemctl", "reboot", check=False)
        killed += node.kill_after(cut)
        cuts = power_cuts.instants(3, time.monotonic() - started) if cuts is None else cuts
        node.start()
        booted = deploy.booted_commit(node)
        print(f"cut after {cut:.2f} s: booted the {'new' if booted == new else 'old'} deployment")
        assert booted in (old, new) and (version > 2 or booted == new)
        assert (node.run("cat", "/usr/share/probe", check=False).stdout == str(version)) == (booted == new)
    assert killed > 0, "each shutdown had ended before its power cut"
    deploy.fsck(node)


def test_a_node_killed_while_its_disk_is_frozen_boots_again(node):
    write(node, "/etc/local.conf", "made here")
    node.run("sync")
    node.run("fsfreeze", "--freeze", "/sysroot")
    node.kill()
    node.start()
    assert read(node, "/etc/local.conf") == "made here"


def test_a_program_of_the_build_runs_in_both_kinds_of_node(tmp_path, monkeypatch):
    compiler = os.environ.get("CC", "cc")
    shell.need(compiler)
    (tmp_path / "probe.c").write_text("#include <systemd/sd-daemon.h>\n"
                                      "int main(void) { return sd_booted() == 1 ? 42 : 1; }\n")
    shell.run(compiler, tmp_path / "probe.c", "-o", tmp_path / "probe", "-lsystemd")
    monkeypatch.setenv("PINTLE_BUILD", str(tmp_path))
    for plain in True, False:
        with Node(plain=plain) as node:
            assert node.run(f"{BUILD_ON_MACHINE}/probe", check=False).returncode == 42


def test_a_node_on_the_host_network_reaches_the_tests_and_a_private_one_does_not():
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}"
        with Node(plain=True, network="host") as node:
            node.run("bash", "-c", connect)
        with Node(plain=True) as node:
            assert "Connection refused" in node.run("bash", "-c", connect, check=False).stderr


def test_nodes_side_by_side_do_not_see_each_other():
    def mark_and_reboot(number):
        with Node(plain=number % 2 == 0) as node:
            write(node, "/etc/mark", str(number))
            node.reboot()
            return read(node, "/etc/mark"), node.state

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert list(threads.map(mark_and_reboot, range(4))) == [(str(number), "running") for number in range(4)]


def test_a_command_that_fails_raises_an_error_with_its_output(node_without_ostree):
    with pytest.raises(shell.CommandFailed, match="(?s)cat /nowhere.*No such file"):
        node_without_ostree.run("cat", "/nowhere")


def test_a_node_that_does_not_boot_raises_an_error_with_its_console(node_without_ostree):
    node_without_ostree.run("rm", "/lib/systemd/systemd")
    node_without_ostree.kill()
    with pytest.raises(MachineDied, match="(?s)booting.*console:\n.*systemd"):
        node_without_ostree.start()


class Traces:
    """Finds the traces on the host of machines that keep their temporary files below a directory."""

    def __init__(self, directory):
        self.directory = directory
        self.names = {str(directory)}

    def learn(self):
        """Remembers the names of the machines, which are also the names of their cgroups."""
        self.names.update(path.name for path in self.directory.iterdir())
        return self

    def left(self):
        found = [f"file {path}" for path in self.directory.iterdir()]
        mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
        found += [f"mount {line}" for line in mounts if self._mentions(line)]
        loops = shell.run("losetup", "--list", "--noheadings", "--output", "BACK-FILE").stdout
        found += [f"loop device of {line}" for line in loops.splitlines() if self._mentions(line)]
        found += [f"cgroup {line}" for line in self._cgroups()]
        found += [f"process {text}" for text in map(self._command, pathlib.Path("/proc").glob("[0-9]*"))
                  if self._mentions(text)]
        return found

    def _mentions(self, text):
        return any(name in text for name in self.names)

    def _cgroups(self):
        """Lists the cgroups in a mount of our own, because perhaps the host has not mounted them.  `find` may fail, because
        a group may disappear meanwhile.
        """
        listed = shell.run(*OWN_MOUNTS, "sh", "-ec", "mount -t cgroup2 none /mnt; find /mnt -type d || :")
        return [line for line in listed.stdout.splitlines() if self._mentions(line)]

    @staticmethod
    def _command(process):
        try:
            return (process / "cmdline").read_text(errors="replace").replace("\0", " ")
        except OSError:
            return ""


@pytest.fixture
def traces(monkeypatch):
    """Gives machines a directory for temporary files with a unique name, which is short because of sockets."""
    with tempfile.TemporaryDirectory(prefix="traces-") as directory:
        monkeypatch.setenv("TMPDIR", directory)
        monkeypatch.setattr("tempfile.tempdir", None)
        yield Traces(pathlib.Path(directory))


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "ostree"])
def test_a_stopped_node_leaves_nothing_behind(traces, plain):
    with Node(plain=plain) as node:
        traces.learn()
        node.reboot()
        seen = " ".join(traces.left())
        kinds = ("file", "cgroup", "process", *([] if plain else ["loop device"]))
        assert [kind for kind in kinds if kind not in seen] == []
    assert traces.left() == []


def test_an_exception_in_the_test_leaves_nothing_behind(traces):
    with pytest.raises(ZeroDivisionError):
        with Node(plain=True):
            traces.learn()
            1 / 0
    assert traces.left() == []


@pytest.mark.parametrize("kind", [["--plain"], []], ids=["plain", "ostree"])
def test_a_node_by_hand_has_pintle(kind):
    script = "pintle verify && systemctl start pintled.service && pintle status && command -v pintled"
    answer = shell.run(sys.executable, "-m", "machines", "node", *kind, "--", "bash", "-c", script,
                       cwd=pathlib.Path(__file__).parents[1])
    assert answer.stdout.startswith("This machine has no config.\n") and "pintled" in answer.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_test_program_ended_by_a_signal_leaves_nothing_behind(traces, number):
    with shell.running(sys.executable, "-m", "machines", "node", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                       cwd=pathlib.Path(__file__).parents[1]) as program:
        assert b"nsenter" in program.stdout.readline()
        assert traces.learn().left()
        program.send_signal(number)
        program.wait(60)
    wait_until(lambda: traces.left() == [], lambda: f"nothing is left: {traces.left()}", 60)
