# SPDX-License-Identifier: Apache-2.0
"""The audit log of a test cluster: the requests of Pintle's own accounts that the API server has refused.

A missing right often goes unnoticed, because our programs try again later, or continue without the answer.  So a
cluster fails at its end if the API server has answered such a request with 403.  A test about missing rights has to
declare the requests that are refused:

    with cluster.refusals.expected(user, "list secrets", "patch nodes/status"):
        assert user.request("GET", "/api/v1/secrets")[0] == 403
        ...
"""

import collections
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import typing

from .wait import wait_until

# The administrator as whom tests run `pintle-controller takeover`.
TAKEOVER = "takeover-administrator"

_POLICY = {
    "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
    # A policy cannot select requests by their answers, so all requests of our accounts are logged, and no others.
    "rules": [{"level": "Metadata", "userGroups": ["system:nodes", "system:serviceaccounts:pintle"]},
              {"level": "Metadata", "users": [TAKEOVER]},
              {"level": "None"}]}
# The API server also answers 403 when a plug-in is not ready or has not read the kinds yet, and for a namespace that is
# being deleted.  Such an answer is not about rights.
_OTHER_REASONS = ("not yet ready to handle request", "cannot find RESTMapping", "because it is being terminated")
# Admission plug-ins read the kinds again only every 30 s.  Until they know a kind, they refuse objects whose owners are
# of that kind.
_UNTIL_KINDS_ARE_KNOWN = datetime.timedelta(seconds=60)
_PATIENCE = 30    # Seconds until the API server has logged a request that it has answered.


def options(folder):
    """Writes the policy to the folder, and returns the API server's options for an audit log there."""
    policy = folder / "audit-policy.json"
    policy.write_text(json.dumps(_POLICY), encoding="ascii")
    # With this maximum size, in MB, the log remains one file.
    return {"audit_policy_file": policy, "audit_log_path": log_in(folder), "audit_log_maxsize": 100_000}


def log_in(folder):
    return folder / "audit.log"


class LoggedRefusal(typing.NamedTuple):
    user: str
    request: str    # The verb and the resource, such as "list secrets" or "patch nodes/status".
    received: datetime.datetime
    message: str
    is_by_admission: bool    # Whether the user had the right, and an admission plug-in refused the request.


class Refusals:
    """The refusals in an audit log."""

    def __init__(self, log):
        self._log, self._position = log, 0
        self._undeclared, self._starts = [], []

    @contextlib.contextmanager
    def expected(self, user, *requests):
        """Declares that the API server refuses each of these requests of a user inside `with`."""
        self._undeclared += self._new()
        declared, found = {(user.name, request) for request in requests}, []

        def are_all_found():
            found.extend(self._new())
            return declared <= {(each.user, each.request) for each in found}
        try:
            yield
            wait_until(are_all_found, f"the API server refuses {user.name} each of {', '.join(requests)}", _PATIENCE)
        finally:
            found.extend(self._new())
            self._undeclared += [each for each in found if (each.user, each.request) not in declared]

    @contextlib.contextmanager
    def ignored_at_the_start(self):
        """Ignores the refusals of requests inside `with`: a server that starts answers before it knows all rights."""
        began = _now()
        yield
        self._starts.append((began, _now()))

    def check(self):
        """Raises an error if a request was refused and no test has declared that."""
        self._undeclared += self._new()
        counts = collections.Counter(
            f"{each.user}: {each.request}: {each.message}" for each in self._undeclared
            if not any(_is_at_a_start(each, *start) for start in self._starts))
        if counts:
            raise AssertionError(
                "the API server has answered requests of ours with 403, and no test declares that with "
                "refusals.expected():\n" + "\n".join(f"{text} ({count} times)" for text, count in counts.items()))

    def _new(self):
        """Returns the refusals that were logged since the last call."""
        if not self._log.exists():    # The server creates the file when it logs the first request.
            return []
        with open(self._log, "rb") as log:
            log.seek(self._position)
            text = log.read()
        complete = text[:text.rfind(b"\n") + 1]
        self._position += len(complete)
        events = (_event_in(line) for line in complete.splitlines() if b'"code":403' in line)
        return [refusal for event in events if (refusal := _refusal_in(event))]


def _is_at_a_start(refusal, began, ended):
    return began <= refusal.received <= (ended + _UNTIL_KINDS_ARE_KNOWN if refusal.is_by_admission else ended)


def _event_in(line):
    # The line may begin with a part of an earlier event, at which a server was killed.
    return json.loads(line[max(0, line.rfind(b'{"kind":"Event"')):])


def _refusal_in(event):
    """Returns the refusal, or None if the event is about another answer."""
    status, thing = event.get("responseStatus", {}), event.get("objectRef", {})
    message = status.get("message", "")
    if status.get("code") != 403 or any(reason in message for reason in _OTHER_REASONS):
        return None
    # A real kubelet is not ours.  It asks for the Secrets of a new pod before the server knows that it may.
    if event.get("userAgent", "").startswith("kubelet/"):
        return None
    resource = "/".join(filter(None, (thing.get("resource"), thing.get("subresource")))) or event["requestURI"]
    received = datetime.datetime.fromisoformat(event["requestReceivedTimestamp"].replace("Z", "+00:00"))
    is_by_admission = event.get("annotations", {}).get("authorization.k8s.io/decision") == "allow"
    return LoggedRefusal(event["user"]["username"], f"{event['verb']} {resource}", received,
                         message or event["requestURI"], is_by_admission)


def _now():
    return datetime.datetime.now(datetime.timezone.utc)


def results():
    """Returns the folder that keeps the logs of all clusters, or None outside of a build."""
    build = os.environ.get("PINTLE_BUILD")
    return pathlib.Path(build) / "test-results/audit" if build else None


def keep(folder):
    """Moves the log of a cluster to the results of the tests; its name has the file of the current test."""
    log, kept = log_in(folder), results()
    if kept is None or not log.exists():
        return
    kept.mkdir(parents=True, exist_ok=True)
    test = pathlib.PurePath(os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]).stem
    shutil.move(log, kept / ("-".join(filter(None, (test, folder.name))) + ".log"))


def forget_earlier_logs():
    if results() is not None:
        shutil.rmtree(results(), ignore_errors=True)
