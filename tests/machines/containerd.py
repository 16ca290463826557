# SPDX-License-Identifier: Apache-2.0
"""A real container runtime, containerd with runc, that runs a container as a Deployment describes it.

No kubelet is involved, so this file translates the security contexts and the resources as a kubelet would.  An unknown
field of a security context is an error.  Volumes, probes, ports and grace periods are left to the tests, and a pod on the
network of its node gets the network of the test.
"""

import pathlib
import shutil
import tempfile

from . import shell
from .daemon import Daemon
from .wait import wait_until

# The capabilities that containerd gives a container by default.
CAPABILITIES = ("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
                "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT")
IMAGE_GROUP = 65532
# The tests need neither the plug-in for kubelets nor the one that installs programs of images below /opt.
CONFIG = """version = 2
root = "{folder}/root"
state = "{folder}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
[grpc]
address = "{folder}/socket"
"""
_PATIENCE = 60    # Seconds.


class Containerd:
    """The runtime, with files of its own, ready for use inside `with`."""

    def __enter__(self):
        shell.need("containerd", "ctr", "runc")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pintle-containerd-"))
        (self.folder / "config.toml").write_text(CONFIG.format(folder=self.folder), encoding="ascii")
        self._daemon = Daemon(self.folder / "containerd.log", "containerd", "--config", self.folder / "config.toml")
        try:
            self._daemon.start()
            self._daemon.wait_for(lambda: self.ctr("version", check=False).returncode == 0, "containerd answers",
                                  _PATIENCE)
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, *_):
        self._clean_up()

    def ctr(self, *words, **options):
        return shell.run("ctr", "--address", self.folder / "socket", *words, **options)

    def load(self, archive):
        """Loads an image, and returns {name: digest} of all images."""
        self.ctr("images", "import", "--snapshotter", "native", archive)
        lines = self.ctr("images", "list").stdout.splitlines()[1:]
        return {line.split()[0]: line.split()[2] for line in lines}

    def _clean_up(self):
        self._daemon.stop()
        shutil.rmtree(self.folder)


def memory(quantity):
    """Returns the bytes of a quantity such as "64Mi"."""
    units = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
    return int(quantity[:-2]) * units[quantity[-2:]]


def options_of(pod, container):
    """Returns the options of ctr that run a container as the pod's spec describes it."""
    options = []
    for field, value in pod["securityContext"].items():
        if field == "seccompProfile":
            assert value == {"type": "RuntimeDefault"}
            options.append("--seccomp")
        elif field == "fsGroup":
            assert value == IMAGE_GROUP    # The process has this group already.
        else:
            assert (field, value) == ("runAsNonRoot", True)
    assert "--seccomp" in options
    for field, value in container["securityContext"].items():
        if field == "allowPrivilegeEscalation":
            options += ["--allow-new-privs"] if value else []
        elif field == "readOnlyRootFilesystem":
            options += ["--read-only"] if value else []
        elif field == "capabilities":
            assert value == {"drop": ["ALL"]}
            options += [f"--cap-drop=CAP_{name}" for name in CAPABILITIES]
        else:
            raise AssertionError(f"no option of ctr is known for {field}")
    resources = container["resources"]
    assert resources.keys() == {"requests", "limits"} and resources["limits"].keys() == {"memory"}
    options.append(f"--memory-limit={memory(resources['limits']['memory'])}")
    assert resources["requests"]["cpu"].endswith("m")
    options.append(f"--cpu-shares={int(resources['requests']['cpu'][:-1]) * 1024 // 1000}")
    return options


class PodContainer(Daemon):
    """One container of a Deployment, in a network of its own, as a process; start it with start().

    `mounts` is {path: file or folder of this machine}, which the container can only read.
    """

    def __init__(self, runtime, image, name, deployment, network, mounts, environment):
        pod = deployment["spec"]["template"]["spec"]
        container, = pod["containers"]
        self.runtime, self.id, self.spec = runtime, name, container
        self._pid_file = runtime.folder / f"{name}.pid"
        self._pid_file.unlink(missing_ok=True)    # An earlier container may have had this name.
        words = ["ctr", "--address", runtime.folder / "socket", "run", "--rm", "--snapshotter=native",
                 f"--pid-file={self._pid_file}", f"--with-ns=network:{network.path}", *options_of(pod, container)]
        words += [f"--mount=type=bind,src={source},dst={path},options=rbind:ro" for path, source in mounts.items()]
        words += [f"--env={key}={value}" for key, value in environment.items()]
        super().__init__(runtime.folder / f"{name}.log", *words, image, name, *container["command"], *container["args"])

    def process(self):
        """Returns the folder of the container's process in /proc."""
        wait_until(lambda: self._pid_file.exists() and self._pid_file.read_text(), "the container runs", _PATIENCE)
        return pathlib.Path("/proc") / self._pid_file.read_text()

    def end(self):
        """Ends the container as a kubelet does, and returns its exit status."""
        self.runtime.ctr("tasks", "kill", "--signal=SIGTERM", self.id)
        try:
            return self._process.wait(30)
        finally:
            self.stop()

    def kill(self):
        """Kills the container if it still runs, as it may after a test that failed."""
        self.runtime.ctr("tasks", "kill", "--signal=SIGKILL", self.id, check=False)
        if self.pid:
            self._process.wait(30)
        self.stop()
