# SPDX-License-Identifier: Apache-2.0
"""Tests the Ignition server with real clients: it answers as the Machine Config Operator's server does, and other
clients cannot disturb it.
"""

import asyncio
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import threading

import pytest

from machines import certs
from machines.ignition_server import CONTROLLER, IgnitionServer
from machines.wait import wait_until

VECTORS = pathlib.Path(__file__).parents[1] / "vectors/data/server"
WORKER = VECTORS / "003-worker-with-cas"
CONFIG = (WORKER / "expected-01-body.json").read_bytes()
ACCEPT = "application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1"
KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return certs.Authority(tmp_path_factory.mktemp("pki") / "authority")


@pytest.fixture(scope="module")
def pair(authority):
    return authority.server("server", ["localhost", "127.0.0.1"])


@pytest.fixture
def trust(authority):
    return ssl.create_default_context(cafile=authority.certificate)


@pytest.fixture
def server(pair):
    with IgnitionServer(WORKER, pair) as server:
        yield server


def curl(url, authority=None, method="GET", headers=None, more=()):
    """Returns the status, the headers and the body."""
    words = ["curl", "--silent", "--show-error", "--path-as-is", "--include", "--max-time", "60", *more]
    words += ["--head"] if method == "HEAD" else ["--request", method]
    if authority:
        words += ["--cacert", str(authority.certificate)]
    for name, value in ({"Accept": None} | (headers or {})).items():
        words += ["--header", f"{name}:" if value is None else f"{name}: {value}"]
    answer = subprocess.run([*words, url], stdout=subprocess.PIPE, check=True).stdout
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    return int(status.split()[1]), dict(field.split(": ", 1) for field in fields), body


def get_config(connection, headers=None, path="/config/worker"):
    connection.request("GET", path, headers={"Accept": ACCEPT} | (headers or {}))
    answer = connection.getresponse()
    return answer.status, answer.read()


def cases():
    return sorted(folder.name for folder in VECTORS.iterdir())


@pytest.mark.parametrize("case", cases())
def test_the_server_answers_as_the_machine_config_operator_does(case, authority, pair):
    folder = VECTORS / case
    requests = json.loads((folder / "requests.json").read_text(encoding="utf-8"))
    with IgnitionServer(folder, pair, plain=True) as server:
        for number, request in enumerate(requests):
            expected = json.loads((folder / f"expected-{number:02}.json").read_text(encoding="utf-8"))["response"]
            wanted = (folder / expected["bodyFile"]).read_bytes() if "bodyFile" in expected else b""
            for base in (server.secure, server.plain):
                status, headers, body = curl(base + request["path"], authority, request["method"], request["header"])
                assert (status, body) == (expected["status"], wanted), (number, request)
                for name, values in expected["header"].items():
                    assert headers[name] == values[0], (number, request)


def test_a_thousand_machines_are_served_at_the_same_time(server, trust):
    # The server raises its own limit of descriptors.
    limits = pathlib.Path(f"/proc/{server.pid}/limits").read_text(encoding="ascii")
    soft, hard = re.search(r"Max open files +(\S+) +(\S+)", limits).groups()
    assert soft == hard

    async def machine(begin):
        await begin.wait()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trust)
        writer.write(f"GET /config/worker HTTP/1.1\r\nHost: a\r\nAccept: {ACCEPT}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        return answer.partition(b"\r\n\r\n")[2] == CONFIG

    async def all_of_them():
        begin = asyncio.Event()
        machines = [asyncio.create_task(machine(begin)) for _ in range(1000)]
        begin.set()
        return await asyncio.gather(*machines)

    assert asyncio.run(asyncio.wait_for(all_of_them(), 120)) == [True] * 1000


def test_a_renewed_certificate_is_used_and_no_connection_is_dropped(tmp_path, authority, pair, trust):
    renewed = authority.server("renewed", ["localhost", "127.0.0.1"])
    used = Secret(tmp_path, pair)
    stop = threading.Event()
    failures, answers = [], []

    def ask(keeps):
        connection = None
        try:
            while not stop.is_set():
                if not connection or not keeps:
                    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=trust)
                answers.append(get_config(connection) == (200, CONFIG))
                if not keeps:
                    connection.close()
        except (OSError, http.client.HTTPException) as error:
            failures.append(error)

    with IgnitionServer(WORKER, used.pair) as server:
        clients = [threading.Thread(target=ask, args=(keeps,)) for keeps in (True, True, False, False)]
        for client in clients:
            client.start()
        try:
            wait_until(lambda: len(answers) > 20, "clients are served", 60)
            for next_pair in (renewed, pair, renewed):
                used.renew(next_pair)
                wait_until(lambda p=next_pair: certificate_at(server.port, trust) == certificate_in(p),
                           "the server has the renewed certificate", 60)
            reached = len(answers)
            wait_until(lambda: len(answers) > reached + 20, "clients are served still", 60)
        finally:
            stop.set()
            for client in clients:
                client.join()
        # A key that does not match the certificate is not used.
        used.renew(certs.Pair(renewed.certificate, pair.key))
        wait_until(lambda: "stays in use" in server.log(), "the server logs that the key does not match", 60)
        assert certificate_at(server.port, trust) == certificate_in(renewed)
    assert not failures and all(answers)


class Secret:
    """A mounted Secret, as the kubelet makes it: its files are links through a link that a renewal replaces."""

    def __init__(self, folder, pair):
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._count = 0
        self.pair = certs.Pair(folder / "tls.crt", folder / "tls.key")
        self.renew(pair)
        self.pair.certificate.symlink_to("..data/tls.crt")
        self.pair.key.symlink_to("..data/tls.key")

    def renew(self, pair):
        self._count += 1
        contents = self._folder / f"..{self._count}"
        contents.mkdir()
        shutil.copy(pair.certificate, contents / "tls.crt")
        shutil.copy(pair.key, contents / "tls.key")
        (self._folder / "..next").symlink_to(contents.name)
        os.replace(self._folder / "..next", self._folder / "..data")


def certificate_at(port, trust):
    with socket.create_connection(("127.0.0.1", port)) as plain, trust.wrap_socket(
            plain, server_hostname="localhost") as secured:
        return secured.getpeercert(binary_form=True)


def certificate_in(pair):
    return ssl.PEM_cert_to_DER_cert(pair.certificate.read_text(encoding="ascii"))


def test_clients_that_never_complete_a_request_do_not_delay_others(server, trust):
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
    half = []
    for _ in range(100):
        secured = trust.wrap_socket(socket.create_connection(("127.0.0.1", server.port)), server_hostname="localhost")
        secured.sendall(b"GET /config/worker HTTP/1.1\r\nHost: a\r\nX-")
        half.append(secured)
    assert get_config(http.client.HTTPSConnection("127.0.0.1", server.port, timeout=5, context=trust)) == (200, CONFIG)
    for connection in slow + half:
        connection.close()


def write_private(path, text):
    path.touch(mode=0o600)
    path.write_text(text, encoding="ascii")


def test_a_key_that_everyone_may_read_is_refused_with_the_remedy(tmp_path, authority, pair, trust):
    used = Secret(tmp_path / "used", pair)
    key = used.pair.key
    key.chmod(0o644)
    words = [CONTROLLER, "serve", "--from", WORKER, "--listen", "127.0.0.1:0", "--tls-cert", used.pair.certificate,
             "--tls-key", key]
    refused = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert refused.returncode == 1
    assert f"the key, {key}: everyone on this machine may read it; run `chmod o-rwx {key}`" in refused.stderr
    assert "defaultMode: 0440" in refused.stderr
    key.chmod(0o640)
    renewed = authority.server("renewed-for-all", ["localhost", "127.0.0.1"])
    with IgnitionServer(WORKER, used.pair) as server:
        renewed.key.chmod(0o644)
        used.renew(renewed)
        wait_until(lambda: "everyone on this machine may read it" in server.log(), "the renewed key is refused", 60)
        assert certificate_at(server.port, trust) == certificate_in(pair)
        key.chmod(0o600)
        server.read_again()
        wait_until(lambda: certificate_at(server.port, trust) == certificate_in(renewed),
                   "the server uses the renewed certificate", 60)
    keys = tmp_path / "keys"
    write_private(keys, KEY + "\n")
    keys.chmod(0o644)
    words = [CONTROLLER, "serve", "--from", WORKER, "--listen-http", "127.0.0.1:0", "--access", "required", "--token-keys", keys]
    refused = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert refused.returncode == 1 and f"the keys of tokens, {keys}: everyone on this machine may read it" in refused.stderr


def test_the_connections_of_one_address_are_limited(pair):
    with IgnitionServer(WORKER, pair, ["--connections-per-address", "3"], plain=True) as server:
        host, port = server.plain.removeprefix("http://").split(":")
        open_connections = [http.client.HTTPConnection(host, int(port), timeout=60) for _ in range(3)]
        assert [get_config(connection)[0] for connection in open_connections] == [200] * 3
        with pytest.raises(OSError):
            get_config(http.client.HTTPConnection(host, int(port), timeout=60))
        other = http.client.HTTPConnection(host, int(port), timeout=60, source_address=("127.0.0.2", 0))
        assert get_config(other)[0] == 200
        assert [get_config(connection)[0] for connection in open_connections] == [200] * 3


def token(tmp_path, *words, key=KEY):
    """Returns the headers that a pointer config sends."""
    key_file = tmp_path / "key"
    write_private(key_file, key + "\n")
    answer = subprocess.run([CONTROLLER, "token", "--key-file", key_file, *words], stdout=subprocess.PIPE, check=True)
    return {header["name"]: header["value"] for header in json.loads(answer.stdout)["httpHeaders"]}


def test_without_a_token_no_byte_of_a_config_is_served_where_one_is_required(tmp_path, authority, pair):
    good = token(tmp_path, "--pool", "worker", "--ttl", "1h")
    options = ["--access", "required", "--token-keys", tmp_path / "key"]
    with IgnitionServer(WORKER, pair, options, plain=True) as server:
        for base in (server.secure, server.plain):
            worker = base + "/config/worker"
            assert curl(worker, authority, headers={"Accept": ACCEPT} | good)[::2] == (200, CONFIG)
            for headers in ({}, {"Authorization": "Bearer x.y"}, {"Authorization": good["Authorization"][:-2] + "AA"},
                            {"Authorization": "Basic " + good["Authorization"].partition(" ")[2]}):
                for method in ("GET", "HEAD"):
                    status, answered, body = curl(worker, authority, method, headers)
                    assert (status, answered["Content-Length"], body) == (401, "0", b""), (method, headers)
            of_master = token(tmp_path, "--pool", "master")
            assert curl(worker, authority, headers=of_master)[::2] == (403, b"")
            # The server does not reveal which pools exist.
            assert curl(base + "/config/none", authority)[0] == 401
            assert curl(base + "/healthz", authority)[0] == 200
        brief = token(tmp_path, "--pool", "worker", "--ttl", "1s")
        wait_until(lambda: curl(server.plain + "/config/worker", headers=brief)[0] == 401, "the token expires", 60)
        assert good["Authorization"].partition(" ")[2] not in server.log()


def test_keys_change_while_the_server_runs_and_a_token_is_valid_while_the_server_has_its_key(tmp_path, pair):
    keys = tmp_path / "keys"

    def renew(text):
        """Replaces the file by a rename, as a mounted Secret is renewed."""
        write_private(tmp_path / "new-keys", text)
        (tmp_path / "new-keys").rename(keys)

    def status(headers):
        return curl(server.plain + "/config/worker", headers=headers)[0]

    of_old = token(tmp_path, "--pool", "worker", "--ttl", "1h")
    new_key = "ffffffffffffffffffffffffffffffff"
    renew(KEY + "\n")
    with IgnitionServer(WORKER, pair, ["--access", "required", "--token-keys", keys], plain=True) as server:
        renew("too short\n")
        wait_until(lambda: "The previous keys stay in use" in server.log(), "the broken keys are logged", 60)
        assert f"{keys}: line 1: a key must have at least 32 characters" in server.log() and status(of_old) == 200
        renew(f"{new_key}\n{KEY}\n")
        wait_until(lambda: "The keys of tokens were renewed" in server.log(), "the new keys are logged", 60)
        of_new = token(tmp_path, "--pool", "worker", "--ttl", "1h", key=new_key)
        assert status(of_new) == status(of_old) == 200
        renew(f"{new_key}\n")
        wait_until(lambda: status(of_old) == 401, "the old key is not valid any more", 60)
        assert status(of_new) == 200


def test_keys_that_the_server_cannot_watch_are_read_again_on_request(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    keys = tmp_path / "elsewhere/keys"
    write_private(keys, KEY + "\n")
    (tmp_path / "keys").symlink_to(keys)
    with IgnitionServer(WORKER, options=["--access", "required", "--token-keys", tmp_path / "keys"], plain=True) as server:
        keys.write_text(KEY[::-1] + "\n", encoding="ascii")
        server.read_again()
        assert "The keys of tokens were renewed" in server.log()


def test_with_grace_everyone_is_served_and_clients_without_a_token_are_logged(tmp_path, authority, pair):
    good = token(tmp_path, "--pool", "worker")
    with IgnitionServer(WORKER, pair, ["--access", "grace", "--token-keys", tmp_path / "key"]) as server:
        assert curl(server.secure + "/config/worker", authority, headers={"Accept": ACCEPT})[::2] == (200, CONFIG)
        assert "there is no token" in server.log()
        logged_before = len(server.log())
        assert curl(server.secure + "/config/worker", authority, headers={"Accept": ACCEPT} | good)[::2] == (200, CONFIG)
        assert "token" not in server.log()[logged_before:]


def test_a_changed_folder_is_served_on_request_unless_it_is_broken(tmp_path, authority, pair):
    folder = tmp_path / "folder"
    shutil.copytree(WORKER, folder)
    with IgnitionServer(folder, pair) as server:
        pool = (folder / "pool.yaml").read_text(encoding="utf-8")
        (folder / "pool.yaml").write_text(pool.replace("name: worker", "name: other"), encoding="utf-8")
        assert curl(server.secure + "/config/other", authority)[0] == 500
        assert "read again" in server.read_again()
        assert curl(server.secure + "/config/other", authority)[0] == 200
        (folder / "pool.yaml").write_text("kind: Pod\n", encoding="utf-8")
        assert f"{folder}/pool.yaml: its kind is Pod instead of MachineConfigPool" in server.read_again()
        assert curl(server.secure + "/config/other", authority)[0] == 200


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize("version, is_served", [("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)])
def test_the_server_speaks_tls_1_2_and_1_3_and_no_http_2(server, trust, version, is_served):
    trust.set_ciphers("DEFAULT:@SECLEVEL=0")
    trust.set_alpn_protocols(["h2", "http/1.1"])
    trust.minimum_version = trust.maximum_version = ssl.TLSVersion[version]
    with socket.create_connection(("127.0.0.1", server.port)) as plain:
        if is_served:
            with trust.wrap_socket(plain, server_hostname="localhost") as secured:
                assert secured.selected_alpn_protocol() == "http/1.1"
        else:
            with pytest.raises(ssl.SSLError):
                trust.wrap_socket(plain, server_hostname="localhost")


@pytest.mark.parametrize("words, message", [
    (["serve"], "--from or --bootstrap is needed"),
    (["serve", "--from", "."], "--listen or --listen-http is needed"),
    (["serve", "--from", ".", "--bootstrap", "."], "--from and --bootstrap exclude each other"),
    (["serve", "--from", ".", "--bootstrap-certs", "a=b"], "--bootstrap-certs needs --bootstrap"),
    (["serve", "--from", ".", "--listen", "127.0.0.1:0"], "with --listen, --tls-cert and --tls-key are needed"),
    (["serve", "--from", ".", "--listen", "here"], "--listen: \"here\" is not an address to listen at"),
    (["serve", "--from", ".", "--listen-http", "127.0.0.1:0", "--access", "closed"], "is not open, grace or required"),
    (["serve", "--from", ".", "--listen-http", "127.0.0.1:0", "--access", "grace"], "--token-keys is needed"),
    (["serve", "--from", ".", "--listen-http", "127.0.0.1:0", "--rate", "many"],
     "--rate: \"many\" is not a whole number from 0 to 1000000"),
    (["serve", "--from", ".", "--listen-http", "127.0.0.1:0", "--fast"], "unknown option --fast"),
    (["start", "--ignition-listen", "127.0.0.1:0", "--access", "grace"], "--token-keys is needed"),
    (["start", "--ignition-listen", "127.0.0.1:0", "--threads", "0"], "--threads: \"0\" is not a whole number"),
    (["start", "--ignition-listen", "127.0.0.1:0", "--tls-min-version", "1"], "is not a supported version of TLS"),
    (["start", "--ignition-listen", "127.0.0.1:0", "--key", "a", "--tls-key", "b"], "--tls-key and --key are the same"),
    (["start", "--ignition-listen", "127.0.0.1:0", "--tls-secret", "tls"],
     "--tls-secret tls: must be the namespace and the name of a Secret"),
    (["start", "--ignition-listen", "127.0.0.1:0", "--tls-secret", "a/b", "--key", "b"],
     "--tls-secret and --key exclude each other"),
    (["start", "--ignition-listen", "127.0.0.1:0", "--bootstrap-token-secret", "a/b/c"],
     "--bootstrap-token-secret a/b/c: must be the namespace and the name of a Secret"),
    (["start", "--ignition-listen", "127.0.0.1:0", "--bootstrap-token-secret", "a/b", "--bootstrap-token", "c"],
     "--bootstrap-token-secret and --bootstrap-token exclude each other"),
    (["serve", "--frmo", "."], "unknown option --frmo; did you mean --from?"),
    (["sevre"], "\"sevre\" is not a verb; did you mean serve?"),
    (["help", "strat"], "\"strat\" is not a verb; did you mean start?"),
    ([], "Usage: pintle-controller VERB"),
    (["token", "--pool", "worker"], "--key-file is needed"),
    (["token", "--pool", "worker", "--key-file", "/dev/null"], "there is no key"),
    (["token", "--pool", "worker", "--key-file", "/proc/self/status", "--ttl", "soon"], "at least 32 characters"),
])
def test_wrong_usage_is_reported_with_its_remedy(words, message):
    answer = subprocess.run([CONTROLLER, *words], stderr=subprocess.PIPE, text=True, check=False)
    assert answer.returncode == 1
    assert message in answer.stderr


@pytest.mark.parametrize("words, message", [
    (["help"], "Usage: pintle-controller VERB"), (["--help"], "Usage: pintle-controller VERB"),
    (["-h"], "Usage: pintle-controller VERB"), (["help", "start"], "--ignition-listen"),
    (["start", "-h"], "--ignition-listen"), (["help", "serve"], "--listen-http"), (["serve", "-h"], "--listen-http"),
    (["help", "token"], "--ttl"), (["token", "--help"], "--ttl"), (["help", "version"], "pintle-controller "),
    (["help", "garbage"], "--keep-rendered"), (["garbage", "-h"], "--keep-rendered"),
    (["help", "bootstrap"], "--manifest-dir"), (["bootstrap", "-h"], "--manifest-dir"),
])
def test_help_is_on_standard_output(words, message):
    answer = subprocess.run([CONTROLLER, *words], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "") and message in answer.stdout


@pytest.mark.parametrize("options, message", [
    (["--from", "/nowhere"], "/nowhere/pool.yaml"),
    (["--bootstrap", "/nowhere"], "/nowhere"),
    (["--bootstrap", WORKER, "--bootstrap-certs", "../a=b"], "--bootstrap-certs ../a=b: the part before"),
    (["--from", WORKER, "--listen-http", "0.0.0.0:0"], "configs are served at a loopback address only"),
    (["--from", WORKER, "--listen", "127.0.0.1:0", "--tls-cert", WORKER / "kubeconfig", "--tls-key",
      WORKER / "kubeconfig"], "cannot read a PEM certificate"),
])
def test_a_folder_that_cannot_be_served_is_an_error_at_the_start(options, message):
    words = [CONTROLLER, "serve", "--listen-http", "127.0.0.1:0", *options]
    answer = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert answer.returncode == 1
    assert message in answer.stderr


def test_start_has_each_option_of_serving_that_serve_has():
    def options(verb):
        text = subprocess.run([CONTROLLER, verb, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        return set(re.findall(r"--[a-z-]+", text))
    only_of_files = {"--from", "--bootstrap", "--bootstrap-kubeconfig", "--bootstrap-certs", "--listen",
                     "--listen-http"}
    assert "--tls-cipher-suites" in options("serve")
    assert options("serve") - options("start") - only_of_files == set()
    assert {"--cert", "--key"} <= options("start")
