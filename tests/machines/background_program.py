# SPDX-License-Identifier: Apache-2.0
"""Programs that run on a node beside the test."""

import contextlib
import os
import signal
import subprocess
import threading

from .container import ENVIRONMENT
from .wait import wait_until

PATIENCE = 60


class BackgroundProgram:
    """A program that runs in the node in the background. `lines` has its output so far."""

    def __init__(self, node, *words):
        self._words = [*node.entering(), *words]
        self.lines = []

    def __enter__(self):
        self._process = subprocess.Popen(self._words, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self.wait(2)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self.wait()
        self._reader.join()
        self._process.stdout.close()

    def _read(self):
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))

    def wait(self, seconds=PATIENCE):
        return self._process.wait(seconds)

    def write(self, text):
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def awaits(self, line, times=1):
        wait_until(lambda: self.lines.count(line) >= times,
                   lambda: f"the program prints {line!r}, not only {self.lines}", PATIENCE)
