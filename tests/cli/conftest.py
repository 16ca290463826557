# SPDX-License-Identifier: Apache-2.0
"""Lets the tests import program.py beside them, and tests/machines."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]
