#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the cost of a request to the Ignition server with the cost of a request to a plain TLS server that sends the
same bytes.

Argument: the build folder. Both servers have one processor and the clients have another. The cost is the server's
processor time for each request. It is measured for both servers in turns, and their ratio is printed.
"""

import base64
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(TOP / "tests"))
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build-bench").resolve()
os.environ["PINTLE_BUILD"] = str(BUILD)

from machines.ignition_server import IgnitionServer  # noqa: E402
from machines import certs  # noqa: E402

LOAD = BUILD / "tests/bench/tls-load"
PLAIN = BUILD / "tests/bench/plain-tls-server"
SIZES = {"200 KB": 200_000, "2 MB": 2_000_000}
ROUNDS, SECONDS, CONNECTIONS = 5, 2, 4
BUDGET = 1.5
# The processor of the servers, and that of the clients.
FIRST, LAST = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))


def make_folder(folder, size):
    """Writes a pool whose rendered config has contents of this size, in files of 20 KB."""
    files = "".join(f"""
      - path: /etc/file-{number}
        mode: 420
        overwrite: true
        contents:
          source: data:;base64,{base64.b64encode(os.urandom(15_000)).decode()}""" for number in range(size // 20_000))
    folder.mkdir()
    (folder / "pool.yaml").write_text("metadata: {name: worker}\nstatus: {configuration: {name: rendered-worker-1}}\n")
    (folder / "mc.yaml").write_text(f"""metadata: {{name: rendered-worker-1}}
spec:
  config:
    ignition: {{version: 3.5.0}}
    storage:
      files:{files}
""")
    (folder / "controllerconfig.yaml").write_text("metadata: {name: machine-config-controller}\nspec: {}\n")
    (folder / "kubeconfig").write_text("kind: Config\n")
    return folder


def make_rsa_pair(folder):
    """Makes a certificate with an RSA key, as the installer does, and returns their files."""
    pair = certs.Pair(folder / "rsa.crt", folder / "rsa.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", pair.key, "-out",
                    pair.certificate, "-days", "2", "-subj", "/CN=localhost"], check=True, stderr=subprocess.DEVNULL)
    return pair


class PlainServer:
    """Serves the bytes of a file, whatever the request is."""

    def __init__(self, pair, body):
        self._words = [PLAIN, pair.certificate, pair.key, body]

    def __enter__(self):
        self._process = subprocess.Popen(self._words, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline())
        self.pid = self._process.pid
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()


def processor_time(pid):
    return time.clock_gettime((~pid << 3) | 2)    # The formula of clock_getcpuclockid(3).


def measure_load(server, version, manner, connections=CONNECTIONS, seconds=SECONDS):
    """Returns the requests a second, and the server's processor time for each in milliseconds."""
    before = processor_time(server.pid)
    answer = subprocess.run([LOAD, str(server.port), version, manner, str(connections), str(seconds)],
                            stdout=subprocess.PIPE, text=True, check=True,
                            preexec_fn=lambda: os.sched_setaffinity(0, {LAST}))
    requests, took, _ = map(float, answer.stdout.split())
    return requests / took, (processor_time(server.pid) - before) * 1000 / requests


def peak(pid):
    """Returns the peak of the resident memory in MiB."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0


def fetch(server, pair, path):
    subprocess.run(["curl", "--silent", "--fail", "--cacert", pair.certificate, "--output", path, "--header",
                    "Accept: application/vnd.coreos.ignition+json;version=3.2.0",
                    f"https://localhost:{server.port}/config/worker"], check=True)


def compare(name, ours, plain):
    """Prints the costs of both servers in each manner, and returns the largest ratio."""
    worst = 0
    for version in ("1.3", "1.2"):
        for manner in ("keep", "new"):
            rounds = [(measure_load(ours, version, manner), measure_load(plain, version, manner))
                      for _ in range(ROUNDS)]
            rate = statistics.median(of_ours[0] for of_ours, _ in rounds)
            cost = statistics.median(of_ours[1] for of_ours, _ in rounds)
            plain_cost = statistics.median(of_plain[1] for _, of_plain in rounds)
            ratio = statistics.median(of_ours[1] / of_plain[1] for of_ours, of_plain in rounds)
            worst = max(worst, ratio)
            connections = "kept" if manner == "keep" else "new each time"
            print(f"{name}, TLS {version}, {connections}: {rate:.0f} requests/s, {cost:.3f} ms each; "
                  f"the plain server: {plain_cost:.3f} ms; ratio {ratio:.2f} (budget: {BUDGET})", flush=True)
    return worst


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        pair = make_rsa_pair(folder)
        worst = 0
        for name, size in SIZES.items():
            served = make_folder(folder / name, size)
            os.sched_setaffinity(0, {FIRST})    # Programs that are started from here on inherit the processor.
            options = ["--rate", "0", "--connections-per-address", "0", "--threads", "2"]
            with IgnitionServer(served, pair, options) as ours:
                fetch(ours, pair, folder / "body")
                print(f"{name}: a body of {(folder / 'body').stat().st_size:,} bytes", flush=True)
                with PlainServer(pair, folder / "body") as plain:
                    worst = max(worst, compare(name, ours, plain))
                print(f"{name}: {peak(ours.pid):.1f} MiB at the most", flush=True)
            with IgnitionServer(served, pair, options) as ours:
                os.sched_setaffinity(0, {FIRST, LAST})
                started = time.monotonic()
                rate, cost = measure_load(ours, "1.3", "new", 1000, 0)
                print(f"{name}: 1,000 machines at once are all served in {time.monotonic() - started:.2f} s: "
                      f"{rate:.0f} requests/s, {cost:.3f} ms each, {peak(ours.pid):.1f} MiB at the most", flush=True)
    print(f"the worst ratio: {worst:.2f}", flush=True)
    if worst > BUDGET:
        sys.exit("over budget: the worst ratio")


main()
