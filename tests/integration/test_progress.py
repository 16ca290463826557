# SPDX-License-Identifier: Apache-2.0
"""Compares the progress that is reported while an image is fetched with the bytes that have arrived.

The servers stop halfway until a test lets them go on.
"""

import json
import os
import pathlib
import re
import subprocess

import pytest

from machines import certs, oci, programs, shell
from machines.node import Node
from machines.stalling_server import StallingServer, files_in, image_of
from registry_access import copy_into_node

PROBE = pathlib.Path(os.environ.get("PINTLE_BUILD", "build")) / "tests/integration/deployments-probe"
LAYER = 8 << 20
PROGRESS = re.compile(r"progress: (.*?)(?:, (\d+) %)?$")


@pytest.fixture
def sysroot(tmp_path):
    """A sysroot that is not booted."""
    (tmp_path / "sysroot").mkdir()
    shell.run("ostree", "admin", "init-fs", "--modern", tmp_path / "sysroot")
    return tmp_path / "sysroot"


class Fetching:
    """A fetch that is under way.

    `reports` has each report so far, as a part of the work, such as "downloading", and the percentage of this part.
    """

    def __init__(self, sysroot, *words):
        self.reports = []
        self._running = subprocess.Popen([PROBE, f"--sysroot={sysroot}", "--progress=shown", *words], text=True,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def read_until(self, condition):
        """Returns `reports`, once its last report fulfils the condition."""
        while not self.reports or not condition(*self.reports[-1]):
            line = self._running.stderr.readline()
            assert line, f"the fetch has ended after {self.reports}"
            self._take(line)
        return self.reports

    def end(self):
        for line in self._running.stderr:
            self._take(line)
        assert self._running.wait() == 0, self.reports
        return self.reports

    def _take(self, line):
        match = PROGRESS.match(line.rstrip("\n"))
        self.reports.append((match[1], match[2] and int(match[2])) if match else (line, None))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._running.kill()
        self._running.wait()
        self._running.stderr.close()


def percents(reports, part):
    return [percent for its_part, percent in reports if its_part == part]


@pytest.fixture
def image(tmp_path):
    """An image in a registry that stops in the middle of its first layer, which is large."""
    packages = tmp_path / "tree/usr/share/rpm-ostree/extensions"
    (packages / "repodata").mkdir(parents=True)
    (packages / "repodata/repomd.xml").touch()
    (packages / "large.rpm").write_bytes(os.urandom(LAYER))    # Random bytes cannot be compressed.
    oci.make_image(tmp_path / "layout", "base", tmp_path / "tree")
    oci.derive_image(tmp_path / "layout", "base", "next", oci.Layer(files={"usr/lib/small": "1"}))
    find, layers = image_of(tmp_path / "layout", "next")
    authority = certs.Authority(tmp_path / "pki")
    with StallingServer(find, lambda path: path == layers[0], authority.server("server", ["127.0.0.1"])) as server:
        server.trust, server.policy, server.image = tmp_path / "trust", tmp_path / "policy.json", f"{server.host}/os:next"
        server.trust.mkdir()
        (server.trust / "ca.crt").write_bytes(authority.certificate.read_bytes())
        server.policy.write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))
        yield server


@pytest.mark.parametrize("words, later_parts", [
    (["fetch"], ["checking", "unpacking"]), (["extensions", "/ROOT"], ["unpacking"])], ids=["os", "extensions"])
def test_the_progress_of_an_image_is_the_share_of_its_bytes(tmp_path, sysroot, image, words, later_parts):
    words = [word.replace("/ROOT", str(tmp_path / "root")) for word in words]
    (tmp_path / "root").mkdir()
    access = [f"--certificates={image.trust}", f"--policy={image.policy}"]
    with Fetching(sysroot, *access, *words, image.image) as fetching:
        reports = fetching.read_until(lambda part, percent: part == "downloading" and percent >= 45)
        # The small layer has arrived, and the rest of the large one has not even been sent.
        assert max(percents(reports, "downloading")) <= 50
        image.go_on()
        reports = fetching.end()
    downloading = percents(reports, "downloading")
    assert downloading == sorted(downloading) and downloading[-1] <= 99
    assert list(dict(reports))[1:] == later_parts
    if words[0] == "fetch":
        assert percents(reports, "checking") == percents(reports, "unpacking") == [0, 99]


def test_without_a_terminal_each_tenth_of_the_work_has_a_line(image):
    with Node(network="host") as node:
        copy_into_node(node, image.trust, f"/etc/containers/certs.d/{image.host}")
        node.run("tee", "/etc/containers/policy.json", input=image.policy.read_text())
        words = [*node.entering(), programs.on_machine("pintle"), "pivot", "--yes", image.image]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as pivoting:
            line = pivoting.stderr.readline()
            tenths = [int(percent) for percent in re.findall(r": downloading, (\d+) %$", line)]
            image.go_on()
            later_output = pivoting.stderr.read()
    assert line.startswith(f"fetching {image.image}: ") and tenths and 10 <= tenths[0] <= 50
    # This node does not have the units for staging an image, so the pivot fails after the fetch.
    assert "\r" not in line + later_output and later_output.endswith("; this machine is as it was before\n")


def test_the_progress_of_a_pull_from_ostree_is_the_share_of_its_objects(tmp_path, sysroot):
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
            # The commit and its directories have arrived, and no file has.
            reports = fetching.read_until(lambda part, percent: part == "downloading")
            assert 0 < reports[-1][1] < 50
            server.go_on()
            reports = fetching.end()
    assert percents(reports, "downloading") == sorted(percents(reports, "downloading"))
