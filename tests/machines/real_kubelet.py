# SPDX-License-Identifier: Apache-2.0
"""A real kubelet with containerd and runc, for a node of a test cluster.

They run beside the node, because a container of systemd-nspawn has no controllers of cgroups, without which no pod
runs.  They have the node's network, and namespaces of their own for processes, mounts and cgroups.  So they have the
usual paths in /var and /run, and nothing of them remains when they are stopped, not even if the test program is killed.

Only the first version of cgroups can be used.
"""

import contextlib
import json
import pathlib
import shlex
import shutil
import tempfile
import uuid

from . import control_plane, kubelet_program, pod_images, shell
from .supervised import SupervisedProcess
from .wait import wait_until

_NEEDED_CONTROLLERS = {"cpu", "cpuacct", "cpuset", "memory"}
_PATIENCE = 60    # Seconds.
_NAMESPACE = "k8s.io"    # All that containerd has for a kubelet is in this namespace.
# The kubelet sets these and would change the whole machine, so it gets files in their place.
_SETTINGS = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
             "kernel/keys/root_maxkeys": 1_000_000, "kernel/keys/root_maxbytes": 25_000_000}
_CONTAINERD = """version = 2
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
address = "{folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
# The root of a test machine may have no right to lower this score, and then no pod would start.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "{folder}/cni"
"""
# This script is the first process of the node's own PID namespace, and all others end with it.
_SCRIPT = """
mount -t proc proc /proc
cd {folder}/settings
find . -type f | while read -r setting; do mount --bind "$setting" "/proc/sys/$setting"; done
cd /
mount -t tmpfs -o mode=0755 tmpfs /run
mount --bind {folder}/var /var
umount --recursive /sys/fs/cgroup
mount -t tmpfs -o mode=0755 tmpfs /sys/fs/cgroup
{mounts}
containerd --config {folder}/containerd.toml >{folder}/containerd.log 2>&1 &
containerd=$!
# A kubelet ends if containerd does not answer yet.
until grep -qs "Start streaming server" {folder}/containerd.log; do
  kill -0 $containerd
  sleep 0.05
done
{kubelet} &
wait $!
"""


def hierarchies():
    """Returns the mounted hierarchies of the first version of cgroups, as {what they control: folder}."""
    found = {}
    for line in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, after = line.split(" - ")
        kind, _, options = after.split()
        if kind == "cgroup":
            words = [word for word in options.split(",") if word not in ("rw", "ro", "xattr")]
            found[",".join(word for word in words if "=" not in word or word.startswith("name="))] = before.split()[4]
    return found


def obstacle():
    """Returns why this machine cannot run real kubelets, or None."""
    mounted = {word for controllers in hierarchies() for word in controllers.split(",")}
    missing = _NEEDED_CONTROLLERS - mounted
    if missing:
        return (f"this machine has no {', '.join(sorted(missing))} in the first version of cgroups, "
                "with which alone the tests can run a kubelet")
    if not kubelet_program.is_available():
        return f"the folder {control_plane.FOLDER_VARIABLE} has no kubelet"
    return None


class RealKubelet(contextlib.AbstractContextManager):
    """The kubelet of the node `name`, which can be started and stopped inside `with`.

    `network` is a NodeNetwork, and `images` are archives of images, which all pods of the node can use.  What the
    kubelet and containerd keep in /var remains until the end of `with`.
    """

    def __init__(self, cluster, name, network, images):
        self.cluster, self.name, self._network = cluster, name, network
        self._images = list(images)
        self._scratch = self._process = self._boot_id = None

    def __enter__(self):
        shell.need("containerd", "ctr", "runc", "nsenter", "unshare", "find")
        self._scratch = pathlib.Path(tempfile.mkdtemp(prefix="pintle-kubelet-")).resolve()
        if self._scratch.is_relative_to("/run") or self._scratch.is_relative_to("/var"):
            raise RuntimeError("TMPDIR must not be below /run or /var, which are hidden from the kubelet")
        self._write_files()
        return self

    def __exit__(self, kind, *_):
        try:
            if kind:
                print(f"--- the end of the log of the kubelet of {self.name}:\n{self.end_of_log()}")
            self.stop()
        finally:
            shutil.rmtree(self._scratch)

    @property
    def var(self):
        """Returns the folder that is /var for the kubelet and its pods."""
        return self._scratch / "var"

    def start(self, boot_id=None):
        """Starts containerd and the kubelet, which reports this ID of the node's boot."""
        self._boot_id = boot_id or str(uuid.uuid4())
        (self._scratch / "settings/kernel/random/boot_id").write_text(self._boot_id + "\n", encoding="ascii")
        mounted = hierarchies()
        script = _SCRIPT.format(folder=self._scratch, mounts="\n".join(map(_mount_script, mounted)),
                                kubelet=shlex.join(self._kubelet()))
        words = ["nsenter", f"--net={self._network.path}", "unshare", "--pid", "--mount", "--cgroup", "--fork",
                 "--kill-child", "sh", "-ec", script]
        groups = [f"{folder}/{self._scratch.name}" for folder in mounted.values()]
        self._process = SupervisedProcess({"command": words, "old_cgroups": groups}, self._scratch,
                                          self._scratch / "kubelet.log")
        self._wait_for(lambda: self._ctr("version", check=False).returncode == 0, "containerd answers")
        while self._images:
            self.load(self._images.pop())

    def stop(self):
        """Ends the kubelet and all containers at once, as when a machine goes off."""
        if self._process:
            self._process.kill()
            self._process = None

    def wait_ready(self):
        """Waits until the kubelet that was started last has reported that its node is ready."""
        self._wait_for(lambda: self.is_ready_since(self._boot_id), f"the kubelet reports that {self.name} is ready")

    def is_ready_since(self, boot_id):
        """Returns whether the kubelet has reported that the node is ready in this boot."""
        return self.ready() == ("True", "KubeletReady") and self._reported()["nodeInfo"]["bootID"] == boot_id

    def ready(self):
        """Returns the status and the reason of the node's condition Ready."""
        conditions = {each["type"]: each for each in self._reported().get("conditions", [])}
        ready = conditions.get("Ready", {"status": "Unknown", "reason": "NeverReported"})
        return ready["status"], ready["reason"]

    def load(self, archive):
        """Loads an image from an archive, which has the image's name."""
        self._ctr("images", "import", "--snapshotter=native", archive)

    def tag(self, name, other):
        """Gives an image another name, such as one with its digest."""
        self._ctr("images", "tag", name, other)

    def end_of_log(self, lines=40):
        logs = [self._scratch / f"{name}.log" for name in ("containerd", "kubelet")]
        return "\n".join(line for log in logs if log.exists()
                         for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def _reported(self):
        status, node = self.cluster.admin.request("GET", f"/api/v1/nodes/{self.name}")
        return node["status"] if status == 200 else {}

    def _wait_for(self, condition, what):
        def ready():
            self._process.expect_alive(what)
            return condition()
        try:
            wait_until(ready, what, _PATIENCE)
        except TimeoutError as late:
            raise TimeoutError(f"{late}; the kubelet has logged:\n{self.end_of_log()}") from None

    def _ctr(self, *words, **options):
        return shell.run("ctr", f"--address={self._scratch}/containerd.sock", f"--namespace={_NAMESPACE}", *words,
                         **options)

    def _write_files(self):
        for name in ("var/lib", "var/log", "var/tmp", "cni", "settings/kernel/random"):
            (self._scratch / name).mkdir(parents=True)
        (self._scratch / "var/run").symlink_to("/run")
        for name, value in _SETTINGS.items():
            setting = self._scratch / "settings" / name
            setting.parent.mkdir(parents=True, exist_ok=True)
            setting.write_text(f"{value}\n", encoding="ascii")
        shutil.copy(self.cluster.node_kubeconfig(self.name), self._scratch / "kubeconfig")
        shutil.copy(self.cluster.authority.certificate, self._scratch / "authority.crt")
        for name, text in (("resolv.conf", ""),
                           ("containerd.toml", _CONTAINERD.format(folder=self._scratch, pause=pod_images.PAUSE)),
                           ("cni/10-pods.conflist", json.dumps(self._network_config())),
                           ("kubelet.json", json.dumps(self._kubelet_config()))):
            (self._scratch / name).write_text(text, encoding="ascii")

    def _network_config(self):
        addresses = {"type": "host-local", "ranges": [[{"subnet": str(self._network.pods)}]],
                     "routes": [{"dst": "0.0.0.0/0"}],
                     # All pods end with a boot, and then this folder is empty.
                     "dataDir": "/run/addresses-of-pods"}
        return {"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "ptp", "ipMasq": False, "ipam": addresses}]}

    def _kubelet_config(self):
        return {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
                "cgroupDriver": "cgroupfs", "cgroupsPerQOS": False, "enforceNodeAllocatable": [],
                "failSwapOn": False, "makeIPTablesUtilChains": False, "readOnlyPort": 0,
                "authentication": {"x509": {"clientCAFile": f"{self._scratch}/authority.crt"},
                                   "webhook": {"enabled": False}, "anonymous": {"enabled": False}},
                "authorization": {"mode": "AlwaysAllow"},
                "resolvConf": f"{self._scratch}/resolv.conf", "volumePluginDir": "/var/lib/kubelet/volume-plugins",
                # A disk that is almost full must not make a test fail.
                "evictionHard": {"memory.available": "0%"}, "imageGCHighThresholdPercent": 100,
                # By default, a pod that has ended is sometimes removed only after a minute.
                "syncFrequency": "5s",
                # The kubelet looks at its own state each second, and reports it when it has changed.
                "nodeStatusUpdateFrequency": "1s", "nodeStatusReportFrequency": "5m", "nodeLeaseDurationSeconds": 8,
                "kubeAPIQPS": 50, "kubeAPIBurst": 100}

    def _kubelet(self):
        program = kubelet_program.program()
        wanted = control_plane.only_known(
            control_plane.options_of(program), container_runtime="remote",
            container_runtime_endpoint=f"unix://{self._scratch}/containerd.sock",
            config=f"{self._scratch}/kubelet.json", kubeconfig=f"{self._scratch}/kubeconfig",
            hostname_override=self.name, node_ip=self._network.address)
        return [str(program), *(f"--{name.replace('_', '-')}={value}" for name, value in wanted.items())]


def _mount_script(controllers):
    """Returns the commands that mount one hierarchy, so that its root is our own cgroup."""
    place = f"/sys/fs/cgroup/{controllers.removeprefix('name=')}"
    option = f"none,{controllers}" if controllers.startswith("name=") else controllers
    links = [f"ln -s {controllers} /sys/fs/cgroup/{each}" for each in controllers.split(",") if each != controllers]
    return "\n".join([f"mkdir {place}", f"mount -t cgroup -o {option} cgroup {place}", *links])
