# SPDX-License-Identifier: Apache-2.0
"""The connection to the QEMU guest agent of a virtual machine, which runs commands in it."""

import base64
import json
import socket
import subprocess
import time


class GuestAgent:
    """Exchanges lines of JSON with QEMU's guest agent over the socket of a virtual serial port."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._unread = b""
        self._last_id = 0

    def close(self):
        self._socket.close()

    def answers(self, seconds):
        """Returns whether the agent answers within this time.  Skips late answers to earlier requests."""
        self._last_id += 1
        try:
            self._send("guest-sync", id=self._last_id)
            while self._receive(seconds).get("return") != self._last_id:
                pass
            return True
        except TimeoutError:
            return False

    def run(self, words, environment, input):
        """Runs a command to its end."""
        input_argument = {} if input is None else {"input-data": base64.b64encode(input.encode()).decode()}
        pid = self._call("guest-exec", path=words[0], arg=words[1:], env=[f"{k}={v}" for k, v in environment.items()],
                         **{"capture-output": True}, **input_argument)["pid"]
        while not (status := self._call("guest-exec-status", pid=pid))["exited"]:
            time.sleep(0.05)
        output, errors = (base64.b64decode(status.get(key, "")).decode(errors="replace")
                          for key in ("out-data", "err-data"))
        return subprocess.CompletedProcess(words, status.get("exitcode", -status.get("signal", 0)), output, errors)

    def _call(self, command, **arguments):
        self._send(command, **arguments)
        # A machine that shuts down stops answering.  It closes the connection at its end, minutes later on a busy host.
        answer = self._receive(600)
        if "return" not in answer:
            raise RuntimeError(f"{command} {arguments}: {answer}")
        return answer["return"]

    def _send(self, command, **arguments):
        self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")

    def _receive(self, seconds):
        self._socket.settimeout(seconds)
        while b"\n" not in self._unread:
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionResetError("the virtual machine is gone")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)
