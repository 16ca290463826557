# SPDX-License-Identifier: Apache-2.0
"""Tests programs that are stopped while they start."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess

import pytest
from machines.ignition_server import CONTROLLER
from machines.wait import wait_until
from program import write

pytestmark = pytest.mark.skipif(not CONTROLLER.exists(), reason="pintle-controller was not built")

PATIENCE = 60
KUBECONFIG = {
    "apiVersion": "v1", "kind": "Config", "current-context": "here",
    "contexts": [{"name": "here", "context": {"cluster": "none", "user": "nobody"}}],
    "clusters": [{"name": "none", "cluster": {"server": "https://127.0.0.1:1"}}],
    "users": [{"name": "nobody", "user": {"token": "x"}}],
}


def full_pipe():
    """Returns both ends of a pipe to which nobody can write until somebody reads."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)
    return reader, writer


def read_to_end(pipe):
    """Reads until nobody has the pipe open for writing."""
    os.set_blocking(pipe, False)

    def is_at_end():
        with contextlib.suppress(BlockingIOError):
            return os.read(pipe, 1 << 16) == b""
    wait_until(is_at_end, "the controller has closed its standard error", PATIENCE)


def blocks(process, number):
    """Returns whether the process blocks this signal, so that it stays pending."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    mask = int(re.search(r"(?m)^SigBlk:\s*([0-9a-f]+)$", status)[1], 16)
    return mask >> (number - 1) & 1 == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_controller_that_is_stopped_while_it_starts_ends_without_an_error(tmp_path, number):
    kubeconfig = write(tmp_path / "kubeconfig", KUBECONFIG)
    # The controller cannot get beyond its first message.
    reader, writer = full_pipe()
    process = subprocess.Popen([CONTROLLER, "start", "--kubeconfig", kubeconfig, "--metrics-listen-address", ""],
                               stdin=subprocess.DEVNULL, stderr=writer,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    try:
        os.close(writer)
        wait_until(lambda: blocks(process, number), "the controller lets the signal wait", PATIENCE)
        process.send_signal(number)
        read_to_end(reader)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(reader)
