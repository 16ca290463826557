# SPDX-License-Identifier: Apache-2.0
"""Starts the test machines by hand: `python3 -m machines node`, with tests/ as PYTHONPATH and as root."""

import importlib
import os
import signal
import sys

MACHINES = {
    "node": ("machines.node", "a node booted by systemd; --plain for one without OSTree"),
    "vm": ("machines.vm", "the OSTree node with a kernel of its own, in QEMU"),
    "cluster": ("machines.cluster", "a Kubernetes control plane"),
    "registry": ("machines.registry", "an OCI registry"),
}
CACHED = {
    "plain": ("machines.image", "debian_root"),
    "node": ("machines.image", "ostree_disk"),
    "vm": ("machines.image", "qemu_tools"),
    "ignition": ("machines.image", "ignition_tools"),
    "cluster": ("machines.cluster", "prepare"),
    "kubelet": ("machines.kubelet_program", "program"),
    "selinux": ("machines.enforcing", "selinux_tools"),
}
NIGHTLY = ("selinux",)    # Only tests of the nightly run need these.


def prepare(names):
    """Makes the images and programs that machines start from, so that a later start finds them in the cache."""
    for name in names or [name for name in CACHED if name not in NIGHTLY or "PINTLE_NIGHTLY" in os.environ]:
        if name not in CACHED:
            sys.exit(f"cannot prepare {name}: choose from {', '.join(CACHED)}")
        module, function = CACHED[name]
        print(f"{name}: {getattr(importlib.import_module(module), function)()}")


def usage():
    lines = [f"  {name:9} {summary}" for name, (_, summary) in MACHINES.items()]
    lines.append(f"  {'prepare':9} fill the cache: {' '.join(CACHED)} (all if none is named)")
    return "usage: python3 -m machines MACHINE [OPTION...] [-- COMMAND...]\n\n" + "\n".join(lines)


def main(argv):
    # Machines are context managers, so an exception that ends us leaves nothing behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # A shell starts its background jobs with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not argv or argv[0] in ("-h", "--help"):
        print(usage())
        return 0 if argv else 2
    name, rest = argv[0], argv[1:]
    if name == "prepare":
        return prepare(rest)
    if name not in MACHINES:
        print(usage(), file=sys.stderr)
        return 2
    return importlib.import_module(MACHINES[name][0]).main(rest)


try:
    sys.exit(main(sys.argv[1:]))
except KeyboardInterrupt:
    sys.exit(128 + signal.SIGINT)
