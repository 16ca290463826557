# SPDX-License-Identifier: Apache-2.0
"""`python3 -m demo [node|cluster]`: runs the whole demo or one part, with tests/ as PYTHONPATH and as root."""

import signal
import sys

from . import on_a_cluster, on_a_node

PARTS = {"node": on_a_node.run, "cluster": on_a_cluster.run}


def main(names):
    # Machines are context managers, so an exception that ends us leaves nothing behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not set(names) <= set(PARTS):
        sys.exit(f"usage: python3 -m demo [{'|'.join(PARTS)}]")
    try:
        for name in names or PARTS:
            PARTS[name]()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


main(sys.argv[1:])
