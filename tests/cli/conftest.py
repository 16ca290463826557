# SPDX-License-Identifier: Apache-2.0
"""Finds program.py beside the tests."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
