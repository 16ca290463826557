# SPDX-License-Identifier: Apache-2.0
"""The output of the demo: titles, and commands as a person would type them, with their output."""

import shlex

from machines.programs import on_machine

PINTLE = on_machine("pintle")


class Unexpected(SystemExit):
    """Ends the demo: a result was not as expected."""

    def __init__(self, what):
        super().__init__(f"demo: {what}")


def print_title(title):
    print(f"\n\033[1m== {title}\033[0m", flush=True)


def print_line(text):
    print(text, flush=True)


def run_and_print(*words, run, prompt="$", before="", status=0):
    """Runs a command, prints it with its output, and returns the output. BEFORE is printed in front of the command.
    STATUS is the expected exit status; None accepts any.
    """
    print_line(f"{prompt} {before}{shlex.join(words)}".replace(PINTLE, "pintle"))
    answer = run(*words)
    text = (answer.stdout + answer.stderr).rstrip()
    if text:
        print_line(text)
    if status not in (None, answer.returncode):
        raise Unexpected(f"`{words[0]}` ended with status {answer.returncode}, not {status}")
    return text


def expect(is_so, what):
    if not is_so:
        raise Unexpected(f"this was expected, but is not true: {what}")
