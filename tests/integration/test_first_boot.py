# SPDX-License-Identifier: Apache-2.0
"""Tests changes of the OS of a machine at its first boot, and by `pintle pivot`."""

import json
import os
import re
import time

import pytest
import test_rpm_ostree as rpm_ostree

from machines import deploy, power_cuts, programs
from machines.installed import APP, Installed, file, machine_config
from machines.node import BUILD_ON_MACHINE, Node
from machines.wait import wait_until

FIRST_CONFIG = "/etc/ignition-machine-config-encapsulated.json"
CURRENT_CONFIG = "/etc/machine-config-daemon/currentconfig"
JOURNAL = "/var/lib/pintle/change/journal.json"
UNIT = "pintle-firstboot.service"
OLD_NAME = "/run/old/machine-config-daemon"
RHCOS, FCOS = "ID=rhcos\n", "ID=fedora\nVARIANT_ID=coreos\n"
PATIENCE = 120
# The number of times that the first boot is killed.
KILLS = 5 if "PINTLE_NIGHTLY" in os.environ else 3


class Machine(Installed):
    """A machine with Pintle's units, and with OSTree commits as its OS images."""

    def __init__(self, node):
        super().__init__(node, programs.on_machine("pintle"))

    def commit(self, version, **files):
        """Makes an OSTree commit with this version, and with files for /etc; returns its checksum."""
        files = {f"/usr/etc/{name}": text for name, text in files.items()} or {"/usr/share/probe": version}
        return deploy.commit(self.machine, files, version)

    def booted(self):
        return deploy.booted_commit(self.machine)

    def boot(self):
        """Returns the ID of the current boot."""
        return self.read("/proc/sys/kernel/random/boot_id")

    def boots(self):
        """Returns the number of boots so far."""
        return self.run("journalctl", "--list-boots").stdout.count("\n")

    def reboot(self):
        self.machine.reboot()
        self.settle()

    def encapsulate(self, image="", arguments=(), name="rendered-worker-1"):
        """Writes the first config as Ignition does on a new machine."""
        config = machine_config([], image, arguments)
        config["metadata"]["name"] = name
        self.run("tee", FIRST_CONFIG, input=json.dumps(config))
        self.run("systemctl", "enable", UNIT)

    def complete_first_boot(self):
        """Runs the unit, and follows the machine through the reboot."""
        self.run("systemctl", "start", "--no-block", UNIT)
        self.machine.follow_reboot()
        self.settle()

    def current(self):
        """Returns the name of the config that the machine has."""
        return json.loads(self.read(CURRENT_CONFIG))["metadata"]["name"]

    def is_through(self):
        """Returns whether the first boot is complete: the first config is renamed, and no change is under way."""
        return (not self.has(FIRST_CONFIG), self.has(FIRST_CONFIG + ".bak"), self.has(JOURNAL)) == (True, True, False)

    def log_of(self, unit=UNIT):
        return self.run("journalctl", "--output=cat", f"--unit={unit}").stdout

    def old(self, *words, status=0):
        """Runs pintle under the name of the Machine Config Operator's program; returns all that it printed."""
        self.run("mkdir", "--parents", OLD_NAME.rpartition("/")[0])
        self.run("ln", "--symbolic", "--force", self.program, OLD_NAME)
        answer = self.run(OLD_NAME, *words, check=False)
        assert answer.returncode == status, (answer.returncode, answer.stdout, answer.stderr)
        return answer.stdout + answer.stderr


@pytest.fixture
def machine():
    with Node() as node:
        yield Machine(node)


# ---- first boot -----------------------------------------------------------------------------------------------------

def test_image_and_arguments_take_effect_with_one_reboot(machine):
    second = machine.commit("2")
    machine.encapsulate(second, ["probe=1", 'quoted="a b"'])
    boots = machine.boots()
    machine.complete_first_boot()
    assert machine.booted() == second
    assert "probe=1" in machine.arguments() and 'quoted="a b"' in machine.read("/proc/cmdline")
    assert machine.is_through() and machine.current() == "rendered-worker-1"
    assert machine.boots() == boots + 1
    assert machine.pintle("firstboot") == f"Nothing to do: there is no {FIRST_CONFIG}.\n"
    machine.pintle("verify")
    deploy.fsck(machine.machine)


def test_the_boot_continues_if_there_is_nothing_to_do(machine):
    machine.encapsulate(machine.booted(), machine.arguments()[:1])
    boot, before = machine.boot(), machine.run("ostree", "admin", "status").stdout
    machine.run("systemctl", "start", UNIT)
    assert (machine.boot(), machine.run("ostree", "admin", "status").stdout) == (boot, before)
    assert machine.is_through() and machine.current() == "rendered-worker-1"
    machine.pintle("verify")


def test_units_that_wait_for_the_first_boot_start_after_it(machine):
    machine.run("tee", "/etc/systemd/system/kubelet.service",
                input="[Unit]\nDescription=kubelet\n[Service]\nExecStart=/bin/sleep infinity\n"
                      "[Install]\nWantedBy=multi-user.target\n")
    machine.run("systemctl", "enable", "kubelet.service")
    second = machine.commit("2")
    machine.encapsulate(second)
    machine.machine.reboot()
    machine.settle()
    assert machine.booted() == second
    starts = machine.run("journalctl", "--output=json", "--unit=kubelet.service", "JOB_TYPE=start").stdout
    # The unit ran once, in the boot with the new image.
    assert [json.loads(line)["_BOOT_ID"] for line in starts.splitlines() if "Started" in line] \
        == [machine.boot().strip().replace("-", "")]


def test_a_first_boot_that_was_killed_continues_at_the_next_start(machine):
    cuts, killed = None, 0
    for number in range(KILLS + 1):
        second = machine.commit(f"{number + 2}")
        machine.run("rm", "-rf", "/etc/machine-config-daemon")
        machine.encapsulate(second, [f"probe={number}"])
        # The first time it is not killed, to measure how long it takes until the machine reboots.
        cut = cuts.pop() if cuts else PATIENCE
        started = time.monotonic()
        machine.run("systemctl", "start", "--no-block", UNIT)
        killed += machine.machine.kill_after(cut)
        cuts = power_cuts.instants(KILLS, time.monotonic() - started) if cuts is None else cuts
        machine.machine.start()
        machine.settle()
        print(f"killed after {cut:.2f} s")
        assert machine.booted() == second and f"probe={number}" in machine.arguments()
        assert machine.is_through() and machine.current() == "rendered-worker-1"
    assert killed > 0, "each first boot had ended before its power cut"
    deploy.fsck(machine.machine)


def test_a_wrong_image_is_reported_and_tried_again(machine):
    wrong = "0" * 64
    machine.encapsulate(wrong)
    output = machine.pintle("firstboot", "--once", status=1)
    assert wrong in output and "this machine is as it was before" in output
    assert machine.has(FIRST_CONFIG) and not machine.has(CURRENT_CONFIG)
    machine.run("systemctl", "start", "--no-block", UNIT)
    for delay in ("1s", "2s"):
        wait_until(lambda text=f"trying again in {delay}": text in machine.log_of(), "it logs when it tries again",
                   PATIENCE)
    # A corrected config is used at the next try.
    second = machine.commit("2")
    machine.encapsulate(second)
    machine.machine.follow_reboot()
    machine.settle()
    assert machine.booted() == second and machine.is_through()


def test_an_invalid_first_config_is_reported(machine):
    machine.run("tee", FIRST_CONFIG, input="{")
    assert "failed to parse MachineConfig" in machine.pintle("firstboot", "--once", status=1)
    assert machine.has(FIRST_CONFIG)


def test_an_image_that_does_not_boot_leaves_the_first_config_to_be_tried_again(machine):
    first = machine.booted()
    machine.encapsulate(machine.commit("2"), ["probe=1"])
    machine.pintle("firstboot", "--no-reboot", status=2)
    machine.run("systemctl", "disable", UNIT)
    machine.machine.poweroff()
    machine.machine.start(fall_back=True)
    machine.settle()
    assert machine.booted() == first and machine.has(FIRST_CONFIG) and not machine.has(CURRENT_CONFIG)
    machine.pintle("firstboot", "--no-reboot", status=2)
    machine.reboot()
    assert machine.booted() != first and machine.is_through()


def test_a_machine_that_has_a_config_keeps_it(machine):
    machine.apply(machine_config([file("/etc/managed", "new")]))
    machine.reboot()
    name = machine.current()
    machine.encapsulate(machine.commit("2"))
    boot = machine.boot()
    assert "has rendered-local-" in machine.pintle("firstboot", "--once")
    assert machine.is_through() and machine.current() == name and machine.boot() == boot


# ---- pivot ----------------------------------------------------------------------------------------------------------

def test_pivot_boots_another_image_and_keeps_the_config(machine):
    first = machine.commit("2", held="wanted", free="old")
    machine.apply(machine_config([file("/etc/held", "wanted"), file("/etc/managed", "new")], first, ["probe=1"], [APP]))
    machine.reboot()
    config = machine.read(CURRENT_CONFIG)
    second = machine.commit("3", held="another", free="new")
    output = machine.pintle("pivot", "--yes", second, status=2)
    assert f"from {first}" in output and f"to {second}" in output and "probe=1" in output
    assert "A reboot is pending" in output and machine.booted() == first
    # Until the reboot, no other change can begin.
    output = machine.pintle("pivot", "--yes", first, status=1)
    assert "has to end first; reboot" in output and "pintle recover --give-up" in output
    assert "waits for a reboot" in machine.apply(machine_config([file("/etc/other", "x")]))
    machine.reboot()
    assert machine.booted() == second and "probe=1" in machine.arguments()
    assert [machine.read(f"/etc/{name}") for name in ("held", "managed", "free")] == ["wanted", "new", "new"]
    assert machine.read(CURRENT_CONFIG) == config
    assert f'expected target osImageURL "{first}", have ' in machine.pintle("verify", status=2)
    assert "pivot" in machine.pintle("history")
    # The machine returns to the OS of its config.
    machine.pintle("restore", "--no-reboot", "os", status=2)
    machine.reboot()
    assert machine.booted() == first
    machine.pintle("verify")
    deploy.fsck(machine.machine)


def test_pivot_to_the_booted_image_does_nothing_unless_it_is_forced(machine):
    first, before = machine.booted(), machine.run("ostree", "admin", "status").stdout
    answer = json.loads(machine.pintle("pivot", "--yes", "--reboot", "-o", "json", first))
    assert answer["outcome"] == "nothing to do" and answer["from"] == answer["to"]
    assert machine.run("ostree", "admin", "status").stdout == before
    machine.pintle("pivot", "--yes", "--force", first, status=2)
    assert machine.run("ostree", "admin", "status").stdout != before
    machine.reboot()
    assert machine.booted() == first


def test_pivot_reboots_on_request(machine):
    second = machine.commit("2")
    machine.run("systemd-run", machine.program, "pivot", "--yes", "--reboot", second)
    machine.machine.follow_reboot()
    machine.settle()
    assert machine.booted() == second and not machine.has(JOURNAL)


def test_a_pivot_whose_image_does_not_boot_is_given_up(machine):
    first = machine.booted()
    machine.pintle("pivot", "--yes", machine.commit("2"), status=2)
    machine.machine.poweroff()
    machine.machine.start(fall_back=True)
    machine.settle()
    assert machine.booted() == first and "the new deployment did not boot" in machine.pintle("history")


def test_pivot_can_be_given_up(machine):
    before = machine.run("ostree", "admin", "status").stdout
    machine.pintle("pivot", "--yes", machine.commit("2"), status=2)
    machine.pintle("recover", "--give-up")
    assert machine.run("ostree", "admin", "status").stdout == before


def test_pivot_needs_a_yes_and_a_machine_without_findings(machine):
    second = machine.commit("2")
    assert "use --yes" in machine.pintle("pivot", second, status=1)
    machine.apply(machine_config([file("/etc/managed", "new")]))
    machine.reboot()
    machine.run("tee", "/etc/managed", input="edited")
    output = machine.pintle("pivot", "--yes", second, status=2)
    assert 'content mismatch for file "/etc/managed"' in output
    assert "nothing was changed" in output and not machine.has(JOURNAL)
    machine.pintle("pivot", "--yes", "--force", second, status=2)
    machine.reboot()
    # No image overwrites the administrator's edit.
    assert machine.booted() == second and machine.read("/etc/managed") == "edited"


def test_pivot_to_an_image_of_a_layout_reports_its_digest(layout):
    with Node(binds={str(layout): "/run/layout"}) as node:
        machine = Machine(node)
        machine.run("cp", "--recursive", "/run/layout", "/var/layout")
        output = machine.pintle("pivot", "--yes", "oci:/var/layout:next", status=2)
        assert "to oci:/var/layout:next (" in output
        machine.reboot()
        assert machine.read("/usr/share/new") == "next"


def test_pivot_does_not_wait_for_another_program(machine):
    rpm_ostree.install(machine.machine)
    rpm_ostree.fault(machine.machine, "KernelArgs hold")
    words = [f"{BUILD_ON_MACHINE}/tests/integration/deployments-probe", "--by=chosen", "put", "", "", "+probe=1"]
    machine.run("systemd-run", "--unit=other", *words)
    rpm_ostree.await_log(machine.machine, "holding")
    output = machine.pintle("pivot", "--yes", machine.booted(), status=1)
    assert "rpm-ostree is at work" in output and "try again" in output
    rpm_ostree.release(machine.machine)
    wait_until(lambda: machine.run("systemctl", "is-active", "other.service", check=False).stdout.strip() != "active",
               "the other program ends", PATIENCE)


def test_pivot_is_refused_on_a_machine_without_deployments():
    with Node(plain=True) as node:
        machine = Machine(node)
        assert "no image to change" in machine.pintle("pivot", "--yes", "0" * 64, status=1)
        assert "No container specified" in machine.old("pivot", status=1)
        assert "no image to change" in machine.old("pivot", "0" * 64, status=1)


# ---- under the old name ---------------------------------------------------------------------------------------------

def test_the_old_name_pivots_with_the_old_flags(machine):
    second = machine.commit("2")
    assert "No container specified" in machine.old("pivot", "-P", status=1)
    machine.run("mkdir", "/etc/pivot")
    machine.run("tee", "/etc/pivot/image-pullspec", input=machine.booted() + "\n")
    assert "Nothing to do" in machine.old("pivot", "--unchanged-exit-77", "-v", "4", "--logtostderr=true", status=77)
    assert not machine.has("/etc/pivot/image-pullspec")
    machine.run("tee", "/etc/pivot/image-pullspec", input=second)
    machine.run("systemd-run", OLD_NAME, "--v=2", "pivot", "-krP")
    machine.machine.follow_reboot()
    machine.settle()
    assert machine.booted() == second and not machine.has("/etc/pivot/image-pullspec")


def test_the_old_name_reboots_if_a_file_requests_it_and_sets_kernel_arguments(machine):
    machine.run("mkdir", "/etc/pivot", "/run/pivot")
    machine.run("tee", "/etc/pivot/kernel-args", input="ADD nosmt\nADD probe=2\nDELETE quiet\nnonsense\n")
    machine.run("sh", "-c", f"rm /etc/os-release; printf '{RHCOS}' >/etc/os-release")
    machine.run("touch", "/run/pivot/reboot-needed")
    machine.old("version")
    machine.run("systemd-run", "--unit=old", OLD_NAME, "pivot", machine.booted())
    machine.machine.follow_reboot()
    machine.settle()
    assert {"nosmt", "quiet"} <= set(machine.arguments()) and "probe=2" not in machine.arguments()
    assert "probe=2 cannot be tuned on this OS" in machine.log_of("old.service")
    # The machine has this image and these arguments already, so nothing changes.
    machine.old("pivot", "--unchanged-exit-77", machine.booted(), status=77)
    machine.run("sh", "-c", f"printf '{FCOS}' >/etc/os-release")
    machine.run("tee", "/etc/pivot/kernel-args", input="ADD probe=1\nDELETE nosmt\n")
    machine.old("pivot", machine.booted())
    machine.reboot()
    assert "nosmt" not in machine.arguments() and "probe=1" in machine.arguments()


def test_the_old_name_completes_the_first_boot(machine):
    second = machine.commit("2")
    assert "stay as they are" in machine.old("firstboot-complete-machineconfig", "--persist-nics", "--root-mount", "/")
    machine.run("tee", "/etc/elsewhere.json", input=json.dumps(machine_config([], second)))
    machine.run("systemd-run", OLD_NAME, "firstboot-complete-machineconfig", "--machineconfig-file=/etc/elsewhere.json",
                "--root_mount=/")
    machine.machine.follow_reboot()
    machine.settle()
    assert machine.booted() == second and machine.current() == "50-all"


def test_the_old_name_passes_its_flags_to_the_agent(machine):
    """The agent cannot be run where the program looks for it, so the program writes its flags and then fails."""
    if programs.are_installed():
        machine.run("mount", "--bind", "/dev/null", programs.on_machine("pintled"))
    drop_in = "/run/pintle/pintled.conf.d/50-machine-config-daemon.conf"
    output = machine.old("start", "--node-name=worker-1", "--kubeconfig", "/etc/kubeconfig", "--root-mount=/",
                         "--kubelet_healthz_enabled=false", "--tls-min-version=VersionTLS12", status=1)
    assert "--tls-min-version has no effect" in output
    assert re.search("/sbin/pintled: (No such file|Permission denied)", output)
    assert machine.read(drop_in) == "[Agent]\nNodeName=worker-1\n[Kubernetes]\nKubeconfig=/etc/kubeconfig\n" \
        "[Kubernetes]\nKubeletHealth=\n"
    machine.old("start", status=1)
    assert not machine.has(drop_in)
