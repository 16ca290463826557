#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `pintled` on a node of a real cluster: its memory, its wake-ups, and the time from an annotation to Done.

Arguments: the build folder, and optionally `plain` for a node without OSTree, or `alone` for a machine without OSTree
and without a cluster, of which only the memory is measured.
"""

import json
import os
import re
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
if len(sys.argv) > 1:
    os.environ["PINTLE_BUILD"] = str(Path(sys.argv[1]).resolve())

from machines import agent_node  # noqa: E402
from machines.agent_node import AnnotationHistory, create_rendered  # noqa: E402
from machines.installed import file, machine_config  # noqa: E402
from machines.node import BUILD_ON_MACHINE, Node  # noqa: E402
from machines.wait import wait_until  # noqa: E402

ROUNDS = 15
IDLE = 60  # Seconds.
CONFIGS = 100


def create_config(node, name, *files):
    return create_rendered(node.cluster, f"rendered-{node.name}-{name}", machine_config(list(files))["spec"])


def of_process(node, file):
    pid = node.run("systemctl", "show", "-P", "MainPID", "pintled").stdout.strip()
    return node.run("cat", f"/proc/{pid}/{file}").stdout


def memory(node):
    """Returns the agent's resident memory, its proportional share, and the peak, in MiB."""
    smaps, status = of_process(node, "smaps_rollup"), of_process(node, "status")
    numbers = [re.search(rf"\n{key}:\s+(\d+)", text)[1] for key, text in
               (("Rss", smaps), ("Pss", smaps), ("VmHWM", status))]
    return [int(number) / 1024 for number in numbers]


def annotation_to_done(node, history, name):
    """Returns the seconds from the annotation until the Node reports Done."""
    started = time.monotonic()
    node.annotate(desiredConfig=name)
    wait_until(lambda: history.of(node.name, "state", "currentConfig")[-1:] == [("Done", name)],
               "the node is done", 60, 0.001)
    return time.monotonic() - started


def wait_idle(node):
    """Waits until the agent has released its idle memory, which it does about two seconds after the last event."""
    seen = [-1.0]

    def is_steady():
        seen.append(memory(node)[0])
        return len(seen) > 3 and seen[-1] == seen[-2] == seen[-3]
    wait_until(is_steady, "the agent's memory stays the same", 60, 1)


def wake_ups(node):
    """Returns how often a thread of the agent has waited."""
    pid = node.run("systemctl", "show", "-P", "MainPID", "pintled").stdout.strip()
    texts = node.run("sh", "-c", f"cat /proc/{pid}/task/*/status").stdout
    return sum(map(int, re.findall(r"\nvoluntary_ctxt_switches:\s+(\d+)", texts)))


def written(node):
    """Returns how many bytes the agent has written to disks."""
    return int(re.search(r"write_bytes: (\d+)", of_process(node, "io"))[1])


def measure(node):
    first = create_config(node, "first", file("/etc/live/a", "1"))
    node.annotate(desiredConfig=first)
    node.start()
    node.wait_done(first)
    with AnnotationHistory(node.cluster) as history:
        wait_until(lambda: history.of(node.name, "state"), "the node is seen", 60)
        names = [create_config(node, number, file("/etc/live/a", str(number))) for number in range(ROUNDS)]
        times = [annotation_to_done(node, history, name) for name in names]
        print(f"annotation to Done, one file: median {statistics.median(times) * 1000:.0f} ms, "
              f"from {min(times) * 1000:.0f} to {max(times) * 1000:.0f}")

        starts = []
        for _ in range(ROUNDS):
            node.run("systemctl", "stop", "pintled")
            node.annotate(state="Working")
            wait_until(lambda: history.of(node.name, "state")[-1:] == [("Working",)], "the new state is seen", 60)
            started = time.monotonic()
            node.run("systemctl", "start", "pintled")
            wait_until(lambda: history.of(node.name, "state")[-1:] == [("Done",)], "the node is done", 60, 0.001)
            starts.append(time.monotonic() - started)
        print(f"`systemctl start` to Done: median {statistics.median(starts) * 1000:.0f} ms, "
              f"from {min(starts) * 1000:.0f} to {max(starts) * 1000:.0f}")

        for number in range(CONFIGS):
            create_config(node, f"other-{number}", file("/etc/live/a", "x" * 10000))
        wait_idle(node)
        print("idle, MiB resident / its share / the most so far: {:.1f} / {:.1f} / {:.1f}".format(*memory(node)))
        before, bytes_before = wake_ups(node), written(node)
        time.sleep(IDLE)  # The test must not wake the agent while it measures the idle agent.
        print(f"idle for {IDLE} s: {wake_ups(node) - before} wake-ups, {written(node) - bytes_before} bytes written")

        node.run("systemctl", "restart", "pintled")
        node.wait_done(names[-1])
        big = create_config(node, "big", *(file(f"/etc/live/f{number}", "x" * 15500) for number in range(100)))
        took = annotation_to_done(node, history, big)
        print(f"a config of 1.5 MB: {took * 1000:.0f} ms, {memory(node)[2]:.1f} MiB at the most")
        wait_idle(node)
        print("idle after it, MiB: {:.1f} / {:.1f}".format(*memory(node)[:2]))
    print(node.run("systemd-analyze", "security", "pintled.service", "--no-pager", check=False).stdout.splitlines()[-1])


def measure_alone(machine):
    def write(path, text):
        machine.run("tee", path, input=text)
    no_action = {"files": [{"path": "/etc", "actions": [{"type": "None"}]}]}
    machine.run("mkdir", "--parents", "/etc/pintle/config.d")
    write("/etc/pintle/policy.json", json.dumps(no_action))
    write("/etc/pintle/pintled.conf", "[Agent]\nSource=local\nPolicyFile=/etc/pintle/policy.json\n")
    write("/etc/pintle/config.d/a.ign", json.dumps({
        "ignition": {"version": "3.4.0"},
        "storage": {"files": [{"path": "/etc/live", "contents": {"source": "data:,1"}}]}}))
    write("/etc/systemd/system/pintled.service",
          f"[Service]\nType=notify\nExecStart={BUILD_ON_MACHINE}/src/agent/pintled\n")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "start", "pintled.service")
    wait_until(lambda: machine.run("cat", "/etc/live", check=False).stdout == "1", "the config is applied", 60)
    wait_idle(machine)
    print("alone, idle, MiB resident / its share / the most so far: {:.1f} / {:.1f} / {:.1f}".format(*memory(machine)))


def main():
    if sys.argv[2:] == ["alone"]:
        with Node(plain=True) as machine:
            return measure_alone(machine)
    plain = sys.argv[2:] == ["plain"]
    with agent_node.agent_cluster() as cluster, agent_node.node_maker(cluster) as make:
        measure(make(plain=plain))


main()
