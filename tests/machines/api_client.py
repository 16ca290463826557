# SPDX-License-Identifier: Apache-2.0
"""Sends the frequent requests of tests to an API server directly, without starting kubectl for each of them."""

import select
import threading
import typing
import urllib.parse

USER_AGENT = "pintle-tests"


class PersistentConnections:
    """Keeps one connection to a server for each thread, because a TLS handshake costs more than most requests."""

    def __init__(self, connect):
        self._connect, self._of_thread = connect, threading.local()

    def request(self, method, path, body, headers):
        """Returns the status and the text of the answer."""
        connection = getattr(self._of_thread, "connection", None)
        if connection is None or not is_reusable(connection):
            connection = self._connect()
        self._of_thread.connection = None
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        except BaseException:
            connection.close()
            raise
        self._of_thread.connection = connection
        return answer.status, text


def is_reusable(connection):
    """Returns whether the server keeps a connection open that has no request under way."""
    # A server that has ended the connection makes its socket readable.
    return connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]


class Resource(typing.NamedTuple):
    root: str       # The path of the group's version, such as /apis/apps/v1.
    version: str    # GROUP/VERSION, as in an object's apiVersion.
    entry: dict     # The resource in the server's list of resources.


class Resources:
    """Finds the resources that a server serves.

    Resources that were found are cached.  Missing ones are looked up again, because tests add kinds to the server.
    """

    def __init__(self):
        self._found = {}

    def named(self, name, read):
        """Returns the resource that kubectl means by the name, or None; `read` returns the answer to a GET.

        If several groups know the name, the first one counts, as with kubectl.
        """
        name = name.lower()
        for version in _versions(read) if name not in self._found else ():
            self._find(name, version, read, lambda resource: name in (
                resource["name"], resource.get("singularName"), resource["kind"].lower(),
                *resource.get("shortNames", [])))
            if name in self._found:
                break
        return self._found.get(name)

    def of_kind(self, version, kind, read):
        """Returns the resource of objects of this kind, or None."""
        if (version, kind) not in self._found:
            self._find((version, kind), version, read, lambda resource: resource["kind"] == kind)
        return self._found.get((version, kind))

    def _find(self, key, version, read, fits):
        root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
        for resource in read(root).get("resources", []):
            if "/" not in resource["name"] and fits(resource):    # A name with a slash is a subresource.
                self._found.setdefault(key, Resource(root, version, resource))


def _versions(read):
    yield "v1"
    for group in read("/apis").get("groups", []):
        yield group["preferredVersion"]["groupVersion"]


def path_of(resource, namespace, name=None):
    """Returns the path of an object, or of a collection; without a namespace, the collection is in all namespaces."""
    place = f"/namespaces/{namespace}" if resource.entry["namespaced"] and namespace else ""
    return f"{resource.root}{place}/{resource.entry['name']}" + (f"/{name}" if name else "")


class GetArguments:
    """The parsed arguments of `kubectl get`; `is_supported` is false if only kubectl understands one of them."""

    def __init__(self, words):
        self.namespace, self.selectors, names = "default", {}, []
        self.is_supported = True
        words = [str(word) for word in words]
        while words:
            word = words.pop(0)
            if not word.startswith("-"):
                names.append(word)
                continue
            option, equals, value = word.partition("=")
            if option in ("--all-namespaces", "-A") and not equals:
                self.namespace = None
            elif option in _OPTIONS and (equals or words):
                self._set_option(_OPTIONS[option], value if equals else words.pop(0))
            else:
                self.is_supported = False
        if len(names) == 1 and names[0].count("/") == 1:
            names = names[0].split("/")
        if len(names) not in (1, 2) or set("/,.") & set(names[0]):
            self.is_supported = False
        self.resource, self.name = (*names, None, None)[:2]
        if self.name and (self.selectors or self.namespace is None):
            self.is_supported = False

    def path(self, resource):
        query = urllib.parse.urlencode(self.selectors)
        return path_of(resource, self.namespace, self.name) + (f"?{query}" if query else "")

    def _set_option(self, option, value):
        if option == "namespace":
            self.namespace = value
        else:
            self.selectors[option] = value


def as_kubectl_prints(answer, resource):
    """Returns a list as kubectl prints it: each object has its kind and version, which the API server leaves out."""
    if "items" not in answer:
        return answer
    kind = {"apiVersion": resource.version, "kind": resource.entry["kind"]}
    return {"apiVersion": "v1", "kind": "List", "items": [kind | item for item in answer["items"]],
            "metadata": {"resourceVersion": "", "selfLink": ""}}


_OPTIONS = {"-n": "namespace", "--namespace": "namespace", "-l": "labelSelector", "--selector": "labelSelector",
            "--field-selector": "fieldSelector"}
