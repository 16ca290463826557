# SPDX-License-Identifier: Apache-2.0
"""The main job, on real machines, as a newcomer sees it; `./dev demo` runs it."""

import time

from machines.cluster import Cluster
from machines.node import BUILD, Node


def show(title):
    print(f"\n\033[1m== {title}\033[0m", flush=True)


def shown(*words, run):
    """Runs a command as a person would type it, with its output."""
    print(f"$ {' '.join(words)}")
    print(run(*words).stdout.rstrip(), flush=True)


def on_a_node():
    show("a node: an OSTree machine, booted by systemd, with our build in it")
    started = time.monotonic()
    with Node() as node:
        print(f"(up after {time.monotonic() - started:.1f} s)")
        shown(f"{BUILD}/src/ctl/pintle", "version", run=node.run)
        shown("systemctl", "is-system-running", run=node.run)
        shown("ostree", "admin", "status", run=node.run)


def on_a_cluster():
    show("a cluster: a Kubernetes control plane, and a node that may change itself and no other")
    started = time.monotonic()
    with Cluster() as cluster:
        print(f"(ready after {time.monotonic() - started:.1f} s)")
        cluster.add_node("worker-0")
        cluster.add_node("worker-1")
        shown("get", "nodes", run=cluster.kubectl)


on_a_node()
on_a_cluster()
