# SPDX-License-Identifier: Apache-2.0
"""Makes certificates for tests: an authority, and the servers and clients that it signs.

It can also make certificates that have expired or are not valid yet, because clients must refuse them.
"""

import dataclasses
import datetime
import functools
import ipaddress
import pathlib
import tempfile

from . import shell


@dataclasses.dataclass(frozen=True)
class Validity:
    """The beginning and the end of a certificate's validity, relative to now."""
    starts: datetime.timedelta
    ends: datetime.timedelta


CURRENT = Validity(datetime.timedelta(hours=-1), datetime.timedelta(days=365))
EXPIRED = Validity(datetime.timedelta(days=-2), datetime.timedelta(days=-1))
NOT_YET_VALID = Validity(datetime.timedelta(days=1), datetime.timedelta(days=2))


@dataclasses.dataclass(frozen=True)
class Pair:
    """A certificate and its private key, as PEM files."""
    certificate: pathlib.Path
    key: pathlib.Path


def private_key(path):
    """Makes a P-256 key in the file PATH, which only the owner may read."""
    shell.need("openssl")
    path.touch(mode=0o600, exist_ok=False)
    shell.run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)
    return path


class Authority:
    """A certificate authority that keeps all its files in one folder."""

    def __init__(self, folder, name="Pintle test authority", validity=CURRENT):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._ca_folder = self.folder / "ca"
        self._ca_folder.mkdir()
        (self._ca_folder / "index.txt").touch()
        (self._ca_folder / "ca.cnf").write_text(_CA_CONFIG.format(folder=self._ca_folder), encoding="utf-8")
        self.pair = Pair(self.folder / "ca.crt", self.folder / "ca.key")
        self._issue(self.pair, {"CN": name}, _AUTHORITY, validity, signer=["-selfsign", "-keyfile", self.pair.key])

    @property
    def certificate(self):
        return self.pair.certificate

    def server(self, label, names, validity=CURRENT):
        """Makes a server certificate for these host names and addresses, in the files LABEL.crt and LABEL.key."""
        return self._leaf(label, {"CN": names[0]}, _SERVER + _alternative_names(names), validity)

    def client(self, label, name, organisation=None, validity=CURRENT):
        """Makes a client certificate; Kubernetes takes the user from its name and the group from its organisation."""
        subject = {"O": organisation} if organisation else {}
        return self._leaf(label, subject | {"CN": name}, _CLIENT, validity)

    def _leaf(self, label, subject, extensions, validity):
        pair = Pair(self.folder / f"{label}.crt", self.folder / f"{label}.key")
        self._issue(pair, subject, extensions, validity,
                    signer=["-cert", self.pair.certificate, "-keyfile", self.pair.key])
        return pair

    def _issue(self, pair, subject, extensions, validity, signer):
        private_key(pair.key)
        request = self._ca_folder / f"{pair.key.stem}.csr"
        extensions_file = self._ca_folder / f"{pair.key.stem}.ext"
        extensions_file.write_text(extensions, encoding="ascii")
        config = self._ca_folder / "ca.cnf"
        shell.run("openssl", "req", "-new", "-config", config, "-key", pair.key, "-subj", _subject(subject),
                  "-out", request)
        # Only `openssl ca` can set both ends of the validity in every OpenSSL 3.
        shell.run("openssl", "ca", "-batch", "-notext", "-config", config, "-preserveDN", *signer,
                  "-startdate", _moment(validity.starts), "-enddate", _moment(validity.ends),
                  "-extfile", extensions_file, "-in", request, "-out", pair.certificate)


@functools.lru_cache(maxsize=None)
def named_authority(name):
    """Returns the certificate of an authority with this name, as PEM; it is the same at each call."""
    with tempfile.TemporaryDirectory() as folder:
        return Authority(folder, name).certificate.read_text(encoding="ascii")


_AUTHORITY = "basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"
_SERVER = "basicConstraints=CA:false\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n"
_CLIENT = "basicConstraints=CA:false\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=clientAuth\n"

_CA_CONFIG = """\
[ca]
default_ca = test_ca
[test_ca]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
[any]
organizationName = optional
commonName = supplied
[req]
prompt = no
distinguished_name = from_the_command_line
[from_the_command_line]
"""


def _subject(fields):
    # An unescaped slash would begin the next field; names such as system:node:NAME have none, but a test's may.
    return "".join(f"/{field}=" + value.replace("\\", "\\\\").replace("/", "\\/") for field, value in fields.items())


def _alternative_names(names):
    return "subjectAltName=" + ",".join(f"{'IP' if _is_address(name) else 'DNS'}:{name}" for name in names) + "\n"


def _is_address(name):
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _moment(after_now):
    return (datetime.datetime.now(datetime.timezone.utc) + after_now).strftime("%Y%m%d%H%M%SZ")
