# SPDX-License-Identifier: Apache-2.0
"""Checks whether a JSON document is a valid bill of materials by SPDX 2.3.

This is written from the specification (https://spdx.github.io/spdx-spec/v2.3/), and shares no code with packaging/spdx.py.
It knows the parts of SPDX that our bills have, and rejects others: snippets, annotations, references to other documents.
"""

import collections
import hashlib
import json
import pathlib
import re

# Debian's packages node-spdx-license-ids and node-spdx-exceptions have SPDX's lists.
IDS = pathlib.Path("/usr/share/nodejs/spdx-license-ids/index.json")
EXCEPTIONS = pathlib.Path("/usr/share/nodejs/spdx-exceptions/index.json")

NONE = ("NONE", "NOASSERTION")
ID = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
AGENT = r"(Person|Organization): \S.*"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# The length of a checksum in hexadecimal digits.
DIGITS = {"SHA1": 40, "SHA256": 64, "SHA512": 128, "MD5": 32}
CATEGORIES = ("SECURITY", "PACKAGE-MANAGER", "PERSISTENT-ID", "OTHER")
RELATIONSHIPS = frozenset(
    """DESCRIBES DESCRIBED_BY CONTAINS CONTAINED_BY DEPENDS_ON DEPENDENCY_OF BUILD_TOOL_OF GENERATES GENERATED_FROM
    STATIC_LINK DYNAMIC_LINK COPY_OF OTHER""".split())
# Name of a field: (whether it is required, its type).
FIELDS = {
    "document": {"spdxVersion": (True, str), "dataLicense": (True, str), "SPDXID": (True, str), "name": (True, str),
                 "documentNamespace": (True, str), "creationInfo": (True, dict), "packages": (True, list),
                 "files": (False, list), "relationships": (True, list), "hasExtractedLicensingInfos": (False, list),
                 "comment": (False, str)},
    "creationInfo": {"created": (True, str), "creators": (True, list), "licenseListVersion": (False, str),
                     "comment": (False, str)},
    "package": {"SPDXID": (True, str), "name": (True, str), "downloadLocation": (True, str), "versionInfo": (False, str),
                "supplier": (False, str), "filesAnalyzed": (False, bool), "packageVerificationCode": (False, dict),
                "licenseConcluded": (False, str), "licenseDeclared": (False, str), "licenseComments": (False, str),
                "copyrightText": (False, str), "sourceInfo": (False, str), "externalRefs": (False, list),
                "comment": (False, str)},
    "packageVerificationCode": {"packageVerificationCodeValue": (True, str),
                                "packageVerificationCodeExcludedFiles": (False, list)},
    "externalRef": {"referenceCategory": (True, str), "referenceType": (True, str), "referenceLocator": (True, str)},
    "file": {"SPDXID": (True, str), "fileName": (True, str), "checksums": (True, list), "licenseConcluded": (False, str),
             "licenseInfoInFiles": (False, list), "copyrightText": (False, str), "comment": (False, str)},
    "checksum": {"algorithm": (True, str), "checksumValue": (True, str)},
    "extracted licence": {"licenseId": (True, str), "extractedText": (True, str), "name": (False, str)},
    "relationship": {"spdxElementId": (True, str), "relationshipType": (True, str), "relatedSpdxElement": (True, str)},
}


class LicenceError(Exception):
    """The text is no licence expression."""


def licences_in(expression):
    """Returns the licences and the exceptions that an expression names (SPDX 2.3, annex D): two sets."""
    words = re.findall(r"[()]|[^\s()]+", expression)
    licences, exceptions = set(), set()

    def next_word(what):
        if not words or words[0] in (")", "AND", "OR", "WITH"):
            raise LicenceError(f"{what} is missing before {words[0] if words else 'the end'}")
        return words.pop(0)

    def operand():
        word = next_word("a licence")
        if word == "(":
            whole()
            if not words or words.pop(0) != ")":
                raise LicenceError("a parenthesis is not closed")
            return
        if not re.fullmatch(r"[A-Za-z0-9.-]+\+?", word) or word.startswith("LicenseRef-") and word.endswith("+"):
            raise LicenceError(f"{word} is no name of a licence")
        licences.add(word)
        if words and words[0] == "WITH":
            words.pop(0)
            exceptions.add(next_word("an exception"))

    def whole():
        operand()
        while words and words[0] in ("AND", "OR"):
            words.pop(0)
            operand()

    whole()
    if words:
        raise LicenceError(f"{words[0]} follows a complete expression")
    return licences, exceptions


class Check:
    """The findings about one document, each a line with its place."""

    def __init__(self, document):
        self.document, self.findings = document, []
        self._ids = set(json.loads(IDS.read_text(encoding="utf-8")))
        self._exceptions = set(json.loads(EXCEPTIONS.read_text(encoding="utf-8")))

    def require(self, condition, place, problem):
        if not condition:
            self.findings.append(f"{place}: {problem}")
        return condition

    def fields(self, kind, value, place):
        """Checks the names and the types of all fields, and returns whether the value can be looked at any further."""
        known, before = FIELDS[kind], len(self.findings)
        if not self.require(isinstance(value, dict), place, "it is no object"):
            return False
        for name in value.keys() - known.keys():
            self.require(False, place, f"{name} is no field of a {kind}")
        for name, (required, of_type) in known.items():
            if name in value:
                self.require(isinstance(value[name], of_type) and value[name] not in ("", None), place,
                             f"{name} is no {of_type.__name__}, or is empty")
            else:
                self.require(not required, place, f"{name} is missing")
        return len(self.findings) == before

    def all(self):
        document = self.document
        if not self.fields("document", document, "document"):
            return self.findings
        self._head(document)
        licences = document.get("hasExtractedLicensingInfos", [])
        parts = {"package": document["packages"], "file": document.get("files", []),
                 "relationship": document["relationships"], "extracted licence": licences}
        # A list, as a comprehension in all() would stop at the first part with a finding.
        if not all([self.fields(kind, each, f"{kind} {number}") for kind, values in parts.items()
                    for number, each in enumerate(values)]):
            return self.findings
        self._names(parts)
        for package in parts["package"]:
            self._package(package, package["SPDXID"])
        for file in parts["file"]:
            self._file(file, file["SPDXID"])
        for relationship in parts["relationship"]:
            self._relationship(relationship)
        self.require(any(each["relationshipType"] == "DESCRIBES" and each["spdxElementId"] == "SPDXRef-DOCUMENT"
                         for each in parts["relationship"]), "document", "it describes nothing")
        self._verification_codes(parts)
        return self.findings

    def _head(self, document):
        self.require(document["spdxVersion"] == "SPDX-2.3", "document", "spdxVersion is not SPDX-2.3")
        self.require(document["dataLicense"] == "CC0-1.0", "document", "dataLicense is not CC0-1.0")
        self.require(document["SPDXID"] == "SPDXRef-DOCUMENT", "document", "SPDXID is not SPDXRef-DOCUMENT")
        self.require(re.fullmatch(r"[a-z][a-z0-9+.-]*://[^\s#]+", document["documentNamespace"]), "document",
                     "documentNamespace is no URI without a fragment")
        made = document["creationInfo"]
        if self.fields("creationInfo", made, "creationInfo"):
            self.require(TIME.fullmatch(made["created"]), "creationInfo", "created is no time in UTC")
            self.require(made["creators"], "creationInfo", "creators is empty")
            for creator in made["creators"]:
                self.require(re.fullmatch(AGENT + r"|Tool: \S.*", creator), "creationInfo", f"{creator} is no creator")

    def _names(self, parts):
        elements = [each["SPDXID"] for kind in ("package", "file") for each in parts[kind]]
        for name, count in collections.Counter([*elements, "SPDXRef-DOCUMENT"]).items():
            self.require(ID.fullmatch(name), name, "it is no name of an element")
            self.require(count == 1, name, "several elements have this name")
        self._elements = {*elements, "SPDXRef-DOCUMENT"}
        for name, count in collections.Counter(file["fileName"] for file in parts["file"]).items():
            self.require(count == 1, name, "several files have this name")
        self._extracted = {each["licenseId"] for each in parts["extracted licence"]}
        for name, count in collections.Counter(each["licenseId"] for each in parts["extracted licence"]).items():
            self.require(re.fullmatch(r"LicenseRef-[A-Za-z0-9.-]+", name), name, "it is no name of an extracted licence")
            self.require(count == 1, name, "several texts have this name")

    def _licence(self, expression, place):
        if expression in NONE:
            return
        try:
            licences, exceptions = licences_in(expression)
        except LicenceError as error:
            self.require(False, place, f"{expression}: {error}")
            return
        for name in licences:
            known = self._extracted if name.startswith("LicenseRef-") else self._ids
            self.require(name in known or name.removesuffix("+") in known, place, f"the licence {name} is not known")
        for name in exceptions:
            self.require(name in self._exceptions, place, f"the exception {name} is not known")

    def _package(self, package, place):
        self.require(package["downloadLocation"] in NONE or re.match(r"[a-z+]+://", package["downloadLocation"]), place,
                     "downloadLocation is no URL")
        if "supplier" in package:
            self.require(re.fullmatch(AGENT + "|NOASSERTION", package["supplier"]), place,
                         f"{package['supplier']} is no supplier")
        for field in "licenseConcluded", "licenseDeclared":
            self._licence(package.get(field, "NOASSERTION"), place)
        for number, reference in enumerate(package.get("externalRefs", [])):
            if self.fields("externalRef", reference, f"{place} externalRef {number}"):
                self.require(reference["referenceCategory"] in CATEGORIES, place,
                             f"{reference['referenceCategory']} is no category")
                self.require(reference["referenceType"] != "purl" or re.fullmatch(
                    r"pkg:[a-z]+/[a-z]+/[^\s/@?]+@[^\s/@?]+(\?\S+)?", reference["referenceLocator"]), place,
                             f"{reference['referenceLocator']} is no package URL")

    def _file(self, file, place):
        self.require(re.fullmatch(r"\./[^/].*", file["fileName"]), place, f"the name {file['fileName']} is not relative")
        for number, checksum in enumerate(file["checksums"]):
            if self.fields("checksum", checksum, f"{place} checksum {number}"):
                digits = DIGITS.get(checksum["algorithm"])
                self.require(digits, place, f"{checksum['algorithm']} is no algorithm")
                self.require(re.fullmatch(f"[0-9a-f]{{{digits}}}", checksum["checksumValue"]), place,
                             f"{checksum['checksumValue']} is no {checksum['algorithm']}")
        self.require(any(each.get("algorithm") == "SHA1" for each in file["checksums"]), place, "it has no SHA1")
        for licence in [file.get("licenseConcluded", "NOASSERTION"), *file.get("licenseInfoInFiles", [])]:
            self._licence(licence, place)

    def _relationship(self, relationship):
        kind, place = relationship["relationshipType"], " ".join(relationship.values())
        self.require(kind in RELATIONSHIPS, place, f"{kind} is no kind of relationship")
        for end in relationship["spdxElementId"], relationship["relatedSpdxElement"]:
            self.require(end in self._elements or end == relationship["relatedSpdxElement"] and end in NONE, place,
                         f"{end} does not exist")

    def _verification_codes(self, parts):
        files = {file["SPDXID"]: file for file in parts["file"]}
        contained = collections.defaultdict(list)
        for each in parts["relationship"]:
            if each["relationshipType"] == "CONTAINS" and each["relatedSpdxElement"] in files:
                contained[each["spdxElementId"]].append(files[each["relatedSpdxElement"]])
        for package in parts["package"]:
            place, code = package["SPDXID"], package.get("packageVerificationCode")
            if not package.get("filesAnalyzed", True):
                self.require(code is None and not contained[place], place,
                             "its files are not analyzed, but it has a verification code or files")
            elif self.require(code, place, "it has no verification code") and \
                    self.fields("packageVerificationCode", code, place):
                excluded = code.get("packageVerificationCodeExcludedFiles", [])
                for name in excluded:
                    self.require(re.fullmatch(r"\./[^/].*", name), place, f"the excluded file {name} is not relative")
                digests = sorted(each["checksumValue"] for file in contained[place] if file["fileName"] not in excluded
                                 for each in file["checksums"] if each["algorithm"] == "SHA1")
                self.require(hashlib.sha1("".join(digests).encode("ascii")).hexdigest() ==
                             code["packageVerificationCodeValue"], place, "the verification code is of other files")
        owned = collections.Counter(file["SPDXID"] for files in contained.values() for file in files)
        for name in files:
            self.require(owned[name] == 1, name, f"{owned[name]} packages contain this file")


def findings(document):
    """Returns the problems of a document, one a line; an empty list if the document is valid."""
    return Check(document).all()
