# SPDX-License-Identifier: Apache-2.0
"""Background work for a cluster of test machines: starts machines again after a reboot, and runs their pods."""

import contextlib
import threading

from .cluster_user import Refused

_PATIENCE = 300    # A thread may have to wait for a machine to boot.


class _NodeThreads(contextlib.AbstractContextManager):
    """One thread for each node, until the end of `with`, which raises the first error of a thread.

    A test whose thread has ended usually times out, so the thread's error is raised also if the test has failed.
    """

    def __init__(self, nodes):
        self.nodes = nodes
        self._ended, self._errors = threading.Event(), []
        self._threads = [threading.Thread(target=self._run, args=(node,), daemon=True) for node in nodes]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, _, error, *__):
        self._ended.set()
        for thread in self._threads:
            thread.join(_PATIENCE)
        stuck = [node.name for node, thread in zip(self.nodes, self._threads) if thread.is_alive()]
        if stuck:
            self._errors.append(TimeoutError(f"the threads of {stuck} do not end within {_PATIENCE} s"))
        if self._errors and (error is None or isinstance(error, Exception)):
            raise self._errors[0] from error

    def _run(self, node):
        try:
            while not self._ended.is_set():
                self.act(node)
        except Exception as trouble:
            if not self._ended.is_set():
                self._errors.append(trouble)

    def act(self, node):
        raise NotImplementedError


class Firmware(_NodeThreads):
    """Starts nodes again that have rebooted by themselves, and counts these reboots."""

    def __init__(self, nodes):
        super().__init__(nodes)
        self.reboots = {node.name: 0 for node in nodes}

    def act(self, node):
        try:
            node.machine.await_end("reboot", 1)
        except TimeoutError:
            return
        self.reboots[node.name] += 1
        if not self._ended.is_set():
            self.start(node)

    def start(self, node):
        node.machine.start()


class PodRunners(_NodeThreads):
    """Makes the nodes' pods run, and terminates those that are being deleted."""

    def act(self, node):
        # A pod may have changed at the same moment, and the API server may be down.
        with contextlib.suppress(Refused, OSError):
            node.cluster.run_pods(node.name)
        self._ended.wait(0.3)
