#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whole commands of `pintle`, from files to the answer: the median of several runs, each in its own process.

Arguments: the build folder, and optionally how often each command runs.  The program returns 1 if a command exceeds its
budget of memory or of processor time.  Other work on the same cores is not the command's fault, so there are no budgets
of wall time.
"""

import base64
import json
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fleet_objects import conditions_of_report  # noqa: E402

VERSION = "1"
GROUP = "machineconfiguration.openshift.io"
NODES = 10_000


@dataclass(frozen=True)
class Cost:
    wall: float  # Seconds.
    cpu: float  # Seconds.
    memory: int  # The peak, in KiB.


@dataclass(frozen=True)
class Budget:
    """What the median of a command's runs may cost."""

    cpu: float | None = None  # Seconds.
    memory: int | None = None  # KiB.
    is_known_unmet: bool = False  # docs/performance.md lists the budget as not met.

    def excesses(self, cost: Cost) -> list[str]:
        found = []
        if self.cpu is not None and cost.cpu > self.cpu:
            found.append(f"{cost.cpu * 1000:.1f} ms of processor time (budget: {self.cpu * 1000:.0f})")
        if self.memory is not None and cost.memory > self.memory:
            found.append(f"{cost.memory / 1024:.2f} MiB (budget: {self.memory / 1024:.0f})")
        return found


SMALL = Budget(cpu=0.005, memory=8 * 1024)
ROLLOUT = Budget(cpu=0.2, is_known_unmet=True)  # For a rollout to NODES nodes.


def cost_of(launcher: str, words: list[str], expected: int) -> Cost:
    """Runs one command, which must end with the expected status."""
    answer = subprocess.run([launcher, *words], check=True, capture_output=True, text=True)
    wall, cpu, memory, status = answer.stdout.split()
    if int(status) != expected:
        raise SystemExit(f"exit status {status}: {' '.join(words)}\n{answer.stderr}")
    return Cost(float(wall), float(cpu), int(memory))


def data_url(size: int, number: int) -> str:
    """Returns a data URL: every other one is base64 of random bytes, and the rest are percent-encoded text."""
    if number % 2 == 0:
        contents = random.Random(number).randbytes(size * 3 // 4)
        return "data:text/plain;charset=utf-8;base64," + base64.b64encode(contents).decode()
    line = "key%20%3D%20value%0A%23%20and%20a%20comment%0A"
    return "data:," + line * (size // len(line))


def machine_config(number: int, size: int) -> str:
    """Returns a MachineConfig as YAML, in the form in which people write it."""
    return f"""\
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: {number:04}-worker
  labels:
    machineconfiguration.openshift.io/role: worker
spec:
  kernelArguments:
    - argument{number}=1
  config:
    ignition:
      version: 3.2.0
    storage:
      files:
        - path: /etc/d{number}/file
          mode: 0644
          contents:
            source: {data_url(size, number)}
    systemd:
      units:
        - name: u{number}.service
          enabled: true
          contents: |
            [Service]
            ExecStart=/bin/true
          dropins:
            - name: 10-more.conf
              contents: |
                [Service]
                Environment=A=1
"""


def write_cluster(folder: Path, count: int, megabytes: int) -> list[str]:
    """Writes the files, and returns the words of a command that renders `count` configs with these contents."""
    (folder / "pool.yaml").write_text(
        "kind: MachineConfigPool\nmetadata:\n  name: worker\nspec:\n  machineConfigSelector:\n    matchLabels:\n"
        "      machineconfiguration.openshift.io/role: worker\n"
    )
    (folder / "controller.yaml").write_text(
        "kind: ControllerConfig\nmetadata:\n  annotations:\n"
        f'    machineconfiguration.openshift.io/generated-by-version: "{VERSION}"\n'
    )
    inputs = folder / "inputs"
    inputs.mkdir()
    for number in range(count):
        (inputs / f"{number}.yaml").write_text(machine_config(number, megabytes * 1_000_000 // count))
    return [
        "render", "--pool", f"{folder}/pool.yaml", "--controller-config", f"{folder}/controller.yaml",
        "--controller-version", VERSION, str(inputs),
    ]  # fmt: skip


def write_config(path: Path, files: int) -> None:
    contents = [
        {"path": f"/etc/d/{number}", "mode": 420, "contents": {"source": data_url(4096, number * 2)}}
        for number in range(files)
    ]
    path.write_text(json.dumps({"ignition": {"version": "3.2.0"}, "storage": {"files": contents}}))


def node_of(number: int) -> dict:
    """Returns a Node with as many labels, annotations and conditions as a real one has."""
    is_updated, is_at_work = number % 10 > 6, number % 10 == 0
    old, new = "rendered-worker-old", "rendered-worker-new"
    name = f"ip-10-0-{number // 256}-{number % 256}.eu-west-1.compute.internal"
    time = "2026-01-01T00:00:00Z"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {
                **{f"k8s.ovn.org/node-{index}": '{"default":["10.128.0.0/23"]}' for index in range(10)},
                f"{GROUP}/currentConfig": new if is_updated else old,
                f"{GROUP}/desiredConfig": new if is_updated or is_at_work else old,
                f"{GROUP}/state": "Working" if is_at_work else "Done",
                f"{GROUP}/reason": "",
                f"{GROUP}/desiredDrain": f"uncordon-{old}",
                f"{GROUP}/lastAppliedDrain": f"uncordon-{old}",
            },
            "creationTimestamp": f"2025-{number % 12 + 1:02}-{number % 28 + 1:02}T00:00:{number % 60:02}Z",
            "labels": {
                **{f"feature.node.kubernetes.io/cpu-{index}": "true" for index in range(10)},
                "node-role.kubernetes.io/worker": "",
                "topology.kubernetes.io/zone": f"eu-west-1{'abc'[number % 3]}",
            },
            "name": name,
            "resourceVersion": str(number),
            "uid": f"00000000-0000-0000-0000-{number:012}",
        },
        "spec": {"providerID": f"aws:///eu-west-1a/i-{number:017}"},
        "status": {
            "addresses": [{"address": f"10.0.{number // 256}.{number % 256}", "type": "InternalIP"},
                          {"address": name, "type": "Hostname"}],
            "allocatable": {"cpu": "3500m", "ephemeral-storage": "95069439022", "memory": "14756Mi", "pods": "250"},
            "capacity": {"cpu": "4", "ephemeral-storage": "104266732Ki", "memory": "15907Mi", "pods": "250"},
            "conditions": [
                {"lastHeartbeatTime": time, "lastTransitionTime": time, "message": f"kubelet reports {kind}",
                 "reason": f"Kubelet{kind}", "status": "True" if kind == "Ready" else "False", "type": kind}
                for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
            ],
            "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.30.0", "operatingSystem": "linux"},
        },
    }  # fmt: skip


def report_of(node: dict) -> dict:
    """Returns the MachineConfigNode of a Node, with its fourteen conditions."""
    name = node["metadata"]["name"]
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "MachineConfigNode",
        "metadata": {"name": name, "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}]},
        "spec": {"configVersion": {"desired": "rendered-worker-new"}, "node": {"name": name},
                 "pool": {"name": "worker"}},
        "status": {"conditions": conditions_of_report(updated=True), "configVersion": {
            "current": "rendered-worker-old", "desired": "rendered-worker-new"}, "observedGeneration": 1},
    }  # fmt: skip


def write_fleet(folder: Path) -> list[str]:
    """Writes a pool, its Nodes and their MachineConfigNodes as kubectl does, and returns the words of a rollout."""
    nodes = [node_of(number) for number in range(NODES)]
    (folder / "pool.json").write_text(json.dumps({
        "apiVersion": f"{GROUP}/v1", "kind": "MachineConfigPool", "metadata": {"name": "worker"},
        "spec": {"configuration": {"name": "rendered-worker-new"}, "maxUnavailable": "50%", "nodeSelector": {
            "matchLabels": {"node-role.kubernetes.io/worker": ""}}}}))  # fmt: skip
    for name, items in (("nodes", nodes), ("machineconfignodes", [report_of(node) for node in nodes])):
        document = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
        (folder / f"{name}.json").write_text(json.dumps(document, indent=4))
    (folder / "policy.json").write_text(json.dumps({
        "apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "workers"},
        "spec": {"pool": "worker", "waves": [{"name": "canary", "nodes": 10, "soak": "1h"},
                                             {"name": "half", "nodes": "50%", "soak": "1h"}]}}))  # fmt: skip
    return ["rollout", "--pool", f"{folder}/pool.json", "--nodes", f"{folder}/nodes.json",
            "--with", f"{folder}/machineconfignodes.json"]  # fmt: skip


class Measurements:
    """Measures commands, and collects those that exceed their budgets."""

    def __init__(self, program: str, launcher: str, runs: int):
        self._program, self._launcher, self._runs = program, launcher, runs
        self.exceeded: list[str] = []
        print(f"{'command':<44} {'wall ms':>9} {'CPU ms':>9} {'peak MiB':>9}")

    def measure(self, name: str, words: list[str], expected: int = 0, budget: Budget = Budget()) -> None:
        costs = [cost_of(self._launcher, [self._program, *words], expected) for _ in range(self._runs)]
        cost = Cost(*(statistics.median(values) for values in zip(*((c.wall, c.cpu, c.memory) for c in costs))))
        print(f"{name:<44} {cost.wall * 1000:>9.1f} {cost.cpu * 1000:>9.1f} {cost.memory / 1024:>9.1f}")
        for excess in budget.excesses(cost):
            if budget.is_known_unmet:
                print(f"  known not to be met: {excess}")
            else:
                self.exceeded.append(f"{name} takes {excess}")


def main() -> None:
    build = Path(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    measurements = Measurements(str(build / "src/ctl/pintle"), str(build / "tests/bench/cost-of"), runs)
    measure = measurements.measure
    measure("version", ["version"], budget=SMALL)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.ign"
        write_config(config, 1)
        measure("validate one small file", ["validate", str(config)], budget=SMALL)
    for count, megabytes in ((10, 1), (100, 1), (500, 1), (10, 10), (100, 10), (500, 10)):
        with tempfile.TemporaryDirectory() as folder:
            words = write_cluster(Path(folder), count, megabytes)
            measure(f"render {count} configs, {megabytes} MB, -o name", [*words, "-o", "name"])
            if (count, megabytes) == (500, 10):
                measure(f"render {count} configs, {megabytes} MB, -o json", [*words, "-o", "json"])
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.ign"
        write_config(config, 5000)
        measure("validate 5,000 files of 4 KiB", ["validate", str(config)])
        measure("convert 5,000 files of 4 KiB to 3.5", ["convert", "--to", "3.5.0", str(config)])
    with tempfile.TemporaryDirectory() as folder:
        words = write_fleet(Path(folder))
        differs = 2  # Nodes are to be updated.
        measure("rollout to 10,000 nodes", words, differs, ROLLOUT)
        measure("rollout to 10,000 nodes, -o json", [*words, "-o", "json"], differs, ROLLOUT)
        measure("rollout to 10,000 nodes, with a policy", [*words, "--with", f"{folder}/policy.json"], differs)
    if measurements.exceeded:
        raise SystemExit("over budget: " + "; ".join(measurements.exceeded))


if __name__ == "__main__":
    main()
