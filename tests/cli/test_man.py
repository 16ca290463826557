# SPDX-License-Identifier: Apache-2.0
"""The manual pages tell of what there is: each verb, each setting; and man(1) finds nothing wrong with them."""

import pathlib
import re
import shutil
import subprocess

import pytest
from program import pintle

SOURCE = pathlib.Path(__file__).parents[2]
PAGES = sorted((SOURCE / "man").glob("*.[1-8]"))


def text_of(page):
    return (SOURCE / "man" / page).read_text().replace("\\-", "-")


def test_each_verb_is_in_the_manual():
    verbs = [line.split()[0] for line in pintle("help").stdout.splitlines() if line.startswith("  ")]
    heads = [line for line in text_of("pintle.1").splitlines() if line.startswith((".B ", ".BI ", ".BR "))]
    assert [verb for verb in verbs if not any(re.search(rf"\b{verb}\b", head) for head in heads)] == []


def test_each_setting_is_in_the_manual_and_no_other():
    known = re.findall(r'Key\{"\w+", "(\w+)"', (SOURCE / "src/agent/settings.cc").read_text())
    told = re.findall(r"(?m)^\.TP\n\.B (\w+)=$", text_of("pintled.conf.5"))
    assert known and sorted(told) == sorted(known)


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_mistakes(page):
    shown = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True, check=True)
    assert shown.stderr == "" and len(PAGES) == 4
