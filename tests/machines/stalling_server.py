# SPDX-License-Identifier: Apache-2.0
"""A server on loopback that sends half of some files, and the other half when go_on() is called."""

import hashlib
import json
import pathlib
import threading

from . import loopback_server

_PATIENCE = 60    # Seconds.


class StallingServer(loopback_server.LoopbackServer):
    """`find` returns the type and contents of a path, or None; `stalls` decides which paths stall."""

    def __init__(self, find, stalls, pair=None):
        going_on = self._going_on = threading.Event()

        class Handler(loopback_server.Handler):
            protocol_version = "HTTP/1.1"
            timeout = _PATIENCE

            def do_HEAD(self):
                self.answer(find(self.path), has_body=False)

            def do_GET(self):
                self.answer(find(self.path), has_body=True)

            def answer(self, found, has_body):
                kind, data = found or ("text/plain", b"")
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Docker-Content-Digest", "sha256:" + hashlib.sha256(data).hexdigest())
                self.end_headers()
                if not has_body:
                    return
                half = len(data) // 2 if stalls(self.path) else 0
                self.wfile.write(data[:half])
                self.wfile.flush()
                if half:
                    going_on.wait(_PATIENCE)
                self.wfile.write(data[half:])

        super().__init__(Handler, pair)

    def __exit__(self, *error):
        self.go_on()
        super().__exit__(*error)

    def go_on(self):
        self._going_on.set()


def image_of(layout, tag):
    """Returns a `find` that serves an image of an OCI layout as a registry does, and the paths of its layers."""
    blobs = pathlib.Path(layout) / "blobs/sha256"
    index = json.loads((pathlib.Path(layout) / "index.json").read_text())
    descriptor = next(each for each in index["manifests"]
                      if each["annotations"]["org.opencontainers.image.ref.name"] == tag)
    manifest = json.loads((blobs / descriptor["digest"].removeprefix("sha256:")).read_text())
    layers = [layer["digest"] for layer in manifest["layers"]]

    def find(path):
        kind, _, digest = path.rpartition("/")
        if path == "/v2/":
            return "application/json", b"{}"
        if kind.endswith("/manifests"):
            digest = descriptor["digest"]
        file = blobs / digest.removeprefix("sha256:")
        media_type = descriptor["mediaType"] if digest == descriptor["digest"] else "application/octet-stream"
        return (media_type, file.read_bytes()) if file.is_file() else None
    return find, [f"/v2/os/blobs/{digest}" for digest in layers]


def files_in(folder):
    """Returns a `find` that serves the files of a folder."""
    def find(path):
        file = pathlib.Path(folder) / path.lstrip("/")
        return ("application/octet-stream", file.read_bytes()) if file.is_file() else None
    return find
