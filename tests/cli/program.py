# SPDX-License-Identifier: Apache-2.0
"""Runs `pintle`, and makes its input files."""

import base64
import json
import os
import pathlib
import resource
import subprocess

PINTLE = pathlib.Path(os.environ.get("PINTLE_BUILD", "build")) / "src/ctl/pintle"
MB = 1 << 20


class Answer:
    """The result of a run: its status, its output, and the seconds of processor time that it took, `cpu`."""

    def __init__(self, status, stdout, stderr, cpu):
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.cpu = cpu

    def json(self):
        return json.loads(self.stdout)


def pintle(*words, stdin=b"", stdout=subprocess.PIPE, memory=None, seconds=300, file_size=None):
    """Runs `pintle`. `memory` limits the address space, `seconds` the processor time, and `file_size` the size of
    files.
    """

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    def cpu():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = cpu()
    if isinstance(stdin, bytes):
        result = subprocess.run([PINTLE, *map(str, words)], input=stdin, stdout=stdout, stderr=subprocess.PIPE,
                                preexec_fn=limit, check=False)
    else:
        result = subprocess.run([PINTLE, *map(str, words)], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE,
                                preexec_fn=limit, check=False)
    return Answer(result.returncode, (result.stdout or b"").decode(errors="replace"),
                  result.stderr.decode(errors="replace"), cpu() - before)


def refused(*words, texts=(), **limits):
    """Checks that the program ends with status 1, prints nothing on standard output, and prints `texts` on standard error.
    `texts` is a text or a list of texts.
    """
    answer = pintle(*words, **limits)
    assert answer.status == 1, (answer.status, answer.stderr[-2000:])
    assert answer.stdout == ""
    for text in [texts] if isinstance(texts, str) else texts:
        assert text in answer.stderr[:100_000], answer.stderr[:2000]
    return answer


def write(path, contents):
    """Writes text, bytes, or a value as JSON."""
    if isinstance(contents, str):
        contents = contents.encode()
    path.write_bytes(contents if isinstance(contents, bytes) else json.dumps(contents).encode())
    return path


def ignition(**sections):
    return {"ignition": {"version": "3.4.0"}, **sections}


def machine_config(config=None, name="99-worker", **spec):
    return {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
            "metadata": {"name": name, "labels": {"machineconfiguration.openshift.io/role": "worker"}},
            "spec": {"config": config if config is not None else ignition(), **spec}}


def data_url(contents):
    return "data:;base64," + base64.b64encode(contents if isinstance(contents, bytes) else contents.encode()).decode()


def file(path, contents="", **more):
    return {"path": path, "contents": {"source": data_url(contents)}, **more}


def with_files(*files):
    return ignition(storage={"files": list(files)})
