# SPDX-License-Identifier: Apache-2.0
"""Runs commands; an error names the command and contains its output."""

import contextlib
import os
import signal
import subprocess


class CommandFailed(Exception):
    def __init__(self, words, result):
        self.result = result
        output = ((result.stdout or "") + (result.stderr or "")).strip()
        super().__init__(f"{' '.join(words)}: exit status {result.returncode}\n{output}")


def run(*words, check=True, **options):
    """Runs a command to its end and returns it with its output as text."""
    words = [str(word) for word in words]
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
               "errors": "replace", **options}
    if "input" in options:
        del options["stdin"]
    result = subprocess.run(words, check=False, **options)
    if check and result.returncode != 0:
        raise CommandFailed(words, result)
    return result


@contextlib.contextmanager
def running(*words, **options):
    """Runs a command beside the test, which waits for its end inside `with`.

    If the test fails before, the command and its children are killed; otherwise, the end of `with` would wait for them.
    """
    with subprocess.Popen([str(word) for word in words], start_new_session=True, **options) as process:
        try:
            yield process
        except BaseException:
            kill(process)
            raise


def kill(process):
    """Kills a command of running() together with its children, such as the command that a shell waits for."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def need(*programs):
    """Raises an error that names the remedy if a program is missing: a test that cannot run has not passed."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [p for p in programs if not any(os.access(os.path.join(d, p), os.X_OK) for d in path.split(":"))]
    if missing:
        raise RuntimeError(f"needed and not installed: {', '.join(missing)} (run `./dev deps`)")
