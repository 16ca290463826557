# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle` at a terminal: it asks before it changes a machine, and reports the progress of long work."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import subprocess
import time

import pytest
from machines import shell
from program import PINTLE, file, machine_config, pintle, with_files, write
from small_machine import Machine

PATIENCE = 60
QUESTION = "Do this? [y/N] "
END_OF_INPUT = "\x04"


# These signals end a program that does not handle them.
ENDING = [signal.SIGINT, signal.SIGHUP, signal.SIGTERM]


def reset_signals():
    """Resets signals to their defaults, since the tests may have been started with some ignored."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


class Terminal:
    """A run of the program with a terminal of its own."""

    def __init__(self, *words, stdin=None):
        self.ours, theirs = pty.openpty()
        self.output = ""
        self.process = subprocess.Popen([PINTLE, *map(str, words)], stdin=theirs if stdin is None else stdin,
                                        stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=reset_signals)
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def read(self, until):
        """Reads until the text appears, or the program has closed the terminal."""
        deadline = time.monotonic() + PATIENCE
        while until is None or until not in self.output:
            assert select.select([self.ours], [], [], max(0, deadline - time.monotonic()))[0], self.output
            try:
                piece = os.read(self.ours, 4096)
            except OSError:  # Linux returns EIO when nobody has the other end open.
                piece = b""
            if not piece:
                assert until is None, self.output
                return self.output
            self.output += piece.decode().replace("\r\n", "\n")
        return self.output

    def type(self, text):
        os.write(self.ours, text.encode())

    def end(self):
        """Returns the exit status and all output."""
        output = self.read(None)
        return self.process.wait(PATIENCE), output


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "root").mkdir()
    return Machine(tmp_path / "root")


@pytest.fixture
def config(tmp_path):
    return write(tmp_path / "a.ign", with_files(file("/etc/motd", "ours\n")))


GREEN, RED, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


def lines_of_a_diff(monkeypatch, tmp_path, terminal="xterm", **environment):
    old, new = [write(tmp_path / name, machine_config(with_files(file("/etc/motd", f"{name}\n")))) for name in "ab"]
    for name in ["NO_COLOR", "TERM"]:
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": terminal, **environment}.items():
        monkeypatch.setenv(name, value)
    with Terminal("diff", old, new) as at_terminal:
        status, output = at_terminal.end()
    assert status == 2
    return output.splitlines()


def test_a_terminal_gets_colours(monkeypatch, tmp_path):
    lines = lines_of_a_diff(monkeypatch, tmp_path)
    assert f"{RED}-a{PLAIN}" in lines and f"{GREEN}+b{PLAIN}" in lines


@pytest.mark.parametrize("how", [{"NO_COLOR": "1"}, {"NO_COLOR": "0"}, {"terminal": "dumb"}, {"terminal": ""}])
def test_no_color_turns_colours_off(monkeypatch, tmp_path, how):
    lines = lines_of_a_diff(monkeypatch, tmp_path, **how)
    assert "-a" in lines and "+b" in lines and not any("\x1b" in line for line in lines)


def test_pipes_and_json_get_no_colours(monkeypatch, tmp_path):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    old, new = [write(tmp_path / name, machine_config(with_files(file("/etc/motd", f"{name}\n")))) for name in "ab"]
    assert "\x1b" not in pintle("diff", old, new).stdout
    with Terminal("diff", "-o", "yaml", old, new) as at_terminal:
        assert "\x1b" not in at_terminal.end()[1]


@pytest.mark.parametrize("answer", ["y\n", "Y\n", "yes\n", "yes please\n"])
def test_yes_makes_the_change(machine, config, answer):
    with Terminal("apply", "--root", machine.root, config) as terminal:
        output = terminal.read(QUESTION)
        # The changes are listed before the question, and none has been made.
        assert "+ours" in output and output.endswith(QUESTION)
        assert machine.path("/etc/motd").read_text() == "the OS's greeting\n"
        terminal.type(answer)
        status, output = terminal.end()
    assert status == 0 and "Done: this machine is as rendered-local-" in output
    assert machine.path("/etc/motd").read_text() == "ours\n"


@pytest.mark.parametrize("answer", ["n\n", "no\n", "\n", "N\n", " y\n", "1\n", "ny\n", "maybe yes\n", END_OF_INPUT])
def test_any_other_answer_changes_nothing(machine, config, answer):
    before = machine.tree()
    with Terminal("apply", "--root", machine.root, config) as terminal:
        terminal.read(QUESTION)
        terminal.type(answer)
        status, output = terminal.end()
    assert status == 2 and "pintle: apply: nothing was changed" in output
    assert machine.tree() == before


@pytest.mark.parametrize("number", ENDING)
def test_leaving_at_the_question_changes_nothing(machine, config, number):
    before = machine.tree()
    with Terminal("apply", "--root", machine.root, config) as terminal:
        terminal.read(QUESTION)
        terminal.process.send_signal(number)
        assert terminal.process.wait(PATIENCE) == -number
    assert machine.tree() == before
    # The claim to the machine was released.
    machine.run("apply", "--yes", config)


@pytest.mark.parametrize("words", [["--yes"], ["--dry-run"], ["--dry-run", "--yes"]])
def test_yes_on_the_command_line_asks_nothing(machine, config, words):
    with Terminal("apply", "--root", machine.root, *words, config) as terminal:
        status, output = terminal.end()
    assert "[y/N]" not in output and status == (2 if "--dry-run" in words else 0)


def test_nothing_to_do_asks_nothing(machine, config):
    machine.run("apply", "--yes", config)
    with Terminal("apply", "--root", machine.root, config) as terminal:
        status, output = terminal.end()
    assert status == 0 and "[y/N]" not in output and "Nothing to do" in output


def test_a_terminal_that_is_written_to_only_is_not_asked(machine, config):
    before = machine.tree()
    with Terminal("apply", "--root", machine.root, config, stdin=subprocess.DEVNULL) as terminal:
        status, output = terminal.end()
    assert status == 1 and "use --yes" in output and "[y/N]" not in output
    assert machine.tree() == before


@contextlib.contextmanager
def users_being_changed(machine):
    """Holds the lock of the password files; other programs wait for it."""
    with open(machine.path("/etc/.pwd.lock"), "w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


def test_long_work_is_reported_only_at_a_terminal(tmp_path):
    machines = []
    for name in ["with", "without"]:
        (tmp_path / name).mkdir()
        machines.append(Machine(tmp_path / name))
    config = write(tmp_path / "a.ign", {"ignition": {"version": "3.4.0"}, "passwd": {"users": [
        {"name": "core", "passwordHash": "$6$salt$secret"}]}})
    with contextlib.ExitStack() as changing:
        for machine in machines:
            changing.enter_context(users_being_changed(machine))
        # This run begins first, so that it has waited at least as long when the other run reports its progress.
        words = [PINTLE, "apply", "--root", machines[1].root, "--yes", config]
        with shell.running(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as silent, \
                Terminal("apply", "--root", machines[0].root, "--yes", config) as terminal:
            output = terminal.read(" ...\n")
            assert output.splitlines()[-1].startswith("applying rendered-local-")
            changing.close()
            status, output = terminal.end()
            assert status == 0 and "Done" in output and "secret" not in output
            assert silent.communicate(timeout=PATIENCE)[1] == "" and silent.returncode == 0
