# SPDX-License-Identifier: Apache-2.0
"""Servers on loopback that end with the test that started them."""

import contextlib
import functools
import http.client
import os
import random
import socket
import ssl
import subprocess

from . import shell
from .wait import wait_until


class PortTaken(Exception):
    """Another process bound the port after we chose it and before the server bound it."""


class Daemon:
    """One server process, which can be started again; its output goes to a log file."""

    def __init__(self, log, *words, environment=None):
        log.write_bytes(b"")
        self.log = log
        self.name = log.stem
        self._words = [str(word) for word in words]
        self._environment = os.environ | (environment or {})
        self._process = None

    def start(self):
        shell.need("setpriv")
        with open(self.log, "ab") as log:
            # The server has a session of its own, so that Ctrl-C at the terminal reaches only us; we end the server.
            self._process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *self._words], stdout=log, stderr=log,
                                             stdin=subprocess.DEVNULL, start_new_session=True,
                                             env=self._environment)

    def stop(self):
        """Kills the server, as a crash would."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def pid(self):
        return self._process.pid if self._process else None

    def check(self):
        """Raises an error with the end of the log if the server ended by itself."""
        if self._process is None or self._process.poll() is None:
            return
        log = self.end_of_log()
        kind = PortTaken if "address already in use" in log else RuntimeError
        raise kind(f"{self.name} ended with status {self._process.returncode}:\n{log}")

    def end_of_log(self, lines=30):
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def wait_for(self, ready, what, seconds):
        """Waits for ready(); fails as soon as the server ends."""
        def condition():
            self.check()
            with contextlib.suppress(OSError, http.client.HTTPException):
                return ready()
        try:
            return wait_until(condition, what, seconds)
        except TimeoutError as late:
            raise TimeoutError(f"{late}; the log of {self.name}:\n{self.end_of_log()}") from None


def free_ports(count, address="127.0.0.1"):
    """Returns ports that are free at the moment.

    They are below the kernel's ephemeral ports, so that no outgoing connection takes the port of a server that a test
    has stopped and will start again at the same address.
    """
    free = []
    while len(free) < count:
        port = random.randrange(20000, 32000)
        with socket.socket() as trial, contextlib.suppress(OSError):
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((address, port))
            if port not in free:
                free.append(port)
    return free


def listens(address, port):
    """Returns whether a server listens there."""
    with socket.socket() as trial:
        return trial.connect_ex((address, port)) == 0


def with_free_ports(count, address, start, attempts=5):
    """Calls start(ports), again with other ports if another process took one of them."""
    for _ in range(attempts - 1):
        with contextlib.suppress(PortTaken):
            return start(free_ports(count, address))
    return start(free_ports(count, address))


def https(address, port, authority, pair=None):
    """Returns a connection that trusts only this authority, with a client certificate if `pair` is given."""
    files = (authority, pair.certificate, pair.key) if pair else (authority,)
    context = _context(*((str(file), os.stat(file).st_mtime_ns) for file in files))
    return http.client.HTTPSConnection(address, port, context=context, timeout=60)


@functools.lru_cache(maxsize=256)
def _context(authority, *pair):
    """Returns the settings of a connection; each file is given as its path and the time of its last change."""
    context = ssl.create_default_context(cafile=authority[0])
    if pair:
        context.load_cert_chain(*(path for path, _ in pair))
    return context


def status_of(connection, path):
    """Returns the status of one GET.  The timeout is short, as another process may answer on a port that we lost."""
    connection.timeout = 5
    with contextlib.closing(connection):
        connection.request("GET", path)
        return connection.getresponse().status
