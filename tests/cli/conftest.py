# SPDX-License-Identifier: Apache-2.0
"""Makes program.py beside the tests, and the machines above them, importable."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]
