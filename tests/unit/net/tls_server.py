# SPDX-License-Identifier: Apache-2.0
"""A server on the loopback whose answers, good and bad, are chosen by the path of the request.

It prints its port when it can be reached, takes each line of its standard input as a go-ahead for a request that waits
for one, and ends when its standard input does.
"""

import argparse
import gzip
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading

go_ahead = threading.Semaphore(0)
frozen = 0  # Data of connections up to this number is not forwarded any more; the connections stay open.


def response(status, body=b"", headers=()):
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunk(piece):
    return f"{len(piece):x}\r\n".encode() + piece + b"\r\n"


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
UNFINISHED = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n12345"


class Hangup(Exception):
    """Ends this connection."""


def wait_for_the_client_to_leave(connection):
    while connection.recv(4096):
        pass
    raise Hangup


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # Closes the socket without TLS's closing message.
    os.close(connection.detach())
    raise Hangup


def close_cleanly(connection):
    if isinstance(connection, ssl.SSLSocket):
        connection.settimeout(10)
        connection = connection.unwrap()
    connection.close()
    raise Hangup


def shake_hands(connection):
    try:
        connection.do_handshake()
    except ssl.SSLError:
        # Closing a socket with unread data would reset the connection, and the client would lose our alert.
        with socket.socket(fileno=connection.detach()) as plain:
            plain.shutdown(socket.SHUT_WR)
            wait_for_the_client_to_leave(plain)


def answer(connection, serial, method, path, head, body):
    """Sends the answer to one request."""
    send = connection.sendall
    name, _, argument = path.partition("?")[0].lstrip("/").partition("/")
    if name == "hello":
        send(response(200, b"" if method == "HEAD" else b"hello", ["X-Greeting: good  day "]))
    elif name == "connection":
        send(response(200, str(serial).encode()))
    elif name == "echo":
        send(response(200, head + b"\n" + body))
    elif name == "status":
        send(response(argument, b"as you wish"))
    elif name == "early-hints":
        send(b"HTTP/1.1 103 Early Hints\r\nX-Early: yes\r\n\r\n" + response(200, b"hello"))
    elif name == "redirect":
        send(response(302, b"the way is long", [f"Location: {argument}"]))
    elif name == "loop":
        send(response(302, b"", ["Location: /loop"]))
    elif name == "sized":
        send(response(200, b"x" * int(argument)))
    elif name == "chunked":
        send(CHUNKED + chunk(b"x" * int(argument)) + chunk(b""))
    elif name == "gzip":
        send(response(200, gzip.compress(b"x" * int(argument)), ["Content-Encoding: gzip"]))
    elif name == "broken-gzip":
        send(response(200, b"this is not gzip", ["Content-Encoding: gzip"]))
    elif name == "stream":
        send(CHUNKED + chunk(b"first"))
        go_ahead.acquire()
        send(chunk(b"second") + chunk(b""))
    elif name == "endless-head":
        send(b"HTTP/1.1 200 OK\r\n")
        while True:
            send(b"X-More: " + b"x" * 1000 + b"\r\n")
    elif name == "reset":
        send(UNFINISHED)
        go_ahead.acquire()  # A reset would discard data that is still in flight.
        reset(connection)
    elif name == "truncated":
        send(UNFINISHED)
        close_cleanly(connection)
    elif name == "hang-up":
        close_cleanly(connection)
    elif name == "silent":
        wait_for_the_client_to_leave(connection)
    elif name == "stalled":
        send(UNFINISHED)
        wait_for_the_client_to_leave(connection)
    elif name == "garbage":
        send(b"SSH-2.0-OpenSSH_9.2\r\n")
        raise Hangup
    else:
        send(response(404, b"no such path"))


def read_request(stream):
    if not stream.peek(1)[:1].isalpha():  # The client may have sent a TLS handshake, which has no end of line.
        raise Hangup
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            raise Hangup
        head += line
    length = re.search(rb"(?i)^content-length: *(\d+)", head, re.MULTILINE)
    method, path, _ = head.split(b" ", 2)
    return method.decode(), path.decode(), head, stream.read(int(length[1])) if length else b""


def serve(connection, serial):
    stream = connection.makefile("rb")
    while True:
        answer(connection, serial, *read_request(stream))


def pump(source, sink, serial=sys.maxsize):
    try:
        while piece := source.recv(65536):
            if serial > frozen:
                sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def join(connection, address, serial=sys.maxsize):
    """Forwards everything between the two sides."""
    with socket.create_connection(address) as other:
        threading.Thread(target=pump, args=(other, connection, serial), daemon=True).start()
        pump(connection, other, serial)


def serve_as_proxy(connection, refusal):
    stream = connection.makefile("rb")
    while True:
        method, target, head, _ = read_request(stream)
        if refusal:
            connection.sendall(response(refusal, b"no"))
        elif method == "CONNECT":
            connection.sendall(b"HTTP/1.1 200 Connected\r\nX-From: the proxy\r\n\r\n")
            host, _, port = target.rpartition(":")
            return join(connection, (host, int(port)))
        else:
            connection.sendall(response(200, b"the proxy was asked for " + target.encode() + b"\n" + head))


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def serve_http2_but_for_the_first(connection, serial):
    """Answers each request of a connection except the first, with the number of the connection."""
    data, headers, settings, end_of_stream, end_of_headers = 0, 1, 4, 0x1, 0x4
    stream = connection.makefile("rb")
    stream.read(len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
    connection.sendall(frame(settings, 0, 0))
    while True:
        kind, number = read_frame(stream)
        if kind == headers and number > 1:
            connection.sendall(frame(headers, end_of_headers, number, b"\x88") +
                               frame(data, end_of_stream, number, str(serial).encode()))


def serve_http2_badly(connection, manner):
    """Answers the first request of a connection against the protocol; the frames are those of RFC 9113, section 6."""
    data, headers, rst_stream, settings, goaway = 0, 1, 3, 4, 7
    status_200 = frame(headers, 0x4, 1, b"\x88")
    internal_error = struct.pack(">I", 2)
    stream = connection.makefile("rb")
    stream.read(len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
    connection.sendall(frame(settings, 0, 0))
    kind = None
    while kind != headers:
        kind, _ = read_frame(stream)
    if manner == "reset":
        connection.sendall(frame(rst_stream, 0, 1, internal_error))
    elif manner == "goaway":
        connection.sendall(frame(goaway, 0, 0, struct.pack(">II", 0, 0)))
    else:
        connection.sendall(status_200 + frame(data, 0, 1, b"12345"))
        go_ahead.acquire()
        if manner == "reset-in-mid-body":
            connection.sendall(frame(rst_stream, 0, 1, internal_error))
        elif manner == "goaway-in-mid-body":
            connection.sendall(frame(goaway, 0, 0, struct.pack(">I", 0) + internal_error))
    wait_for_the_client_to_leave(connection)


def read_frame(stream):
    """Skips a frame and returns its kind and its stream."""
    header = stream.read(9)
    if len(header) < 9:
        raise Hangup
    stream.read(int.from_bytes(header[:3], "big"))
    return header[3], int.from_bytes(header[5:], "big")


def port_of(process):
    """Returns the port that a process listens on: the process chose a free one and does not print it."""
    fds = f"/proc/{process.pid}/fd"
    sockets = {os.readlink(f"{fds}/{fd}") for fd in os.listdir(fds)}
    with open(f"/proc/{process.pid}/net/tcp", encoding="ascii") as table:
        for line in table:
            fields = line.split()
            if f"socket:[{fields[9]}]" in sockets and fields[3] == "0A":
                return int(fields[1].split(":")[1], 16)
    raise RuntimeError("it listens on nothing")


def start_nghttpd(arguments):
    certificate, key = arguments.tls
    server = subprocess.Popen(["nghttpd", "--verbose", "--address=127.0.0.1", f"--htdocs={arguments.http2}", "0",
                               key, certificate], env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin"},
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server.stdout.readline()  # nghttpd prints a line when it listens, but only with --verbose.
    threading.Thread(target=server.stdout.read, daemon=True).start()
    return server, port_of(server)


def tls_context(arguments):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*arguments.tls)
    if arguments.only_tls:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = ssl.TLSVersion[f"TLSv{arguments.only_tls}"]
    if arguments.clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(arguments.clients)
    if arguments.bad_http2:
        context.set_alpn_protocols(["h2"])
    return context


def main():
    global frozen
    parser = argparse.ArgumentParser()
    parser.add_argument("--tls", nargs=2, metavar=("CERTIFICATE", "KEY"))
    parser.add_argument("--only-tls", help="the one version to speak, as in 1_2")
    parser.add_argument("--clients", help="the CA of the certificates that clients must have")
    parser.add_argument("--proxy", action="store_true")
    parser.add_argument("--refusal", help="the status that a proxy answers everything with")
    parser.add_argument("--bad-http2", help="how to break off a stream, or silent-about-the-first")
    parser.add_argument("--http2", metavar="FOLDER",
                        help="pass everything on to nghttpd; the go-ahead asks for the number of connections so far")
    parser.add_argument("--freezes", action="store_true", help="the go-ahead freezes the connections so far as well")
    arguments = parser.parse_args()

    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    context = tls_context(arguments) if arguments.tls and not arguments.http2 else None
    nghttpd, nghttpd_port = start_nghttpd(arguments) if arguments.http2 else (None, None)
    connections = 0

    def take(connection, serial):
        try:
            if context:
                connection = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
                shake_hands(connection)
            if nghttpd:
                join(connection, ("127.0.0.1", nghttpd_port), serial)
            elif arguments.proxy:
                serve_as_proxy(connection, arguments.refusal)
            elif arguments.bad_http2 == "silent-about-the-first":
                serve_http2_but_for_the_first(connection, serial)
            elif arguments.bad_http2:
                serve_http2_badly(connection, arguments.bad_http2)
            else:
                serve(connection, serial)
        except (Hangup, OSError):
            connection.close()

    def listen():
        nonlocal connections
        while True:
            connection, _ = listener.accept()
            connections += 1
            threading.Thread(target=take, args=(connection, connections), daemon=True).start()

    threading.Thread(target=listen, daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    for _ in sys.stdin:
        go_ahead.release()
        if arguments.freezes:
            frozen = connections
        if nghttpd:
            print(connections, flush=True)
    if nghttpd:
        nghttpd.kill()
        nghttpd.wait()
    os._exit(0)  # Some threads may be waiting.


main()
