# SPDX-License-Identifier: Apache-2.0
"""Tests the OS image of a node: it is fetched, staged, booted and rolled back, and a failure leaves nothing behind."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import subprocess
import tarfile
import time

import pytest

from machines import deploy, image, oci, power_cuts, shell
from machines.disk import Disk
from machines.namespace import OWN_MOUNTS
from machines.node import BUILD_ON_MACHINE, Node
from registry_access import copy_into_node, grant_access

PROBE = f"{BUILD_ON_MACHINE}/tests/integration/deployments-probe"
HOST_PROBE = pathlib.Path(os.environ.get("PINTLE_BUILD", "build")) / "tests/integration/deployments-probe"


def probe(node, *words):
    return node.run(PROBE, *words).stdout.strip()


def refusal(node, *words):
    result = node.run(PROBE, *words, check=False)
    assert result.returncode == 1, "the request was not refused"
    return result.stderr.strip()


def observe(node):
    return json.loads(probe(node, "observe"))


def read(node, path):
    return node.run("cat", path).stdout


def arguments(node):
    return read(node, "/proc/cmdline").split()


# ---- commits on the node --------------------------------------------------------------------------------------------

def test_a_plain_machine_is_no_ostree_host(node_without_ostree):
    assert refusal(node_without_ostree, "observe").startswith("this is no OSTree host")


def test_the_booted_deployment_is_described_with_its_version_and_kernel_arguments(node):
    state = observe(node)
    booted = state["booted"]
    assert booted["commit"] == deploy.booted_commit(node)
    assert (booted["version"], booted["branch"], booted["image"]) == ("1", image.BRANCH, "")
    assert booted["arguments"] == image.KERNEL_ARGUMENTS
    assert not booted["staged"] and state["pending"] is None and state["rollback"] is None


def test_a_staged_commit_is_booted_with_its_kernel_arguments_and_rolled_back(node):
    first = deploy.booted_commit(node)
    second = deploy.commit(node, {"/usr/share/probe": "new", "/usr/etc/image.conf": "new"}, version="2")
    fetched = probe(node, "fetch", image.BRANCH).split()
    assert fetched == [second, image.BRANCH]
    wanted = ["put", image.BRANCH, second, "+probe=1", "+quiet", "-mitigations=off", "-absent"]
    assert probe(node, *wanted) == "changed"
    state = observe(node)
    assert state["booted"]["commit"] == first
    assert (state["pending"]["commit"], state["pending"]["staged"], state["pending"]["version"]) == (second, True, "2")
    kept = [argument for argument in image.KERNEL_ARGUMENTS if argument != "mitigations=off"]
    assert state["pending"]["arguments"] == [*kept, "probe=1"]
    assert probe(node, *wanted) == "as wanted"
    assert "Read-only file system" in node.run("touch", "/sysroot/x", check=False).stderr

    probe(node, "await-finalizer", "20000")
    node.run("tee", "/etc/late.conf", input="made after staging")
    node.reboot()
    assert deploy.booted_commit(node) == second
    assert read(node, "/usr/share/probe") + read(node, "/etc/image.conf") == "newnew"
    assert read(node, "/etc/late.conf") == "made after staging"
    assert arguments(node).count("probe=1") == 1 and "mitigations=off" not in arguments(node)
    state = observe(node)
    assert (state["booted"]["commit"], state["rollback"]["commit"], state["pending"]) == (second, first, None)
    # The wanted deployment is booted, so there is nothing to do.
    assert probe(node, *wanted) == "as wanted"
    deploy.fsck(node)

    assert probe(node, "roll-back") == "changed"
    assert observe(node)["pending"]["commit"] == first
    node.reboot()
    assert deploy.booted_commit(node) == first and "probe=1" not in arguments(node)
    assert not node.path("/usr/share/probe").exists()


def test_dropping_the_pending_deployment_undoes_staging(node):
    before = observe(node)
    assert probe(node, "drop-pending") == "as wanted"
    assert probe(node, "put", "", "", "+probe=1") == "changed"
    assert observe(node)["pending"]["commit"] == before["booted"]["commit"]
    assert probe(node, "drop-pending") == "changed"
    assert observe(node) == before
    # Wanting the booted deployment means that nothing else is pending.
    probe(node, "put", "", "", "+probe=1")
    assert probe(node, "put", "", "") == "changed"
    assert observe(node) == before
    probe(node, "await-finalizer", "20000")
    node.reboot()
    assert observe(node)["booted"] == before["booted"]
    assert "no deployment to roll back to" in refusal(node, "roll-back")


def test_another_deployment_replaces_a_staged_one(node):
    probe(node, "put", "", "", "+probe=1")
    assert probe(node, "put", "", "", "+probe=2") == "changed"
    assert [argument for argument in observe(node)["pending"]["arguments"] if "probe" in argument] == ["probe=2"]
    probe(node, "await-finalizer", "20000")
    node.reboot()
    assert "probe=2" in arguments(node) and "probe=1" not in arguments(node)


def test_a_change_waits_for_a_program_that_holds_the_lock_and_names_it(node):
    before = observe(node)
    probe(node, "put", "", "", "+probe=1")
    with shell.running(*node.entering(), PROBE, "hold", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        error = refusal(node, "--patience=300", "put", "", "", "+probe=2")
        assert error.startswith("the deployments are being changed by deployments-pro (process ")
        with shell.running(*node.entering(), PROBE, "put", "", "", "+probe=3", stdout=subprocess.PIPE) as waiting:
            assert holder.communicate(timeout=60)[1].strip().endswith(b"enough")
            assert waiting.communicate(timeout=60)[0] == b"changed\n"
    assert observe(node)["pending"]["arguments"][-1] == "probe=3"
    probe(node, "drop-pending")
    assert observe(node) == before


FINALIZER = """
[Unit]
DefaultDependencies=no
RequiresMountsFor=/sysroot /boot
After=local-fs.target systemd-journal-flush.service ostree-finalize-staged.service
Before=basic.target final.target
Conflicts=final.target
[Service]
Type=oneshot
RemainAfterExit=yes
ReadOnlyPaths=/etc
ExecStop=%s finalize etc/managed=%s etc/issue=%s
"""


def finalize_with(node, text):
    """Starts a unit that puts two files into the staged deployment at shutdown, before OSTree's own unit stops."""
    node.run("tee", "/run/systemd/system/finalize.service", input=FINALIZER % (PROBE, text, text))
    node.run("systemctl", "daemon-reload")
    node.run("systemctl", "start", "finalize.service")


def test_files_take_effect_with_the_staged_deployment_and_fall_back_with_it(node):
    first = deploy.booted_commit(node)
    node.run("tee", "/etc/issue", input="edited here")
    second = deploy.commit(node, {"/usr/etc/issue": "from the image", "/usr/etc/image.conf": "new"}, version="2")
    # Another program stages the deployment, as rpm-ostree would.
    deploy.stage(node, second, ["probe=1"])
    finalize_with(node, "managed")
    node.run("tee", "/etc/late.conf", input="made after staging")
    assert not node.path("/etc/managed").exists()
    node.reboot()
    assert deploy.booted_commit(node) == second and "probe=1" in arguments(node)
    assert [read(node, f"/etc/{name}") for name in ("managed", "issue", "image.conf", "late.conf")] \
        == ["managed", "managed", "new", "made after staging"]
    assert "ostree-finalize-staged" in node.run("journalctl", "--boot=-1").stdout
    deploy.fsck(node)
    probe(node, "roll-back")
    node.reboot()
    assert deploy.booted_commit(node) == first
    assert read(node, "/etc/issue") == "edited here"
    assert not node.path("/etc/managed").exists() and not node.path("/etc/image.conf").exists()


def test_files_alone_get_a_deployment_of_their_own(node):
    before = observe(node)
    origin = read(node, f"{node.run('ostree', 'admin', '--print-current-dir').stdout.strip()}.origin")
    assert probe(node, "put", "", "", "new") == "changed"
    pending = observe(node)["pending"]
    assert pending == {**before["booted"], "staged": True}
    assert probe(node, "put", "", "", "new") == "as wanted"
    assert observe(node)["booted"] == before["booted"]
    finalize_with(node, "managed")
    probe(node, "await-finalizer", "20000")
    node.reboot()
    after = observe(node)
    assert after["booted"] == before["booted"] and after["rollback"] == before["booted"]
    assert read(node, "/etc/managed") == "managed"
    assert read(node, f"{node.run('ostree', 'admin', '--print-current-dir').stdout.strip()}.origin") == origin
    # A deployment that is not staged any more cannot get files.
    probe(node, "roll-back")
    assert not observe(node)["pending"]["staged"]
    assert probe(node, "put", "", "", "new") == "changed"
    assert observe(node)["pending"]["staged"]
    deploy.fsck(node)


def test_a_node_killed_while_it_finalizes_has_both_the_image_and_the_files_or_neither(node):
    cuts, killed = None, 0
    for version in range(2, 8):
        before = read(node, "/etc/managed") if version > 2 and node.path("/etc/managed").exists() else ""
        booted = deploy.booted_commit(node)
        new = deploy.commit(node, {"/usr/share/probe": str(version)}, str(version))
        deploy.stage(node, new)
        finalize_with(node, str(version))
        # The first shutdown is not cut short, to measure how long a shutdown takes on this machine.
        cut = cuts.pop() if cuts else 60
        started = time.monotonic()
        node.run("systemctl", "reboot", check=False)
        killed += node.kill_after(cut)
        cuts = power_cuts.instants(5, time.monotonic() - started) if cuts is None else cuts
        node.start()
        is_new = deploy.booted_commit(node) == new
        print(f"cut after {cut:.2f} s: booted the {'new' if is_new else 'old'} deployment")
        assert is_new or (deploy.booted_commit(node) == booted and version > 2)
        if is_new or before:
            assert read(node, "/etc/managed") == (str(version) if is_new else before)
    assert killed > 0, "each shutdown had ended before its power cut"
    deploy.fsck(node)


def test_a_disk_that_is_not_booted_gets_its_deployment_at_once(tmp_path):
    disk = Disk(tmp_path / "disk")
    put = [HOST_PROBE, "--sysroot=/mnt", "put", image.BRANCH]
    lines = shell.run(*OWN_MOUNTS, "sh", "-ec", """
        mount -o loop,barrier=0 "$1" /mnt
        shift
        commit=$("$1" --sysroot=/mnt fetch "$4" | cut -d' ' -f1)
        "$@" "$commit" +probe=1 -quiet
        "$@" "$commit" +probe=1 -quiet
        """, "sh", disk.path, *put).stdout.split("\n")
    assert lines == ["changed", "as wanted", ""]
    entries = disk.boot_entries()
    assert "probe=1" in entries[0]["options"].split() and "quiet" not in entries[0]["options"].split()
    assert len(entries) == 2 and "probe=1" not in entries[1]["options"]


def test_a_missing_commit_and_a_missing_branch_are_refused(node):
    assert "is not in the repository" in refusal(node, "fetch", "a" * 64)
    assert "there is no branch nothing/here" in refusal(node, "fetch", "nothing/here")
    assert "pulling absent:nothing" in refusal(node, "fetch", "absent:nothing")
    assert "is not the name of an image" in refusal(node, "fetch", "--help")


def test_a_remote_branch_is_pulled(node, tmp_path):
    commit = deploy.commit(node, {"/usr/share/probe": "far away"}, version="2")
    node.run("sh", "-ec", """
        ostree init --mode=archive --repo=/var/tmp/far
        ostree pull-local --repo=/var/tmp/far /sysroot/ostree/repo "$1"
        mkdir -p /etc/ostree/remotes.d
        printf '[remote "far"]\\nurl=file:///var/tmp/far\\ngpg-verify=false\\n' >/etc/ostree/remotes.d/far.conf
        """, "sh", image.BRANCH)
    name = f"far:{image.BRANCH}"
    assert probe(node, "fetch", name).split() == [commit, name]
    probe(node, "put", name, commit)
    assert observe(node)["pending"]["branch"] == name


# ---- images ---------------------------------------------------------------------------------------------------------

@pytest.fixture
def near():
    """A node that shares the loopback device of the tests."""
    with Node(network="host") as machine:
        yield machine


def left_behind(node):
    """Returns what a failed fetch could leave: branches, objects of no branch, and files of the download."""
    refs = [line for line in node.run("ostree", "refs", f"--repo={deploy.REPOSITORY}").stdout.splitlines()
            if line.startswith("pintle/")]
    on_its_way = node.run("find", f"{deploy.REPOSITORY}/tmp", "-path", "*pintle-fetch/*").stdout.splitlines()
    return refs + on_its_way


def test_an_image_from_a_registry_is_fetched_staged_and_booted(near, registry, pushed):
    words = grant_access(near, registry)
    commit, name = probe(near, *words, "fetch", pushed).split()
    assert name == pushed
    # Everything is on the node, so no request is sent to the registry.
    assert probe(near, "fetch", pushed).split() == [commit, name]
    assert [line for line in left_behind(near) if not line.startswith("pintle/")] == []
    assert probe(near, "put", pushed, commit, "+probe=1") == "changed"
    pending = observe(near)["pending"]
    assert (pending["image"], pending["version"], pending["branch"]) == (pushed, "2.0", "")
    assert pushed.endswith("@" + pending["digest"])
    probe(near, "await-finalizer", "20000")
    near.reboot()

    booted = observe(near)["booted"]
    assert (booted["commit"], booted["image"]) == (commit, pushed) and "probe=1" in arguments(near)
    assert near.state == "running"
    assert read(near, "/usr/share/new") + read(near, "/etc/image.conf") == "nextnext"
    assert not near.path("/usr/share/gone").exists()
    assert near.run("ls", "/usr/share/emptied").stdout.split() == ["young"]
    assert near.run("ls", "-A", "/usr").stdout.find(".wh.") == -1
    assert near.run("stat", "-c", "%a", "/usr/share/sticky").stdout.strip() == "1777"
    assert near.run("cat", "/usr/share/f\u0151").stdout == "base"
    deploy.fsck(near)

    assert probe(near, "put", pushed, commit, "+probe=1") == "as wanted"
    assert probe(near, "prune") == ""
    assert probe(near, "has-unneeded") == "no"
    assert f"pintle/image/{booted['digest'].removeprefix('sha256:')}" in left_behind(near)
    probe(near, "roll-back")
    near.reboot()
    assert observe(near)["booted"]["image"] == ""
    deploy.fsck(near)


def test_a_layer_that_the_node_has_is_not_fetched_again(near, registry, layout, pushed):
    words = grant_access(near, registry)
    base = registry.push(layout, "base")
    probe(near, *words, "fetch", base)
    before = registry.log()
    commit, name = probe(near, *words, "fetch", f"{registry.host}/os:next").split()
    # The result has the digest of the tag's image.
    assert name == pushed and len(commit) == 64
    base_layer = json.loads((layout / "blobs/sha256" / base.rpartition(":")[2]).read_text())["layers"][0]["digest"]
    assert base_layer not in registry.log().removeprefix(before)


def test_unneeded_images_are_pruned(near, registry, pushed):
    probe(near, *grant_access(near, registry), "fetch", pushed)
    assert probe(near, "has-unneeded") == "yes"
    probe(near, "prune")
    assert probe(near, "has-unneeded") == "no"
    assert left_behind(near) == []
    assert refusal(near, "--policy=/etc/policy.json", "fetch", pushed)
    deploy.fsck(near)


def test_a_client_without_credentials_gets_nothing(near, registry, pushed):
    words = grant_access(near, registry, with_credentials=False)
    error = refusal(near, *words, "fetch", pushed)
    assert error.startswith(f"fetching {pushed}: ") and "level=" not in error and "authentication required" in error
    assert left_behind(near) == []


def test_an_image_that_is_not_in_the_registry_is_refused(near, registry, pushed):
    absent = pushed.rpartition(":")[0] + ":" + "a" * 64
    assert "manifest unknown" in refusal(near, *grant_access(near, registry), "fetch", absent)
    assert left_behind(near) == []


def test_a_layer_that_was_changed_in_the_registry_is_refused(near, registry, layout, pushed):
    oci.derive_image(layout, "next", "damaged", oci.Layer(files={"usr/share/damaged": "x" * 1000}))
    reference = registry.push(layout, "damaged")
    manifest = json.loads((layout / "blobs/sha256" / reference.rpartition(":")[2]).read_text())
    layer = manifest["layers"][-1]["digest"].removeprefix("sha256:")
    stored = next(registry.folder.glob(f"storage/**/{layer}/data"))
    stored.write_bytes(stored.read_bytes()[:-1] + b"?")
    error = refusal(near, *grant_access(near, registry), "fetch", reference)
    assert error.startswith(f"fetching {reference}: ") and "igest" in error
    assert left_behind(near) == []


def test_too_little_space_is_refused_before_anything_is_fetched(near, registry, pushed):
    words = grant_access(near, registry)
    deploy.require_free_space(near, "100GB")
    error = refusal(near, *words, "fetch", pushed)
    assert error.startswith(f"fetching {pushed}: there is too little space: ") and "MiB are needed" in error
    assert left_behind(near) == []


# ---- harmful images in a layout --------------------------------------------------------------------------------------

class Layout:
    """An OCI layout of one image, which a test can fill with any bytes."""

    def __init__(self, folder):
        self.folder = folder
        self.blobs = folder / "blobs/sha256"
        self.blobs.mkdir(parents=True)
        self.layers = []

    def blob(self, data):
        digest = hashlib.sha256(data).hexdigest()
        (self.blobs / digest).write_bytes(data)
        return {"digest": f"sha256:{digest}", "size": len(data)}

    def layer(self, *entries, pack=gzip.compress):
        written = io.BytesIO()
        with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, change in entries:
                entry = tarfile.TarInfo(name)
                for key, value in change.items():
                    setattr(entry, key, value)
                archive.addfile(entry, io.BytesIO(b"x" * entry.size))
        self.layers.append(self.blob(pack(written.getvalue())))
        return self

    def write(self):
        config = self.blob(b'{"architecture":"amd64","os":"linux","config":{}}')
        manifest = self.blob(json.dumps({"schemaVersion": 2, "config": config, "layers": self.layers}).encode())
        (self.folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
        return self

    def file_of(self, number):
        return self.blobs / self.layers[number]["digest"].removeprefix("sha256:")


FILE = {"size": 3}
DIRECTORY = {"type": tarfile.DIRTYPE, "mode": 0o755}


@pytest.fixture(scope="module")
def sysroot(tmp_path_factory):
    """A sysroot that is not booted: importing an image needs no machine."""
    folder = tmp_path_factory.mktemp("sysroot")
    shell.run("ostree", "admin", "init-fs", "--modern", folder)
    return folder


@pytest.fixture
def new_layout(tmp_path):
    return Layout(tmp_path / "layout")


def fetch_into(sysroot, layout, check=True):
    result = shell.run(HOST_PROBE, f"--sysroot={sysroot}", "fetch", f"oci:{layout.write().folder}", check=check)
    return result.stdout.split()[0] if check else result.stderr.strip()


def branches(sysroot):
    return shell.run("ostree", "refs", f"--repo={sysroot}/ostree/repo").stdout.split()


@pytest.mark.parametrize("entries, reason", [
    ([("../../etc/passwd", FILE)], "leads out of the tree"),
    ([("usr/../../x", FILE)], "leads out of the tree"),
    ([("usr/x", {"type": tarfile.LNKTYPE, "linkname": "/etc/shadow"})], "which is not in the layer"),
    ([("usr/x", {"type": tarfile.LNKTYPE, "linkname": "../../etc/shadow"})], "leads out of the tree"),
    ([("usr/l", {"type": tarfile.SYMTYPE, "linkname": "/etc"}), ("usr/l/x", FILE)], "both as a directory and as"),
    ([("dev/sda", {"type": tarfile.BLKTYPE, "devmajor": 8})], "neither a file nor a directory nor a link"),
    ([("usr/null", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3})], "neither a file nor a directory"),
    ([("usr/fifo", {"type": tarfile.FIFOTYPE})], "neither a file nor a directory nor a link"),
    ([("sysroot/ostree/repo/objects/aa/b.file", FILE)], "it has an OSTree repository in it"),
], ids=lambda value: value if isinstance(value, str) else value[-1][0])
def test_a_harmful_layer_is_refused(sysroot, new_layout, entries, reason):
    before = branches(sysroot)
    error = fetch_into(sysroot, new_layout.layer(("usr/fine", FILE)).layer(*entries), check=False)
    assert error.startswith("importing the image sha256:") and "checking the layer sha256:" in error and reason in error
    assert branches(sysroot) == before


@pytest.mark.parametrize("damage, reason", [
    (lambda data: data[:-1], "bytes and not"),
    (lambda data: data[:-1] + b"?", "its contents have the digest"),
    (lambda data: None, "No such file"),
], ids=["cut", "changed", "missing"])
def test_a_damaged_layer_is_refused(sysroot, new_layout, damage, reason):
    new_layout.layer(("usr/fine", FILE)).layer(("usr/x", {"size": 100000})).write()
    data = damage(new_layout.file_of(1).read_bytes())
    new_layout.file_of(1).unlink() if data is None else new_layout.file_of(1).write_bytes(data)
    before = branches(sysroot)
    assert reason in fetch_into(sysroot, new_layout, check=False)
    assert branches(sysroot) == before


def test_a_layer_that_was_truncated_before_its_compression_is_refused(sysroot, new_layout):
    new_layout.layer(("usr/x", {"size": 100000}), pack=lambda data: gzip.compress(data[:50000]))
    error = fetch_into(sysroot, new_layout, check=False)
    assert "checking the layer" in error and "runcated" in error


def test_layers_may_have_any_compression(sysroot, new_layout):
    zstd = lambda data: subprocess.run(["zstd"], input=data, stdout=subprocess.PIPE, check=True).stdout
    new_layout.layer(("usr/a", FILE), pack=bytes).layer(("usr/b", FILE), pack=zstd).layer(("usr/c", FILE))
    commit = fetch_into(sysroot, new_layout)
    listed = shell.run("ostree", f"--repo={sysroot}/ostree/repo", "ls", "-R", commit).stdout
    assert all(f"/usr/{name}\n" in listed for name in "abc")


def test_layers_hide_replace_and_link(sysroot, new_layout):
    new_layout.layer(("usr", DIRECTORY), ("usr/t", {**DIRECTORY, "mode": 0o1777}), ("usr/d/x", FILE), ("usr/f", FILE),
                     ("etc/gone", FILE), ("etc/kept", FILE), ("usr/hidden/y", FILE),
                     ("usr/l", {"type": tarfile.LNKTYPE, "linkname": "usr/f"}))
    # A directory becomes a file, and a file a directory; t is not empty, so its mode has to be kept.
    new_layout.layer(("usr/d", FILE), ("usr/f/x", FILE), ("usr/t/new", FILE), ("etc/.wh.gone", {}),
                     ("usr/.wh.hidden", {}), ("usr/hidden2/.wh..wh..opq", {}))
    commit = fetch_into(sysroot, new_layout)
    listed = shell.run("ostree", f"--repo={sysroot}/ostree/repo", "ls", "-R", commit).stdout.splitlines()
    found = {line.split()[-1]: line.split()[0] for line in listed}
    assert found == {"/": "d00755", "/usr": "d00755", "/usr/t": "d01777", "/usr/t/new": "-00644", "/usr/d": "-00644",
                     "/usr/f": "d00755", "/usr/f/x": "-00644", "/usr/etc": "d00755", "/usr/etc/kept": "-00644",
                     "/usr/l": "-00644", "/usr/hidden2": "d00755"}


def test_an_image_that_no_deployment_has_is_unneeded_until_it_is_pruned(new_layout, tmp_path):
    folder = tmp_path / "sysroot"
    folder.mkdir()
    shell.run("ostree", "admin", "init-fs", "--modern", folder)
    has_unneeded = [HOST_PROBE, f"--sysroot={folder}", "has-unneeded"]
    assert shell.run(*has_unneeded).stdout == "no\n"
    fetch_into(folder, new_layout.layer(("usr/x", FILE)))
    assert shell.run(*has_unneeded).stdout == "yes\n"
    shell.run(HOST_PROBE, f"--sysroot={folder}", "prune")
    assert shell.run(*has_unneeded).stdout == "no\n" and branches(folder) == []


def test_the_same_image_is_the_same_commit_everywhere(sysroot, new_layout, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    shell.run("ostree", "admin", "init-fs", "--modern", other)
    new_layout.layer(("usr/x", FILE))
    assert fetch_into(sysroot, new_layout) == fetch_into(other, new_layout)


def test_an_image_without_a_kernel_is_not_staged(near, registry, new_layout, tmp_path):
    new_layout.layer(("usr/x", FILE)).write()
    copy_into_node(near, new_layout.folder, "/var/tmp/layout")
    commit = probe(near, "fetch", "oci:/var/tmp/layout").split()[0]
    assert "it has no kernel" in refusal(near, "put", "oci:/var/tmp/layout", commit)
    assert observe(near)["pending"] is None


# ---- commits that were packed into images ----------------------------------------------------------------------------

@pytest.fixture(scope="module")
def packable(tmp_path_factory):
    """A repository with one commit that has everything that a commit can have."""
    folder = tmp_path_factory.mktemp("packable")
    tree, repository = folder / "tree", folder / "repository"
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/etc").mkdir()
    (tree / "usr/bin/program").write_bytes(os.urandom(700_000))
    (tree / "usr/bin/program").chmod(0o4755)
    (tree / "usr/bin/same").symlink_to("..//bin/program")
    (tree / "usr/etc/owned").write_text("contents")
    os.chown(tree / "usr/etc/owned", 7, 8)
    os.setxattr(tree / "usr/etc/owned", "user.long", b"x" * 300)
    os.setxattr(tree / "usr/etc/owned", "user.empty", b"")
    os.setxattr(tree / "usr", "user.of-a-directory", b"value")
    (tree / "usr/etc/gone").write_text("")
    shell.run("ostree", "init", f"--repo={repository}", "--mode=bare")
    commit = shell.run("ostree", "commit", f"--repo={repository}", "--branch=b", f"--tree=dir={tree}").stdout.strip()
    return repository, commit


def listing(repository, commit):
    """Returns everything in a commit: owners, permissions, checksums, extended attributes."""
    return shell.run("ostree", "ls", f"--repo={repository}", "-R", "-C", "-X", commit).stdout


def fetch_packed(sysroot, folder, tag="packed", check=True):
    result = shell.run(HOST_PROBE, f"--sysroot={sysroot}", "fetch", f"oci:{folder}:{tag}", check=check)
    return result.stdout.split()[0] if check else result.stderr.strip()


def test_a_commit_that_was_packed_into_an_image_is_fetched_unchanged(sysroot, packable, tmp_path):
    layout = tmp_path / "layout"
    oci.pack_commit(layout, "packed", *packable)
    oci.derive_image(layout, "packed", "derived", oci.Layer(files={"usr/etc/new": "derived"}, removed=["etc/gone"]))
    repository = f"{sysroot}/ostree/repo"
    commit = fetch_packed(sysroot, layout)
    assert listing(repository, commit) == listing(*packable)
    assert shell.run("ostree", "show", f"--repo={repository}", packable[1]).returncode == 0
    # Another layer on top is imported like any layer.  The layers of the packed commit are not fetched again.
    for layer in json.loads(manifest_of(layout, "packed"))["layers"]:
        (layout / "blobs/sha256" / layer["digest"].removeprefix("sha256:")).unlink()
    derived = fetch_packed(sysroot, layout, "derived")
    names = [line.split()[-1] for line in listing(repository, derived).splitlines()]
    assert "/usr/etc/new" in names and "/usr/etc/gone" not in names and "/usr/bin/program" in names
    shell.run("ostree", "fsck", f"--repo={repository}")


def manifest_of(layout, tag):
    index = json.loads((layout / "index.json").read_text())["manifests"]
    found = next(image["digest"] for image in index
                 if image["annotations"]["org.opencontainers.image.ref.name"] == tag)
    return (layout / "blobs/sha256" / found.removeprefix("sha256:")).read_text()


def without_first(suffix):
    """Drops the first object of a kind from each layer."""
    def change(_, entries):
        found = [place for place, (entry, _) in enumerate(entries) if entry.name.endswith(suffix)]
        return entries[:found[0]] + entries[found[0] + 1:] if found else entries
    return change


def altered(key, value):
    """Gives the first file of each layer another attribute, or other contents."""
    def change(_, entries):
        for place, (entry, contents) in enumerate(entries):
            if entry.name.endswith(".file") and entry.isreg() and contents:
                if key == "contents":
                    entries[place] = (entry, value + contents[len(value):])
                else:
                    setattr(entry, key, value)
                break
        return entries
    return change


@pytest.mark.parametrize("change, labels, reason", [
    (without_first(".dirtree"), {}, "No such metadata object"),
    (without_first(".file"), {}, "do not have the object"),
    (without_first(".file-xattrs-link"), {}, "its extended attributes are not in the layer before it"),
    (without_first(".commit"), {}, "but its layers have none"),
    (altered("contents", b"?"), {}, "orrupted"),
    (altered("uid", 99), {}, "orrupted"),
    (altered("mode", 0o4777), {}, "orrupted"),
    (lambda number, entries: entries, {"ostree.commit": "a" * 64}, "but its label ostree.commit names"),
    (lambda number, entries: entries, {"ostree.final-diffid": "sha256:" + "a" * 64}, "names none of its 3 layers"),
], ids=["dirtree", "file", "attributes", "commit", "contents", "owner", "mode", "label", "diffid"])
def test_a_packed_commit_with_missing_objects_is_refused(sysroot, packable, tmp_path, change, labels, reason):
    oci.pack_commit(tmp_path / "layout", "packed", *packable, labels=labels, change=change)
    empty = tmp_path / "sysroot"
    empty.mkdir()
    shell.run("ostree", "admin", "init-fs", "--modern", empty)
    error = fetch_packed(empty, tmp_path / "layout", check=False)
    assert reason in error, error
    assert branches(empty) == []
    assert list((empty / "ostree/repo/objects").glob("*/*")) == []


def test_an_image_with_a_packed_commit_is_booted(near, tmp_path):
    first = deploy.booted_commit(near)
    copy = tmp_path / "copy"
    shell.run("ostree", "init", f"--repo={copy}", "--mode=bare")
    shell.run("ostree", "pull-local", f"--repo={copy}", near.path("/sysroot/ostree/repo"), first)
    layout = tmp_path / "layout"
    oci.pack_commit(layout, "packed", copy, first, layers=5, labels={"version": "packed"})
    oci.derive_image(layout, "packed", "derived", oci.Layer(files={"usr/share/new": "derived", "etc/new": "derived"}))
    copy_into_node(near, layout, "/var/tmp/layout")
    commit = probe(near, "fetch", "oci:/var/tmp/layout:derived").split()[0]
    assert probe(near, "put", "oci:/var/tmp/layout:derived", commit, "+probe=1") == "changed"
    probe(near, "await-finalizer", "20000")
    near.reboot()
    booted = observe(near)["booted"]
    assert (booted["commit"], booted["version"]) == (commit, "packed") and near.state == "running"
    assert read(near, "/usr/share/new") + read(near, "/etc/new") == "derivedderived"
    deploy.fsck(near)
