# SPDX-License-Identifier: Apache-2.0
"""Tests the link in place of the Machine Config Daemon's program, which systemd-tmpfiles makes at a boot or when the
package is installed.
"""

import os
import pathlib
import shutil
import subprocess

import pytest
from program import PINTLE

CONF = PINTLE.parents[2] / "systemd/pintle.conf"
PLACE = "run/bin/machine-config-daemon"

pytestmark = [pytest.mark.skipif(not shutil.which("systemd-tmpfiles"), reason="there is no systemd-tmpfiles"),
              pytest.mark.skipif(os.geteuid() != 0, reason="creates files of root, which only root can")]


def create(root):
    subprocess.run(["systemd-tmpfiles", "--create", f"--root={root}", pathlib.Path(CONF).absolute()], check=True)
    return os.readlink(root / PLACE)


def test_recipes_find_the_program_where_the_daemon_had_it(tmp_path):
    installed = create(tmp_path)
    assert installed.startswith("/") and installed.endswith("/libexec/machine-config-daemon")
    # Meson installs the link to pintle here, whatever the prefix is.
    plan = (CONF.parents[1] / "meson-info/intro-installed.json").read_text()
    assert f'"{installed}"' in plan
    assert create(tmp_path) == installed


def test_the_link_takes_the_place_of_a_copy_that_the_daemon_left(tmp_path):
    (tmp_path / "run/bin").mkdir(parents=True)
    (tmp_path / PLACE).write_text("the daemon's own")
    create(tmp_path)
    (tmp_path / "run/bin/other").touch()
    create(tmp_path)
    assert (tmp_path / "run/bin/other").exists()
