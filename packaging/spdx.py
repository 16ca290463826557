# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of the controller's image, an SPDX 2.3 document in JSON.

For each file it has the checksums, and the Debian package that the file comes from, with its version and licence.
"""

import datetime
import hashlib
import json
import re
import uuid

# SPDX's names of licences, by Debian's names in lower case.
LICENCES = {name.lower(): spdx for name, spdx in {
    "Apache-2.0": "Apache-2.0", "BSD-2-Clause": "BSD-2-Clause", "BSD-3-Clause": "BSD-3-Clause", "CC0-1.0": "CC0-1.0",
    "curl": "curl", "Expat": "MIT", "ISC": "ISC", "MPL-2.0": "MPL-2.0", "OpenLDAP-2.8": "OLDAP-2.8", "Zlib": "Zlib",
}.items()}
GNU = re.compile(r"(L?GPL)-(\d)(\.\d)?(\+?)")
FORMAT = "https://www.debian.org/doc/packaging-manuals/copyright-format/"


def stanzas(text):
    """Returns the stanzas of a machine-readable copyright file, each as {field: value}."""
    found = []
    for block in re.split(r"\n[ \t]*\n", text):
        fields = re.findall(r"(?m)^([A-Za-z-]+):[ \t]*(.*(?:\n[ \t]+.*)*)", block)
        if fields:
            found.append({name.lower(): value for name, value in fields})
    return found


class Licences:
    """Licences of packages in SPDX's words, and the texts of those that SPDX has no name for."""

    def __init__(self):
        self.texts = {}    # {LicenseRef-...: text}

    def of_package(self, name, copyright_file):
        """Returns the licence that Debian's copyright file gives for the files in general.

        A file that is not machine-readable, or has no such line, is itself the licence's text.
        """
        reference_to_file = f"LicenseRef-{name.replace('+', 'plus')}"
        text = copyright_file.decode("utf-8", errors="replace")
        if not text.startswith("Format:") or FORMAT.partition(":")[2] not in text.splitlines()[0]:
            self.texts[reference_to_file] = text
            return reference_to_file
        parts = stanzas(text)
        licence = next((part["license"] for part in parts if part.get("files") == "*" and "license" in part), None)
        if licence is None:
            self.texts[reference_to_file] = text
            return reference_to_file
        words = licence.splitlines()[0].strip()
        texts = {part["license"].splitlines()[0].strip(): part["license"] for part in parts if "license" in part}
        names = re.split(r" (and|or) ", words)
        names[::2] = [self._spdx(name, each, texts) for each in names[::2]]
        return " ".join(word.upper() if word in ("and", "or") else word for word in names)

    def _spdx(self, package, name, texts):
        gnu = GNU.fullmatch(name)
        if gnu:
            family, major, minor, later = gnu.groups()
            return f"{family}-{major}{minor or '.0'}-{'or-later' if later else 'only'}"
        if name.lower() in LICENCES:
            return LICENCES[name.lower()]
        # Two packages can have different texts under one name.
        reference = re.sub(r"[^A-Za-z0-9.-]+", "-", f"LicenseRef-{package.replace('+', 'plus')}-{name}")
        self.texts[reference] = texts.get(name, f"The copyright file of the package {package} has the text of {name}.")
        return reference


def checksums(contents):
    return [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(contents).hexdigest()},
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(contents).hexdigest()}]


def verification_code(files, excluded):
    """Returns the digest of a package's files, and the names of those that are not counted (SPDX 2.3, section 7.9)."""
    digests = sorted(hashlib.sha1(contents).hexdigest() for contents in files)
    code = {"packageVerificationCodeValue": hashlib.sha1("".join(digests).encode("ascii")).hexdigest()}
    return code | ({"packageVerificationCodeExcludedFiles": excluded} if excluded else {})


def document(image, packages, files, inside, seconds, bill):
    """Returns the bill of materials as JSON.

    `image` and `packages` are values with a name, a version, a source and a copyright file; `files` is {path: (package,
    contents)}.  `inside` has the libraries whose code a package's program contains: {package: [(name, version)]}.  `bill`
    is the path at which the image has the bill itself, which cannot contain its own digest.
    """
    licences = Licences()
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    described, relationships = [], []

    def add_package(package, reference, comment):
        licence = licences.of_package(package.name, package.copyright_file)
        described.append({
            "SPDXID": reference, "name": package.name, "versionInfo": package.version,
            "supplier": package.supplier, "downloadLocation": "NOASSERTION", "filesAnalyzed": True,
            "packageVerificationCode": verification_code(
                (contents for owner, contents in files.values() if owner is package),
                [f".{bill}"] if package is image else []),
            "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "licenseComments": comment,
            "copyrightText": "NOASSERTION", "sourceInfo": package.source,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": package.purl}] if package.purl else []})
        return licence

    references = {package: f"SPDXRef-Package-{package.name.replace('+', 'plus')}" for package in packages}
    references[image] = "SPDXRef-Image"
    relationships.append(("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Image"))
    own = {image: add_package(image, "SPDXRef-Image", "The licence of Pintle; each package in the image has its own.")}
    for package in packages:
        own[package] = add_package(
            package, references[package],
            f"The licence of the files in general.  /usr/share/doc/{package.name}/copyright has all of them.")
        relationships.append(("SPDXRef-Image", "CONTAINS", references[package]))
    for package, libraries in inside.items():
        for name, version in libraries:
            reference = f"SPDXRef-Inside-{name.replace('+', 'plus')}"
            described.append({
                "SPDXID": reference, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
                "copyrightText": "NOASSERTION",
                "sourceInfo": f"a source package; the programs of {package.name} contain code of it"})
            relationships.append((references[package], "STATIC_LINK", reference))
    listed = []
    for number, (path, (package, contents)) in enumerate(sorted(files.items()), 1):
        listed.append({"SPDXID": f"SPDXRef-File-{number}", "fileName": f".{path}", "checksums": checksums(contents),
                       "licenseConcluded": own[package], "licenseInfoInFiles": ["NOASSERTION"],
                       "copyrightText": "NOASSERTION",
                       "comment": f"from {package.name} {package.version}"})
        relationships.append((references[package], "CONTAINS", f"SPDXRef-File-{number}"))
    made = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{image.name}-{image.version}",
        "creationInfo": {"created": created, "creators": ["Organization: The Pintle authors", "Tool: build_image.py"]},
        "packages": described, "files": listed,
        "hasExtractedLicensingInfos": [{"licenseId": name, "name": name.removeprefix("LicenseRef-"),
                                        "extractedText": text} for name, text in sorted(licences.texts.items())],
        "relationships": [{"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": related}
                          for element, kind, related in relationships]}
    # Documents that differ have different names.
    identity = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(made, sort_keys=True))
    made["documentNamespace"] = f"https://spdx.org/spdxdocs/{image.name}-{image.version}-{identity}"
    return (json.dumps(made, indent=1, ensure_ascii=False) + "\n").encode("utf-8")
