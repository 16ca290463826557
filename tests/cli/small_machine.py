# SPDX-License-Identifier: Apache-2.0
"""The file tree of a machine that is not running, for `pintle --root`."""

import hashlib
import os

from program import pintle


def tree(root, *parts):
    """Returns everything that a config can change, as one value to compare."""
    found = {}
    for part in parts:
        for path in sorted([root / part, *(root / part).rglob("*")]):
            status = path.lstat()
            contents = os.readlink(path) if path.is_symlink() else \
                hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found[str(path.relative_to(root))] = (oct(status.st_mode), status.st_uid, status.st_gid, contents)
    return found


class Machine:
    def __init__(self, root):
        self.root = root
        for folder in ["etc/systemd/system", "home/core", "usr/lib/systemd/system", "var/lib"]:
            (root / folder).mkdir(parents=True)
        os.chown(root / "home/core", 1000, 1000)
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\ncore:x:1000:1000::/home/core:/bin/sh\n")
        (root / "etc/group").write_text("root:x:0:\ncore:x:1000:\n")
        (root / "etc/shadow").write_text("root:*:19000:0:99999:7:::\ncore:*:19000:0:99999:7:::\n")
        (root / "etc/.pwd.lock").write_text("")
        (root / "etc/motd").write_text("the OS's greeting\n")

    def run(self, verb, *words, status=0, **limits):
        answer = pintle(verb, "--root", self.root, *words, **limits)
        assert answer.status == status, (answer.status, answer.stdout, answer.stderr)
        return answer

    def tree(self):
        return tree(self.root, "etc", "home", "usr")

    def path(self, path):
        return self.root / path.lstrip("/")
