# SPDX-License-Identifier: Apache-2.0
"""Tests the controller's image: its contents, that the image is valid, and that it runs as deploy/ describes it.

containerd runs the image beside a test cluster, whose API server checks the controller's rights.
"""

import contextlib
import gzip
import hashlib
import json
import os
import pathlib
import re
import ssl
import sys
import urllib.error
import urllib.request

import install_page
import pytest
import spdx_check
import yaml
from controller_image import NAME, PROGRAM, SOURCE, VERSION, apply_overlay, build, digest

from machines import certs, shell
from machines.cluster import Cluster
from machines.containerd import IMAGE_GROUP, Containerd, PodContainer
from machines.controller import OWN_NAMESPACE, Objects
from machines.manifests import kustomize
from machines.namespace import OWN_MOUNTS
from machines.pod_network import PodNetwork
from machines.registry import Registry
from machines.wait import wait_until

BILL = "usr/share/pintle/sbom.spdx.json"
BUDGET = 40_000_000    # Bytes of the image, whether it is compressed or unpacked.
SECRETS = "/var/run/secrets/kubernetes.io/serviceaccount"
POLICIES = "/apis/pintle.io/v1alpha1/rolloutpolicies"


@pytest.fixture(scope="module")
def package(debian_packages):
    return debian_packages["pintle-controller"]


@pytest.fixture(scope="module")
def output(package, tmp_path_factory):
    """The folder with the image."""
    return build(package, tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="module")
def unpacked(output, tmp_path_factory):
    """The files of the image, unpacked by another program than the one that packed them."""
    bundle = tmp_path_factory.mktemp("unpacked") / "bundle"
    shell.run("umoci", "unpack", "--image", f"{output}/layout:{VERSION}", bundle)
    return bundle / "rootfs"


@pytest.fixture(scope="module")
def bill(unpacked):
    return json.loads((unpacked / BILL).read_text(encoding="utf-8"))


def manifest(output):
    return json.loads(shell.run("skopeo", "inspect", "--raw", f"oci:{output}/layout:{VERSION}").stdout)


def config(output):
    return json.loads(shell.run("skopeo", "inspect", "--config", "--raw", f"oci:{output}/layout:{VERSION}").stdout)


def contents(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def files_of(root):
    """Returns the paths of all files of the image that are no folders and no links."""
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and not path.is_symlink()}


def test_the_image_is_valid_and_its_archive_is_the_same_image(output):
    shell.run("umoci", "list", "--layout", f"{output}/layout")
    archive, = output.glob("*.tar")
    for transport in f"oci:{output}/layout:{VERSION}", f"oci-archive:{archive}:{VERSION}":
        found = json.loads(shell.run("skopeo", "inspect", transport).stdout)
        assert (found["Digest"], found["Os"], len(found["Layers"])) == (digest(output), "linux", 1)
    # Each blob has the digest that it is named by, and no blob is missing or superfluous.
    made = manifest(output)
    index = json.loads((output / "layout/index.json").read_text())
    wanted = {each["digest"]: each["size"] for each in (index["manifests"][0], made["config"], *made["layers"])}
    blobs = list((output / "layout/blobs/sha256").iterdir())
    assert {f"sha256:{hashlib.sha256(blob.read_bytes()).hexdigest()}": blob.stat().st_size for blob in blobs} == wanted
    assert {f"sha256:{blob.name}" for blob in blobs} == wanted.keys()


def test_two_builds_are_the_same_bit_for_bit(package, output, tmp_path):
    # The second build is made at another time, in another folder, with another umask, in another time zone, and without
    # a network.
    shell.run("unshare", "--net", "sh", "-ec", 'umask 077; exec "$@"', "sh", sys.executable, PROGRAM, "--package",
              package, "--name", NAME, "--output", tmp_path,
              env=os.environ | {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "1"})
    first, second = contents(output), contents(tmp_path)
    # The overlay has the relative path from its folder to deploy/.
    del first["kustomization.yaml"], second["kustomization.yaml"]
    assert first == second and len(first) == 7


@pytest.mark.parametrize("line, found", [("  * Built from the commit 0123456789abcdef.", "the commit 0123456789abcdef"),
                                         ("  * Built from something.", "an unknown commit")])
def test_a_package_of_another_commit_is_refused(package, tmp_path, line, found):
    """The other commit may have the same time as the one that is checked out."""
    tree, other = tmp_path / "tree", tmp_path / "other.deb"
    shell.run("dpkg-deb", "--raw-extract", package, tree)
    changelog = tree / "usr/share/doc/pintle-controller/changelog.Debian.gz"
    text, count = re.subn(r"(?m)^  \* Built from the commit [0-9a-f]{40}\.$", line,
                          gzip.decompress(changelog.read_bytes()).decode())
    assert count == 1
    changelog.write_bytes(gzip.compress(text.encode()))
    shell.run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, other)
    refused = shell.run(sys.executable, PROGRAM, "--package", other, "--output", tmp_path / "image", check=False)
    commit = shell.run("git", "-C", SOURCE, "rev-parse", "HEAD").stdout.strip()
    message = f"{other} is of {found}, and the commit {commit} is checked out; run ./dev image without --package\n"
    assert (refused.returncode, refused.stderr) == (1, message)
    assert not (tmp_path / "image").exists()


def test_a_file_that_is_not_as_its_package_has_it_is_refused(package, tmp_path):
    zones = "/usr/share/zoneinfo"
    script = f'mount --bind {zones}/Asia/Tokyo {zones}/Europe/Berlin; exec "$@"'
    refused = shell.run(*OWN_MOUNTS, "sh", "-ec", script, "sh", sys.executable, PROGRAM, "--package", package,
                        "--output", tmp_path / "image", check=False)
    message = f"{zones}/Europe/Berlin is not as its package has it; install the package again\n"
    assert (refused.returncode, refused.stderr) == (1, message)
    assert not (tmp_path / "image").exists()


def test_the_image_is_small(output, unpacked):
    size = sum(layer["size"] for layer in manifest(output)["layers"])
    unpacked_size = sum((unpacked / path).stat().st_size for path in files_of(unpacked))
    print(f"the image has {size} bytes, and {unpacked_size} unpacked")
    assert size < unpacked_size < BUDGET


def test_the_config_names_a_user_by_number_and_labels_the_image(output):
    made = config(output)
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", made["config"]["User"])
    assert made["config"]["Entrypoint"] == ["pintle-controller"]
    labels = made["config"]["Labels"]
    commit = shell.run("git", "-C", SOURCE, "log", "-1", "--format=%H").stdout.strip()
    assert (labels["org.opencontainers.image.version"], labels["org.opencontainers.image.revision"]) == (VERSION, commit)
    assert labels["org.opencontainers.image.created"] == made["created"]
    assert labels == manifest(output)["annotations"]


def test_the_containerfile_makes_an_image_with_the_same_config(output):
    text = (SOURCE / "packaging/Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    last = text[text.rindex("\nFROM "):]
    made = config(output)["config"]
    assert re.search(r"(?m)^USER (.*)$", last)[1] == made["User"]
    assert json.loads(re.search(r"(?m)^ENTRYPOINT (.*)$", last)[1]) == made["Entrypoint"]
    assert [re.search(r"(?m)^ENV (.*)$", last)[1]] == made["Env"]
    labels = dict(re.findall(r'(\S+?)="([^"]*)"', re.search(r"(?m)^LABEL (.*)$", last)[1]))
    for name, value in labels.items():
        assert value.startswith("$") or value == made["Labels"][name]
    assert labels.keys() == made["Labels"].keys()


def test_each_file_is_in_the_bill_of_materials_with_its_package_version_and_licence(unpacked, bill):
    packages = {package["SPDXID"]: package for package in bill["packages"]}
    owners = {each["relatedSpdxElement"]: packages[each["spdxElementId"]] for each in bill["relationships"]
              if each["relationshipType"] == "CONTAINS" and each["spdxElementId"] in packages}
    known = {licence["licenseId"] for licence in bill["hasExtractedLicensingInfos"]}
    listed = {}
    for file in bill["files"]:
        listed[file["fileName"].removeprefix("./")] = {each["algorithm"]: each["checksumValue"] for each in
                                                       file["checksums"]}["SHA256"]
        package = owners[file["SPDXID"]]
        assert package["versionInfo"] and package["licenseDeclared"]
        for name in re.split(" AND | OR ", package["licenseDeclared"]):
            assert name in known or not name.startswith("LicenseRef-"), name
    present = {path: hashlib.sha256((unpacked / path).read_bytes()).hexdigest() for path in files_of(unpacked)}
    # A file cannot contain its own digest.
    del present[BILL]
    assert listed == present


def test_the_bill_is_valid_spdx(bill):
    assert spdx_check.findings(bill) == []
    code, = [package["packageVerificationCode"] for package in bill["packages"] if package["SPDXID"] == "SPDXRef-Image"]
    assert code["packageVerificationCodeExcludedFiles"] == [f"./{BILL}"]


def test_the_versions_are_those_of_the_installed_packages(bill):
    debian = [package for package in bill["packages"] if package.get("supplier") == "Organization: Debian"]
    installed = dict(line.split(" ") for line in shell.run(
        "dpkg-query", "--show", "--showformat", "${Package} ${Version}\n",
        *(package["name"] for package in debian)).stdout.splitlines())
    assert {package["name"]: package["versionInfo"] for package in debian} == installed and len(debian) > 30
    assert {package["name"] for package in bill["packages"] if package["filesAnalyzed"]} - installed.keys() == {
        "pintle-controller", "pintle-controller-image"}
    # The program contains code of these libraries.
    inside = {package["name"]: package["versionInfo"] for package in bill["packages"] if not package["filesAnalyzed"]}
    headers = ("/usr/include/boost/version.hpp", "/usr/include/nlohmann/json.hpp")
    owners = [line.partition(":")[0] for line in shell.run("dpkg-query", "--search", *headers).stdout.splitlines()]
    assert inside == dict(line.split(" ") for line in shell.run(
        "dpkg-query", "--show", "--showformat", "${source:Package} ${source:Version}\n", *owners).stdout.splitlines())


def test_the_bill_of_materials_is_also_beside_the_image(output, unpacked):
    beside, = output.glob("*.spdx.json")
    assert beside.read_bytes() == (unpacked / BILL).read_bytes()


def test_the_image_has_no_program_but_the_controller_and_nothing_that_its_user_may_change(output, unpacked):
    executable = {path for path in files_of(unpacked) if (unpacked / path).stat().st_mode & 0o111}
    loader, = executable - {"usr/sbin/pintle-controller"}
    assert "/ld-linux" in loader
    assert {path.partition("/")[0] for path in files_of(unpacked)} == {"etc", "usr"}
    archive = output / "layout/blobs/sha256" / manifest(output)["layers"][0]["digest"].partition(":")[2]
    listed = [line.split() for line in shell.run("tar", "-tvz", "--numeric-owner", "-f", archive).stdout.splitlines()]
    assert {words[1] for words in listed} == {"0/0"}
    assert {words[0] for words in listed} == {"drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x", "lrwxrwxrwx"}


def test_the_controller_runs_as_any_user(unpacked):
    # OpenShift chooses the user ID.
    version = shell.run("chroot", "--userspec=1000650000:0", unpacked, "/usr/sbin/pintle-controller", "version").stdout
    assert version == f"pintle-controller {VERSION}\n"


def test_the_links_lead_to_files_of_the_image(unpacked):
    for path in unpacked.rglob("*"):
        if path.is_symlink():
            target = os.readlink(path)
            place = unpacked / target.lstrip("/") if target.startswith("/") else path.parent / target
            assert place.exists() and place.resolve().is_relative_to(unpacked.resolve()), path


def test_the_authorities_are_those_of_debian_and_not_of_this_machine(unpacked):
    bundle = unpacked / "etc/ssl/certs/ca-certificates.crt"
    # libcurl looks for the authorities in this file.
    assert shell.run("curl-config", "--ca").stdout.strip().strip('"') == "/etc/ssl/certs/ca-certificates.crt"
    trust = ssl.create_default_context(cadata=bundle.read_text(encoding="ascii"))
    ours = {hashlib.sha256(each).hexdigest() for each in trust.get_ca_certs(binary_form=True)}
    debian = set()
    for path in pathlib.Path("/usr/share/ca-certificates").rglob("*.crt"):
        debian.add(hashlib.sha256(ssl.PEM_cert_to_DER_cert(path.read_text(encoding="ascii"))).hexdigest())
    assert ours == debian and len(ours) > 100


# ---- in a cluster ---------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def runtime():
    with Containerd() as running:
        yield running


@pytest.fixture(scope="module")
def network():
    with PodNetwork() as made:
        yield made


@pytest.fixture(scope="module")
def cluster(network):
    with Cluster(network.host) as running:
        yield running


@pytest.fixture(scope="module")
def deployment(cluster, output):
    """The Deployment of the image's overlay, as the API server has it."""
    apply_overlay(cluster, output)
    return cluster.get("deployment", "pintle-controller", "-n", OWN_NAMESPACE)


def test_the_commands_of_the_page_push_the_image_and_run_it(output, deployment, cluster):
    """The test's build of the image has the option of the page."""
    build_image, copy, apply = install_page.commands("./dev image")
    assert build_image == f"./dev image --name {NAME}"
    folder = output.parents[1]
    with Registry() as registry:
        environment = os.environ | {"REGISTRY_AUTH_FILE": str(registry.auth_file), "SSL_CERT_FILE": str(registry.certificate)}
        shell.run("sh", "-ec", copy.replace("registry.example", registry.host), cwd=folder, env=environment)
        name = NAME.replace("registry.example", registry.host)
        found = shell.run("skopeo", "inspect", "--raw", f"docker://{name}:{VERSION}", env=environment).stdout
        assert f"sha256:{hashlib.sha256(found.encode()).hexdigest()}" == digest(output)
    environment = os.environ | {"KUBECONFIG": str(cluster.admin.kubeconfig),
                                "PATH": f"{cluster.commands}:{os.environ['PATH']}"}
    applied = shell.run("sh", "-ec", apply, cwd=folder, env=environment).stdout
    assert "deployment.apps/pintle-controller unchanged" in applied


@pytest.fixture(scope="module")
def image(runtime, output, deployment):
    """The name of the image in the runtime, which has exactly the digest that the Deployment names."""
    archive, = output.glob("*.tar")
    (name, digest), = runtime.load(archive).items()
    container, = deployment["spec"]["template"]["spec"]["containers"]
    assert (name, container["image"]) == (f"{NAME}:{VERSION}", f"{NAME}@{digest}")
    return name


@pytest.fixture
def run_replica(runtime, image, cluster, network, tmp_path):
    """Returns a function that runs a Deployment's container, with what a kubelet gives a pod: the account's token, the
    address of the API server, and the volumes that the test has, {path: folder}.
    """
    account = cluster.account(OWN_NAMESPACE, "pintle-controller")
    secrets = tmp_path / "account"
    secrets.mkdir()
    for name, value in ("token", account.token), ("namespace", OWN_NAMESPACE), \
            ("ca.crt", cluster.authority.certificate.read_text()):
        (secrets / name).write_text(value)
    hosts = tmp_path / "hosts"
    hosts.write_text(f"127.0.0.1 localhost\n{cluster.address} kubernetes.default.svc\n")
    port = cluster.url.rpartition(":")[2]

    @contextlib.contextmanager
    def run(deployment, volumes):
        mounts = {SECRETS: secrets, "/etc/hosts": hosts, **volumes}
        made = PodContainer(runtime, image, "replica", deployment, network, mounts, {
            # With a name, the program also has to resolve it, for which some C libraries need more files.
            "KUBERNETES_SERVICE_HOST": "kubernetes.default.svc", "KUBERNETES_SERVICE_PORT": port,
            # The loader logs which libraries it looks for, also those that the program asks for at run time.
            "LD_DEBUG": "libs"})
        made.start()
        try:
            yield made
        finally:
            made.kill()
    return run


@pytest.fixture
def replica(run_replica, deployment):
    with run_replica(deployment, {}) as made:
        yield made


def probe(network, container, kind):
    """Returns the status of one of the container's probes as a kubelet makes it, or None without an answer."""
    wanted = container[f"{kind}Probe"]
    port, = [each["containerPort"] for each in container["ports"] if each["name"] == wanted["httpGet"]["port"]]
    # A probe that names a host is for a pod on the network of its node, which is the network of the test here.
    host, place = network.address, []
    if "host" in wanted["httpGet"]:
        host, place = wanted["httpGet"]["host"], ["ip", "netns", "exec", network.name]
    answer = shell.run(*place, "curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--max-time",
                       wanted["timeoutSeconds"], f"http://{host}:{port}{wanted['httpGet']['path']}", check=False)
    return int(answer.stdout) or None


def wait_for_probe(network, replica, kind):
    def what():
        return f"the {kind} probe succeeds; the log of the container ends with\n{replica.end_of_log()}\n"
    wait_until(lambda: replica.check() or probe(network, replica.spec, kind) == 200, what, 60)


def status_of(process):
    return dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)


def memory_limit(process):
    """Returns the limit of a process's memory, in the older or the newer hierarchy of cgroups."""
    groups = dict(line.split(":")[1:] for line in (process / "cgroup").read_text().splitlines())
    limit = f"/sys/fs/cgroup/memory{groups['memory']}/memory.limit_in_bytes" if "memory" in groups else \
        f"/sys/fs/cgroup{groups['']}/memory.max"
    return int(pathlib.Path(limit).read_text())


def expect_confined(process):
    """Checks that the kernel confirms each field of the security contexts."""
    status = status_of(process)
    assert status["Uid"].split() == status["Gid"].split() == ["65532"] * 4
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    mounts = [line.split() for line in (process / "mountinfo").read_text().splitlines()]
    assert next(words[5] for words in mounts if words[4] == "/").split(",")[0] == "ro"
    assert memory_limit(process) == 256 * 2**20


def test_the_container_leads_renders_and_ends_as_the_manifests_describe_it(replica, cluster, network, unpacked):
    objects = Objects(cluster)
    process = replica.process()
    wait_for_probe(network, replica, "liveness")
    objects.controller_config()
    wait_for_probe(network, replica, "readiness")
    wait_until(lambda: replica.check() or objects.leader(), "the replica leads", 60)
    objects.config("00-worker", files={"/etc/motd": "Welcome."})
    target = objects.wait_for_target("worker")
    files = cluster.get("machineconfig", target)["spec"]["config"]["storage"]["files"]
    assert [file["path"] for file in files] == ["/etc/motd"]

    # The time zones of the image are found, also by an older name.
    objects.admin.must("POST", POLICIES, {
        "apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "windows"},
        "spec": {"pool": "worker", "windows": [{"start": "22:00", "duration": "1h", "timeZone": zone}
                                               for zone in ("Europe/Berlin", "US/Pacific")]}})

    def accepted():
        conditions = objects.admin.must("GET", f"{POLICIES}/windows").get("status", {}).get("conditions", [])
        return next((each for each in conditions if each["type"] == "Accepted"), None)
    assert wait_until(accepted, "the policy has been looked at", 60)["status"] == "True", accepted()

    expect_confined(process)

    # The loader has found each library that it was asked for.
    asked = set(re.findall(r"find library=(\S+) \[", replica.log.read_text(encoding="utf-8", errors="replace")))
    assert {"libcurl.so.4", "libcrypto.so.3", "libsystemd.so.0"} <= asked
    assert asked <= {path.name for path in unpacked.rglob("*.so*")}

    assert replica.end() == 0, replica.end_of_log()
    assert objects.leader() == ""


def deployment_of(cluster, folder):
    """Returns the Deployment of a folder of deploy/."""
    kinds = yaml.safe_load_all(kustomize(cluster, SOURCE / "deploy" / folder))
    return next(each for each in kinds if each["kind"] == "Deployment")


def secret_volume(folder, files):
    """Writes the files of a Secret as a kubelet does for the group of the pod, with the mode of the manifests."""
    folder.mkdir()
    for name, contents in files.items():
        (folder / name).write_bytes(contents)
        (folder / name).chmod(0o440)
        os.chown(folder / name, 0, IMAGE_GROUP)
    return folder


def volumes_of(deployment, folder, files):
    """Returns {path: folder} for each volume of the container; `files` is {name of a volume: {file: contents}}."""
    container, = deployment["spec"]["template"]["spec"]["containers"]
    assert files.keys() == {mount["name"] for mount in container["volumeMounts"]}
    return {mount["mountPath"]: secret_volume(folder / mount["name"], files[mount["name"]])
            for mount in container["volumeMounts"]}


def status_without_token(authority, url):
    """Returns the status of an HTTPS request that has no token, or None without an answer."""
    with contextlib.suppress(OSError):
        try:
            trust = ssl.create_default_context(cafile=authority.certificate)
            with urllib.request.urlopen(url, timeout=5, context=trust) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
    return None


@pytest.mark.parametrize("folder, port, path, refusal", [("page/kubernetes", 8443, "/", 401),
                                                         ("ignition/kubernetes", 22623, "/config/worker", 401)])
def test_the_container_reads_its_secrets_and_serves_as_each_overlay_describes_it(
        run_replica, cluster, network, tmp_path, folder, port, path, refusal):
    authority = certs.Authority(tmp_path / "authority")
    pair = authority.server("server", [network.address])
    certificate = {"tls.crt": pair.certificate.read_bytes(), "tls.key": pair.key.read_bytes()}
    files = {"page-certificate": certificate} if folder.startswith("page") else {
        "certificate": certificate, "token-keys": {"keys": b"0123456789abcdef0123456789abcdef\n"},
        "bootstrap-token": {"token": b"a token", "ca.crt": cluster.authority.certificate.read_bytes()}}
    # A replica with an Ignition server is ready when it has all that new machines need.  The ControllerConfig of another
    # test may lack the URL of the API server.
    cluster.apply((SOURCE / "deploy/examples/controller-config.yaml").read_text(encoding="utf-8"))
    deployment = deployment_of(cluster, folder)
    with run_replica(deployment, volumes_of(deployment, tmp_path, files)) as replica:
        process = replica.process()
        for kind in "liveness", "readiness":
            wait_for_probe(network, replica, kind)
        assert port in [each["containerPort"] for each in replica.spec["ports"]]
        url = f"https://{network.address}:{port}{path}"
        found = wait_until(lambda: replica.check() or status_without_token(authority, url), "the server answers", 60)
        assert found == refusal
        expect_confined(process)
        assert replica.end() == 0, replica.end_of_log()
