# SPDX-License-Identifier: Apache-2.0
"""Checks that the test registry refuses and serves like a real registry, and that images keep their contents."""

import contextlib
import json
import pathlib
import shutil
import tarfile

import pytest

from machines import certs, daemon, oci
from machines.registry import Registry


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    """An OCI layout with a small system as `base`, and `next`, which changes it."""
    folder = tmp_path_factory.mktemp("images")
    tree = folder / "tree"
    for path, content in {"usr/lib/os-release": "ID=test\n", "usr/share/old/file": "1", "usr/bin/gone": "2"}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(content, encoding="ascii")
    images = folder / "layout"
    oci.make_image(images, "base", tree)
    oci.derive_image(images, "base", "next",
                     oci.Layer(files={"usr/share/new": "3"}, removed=["usr/bin/gone"], emptied=["usr/share/old"]),
                     labels={"ostree.bootable": "true"})
    return images


def refusal(registry, *words):
    result = registry.skopeo(*words, check=False)
    assert result.returncode != 0, "the request was not refused"
    return result.stderr


def test_a_request_without_credentials_is_answered_with_401(registry):
    connection = daemon.https(registry.address, registry.port, registry.certificate)
    with contextlib.closing(connection):
        connection.request("GET", "/v2/")
        answer = connection.getresponse()
        assert answer.status == 401
        assert answer.getheader("WWW-Authenticate").startswith("Basic realm=")


def test_a_client_without_credentials_gets_no_image(registry, pushed):
    error = refusal(registry, "inspect", "--no-creds", f"--cert-dir={registry.certs_dir}", f"docker://{pushed}")
    assert "authentication required" in error


def test_a_client_with_a_wrong_password_gets_no_image(registry, pushed):
    error = refusal(registry, "inspect", "--creds=pintle:wrong", f"--cert-dir={registry.certs_dir}",
                    f"docker://{pushed}")
    assert "authentication required" in error


def test_a_registry_with_an_untrusted_authority_is_refused(registry, pushed, tmp_path):
    other = certs.Authority(tmp_path / "pki", "Another authority")
    trust = tmp_path / "trust"
    trust.mkdir()
    shutil.copy(other.certificate, trust / "ca.crt")
    error = refusal(registry, "inspect", f"--authfile={registry.auth_file}", f"--cert-dir={trust}",
                    f"docker://{pushed}")
    assert "certificate signed by unknown authority" in error


def test_an_image_is_pulled_by_its_digest_with_its_labels(registry, pushed):
    answer = json.loads(registry.skopeo("inspect", f"--authfile={registry.auth_file}",
                                        f"--cert-dir={registry.certs_dir}", f"docker://{pushed}").stdout)
    assert pushed.endswith("@" + answer["Digest"])
    assert answer["Labels"]["ostree.bootable"] == "true"
    assert len(answer["Layers"]) == 2


def test_the_derived_layer_hides_removed_files_by_whiteouts(registry, pushed, tmp_path):
    registry.pull(pushed, tmp_path / "pulled")
    base, derived = layers(tmp_path / "pulled")
    assert {"./usr/bin/gone", "./usr/share/old/file", "./usr/lib/os-release"} <= base.keys()
    assert {path: size for path, (is_file, size) in derived.items() if is_file} == {
        "./usr/bin/.wh.gone": 0, "./usr/share/old/.wh..wh..opq": 0, "./usr/share/new": 1}


def test_nothing_is_left_when_the_registry_has_ended():
    with Registry() as registry:
        folder, pid, host = registry.folder, registry.pid, (registry.address, registry.port)
    assert not folder.exists()
    assert not pathlib.Path(f"/proc/{pid}").exists()
    assert not daemon.listens(*host)


def layers(pulled):
    """Returns the path, the kind and the size of everything in each layer, from the lowest up."""
    manifest = json.loads((pulled / "manifest.json").read_text(encoding="utf-8"))
    for layer in manifest["layers"]:
        with tarfile.open(pulled / layer["digest"].removeprefix("sha256:")) as archive:
            yield {entry.name: (entry.isfile(), entry.size) for entry in archive}
