# SPDX-License-Identifier: Apache-2.0
"""Checks that Ignition's own ignition-validate (2.14, which knows specs 3.0 to 3.3) and `pintle validate` accept the
same configs.

The configs are random combinations of valid and invalid parts, the same in every run. Two newer rules are left out: a
file must not be in the place of a unit or a drop-in, nor below another file.
"""

import json
import random
import subprocess

from machines import programs, shell

PINTLE = programs.here("pintle")
COUNT = 250

SOURCES = [
    "data:,a", "data:;base64,YQ==", "data:text/plain,x y", "data:,%zz", "data:;base64,Y", "data:,a#b", "data:x",
    'data:;a="q",c', "http://h/p", "HTTP://h", "http://[::1]:80/x", "http://h:bad/", "http://h/%zz", "://x", "ftp://x",
    "gs://b/o", "s3://b/k", "s3://b/k?versionId=", "arn:aws:s3:::b/k", "tftp://h/f", "", None,
]
PATHS = ["/etc/a", "/etc/b", "/etc/d/b", "/var/x", "/a/../b", "rel", "", "/", "/etc/a/", "//x", None]
HASHES = ["sha512-" + "0" * 128, "sha256-" + "0" * 64, "sha512-0", "md5-0", "nodash", ""]
CONTENTS = [
    "", "[Unit]\nA=b\n", "garbage", "[Unit\n", "[Unit] x\n", "[S]\nno equals\n", "[S]\nA=b\\\nc\n[Install]\nB=x\n",
    "# c\n[S]\nA=1", "[S]\nA=" + "y" * 3000, "[S]\nA=" + "y" * 2040 + "\nB=1\n" + "x" * 100, None,
]


class Maker:
    """Makes random configs; with `tame`, most of their parts are valid."""

    def __init__(self, seed, tame):
        self.random = random.Random(seed)
        self.tame = tame

    def pick(self, choices, good=None):
        """Returns one of the choices.  With `tame`, it is one of the first `good` ones, which are valid."""
        return self.random.choice(choices[:good] if self.tame and good else choices)

    def with_probability(self, probability):
        return self.random.random() < probability

    @staticmethod
    def without_nulls(**members):
        return {key: value for key, value in members.items() if value is not None}

    def resource(self):
        resource = self.without_nulls(source=self.pick(SOURCES, 2),
                                      compression=self.pick([None, None, "gzip", "", "xz"], 4))
        if self.with_probability(0.1):
            resource["verification"] = {"hash": self.pick(HASHES, 1)}
        return resource

    def node(self, **more):
        node = self.without_nulls(path=self.pick(PATHS, 4), overwrite=self.pick([None, False, True], 2), **more)
        if self.with_probability(0.2):
            node["user"] = self.pick([{"id": 0}, {"name": "x"}, {"id": 1, "name": ""}, {"id": 1, "name": "y"}], 3)
        return node

    def file(self):
        file = self.node(contents=self.resource(), mode=self.pick([None, 0, 420, 4095, 4096, -1], 3))
        if self.with_probability(0.1):
            file["append"] = [self.resource()]
        return file

    def partition(self, number):
        return self.without_nulls(
            number=self.pick([number, 0, 1], 1), label=self.pick([None, "a", "b", "x" * 40, "a:b"], 1),
            startMiB=self.pick([None, 0, 1, 10], 2), sizeMiB=self.pick([None, 0, 5, 20]),
            shouldExist=self.pick([None, None, False], 2),
            guid=self.pick([None, "", "01234567-89AB-CDEF-EDCB-A98765432101", "x"], 3),
        )

    def storage(self):
        storage = {"files": [self.file() for _ in range(self.random.randint(0, 2))]}
        if self.with_probability(0.2):
            storage["directories"] = [self.node(mode=self.pick([493, 9999], 1))]
        if self.with_probability(0.3):
            storage["links"] = [self.node(target=self.pick(["/x", "../y", "", None], 2), hard=self.pick([None, True]))]
        if self.with_probability(0.3):
            storage["disks"] = [{"device": self.pick(["/dev/a", "", "x"], 1),
                                 "partitions": [self.partition(i) for i in range(1, self.random.randint(2, 4))]}]
        if self.with_probability(0.3):
            storage["filesystems"] = [self.without_nulls(
                device=self.pick(["/dev/a", ""], 1), format=self.pick(["ext4", "xfs", "vfat", "none", "zfs", "", None], 3),
                label=self.pick([None, "a", "x" * 17], 2), path=self.pick([None, "/x", "y"], 2))]
        if self.with_probability(0.2):
            storage["raid"] = [self.without_nulls(
                name="r", level=self.pick(["raid1", "0", "x", "", None], 1), spares=self.pick([None, 0, 1]),
                devices=self.pick([["/dev/a"], ["a"], [], ["/dev/a", "/dev/a"], None], 1))]
        return storage

    def unit(self):
        unit = self.without_nulls(name=self.pick(["a.service", "b.timer", "c", "d.conf", ""], 2),
                                  contents=self.pick(CONTENTS, 2), enabled=self.pick([None, True]))
        if self.with_probability(0.3):
            unit["dropins"] = [self.without_nulls(name=self.pick(["x.conf", "y"], 1), contents=self.pick(CONTENTS, 2))]
        return unit

    def config(self):
        version = self.random.choice(["3.0.0", "3.1.0", "3.2.0", "3.3.0"])
        config = {"ignition": {"version": version}, "storage": self.storage()}
        config["systemd"] = {"units": [self.unit() for _ in range(self.random.randint(0, 2))]}
        if self.with_probability(0.3):
            keys = self.pick([["a"], [], ["a", "a"]], 2)
            config["passwd"] = {"users": [{"name": "core", "sshAuthorizedKeys": keys}] * self.pick([1, 2], 1)}
        if version != "3.0.0" and self.with_probability(0.2):
            config["ignition"]["proxy"] = {"httpProxy": self.pick(["http://x", "https://x", "x", ""], 2)}
        if self.with_probability(0.2):
            config["ignition"]["config"] = {"merge": [self.resource()]}
        if self.with_probability(0.1):
            config["ignition"]["security"] = {"tls": {"certificateAuthorities": [self.resource()]}}
        return config


def test_accepts_the_same_configs_as_ignition(tmp_path):
    shell.need("ignition-validate")
    differences = []
    valid = 0
    for seed in range(COUNT):
        path = tmp_path / "config.ign"
        path.write_text(json.dumps(Maker(seed, tame=seed % 2 == 0).config()))
        theirs = subprocess.run(["ignition-validate", path], capture_output=True, text=True, check=False)
        ours = subprocess.run([PINTLE, "validate", path], capture_output=True, text=True, check=False)
        valid += theirs.returncode == 0
        if (theirs.returncode == 0) != (ours.returncode == 0):
            differences.append(f"{path.read_text()}\n  theirs: {theirs.stdout}{theirs.stderr}\n  ours: {ours.stderr}")
    assert not differences, "\n".join(differences)
    assert COUNT / 10 < valid < COUNT * 9 / 10  # Both valid and invalid configs have occurred.
