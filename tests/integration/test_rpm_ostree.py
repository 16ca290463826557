# SPDX-License-Identifier: Apache-2.0
"""Tests deployments by rpm-ostree: rpm-ostreed-peer replaces its daemon, and changes the node's real deployments.

rpm-ostree's own work, layering packages, needs RPMs; here a package is a file in a commit.
"""

import json
import os
import pathlib
import pty
import random
import re
import select
import subprocess
import time

import pytest

from machines import deploy, oci, programs, shell
from machines.background_program import BackgroundProgram
from machines.installed import ALL, NOTHING, Installed, everything
from machines.node import BUILD_ON_MACHINE, Node
from machines.wait import wait_until
from registry_access import copy_into_node, grant_access

PROBE = f"{BUILD_ON_MACHINE}/tests/integration/deployments-probe"
HOST_PROBE = pathlib.Path(os.environ.get("PINTLE_BUILD", "build")) / "tests/integration/deployments-probe"
UNIT = f"""
[Unit]
Description=rpm-ostree System Management Daemon
StartLimitIntervalSec=0
[Service]
Type=dbus
BusName=org.projectatomic.rpmostree1
ExecStart={BUILD_ON_MACHINE}/tests/integration/rpm-ostreed-peer --auth-file=/run/ostree/auth.json \
          --certificates=/etc/trust --policy=/etc/policy.json
"""
BUS_POLICY = """
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <policy user="root">
    <allow own="org.projectatomic.rpmostree1"/>
    <allow send_destination="org.projectatomic.rpmostree1"/>
  </policy>
</busconfig>
"""
UNIT_FILE = "/etc/systemd/system/rpm-ostreed.service"
FAULT, LOG = "/run/rpm-ostreed-fault", "/run/rpm-ostreed-log"
PATIENCE = 240    # Seconds for a program that may fetch an image, on a busy machine.


def install(node):
    node.run("tee", UNIT_FILE, input=UNIT)
    node.run("tee", "/etc/dbus-1/system.d/org.projectatomic.rpmostree1.conf", input=BUS_POLICY)
    node.run("systemctl", "daemon-reload")
    node.run("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")


@pytest.fixture(scope="module")
def booted(registry):
    with Node(network="host") as machine:
        install(machine)
        machine.access = grant_access(machine, registry)
        yield machine


@pytest.fixture
def node(booted):
    """A node without a pending deployment, on which the daemon does not run."""
    booted.run("rm", "-f", FAULT)
    booted.run("systemctl", "stop", "rpm-ostreed")
    booted.run(PROBE, "drop-pending")
    booted.run("rm", "-f", LOG)
    yield booted
    assert not booted.path(FAULT).exists(), "the fault did not occur"


@pytest.fixture
def fresh(registry):
    """A node that the test may reboot."""
    with Node(network="host") as machine:
        install(machine)
        machine.access = grant_access(machine, registry)
        yield machine


def words_of(node, words):
    return [PROBE, "--by=chosen", "--progress=shown", *node.access, *words]


def probe(node, *words):
    return node.run(*words_of(node, words)).stdout.strip()


def refusal(node, *words):
    result = node.run(*words_of(node, words), check=False)
    assert result.returncode == 1, "the request was not refused"
    return result.stderr.splitlines()[-1]


def running(node, *words):
    """Runs the probe beside the test."""
    return shell.running(*node.entering(), *words_of(node, words), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)


def observe(node):
    return json.loads(node.run(PROBE, "observe").stdout)


def fault(node, text):
    node.run("tee", FAULT, input=text + "\n")


def log(node):
    path = node.path(LOG)
    return path.read_text().splitlines() if path.exists() else []


def await_log(node, line):
    wait_until(lambda: line in log(node), f"the log of rpm-ostree has {line!r}", 30)


def release(node):
    node.run("systemctl", "kill", "--signal=USR1", "rpm-ostreed")


def transactions(node):
    return [line.split()[0] for line in log(node) if line.endswith(" succeeded")]


def read(node, path):
    return node.run("cat", path).stdout


def origin(node):
    return read(node, f"{node.run('ostree', 'admin', '--print-current-dir').stdout.strip()}.origin")


# ---- who manages the deployments -------------------------------------------------------------------------------------

def test_rpm_ostree_is_used_only_if_its_unit_exists(fresh):
    assert probe(fresh, "put", "", "", "install=sysstat") == "changed"
    assert transactions(fresh) == ["UpdateDeployment"]
    probe(fresh, "drop-pending")
    fresh.run("systemctl", "stop", "rpm-ostreed")
    fresh.run("rm", UNIT_FILE)
    for verb in "mask", "unmask":
        fresh.run("systemctl", verb, "rpm-ostreed")
        error = refusal(fresh, "put", "", "", "install=sysstat")
        assert error.startswith("only rpm-ostree can add packages to an image or remove them")
        assert probe(fresh, "put", "", "", "+probe=1") == "changed"
        probe(fresh, "drop-pending")


def test_a_machine_without_ostree_has_no_deployments(node_without_ostree):
    result = node_without_ostree.run(PROBE, "--by=chosen", "observe", check=False)
    assert result.stderr.startswith("this is no OSTree host")


# ---- requests to the daemon ------------------------------------------------------------------------------------------

def test_an_image_and_kernel_arguments_become_one_deployment_that_is_booted_and_rolled_back(fresh, pushed):
    before = observe(fresh)
    assert probe(fresh, "fetch", pushed) == pushed    # It prints no commit, since none is known yet.
    assert observe(fresh) == before and transactions(fresh) == ["UpdateDeployment"]
    wanted = ["put", pushed, "", "+probe=1", "-mitigations=off"]
    result = fresh.run(*words_of(fresh, wanted))
    assert result.stdout == "changed\n" and "progress: Working on it, 50 %\n" in result.stderr
    assert "progress: Working with https://one:***@mirror.example/\n" in result.stderr
    assert transactions(fresh)[1:] == ["UpdateDeployment", "KernelArgs"]
    state = observe(fresh)
    assert state["booted"] == before["booted"]
    pending = state["pending"]
    assert (pending["image"], pending["version"], pending["staged"]) == (pushed, "2.0", True)
    assert pushed.endswith("@" + pending["digest"])
    kept = [argument for argument in before["booted"]["arguments"] if argument != "mitigations=off"]
    assert pending["arguments"] == [*kept, "probe=1"]
    assert probe(fresh, *wanted) == "as wanted" and len(transactions(fresh)) == 3

    probe(fresh, "await-finalizer", "20000")
    fresh.reboot()
    state = observe(fresh)
    assert (state["booted"]["image"], state["pending"]) == (pushed, None)
    assert "probe=1" in read(fresh, "/proc/cmdline").split()
    assert f"container-image-reference=ostree-unverified-registry:{pushed}" in origin(fresh)
    assert read(fresh, "/usr/share/new") == "next"
    # The wanted image is booted, so nothing is done.
    assert probe(fresh, "fetch", pushed) == pushed and probe(fresh, *wanted) == "as wanted"
    assert log(fresh) == []
    assert probe(fresh, "prune") == "" and transactions(fresh) == ["Cleanup"]

    assert probe(fresh, "roll-back") == "changed"
    fresh.reboot()
    state = observe(fresh)
    assert state["booted"]["commit"] == before["booted"]["commit"] and state["rollback"]["image"] == pushed
    deploy.fsck(fresh)


def test_a_tag_is_resolved_to_its_digest_and_never_deployed(node, registry, pushed):
    assert probe(node, "fetch", f"{registry.host}/os:next") == pushed
    assert "is a tag" in refusal(node, "put", f"{registry.host}/os:next", "")
    assert transactions(node) == ["UpdateDeployment"]


def test_rpm_ostree_gets_the_pull_secrets_where_nothing_has_made_its_folder_below_run(fresh, pushed):
    fresh.run("umount", "/run/ostree")
    fresh.run("rmdir", "/run/ostree")
    assert probe(fresh, "fetch", pushed) == pushed
    assert read(fresh, "/run/ostree/auth.json") == read(fresh, "/etc/auth.json")


def test_an_image_that_is_not_in_the_registry_is_refused(node, pushed):
    before = observe(node)
    absent = pushed.rpartition(":")[0] + ":" + "a" * 64
    error = refusal(node, "fetch", absent)
    assert error.startswith(f"rpm-ostree: fetching ostree-unverified-registry:{absent}: ")
    assert "manifest unknown" in error
    assert observe(node) == before


def test_an_image_and_packages_become_one_deployment_and_are_removed_again(fresh, pushed):
    wanted = ["put", pushed, "", "+probe=1", "install=kernel-rt-core", "install=sysstat", "remove=kernel-core"]
    probe(fresh, "fetch", pushed)
    assert probe(fresh, *wanted) == "changed"
    assert transactions(fresh)[1:] == ["UpdateDeployment", "KernelArgs", "UpdateDeployment"]
    pending = observe(fresh)["pending"]
    assert (pending["image"], pending["packages"], pending["removed"]) \
        == (pushed, ["kernel-rt-core", "sysstat"], ["kernel-core"])
    assert pushed.endswith("@" + pending["digest"]) and pending["version"] == "2.0"
    assert probe(fresh, *wanted) == "as wanted"
    probe(fresh, "await-finalizer", "20000")
    fresh.reboot()
    assert observe(fresh)["booted"] == {**pending, "staged": False}
    assert "probe=1" in read(fresh, "/proc/cmdline").split() and read(fresh, "/usr/share/new") == "next"
    assert fresh.run("ls", "/usr/share/packages").stdout.split() == ["kernel-rt-core", "sysstat"]

    # A change of files alone also gets a deployment, which rpm-ostree still manages.
    written = origin(fresh)
    assert probe(fresh, "put", "", "", "new") == "changed" and transactions(fresh) == []
    probe(fresh, "await-finalizer", "20000")
    fresh.reboot()
    assert origin(fresh) == written and observe(fresh)["booted"]["packages"] == ["kernel-rt-core", "sysstat"]

    # A package that is to be both uninstalled and installed stays, and no request names it.
    assert probe(fresh, "put", "", "", "uninstall=kernel-rt-core", "reset=kernel-core", "uninstall=sysstat",
                 "install=sysstat", "-probe=1") == "changed"
    pending = observe(fresh)["pending"]
    assert (pending["packages"], pending["removed"], pending["image"]) == (["sysstat"], [], pushed)
    assert "probe=1" not in pending["arguments"]
    deploy.fsck(fresh)


def test_a_branch_is_deployed_without_the_network(node):
    commit = deploy.commit(node, {"/usr/share/probe": "new"}, version="2")
    node.run("unshare", "--mount", "sh", "-ec", """
        mount -o remount,rw /sysroot
        ostree refs --repo="$1" "$2" --create=debian/other
        """, "sh", deploy.REPOSITORY, commit)
    assert probe(node, "fetch", "debian/other").split() == [commit, "debian/other"]
    assert probe(node, "put", "debian/other", commit) == "changed"
    assert (observe(node)["pending"]["branch"], observe(node)["pending"]["commit"]) == ("debian/other", commit)
    assert probe(node, "put", "debian/other", commit) == "as wanted"
    # Wanting the booted deployment drops the pending one.
    assert probe(node, "put", "", "") == "changed"
    assert observe(node)["pending"] is None and transactions(node) == ["UpdateDeployment", "Cleanup"]


def test_the_next_deployment_does_not_build_on_a_pending_one(node):
    probe(node, "put", "", "", "+probe=1", "install=usbguard")
    assert probe(node, "put", "", "", "+probe=2") == "changed"
    pending = observe(node)["pending"]
    assert pending["arguments"] == [*observe(node)["booted"]["arguments"], "probe=2"] and pending["packages"] == []
    assert probe(node, "drop-pending") == "changed" and probe(node, "drop-pending") == "as wanted"


# ---- failures --------------------------------------------------------------------------------------------------------

# A change in two transactions, of which the first is quick.
BOTH = ["put", "", "", "+probe=1", "install=sysstat"]
FIRST = ["put", "", "", "+probe=1"]


@pytest.mark.parametrize("given, error", [
    ("KernelArgs fail Something is wrong", "rpm-ostree: changing kernel arguments: Something is wrong"),
    ("UpdateDeployment fail No package matches 'sysstat'", "rpm-ostree: installing sysstat: No package matches"),
    ("KernelArgs crash", "rpm-ostree: changing kernel arguments: rpm-ostree's daemon ended before the transaction did"),
    ("KernelArgs lose", "rpm-ostree: changing kernel arguments: the connection to rpm-ostree's transaction was lost"),
], ids=["first", "second", "crash", "lost"])
def test_a_failure_is_reported_and_nothing_is_pending(node, given, error):
    before = observe(node)
    fault(node, given)
    assert refusal(node, *BOTH).startswith(error)
    assert observe(node) == before
    # The next change succeeds.
    assert probe(node, *FIRST) == "changed"


def test_a_connection_that_is_lost_during_a_transaction_is_made_again(node):
    fault(node, "KernelArgs disconnect")
    assert probe(node, *FIRST) == "changed"
    assert log(node).count("Start of KernelArgs") == 2 and transactions(node) == ["KernelArgs"]


def test_a_client_that_connects_late_learns_the_end_of_a_transaction(node):
    fault(node, "KernelArgs early")
    assert probe(node, *FIRST) == "changed"
    fault(node, "KernelArgs fail Something is wrong")
    assert "Something is wrong" in refusal(node, "put", "", "", "+probe=2")


@pytest.mark.parametrize("given", ["RegisterClient exit", "RegisterClient afterwards", "UnregisterClient afterwards"])
def test_a_daemon_that_ends_when_idle_is_started_again(node, given):
    fault(node, given)
    assert probe(node, *FIRST) == "changed"
    assert probe(node, "drop-pending") == "changed"
    assert log(node).count("started") == 2


def test_a_daemon_that_cannot_be_started_is_named(node):
    node.run("mkdir", "-p", "/run/systemd/system/rpm-ostreed.service.d")
    broken = "/run/systemd/system/rpm-ostreed.service.d/broken.conf"
    node.run("tee", broken, input="[Service]\nExecStart=\nExecStart=/bin/false\n")
    node.run("systemctl", "daemon-reload")
    try:
        error = refusal(node, *FIRST)
        assert "starting rpm-ostree's daemon: starting rpm-ostreed.service: " in error
        assert error.endswith("see `journalctl -u rpm-ostreed.service`")
        assert observe(node)["pending"] is None
        # Dropping a deployment needs no daemon.
        node.run(PROBE, "put", "", "", "+probe=1")
        assert probe(node, "drop-pending") == "changed"
    finally:
        node.run("rm", broken)
        node.run("systemctl", "daemon-reload")


def test_a_change_waits_for_another_transaction_and_names_it(node, pushed):
    fault(node, "KernelArgs hold")
    with running(node, "put", "", "", "+probe=1") as first:
        await_log(node, "holding")
        error = refusal(node, "--patience=300", "put", "", "", "+probe=2")
        assert error.startswith("rpm-ostree: changing kernel arguments: rpm-ostree is busy: Transaction in progress: "
                                "pintle: kernel arguments You can cancel")
        old_entries = len(log(node))
        with running(node, "fetch", pushed) as second:
            wait_until(lambda: any(line.startswith("UpdateDeployment") for line in log(node)[old_entries:]),
                       "the second request begins", 60)
            release(node)
            assert first.communicate(timeout=PATIENCE)[0] == "changed\n"
            assert second.communicate(timeout=PATIENCE)[0].split() == [pushed]
    assert transactions(node) == ["KernelArgs", "UpdateDeployment"]


def test_the_same_request_of_two_clients_is_one_transaction(node):
    fault(node, "KernelArgs hold")
    with running(node, "put", "", "", "+probe=1") as first:
        await_log(node, "holding")
        with running(node, "put", "", "", "+probe=1") as second:
            wait_until(lambda: log(node).count("Start of KernelArgs") == 2, "the second one has joined", 30)
            release(node)
            assert [each.communicate(timeout=PATIENCE)[0] for each in (first, second)] == ["changed\n", "changed\n"]
    assert transactions(node) == ["KernelArgs"]


def test_a_lock_that_another_program_holds_is_reported(node):
    node.run(PROBE, "put", "", "", "+probe=1")
    with shell.running(*node.entering(), PROBE, "hold", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        error = refusal(node, "--patience=300", "put", "", "", "+probe=2")
        assert "rpm-ostree is busy: System transaction in progress by deployments-pro (process " in error
        holder.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("fault_text, words", [
    ("UpdateDeployment hold", BOTH), ("KernelArgs hold", FIRST),
    ("UpdateDeployment hold", ["fetch", "registry.example/os@sha256:" + "a" * 64]),
], ids=["packages", "arguments", "fetch"])
def test_a_cancelled_transaction_leaves_nothing(node, fault_text, words):
    before = observe(node)
    fault(node, fault_text)
    with running(node, "--stop=input", *words) as cancelled:
        await_log(node, "holding")
        cancelled.stdin.close()
        cancelled.stdin = None
        errors = cancelled.communicate(timeout=PATIENCE)[1].splitlines()
    assert cancelled.returncode == 1 and errors[-1].endswith(" was cancelled")
    assert observe(node) == before
    assert any("failed: Operation was cancelled" in line for line in log(node))


def test_a_transaction_continues_when_its_client_is_killed(node):
    fault(node, "KernelArgs hold")
    with running(node, "put", "", "", "+probe=1") as killed:
        await_log(node, "holding")
        shell.kill(killed)
    wait_until(lambda: PROBE not in node.run("sh", "-c", "cat /proc/[0-9]*/cmdline", check=False).stdout,
               "the client is gone", 60)
    release(node)
    await_log(node, "KernelArgs succeeded")
    assert observe(node)["pending"]["arguments"][-1] == "probe=1"
    assert probe(node, "put", "", "") == "changed"
    assert observe(node)["pending"] is None


# ---- extensions -----------------------------------------------------------------------------------------------------

PACKAGES = "usr/share/rpm-ostree/extensions"


def push_extensions(registry, folder, tag, *layers):
    """Pushes an image with these layers on top of one with packages, and returns its name."""
    tree = folder / "tree"
    (tree / PACKAGES / "repodata").mkdir(parents=True)
    for path in "repodata/repomd.xml", "old.rpm", "kept.rpm":
        (tree / PACKAGES / path).write_text(path)
    (tree / "usr/share/other").write_text("of no use")
    images = folder / "layout"
    oci.make_image(images, "base", tree)
    base = "base"
    for number, layer in enumerate(layers):
        oci.derive_image(images, base, f"{tag}-{number}", layer)
        base = f"{tag}-{number}"
    return registry.push(images, base, name="extensions")


@pytest.fixture
def extensions(registry, tmp_path):
    """Pushes an image with these layers on top of a first one, and unpacks it below a directory."""
    def unpack(tag, *layers, check=True, space=None):
        image = push_extensions(registry, tmp_path, tag, *layers)
        (tmp_path / "policy.json").write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
        root = tmp_path / "root"
        root.mkdir()
        if space:
            shell.run("mount", "-t", "tmpfs", "-o", f"size={space}", "tmpfs", root)
        try:
            result = shell.run(HOST_PROBE, f"--certificates={registry.certs_dir}", f"--auth-file={registry.auth_file}",
                               f"--policy={tmp_path}/policy.json", "extensions", root, image, check=check)
            assert [path for path in root.rglob("*") if path.is_file()] == []
        finally:
            if space:
                shell.run("umount", root)
        return result
    return unpack


def test_packages_of_extensions_are_offered_to_rpm_ostree_for_a_while(extensions):
    lines = extensions("good", oci.Layer(files={f"{PACKAGES}/new.rpm": "new", "usr/share/more": "of no use"},
                                         removed=[f"{PACKAGES}/old.rpm"])).stdout.splitlines()
    place = f"/var/lib/pintle/extensions/{PACKAGES}"
    assert sorted(lines[:4]) == ["/etc/yum.repos.d/coreos-extensions.repo", f"{place}/kept.rpm", f"{place}/new.rpm",
                                 f"{place}/repodata/repomd.xml"]
    assert lines[4:] == ["[coreos-extensions]", "enabled=1", "metadata_expire=1m", f"baseurl={place}/", "gpgcheck=0",
                         "skip_if_unavailable=False"]


def test_hidden_files_with_everything_below_them_are_not_unpacked(extensions):
    lines = extensions("hidden", oci.Layer(files={f"{PACKAGES}/repodata/repomd.xml": "", f"{PACKAGES}/new.rpm": ""},
                                           emptied=["usr/share"])).stdout
    assert "new.rpm" in lines and "old.rpm" not in lines and "kept.rpm" not in lines


def test_an_image_without_packages_is_refused(extensions):
    error = extensions("none", oci.Layer(removed=[PACKAGES]), check=False).stderr
    assert error.startswith("unpacking the extensions image ")
    assert "it has no packages in /usr/share/rpm-ostree" in error


def test_an_image_that_does_not_fit_is_refused_before_it_is_fetched(extensions):
    large = oci.Layer(files={f"{PACKAGES}/large.rpm": random.Random(1).randbytes(3 << 20).hex()})
    error = extensions("large", large, check=False, space="2m").stderr
    assert error.startswith("unpacking the extensions image ")
    assert "there is too little space on the file system of /var/lib/pintle/extensions" in error


@pytest.fixture
def machine(fresh, registry):
    """Pintle on a node that has the credentials of a kubelet and a container runtime."""
    fresh.run("mkdir", "--parents", "/var/lib/kubelet")
    fresh.run("cp", "/etc/auth.json", "/var/lib/kubelet/config.json")
    copy_into_node(fresh, registry.certs_dir, f"/etc/containers/certs.d/{registry.host}")
    fresh.run("cp", "/etc/policy.json", "/etc/containers/policy.json")
    return Installed(fresh, programs.on_machine("pintle"))


def test_a_config_with_an_image_is_applied_through_the_daemon(machine, fresh, pushed):
    machine.apply(everything(pushed))
    assert machine.of_everything() == NOTHING
    fresh.reboot()
    machine.settle()
    assert machine.of_everything() == ALL
    assert json.loads(probe(fresh, "observe"))["booted"]["image"] == pushed
    machine.pintle("verify")
    assert pushed in machine.pintle("explain", "os")
    # Removing the config needs no image, so libostree does it.
    machine.apply(None)
    fresh.reboot()
    machine.settle()
    assert machine.of_everything() == NOTHING
    deploy.fsck(fresh)


def test_extensions_and_another_kernel_are_installed_and_removed_with_a_config(machine, fresh, registry, pushed, tmp_path):
    plain = everything(pushed)
    extended = everything(pushed)
    extended["spec"] |= {"extensions": ["sysstat", "usbguard"], "kernelType": "realtime",
                         "baseOSExtensionsContainerImage": push_extensions(registry, tmp_path, "applied")}
    without = {"packages": [], "removed": []}

    def packages(which):
        return {key: sorted(observe(fresh)[which][key]) for key in without}

    machine.apply(plain)
    fresh.reboot()
    machine.settle()
    assert packages("booted") == without
    machine.apply(extended)
    wanted = packages("pending")
    assert {"sysstat", "usbguard", "kernel-rt-core"} <= set(wanted["packages"]) and "kernel-core" in wanted["removed"]
    assert not machine.has("/etc/yum.repos.d/coreos-extensions.repo"), "the packages are offered for longer than needed"
    fresh.reboot()
    machine.settle()
    assert packages("booted") == wanted and machine.of_everything() == ALL
    machine.pintle("verify")

    # Someone removes a package, and the kernel with it.
    probe(fresh, "put", "", "", "uninstall=sysstat", *(f"uninstall={package}" for package in wanted["packages"]
                                                       if package.startswith("kernel-rt-")),
          *(f"reset={package}" for package in wanted["removed"]))
    probe(fresh, "await-finalizer", "20000")
    fresh.reboot()
    machine.settle()
    output = machine.pintle("verify", status=2)
    assert 'extension "sysstat" verification failed' in output and "missing packages per set: [[sysstat]]" in output
    assert 'kernel type "realtime" expected, but the booted one is "default"' in output
    machine.pintle("restore", "--yes", "--no-reboot", "os", status=2)
    fresh.reboot()
    machine.settle()
    assert packages("booted") == wanted
    machine.pintle("verify")

    machine.apply(plain)
    fresh.reboot()
    machine.settle()
    assert packages("booted") == without and machine.of_everything() == ALL
    machine.pintle("verify")
    deploy.fsck(fresh)


def test_a_machine_is_pivoted_through_the_daemon_and_back(machine, fresh, pushed):
    first = observe(fresh)["booted"]
    machine.pintle("pivot", "--yes", pushed, status=2)
    assert transactions(fresh) and observe(fresh)["pending"]["image"] == pushed
    fresh.reboot()
    machine.settle()
    assert observe(fresh)["booted"]["image"] == pushed and machine.read("/usr/share/new") == "next"
    assert "Nothing to do" in machine.pintle("pivot", "--yes", pushed)
    machine.pintle("pivot", "--yes", first["commit"], status=2)
    fresh.reboot()
    machine.settle()
    assert observe(fresh)["booted"]["commit"] == first["commit"]
    deploy.fsck(fresh)


def test_a_terminal_has_one_line_with_the_progress_of_a_pivot(machine, fresh, pushed):
    fault(fresh, "UpdateDeployment hold")
    ours, theirs = pty.openpty()
    output = ""
    with shell.running(*fresh.entering(), machine.program, "pivot", "--yes", pushed, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=theirs) as pivoting:
        os.close(theirs)
        while "...: Holding, 43 %" not in output:
            piece = read_if_open(ours)
            assert piece, output
            output += piece.decode()
        release(fresh)
        while piece := read_if_open(ours):
            output += piece.decode()
        assert pivoting.wait(PATIENCE) == 2
    os.close(ours)
    assert "\rfetching " in output and "\x1b" not in output
    # On a busy machine, work without known progress takes more than a second, and then gets a line of its own.
    drawn = re.sub(r"[^\r\n]* \.\.\.\r\n", "", output)
    assert all(len(line) < 80 for line in re.split("[\r\n]", drawn))
    assert drawn.rpartition("\r")[2] == "", "the line was not erased"


def read_if_open(terminal):
    """Returns what was written to a terminal, or b"" if nobody can write any more."""
    assert select.select([terminal], [], [], PATIENCE)[0], "nobody writes to the terminal"
    try:
        return os.read(terminal, 4096)
    except OSError:    # Linux returns EIO when nobody has the other end open.
        return b""


def test_the_agent_publishes_its_progress_once_a_second(machine, fresh, pushed):
    fresh.run("mkdir", "--parents", "/etc/pintle/config.d")
    fresh.run("tee", "/etc/pintle/pintled.conf", input="[Agent]\nSource=local\n")
    fresh.run("tee", "/etc/pintle/config.d/50-all.json", input=json.dumps(everything(pushed)))
    fault(fresh, "UpdateDeployment hold")
    rule = "type='signal',interface='io.pintle.Agent1',member='Progress'"
    with BackgroundProgram(fresh, "busctl", "--json=short", "monitor", f"--match={rule}") as monitor:
        def texts():
            signals = [json.loads(line) for line in list(monitor.lines) if line.startswith("{")]
            return [text for each in signals for text in each["payload"]["data"]]

        wait_until(lambda: any("Monitoring" in line for line in monitor.lines), "the monitor runs", 60)
        began = time.monotonic()
        fresh.run("systemctl", "start", "pintled.service")
        doing = f"fetching {pushed}: Holding, 43 %"
        wait_until(lambda: f"Doing:    {doing}\n" in fresh.run(machine.program, "status", check=False).stdout,
                   "the status shows the progress", 60)
        wait_until(lambda: doing in texts(), "the agent publishes the progress", 60)
        holding = [text for text in texts() if "Holding" in text]
        seconds = time.monotonic() - began
    assert len(holding) <= seconds + 1, "progress is published more often than once a second"
    assert "43 %" not in fresh.run("journalctl", "--boot", "--output=cat").stdout
    # Otherwise the change would go on, and reboot the node.
    fresh.run("systemctl", "kill", "--signal=KILL", "pintled.service", "rpm-ostreed.service")


def test_a_config_may_name_its_image_by_a_tag(machine, fresh, registry, pushed):
    machine.apply(everything(f"{registry.host}/os:next"))
    # The deployment has the digest of the tag's image, and keeps it when the tag gets another image.
    assert observe(fresh)["pending"]["image"] == pushed
    fresh.reboot()
    machine.settle()
    assert machine.of_everything() == ALL and observe(fresh)["booted"]["image"] == pushed
    machine.pintle("verify")
    assert machine.apply(everything(f"{registry.host}/os:next"), status=0).startswith("Nothing to do")
