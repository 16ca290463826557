# SPDX-License-Identifier: Apache-2.0
"""A real OCI registry on loopback, with TLS by an authority of its own, and a password."""

import base64
import http.client
import json
import pathlib
import secrets
import shutil
import tempfile

from . import by_hand, certs, daemon, shell
from .daemon import Daemon

_PATIENCE = 30    # Seconds.


class Registry:
    """The registry, ready for use inside `with`."""

    user = "pintle"

    def __init__(self, address="127.0.0.1"):
        self.address = address
        self.folder = None

    def __enter__(self):
        shell.need("docker-registry", "htpasswd", "skopeo")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pintle-registry-"))
        self.password = secrets.token_urlsafe(12)
        self._daemon = None
        try:
            self._make_credentials()
            daemon.with_free_ports(1, self.address, self._start)
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self._daemon.check()
        finally:
            self._clean_up()

    @property
    def host(self):
        """HOST:PORT, with which references to images begin."""
        return f"{self.address}:{self.port}"

    @property
    def pid(self):
        return self._daemon.pid

    @property
    def auth_file(self):
        """The credentials, in the format of skopeo's --authfile and a node's pull secret."""
        return self.folder / "auth.json"

    @property
    def certs_dir(self):
        """The folder with the registry's authority, for skopeo's --cert-dir."""
        return self.folder / "trust"

    def push(self, layout, tag, name="os"):
        """Pushes the image TAG of an OCI layout under the same tag; returns its reference by digest."""
        digest = self.folder / "digest"
        self.skopeo("copy", f"--dest-cert-dir={self.certs_dir}", f"--dest-authfile={self.auth_file}",
                    f"--digestfile={digest}", f"oci:{layout}:{tag}", f"docker://{self.host}/{name}:{tag}")
        return f"{self.host}/{name}@{digest.read_text(encoding='ascii').strip()}"

    def pull(self, reference, folder):
        """Copies an image's manifest, configuration and layers to files in FOLDER."""
        self.skopeo("copy", f"--src-cert-dir={self.certs_dir}", f"--src-authfile={self.auth_file}",
                    f"docker://{reference}", f"dir:{folder}")

    def end(self):
        """Ends the registry for good; its folder stays until the end of `with`."""
        self._daemon.stop()

    def log(self):
        """Returns the log of the registry, which has the requests so far."""
        return (self.folder / "registry.log").read_text(encoding="utf-8")

    def skopeo(self, *words, **options):
        """Runs skopeo with a signature policy of our own instead of the host's."""
        return shell.run("skopeo", f"--policy={self.folder}/policy.json", *words, **options)

    def _make_credentials(self):
        authority = certs.Authority(self.folder / "pki")
        self._server = authority.server("server", ["localhost", self.address])
        self.certs_dir.mkdir()
        shutil.copy(authority.certificate, self.certs_dir / "ca.crt")
        self.certificate = authority.certificate
        (self.folder / "htpasswd").write_text(
            shell.run("htpasswd", "-niB", self.user, input=self.password).stdout, encoding="ascii")
        (self.folder / "policy.json").write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}),
                                                 encoding="ascii")

    def _start(self, ports):
        self.port = ports[0]
        credentials = base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")
        self.auth_file.touch(mode=0o600)
        self.auth_file.write_text(json.dumps({"auths": {self.host: {"auth": credentials}}}), encoding="ascii")
        config = self.folder / "config.yml"
        config.write_text(json.dumps(self._config()), encoding="ascii")    # JSON is YAML, too.
        self._daemon = Daemon(self.folder / "registry.log", "docker-registry", "serve", config)
        self._daemon.start()
        try:
            self._daemon.wait_for(self._answers, "the registry answers", _PATIENCE)
        except BaseException:
            self._daemon.stop()
            raise

    def _answers(self):
        connection = daemon.https(self.address, self.port, self.certificate)
        return daemon.status_of(connection, "/v2/") == http.client.UNAUTHORIZED

    def _config(self):
        return {"version": "0.1", "log": {"level": "warn"},
                "storage": {"filesystem": {"rootdirectory": str(self.folder / "storage")}, "delete": {"enabled": True}},
                "http": {"addr": self.host, "tls": {"certificate": str(self._server.certificate),
                                                    "key": str(self._server.key)}},
                "auth": {"htpasswd": {"realm": "pintle", "path": str(self.folder / "htpasswd")}}}

    def _clean_up(self):
        if self.folder is None:
            return
        if self._daemon:
            self._daemon.stop()
        shutil.rmtree(self.folder)
        self.folder = None


def main(argv):
    """`registry [-- COMMAND...]`: runs a command or a shell, or waits, with the registry's name and credentials."""
    by_hand.check_arguments("registry", argv)
    with Registry() as registry:
        return by_hand.use(argv, {"PINTLE_REGISTRY": registry.host, "REGISTRY_AUTH_FILE": str(registry.auth_file),
                                  "PINTLE_REGISTRY_CERTS": str(registry.certs_dir)})
