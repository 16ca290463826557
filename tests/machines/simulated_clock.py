# SPDX-License-Identifier: Apache-2.0
"""A wall clock that a test sets, for programs on the host and on nodes.  All of them read it from the same file.

See tests/integration/wall_clock.cc.  The clocks of the host, of the API server and of everything else stay right.
"""

import datetime
import os
import pathlib

from . import programs

_LIBRARY = "tests/integration/wall-clock.so"
_PLACE = "/run/simulated-clock"    # The folder with the file on nodes.
_FILE = "ahead"


class SimulatedClock:
    """`folder` is a new folder for the file."""

    def __init__(self, folder):
        self._folder = folder
        folder.mkdir()
        self.set(datetime.timedelta(0))

    def set(self, ahead):
        """Sets how far the clock is ahead of the real one."""
        self._ahead = ahead
        new = self._folder / "new"
        new.write_text(str(round(ahead.total_seconds())), encoding="ascii")
        new.rename(self._folder / _FILE)

    def now(self):
        return datetime.datetime.now(datetime.timezone.utc) + self._ahead

    @property
    def environment(self):
        """Returns the variables that give a program on the host this clock."""
        build = pathlib.Path(os.environ.get("PINTLE_BUILD", "build")).absolute()
        return {"LD_PRELOAD": str(build / _LIBRARY), "PINTLE_WALL_CLOCK": str(self._folder / _FILE)}

    @property
    def binds(self):
        """Returns the binds that a Node needs for use_on()."""
        return {str(self._folder): _PLACE}

    def use_on(self, machine):
        """Gives all of Pintle's services on a node this clock, from their next start on."""
        for unit in ("pintled.service", "pintle-.service"):    # The second one stands for all units with this prefix.
            machine.run("mkdir", "--parents", f"/etc/systemd/system/{unit}.d")
            machine.run("tee", f"/etc/systemd/system/{unit}.d/clock.conf", input=(
                f"[Service]\nEnvironment=LD_PRELOAD={programs.BUILD_ON_MACHINE}/{_LIBRARY}\n"
                f"Environment=PINTLE_WALL_CLOCK={_PLACE}/{_FILE}\n"))
        machine.run("systemctl", "daemon-reload")
