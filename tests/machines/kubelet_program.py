# SPDX-License-Identifier: Apache-2.0
"""The kubelet, built from the same source package as the programs of the control plane.

Only the tests with real kubelets need it, so it is built and cached by itself.  This file and kubernetes.py are the
recipe: changing one of them makes the kubelet anew.
"""

import os
import pathlib
import shutil
import subprocess

from . import cache, control_plane, kubernetes, shell

_VERSION_VARIABLE = "k8s.io/kubernetes/vendor/k8s.io/component-base/version.gitVersion"


def program():
    """Returns the path of the kubelet: the one that is built and cached, or the one in the chosen folder."""
    if _chosen():
        return _chosen()
    key = cache.recipe_key(pathlib.Path(__file__), pathlib.Path(kubernetes.__file__))
    return cache.made_once("kubelet", key, _make) / "kubelet"


def is_available():
    """Returns whether there is a kubelet, or can be built; a folder that was chosen may have none."""
    return _chosen() is None or os.access(_chosen(), os.X_OK)


def _chosen():
    folder = os.environ.get(control_plane.FOLDER_VARIABLE)
    return pathlib.Path(folder).resolve() / "kubelet" if folder else None


def _make(folder):
    shell.need("apt-get", "dpkg-source", "go")
    work = folder / "work"
    source = work / "go/src/k8s.io/kubernetes"
    source.parent.mkdir(parents=True)
    kubernetes._fetch_source(work / "apt", source)
    shutil.rmtree(source / "vendor" / kubernetes._REFLECT2)
    shutil.copytree(kubernetes._FIXED_REFLECT2, source / "vendor" / kubernetes._REFLECT2)
    _build(work, source, folder / "kubelet")
    shutil.rmtree(work)
    printed = shell.run(folder / "kubelet", "--version").stdout.strip()
    if printed != f"Kubernetes v{kubernetes.VERSION}":
        raise RuntimeError(f"the kubelet reports {printed!r}, the tests were written for v{kubernetes.VERSION}")


def _build(work, source, program):
    """Builds without Kubernetes' makefile, which would first build and run generators whose results a kubelet does not
    contain.  As in kubernetes.py, the build has the least of the caller's environment and no code for public clouds.
    """
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": work, "LC_ALL": "C.UTF-8", "TMPDIR": work,
                   "GOENV": "off", "GO111MODULE": "off", "GOPATH": work / "go", "GOCACHE": work / "gocache",
                   "CGO_ENABLED": "0"}
    flags = f"-s -w -X {_VERSION_VARIABLE}=v{kubernetes.VERSION}"
    words = ["go", "build", "-v", "-tags=providerless", f"-ldflags={flags}", "-o", program,
             "k8s.io/kubernetes/cmd/kubelet"]
    with open(work / "log", "w+", encoding="utf-8", errors="replace") as log:
        with subprocess.Popen(words, cwd=source, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                              stderr=subprocess.STDOUT, process_group=0) as build, kubernetes._ended_with_us(build):
            kubernetes._watch(build, work / "log")
        if build.returncode != 0:
            raise RuntimeError("building the kubelet failed:\n" + "".join(kubernetes._lines(work / "log")[-40:]))
