# SPDX-License-Identifier: Apache-2.0
"""Two images for pods, made of Debian's statically linked busybox: one for the pods' sandboxes, one with a shell."""

import pathlib
import shutil
import tempfile

from . import oci, shell

PAUSE = "images.example/pause:1"
BUSYBOX = "images.example/busybox:1"
_PROGRAMS = ("sh", "cat", "date", "httpd", "sleep")


def make(folder):
    """Makes both images in the folder, and returns the paths of their archives."""
    shell.need("busybox", "skopeo", "umoci")
    with tempfile.TemporaryDirectory(prefix="pintle-busybox-") as tree:
        _unpack(pathlib.Path(tree))
        # A sandbox only keeps the namespaces of its pod; containerd kills it.
        return [_archive(folder, tree, PAUSE, "/bin/sleep", "1000000"), _archive(folder, tree, BUSYBOX, "/bin/sh")]


def _unpack(tree):
    tree.chmod(0o755)
    for name in ("bin", "tmp", "www"):
        (tree / name).mkdir()
    (tree / "tmp").chmod(0o1777)
    (tree / "www/index.html").write_text("here\n", encoding="ascii")
    shutil.copy(shutil.which("busybox"), tree / "bin/busybox")
    for program in _PROGRAMS:
        (tree / "bin" / program).symlink_to("busybox")


def _archive(folder, tree, name, *entrypoint):
    layout, tag = folder / "layout", name.rpartition("/")[2].partition(":")[0]
    oci.make_image(layout, tag, tree)
    words = [f"--config.entrypoint={word}" for word in entrypoint]
    shell.run("umoci", "config", "--image", f"{layout}:{tag}", *words)
    shell.run("skopeo", "copy", "--quiet", f"oci:{layout}:{tag}", f"docker-archive:{folder}/{tag}.tar:{name}")
    return folder / f"{tag}.tar"
