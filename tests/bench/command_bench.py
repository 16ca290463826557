#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whole commands of `pintle`, from files to the answer: the median of several runs, each in its own process.

Arguments: the build folder, and optionally how often each command runs.
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

VERSION = "1"


@dataclass(frozen=True)
class Cost:
    wall: float  # Seconds.
    cpu: float  # Seconds.
    memory: int  # The peak, in KiB.


def cost_of(launcher: str, words: list[str]) -> Cost:
    """Runs one command, which must succeed."""
    answer = subprocess.run([launcher, *words], check=True, capture_output=True, text=True)
    wall, cpu, memory, status = answer.stdout.split()
    if int(status) != 0:
        raise SystemExit(f"exit status {status}: {' '.join(words)}\n{answer.stderr}")
    return Cost(float(wall), float(cpu), int(memory))


def body(size: int, number: int) -> str:
    """Returns a data URL: every other one is base64 of random bytes, and the rest are percent-encoded text."""
    if number % 2 == 0:
        return "data:text/plain;charset=utf-8;base64," + base64.b64encode(random.Random(number).randbytes(size * 3 // 4)).decode()
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
            source: {body(size, number)}
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
        {"path": f"/etc/d/{number}", "mode": 420, "contents": {"source": body(4096, number * 2)}}
        for number in range(files)
    ]
    path.write_text(json.dumps({"ignition": {"version": "3.2.0"}, "storage": {"files": contents}}))


def main() -> None:
    build = Path(sys.argv[1])
    program = str(build / "src/ctl/pintle")
    launcher = str(build / "tests/bench/cost-of")
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    print(f"{'command':<44} {'wall ms':>9} {'CPU ms':>9} {'peak MiB':>9}")

    def show(name: str, words: list[str]) -> None:
        costs = [cost_of(launcher, [program, *words]) for _ in range(runs)]
        wall, cpu, memory = (statistics.median(values) for values in zip(*((c.wall, c.cpu, c.memory) for c in costs)))
        print(f"{name:<44} {wall * 1000:>9.1f} {cpu * 1000:>9.1f} {memory / 1024:>9.1f}")

    show("version", ["version"])
    for count, megabytes in ((10, 1), (100, 1), (500, 1), (10, 10), (100, 10), (500, 10)):
        with tempfile.TemporaryDirectory() as folder:
            words = write_cluster(Path(folder), count, megabytes)
            show(f"render {count} configs, {megabytes} MB, -o name", [*words, "-o", "name"])
            if (count, megabytes) == (500, 10):
                show(f"render {count} configs, {megabytes} MB, -o json", [*words, "-o", "json"])
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.ign"
        write_config(config, 5000)
        show("validate 5,000 files of 4 KiB", ["validate", str(config)])
        show("convert 5,000 files of 4 KiB to 3.5", ["convert", "--to", "3.5.0", str(config)])


main()
