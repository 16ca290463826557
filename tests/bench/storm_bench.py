#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `pintled` on a machine without a cluster, while one of its 3,000 files is edited again and again.

Argument: the build folder.
"""

import os
import re
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "integration")]
if len(sys.argv) > 1:
    os.environ["PINTLE_BUILD"] = str(Path(sys.argv[1]).resolve())

from configured import file  # noqa: E402
from test_agent_local import CONFIG, CONFIGS, Agent  # noqa: E402

from machines.background_work import BackgroundWork  # noqa: E402
from machines.node import Node  # noqa: E402

FILES = 3000
EDITS = 1000
PAUSE = 0.024  # Seconds between two edits.
TICKS = os.sysconf("SC_CLK_TCK")


def ignition(files):
    return {"ignition": {"version": "3.4.0"}, "storage": {"files": files}}


def cost_so_far(node):
    """Returns the processor time so far in seconds, the resident memory in MiB, and its peak."""
    pid = node.run("systemctl", "show", "-P", "MainPID", "pintled").stdout.strip()
    times = node.run("cat", f"/proc/{pid}/stat").stdout.rpartition(")")[2].split()
    status = node.run("cat", f"/proc/{pid}/status").stdout
    resident, peak = (int(re.search(rf"{key}:\s+(\d+)", status)[1]) / 1024 for key in ("VmRSS", "VmHWM"))
    return (int(times[11]) + int(times[12])) / TICKS, resident, peak


class Watcher(BackgroundWork):
    """Records the times at which the status reported findings."""

    def __init__(self, agent):
        super().__init__()
        self.agent, self.reported = agent, []

    def work(self):
        while not self.ending.wait(0.1):
            status = self.agent.status()
            if status and status["findings"]:
                self.reported.append(time.monotonic())


def storm(node):
    """Edits a file of the config again and again, and restores its contents at the end."""
    edited = node.path("/etc/many/0/0")
    for number in range(EDITS):
        edited.write_text("contents-0" if number % 2 else f"edit {number}")
        time.sleep(PAUSE)
    edited.write_text("contents-0")


def measure(agent):
    agent.becomes(ignition([file(f"/etc/many/{i % 20}/{i}", f"contents-{i}") for i in range(FILES)]))
    with Watcher(agent) as watcher:
        before, began = cost_so_far(agent.node), time.monotonic()
        storm(agent.node)
        during, ended = cost_so_far(agent.node), time.monotonic()
        agent.write(f"{CONFIGS}/60-more.ign", ignition([file("/etc/more", "more")]))
        agent.awaits("the new config is there", lambda status: status["current"] == status["desired"], 600)
        agent.awaits("the new file is there", lambda _: agent.node.path("/etc/more").exists(), 600)
        changed = time.monotonic()
        agent.settles(seconds=600)
        settled, after = time.monotonic(), cost_so_far(agent.node)
    reported = f"{watcher.reported[0] - began:.1f} s" if watcher.reported else "never"
    print(f"{EDITS} edits in {ended - began:.1f} s: {during[0] - before[0]:.2f} s of a processor, "
          f"{after[0] - during[0]:.2f} s more after it; reported after {reported}; "
          f"a new config after {changed - ended:.1f} s; "
          f"settled after {settled - ended:.1f} s; {before[1]:.1f} MiB resident before, {during[1]:.1f} at its end, "
          f"{after[2]:.1f} at the most")
    agent.node.run("rm", CONFIG)


def main():
    with Node(plain=True) as node:
        measure(Agent(node))


main()
