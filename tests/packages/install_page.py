# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/install.md."""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/install.md"


def blocks():
    """Returns the commands of each block of the page, without the comments behind them."""
    found = re.findall(r"(?m)^((?:^ {4}.*\n)+)", PAGE.read_text(encoding="utf-8"))
    return [re.sub(r"\\\n +", "", re.sub(r"(?m)^ {4}| +# .*$", "", block)).splitlines() for block in found]


def commands(beginning):
    found, = [block for block in blocks() if block[0].startswith(beginning)]
    return found
