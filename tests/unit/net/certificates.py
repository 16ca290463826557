# SPDX-License-Identifier: Apache-2.0
"""Makes the certificates for the tests of net/ in a folder: certificates.py FOLDER"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from machines import certs  # pylint: disable=wrong-import-position

ours = certs.Authority(sys.argv[1])
ours.server("server", ["127.0.0.1", "localhost"])
ours.server("expired", ["127.0.0.1"], certs.EXPIRED)
ours.server("not-yet", ["127.0.0.1"], certs.NOT_YET_VALID)
ours.server("elsewhere", ["elsewhere.example"])
ours.client("client", "node-1")
others = certs.Authority(pathlib.Path(sys.argv[1]) / "others", "Somebody else")
others.client("client", "node-1")
