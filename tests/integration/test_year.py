# SPDX-License-Identifier: Apache-2.0
"""Tests a year of an OpenShift cluster: whatever is renewed, changed or added in it reaches the nodes.

The controller with its Ignition server and the agents of all nodes have a simulated clock, which jumps from event to
event.  The API server keeps the real time.  After each event, the disks of the nodes and the pools are as they should
be, and none of the reports of the ClusterOperator, from whatever moment, contradicts the pools and the nodes.
"""

import base64
import contextlib
import copy
import datetime
import json
import secrets
import ssl
import time

import pytest

from machines import as_ignition, certs, daemon, deploy
from machines.agent_node import AgentNode
from machines.cluster import Cluster
from machines.cluster_history import ClusterHistory
from machines.controller import GROUP, MERGE, NAMESPACE, Controller, Objects
from machines.node import Node
from machines.openshift_settings import CONFIG, OPERATOR, Settings, prepare_operator_cluster
from machines.simulated_clock import SimulatedClock
from machines.templates import KUBELET, write_templates
from machines.wait import wait_until
from machines.whole import Firmware

OLD, NEW = "4.21.0", "4.22.0"
SERVER = "api-int.demo.test"    # The host of the Ignition server.
MACHINES = "openshift-machine-api"
KUBELET_CA = "/etc/kubernetes/kubelet-ca.crt"
ROOT_CA = "/etc/kubernetes/ca.crt"
PULL_SECRET = "/var/lib/kubelet/config.json"
RELEASE_FILE = "/etc/release-of-the-templates"
INFRA_FILE = "/etc/infra"
FILES_OF_A_NEW_MACHINE = (KUBELET_CA, ROOT_CA, PULL_SECRET, KUBELET, RELEASE_FILE)
# A certificate of the Ignition server that lives ten years is renewed after eight of them, which is on day 200.
LIFE = datetime.timedelta(days=3650)
ROTATION_DAY = 200
# The day on which the installer has made this certificate, relative to the first day of the year.
INSTALLER = datetime.timedelta(days=ROTATION_DAY, hours=-12) - LIFE * 8 / 10


def expiry_of(pointer):
    """Returns the end of the token in a pointer config."""
    [header] = pointer["ignition"]["config"]["merge"][0]["httpHeaders"]
    claim = header["value"].removeprefix("Bearer ").partition(".")[0]
    seconds = json.loads(base64.urlsafe_b64decode(claim + "=="))["exp"]
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


class Site:
    """The cluster, its machines and its simulated clock.  `stack` ends everything that is begun here."""

    def __init__(self, cluster, folder, stack):
        self.cluster, self.admin, self.folder, self._stack = cluster, cluster.admin, folder, stack
        self.objects, self.settings = Objects(cluster), Settings(cluster, OLD)
        self.clock = SimulatedClock(folder / "clock")
        self.release, self.nodes, self.pools = OLD, [], {}    # `pools` has the pool of each node, by its name.
        self.root = self.firmware = self.history = None
        self._port, = daemon.free_ports(1)
        self._controller = stack.enter_context(contextlib.ExitStack())

    # ---- the cluster as an installer, the version operator and an administrator see it ----

    def lay_out(self, image):
        """Creates the objects of a cluster of the old release, which was installed almost eight years ago."""
        validity = certs.Validity(INSTALLER, INSTALLER + LIFE)
        root = certs.Authority(self.folder / "root", "root-ca", validity)
        pair = root.server("machine-config-server", [SERVER], validity)
        self.root = root.certificate.read_text()
        self.settings.put_all()
        self.settings.release(OLD, image)
        self.settings.install_release(OLD)
        self.settings.config_map("kube-system", "root-ca", {"ca.crt": self.root})
        self.set_authority_of_clients(self.authority("old-signer", begins=-325, ends=40))
        self.admin.create({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
                           "metadata": {"name": "version"}, "spec": {}})
        self.set_cluster_version(OLD)
        # The cluster makes its machines itself, so the operator keeps up the certificate of the Ignition server.
        self.admin.create({"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
                           "metadata": {"name": "workers", "namespace": MACHINES}, "spec": {}})
        # A new authority of the Ignition server is no reason to reboot.
        self.admin.create({"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration",
                           "metadata": {"name": "cluster"}, "spec": {"nodeDisruptionPolicy": {
                               "files": [{"path": ROOT_CA, "actions": [{"type": "None"}]}]}}})
        self.put_secret("openshift-config", "pull-secret", "kubernetes.io/dockerconfigjson",
                        {".dockerconfigjson": '{"auths":{}}'})
        self.put_secret(NAMESPACE, "machine-config-server-tls", "kubernetes.io/tls",
                        {"tls.crt": pair.certificate.read_text(), "tls.key": pair.key.read_text()})
        self._write_files_of_the_server()

    def _write_files_of_the_server(self):
        """Writes the files that are mounted into the controller's pod for its Ignition server."""
        self.admin.must("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {
            "metadata": {"name": "node-bootstrapper"}})
        for name in ("bootstrap-token", "certificate"):
            (self.folder / name).mkdir()
        token = self.cluster.account(NAMESPACE, "node-bootstrapper").token
        (self.folder / "bootstrap-token/token").write_text(token)
        (self.folder / "bootstrap-token/ca.crt").write_text(self.cluster.authority.certificate.read_text())
        keys = self.folder / "token-keys"
        keys.touch(mode=0o600)
        keys.write_text(secrets.token_hex(32) + "\n")
        self.mount_certificate()

    def mount_certificate(self):
        """Copies the certificate from its Secret to the server's files, as a kubelet does for a mounted Secret."""
        for name, text in self.secret(NAMESPACE, "machine-config-server-tls").items():
            new = self.folder / f"certificate/{name}.new"
            new.touch(mode=0o600)
            new.write_text(text)
            new.rename(self.folder / "certificate" / name)

    def put_secret(self, namespace, name, kind, texts):
        path = f"/api/v1/namespaces/{namespace}/secrets"
        data = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        status, _ = self.admin.request("POST", path, {"metadata": {"name": name}, "type": kind, "data": data})
        if status == 409:
            self.admin.must("PATCH", f"{path}/{name}", {"data": data}, MERGE)

    def secret(self, namespace, name):
        """Returns the texts in a Secret; {} if the Secret does not exist."""
        status, found = self.admin.request("GET", f"/api/v1/namespaces/{namespace}/secrets/{name}")
        return {key: base64.b64decode(data).decode() for key, data in found["data"].items()} if status == 200 else {}

    def authority(self, name, begins, ends):
        """Makes an authority that is valid from one day of the year to another; returns its certificate."""
        validity = certs.Validity(datetime.timedelta(days=begins), datetime.timedelta(days=ends))
        return certs.Authority(self.folder / name, "kube-apiserver-to-kubelet-signer", validity).certificate.read_text()

    def set_authority_of_clients(self, certificate):
        self.settings.config_map("openshift-config-managed", "kube-apiserver-client-ca", {"ca-bundle.crt": certificate})

    def set_cluster_version(self, release):
        self.admin.must("PATCH", f"{CONFIG}/clusterversions/version/status", {"status": {"desired": {
            "version": release, "image": "registry.test/release@sha256:" + "0" * 64}}}, MERGE)

    # ---- programs and machines ----

    def start_controller(self, release):
        """Starts the controller with the templates of a release."""
        templates = self.folder / f"templates-{release}"
        write_templates(templates, pull_secret=(PULL_SECRET, '{{.PullSecret | printf "%q"}}'),
                        root_ca=(ROOT_CA, '{{.RootCAData | toString | printf "%q"}}'),
                        release=(RELEASE_FILE, json.dumps(f"{release}\n")))
        self._controller.enter_context(Controller(
            self.cluster, f"controller-{release}", f"--templates={templates}", "--access=required",
            f"--token-keys={self.folder}/token-keys", f"--ignition-listen=127.0.0.1:{self._port}",
            f"--tls-cert={self.folder}/certificate/tls.crt", f"--tls-key={self.folder}/certificate/tls.key",
            f"--apiserver-url={self.cluster.url}", f"--bootstrap-token={self.folder}/bootstrap-token",
            environment=self.clock.environment))
        wait_until(lambda: daemon.listens("127.0.0.1", self._port), "the Ignition server listens", 60)

    def stop_controller(self):
        self._controller.close()

    def boot(self, plain):
        """Returns a machine without a config."""
        return self._stack.enter_context(Node(plain=plain, network="host", binds=self.clock.binds))

    def join(self, machine, pool):
        """Makes a machine a node of a pool, from nothing but the user data that it was created with."""
        pointer = wait_until(lambda: self.pointer(pool), f"there is user data for {pool}", 60)
        config = wait_until(lambda: self.fetch(pointer)[1], f"the server has a config for {pool}", 60, every=0.2)
        node = AgentNode(machine, self.cluster, machine.name, role=pool)
        self.clock.use_on(node)
        as_ignition.write_files(machine, config)
        as_ignition.complete_first_boot(node, config)
        node.start()
        node.wait_done(json.loads(as_ignition.file_in(config, as_ignition.FIRST_CONFIG))["metadata"]["name"], 120)
        self.nodes.append(node)
        self.pools[node.name] = pool
        return node

    def begin(self):
        """Lets the year begin: from now on, nodes that reboot start again, and the history is recorded."""
        self.firmware = self._stack.enter_context(Firmware(list(self.nodes)))
        self.settle()
        self.history = self._stack.enter_context(ClusterHistory(self.cluster))
        self.history.catch_up()

    def pointer(self, pool):
        """Returns the pointer config in the user data of a pool's new machines, or None."""
        text = self.secret(MACHINES, f"{pool}-user-data-managed").get("userData")
        return json.loads(text) if text else None

    def fetch(self, pointer):
        return as_ignition.fetch(pointer, self._port, self.clock.environment)

    def served_certificate(self):
        return ssl.get_server_certificate(("127.0.0.1", self._port)).strip()

    # ---- time and its effects ----

    def pass_until(self, day, **more):
        """Lets the time of the simulated clock pass, until the controller has looked at it."""
        self.clock.set(datetime.timedelta(days=day, **more))
        # The controller looks at the clock every hour of the real time, and whenever something changes.
        self.admin.must("PATCH", f"{GROUP}/machineconfigpools/worker", {"metadata": {"annotations": {
            "example.com/today": self.clock.now().isoformat()}}}, MERGE)
        wait_until(lambda: expiry_of(self.pointer("worker")) > self.clock.now() + datetime.timedelta(days=14),
                   f"the token of new machines is renewed on day {day}", 60)

    def targets(self):
        return {pool["metadata"]["name"]: pool["spec"]["configuration"]["name"]
                for pool in self.admin.must("GET", f"{GROUP}/machineconfigpools")["items"]}

    def reboots(self):
        return dict(self.firmware.reboots)

    def wait_for_new_targets(self, before, *pools):
        for pool in pools:
            self.objects.wait_for_target(pool, other_than=before[pool])

    def wait_for_file(self, path, text):
        wait_until(lambda: all(node.run("cat", path, check=False).stdout == text for node in self.nodes),
                   f"all nodes have the new {path}", 60, every=0.2)

    def operator(self):
        return self.admin.must("GET", OPERATOR)["status"]

    def condition(self, kind):
        """Returns (status, reason, message) of a condition of the ClusterOperator."""
        [found] = [each for each in self.operator()["conditions"] if each["type"] == kind]
        return found["status"], found.get("reason", ""), found.get("message", "")

    def wait_for_condition(self, kind, status, reason="", message=""):
        def is_so():
            have = self.condition(kind)
            return have[0] == status and reason in have[1] and message in have[2]
        wait_until(is_so, f"{kind} is {status} {reason} {message}", 60)

    def settle(self, seconds=120):
        """Waits until all nodes have the configs of their pools and the ClusterOperator reports that."""
        try:
            wait_until(lambda: not self._unsettled(), "everything is settled", seconds, every=0.1)
        except TimeoutError:
            logs = [f"{node.name} has logged:\n{node.log()}" for node in self.nodes if node.machine.running]
            raise AssertionError("\n".join([self._unsettled(), *logs])) from None
        if self.history:
            self.history.catch_up()
            assert self.history.contradictions() == []

    def _unsettled(self):
        """Describes the first pool, node or report that is not yet as it should be; returns "" if there is none."""
        summaries = {}
        for pool in self.admin.must("GET", f"{GROUP}/machineconfigpools")["items"]:
            name, target = pool["metadata"]["name"], pool["spec"].get("configuration", {}).get("name")
            nodes = [node for node in self.nodes if self.pools[node.name] == name]
            status = pool.get("status", {})
            conditions = {each["type"]: each["status"] for each in status.get("conditions", [])}
            if not target or conditions.get("Updated") != "True" or status["configuration"]["name"] != target \
                    or status["observedGeneration"] != pool["metadata"]["generation"] \
                    or status["machineCount"] != len(nodes):
                return f"the pool {name}, of {len(nodes)} nodes: {json.dumps(pool)}"
            for node in nodes:
                have = node.annotations()
                if [have.get(key) for key in ("currentConfig", "desiredConfig", "state")] != [target, target, "Done"] \
                        or self.cluster.get("node", node.name)["spec"].get("unschedulable"):
                    return f"the node {node.name}: {have}"
            summaries[name] = f"all {len(nodes)} nodes are at latest configuration {target}"
        operator = self.operator()
        versions = {each["name"]: each["version"] for each in operator["versions"]}
        conditions = {each["type"]: each["status"] for each in operator.get("conditions", [])}
        wanted = {"Available": "True", "Progressing": "False", "Degraded": "False", "Upgradeable": "True"}
        if versions != {"operator": self.release, "operator-image": f"registry/operator:{self.release}"} \
                or conditions != wanted or self.condition("Progressing")[2] != f"Cluster version is {self.release}" \
                or operator.get("extension") != summaries:
            return f"the ClusterOperator: {json.dumps(operator)}; the pools: {summaries}"
        return ""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A cluster of the old release with a master and two workers, which have joined it by the Ignition server."""
    with Cluster() as cluster, contextlib.ExitStack() as stack:
        prepare_operator_cluster(cluster)
        made = Site(cluster, tmp_path_factory.mktemp("year"), stack)
        master, worker, plain = made.boot(plain=False), made.boot(plain=False), made.boot(plain=True)
        made.lay_out(deploy.booted_commit(master))
        made.start_controller(OLD)
        for machine, pool in ((master, "master"), (worker, "worker"), (plain, "worker")):
            made.join(machine, pool)
        made.begin()
        yield made


# ---- the events of the year ----

def the_authority_of_the_kubelets_clients_is_renewed(site):
    """Day 30: the authority of the kubelets' clients is renewed, ten days before the old one ends."""
    site.pass_until(30)
    targets, reboots = site.targets(), site.reboots()
    renewed = site.authority("new-signer", begins=29, ends=394)
    site.set_authority_of_clients(renewed)
    site.wait_for_file(KUBELET_CA, renewed)
    wait_until(lambda: as_ignition.file_in(site.fetch(site.pointer("worker"))[1], KUBELET_CA) == renewed,
               "new machines get the new authority", 60, every=0.2)
    site.settle()
    assert (site.targets(), site.reboots()) == (targets, reboots)


def the_pull_secret_changes(site):
    """Day 60: the cluster gets credentials for another registry."""
    site.pass_until(60)
    targets, reboots = site.targets(), site.reboots()
    text = '{"auths":{"registry.test":{"auth":"dXNlcjpwYXNzd29yZA=="}}}'
    site.put_secret("openshift-config", "pull-secret", "kubernetes.io/dockerconfigjson", {".dockerconfigjson": text})
    site.wait_for_new_targets(targets, "master", "worker")
    site.settle()
    assert all(node.read(PULL_SECRET) == text for node in site.nodes)
    assert site.reboots() == reboots


def somebody_edits_a_file_on_the_master(site):
    """Day 90: somebody edits a file on the master, and puts it back after a quarter of an hour."""
    site.pass_until(90)
    master = site.nodes[0]
    before, targets = master.read(RELEASE_FILE), site.targets()
    master.run("tee", RELEASE_FILE, input="edited\n")
    site.wait_for_condition("Upgradeable", "False", "DegradedPool")
    # The release is installed, and an administrator has some time before it counts as a failure of the operator.
    assert site.condition("Degraded")[0] == "False"
    site.pass_until(90, minutes=15)
    site.wait_for_condition("Degraded", "True", "RequiredPoolsFailed", f"Failed to resync {OLD}")
    site.wait_for_condition("Progressing", "False", message=f"Error while reconciling {OLD}")
    wait_until(lambda: RELEASE_FILE in site.operator()["extension"]["master"], "the file is named", 60)
    master.run("tee", RELEASE_FILE, input=before)
    site.settle()
    assert site.targets() == targets


def the_certificate_of_the_ignition_server_is_rotated(site):
    """Days 199 to 202: the Ignition server gets another authority and, when machines know it, another certificate."""
    site.pass_until(ROTATION_DAY - 1)
    pointer, targets, reboots = site.pointer("worker"), site.targets(), site.reboots()
    assert not site.secret(NAMESPACE, "machine-config-server-ca")
    installers = site.served_certificate()

    site.pass_until(ROTATION_DAY)
    own = wait_until(lambda: site.secret(NAMESPACE, "machine-config-server-ca").get("tls.crt"),
                     "there is another authority", 60)
    site.wait_for_file(ROOT_CA, site.root + own)
    site.wait_for_new_targets(targets, "master", "worker")
    site.settle()
    trusted = base64.b64encode((site.root + own).encode()).decode()
    wait_until(lambda: trusted in json.dumps(site.pointer("worker")), "new machines trust both authorities", 60)
    # A machine that was created the day before trusts only the installer's authority, and is served as well.
    assert site.fetch(pointer)[0] == 200 and site.served_certificate() == installers
    assert site.reboots() == reboots

    pointer = site.pointer("worker")
    site.pass_until(ROTATION_DAY + 2)
    renewed = wait_until(lambda: (now := site.secret(NAMESPACE, "machine-config-server-tls")["tls.crt"].strip()) !=
                         installers and now, "there is another certificate", 60)
    site.mount_certificate()
    wait_until(lambda: site.served_certificate() == renewed, "the server has its new certificate", 60)
    assert site.fetch(pointer)[0] == 200
    site.settle()
    assert site.reboots() == reboots


def the_cluster_is_upgraded(site):
    """Day 230: the next release comes, with other templates and another OS image."""
    site.pass_until(230)
    with_ostree = [node for node in site.nodes if not node.machine.plain]
    [image] = {offer_image(node.machine) for node in with_ostree}
    reboots = site.reboots()
    site.stop_controller()
    site.settings.release(NEW, image)
    site.set_cluster_version(NEW)
    site.release = NEW
    site.start_controller(NEW)
    site.settle(240)
    for node in site.nodes:
        assert node.read(RELEASE_FILE) == f"{NEW}\n" and site.reboots()[node.name] > reboots[node.name]
    for node in with_ostree:
        assert deploy.booted_commit(node.machine) == image and node.read("/usr/share/release") == NEW
    assert site.history.reported("Progressing")[-2:] == [
        ("True", f"Working towards {NEW}"), ("False", f"Cluster version is {NEW}")]


def offer_image(machine):
    """Gives a machine the OS image of the new release, in the place of a registry; returns its name."""
    return deploy.commit(machine, {"/usr/share/release": NEW}, NEW, timestamp="2026-01-01 00:00:00 +0000")


def workers_get_a_kubelet_config(site):
    """Day 260: an administrator allows fewer pods on the workers."""
    site.pass_until(260)
    targets = site.targets()
    site.admin.must("POST", f"{GROUP}/kubeletconfigs", {
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "KubeletConfig", "metadata": {"name": "pods"},
        "spec": {"kubeletConfig": {"maxPods": 120}, "machineConfigPoolSelector": {
            "matchLabels": {"pools.operator.machineconfiguration.openshift.io/worker": ""}}}})
    site.wait_for_new_targets(targets, "worker")
    site.settle(180)
    for node in site.nodes:
        assert ("maxPods: 120\n" in node.read(KUBELET)) == (site.pools[node.name] == "worker")
    assert site.targets()["master"] == targets["master"]


def a_node_moves_to_a_new_pool(site):
    """Day 290: an administrator makes the pool infra, with a config of its own, of one of the workers."""
    site.pass_until(290)
    targets, moved = site.targets(), site.nodes[-1]
    site.objects.config("50-infra", role="infra", files={INFRA_FILE: "infra"})
    site.objects.custom_pool("infra")
    site.objects.wait_for_target("infra")
    site.admin.must("PATCH", f"/api/v1/nodes/{moved.name}", {"metadata": {"labels": {
        "node-role.kubernetes.io/infra": ""}}})
    site.pools[moved.name] = "infra"
    site.settle()
    assert [node.has(INFRA_FILE) for node in site.nodes] == [node is moved for node in site.nodes]
    assert "maxPods: 120\n" in moved.read(KUBELET)
    assert {name: site.targets()[name] for name in targets} == targets
    wait_until(lambda: site.pointer("infra"), "there is user data for machines of the new pool", 60)


def a_new_machine_joins(site):
    """Day 340: the cluster makes another worker, from a disk with the OS image of the old release."""
    old = site.pointer("worker")
    site.pass_until(340)
    without_token = copy.deepcopy(site.pointer("worker"))
    del without_token["ignition"]["config"]["merge"][0]["httpHeaders"]
    # A token from day 290 was valid for thirty days.
    assert site.fetch(old)[0] == site.fetch(without_token)[0] == 401
    machine = site.boot(plain=False)
    image = offer_image(machine)
    new, other = site.join(machine, "worker"), site.nodes[1]
    assert deploy.booted_commit(machine) == image == deploy.booted_commit(other.machine)
    assert site.cluster.url in new.read("/etc/kubernetes/kubeconfig")
    for path in FILES_OF_A_NEW_MACHINE:
        assert new.read(path) == other.read(path), path
    site.settle()


YEAR = [the_authority_of_the_kubelets_clients_is_renewed, the_pull_secret_changes, somebody_edits_a_file_on_the_master,
        the_certificate_of_the_ignition_server_is_rotated, the_cluster_is_upgraded, workers_get_a_kubelet_config,
        a_node_moves_to_a_new_pool, a_new_machine_joins]


def test_everything_that_happens_in_a_year_reaches_the_nodes(site):
    for event in YEAR:
        began = time.monotonic()
        event(site)
        print(f"{event.__doc__}  ({time.monotonic() - began:.1f} s)")
    for node in site.nodes:
        node.pintle("verify")
