# SPDX-License-Identifier: Apache-2.0
"""Tests a file that is edited again and again: the agent reports the edits, uses only a part of a processor, and delays
no other change.
"""

import pytest
from configured import file
from test_agent_local import CONFIG, CONFIGS, PATIENCE, Agent

from machines.background_work import BackgroundWork
from machines.node import Node

FILES = 3000
PAUSE = 0.02  # Seconds between two edits.
MIN_EDITS_PER_LOOK = 4  # There must be at least this many edits for each look.
DEBUG = "/etc/systemd/system/pintled.service.d/debug.conf"


class Storm(BackgroundWork):
    """Edits a file and restores it, again and again, until it is stopped; then the file is right."""

    def __init__(self, path, right):
        super().__init__()
        self._path, self._right = path, right
        self.edits = 0

    def work(self):
        while not self.ending.wait(PAUSE):
            self.edits += 1
            self._path.write_text(self._right if self.edits % 2 == 0 else f"edit {self.edits}")
        self._path.write_text(self._right)


@pytest.fixture
def agent():
    with Node(plain=True) as node:
        begun = Agent(node)
        node.run("mkdir", "--parents", DEBUG.rpartition("/")[0])
        begun.write(DEBUG, "[Service]\nEnvironment=PINTLE_DEBUG=1\n")
        node.run("systemctl", "daemon-reload")
        node.run("systemctl", "restart", "pintled.service")
        begun.awaits("the agent starts", lambda status: status["phase"] == "starting")
        yield begun


def many():
    files = [file(f"/etc/many/{number % 20}/{number}", f"contents-{number}") for number in range(FILES)]
    return {"ignition": {"version": "3.4.0"}, "storage": {"files": files}}


def looks(agent):
    return sum(line.endswith("-> checking") for line in agent.journal().splitlines())


def test_endless_edits_are_reported_and_delay_nothing(agent):
    name = agent.becomes(many())
    before = looks(agent)
    with Storm(agent.node.path("/etc/many/0/0"), "contents-0") as storm:
        status = agent.awaits("the edit is found", lambda status: status["findings"] == 1)
        assert "/etc/many/0/0" in status["reason"]
        agent.write(f"{CONFIGS}/60-more.ign",
                    {"ignition": {"version": "3.4.0"}, "storage": {"files": [file("/etc/more", "more")]}})
        # A change that meets an edit is undone and tried again, so it may take some attempts.
        agent.awaits("the new config is there", lambda status: status["current"] not in ("", name), 5 * PATIENCE)
        assert agent.read("/etc/more") == "more"
        # The drift is still reported.
        agent.awaits("the edit is found again", lambda status: status["findings"] == 1)
        during = looks(agent) - before
        edits = storm.edits
    assert during * MIN_EDITS_PER_LOOK < edits, (during, edits)
    before = looks(agent)
    agent.settles(seconds=PATIENCE)
    # One look is under way, one follows for the changes during that look, and one follows for the last change.
    assert looks(agent) - before <= 3
    assert agent.read("/etc/many/0/0") == "contents-0"
    agent.node.run("rm", CONFIG, f"{CONFIGS}/60-more.ign")
