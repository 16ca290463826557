# SPDX-License-Identifier: Apache-2.0
"""`pintle-controller serve` on free ports of loopback."""

import re
import resource
import signal
import subprocess
import tempfile

from . import programs
from .wait import wait_until

CONTROLLER = programs.here("pintle-controller")


class IgnitionServer:
    """Serves the files in FOLDER over TLS if there is a PAIR, and also without TLS if `plain` is set.  `source` is the
    option that names the folder.
    """

    def __init__(self, folder, pair=None, options=(), plain=False, source="--from"):
        self._words = [str(CONTROLLER), "serve", source, str(folder), *map(str, options)]
        if pair:
            self._words += ["--listen", "127.0.0.1:0", "--tls-cert", str(pair.certificate), "--tls-key", str(pair.key)]
        if plain:
            self._words += ["--listen-http", "127.0.0.1:0"]
        self._url_count = bool(pair) + plain
        self._log = tempfile.TemporaryFile("w+")

    def __enter__(self):
        self._process = subprocess.Popen(self._words, stderr=self._log, stdin=subprocess.DEVNULL,
                                         preexec_fn=_with_few_descriptors)
        try:
            urls = wait_until(self._urls, "the Ignition server serves", 60)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        self.secure = next((url for url in urls if url.startswith("https:")), None)
        self.plain = next((url for url in urls if url.startswith("http:")), None)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            status = self._process.wait(timeout=30)
        finally:
            self._process.kill()
        assert status == 0, f"the Ignition server ended with {status}: {self.log()}"
        self._log.close()

    @property
    def pid(self):
        return self._process.pid

    @property
    def port(self):
        """Returns the port for TLS."""
        return int(self.secure.rpartition(":")[2])

    def log(self):
        self._log.seek(0)
        return self._log.read()

    def read_again(self):
        """Makes the server read its files again, waits for that, and returns what it logs about it."""
        logged_before = len(self.log())
        self._process.send_signal(signal.SIGHUP)
        wait_until(lambda: re.search("read again|Nothing was changed", self.log()[logged_before:]),
                   "the server has read its files", 60)
        return self.log()[logged_before:]

    def _urls(self):
        assert self._process.poll() is None, f"the Ignition server ended: {self.log()}"
        urls = re.findall(r"Serving at (\S+)\n", self.log())
        return urls if len(urls) == self._url_count else None


def _with_few_descriptors():
    """Sets the usual soft limit of a service."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard_limit), hard_limit))
