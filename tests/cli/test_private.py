# SPDX-License-Identifier: Apache-2.0
"""Tests that lines of files that not everyone may read are printed only on request."""

import os

import pytest
from program import file, ignition, machine_config, pintle, write
from small_machine import Machine

OLD, NEW, EDITED = "colour = violet", "colour = orange", "colour = silver"
HINT = "private contents differ"


def config(contents, mode):
    return ignition(storage={"files": [file("/etc/app.conf", contents, mode=mode)]})


@pytest.mark.parametrize("old_mode,new_mode,is_private", [
    (0o644, 0o644, False), (0o604, 0o644, False), (0o600, 0o600, True), (0o640, 0o644, True), (0o644, 0o600, True)])
def test_a_diff_prints_no_lines_if_either_side_is_private(old_mode, new_mode, is_private, tmp_path):
    files = [write(tmp_path / name, machine_config(config(contents, mode)))
             for name, contents, mode in [("old.json", OLD, old_mode), ("new.json", NEW, new_mode)]]
    output = pintle("diff", *files).stdout
    assert ("violet" in output) == ("orange" in output) == (not is_private) and (HINT in output) == is_private
    output = pintle("diff", "--show-private", *files).stdout
    assert "-" + OLD in output and "+" + NEW in output and HINT not in output


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to users, which needs root")
@pytest.mark.parametrize("wanted,mode_on_disk", [(0o600, 0o600), (0o644, 0o600), (0o600, 0o644)])
def test_an_edit_of_a_private_file_is_printed_on_request(wanted, mode_on_disk, tmp_path):
    (tmp_path / "root").mkdir()
    machine = Machine(tmp_path / "root")
    machine.run("apply", "--yes", write(tmp_path / "a.ign", config(OLD, wanted)))
    machine.path("/etc/app.conf").write_text(EDITED)
    machine.path("/etc/app.conf").chmod(mode_on_disk)
    new = write(tmp_path / "b.ign", config(NEW, wanted))
    for verb, *words in [("verify",), ("verify", "-o", "json"), ("explain", "/etc/app.conf"),
                         ("apply", "--dry-run", new)]:
        answer = machine.run(verb, *words, status=2)
        assert HINT in answer.stdout
        assert not any(word in answer.stdout + answer.stderr for word in ("violet", "silver", "orange")), (verb, words)
        shown = machine.run(verb, "--show-private", *words, status=2).stdout
        assert OLD in shown and EDITED in shown
    output = machine.run("restore", "/etc/app.conf").stdout
    assert HINT in output and "violet" not in output and "silver" not in output
