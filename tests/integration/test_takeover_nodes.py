# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle-controller takeover start --daemons` with real agents.

Each node passes from the operator's daemon to its agent, and back.

The cluster and its nodes are real.  Stand-ins take the place of the Machine Config Operator's programs.
"""

import contextlib
import json
import threading
import urllib.parse

import pytest

from machines import grants
from machines.agent_node import PREFIX, AgentNode, Watch, create_rendered
from machines.background_work import BackgroundWork
from machines.certs import named_authority
from machines.cluster import Cluster
from machines.controller import DEPLOY, GROUP, Controller, Objects
from machines.daemon import Daemon
from machines.deadly_proxy import AFTER, DeadlyProxy
from machines.installed import file, machine_config
from machines.node import Node
from machines.openshift_settings import Settings
from machines.wait import wait_until
from test_agent_handover import LABEL, STATE, stands_by
from test_takeover import (IDENTITY, KEPT, MASTER, OLD, OURS, PROGRAM, RECORD, SERVERS, Kubelets, OldProgram, OurReplica,
                           create_deployments, daemon_nodes, daemon_set, everything, forget_controller, handover_of,
                           holders, prepare_openshift, takeover, takeover_user)

NODES = ("worker-0", "worker-1")
DAEMON = "machine-config-daemon"
UNIT = f"{DAEMON}.service"
FOLDER = "/etc/machine-config-daemon"
CLIENT_CA = "/etc/kubernetes/kubelet-ca.crt"
HANDED_OVER = "/var/lib/pintle/handed-over"
# The annotations by which the operator and its daemon ask and answer each other.
CONFIG_KEYS = ("currentConfig", "desiredConfig", "currentImage", "desiredImage", "state", "reason", "desiredDrain",
               "lastAppliedDrain")
# Each node goes through these pairs of its label and the annotation that answers it.
TO_AGENT = (("awaited", "standby"), ("acts", "standby"), ("acts", "begins"), ("acts", "acts"))
TO_DAEMON = (("leaves", "acts"), ("leaves", "standby"), ("", "standby"))
# The daemon takes a moment to end, so an agent that did not wait for the end would begin while the daemon still acts.
PROGRAM_OF_DAEMON = """
    trap 'sleep 1.5; echo the daemon ends; exit 0' TERM
    echo the daemon begins
    while :; do sleep infinity & wait; done
"""
# Lines of a node's log: who begins to act on the node, or does not act any more.
TURNS = {"the daemon begins": ("daemon", True), "the daemon ends": ("daemon", False),
         "is handed over to this agent": ("agent", True), "This agent stands by": ("agent", False)}
WRITE_FILE = 'mkdir --parents "${1%/*}" "${2%/*}"; [ -e "$1" ] || : >"$2"; cat >"$1"'


class NodeDaemon(BackgroundWork):
    """Stands in for the operator's daemon on one node.

    A unit of the node logs when the daemon begins and ends.  While it runs, a thread of the test applies configs, and
    leaves the same files on the node as the operator's daemon.
    """

    def __init__(self, node):
        super().__init__()
        self._node = node

    def begin(self):
        if self.has_begun():
            return
        self._node.run("systemd-run", f"--unit={UNIT}", "--description=The daemon of the operator", "/bin/sh", "-c",
                       PROGRAM_OF_DAEMON)
        super().begin()

    def end(self):
        """Ends the daemon, after the change that is under way."""
        if self.has_begun():
            super().end()
            self._node.run("systemctl", "stop", UNIT)

    def work(self):
        while not self.ending.wait(0.1):
            have = self._node.annotations()
            if have.get("desiredConfig", "") != have.get("currentConfig", ""):
                self._apply(have["desiredConfig"])

    def _apply(self, name):
        current = f"{FOLDER}/currentconfig"
        config = self._node.user.must("GET", f"{GROUP}/machineconfigs/{name}")
        before = files_of(json.loads(self._node.read(current))) if self._node.has(current) else {}
        self._annotate(state="Working")
        for path in before.keys() - files_of(config).keys():
            self._node.run("rm", path, stamp_of(path))
        for path, text in files_of(config).items():
            self._node.run("sh", "-c", WRITE_FILE, "sh", path, stamp_of(path), input=text)
        self._node.run("tee", current, input=json.dumps(config))
        self._annotate(state="Done", reason="", currentConfig=name)

    def _annotate(self, **values):
        self._node.user.must("PATCH", f"/api/v1/nodes/{self._node.name}", {
            "metadata": {"annotations": {PREFIX + key: value for key, value in values.items()}}})


def files_of(config):
    return {each["path"]: urllib.parse.unquote(each["contents"]["source"].removeprefix("data:,"))
            for each in config["spec"]["config"].get("storage", {}).get("files", [])}


def stamp_of(path):
    """Returns the file by which the operator remembers that a file does not come from the OS."""
    return f"{FOLDER}/noorig{path}.mcdnoorig"


class KubeletsWithDaemons(Kubelets):
    """Runs the pods of all nodes, and the operator's daemon on each node that has its pod."""

    def __init__(self, cluster, daemons):
        super().__init__(cluster)
        self._daemons = daemons

    def tend(self, pod):
        if pod["metadata"]["labels"]["app"] == DAEMON:
            daemon = self._daemons[pod["spec"]["nodeName"]]
            if "deletionTimestamp" in pod["metadata"]:
                daemon.end()
            else:
                daemon.begin()
        super().tend(pod)


class Handovers(Watch):
    """Records how nodes pass from one program to the other: their labels, the agents' answers, and their configs."""

    path = "/api/v1/nodes"

    def __init__(self, cluster):
        super().__init__(cluster)
        self.steps, self.configs = [], {}
        self._last, self._versions = {}, {}

    def __enter__(self):
        super().__enter__()
        self.catch_up()
        self.steps.clear()    # The watch began with the nodes as they were, in any order.
        return self

    def receive(self, thing):
        metadata = thing["metadata"]
        name, annotations = metadata["name"], metadata.get("annotations", {})
        step = metadata.get("labels", {}).get(LABEL, ""), annotations.get(STATE, "")
        if self._last.get(name) != step:
            self.steps.append((name, *step))
        self._last[name] = step
        self.configs.setdefault(name, set()).add(config_of(thing))
        self._versions[name] = metadata["resourceVersion"]

    def catch_up(self):
        """Waits until the watch has delivered all nodes as they are now."""
        now = {node["metadata"]["name"]: node["metadata"]["resourceVersion"]
               for node in self._cluster.admin.must("GET", self.path)["items"]}
        wait_until(lambda: all(int(self._versions.get(name, 0)) >= int(version) for name, version in now.items()),
                   "the watch has delivered all nodes", 60)


def config_of(node):
    annotations = node["metadata"].get("annotations", {})
    return tuple(annotations.get(PREFIX + key, "") for key in CONFIG_KEYS)


def actor_on(node):
    """Returns who acts on a node: "daemon", "agent" or None.  Raises an error if both have ever acted at once."""
    node.run("journalctl", "--sync")
    log = node.run("journalctl", "--output=cat", "--unit=pintled.service", f"--unit={UNIT}").stdout
    acts = None
    for line in log.splitlines():
        for text, (who, begins) in TURNS.items():
            if text not in line:
                continue
            assert not (begins and acts), f"on {node.name}, the {who} begins beside the {acts}:\n{log}"
            if begins or acts == who:
                acts = who if begins else None
    return acts


class Site:
    """A cluster of the operator, on whose nodes agents stand by.  Its worker pool has the config `first`."""

    def __init__(self, cluster, nodes, first):
        self.cluster, self.nodes, self.first = cluster, nodes, first
        self.admin, self.objects = cluster.admin, Objects(cluster)
        self.before = everything(self.admin)

    def configs(self):
        return {node["metadata"]["name"]: config_of(node) for node in self.admin.must("GET", "/api/v1/nodes")["items"]}

    def handovers(self):
        return {name: handover_of(self.cluster, name) for name in NODES}

    def state(self):
        objects = everything(self.admin)
        # While Pintle's controller leads, it writes this annotation with a time.
        for thing in objects:
            thing["metadata"].get("annotations", {}).pop(KEPT, None)
            if thing["metadata"].get("annotations") == {}:
                del thing["metadata"]["annotations"]
        return objects, self.configs(), self.handovers(), daemon_nodes(self.cluster)

    def wait_for_actor(self, who):
        wait_until(lambda: all(actor_on(node) == who for node in self.nodes), f"the {who} acts on all nodes", 60)

    def kill_after_a_label(self, *words):
        """Runs a takeover, and kills it when the API server has received its first write of a Node."""
        killed = threading.Event()
        with DeadlyProxy(self.cluster, takeover_user(self.cluster), 1, AFTER, counted="/nodes/") as proxy:
            kubeconfig = self.cluster.folder / "killed.kubeconfig"
            kubeconfig.write_text(proxy.kubeconfig(), encoding="ascii")
            program = Daemon(self.cluster.folder / "killed.log", PROGRAM, "takeover", *words,
                             f"--kubeconfig={kubeconfig}")

            def kill():
                program.stop()
                killed.set()
            proxy.kill = kill
            program.start()
            is_killed = killed.wait(60)
            program.stop()
        assert is_killed, f"takeover {words} has written no Node:\n{program.end_of_log()}"


def create_nodes(cluster, stack):
    """Boots the nodes, with agents that are not started yet.

    If an agent rebooted its node, the node would stay off, and the next command in it would fail.
    """
    nodes = [AgentNode(stack.enter_context(Node(plain=True, network="host")), cluster, name,
                       "[Kubernetes]\nWaitForHandover=yes\n") for name in NODES]
    daemons = {node.name: NodeDaemon(node) for node in nodes}
    for daemon in daemons.values():
        stack.push(daemon)    # The kubelets begin and end it; the end of `with` raises its error.
    stack.enter_context(KubeletsWithDaemons(cluster, daemons))
    return nodes


def create_daemon_sets(admin):
    admin.must("POST", SERVERS, daemon_set("machine-config-server", {MASTER: ""}))
    # A pod with this grace period exists until its kubelet has ended it.
    admin.must("POST", SERVERS, daemon_set(DAEMON, {"kubernetes.io/os": "linux"}, grace=600))


def install_configs(cluster, nodes):
    """Gives all nodes their first config, as the operator and its daemon do; returns its name."""
    objects = Objects(cluster)
    for role in ("master", "worker"):
        objects.config(f"00-{role}", role=role, files={"/etc/base": "1"})
    # Here Pintle's controller stands in for the operator: it makes the ControllerConfig and the rendered configs.
    with Controller(cluster, "before", "--operator=yes"):
        first = objects.wait_for_target("worker")
        create_daemon_sets(cluster.admin)
        for node in nodes:
            node.annotate(desiredConfig=first, desiredDrain=f"uncordon-{first}", lastAppliedDrain=f"uncordon-{first}")
        for node in nodes:
            node.wait_done(first)
        wait_until(lambda: objects.pool("worker")["status"].get("updatedMachineCount") == len(nodes),
                   "the pool has counted its nodes", 60)
        for pool in ("master", "worker"):
            objects.wait_until_updated(pool)
    forget_controller(cluster.admin)
    return first


@pytest.fixture(scope="module")
def site():
    with Cluster() as cluster, contextlib.ExitStack() as stack:
        prepare_openshift(cluster)
        cluster.admin.apply_files(DEPLOY / "agent/rbac.yaml")
        grants.wait_until_known(cluster.admin)
        policy = {"files": [{"path": "/etc/live", "actions": [{"type": "None"}]}]}
        cluster.admin.create({"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration",
                              "metadata": {"name": "cluster"}, "spec": {"nodeDisruptionPolicy": policy}})
        settings = Settings(cluster)
        settings.put_all()
        settings.install_release()
        nodes = create_nodes(cluster, stack)
        first = install_configs(cluster, nodes)
        create_deployments(cluster.admin)
        old = [stack.enter_context(OldProgram(cluster, lease, name)) for lease, name in OLD.items()]
        wait_until(lambda: all(program.acts for program in old), "the operator acts", 60)
        stack.enter_context(OurReplica(cluster))
        wait_until(lambda: cluster.admin.must("GET", OURS).get("status", {}).get("readyReplicas"),
                   "our replica is ready", 60)
        for node in nodes:
            node.start()
        site = Site(cluster, nodes, first)
        wait_until(lambda: set(site.handovers().values()) == {("", "standby")}, "the agents stand by", 60)
        site.wait_for_actor("daemon")
        yield site


@pytest.fixture
def handed_over(site):
    """The site, after its nodes were given to their agents."""
    takeover(site.cluster, "start", "--daemons")
    return site


def test_nodes_are_given_to_their_agents_one_after_the_other(site):
    configs_before = site.configs()
    assert takeover(site.cluster, "check", "--daemons").endswith("A takeover can begin.\n")
    plan = takeover(site.cluster, "plan", "--daemons")
    assert all(f"Node {name}: its label {LABEL} becomes awaited" in plan for name in NODES)
    assert site.state() == (site.before, configs_before, dict.fromkeys(NODES, ("", "standby")), set(NODES))

    with Handovers(site.cluster) as history:
        printed = takeover(site.cluster, "start", "--daemons")
        history.catch_up()
    steps = [line.split()[0] for line in printed.splitlines()]
    assert steps[steps.index("daemons"):] == ["daemons", *NODES, "All"]
    # Each node was begun after the one before was ended, and none of them got another config.
    assert history.steps == [(name, *step) for name in NODES for step in TO_AGENT]
    assert history.configs == {name: {configs_before[name]} for name in NODES}
    assert all(holder.startswith(IDENTITY) for holder in holders(site.cluster).values())
    assert not daemon_nodes(site.cluster)
    for node in site.nodes:
        assert actor_on(node) == "agent" and node.status()["running"] and node.read("/etc/base") == "1"
        assert node.run("systemctl", "is-active", UNIT, check=False).stdout.strip() == "inactive"
    assert takeover(site.cluster, "start", "--daemons") == "All steps are done.\n"


def test_the_agents_apply_what_is_rolled_out(handed_over):
    site = handed_over
    configs_before = site.configs()
    site.objects.config("10-more", files={"/etc/live/more": "1"})
    target = site.objects.wait_for_target("worker", other_than=site.first)
    for node in site.nodes:
        node.wait_done(target)
        assert node.read("/etc/live/more") == "1"
    site.objects.wait_until_updated("worker", target)
    site.objects.remove_config("10-more")
    site.objects.wait_until_updated("worker", site.first)
    assert not any(node.has("/etc/live/more") for node in site.nodes)
    assert site.configs() == configs_before
    assert all(actor_on(node) == "agent" for node in site.nodes)


def test_a_renewed_certificate_reaches_the_nodes(handed_over):
    settings, name = Settings(handed_over.cluster), ("openshift-config-managed", "kube-apiserver-client-ca")
    # The last authority is the one from before the takeover.
    for authority in (named_authority("renewed"), named_authority("clients")):
        settings.config_map(*name, {"ca-bundle.crt": authority})
        for node in handed_over.nodes:
            wait_until(lambda node=node, authority=authority: node.has(CLIENT_CA) and node.read(CLIENT_CA) == authority,
                       f"{node.name} has the authority", 60)
    assert all(actor_on(node) == "agent" for node in handed_over.nodes)


def test_a_takeover_that_is_killed_after_each_label_of_a_node_ends_the_same(handed_over):
    site = handed_over
    state = site.state()
    with Handovers(site.cluster) as history:
        # A node gets the label "leaves", and loses it.
        for _ in NODES * 2:
            site.kill_after_a_label("undo")
        assert {label for label, _ in site.handovers().values()} == {""}
        # A node gets the label "awaited", and then "acts".
        for _ in NODES * 2:
            site.kill_after_a_label("start", "--daemons")
        takeover(site.cluster, "start", "--daemons")
        history.catch_up()
    assert site.state() == state
    assert history.configs == {name: {state[1][name]} for name in NODES}
    for name in NODES:
        assert [step[1:] for step in history.steps if step[0] == name] == [*TO_DAEMON, *TO_AGENT]
    assert all(actor_on(node) == "agent" for node in site.nodes)


def test_nodes_are_given_back_and_their_agents_wait_again(handed_over):
    site = handed_over
    configs_before = site.configs()
    with Handovers(site.cluster) as history:
        takeover(site.cluster, "undo")
        history.catch_up()
    assert history.steps == [(name, *step) for name in NODES for step in TO_DAEMON]
    assert history.configs == {name: {configs_before[name]} for name in NODES}
    wait_until(lambda: holders(site.cluster) == OLD, "the operator holds its leases", 60)
    assert everything(site.admin) == site.before and site.admin.request("GET", RECORD)[0] == 404
    # The cluster restarts the daemon's pods once more when the DaemonSet has its former values again.
    wait_until(lambda: daemon_nodes(site.cluster) == set(NODES), "the daemon runs on all nodes", 60)
    site.wait_for_actor("daemon")

    # From now on, the daemon does what the operator wants, and the agents nothing.
    logs = [node.log() for node in site.nodes]
    config = create_rendered(site.cluster, "rendered-worker-of-the-operator", machine_config([
        file("/etc/base", "1"), file("/etc/live/more", "2")])["spec"])
    for node in site.nodes:
        node.annotate(desiredConfig=config)
    for node in site.nodes:
        node.wait_done(config)
        assert node.read("/etc/live/more") == "2" and stands_by(node) and not node.has(HANDED_OVER)
        assert actor_on(node) == "daemon"
    assert [node.log() for node in site.nodes] == logs
