# SPDX-License-Identifier: Apache-2.0
"""What a cluster of test machines needs besides its programs: someone who starts a machine again that reboots, and
someone who runs its pods."""

import contextlib
import threading

from .cluster_user import Refused


class _Threads(contextlib.AbstractContextManager):
    """One thread for each node, until the `with` ends; trouble in one is told there."""

    def __init__(self, nodes):
        self.nodes = nodes
        self._ended, self._trouble = threading.Event(), []
        self._threads = [threading.Thread(target=self._run, args=(node,), daemon=True) for node in nodes]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self._ended.set()
        for thread in self._threads:
            thread.join(60)
        if kind is None and self._trouble:
            raise self._trouble[0]

    def _run(self, node):
        try:
            while not self._ended.is_set():
                self.act(node)
        except Exception as trouble:
            if not self._ended.is_set():
                self._trouble.append(trouble)

    def act(self, node):
        raise NotImplementedError


class Firmware(_Threads):
    """Starts nodes again that reboot by themselves, and counts."""

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
            node.machine.start()


class Kubelets(_Threads):
    """Lets the pods of the nodes run, and those that are asked to go be gone."""

    def act(self, node):
        # Somebody else may have changed one of them just now; and the API server may be away.
        with contextlib.suppress(Refused, OSError):
            node.cluster.run_pods(node.name)
        self._ended.wait(0.3)

