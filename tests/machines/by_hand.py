# SPDX-License-Identifier: Apache-2.0
"""Uses a running machine by hand: runs a command in it, opens a shell, or only keeps it running."""

import os
import signal
import subprocess
import sys


def check_arguments(machine, argv):
    """Ends the program with a usage message unless ARGV is empty or `-- COMMAND...`."""
    # A shell starts its background jobs with SIGINT ignored.  Without this, Ctrl-C would not remove the machine.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if argv and (argv[0] != "--" or len(argv) == 1):
        print(f"usage: python3 -m machines {machine} [-- COMMAND...]", file=sys.stderr)
        sys.exit(2)


def use(argv, variables, commands=None):
    """Runs the command after `--` with these variables, and with the folder COMMANDS first in PATH; returns its status.

    Without a command, it starts a shell if there is a terminal, and otherwise waits for the end of its input.
    """
    environment = os.environ | variables
    if commands:
        environment["PATH"] = f"{commands}:{os.environ.get('PATH', '/usr/bin:/bin')}"
    if argv:
        return _status(subprocess.call(argv[1:], env=environment))
    for name, value in variables.items():
        print(f"export {name}={value}", flush=True)
    if sys.stdin.isatty():
        print("These variables are set in this shell; leave the shell to end the machine.", file=sys.stderr)
        return _status(_shell(environment))
    sys.stdin.read()
    return 0


def _shell(environment):
    previous_handler = signal.signal(signal.SIGINT, signal.SIG_IGN)    # Ctrl-C is for the programs in the shell.
    try:
        return subprocess.call([os.environ.get("SHELL", "bash")], env=environment,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    finally:
        signal.signal(signal.SIGINT, previous_handler)


def _status(returncode):
    return returncode if returncode >= 0 else 128 - returncode
