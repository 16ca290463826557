# SPDX-License-Identifier: Apache-2.0
"""Tests the agent on nodes of a real cluster, when the Node's annotations ask for another config."""

import json
import pathlib
import re
import time
import urllib.request

import pytest

from machines import agent_node
from machines.agent_node import PREFIX, AnnotationHistory, Conditions, DrainController, conditions_now, create_rendered
from machines.daemon import free_ports
from machines.installed import ALL, APP, KEY, KEYS_FILE, everything, file, machine_config
from machines.wait import wait_until


@pytest.fixture(scope="module")
def cluster():
    with agent_node.agent_cluster() as cluster:
        yield cluster


@pytest.fixture
def node(new_node):
    return new_node()


def spec(*files, **more):
    return machine_config(list(files), **more)["spec"]


def config_for(node, number, *files, **more):
    return create_rendered(node.cluster, f"rendered-{node.name}-{number}", spec(*files, **more))


def settle_in(node, *files, **more):
    """Starts the agent of a node without a config, and gives it one that needs no reboot."""
    first = config_for(node, 0, *files, **more)
    node.annotate(desiredConfig=first)
    node.start()
    node.wait_done(first)
    return first


def test_a_change_that_needs_no_reboot_is_made_at_once(cluster, node):
    first = settle_in(node)
    second = config_for(node, 1, file("/etc/live/a", "new"))
    with DrainController(cluster) as controller:
        wait_until(lambda: controller.of(node.name, "state"), f"the watch has seen {node.name}", 60)
        node.annotate(desiredConfig=second)
        node.wait_done(second)
        assert node.read("/etc/live/a") == "new"
        controller.catch_up(node.name)
        assert controller.of(node.name, "state", "currentConfig") \
            == [("Done", first), ("Working", first), ("Done", second)]
        assert controller.requests == []
    history = json.loads(node.pintle("history", "-o", "json"))
    assert [(change["verb"], change["to"], change["outcome"]) for change in history] \
        == [("update", first, "done"), ("update", second, "done")]


def update_with_reboot(node, controller, history, config, before):
    """Follows a node through a whole update; `history` has recorded its Node's annotations."""
    node.annotate(desiredConfig=config)
    node.machine.follow_reboot(120)
    node.wait_done(config, 120)
    history.catch_up(node.name)
    seen = history.of(node.name, "state", "desiredDrain", "post-config-action", "currentConfig")
    drain, uncordon = f"drain-{config}", f"uncordon-{config}"
    # The annotation still has the value from the end of the last update.
    drained_before = seen[0][1]
    assert seen == [("Done", drained_before, "", before),
                    ("Working", drained_before, "", before),
                    ("Working", drain, "", before),
                    ("Working", drain, "Rebooting", before),
                    ("Working", drain, "", before),
                    ("Working", uncordon, "", before),
                    ("Done", uncordon, "", config)], seen
    assert [value for name, value in controller.requests if name == node.name][-2:] == [drain, uncordon]
    assert not node.cluster.get("node", node.name)["spec"].get("unschedulable")


def events_of(node):
    events = node.cluster.get("events", "--namespace", agent_node.MCO_NAMESPACE)["items"]
    return [(event["reason"], event["message"]) for event in sorted(events, key=lambda event: event["firstTimestamp"])
            if event["involvedObject"]["name"] == node.name]


def test_three_nodes_are_drained_and_rebooted_into_their_configs(cluster, new_node):
    nodes = [new_node(plain=False) for _ in range(3)]
    firsts = [settle_in(node) for node in nodes]
    with DrainController(cluster) as controller:
        seconds = []
        for node, first in zip(nodes, firsts):
            second = create_rendered(cluster, f"rendered-{node.name}-1", everything()["spec"])
            with AnnotationHistory(cluster) as history:
                wait_until(lambda: history.of(node.name, "state"), f"the watch has seen {node.name}", 60)
                update_with_reboot(node, controller, history, second, first)
            assert node.of_everything() == ALL
            seconds.append(second)
            reasons = [reason for reason, _ in events_of(node)]
            assert [reason for reason in reasons if reason in ("Cordon", "Drain", "Reboot", "Uncordon")] \
                == ["Cordon", "Drain", "Reboot", "Uncordon"]
            assert ("Reboot", f"Node will reboot into config {second}") in events_of(node)
        # No node has changed another one.
        for node, second in zip(nodes, seconds):
            assert node.annotations()["currentConfig"] == second and node.status()["state"] == "Done"


def test_an_unreconcilable_config_changes_nothing(cluster, node):
    first = settle_in(node, file("/etc/live/a", "old"))
    bad = spec(file("/etc/live/a", "new"))
    bad["config"]["storage"]["disks"] = [{"device": "/dev/sdz", "wipeTable": True}]
    bad = create_rendered(cluster, f"rendered-{node.name}-bad", bad)
    node.annotate(desiredConfig=bad)
    have = node.wait_for(state="Unreconcilable")
    # The last part names the configs in the wrong order, as the operator's message does, because tools search for it.
    assert have["reason"] == (
        f"can't reconcile config {first} with {bad}: configs {first}, {bad} are not reconcilable: new machineconfig "
        f'"{first}" is not reconcilable against "{bad}": ignition disks section contains changes'), have["reason"]
    assert node.read("/etc/live/a") == "old" and have["currentConfig"] == first
    assert any(reason == "FailedToReconcile" for reason, _ in events_of(node))
    # When the config is taken back, the node is Done.
    node.annotate(desiredConfig=first)
    node.wait_done(first)


def test_all_drift_is_reported_and_nothing_is_overwritten(cluster, node):
    first = settle_in(node, file("/etc/live/a", "wanted"), file("/etc/live/b", "wanted"),
                      users=[{"name": "core", "sshAuthorizedKeys": [KEY]}])
    node.run("sh", "-c", "echo mine >/etc/live/a; chmod 0600 /etc/live/b; echo other >" + KEYS_FILE)
    started = time.monotonic()
    have = node.wait_for(10, state="Degraded", reason=lambda reason: all(
        part in reason for part in ('content mismatch for file "/etc/live/a"', 'mode mismatch for file: "/etc/live/b"')))
    print(f"degraded after {time.monotonic() - started:.2f} s")
    # The agent does not watch SSH keys, but its look after another edit finds them, too.
    assert "core" in have["reason"], have["reason"]
    assert node.read("/etc/live/a") == "mine\n"
    assert node.status()["findings"] == 3
    # A newer config waits until a person has decided.
    second = config_for(node, 1, file("/etc/live/a", "newer"))
    node.annotate(desiredConfig=second)
    node.machine.run("systemctl", "reload", "pintled.service")
    assert "unexpected on-disk state validating against" in node.wait_for(state="Degraded")["reason"]
    assert node.read("/etc/live/a") == "mine\n"
    node.annotate(desiredConfig=first)
    node.pintle("restore", "--yes", "/etc/live/a", "/etc/live/b", "core")
    node.wait_done(first)
    assert node.read("/etc/live/a") == "wanted"
    # A person may also restore the file without `pintle`.
    node.run("sh", "-c", "echo mine >/etc/live/a")
    node.wait_for(state="Degraded")
    node.run("sh", "-c", "printf wanted >/etc/live/a")
    node.wait_done(first)


def test_a_newer_config_replaces_a_config_that_waits_for_its_drain(cluster, node):
    settle_in(node)
    slow, newer = config_for(node, 1, file("/etc/a", "slow")), config_for(node, 2, file("/etc/live/a", "newer"))
    with DrainController(cluster, answers=False) as controller:
        node.annotate(desiredConfig=slow)
        node.wait_for(state="Working", desiredDrain=f"drain-{slow}")
        controller.answers = True
        node.annotate(desiredConfig=newer)
        node.wait_done(newer)
        assert not node.has("/etc/a") and node.read("/etc/live/a") == "newer"
        assert node.annotations()["desiredDrain"] == f"uncordon-{newer}"


def test_a_drain_that_takes_too_long_is_reported_and_the_change_is_made_when_it_ends(cluster, new_node):
    node = new_node(more="[Kubernetes]\nDrainTimeoutSec=2s\n")
    settle_in(node)
    second = config_for(node, 1, file("/etc/a", "new"))
    with DrainController(cluster, answers=False) as controller:
        node.annotate(desiredConfig=second)
        have = node.wait_for(state="Degraded")
        assert have["reason"] == (f"failed to drain node: {node.name} after 2 seconds. Please see "
                                  "machine-config-controller logs for more information")
        assert not node.has("/etc/a")
        controller.answers = True
        node.annotate(lastAppliedDrain=f"drain-{second}")
        node.machine.follow_reboot(120)
        node.wait_done(second)
        assert node.read("/etc/a") == "new"


def test_the_force_file_overwrites_drift(cluster, node):
    first = settle_in(node, file("/etc/live/a", "wanted"))
    node.run("sh", "-c", "echo mine >/etc/live/a")
    node.wait_for(state="Degraded")
    with DrainController(cluster):
        node.run("touch", "/run/machine-config-daemon-force")
        node.machine.follow_reboot(120)
        node.wait_done(first)
        assert node.read("/etc/live/a") == "wanted"


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "ostree"])
def test_a_node_that_is_not_well_after_the_reboot_goes_back(cluster, new_node, plain):
    node = new_node(plain=plain, more="[Health]\nLimitSec=3s\n")
    first = settle_in(node)
    check = "#!/bin/sh\ntest ! -e /etc/poison || { echo 'poison is there' >&2; exit 1; }\n"
    node.run("mkdir", "/etc/pintle/check.d")
    node.run("tee", "/etc/pintle/check.d/poison", input=check)
    node.run("chmod", "0755", "/etc/pintle/check.d/poison")
    bad, good = config_for(node, 1, file("/etc/poison", "x")), config_for(node, 2, file("/etc/cure", "x"))
    with DrainController(cluster):
        node.annotate(desiredConfig=bad)
        node.machine.follow_reboot(120)
        node.machine.follow_reboot(120)
        have = node.wait_for(120, state="Degraded", reason=lambda reason: "poison is there" in reason)
        assert not node.has("/etc/poison") and have["currentConfig"] == first
        # The node has its old config, and its pods may come back.
        node.wait_for(desiredDrain=f"uncordon-{first}", lastAppliedDrain=f"uncordon-{first}")
        # The config is not tried again, not even when the agent is restarted.
        node.run("systemctl", "restart", "pintled.service")
        node.wait_for(state="Degraded", reason=lambda reason: "poison is there" in reason)
        # The annotations are from before the restart.
        wait_until(lambda: node.status()["phase"] == "degraded", "the agent has looked again", 60)
        # Another config is tried.
        node.annotate(desiredConfig=good)
        node.machine.follow_reboot(120)
        node.wait_done(good, 120)
        assert node.has("/etc/cure")


def test_a_deployment_that_does_not_boot_is_not_tried_again(cluster, new_node):
    node = new_node(plain=False)
    first = settle_in(node)
    bad = config_for(node, 1, file("/etc/a", "new"))
    with DrainController(cluster):
        node.annotate(desiredConfig=bad)
        node.machine.await_end("reboot", 120)
        node.machine.start(fall_back=True)
        have = node.wait_for(120, state="Degraded", reason="the new deployment did not boot",
                             desiredDrain=f"uncordon-{first}")
        assert have["currentConfig"] == first and not node.has("/etc/a")
        # A person may ask for another try.
        node.pintle("retry")
        node.machine.follow_reboot(120)
        node.wait_done(bad, 120)
        assert node.read("/etc/a") == "new"


def test_the_machine_config_node_reports_the_progress_of_an_update(cluster, node):
    settle_in(node)
    wait_until(lambda: conditions_now(node).get("Updated") == "True", "the node is reported as updated", 30)
    second = config_for(node, 1, file("/etc/a", "new"))
    with DrainController(cluster), Conditions(cluster) as conditions:
        wait_until(lambda: conditions.seen, f"the watch has seen the conditions of {node.name}", 60)
        node.annotate(desiredConfig=second)
        node.machine.follow_reboot(120)
        node.wait_done(second)

        def since_it_began():
            seen = conditions.of(node.name)
            return seen[seen.index("Updated=False"):] if "Updated=False" in seen else []
        wait_until(lambda: "Updated=True" in since_it_began(), "the node is reported as updated", 30)
        # The list does not have the conditions that the drain controller writes.
        order = ["Updated=False", "UpdatePrepared=True", "UpdateExecuted=Unknown", "AppliedFilesAndOS=Unknown",
                 "AppliedFilesAndOS=True", "UpdateExecuted=True", "RebootedNode=Unknown", "RebootedNode=True",
                 "Resumed=True", "Updated=True"]
        conditions_seen = since_it_began()
        print(conditions_seen)
        places = [conditions_seen.index(each) for each in order]
        # Two conditions of one write may come in any order.
        assert all(places[i] < places[j] for i in range(len(order)) for j in range(i + 2, len(order))), conditions_seen
    version = cluster.get("machineconfignode", node.name)["status"]["configVersion"]
    assert version == {"current": second, "desired": second}


def test_disks_that_differ_from_the_config_and_a_failed_finalization_are_reported(cluster, node):
    """The agent reports the disks with which the node was installed, and a deployment that could not be finalized."""
    installed = spec(file("/etc/live/a", "x"))
    installed["config"]["storage"]["disks"] = [{"device": "/dev/sda", "wipeTable": True}]
    node.run("tee", "/etc/mcs-machine-config-content.json", input=json.dumps(
        {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "metadata": {"name": "first"},
         "spec": installed}))
    node.run("mkdir", "--parents", "/var/log/journal")
    node.run("journalctl", "--flush")
    unit = "/etc/systemd/system/ostree-finalize-staged.service"
    node.run("tee", unit, input="[Service]\nType=oneshot\nExecStart=echo 'error: no space is left'\n")
    node.run("systemctl", "daemon-reload")
    node.run("systemctl", "start", "ostree-finalize-staged.service")
    node.run("rm", unit)
    node.machine.reboot()
    settle_in(node, file("/etc/live/a", "x"))
    node.wait_for(**{"ostree-finalize-staged-failure": "error: no space is left"})
    changes = wait_until(
        lambda: cluster.get("machineconfignode", node.name).get("status", {}).get("irreconcilableChanges"),
        "its MachineConfigNode lists the irreconcilable changes", 30)
    assert [change["fieldPath"] for change in changes] == ["spec.config.storage.disks"], changes
    assert "/dev/sda" in changes[0]["diff"] and conditions_now(node)["Updated"] == "True"
    # The reports end after the next boot, once the file is gone.
    node.run("rm", "/etc/mcs-machine-config-content.json")
    node.machine.reboot()
    node.wait_for(**{"ostree-finalize-staged-failure": ""})


def test_a_login_over_ssh_is_reported(cluster, node):
    settle_in(node)
    assert "ssh" not in node.annotations()
    uid = node.run("id", "--user", "core").stdout.strip()
    pid = node.run("sh", "-c", "sleep infinity >/dev/null 2>&1 & echo $!").stdout.strip()
    node.run("busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
             "CreateSession", "uusssssussbssa(sv)", uid, pid, "sshd", "tty", "user", "", "", "0", "", "", "true", "",
             "10.0.0.1", "0")
    node.wait_for(ssh="accessed")
    logins = wait_until(lambda: node.status()["logins"], "the status lists the login", 60)
    assert (logins[0]["user"], logins[0]["from"]) == ("core", "10.0.0.1")


def test_metrics_are_written_for_the_node_exporter_and_served(cluster, new_node):
    [port] = free_ports(1)
    node = new_node(plain=False, more=f"[Metrics]\nListen=127.0.0.1:{port}")
    folder = "/var/lib/node_exporter/textfile_collector"
    node.run("mkdir", "--parents", folder)
    first = settle_in(node, file("/etc/live/a", "x"))

    def metric(pattern):
        text = node.run("cat", f"{folder}/pintle.prom", check=False).stdout
        return re.search(f"(?m)^{pattern}$", text)
    wait_until(lambda: metric(r'mcd_host_os_and_version\{os="DEBIAN",version="[^"]*"\} 1'), "a metric has the OS", 30)
    wait_until(lambda: metric(r'mcd_state\{state="Done",reason=""\} \S+'), "a metric has the state", 30)
    assert metric(f'mcd_update_state\\{{config="(MachineConfig: )?{first}",err=""\\}} \\S+')
    assert metric("mcd_config_drift 0")
    node.run("sh", "-c", "echo mine >/etc/live/a")
    wait_until(lambda: metric(r'mcd_state\{state="Degraded",reason=".*content mismatch.*"\} \S+'),
               "the metric has the drift", 30)
    assert not metric("mcd_config_drift 0")
    assert metric("mcd_pivot_errors_total 0")
    node.run("sh", "-c", "printf x >/etc/live/a")
    node.wait_done(first)
    with DrainController(cluster):
        node.annotate(desiredConfig=config_for(node, 1, file("/etc/live/a", "x"), image="0" * 64))
        node.wait_for(state="Degraded")
    wait_until(lambda: metric("mcd_pivot_errors_total [1-9][0-9]*"), "the failure is counted", 30)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        assert re.search("(?m)^mcd_pivot_errors_total [1-9][0-9]*$", answer.read().decode())


def test_the_unit_confines_the_agent(node):
    # `security` fails if the exposure is above 5.0.
    node.run("systemd-analyze", "security", "--no-pager", "--threshold=50", "pintled.service")
    # The page has a reason for each restriction that the unit does without.
    found = json.loads(node.run("systemd-analyze", "security", "--no-pager", "--json=short", "pintled.service").stdout)
    page = (pathlib.Path(__file__).parents[2] / "docs/security.md").read_text(encoding="utf-8")
    table = page.partition("\n## What the agent's unit permits\n")[2]
    rows = [line.replace("\\|", "\0").split("|")[1:-1] for line in table.splitlines() if line.startswith("| `")]
    reasons = {item.replace("\0", "|"): reason.strip() for items, reason in rows for item in re.findall("`(.*?)`", items)}
    assert all(reasons.values())
    assert reasons.keys() == {item["name"] for item in found if item["set"] is False}


def test_units_and_keys_are_changed(cluster, node):
    settle_in(node)
    second = config_for(node, 1, file("/etc/live/a", "b"), users=[{"name": "core", "sshAuthorizedKeys": [KEY]}])
    node.annotate(desiredConfig=second)
    node.wait_done(second)
    assert node.read(KEYS_FILE) == KEY + "\n"
    third = config_for(node, 2, file("/etc/live/a", "b"), units=[APP])
    with DrainController(cluster):
        node.annotate(desiredConfig=third)
        node.machine.follow_reboot(120)
        node.wait_done(third)
    assert node.run("systemctl", "is-active", "app.service", check=False).stdout.strip() == "active"


def test_a_node_that_was_managed_by_another_agent_is_taken_over(cluster, node):
    """Only the agent's own record is missing on the disk; the Node's annotations name the config."""
    first = config_for(node, 0, file("/etc/live/a", "there"))
    node.run("mkdir", "/etc/live")
    node.run("sh", "-c", "printf there >/etc/live/a")
    node.annotate(desiredConfig=first, currentConfig=first, state="Done")
    boot = node.read("/proc/sys/kernel/random/boot_id")
    node.start()
    wait_until(lambda: node.has("/etc/machine-config-daemon/currentconfig"), "the config is kept", 30)
    node.wait_done(first)
    assert node.read("/proc/sys/kernel/random/boot_id") == boot


def test_a_new_node_has_the_annotations_of_its_first_config(cluster, node):
    first = config_for(node, 0, file("/etc/live/a", "there"))
    node.run("mkdir", "/etc/live", "/etc/machine-config-daemon")
    node.run("sh", "-c", "printf there >/etc/live/a")
    annotations = {PREFIX + key: value for key, value in
                   {"currentConfig": first, "desiredConfig": first, "state": "Done"}.items()}
    node.run("tee", "/etc/machine-config-daemon/node-annotations.json", input=json.dumps(annotations))
    node.start()
    node.wait_done(first)
    wait_until(lambda: node.has("/etc/machine-config-daemon/node-annotation.json.bak"),
               "the annotations are put aside", 30)
    assert not node.has("/etc/machine-config-daemon/node-annotations.json")


def test_the_agents_credentials_change_no_other_node_and_read_no_secret(cluster, node):
    settle_in(node)
    cluster.add_node(f"{node.name}-other")
    user = node.user
    patch = {"metadata": {"annotations": {PREFIX + "desiredConfig": "mine"}}}
    cluster.kubectl("create", "secret", "generic", "password", "--namespace=kube-system", "--from-literal=word=x")
    configs = "/apis/machineconfiguration.openshift.io/v1/machineconfigs"
    with cluster.refusals.expected(user, "patch nodes", "list secrets", "get secrets", "list machineconfigs",
                                   "delete machineconfigs"):
        assert user.request("PATCH", f"/api/v1/nodes/{node.name}-other", patch)[0] == 403
        assert user.request("GET", "/api/v1/namespaces/kube-system/secrets")[0] == 403
        assert user.request("GET", "/api/v1/secrets")[0] == 403
        assert user.request("GET", "/api/v1/namespaces/kube-system/secrets/password")[0] == 403
        assert user.request("GET", configs)[0] == 403
        assert user.request("DELETE", f"{configs}/rendered-{node.name}-0")[0] == 403
