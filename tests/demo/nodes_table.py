# SPDX-License-Identifier: Apache-2.0
"""Prints the nodes of a cluster as `kubectl get nodes --watch` does, and answers their requests as the controller does.
"""

import queue
import subprocess
import threading
import time

from machines.agent_node import DrainController

from .screen import Unexpected, print_line

PATIENCE = 120  # Seconds.  The machine may be busy with other work.
ANNOTATIONS = r".metadata.annotations.machineconfiguration\.openshift\.io"
COLUMNS = {"NAME": ".metadata.name", "CURRENT": "$A/currentConfig", "DESIRED": "$A/desiredConfig", "STATE": "$A/state",
           "REASON": "$A/reason"}
OUTPUT_FORMAT = "custom-columns=" + ",".join(f"{name}:{path}" for name, path in COLUMNS.items())
LAYOUT = "  {:<10}{:<19}{:<19}{:<16}{}"


def cut(word):
    """Cuts a text to the width of its column; the names of rendered configs are long."""
    return word if len(word) < 18 else word[:17] + "…"


class NodesTable(DrainController):
    """Answers the nodes' requests, as a controller does when there are no pods to move. One thread prints and waits."""

    def __init__(self, cluster):
        super().__init__(cluster)
        self._news, self._rows, self._printed_requests = queue.Queue(), {}, []

    def react(self, name, annotations):
        before = len(self.requests)
        super().react(name, annotations)
        for node, what in self.requests[before:]:
            self._news.put((node, what))

    def __enter__(self):
        kubectl = [self._cluster.commands / "kubectl", f"--kubeconfig={self._cluster.admin.kubeconfig}"]
        words = ["get", "nodes", "--watch", "--no-headers", "-o", OUTPUT_FORMAT.replace("$A", ANNOTATIONS)]
        # kubectl has a session of its own: Ctrl-C at the terminal reaches only the demo, which then ends kubectl.
        self._kubectl = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *kubectl, *words], text=True,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return super().__enter__()

    def __exit__(self, *failure):
        self._kubectl.kill()
        self._kubectl.wait()
        self._reader.join()
        self._kubectl.stdout.close()
        return super().__exit__(*failure)

    @staticmethod
    def print_head():
        print_line(f"$ A='{ANNOTATIONS}'\n$ kubectl get nodes --watch -o {OUTPUT_FORMAT}\n{LAYOUT.format(*COLUMNS)}")

    def until(self, state, config, *names):
        """Prints rows until these nodes have this state and config; returns the states that each node has had."""
        states = {name: [] for name in names}

        def are_there():
            return all(self._rows.get(name, [])[1:4:2] == [config, state] for name in names)
        for row in self._until(are_there, f"{' and '.join(names)} {state} with {config}"):
            if row[3] not in states.setdefault(row[0], [])[-1:]:
                states[row[0]].append(row[3])
        return states

    def until_requested(self, name, what):
        """Prints rows until the node has requested `what`, a drain or an uncordon."""
        list(self._until(lambda: (name, what) in self._printed_requests, f"{name} requests {what}"))

    def reason(self, name):
        return self._rows[name][4]

    def _read(self):
        for line in self._kubectl.stdout:
            words = line.rstrip().split(None, 4)
            if line.startswith(" ") or len(words) < 4:  # A reason may have several lines, of which the first is enough.
                continue
            row = [*words, ""][:5]
            self._news.put((row[0], row))

    def _until(self, condition, what):
        """Prints new rows until the condition holds; yields them."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            try:
                name, news = self._news.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                raise Unexpected(f"\"{what}\" is not true after {PATIENCE} s") from None
            if isinstance(news, str):
                self._printed_requests.append((name, news))
                print_line(f"  ({name} requests {news}, and the controller does it)")
            elif self._rows.get(name) != news:
                self._rows[name] = news
                print_line(LAYOUT.format(*map(cut, news[:4]), news[4]).rstrip())
                yield news
