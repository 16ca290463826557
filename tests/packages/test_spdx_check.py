# SPDX-License-Identifier: Apache-2.0
"""Tests spdx_check.py: a bill of packaging/spdx.py is valid, and a bill that breaks a rule has a finding about it."""

import copy
import json
import pathlib
import sys
import types

import pytest
import spdx_check

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "packaging"))
import spdx  # noqa: E402

GNU = b"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nLicense: LGPL-2.1+ and Expat\n"
OWN = b"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nLicense: own\n Do what is right.\n"


class Package(types.SimpleNamespace):
    __hash__ = object.__hash__    # spdx.document() uses packages as keys.


def package(name, copyright_file, purl=""):
    return Package(name=name, version="1.0-1", source="built from a source package",
                   supplier="Organization: Debian", copyright_file=copyright_file, purl=purl)


def valid_bill():
    image = package("image", b"Apache-2.0 as text")
    first, second = package("libone+", GNU, "pkg:deb/debian/libone%2B@1.0-1?arch=amd64"), package("two", OWN)
    files = {"/usr/lib/one": (first, b"1"), "/usr/bin/two": (second, b"2"), "/usr/bin/more": (second, b"3"),
             "/etc/passwd": (image, b"4")}
    return json.loads(spdx.document(image, [first, second], files, {second: [("headers", "3.1")]}, 0, "/usr/bill"))


BILL = valid_bill()


def test_a_bill_of_ours_is_valid():
    assert spdx_check.findings(BILL) == []
    code = BILL["packages"][0]["packageVerificationCode"]
    assert code["packageVerificationCodeExcludedFiles"] == ["./usr/bill"]


def change(*path, to):
    """Returns an edit that sets a field, or removes it if `to` is None."""
    def edit(bill):
        for step in path[:-1]:
            bill = bill[step]
        if to is None:
            del bill[path[-1]]
        else:
            bill[path[-1]] = to
    return edit


def add_file(bill):
    """Adds another file, which no package has in its verification code."""
    bill["files"].append({**bill["files"][0], "SPDXID": "SPDXRef-File-99", "fileName": "./another"})
    bill["relationships"].append({"spdxElementId": "SPDXRef-Image", "relationshipType": "CONTAINS",
                                  "relatedSpdxElement": "SPDXRef-File-99"})


def exclude_a_file(bill):
    bill["packages"][0]["packageVerificationCode"]["packageVerificationCodeExcludedFiles"] = ["./etc/passwd"]


LICENCE = "packages", 1, "licenseDeclared"
BROKEN = [
    (change("spdxVersion", to="SPDX-2.2"), "document: spdxVersion is not SPDX-2.3"),
    (change("dataLicense", to="MIT"), "document: dataLicense is not CC0-1.0"),
    (change("SPDXID", to="SPDXRef-Bill"), "document: SPDXID is not SPDXRef-DOCUMENT"),
    (change("name", to=None), "document: name is missing"),
    (change("name", to=""), "document: name is no str, or is empty"),
    (change("packages", to={}), "document: packages is no list, or is empty"),
    (change("colour", to="red"), "document: colour is no field of a document"),
    (change("documentNamespace", to="https://spdx.org/a#b"), "document: documentNamespace is no URI without a fragment"),
    (change("creationInfo", "created", to="2026-11-29"), "creationInfo: created is no time in UTC"),
    (change("creationInfo", "creators", to=[]), "creationInfo: creators is empty"),
    (change("creationInfo", "creators", 0, to="someone"), "creationInfo: someone is no creator"),
    (change("packages", 1, "downloadLocation", to=None), "package 1: downloadLocation is missing"),
    (change("packages", 1, "downloadLocation", to="here"), "SPDXRef-Package-liboneplus: downloadLocation is no URL"),
    (change("packages", 1, "supplier", to="Debian"), "SPDXRef-Package-liboneplus: Debian is no supplier"),
    (change("packages", 1, "SPDXID", to="SPDXRef-lib+"), "SPDXRef-lib+: it is no name of an element"),
    (change("packages", 1, "SPDXID", to="SPDXRef-Package-two"), "SPDXRef-Package-two: several elements have this name"),
    (change("packages", 1, "externalRefs", 0, "referenceCategory", to="PURL"),
     "SPDXRef-Package-liboneplus: PURL is no category"),
    (change("packages", 1, "externalRefs", 0, "referenceLocator", to="deb/one"),
     "SPDXRef-Package-liboneplus: deb/one is no package URL"),
    (change("packages", 1, "packageVerificationCode", to=None), "SPDXRef-Package-liboneplus: it has no verification code"),
    (change("packages", 1, "filesAnalyzed", to=False),
     "SPDXRef-Package-liboneplus: its files are not analyzed, but it has a verification code or files"),
    (change("packages", 1, "packageVerificationCode", "packageVerificationCodeValue", to="0" * 40),
     "SPDXRef-Package-liboneplus: the verification code is of other files"),
    (add_file, "SPDXRef-Image: the verification code is of other files"),
    (exclude_a_file, "SPDXRef-Image: the verification code is of other files"),
    (change("packages", 0, "packageVerificationCode", "packageVerificationCodeExcludedFiles", to=["/usr/bill"]),
     "SPDXRef-Image: the excluded file /usr/bill is not relative"),
    (change("files", 0, "fileName", to="/etc/passwd"), "SPDXRef-File-1: the name /etc/passwd is not relative"),
    (change("files", 0, "fileName", to="./usr/bin/more"), "./usr/bin/more: several files have this name"),
    (change("files", 0, "checksums", 0, "algorithm", to="SHA256"), "SPDXRef-File-1: it has no SHA1"),
    (change("files", 0, "checksums", 0, "algorithm", to="CRC"), "SPDXRef-File-1: CRC is no algorithm"),
    (change("files", 0, "checksums", 1, "checksumValue", to="12"), "SPDXRef-File-1: 12 is no SHA256"),
    (change("relationships", 0, "relationshipType", to="HAS"),
     "SPDXRef-DOCUMENT HAS SPDXRef-Image: HAS is no kind of relationship"),
    (change("relationships", 0, "relatedSpdxElement", to="SPDXRef-Gone"),
     "SPDXRef-DOCUMENT DESCRIBES SPDXRef-Gone: SPDXRef-Gone does not exist"),
    (change("relationships", 0, "relationshipType", to="OTHER"), "document: it describes nothing"),
    (change("relationships", -1, to=None), "SPDXRef-File-4: 0 packages contain this file"),
    (change(*LICENCE, to="LGPL-2.1+ and MIT"), "SPDXRef-Package-liboneplus: LGPL-2.1+ and MIT: and follows a complete "
                                               "expression"),
    (change(*LICENCE, to="MIT OR"), "SPDXRef-Package-liboneplus: MIT OR: a licence is missing before the end"),
    (change(*LICENCE, to="(MIT"), "SPDXRef-Package-liboneplus: (MIT: a parenthesis is not closed"),
    (change(*LICENCE, to="MIT/X"), "SPDXRef-Package-liboneplus: MIT/X: MIT/X is no name of a licence"),
    (change(*LICENCE, to="Expat"), "SPDXRef-Package-liboneplus: the licence Expat is not known"),
    (change(*LICENCE, to="LicenseRef-none"), "SPDXRef-Package-liboneplus: the licence LicenseRef-none is not known"),
    (change(*LICENCE, to="MIT WITH care"), "SPDXRef-Package-liboneplus: the exception care is not known"),
    (change("files", 0, "licenseConcluded", to="Expat"), "SPDXRef-File-1: the licence Expat is not known"),
    (change("hasExtractedLicensingInfos", 0, "extractedText", to=None), "extracted licence 0: extractedText is missing"),
    (change("hasExtractedLicensingInfos", 0, "licenseId", to="LicenseRef-a_b"),
     "LicenseRef-a_b: it is no name of an extracted licence"),
    (change("hasExtractedLicensingInfos", 0, "licenseId", to="LicenseRef-two-own"),
     "LicenseRef-two-own: several texts have this name"),
]


@pytest.mark.parametrize("edit, finding", BROKEN, ids=[finding for _, finding in BROKEN])
def test_a_bill_that_breaks_a_rule_is_invalid(edit, finding):
    bill = copy.deepcopy(BILL)
    edit(bill)
    assert finding in spdx_check.findings(bill)


@pytest.mark.parametrize("expression, licences, exceptions", [
    ("MIT", {"MIT"}, set()),
    ("MIT AND (Apache-2.0 OR GPL-2.0-or-later)", {"MIT", "Apache-2.0", "GPL-2.0-or-later"}, set()),
    ("((MIT)) OR LGPL-2.1-only", {"MIT", "LGPL-2.1-only"}, set()),
    ("GPL-3.0-or-later WITH GCC-exception-3.1 AND MIT", {"GPL-3.0-or-later", "MIT"}, {"GCC-exception-3.1"}),
])
def test_licence_expressions_are_read(expression, licences, exceptions):
    assert spdx_check.licences_in(expression) == (licences, exceptions)
