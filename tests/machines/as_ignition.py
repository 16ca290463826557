# SPDX-License-Identifier: Apache-2.0
"""Does Ignition's part on a new node: fetches the config that a pointer config names, and writes its files.

On virtual machines, Ignition itself does that (new_machine.py).  Here curl makes the request, because curl can be given
a simulated clock.  By the real clock, a server's certificate that was made in a simulated future is not valid yet.
"""

import base64
import gzip
import io
import json
import os
import subprocess
import tarfile
import tempfile
import time
import urllib.parse

from . import deploy, shell

FIRST_CONFIG = "/etc/ignition-machine-config-encapsulated.json"
_ACCEPT = "application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1"
_UNIT = "pintle-firstboot.service"


def fetch(pointer, port, environment):
    """Returns the HTTP status, and the config or None.

    The pointer config names a host that does not exist, so the request goes to this port of loopback; the server's
    certificate has to be for that host nevertheless.  `environment` has additional variables for curl.
    """
    [merged] = pointer["ignition"]["config"]["merge"]
    [authorities] = pointer["ignition"]["security"]["tls"]["certificateAuthorities"]
    headers = {"Accept": _ACCEPT, **{header["name"]: header["value"] for header in merged.get("httpHeaders", [])}}
    with tempfile.NamedTemporaryFile() as trusted:
        trusted.write(_contents_of(authorities))
        trusted.flush()
        answer = shell.run(
            "curl", "--silent", "--show-error", "--max-time", "60", "--noproxy", "*", "--cacert", trusted.name,
            "--connect-to", f"::127.0.0.1:{port}", "--write-out", "\n%{http_code}",
            *(word for name, value in headers.items() for word in ("--header", f"{name}: {value}")), merged["source"],
            env={**os.environ, **environment}).stdout
    body, _, status = answer.rpartition("\n")
    return int(status), json.loads(body) if status == "200" else None


def file_in(config, path):
    """Returns the text of a file in a config."""
    [found] = [file for file in config["storage"]["files"] if file["path"] == path]
    return _contents_of(found.get("contents", {})).decode()


def write_files(machine, config):
    """Writes the files of a config, which must have nothing else, on a running node."""
    assert not config.get("systemd", {}).get("units") and not config.get("passwd", {}).get("users"), config
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in config["storage"]["files"]:
            contents = _contents_of(file.get("contents", {}))
            entry = tarfile.TarInfo(file["path"].lstrip("/"))
            entry.size, entry.mode, entry.mtime = len(contents), file.get("mode", 0o644), int(time.time())
            archive.addfile(entry, io.BytesIO(contents))
    subprocess.run([*machine.entering(), "tar", "-C", "/", "-x"], input=packed.getvalue(), check=True)


def complete_first_boot(node, config):
    """Lets Pintle do what Ignition cannot.  If the config is for another OS image, the node reboots into it."""
    image = json.loads(file_in(config, FIRST_CONFIG))["spec"]["osImageURL"]
    if node.machine.plain or image == deploy.booted_commit(node.machine):
        node.run("systemctl", "start", _UNIT)
        return
    node.run("systemctl", "start", "--no-block", _UNIT)
    node.machine.follow_reboot(120)
    node.settle()
    assert deploy.booted_commit(node.machine) == image


def _contents_of(resource):
    """Returns the contents of an Ignition resource whose source is a data URL, or which has no source."""
    kind, _, encoded = (resource.get("source") or "data:,").removeprefix("data:").partition(",")
    contents = urllib.parse.unquote_to_bytes(encoded)
    if kind.endswith(";base64"):
        contents = base64.b64decode(contents)
    return gzip.decompress(contents) if resource.get("compression") == "gzip" else contents
