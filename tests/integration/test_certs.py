# SPDX-License-Identifier: Apache-2.0
"""Checks that TLS accepts and refuses the certificates of the tests as intended."""

import contextlib
import datetime
import socket
import ssl
import threading

import pytest

from machines import certs


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return certs.Authority(tmp_path_factory.mktemp("pki") / "authority")


def greet(authority, server, name, client=None, client_authority=None):
    """Connects to a TLS server that has this certificate, under the host name NAME; returns the client's certificate as
    the server sees it.  With `client_authority`, the server demands a certificate that this authority has signed.
    """
    ours, theirs = socket.socketpair()
    learnt = []
    answering = threading.Thread(target=_answer, args=(theirs, server, client_authority, learnt))
    answering.start()
    trust = ssl.create_default_context(cafile=authority.certificate)
    if client:
        trust.load_cert_chain(client.certificate, client.key)
    try:
        with contextlib.closing(ours), trust.wrap_socket(ours, server_hostname=name) as secured:
            secured.recv(1)
    finally:
        answering.join()
    return learnt[0]


def _answer(connection, server, client_authority, learnt):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.certificate, server.key)
    if client_authority:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_authority.certificate)
    with contextlib.closing(connection), contextlib.suppress(OSError):
        with context.wrap_socket(connection, server_side=True) as secured:
            learnt.append(secured.getpeercert())
            secured.send(b".")


def test_a_server_is_trusted_under_each_of_its_names(authority):
    server = authority.server("names", ["localhost", "127.0.0.1"])
    for name in ("localhost", "127.0.0.1"):
        greet(authority, server, name)


def test_a_server_is_refused_under_another_name(authority):
    server = authority.server("one-name", ["localhost"])
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        greet(authority, server, "elsewhere")


@pytest.mark.parametrize("label, validity, reason", [
    ("expired", certs.EXPIRED, "certificate has expired"),
    ("early", certs.NOT_YET_VALID, "certificate is not yet valid")])
def test_a_server_is_refused_outside_the_validity_of_its_certificate(authority, label, validity, reason):
    server = authority.server(label, ["localhost"], validity)
    with pytest.raises(ssl.SSLCertVerificationError, match=reason):
        greet(authority, server, "localhost")


def test_a_server_of_another_authority_is_refused(authority, tmp_path):
    other = certs.Authority(tmp_path / "other", "Another authority")
    with pytest.raises(ssl.SSLCertVerificationError, match="unable to get local issuer"):
        greet(authority, other.server("server", ["localhost"]), "localhost")


def test_a_client_is_known_by_its_name_and_organisation(authority):
    server = authority.server("asks", ["localhost"])
    client = authority.client("node", "system:node:a", "system:nodes")
    seen = greet(authority, server, "localhost", client, client_authority=authority)
    assert seen["subject"] == ((("organizationName", "system:nodes"),), (("commonName", "system:node:a"),))


def test_a_private_key_can_be_read_by_its_owner_alone(authority):
    assert authority.server("private", ["localhost"]).key.stat().st_mode & 0o777 == 0o600


def test_a_server_is_trusted_within_a_chosen_validity(authority):
    day = datetime.timedelta(days=1)
    server = authority.server("short", ["localhost"], certs.Validity(-day, datetime.timedelta(seconds=90)))
    greet(authority, server, "localhost")
