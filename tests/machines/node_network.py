# SPDX-License-Identifier: Apache-2.0
"""A network namespace for a node whose pods have addresses of their own."""

import ipaddress

from . import shell
from .pod_network import PodNetwork

_PODS = ipaddress.ip_network("10.224.0.0/12")
_PODS_OF_A_NODE = 26    # The length of the prefix of a node's pods.


class NodeNetwork(PodNetwork):
    """The namespace of a node: all that is not in it is reached through this machine, which has a route to its pods.

    `pods` is the network from which the node's pods get their addresses.
    """

    def __enter__(self):
        super().__enter__()
        try:
            self.pods = _pods_for(self.address)
            shell.run("ip", "-netns", self.name, "route", "add", "default", "via", self.host)
            # The kernel removes the route with the link.
            shell.run("ip", "route", "add", self.pods, "via", self.address)
        except BaseException:
            self.__exit__()
            raise
        return self


def _pods_for(address):
    """Returns a network that no other node has.  Each node has four addresses of a /16 network, and gets the part of
    _PODS that has the same number.
    """
    number = (int(ipaddress.ip_address(address)) & 0xffff) // 4
    size = 2 ** (32 - _PODS_OF_A_NODE)
    return ipaddress.ip_network((int(_PODS.network_address) + number * size, _PODS_OF_A_NODE))
