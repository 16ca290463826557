# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes control plane on loopback: etcd, API server, controller manager and scheduler.

It checks requests as a production cluster does (TLS, RBAC, Node authorizer), with the admission plug-ins that OpenShift
turns on, and logs the requests of our accounts (machines.audit).  It has no kubelets: machines.kubelet makes their
requests, or machines.real_kubelet runs real ones.  Several clusters can run at once.
"""

import http.client
import pathlib
import secrets
import shlex
import shutil
import sys
import tempfile
import threading
import time

from . import api_client, audit, by_hand, certs, control_plane, daemon, grants, kubelet, pod_policies, programs
from .cluster_user import Account, User
from .daemon import Daemon
from .wait import wait_until

SERVICE = "10.96.0.1"    # The address by which pods know the API server.
_PATIENCE = 60    # Seconds for a server to become ready on a busy machine.
# The servers use little memory, so with the default the Go runtime would collect garbage often, at a high cost.  With two
# processors for each server, the same requests need almost twice the processor time, because threads wake each other.
_GO_ENVIRONMENT = {"GOGC": "200", "GOMAXPROCS": "1"}


class Cluster:
    """The control plane, ready for use inside `with`.  `validity` is that of its server's certificate.

    At the end of `with`, it raises an error if a request of ours was refused and `refusals` does not expect that.
    """

    def __init__(self, address="127.0.0.1", checks_refusals=True, lost_after="24h", validity=certs.CURRENT):
        self.address = address    # All servers listen here.  Nodes in another network namespace cannot reach loopback.
        self._lost_after = lost_after    # A node counts as lost if nobody has renewed its lease for this time.
        self.folder, self.refusals = None, None
        self._checks_refusals, self._validity = checks_refusals, validity
        self.daemons = ()
        self._nodes, self._users = {}, {}
        self._nodes_lock = threading.Lock()    # Tests have a thread for each of several programs of a node.
        self.resources = api_client.Resources()

    def __enter__(self):
        self.programs = control_plane.programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pintle-cluster-"))
        self.refusals = audit.Refusals(audit.log_in(self.folder))
        try:
            self._write_kubectl()
            self._make_credentials()
            daemon.with_free_ports(5, self.address, self._start)
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            for server in self.daemons:
                if kind is None:
                    server.check()
                elif issubclass(kind, Exception):
                    print(f"--- the end of the log of {server.name}:\n{server.end_of_log()}", file=sys.stderr)
            if kind is None and self._checks_refusals:
                self.refusals.check()
        finally:
            self._clean_up()

    @property
    def url(self):
        return f"https://{self.address}:{self._ports['apiserver']}"

    @property
    def ports(self):
        return list(self._ports.values())

    @property
    def version(self):
        return self.admin.must("GET", "/version")["gitVersion"]

    def api(self, group, *versions):
        """Returns the first of these versions of an API group that the API server serves, as GROUP/VERSION."""
        return control_plane.served_version(self._groups, group, *versions)

    def has(self, group_version, resource):
        """Returns whether the API server serves this resource."""
        return control_plane.has_resource(self.admin.request("GET", f"/apis/{group_version}")[1], resource)

    @property
    def eviction_api(self):
        """Returns the API version of Evictions that the server expects."""
        return control_plane.body_version(self.admin.must("GET", "/api/v1"), "pods/eviction")

    @property
    def plugins(self):
        """Returns the admission plug-ins that are on, as on OpenShift; a version may lack some of them.

        With OwnerReferencesPermissionEnforcement, a user needs a right on the owner to set blockOwnerDeletion.
        """
        return control_plane.known_plugins(control_plane.help_of(self.programs / "kube-apiserver"), "NodeRestriction",
                                           "OwnerReferencesPermissionEnforcement", pod_policies.PLUGIN)

    def kubectl(self, *words, **options):
        """Runs kubectl as the administrator."""
        return self.admin.kubectl(*words, **options)

    def get(self, *words):
        return self.admin.get(*words)

    def apply(self, text):
        return self.admin.apply(text)

    def node(self, name):
        """Returns the user of the node's kubelet and agent."""
        with self._nodes_lock:
            if name not in self._nodes:
                pair = self.authority.client(f"node-{name}", f"system:node:{name}", "system:nodes")
                self._nodes[name] = User(self, f"system:node:{name}", pair)
            return self._nodes[name]

    def node_kubeconfig(self, name):
        return self.node(name).kubeconfig

    def account(self, namespace, name, *rights):
        """Returns a ServiceAccount as a user; the files `rights` create the account and its rights."""
        if (namespace, name) not in self._users:
            if rights:
                self.admin.apply_files(*rights)
            grants.wait_until_known(self.admin)
            self._users[namespace, name] = Account(self, namespace, name)
        return self._users[namespace, name]

    def administrator(self, name):
        """Returns an administrator of another name than the one who makes the requests of the tests."""
        if name not in self._users:
            self._users[name] = User(self, name, self.authority.client(name, name, "system:masters"))
        return self._users[name]

    def add_node(self, name, role="worker"):
        """Registers a node as its kubelet would.  The administrator sets the role, since a node must not choose it."""
        user = self.node(name)
        kubelet.register(user, name)
        labels = {f"node-role.kubernetes.io/{role}": ""}
        self.admin.must("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}})
        return user

    def run_pods(self, name):
        """Does the kubelet's work for the node's pods once; returns the running ones."""
        return kubelet.run_pods(self.node(name), name)

    def stop_apiserver(self):
        self.apiserver.stop()

    def start_apiserver(self):
        with self.refusals.ignored_at_the_start():
            self.apiserver.start()
            self._wait_for_apiserver()
        # A server that is ready may still answer 404 for kinds that were added to it.
        for crd in self.admin.must("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]:
            spec = crd["spec"]
            version = next(version["name"] for version in spec["versions"] if version["served"])
            path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1"
            self.apiserver.wait_for(lambda path=path: self.admin.request("GET", path)[0] == 200,
                                    f"{spec['names']['plural']} are served", _PATIENCE)

    def stop_etcd(self):
        self.etcd.stop()

    def start_etcd(self):
        self._start_etcd()
        if self.apiserver.pid:
            self._wait_for_apiserver()

    def connection(self, pair=None):
        return daemon.https(self.address, self._ports["apiserver"], self.authority.certificate, pair)

    def _write_kubectl(self):
        """Installs a kubectl that keeps its cache with the cluster, and not in the caller's home directory."""
        self.commands = self.folder / "bin"
        self.commands.mkdir()
        kubectl = self.commands / "kubectl"
        words = shlex.join([str(self.programs / "kubectl"), f"--cache-dir={self.folder}/kubectl"])
        # kubectl accepts no option before the name of a plug-in.
        kubectl.write_text(f'#!/bin/sh\n[ "$1" != pintle ] || exec {shlex.quote(str(self.programs / "kubectl"))} "$@"\n'
                           f'exec {words} "$@"\n', encoding="utf-8")
        kubectl.chmod(0o755)

    def wait_until_kinds_are_served(self):
        """Waits until the API server serves all custom kinds.

        `kubectl wait` fails instead of waiting if a kind has no conditions yet, as just after its creation.
        """
        def are_served():
            kinds = self.admin.must("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]
            return all(any((each["type"], each["status"]) == ("Established", "True")
                           for each in kind.get("status", {}).get("conditions") or []) for kind in kinds)
        wait_until(are_served, "all kinds are served", _PATIENCE)

    def link_pintle(self):
        """Puts Pintle's programs beside kubectl, which finds its plug-in there."""
        for name in ("pintle", "pintle-controller"):
            (self.commands / name).symlink_to(programs.here(name))
        (self.commands / "kubectl-pintle").symlink_to(programs.here("pintle"))

    def _make_credentials(self):
        self.authority = certs.Authority(self.folder / "pki", validity=self._validity)
        self._server = self.authority.server("server", [
            "localhost", self.address, SERVICE, "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
            self._validity)
        self._admin_pair = self.authority.client("admin", "admin", "system:masters")
        self._admin_token = secrets.token_hex(16)
        (self.folder / "tokens.csv").write_text(f'{self._admin_token},admin,admin,"system:masters"\n', encoding="ascii")
        self._controller_manager_pair = self.authority.client("controller-manager", "system:kube-controller-manager")
        self._scheduler_pair = self.authority.client("scheduler", "system:kube-scheduler")
        # No client has a certificate of this authority, so nobody can impersonate another user.
        self._front_proxy = certs.Authority(self.folder / "pki/front-proxy", "Pintle test front proxy")
        self._service_account_pair = self.authority.client("service-accounts", "service-accounts")

    def _start(self, ports):
        self._ports = dict(zip(("etcd", "peer", "apiserver", "controller-manager", "scheduler"), ports))
        self._describe_daemons()
        try:
            self._start_etcd()
            self.start_apiserver()
            if pod_policies.PLUGIN in self.plugins:
                pod_policies.create(self.admin)
            self.controller_manager.start()
            self.scheduler.start()
            self._wait_for_manager_and_scheduler()
            # The groups are read once, since a test may stop the API server later.
            self._groups = self.admin.must("GET", "/apis")
        except BaseException:
            self._stop_all()
            shutil.rmtree(self.folder / "etcd", ignore_errors=True)    # etcd stores its ports here.
            raise

    def _start_etcd(self):
        self.etcd.start()
        self.etcd.wait_for(lambda: daemon.status_of(self._plain(self._ports["etcd"]), "/health") == 200,
                           "etcd is healthy", _PATIENCE)

    def _wait_for_apiserver(self):
        self.etcd.check()
        self.apiserver.wait_for(lambda: daemon.status_of(self.connection(self.admin.pair), "/readyz") == 200,
                                "the API server is ready", _PATIENCE)

    def _wait_for_manager_and_scheduler(self):
        for server in (self.controller_manager, self.scheduler):
            server.wait_for(lambda port=self._ports[server.name]: daemon.status_of(
                daemon.https(self.address, port, self.authority.certificate), "/healthz") == 200,
                f"the {server.name} is healthy", _PATIENCE)
        # Pods can be created once the controllers have made their account and, in versions that need one, its token.
        pod = {"metadata": {"name": "first"}, "spec": {"containers": [{"name": "c", "image": "example.com/c"}]}}
        pods = "/api/v1/namespaces/default/pods?dryRun=All"
        self.controller_manager.wait_for(lambda: self.admin.request("POST", pods, pod)[0] == 201,
                                         "pods can be created", _PATIENCE)

    def _plain(self, port):
        return http.client.HTTPConnection(self.address, port)

    def _describe_daemons(self):
        self.admin = User(self, "admin", self._admin_pair, self._admin_token)
        self.etcd = self._daemon("etcd", control_plane.etcd(self.programs), **self._etcd_options())
        self.apiserver = self._daemon("apiserver", self.programs / "kube-apiserver", **self._apiserver_options())
        self.controller_manager = self._client_daemon("controller-manager", self._controller_manager_pair,
                                                      **self._controller_manager_options())
        self.scheduler = self._client_daemon("scheduler", self._scheduler_pair)
        self.daemons = (self.etcd, self.apiserver, self.controller_manager, self.scheduler)

    def _daemon(self, name, program, /, **options):
        return Daemon(self.folder / f"{name}.log", program,
                      *(f"--{option.replace('_', '-')}={value}" for option, value in options.items()),
                      environment=_GO_ENVIRONMENT)

    def _client_daemon(self, name, pair, **more):
        """Returns a server that is a client of the API server: the controller manager or the scheduler."""
        program = self.programs / f"kube-{name}"
        known = control_plane.options_of(program)
        # port=0 closes the port without TLS, which newer versions do not have.  The default rate limit would delay the
        # start by seconds.
        wanted = control_plane.only_known(known, port=0, kube_api_qps=1000, kube_api_burst=1000)
        return self._daemon(name, program, **self._client_options(name, pair), **wanted, **more)

    def _etcd_options(self):
        client, peer = (f"http://{self.address}:{self._ports[name]}" for name in ("etcd", "peer"))
        return {"name": "pintle", "data_dir": self.folder / "etcd", "unsafe_no_fsync": "true",
                "listen_client_urls": client, "advertise_client_urls": client, "listen_peer_urls": peer,
                "initial_advertise_peer_urls": peer, "initial_cluster": f"pintle={peer}"}

    def _apiserver_options(self):
        return {"etcd_servers": f"http://{self.address}:{self._ports['etcd']}",
                "bind_address": self.address, "secure_port": self._ports["apiserver"],
                "tls_cert_file": self._server.certificate, "tls_private_key_file": self._server.key,
                "client_ca_file": self.authority.certificate, "token_auth_file": self.folder / "tokens.csv",
                "requestheader_client_ca_file": self._front_proxy.certificate,
                "authorization_mode": "Node,RBAC",
                "enable_admission_plugins": ",".join(self.plugins), **audit.options(self.folder),
                **control_plane.without_features(control_plane.help_of(self.programs / "kube-apiserver"),
                                                 "APIPriorityAndFairness"),
                # Newer versions have no beta versions by default. Each one that is served makes the start take longer.
                "runtime_config": "api/beta=false,policy/v1beta1=true,discovery.k8s.io/v1beta1=true",
                "allow_privileged": "true", "service_cluster_ip_range": "10.96.0.0/16",
                "service_account_issuer": "https://kubernetes.default.svc",
                "service_account_key_file": self._service_account_pair.certificate,
                "service_account_signing_key_file": self._service_account_pair.key,
                # A loopback address is no valid endpoint for the service `kubernetes`, which nothing here uses.
                "endpoint_reconciler_type": "none"}

    def _client_options(self, name, pair):
        kubeconfig = User(self, name, pair).kubeconfig
        return {"kubeconfig": kubeconfig, "authentication_kubeconfig": kubeconfig,
                "authorization_kubeconfig": kubeconfig, "leader_elect": "false",
                "bind_address": self.address, "secure_port": self._ports[name],
                "tls_cert_file": self._server.certificate, "tls_private_key_file": self._server.key}

    def _controller_manager_options(self):
        return {"use_service_account_credentials": "true",
                "service_account_private_key_file": self._service_account_pair.key,
                "root_ca_file": self.authority.certificate,
                "cluster_signing_cert_file": self.authority.certificate,
                "cluster_signing_key_file": self.authority.pair.key,
                # A simulated kubelet does not renew the lease of its node.
                "node_monitor_grace_period": self._lost_after,
                # The manager creates this folder, by default below /usr.
                "flex_volume_plugin_dir": self.folder / "flex-volumes"}

    def _stop_all(self):
        for server in reversed(self.daemons):
            server.stop()

    def _clean_up(self):
        if self.folder is None:
            return
        self._stop_all()
        audit.keep(self.folder)
        shutil.rmtree(self.folder)
        self.folder = None


def prepare():
    """Makes the programs of a cluster, or finds them in the cache."""
    return control_plane.programs()


def main(argv):
    """`cluster [-- COMMAND...]`: runs a command or a shell, or waits, with a KUBECONFIG for the cluster."""
    by_hand.check_arguments("cluster", argv)
    started = time.monotonic()
    # A person may send requests that the API server refuses.
    with Cluster(checks_refusals=False) as cluster:
        print(f"Kubernetes {cluster.version} is ready after {time.monotonic() - started:.1f} s", file=sys.stderr)
        cluster.link_pintle()
        return by_hand.use(argv, {"KUBECONFIG": str(cluster.admin.kubeconfig)}, cluster.commands)
