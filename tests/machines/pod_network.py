# SPDX-License-Identifier: Apache-2.0
"""A network namespace, as a pod has one, with a link to this machine."""

import itertools
import os
import random
import re

from . import shell

_numbers = itertools.count()


class PodNetwork:
    """The namespace and its link, ready inside `with`.  The link leads to this machine and nowhere else.

    `address` is the pod's address, and `host` is this machine's address in the same network.
    """

    def __init__(self):
        self.name = f"pintle-{os.getpid()}-{next(_numbers)}"
        self.path = f"/run/netns/{self.name}"

    def __enter__(self):
        shell.need("ip")
        # The interface has a name of its own, because the namespace's name can be longer than the kernel allows.
        self._link = f"pod{os.getpid()}x{next(_numbers)}"[:15]
        self.host, self.address = self._free_addresses()
        shell.run("ip", "netns", "add", self.name)
        try:
            shell.run("ip", "link", "add", self._link, "type", "veth", "peer", "name", "eth0", "netns", self.name)
            shell.run("ip", "address", "add", f"{self.host}/30", "dev", self._link)
            shell.run("ip", "link", "set", self._link, "up")
            for words in (["address", "add", f"{self.address}/30", "dev", "eth0"], ["link", "set", "eth0", "up"],
                          ["link", "set", "lo", "up"]):
                shell.run("ip", "-netns", self.name, *words)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # The kernel removes the link with the namespace.
        shell.run("ip", "netns", "delete", self.name)

    @staticmethod
    def _free_addresses():
        """Returns two addresses of a network that this machine does not use yet."""
        taken = set(re.findall(r"10\.\d+\.\d+\.\d+", shell.run("ip", "route", "show", "table", "all").stdout))
        while True:
            network = f"10.213.{random.randrange(256)}.{4 * random.randrange(64)}"
            if network not in taken:
                start, _, last = network.rpartition(".")
                return f"{start}.{int(last) + 1}", f"{start}.{int(last) + 2}"
