# SPDX-License-Identifier: Apache-2.0
"""Tests how machines.kubernetes turns apt's lists of packages into lists of sources, in both of apt's formats."""

from machines import kubernetes


def test_a_list_of_packages_becomes_a_list_of_sources():
    text = """\
# deb archive:/commented suite main
deb [signed-by=/keys/a.asc arch=amd64] archive:/one suite main

deb\tarchive:/two suite main contrib
deb-src archive:/two suite main contrib
"""
    assert kubernetes.sources_of_lines(text) == """\
deb-src [signed-by=/keys/a.asc arch=amd64] archive:/one suite main
deb-src archive:/two suite main contrib
"""


def test_stanzas_become_stanzas_of_sources_and_keep_all_other_lines():
    text = """\
# A comment.
Types: deb deb-src
URIs: archive:/one
Suites: suite suite-updates
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----

types: deb
Enabled: no
"""
    assert kubernetes.sources_of_stanzas(text) == (
        text.replace("Types: deb deb-src", "Types: deb-src").replace("types: deb\n", "Types: deb-src\n"))
