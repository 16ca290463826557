# SPDX-License-Identifier: Apache-2.0
"""How much of an image is here is told while it comes, by what is really here: measured on servers that stop halfway."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from machines import certs, oci, shell
from machines.stalling_server import StallingServer, files_in, image_of

PROBE = pathlib.Path(os.environ.get("PINTLE_BUILD", "build")) / "tests/integration/deployments-probe"
LAYER = 8 << 20
TOLD = re.compile(r"progress: (.*?)(?:, (\d+) %)?$")


@pytest.fixture
def sysroot(tmp_path):
    """A place for deployments that is not booted."""
    (tmp_path / "sysroot").mkdir()
    shell.run("ostree", "admin", "init-fs", "--modern", tmp_path / "sysroot")
    return tmp_path / "sysroot"


class Fetching:
    """A fetch that is under way; `told` has the part and the percent of each report, as they come."""

    def __init__(self, sysroot, *words):
        self.told = []
        self._running = subprocess.Popen([PROBE, f"--sysroot={sysroot}", "--progress=shown", *words], text=True,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def read_until(self, condition):
        """All of `told`, once the last of it is so."""
        while not self.told or not condition(*self.told[-1]):
            line = self._running.stderr.readline()
            assert line, f"it has ended after {self.told}"
            self._take(line)
        return self.told

    def end(self):
        for line in self._running.stderr:
            self._take(line)
        assert self._running.wait() == 0, self.told
        return self.told

    def _take(self, line):
        match = TOLD.match(line.rstrip("\n"))
        self.told.append((match[1], match[2] and int(match[2])) if match else (line, None))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._running.kill()
        self._running.wait()
        self._running.stderr.close()


def percents(told, part):
    return [percent for its_part, percent in told if its_part == part]


def test_an_image_is_told_by_the_bytes_that_are_here(tmp_path, sysroot):
    tree = tmp_path / "tree"
    (tree / "usr/lib").mkdir(parents=True)
    (tree / "usr/lib/large").write_bytes(os.urandom(LAYER))    # Nothing can be packed smaller.
    oci.make_image(tmp_path / "layout", "base", tree)
    oci.derive_image(tmp_path / "layout", "base", "next", oci.Layer(files={"usr/lib/small": "1"}))
    find, layers = image_of(tmp_path / "layout", "next")
    authority = certs.Authority(tmp_path / "pki")
    (tmp_path / "trust").mkdir()
    (tmp_path / "trust/ca.crt").write_bytes(authority.certificate.read_bytes())
    (tmp_path / "policy.json").write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))
    access = [f"--certificates={tmp_path / 'trust'}", f"--policy={tmp_path / 'policy.json'}"]
    with StallingServer(find, lambda path: path == layers[0], authority.server("server", ["127.0.0.1"])) as server, \
            Fetching(sysroot, *access, "fetch", f"{server.host}/os:next") as fetching:
        told = fetching.read_until(lambda part, percent: part == "downloading" and percent >= 45)
        # The small layer is here whole, and the rest of the large one is not even sent.
        assert max(percents(told, "downloading")) <= 50
        server.go_on()
        told = fetching.end()
    downloading = percents(told, "downloading")
    assert downloading == sorted(downloading) and downloading[-1] <= 99
    assert [part for part in dict(told)][-2:] == ["checking", "unpacking"]
    assert percents(told, "unpacking")[0] == 0 and percents(told, "unpacking")[-1] == 99


def test_a_pull_from_an_ostree_repository_is_told_by_its_objects(tmp_path, sysroot):
    far, tree = tmp_path / "far", tmp_path / "tree"
    for number in range(12):
        path = tree / f"usr/share/{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(1000))
    shell.run("ostree", "init", "--mode=archive", f"--repo={far}")
    shell.run("ostree", "commit", f"--repo={far}", "--branch=os", f"--tree=dir={tree}")
    shell.run("ostree", "summary", f"--repo={far}", "--update")
    with StallingServer(files_in(far), lambda path: path.endswith(".filez")) as server:
        shell.run("ostree", "remote", "add", f"--repo={sysroot}/ostree/repo", "--no-gpg-verify", "far",
                  f"http://{server.host}")
        with Fetching(sysroot, "fetch", "far:os") as fetching:
            # The commit and its directories are here, and no file is.
            told = fetching.read_until(lambda part, percent: part == "downloading")
            assert 0 < told[-1][1] < 50
            server.go_on()
            told = fetching.end()
    assert percents(told, "downloading") == sorted(percents(told, "downloading"))
