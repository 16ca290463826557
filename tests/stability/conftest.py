# SPDX-License-Identifier: Apache-2.0
"""Lets these tests use the programs of the tests of the command line."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
