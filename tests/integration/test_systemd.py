# SPDX-License-Identifier: Apache-2.0
"""Tests src/host/systemd with the service manager and logind of a real node."""

import subprocess

import pytest

from machines.container import ENVIRONMENT
from machines.node import BUILD_ON_MACHINE, Node
from machines.wait import wait_until

PROBE = f"{BUILD_ON_MACHINE}/tests/integration/systemd-probe"
FOLDER = "/etc/systemd/system"

WANTED = "[Service]\nExecStart=sleep infinity\n[Install]\nWantedBy=multi-user.target\n"


@pytest.fixture(scope="module")
def booted():
    with Node(plain=True) as machine:
        yield machine


@pytest.fixture
def node(booted):
    """A node whose units are restored after the test."""
    before = booted.run("find", FOLDER).stdout.splitlines()
    links = probe(booted, "links").stdout
    yield booted
    probe(booted, "put-links", input=links)
    made = [path for path in booted.run("find", FOLDER).stdout.splitlines() if path not in before]
    units = [path.rsplit("/", 1)[1] for path in made if path.endswith(".service")]
    if units:
        booted.run("systemctl", "stop", *units, check=False)
        booted.run("systemctl", "reset-failed", *units, check=False)
    if made:
        booted.run("rm", "-rf", *made)
    booted.run("systemctl", "daemon-reload")


def probe(node, *words, check=True, input=None):
    return node.run(PROBE, *words, check=check, input=input)


def refused(node, *words):
    result = probe(node, *words, check=False)
    assert result.returncode == 1
    return result.stderr.strip()


def write(node, name, text):
    node.run("mkdir", "-p", f"{FOLDER}/{name}".rsplit("/", 1)[0])
    node.run("tee", f"{FOLDER}/{name}", input=text)


def unit(node, name, service, install="[Install]\nWantedBy=multi-user.target\n"):
    write(node, name, f"[Service]\n{service}\n{install}")
    probe(node, "reload")


def observe(node, name):
    return probe(node, "observe", name).stdout.strip()


def links(node):
    return dict(line.split(" ", 1) for line in probe(node, "links").stdout.splitlines())


def test_units_are_enabled_disabled_and_preset_together(node):
    for name in "a", "b", "c":
        write(node, f"{name}.service", WANTED)
    write(node, "t@.service", WANTED)
    probe(node, "enablement", "a.service=enabled", "c.service=enabled", "t@one.service=enabled")
    assert links(node)[f"{FOLDER}/multi-user.target.wants/t@one.service"] == f"{FOLDER}/t@.service"
    write(node, "../system-preset/00-test.preset", "enable b.service\n")
    probe(node, "enablement", "a.service=disabled", "b.service=preset")
    wanted = {name for name in links(node) if "multi-user.target.wants" in name}
    assert {f"{FOLDER}/multi-user.target.wants/{name}.service" for name in ("b", "c", "t@one")} <= wanted
    assert observe(node, "a.service") == "loaded inactive disabled"
    assert observe(node, "b.service") == "loaded inactive enabled"
    node.run("rm", "/etc/systemd/system-preset/00-test.preset")


def test_a_unit_that_is_enabled_until_the_next_boot_is_disabled(node):
    write(node, "a.service", WANTED)
    node.run("systemctl", "enable", "--runtime", "a.service")
    assert observe(node, "a.service") == "loaded inactive enabled-runtime"
    probe(node, "enablement", "a.service=disabled")
    assert observe(node, "a.service") == "loaded inactive disabled"
    assert "a.service" not in node.run("systemctl", "show", "--property=Wants", "multi-user.target").stdout


def test_systemd_knows_newly_enabled_units_without_another_reload(node):
    write(node, "a.service", WANTED)
    probe(node, "enablement", "a.service=enabled")
    assert "a.service" in node.run("systemctl", "show", "--property=Wants", "multi-user.target").stdout


def test_an_error_names_the_faulty_unit_and_others_are_enabled(node):
    write(node, "good.service", WANTED)
    node.run("ln", "-s", "/dev/null", f"{FOLDER}/masked.service")
    error = refused(node, "enablement", "good.service=enabled", "masked.service=enabled")
    assert error.startswith("enabling masked.service: ") and "masked" in error
    assert f"{FOLDER}/multi-user.target.wants/good.service" in links(node)


def test_presets_skip_units_that_are_masked_or_have_no_file(node):
    write(node, "good.service", WANTED)
    node.run("ln", "-s", "/dev/null", f"{FOLDER}/masked.service")
    probe(node, "enablement", "masked.service=preset", "gone.service=preset", "good.service=preset")
    assert observe(node, "masked.service") == "masked inactive masked"
    assert observe(node, "good.service") == "loaded inactive enabled"


def test_a_unit_without_a_file_loses_its_links(node):
    for kind in "enabled", "disabled", "preset":
        write(node, "a.service", WANTED)
        node.run("mkdir", "-p", f"{FOLDER}/multi-user.target.wants")
        node.run("ln", "-sfn", f"{FOLDER}/gone.service", f"{FOLDER}/multi-user.target.wants/gone.service")
        probe(node, "enablement", f"gone.service={kind}", "a.service=enabled")
        assert f"{FOLDER}/multi-user.target.wants/gone.service" not in links(node), kind
        assert f"{FOLDER}/multi-user.target.wants/a.service" in links(node), kind


def test_a_unit_without_an_install_section_is_no_error(node):
    write(node, "static.service", "[Service]\nExecStart=true\n")
    probe(node, "enablement", "static.service=enabled")
    assert observe(node, "static.service") == "loaded inactive static"


def test_aliases_and_install_sections_of_dropins_count(node):
    write(node, "a.service", "[Service]\nExecStart=true\n[Install]\nAlias=other.service\n")
    write(node, "a.service.d/10.conf", "[Install]\nWantedBy=graphical.target\n")
    probe(node, "enablement", "a.service=enabled")
    assert links(node)[f"{FOLDER}/other.service"] == f"{FOLDER}/a.service"
    assert links(node)[f"{FOLDER}/graphical.target.wants/a.service"] == f"{FOLDER}/a.service"
    probe(node, "enablement", "a.service=disabled")
    assert not [name for name in links(node) if name.endswith(("other.service", "a.service"))]


def test_restoring_the_links_undoes_enabling_and_disabling(node):
    write(node, "a.service", WANTED)
    write(node, "b.service", WANTED)
    probe(node, "enablement", "b.service=enabled")
    before = probe(node, "links").stdout
    write(node, "b.service", WANTED.replace("multi-user", "graphical"))
    probe(node, "enablement", "a.service=enabled", "b.service=enabled")
    assert f"{FOLDER}/multi-user.target.wants/b.service" not in links(node)
    probe(node, "put-links", input=before)
    assert probe(node, "links").stdout == before
    assert "a.service" not in node.run("systemctl", "show", "--property=Wants", "multi-user.target").stdout


def test_a_dropin_takes_effect_after_a_reload(node):
    unit(node, "a.service", "ExecStart=sleep infinity")
    write(node, "a.service.d/10.conf", "[Service]\nEnvironment=SEEN=1\n")
    probe(node, "reload")
    assert "SEEN=1" in node.run("systemctl", "show", "--property=Environment", "a.service").stdout


def test_jobs_are_awaited(node):
    unit(node, "a.service", "Type=notify\nExecStart=sh -c 'systemd-notify --ready; sleep infinity'\nNotifyAccess=all\n"
                            "ExecReload=touch /run/reloaded")
    probe(node, "start", "a.service", "20000")
    assert observe(node, "a.service").split()[1] == "active"
    started = node.run("systemctl", "show", "--property=MainPID", "a.service").stdout
    probe(node, "reload-unit", "a.service", "20000")
    node.run("rm", "/run/reloaded")
    probe(node, "reload-or-restart", "a.service", "20000")
    node.run("rm", "/run/reloaded")
    assert node.run("systemctl", "show", "--property=MainPID", "a.service").stdout == started
    probe(node, "restart", "a.service", "20000")
    assert node.run("systemctl", "show", "--property=MainPID", "a.service").stdout != started
    probe(node, "stop", "a.service", "20000")
    assert observe(node, "a.service").split()[1] == "inactive"
    probe(node, "try-restart", "a.service", "20000")
    assert observe(node, "a.service").split()[1] == "inactive"


def test_a_failed_job_is_reported_with_its_result_and_where_to_look(node):
    unit(node, "bad.service", "Type=oneshot\nExecStart=false")
    assert refused(node, "start", "bad.service", "20000") == \
        "starting bad.service: it failed (its result is \"exit-code\"); see `journalctl -u bad.service`"
    unit(node, "slow.service", "Type=oneshot\nTimeoutStartSec=100ms\nExecStart=sleep infinity")
    assert "its result is \"timeout\"" in refused(node, "start", "slow.service", "20000")
    unit(node, "needs.service", "ExecStart=true", "[Unit]\nRequires=bad.service\nAfter=bad.service\n")
    assert "a unit that it needs failed" in refused(node, "start", "needs.service", "20000")
    unit(node, "reload.service", "ExecStart=sleep infinity\nExecReload=false")
    probe(node, "start", "reload.service", "20000")
    assert refused(node, "reload-unit", "reload.service", "20000").startswith("reloading reload.service: it failed")
    assert "reloading" in refused(node, "reload-unit", "bad.service", "20000")
    assert "not found" in refused(node, "start", "gone.service", "20000")


def test_a_job_that_takes_too_long_is_cancelled(node):
    unit(node, "long.service", "Type=oneshot\nExecStart=sleep infinity")
    error = refused(node, "start", "long.service", "200")
    assert "the job did not end within 200 ms and was cancelled" in error
    assert "long.service" not in node.run("systemctl", "list-jobs").stdout


def test_a_job_that_someone_else_cancels_is_an_error(node):
    unit(node, "long.service", "Type=oneshot\nExecStart=sleep infinity")
    with BackgroundProbe(node, "start", "long.service", "60000") as waiting:
        wait_until(lambda: "long.service" in node.run("systemctl", "list-jobs").stdout, "the job is there", 60)
        node.run("systemctl", "cancel")
        assert waiting.wait(60) == 1
        assert "was cancelled by someone else" in waiting.stderr.read()


class BackgroundProbe:
    """A probe that runs in the background."""

    def __init__(self, node, *words):
        self._words = [*node.entering(), PROBE, *words]

    def __enter__(self):
        self._process = subprocess.Popen(self._words, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True)
        return self._process

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()
        self._process.stderr.close()


@pytest.mark.parametrize("trouble", [["systemctl", "daemon-reexec"], ["systemctl", "restart", "dbus.service"]],
                         ids=["re-exec", "bus"])
def test_a_job_is_awaited_through_a_lost_connection(node, trouble):
    unit(node, "waits.service", "Type=oneshot\nRemainAfterExit=yes\n"
                                "ExecStart=sh -c 'mkfifo /run/go && cat /run/go'")
    node.run("rm", "-f", "/run/go")
    with BackgroundProbe(node, "start", "waits.service", "60000") as waiting:
        wait_until(lambda: node.path("/run/go").exists(), "the unit is being started", 60)
        node.run(*trouble)
        node.run("sh", "-c", "echo go >/run/go")
        assert waiting.wait(40) == 0, waiting.stderr.read()
    assert observe(node, "waits.service").split()[1] == "active"


def test_without_a_bus_systemd_is_reached_through_its_private_socket(node):
    write(node, "a.service", WANTED)
    without_bus = ["env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere", PROBE]
    node.run(*without_bus, "enablement", "a.service=enabled")
    node.run(*without_bus, "start", "a.service", "20000")
    assert node.run(*without_bus, "observe", "a.service").stdout.strip() == "loaded active enabled"
    error = node.run("unshare", "--mount", "sh", "-c",
                     f"mount -t tmpfs none /run/systemd; exec {' '.join(without_bus)} reload",
                     check=False).stderr
    assert "neither on the system bus" in error and "private socket" in error


def test_everyone_sees_an_inhibitor_and_it_ends_with_its_process(node):
    def inhibitors():
        return node.run("busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1",
                        "org.freedesktop.login1.Manager", "ListInhibitors").stdout

    with BackgroundProbe(node, "inhibit", "applying rendered-worker") as holding:
        assert holding.stdout.readline() == "inhibited\n"
        assert '"shutdown" "Pintle" "applying rendered-worker" "block"' in inhibitors()
    wait_until(lambda: "Pintle" not in inhibitors(), "the inhibitor is gone", 60)


def test_a_node_reboots_and_users_who_are_logged_in_see_the_reason():
    with Node(plain=True) as node:
        before = node.run("cat", "/proc/sys/kernel/random/boot_id").stdout
        write(node, "a.service", WANTED)
        probe(node, "enablement", "a.service=enabled")
        probe(node, "reboot", "the kernel arguments changed", check=False)
        node.follow_reboot()
        assert node.run("cat", "/proc/sys/kernel/random/boot_id").stdout != before
        assert node.run("systemctl", "is-active", "a.service").stdout == "active\n"
        assert "the kernel arguments changed" in node.run("journalctl", "--boot=-1", "--unit=systemd-logind").stdout


@pytest.mark.parametrize("address", ["/run/dbus/system_bus_socket", "/run/no-such-bus"])
def test_signals_about_other_jobs_do_not_accumulate_in_memory(node, address):
    """Signals about other jobs arrive on the bus, and on the private socket, to which systemd sends everything."""
    unit(node, "once.service", "Type=oneshot\nRemainAfterExit=yes\nExecStart=true\n[Unit]\nDefaultDependencies=no")
    by = f"DBUS_SYSTEM_BUS_ADDRESS=unix:path={address}"
    grown = node.run("env", by, PROBE, "hear", "once.service", "3000").stdout
    assert int(grown) < 300_000
