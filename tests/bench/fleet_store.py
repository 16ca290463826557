# SPDX-License-Identifier: Apache-2.0
"""The objects of fleet_server.py, in memory.

Each object is kept as the JSON text that the server sends, so that a list of 10,000 nodes needs no encoding.
"""

import bisect
import collections
import json
import time
import uuid

# The kinds that the server has, as {prefix of the path: {plural: kind}}.
KINDS = {
    "/api/v1": {"nodes": "Node", "pods": "Pod", "events": "Event"},
    "/apis/coordination.k8s.io/v1": {"leases": "Lease"},
    "/apis/policy/v1": {"poddisruptionbudgets": "PodDisruptionBudget"},
    "/apis/machineconfiguration.openshift.io/v1": {
        "machineconfigs": "MachineConfig", "machineconfigpools": "MachineConfigPool",
        "machineconfignodes": "MachineConfigNode", "controllerconfigs": "ControllerConfig",
        "osimagestreams": "OSImageStream", "machineosconfigs": "MachineOSConfig", "machineosbuilds": "MachineOSBuild"},
    "/apis/operator.openshift.io/v1": {"machineconfigurations": "MachineConfiguration"},
    "/apis/config.openshift.io/v1": {"schedulers": "Scheduler"},
    "/apis/pintle.io/v1alpha1": {"rolloutpolicies": "RolloutPolicy"},
}
_HISTORY = 5_000    # So many events of each kind are kept for watches that begin later.


class Refused(Exception):
    def __init__(self, status, reason, message):
        super().__init__(message)
        self.status, self.reason = status, reason


def encoded(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def merged(value, patch):
    """Applies a JSON merge patch (RFC 7386), and leaves the given value unchanged."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for key, part in patch.items():
        if part is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), part)
    return result


def with_operations(value, operations):
    """Applies those operations of a JSON patch (RFC 6902) that the controller uses."""
    for operation in operations:
        *above, last = [word.replace("~1", "/").replace("~0", "~") for word in operation["path"].split("/")[1:]]
        place = value
        for word in above:
            place = place[word]
        if operation["op"] == "remove":
            del place[last]
        elif operation["op"] == "replace" and (above, last) == (["metadata"], "resourceVersion") and \
                place[last] != operation["value"]:
            raise Refused(409, "Conflict", "the object has another version")
        else:
            place[last] = operation["value"]
    return value


class Store:
    def __init__(self):
        self.version = 1
        self.collections = {f"{prefix}/{plural}": Collection(self, prefix, kind)
                            for prefix, kinds in KINDS.items() for plural, kind in kinds.items()}

    def next_version(self):
        self.version += 1
        return self.version


class Collection:
    """All objects of a kind.  The key of an object is its namespace and its name."""

    def __init__(self, store, prefix, kind):
        self._store = store
        self._type = {"apiVersion": prefix.split("/", 2)[2], "kind": kind}
        self._texts, self._keys = {}, []
        self._history = collections.deque()    # (version, namespace, line)
        self._forgotten = 0                    # The newest version that is no longer in the history.
        self.watchers = set()

    def get(self, key):
        if key not in self._texts:
            raise Refused(404, "NotFound", f"{self._type['kind']} {key[1]} not found")
        return self._texts[key]

    def create(self, namespace, value):
        key = (namespace, value["metadata"]["name"])
        if key in self._texts:
            raise Refused(409, "AlreadyExists", f"{self._type['kind']} {key[1]} already exists")
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        metadata = value["metadata"] | {"uid": str(uuid.uuid4()), "creationTimestamp": now, "generation": 1}
        if namespace:
            metadata["namespace"] = namespace
        bisect.insort(self._keys, key)
        return self._put(key, self._type | value | {"metadata": metadata}, "ADDED")

    def patch(self, key, change, part):
        """Changes an object by a function.  `part` is "status", or empty for all but the status."""
        text = self.get(key)
        before, now = json.loads(text), change(json.loads(text))
        wanted = now["metadata"].get("resourceVersion", "")
        if wanted not in ("", before["metadata"]["resourceVersion"]):
            raise Refused(409, "Conflict", f"{key[1]} has another version")
        if part == "status":
            now = before | {"status": now.get("status", {})}
        elif "status" in before:
            now["status"] = before["status"]
        if now == before:
            return text
        if any(before.get(name) != now.get(name) for name in (before.keys() | now.keys()) - {"metadata", "status"}):
            now["metadata"]["generation"] += 1
        return self._put(key, now, "MODIFIED")

    def delete(self, key):
        value = json.loads(self.get(key))
        self._keys.pop(bisect.bisect_left(self._keys, key))
        self._put(key, value, "DELETED")
        return self._texts.pop(key)

    def page(self, namespace, limit, token):
        """Returns a page of the list, as the parts of its text.  `token` is from the page before, or empty."""
        version, _, last = token.partition(" ")
        start = bisect.bisect_right(self._keys, tuple(last.split("/", 1))) if token else 0
        end = min(start + limit, len(self._keys)) if limit else len(self._keys)
        # All pages have the version of the first page, at which the watch that follows the list begins.  So this watch
        # has the changes since the first page.
        metadata = {"resourceVersion": version or str(self._store.version)}
        if end < len(self._keys):
            metadata["continue"] = f"{metadata['resourceVersion']} {'/'.join(self._keys[end - 1])}"
        head = {"apiVersion": self._type["apiVersion"], "kind": self._type["kind"] + "List", "metadata": metadata}
        texts = [self._texts[key] for key in self._keys[start:end] if namespace in ("", key[0])]
        return [encoded(head)[:-1], b',"items":[', b",".join(texts), b"]}"]

    def events_since(self, namespace, version):
        """Returns the lines of the watch since a version."""
        if version < self._forgotten:
            raise Refused(410, "Expired", "too old resource version")
        return [line for at, of, line in self._history if at > version and namespace in ("", of)]

    def bookmark(self):
        value = self._type | {"metadata": {"resourceVersion": str(self._store.version)}}
        return b'{"type":"BOOKMARK","object":' + encoded(value) + b"}\n"

    def _put(self, key, value, event):
        version = self._store.next_version()
        value["metadata"]["resourceVersion"] = str(version)
        text = self._texts[key] = encoded(value)
        line = b'{"type":"' + event.encode() + b'","object":' + text + b"}\n"
        self._history.append((version, key[0], line))
        if len(self._history) > _HISTORY:
            self._forgotten = self._history.popleft()[0]
        for watcher in self.watchers:
            watcher.send(key[0], line)
        return text
