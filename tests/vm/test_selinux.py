# SPDX-License-Identifier: Apache-2.0
"""Tests Pintle on a machine that enforces SELinux, with Pintle's policy: no denial is about Pintle, and every file that
Pintle writes has the label of the policy, also after a new deployment, a new policy and a power cut.
"""

import json
import os
import pathlib
import re
import time

import pytest

from machines import deploy, power_cuts
from machines.enforcing import NEXT, EnforcingVm, make_disk
from machines.installed import ALL, APP, KEY, KEYS_FILE, NOTHING, Installed, everything, file, machine_config
from machines.wait import wait_until

pytestmark = pytest.mark.nightly

CONFIG = "/etc/pintle/config.d/50-all.json"
# Without this policy, each change of a file would need a reboot.
NO_ACTION = [{"type": "None"}]
RESTART = [{"type": "Restart", "restart": {"serviceName": "app.service"}}]
DISRUPTION = {"files": [{"path": "/etc", "actions": NO_ACTION}, {"path": "/var", "actions": NO_ACTION},
                        {"path": "/etc/managed", "actions": RESTART}],
              "units": [{"name": "app.service", "actions": NO_ACTION}],
              "sshkey": {"actions": NO_ACTION}}
SETTINGS = "[Agent]\nSource=local\nPolicyFile=/etc/pintle/policy.json\n"
HASH = "$6$salt$hash"
NO_CONFIG = "mco-empty-mc"
# The places in which Pintle writes, for itself and for the config of these tests.
PLACES = ("/etc", "/var/lib/pintle", "/var/lib/managed", "/run/pintle", "/home/core")
CUTS = int(os.environ.get("PINTLE_POWER_CUTS", "10"))
PATIENCE = 400    # OSTree may build the policy of a new deployment, which takes long in emulation.
GET = r"exec 3<>/dev/tcp/127.0.0.1/22624 && printf 'GET /config/worker HTTP/1.0\r\n\r\n' >&3 && cat <&3"


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "disk"
    make_disk(path, pathlib.Path(os.environ["PINTLE_BUILD"]))
    yield path
    path.unlink()


class Labelled(Installed):
    """A machine that has Pintle from its image."""

    def __init__(self, vm):    # The units of the image are in place already.
        self.machine, self.program, self.run = vm, "pintle", vm.run
        self.run("useradd", "--create-home", "--password", "*", "core")
        self.run("mkdir", "--parents", "/root/configs")
        self.found_before = set(self.mislabelled())
        print(f"mislabelled by others: {sorted(self.found_before)}", flush=True)

    def mislabelled(self):
        return self.machine.mislabelled(*(place for place in PLACES if self.has(place)))

    def expect_labels(self):
        assert set(self.mislabelled()) <= self.found_before

    def expect_no_denial(self):
        denials = self.machine.denials()
        assert not denials, "\n".join(denials)


@pytest.fixture
def machine(disk):
    with EnforcingVm(disk) as vm:
        assert (vm.state, vm.run("getenforce").stdout) == ("running", "Enforcing\n")
        yield Labelled(vm)


def start_agent(machine):
    machine.run("mkdir", "--parents", "/etc/pintle/config.d")
    machine.run("tee", "/etc/pintle/policy.json", input=json.dumps(DISRUPTION))
    machine.run("tee", "/etc/pintle/pintled.conf", input=SETTINGS)
    machine.run("systemctl", "enable", "--now", "pintle-recover.service", "pintled.service")


def configure(machine, config):
    machine.run("tee", CONFIG, input=json.dumps(config))


def status(machine):
    answer = machine.run("pintle", "status", "-o", "json", check=False).stdout
    return json.loads(answer) if answer.startswith("{") else {}


def await_config(machine, before):
    """Waits until the agent has settled with another config than the one before; returns the name of the config."""
    def name():
        now = status(machine)
        is_done = (now.get("phase"), now.get("state")) == ("settled", "Done") and now["current"] == now["desired"]
        return now["current"] if is_done and now["current"] != before else None

    return wait_until(name, lambda: f"the agent has settled with another config than {before}: {status(machine)}",
                      PATIENCE, every=1)


def await_findings(machine, count):
    wait_until(lambda: status(machine).get("findings") == count, f"the agent reports {count} findings", PATIENCE, every=1)


def context(machine, unit):
    """Returns the context of the service's main process."""
    process = machine.run("systemctl", "show", "--property=MainPID", "--value", unit).stdout.strip()
    return machine.read(f"/proc/{process}/attr/current").rstrip("\0")


def test_the_agent_makes_and_restores_everything_and_every_file_has_its_label(machine):
    vm = machine.machine
    start_agent(machine)
    assert context(machine, "pintled.service") == "system_u:system_r:pintled_t:s0"

    files = [file("/etc/managed", "new"), file("/etc/new/folder/file", "deep", 0o600), file("/var/lib/managed", "new"),
             file("/etc/cron.d/job", "%23"), file("/etc/ssh/ssh_host_probe_key", "x", 0o600)]
    users = [{"name": "core", "sshAuthorizedKeys": [KEY], "passwordHash": HASH}]
    configure(machine, machine_config(files, "", [], [APP], users))
    first = await_config(machine, NO_CONFIG)
    assert machine.read(KEYS_FILE) == KEY + "\n" and f"core:{HASH}:" in machine.read("/etc/shadow")
    assert machine.run("systemctl", "is-active", "app.service").stdout == "active\n"
    assert vm.type("/etc/shadow") == "shadow_t" and vm.type(KEYS_FILE) == "ssh_home_t"
    owned = (CONFIG, "/var/lib/pintle", "/run/pintle", "/etc/machine-config-daemon/currentconfig", "/usr/bin/pintle")
    assert [vm.type(path) for path in owned] == ["pintle_conf_t", "pintle_state_t", "pintle_runtime_t", "pintle_state_t",
                                                 "pintle_exec_t"]
    machine.expect_labels()

    # An edit and a wrong label are reported, and restored.
    machine.run("tee", "/etc/managed", input="edited")
    machine.run("chcon", "--type=user_home_t", "/etc/cron.d/job")
    await_findings(machine, 2)
    found = machine.pintle("verify", status=2)
    assert 'content mismatch for file "/etc/managed"' in found
    assert 'label mismatch for file "/etc/cron.d/job"' in found and "user_home_t" in found
    machine.pintle("restore", "--policy", "/etc/pintle/policy.json", "/etc/managed", "/etc/cron.d/job")
    await_findings(machine, 0)
    assert machine.read("/etc/managed") == "new"
    machine.expect_labels()

    # A kernel argument needs a deployment and a reboot, which the agent makes by itself.
    configure(machine, machine_config([*files, file("/etc/second", "2")], "", ["probe=1"], [APP], users))
    vm.follow_reboot(PATIENCE)
    second = await_config(machine, first)
    assert "probe=1" in machine.arguments() and machine.read("/etc/second") == "2"
    assert machine.run("getenforce").stdout == "Enforcing\n"
    machine.expect_labels()

    machine.run("rm", CONFIG)
    vm.follow_reboot(PATIENCE)
    assert await_config(machine, second) == NO_CONFIG
    assert "probe=1" not in machine.arguments() and not machine.has("/etc/managed")
    machine.expect_labels()
    machine.expect_no_denial()


def test_the_files_of_a_new_deployment_have_the_labels_of_its_own_policy(machine):
    vm = machine.machine
    second = machine.run("ostree", "rev-parse", f"--repo={deploy.REPOSITORY}", NEXT).stdout.strip()
    files = [file("/etc/managed", "new"), file("/etc/relabelled", "new")]
    machine.apply(machine_config(files, second))
    vm.reboot(PATIENCE)
    machine.settle()
    assert deploy.booted_commit(vm) == second and machine.read("/etc/managed") == "new"
    assert (vm.type("/etc/managed"), vm.type("/etc/relabelled")) == ("etc_t", "net_conf_t")
    machine.pintle("verify")
    machine.expect_labels()
    machine.expect_no_denial()


def test_a_power_cut_during_a_change_leads_to_the_old_or_the_new_machine_with_its_labels(machine):
    vm = machine.machine
    was_new, full_change, cuts = False, None, []
    for number in range(CUTS + 1):
        machine.write_config(everything())
        vm.run("sync")
        started = time.monotonic()
        vm.run("systemd-run", "--no-block", "pintle", "apply", "--yes", "--none" if was_new else "/root/configs")
        # The first change is not cut short, to measure how long a change takes on this machine.
        if full_change is None:
            vm.follow_reboot(PATIENCE)
            machine.settle()
            cut = full_change = time.monotonic() - started
            cuts = power_cuts.instants(CUTS, full_change)
        else:
            cut = cuts.pop()
            power_cuts.cut_power(vm, cut)
            power_cuts.start_after_cut(vm)
            machine.settle()
        now = machine.of_everything()
        is_new = now == ALL
        print(f"{number}: cut after {cut:.1f} s of {full_change:.1f} s, from {was_new} to {is_new}", flush=True)
        assert now in (NOTHING, ALL) and (number > 0 or is_new)
        assert machine.pintle("recover") == "Nothing was cut short.\n"
        machine.pintle("verify")
        machine.expect_labels()
        was_new = is_new
    machine.expect_no_denial()
    deploy.fsck(vm)


def test_confined_services_may_not_read_pintles_files_and_the_controller_only_its_configs(machine):
    vm = machine.machine

    def may_read(domain, kind):
        vector = machine.run("compute_av", f"system_u:system_r:{domain}:s0", f"system_u:object_r:{kind}:s0", "file").stdout
        return "read" in re.search("allowed=(.*)", vector)[1].split()

    for domain in ("syslogd_t", "systemd_logind_t", "getty_t"):
        assert [may_read(domain, kind) for kind in ("etc_t", "pintle_conf_t", "pintle_state_t")] == [True, False, False]
    assert may_read("pintled_t", "shadow_t") and not may_read("pintle_controller_t", "pintle_state_t")

    machine.run("mkdir", "--parents", "/etc/pintle/pools", "/srv/pools")
    config = machine_config([file("/etc/managed", "new")])
    chosen = {"configuration": {"name": "50-all"}}

    def of_kind(kind, name, **parts):
        return {"apiVersion": config["apiVersion"], "kind": kind, "metadata": {"name": name}, **parts}

    objects = {"mc.yaml": config, "pool.yaml": of_kind("MachineConfigPool", "worker", spec=chosen, status=chosen),
               "controllerconfig.yaml": of_kind("ControllerConfig", "machine-config-controller", spec={}),
               "kubeconfig": {"apiVersion": "v1", "kind": "Config"}}
    for folder in ("/etc/pintle/pools", "/srv/pools"):
        for name, value in objects.items():
            machine.run("tee", f"{folder}/{name}", input=json.dumps(value))

    def serve(unit, folder):
        machine.run("systemd-run", f"--unit={unit}", "pintle-controller", "serve", "--from", folder,
                    "--listen-http", "127.0.0.1:22624")

    serve("allowed", "/etc/pintle/pools")
    wait_until(lambda: "/etc/managed" in machine.run("bash", "-c", GET, check=False).stdout,
               "the controller serves the config", PATIENCE)
    assert context(machine, "allowed.service") == "system_u:system_r:pintle_controller_t:s0"
    machine.expect_no_denial()
    machine.run("systemctl", "stop", "allowed.service")

    serve("refused", "/srv/pools")
    refused = ["journalctl", "--unit=refused.service", "--output=cat"]
    wait_until(lambda: "Permission denied" in machine.run(*refused).stdout, "the controller may not read it", PATIENCE)
    assert any("pintle_controller_t" in line for line in vm.denials())
