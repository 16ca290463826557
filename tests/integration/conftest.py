# SPDX-License-Identifier: Apache-2.0
"""Machines for the tests: each test gets new nodes; the registry and the images are shared."""

import pathlib
import shutil
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parent)]

import longest_first  # noqa: E402
from machines import agent_node, audit, image, oci, shell  # noqa: E402
from machines.node import Node  # noqa: E402
from machines.registry import Registry  # noqa: E402


# Folders of /usr that a node in a container does not need.  Images do not have them, because the tests unpack, hash and
# commit images dozens of times.
NOT_IN_IMAGES = ("lib/cni", "lib/modules/*/kernel", "lib/udev/hwdb.d", "lib/x86_64-linux-gnu/gconv",
                 "lib/x86_64-linux-gnu/perl", "share/perl")


def pytest_configure(config):
    config.pluginmanager.register(longest_first.LongestFirst(), "longest-first")
    # Only the main process does this: a worker of pytest-xdist may start when another one has written logs already.
    if not hasattr(config, "workerinput"):
        audit.forget_earlier_logs()


@pytest.fixture
def node_without_ostree():
    with Node(plain=True) as machine:
        yield machine


@pytest.fixture
def node():
    with Node() as machine:
        yield machine


@pytest.fixture
def new_node(cluster):
    """Makes nodes with an agent; each test file defines its `cluster`."""
    with agent_node.node_maker(cluster) as make:
        yield make


@pytest.fixture(scope="session")
def layout(tmp_path_factory):
    """An OCI layout with two images: `base` is the OS that nodes boot, and `next` is `base` with changes."""
    folder = tmp_path_factory.mktemp("images")
    with Node() as node:
        tree = folder / "tree"
        shell.run("cp", "--archive", f"/proc/{node.leader}/root/usr/.", folder / "usr")
    for pattern in NOT_IN_IMAGES:
        for path in (folder / "usr").glob(pattern):
            shutil.rmtree(path)
    tree.mkdir()
    (folder / "usr").rename(tree / "usr")
    for name in ("dev", "run", "boot", "var", "tmp", "sysroot", "proc", "sys"):
        (tree / name).mkdir()
    links = {**image.LINKS_TO_STATE, **{name: f"usr/{name}" for name in ("bin", "sbin", "lib", "lib64")}}
    for name, target in links.items():
        if not (tree / name).is_symlink():
            (tree / name).symlink_to(target)
    (tree / "usr/share/gone").write_text("base")
    (tree / "usr/share/emptied").mkdir()
    (tree / "usr/share/emptied/old").write_text("base")
    (tree / "usr/share/f\u0151").write_text("base")
    (tree / "usr/share/sticky").mkdir()
    (tree / "usr/share/sticky").chmod(0o1777)
    images = folder / "layout"
    oci.make_image(images, "base", tree)
    shutil.rmtree(tree)
    oci.derive_image(images, "base", "next", oci.Layer(
        files={"usr/share/new": "next", "etc/image.conf": "next", "usr/share/emptied/young": "next", "run/x": "next"},
        removed=["usr/share/gone"], emptied=["usr/share/emptied"]), labels={"version": "2.0"})
    return images


@pytest.fixture(scope="module")
def registry():
    with Registry() as running:
        yield running


@pytest.fixture(scope="module")
def pushed(registry, layout):
    """The reference of the image `next` in the registry."""
    return registry.push(layout, "next")
