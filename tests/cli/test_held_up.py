# SPDX-License-Identifier: Apache-2.0
"""Tests that unusual links, configs and records do not hide findings, do not delay other configs, and do not silently
lock users out.
"""

import base64
import gzip
import json
import os
import shutil

import pytest
from program import MB, file, pintle, refused, with_files, write
from small_machine import Machine

PASSWORDS = "/etc/machine-config-daemon/pintle-passwords.json"
CURRENT = "/etc/machine-config-daemon/currentconfig"
LONG = 150 * MB

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to users, which needs root")


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "root").mkdir()
    tmp_path.chmod(0o755)
    return Machine(tmp_path / "root")


def with_core(*files, password="$6$salt$ours"):
    user = {"name": "core", "sshAuthorizedKeys": ["key"], "passwordHash": password}
    return {**with_files(*files), "passwd": {"users": [user]}}


def test_a_link_of_a_user_hides_no_findings_and_stops_no_config(machine, tmp_path):
    machine.run("apply", "--yes", write(tmp_path / "a.ign", with_core(file("/etc/a", "one"))))
    shutil.rmtree(machine.path("/home/core/.ssh"))
    machine.path("/home/core/.ssh").symlink_to("/etc")
    more = write(tmp_path / "b.ign", with_core(file("/etc/a", "one"), file("/etc/b", "two")))
    machine.run("apply", "--yes", more)
    assert machine.path("/etc/b").read_text() == "two"
    machine.path("/etc/a").write_text("edited")
    found = machine.run("verify", status=2).stdout
    assert "/home/core/.ssh: a link or a file is in the place of this folder; remove it" in found
    assert 'content mismatch for file "/etc/a"' in found


def test_keys_go_into_a_new_folder_if_root_owns_the_old_one(machine, tmp_path):
    machine.path("/home/core/.ssh").mkdir()
    machine.path("/home/core/.ssh/mine").write_text("kept")
    machine.run("apply", "--yes", write(tmp_path / "a.ign", with_core()))
    assert machine.path("/home/core/.ssh").stat().st_uid == 1000
    assert machine.path("/home/core/.ssh/authorized_keys.d/ignition").read_text() == "key\n"
    assert machine.path("/home/core/.ssh.before-pintle/mine").read_text() == "kept"


@pytest.mark.parametrize("path", [CURRENT, PASSWORDS, "/var/lib/pintle/x", "/run/pintle/seen-files"])
def test_a_config_cannot_have_files_that_belong_to_pintle(machine, path, tmp_path):
    before = machine.tree()
    taking = write(tmp_path / "a.ign", with_files(file(path, "theirs")))
    refused("apply", "--root", machine.root, "--yes", taking,
            texts=[f"cannot write {path}: a file there would be in the way of Pintle's own files"])
    assert machine.tree() == before


def test_a_machine_refuses_configs_that_refer_to_others(machine, tmp_path):
    merging = {"ignition": {"version": "3.4.0", "config": {"merge": [{"source": "https://example.com/more.ign"}]}}}
    refused("apply", "--root", machine.root, "--yes", write(tmp_path / "a.ign", merging),
            texts=["ignition.config: nothing fetches other configs"])


def test_a_damaged_record_of_passwords_is_reported_before_it_locks_anyone(machine, tmp_path):
    shadow = machine.path("/etc/shadow")
    shadow.write_text(shadow.read_text().replace("core:*", "core:$6$own$own"))
    machine.run("apply", "--yes", write(tmp_path / "a.ign", with_core()))
    machine.path(PASSWORDS).write_text("{torn")
    assert "core will be locked when no config has the user any more" in machine.run("verify", status=2).stdout
    machine.run("apply", "--yes", "--none", status=2)
    assert "core:$6$salt$ours:" in shadow.read_text()
    machine.run("restore", "core")
    machine.run("verify")
    machine.run("apply", "--yes", "--none")
    assert "core:*:" in shadow.read_text()


def test_a_long_file_is_applied_and_removed_in_little_memory(machine, tmp_path):
    source = "data:;base64," + base64.b64encode(gzip.compress(b"0123456789abcde\n" * (LONG // 16), 1)).decode()
    packed = {"path": "/etc/long", "contents": {"source": source, "compression": "gzip"}}
    config = write(tmp_path / "a.ign", with_files(packed))
    for words in [["apply", "--yes", config], ["verify"], ["apply", "--yes", "--none"]]:
        verb, *rest = words
        answer = pintle(verb, "--root", machine.root, *rest, memory=256 * MB)
        assert answer.status == 0, answer.stderr
        assert machine.path("/etc/long").exists() == (words[-1] != "--none")


def test_a_config_over_the_size_limit_is_refused_before_any_change(machine, tmp_path):
    before = machine.tree()
    long = {"path": "/etc/long", "contents": {"source": "data:," + "x" * (70 * MB)}}
    config = write(tmp_path / "a.ign", json.dumps(with_files(long)))
    refused("validate", config, texts=["/etc/long has 73400326 bytes: compress it with gzip", "67108864"])
    refused("apply", "--root", machine.root, "--yes", config, texts=["a.ign: longer than 67108864 bytes"],
            memory=256 * MB)
    assert machine.tree() == before
