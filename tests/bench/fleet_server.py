#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An API server for measurements of thousands of nodes: plain HTTP on loopback, with all objects in memory.

It has the requests that the controller makes: lists in pages, watches with bookmarks, GET, POST, DELETE, merge patches
and JSON patches, also of the status.  It ignores selectors: the controller uses them only for pods and their budgets,
and this server has no such objects.  It neither checks nor completes objects as a real server does.

`GET /bench/counts` returns how many requests each client has made, as {client: {"PATCH nodes/status": count}}.  The
client is the first word of the header User-Agent.  The program prints its port, and ends with its standard input.
"""

import asyncio
import collections
import http
import json
import sys
import urllib.parse

from fleet_store import Refused, Store, encoded, merged, with_operations

BOOKMARK_INTERVAL = 30    # Seconds between two bookmarks of a watch.


class Server:
    def __init__(self):
        self.store = Store()
        self.counts = collections.defaultdict(collections.Counter)

    def own_answer(self, path):
        """Returns the answer for a path that is not about objects, or None."""
        if path == "/bench/counts":
            return encoded(self.counts)
        if path == "/version":
            return encoded({"major": "1", "minor": "29", "gitVersion": "v1.29.0"})
        return b"ok" if path in ("/readyz", "/healthz") else None


class Target:
    """What a path leads to: a kind, perhaps a namespace, an object and its part."""

    def __init__(self, store, path):
        words = path.split("/")
        length = 3 if path.startswith("/api/") else 4
        prefix, rest = "/".join(words[:length]), words[length:]
        self.namespace = ""
        if rest[:1] == ["namespaces"] and len(rest) > 2:
            self.namespace, rest = rest[1], rest[2:]
        self.plural, self.name, self.part = (rest + ["", "", ""])[:3]
        if f"{prefix}/{self.plural}" not in store.collections:
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        self.collection = store.collections[f"{prefix}/{self.plural}"]

    @property
    def key(self):
        return self.namespace, self.name


class Connection(asyncio.Protocol):
    """Reads the requests of one client, and answers each of them."""

    def __init__(self, server):
        self._server, self._unread, self._watch = server, bytearray(), None

    def connection_made(self, transport):
        self._transport = transport

    def connection_lost(self, _):
        if self._watch:
            self._watch.end()

    def data_received(self, data):
        self._unread += data
        while (end := self._unread.find(b"\r\n\r\n")) >= 0:
            first, *lines = self._unread[:end].decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            whole = end + 4 + int(headers.get("content-length", 0))
            if len(self._unread) < whole:
                if headers.get("expect"):
                    self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                return
            body = bytes(self._unread[end + 4:whole])
            del self._unread[:whole]
            method, address, _ = first.split(" ")
            self._answer(method, urllib.parse.urlsplit(address), headers, body)

    def _answer(self, method, address, headers, body):
        query = dict(urllib.parse.parse_qsl(address.query))
        client = headers.get("user-agent", "").partition("/")[0]
        path = urllib.parse.unquote(address.path)
        own = self._server.own_answer(path)
        if own is not None:
            return self._send(200, [own])
        counted_as = path
        try:
            target = Target(self._server.store, path)
            counted_as = "/".join(filter(None, (target.plural, target.part)))
            if query.get("watch"):
                method = "WATCH"
                return self._begin_watch(target, query)
            self._send(201 if method == "POST" else 200, self._carry_out(method, target, query, headers, body))
        except Refused as refused:
            counted_as += f" {refused.status}"
            self._send(refused.status, [status_of(refused)])
        finally:
            self._server.counts[client][f"{method} {counted_as}"] += 1

    @staticmethod
    def _carry_out(method, target, query, headers, body):
        """Returns the parts of the answer."""
        objects = target.collection
        if method == "GET" and not target.name:
            return objects.page(target.namespace, int(query.get("limit", 0)), query.get("continue", ""))
        if method == "GET":
            return [objects.get(target.key)]
        if method == "DELETE" and target.name:
            return [objects.delete(target.key)]
        if method == "POST" and not target.name:
            return [objects.create(target.namespace, json.loads(body))]
        changes = {"application/merge-patch+json": merged, "application/json-patch+json": with_operations}
        change = changes.get(headers.get("content-type"))
        if method != "PATCH" or not change:
            raise Refused(405, "MethodNotAllowed", "the server of measurements does not have this request")
        return [objects.patch(target.key, lambda value: change(value, json.loads(body)), target.part)]

    def _send(self, status, parts):
        head = f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n" \
            f"Content-Length: {sum(map(len, parts))}\r\n\r\n"
        self._transport.write(b"".join([head.encode(), *parts]))

    def _begin_watch(self, target, query):
        events = target.collection.events_since(target.namespace, int(query["resourceVersion"]))
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        self._watch = Watch(self._transport, target, float(query.get("timeoutSeconds", 300)))
        self._watch.begin(events)


class Watch:
    """Sends the events of a kind to one client until its time is over."""

    def __init__(self, transport, target, seconds):
        self._transport, self._target, self._loop = transport, target, asyncio.get_running_loop()
        self._ending = self._loop.call_later(seconds, self.close)

    def begin(self, events):
        """Sends the events so far, before any new ones, since the versions that a watch sends must never decrease."""
        for line in events:
            self.send(self._target.namespace, line)
        self._target.collection.watchers.add(self)
        self._send_bookmark()

    def send(self, namespace, line):
        if self._target.namespace in ("", namespace):
            self._transport.write(b"%x\r\n%b\r\n" % (len(line), line))

    def close(self):
        self._transport.write(b"0\r\n\r\n")
        self.end()

    def end(self):
        self._target.collection.watchers.discard(self)
        self._ending.cancel()
        self._bookmarks.cancel()

    def _send_bookmark(self):
        self._bookmarks = self._loop.call_later(BOOKMARK_INTERVAL, self._send_bookmark)
        self.send(self._target.namespace, self._target.collection.bookmark())


def status_of(refused):
    return encoded({"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": refused.reason,
                    "message": str(refused), "code": refused.status})


async def main():
    loop = asyncio.get_running_loop()
    server = Server()
    listening = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    listening.close()


if __name__ == "__main__":
    asyncio.run(main())
