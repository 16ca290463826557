# SPDX-License-Identifier: Apache-2.0
"""Makes the API server's Service reachable for the pods of a node, in place of kube-proxy."""

import pathlib

from . import shell
from .cluster import SERVICE
from .daemon import Daemon

_FORWARDER = pathlib.Path("/lib/systemd/systemd-socket-proxyd")


class ApiService(Daemon):
    """A program in the network of the node that forwards connections from the Service's address to the API server."""

    def __init__(self, cluster, network):
        self._network = network
        super().__init__(cluster.folder / f"service-{network.name}.log", "nsenter", f"--net={network.path}",
                         "systemd-socket-activate", f"--listen={SERVICE}:443", _FORWARDER,
                         cluster.url.removeprefix("https://"))

    def __enter__(self):
        shell.need("nsenter", "systemd-socket-activate")
        # The address goes with the network.
        shell.run("ip", "-netns", self._network.name, "address", "add", f"{SERVICE}/32", "dev", "lo")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
