# SPDX-License-Identifier: Apache-2.0
"""Carries out cases of the Machine Config Operator's running controllers on a real API server.

A case has the objects of a cluster, steps, and the objects after each step.  The objects of a case have uids and
generations, but an API server assigns these itself.  So they are translated in both directions.
"""

import copy
import json
import re
import time

from machines import openshift_kinds
from machines.controller import MERGE, Objects
from machines.wait import wait_until

_OPERATOR = "machineconfiguration.openshift.io/v1"
# The API version and the plural of each kind.
_KINDS = {"Secret": ("v1", "secrets"),
          **{kind: (_OPERATOR, f"{kind.lower()}s") for kind in (
              "ContainerRuntimeConfig", "ControllerConfig", "KubeletConfig", "MachineConfig", "MachineConfigPool")},
          **{kind: (f"{group}/{version}", plural) for group, version, kind, plural, _ in openshift_kinds.KINDS}}
_KIND_OF = {plural: kind for kind, (_, plural) in _KINDS.items()}
_WITHOUT_STATUS = ("MachineConfig", "Secret")
# The fields of the metadata that are compared, for some kinds and for all others.
_COMPARED = {"MachineConfig": ("name", "labels", "annotations", "ownerReferences")}
_COMPARED_OF_OTHERS = ("name", "namespace", "annotations", "finalizers")
_OUR_VERSION = "machineconfiguration.openshift.io/generated-by-version"
_ROLE = "machineconfiguration.openshift.io/role"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# When the operator's controller KEY runs, the configs of these controllers can change.  For a controller that is not
# listed, these are its own configs.
_TRIGGERED = {"node": {"node", "feature", "kubelet"}}
# These controllers do nothing until the templates are rendered.
_NEED_THE_STATUS = {"kubelet", "template"}


class CaseRefused(Exception):
    """The API server refuses an object of a case, so that such a cluster cannot exist."""


def documents(path):
    """Returns the documents of a file; each is JSON."""
    texts = re.split(r"(?m)^---$", path.read_text(encoding="utf-8"))
    return [json.loads(text) for text in texts if text.strip() not in ("", "null")]


class Case:
    """The contents of a case's files."""

    def __init__(self, folder, top):
        own = documents(folder / "in.yaml")
        kinds = {document["kind"] for document in own}
        base = documents(top / "kubelet/_base.yaml")
        self.documents = own + [document for document in base if document["kind"] not in kinds]
        self.steps = json.loads((folder / "scenario.yaml").read_text(encoding="utf-8"))["steps"]
        self._results = json.loads((folder / "out/result.json").read_text(encoding="utf-8"))
        self.controllers = {step["sync"] for step in self.steps if "sync" in step}
        if any("deleted" in step for step in self.steps):
            self.controllers.add("kubelet")
        self.patched = {step["patch"]["name"] for step in self.steps if "patch" in step}
        # The names of the configs that come from templates.
        self.templates = {place.name for role in (top / "own-templates").iterdir() if role.name != "common"
                          for place in role.iterdir()}

    def expected(self, steps):
        """Returns the objects after this many steps, by plural; {} if the case does not have them."""
        known = [result.get("objects") for result in self._results if result["step"] <= steps and "objects" in result]
        return known[-1] or {} if known else {}

    def of_kind(self, kind):
        return [document for document in self.documents if document["kind"] == kind]

    def is_compared(self, config, expected, pools):
        """Returns whether the case has a result for a config, which is in the form of the results.

        Pintle's controllers all run at once, but a case has the results of only some of the operator's controllers.
        """
        name = config["name"]
        of_case = {document["metadata"]["name"] for document in self.of_kind("MachineConfig")}
        is_named = name in expected or name in of_case
        maker = self._maker(name)
        if maker == "render":
            return is_named
        at_work = set().union({""}, *(_TRIGGERED.get(each, {each}) for each in self.controllers))
        if name not in self.patched and maker not in at_work:
            return False
        # Our controller creates the pools that every cluster has.
        return is_named or maker == "template" or config.get("labels", {}).get(_ROLE) in pools

    def _maker(self, name):
        """Returns the controller that makes configs with such a name, or "" if a user makes them."""
        if name.startswith("rendered-"):
            return "render"
        if name in self.templates:
            return "template"
        for part, maker in (("containerruntime", "ctr"), ("registries", "image"), ("credentialprovider", "criocp")):
            if part in name:
                return maker
        return {"97": "node", "98": "feature", "99": "kubelet"}.get(name[:2], "") if "kubelet" in name else ""


class World:
    """The objects of a case in a cluster."""

    def __init__(self, cluster, case):
        self._objects, self._admin, self._case = Objects(cluster), cluster.admin, case
        self._began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._uids = {}           # {uid in the case: uid that the server has assigned}
        self._generations = {}    # {(kind, name): generation in the case}
        self._born = {}           # {kind: (creation time in the case, real creation time) of its newest object}
        self._deleted = set()     # The (kind, name) of deleted objects.
        self._paths = []

    # ---- creating ----

    def fill(self):
        """Creates the objects of the case, and a pull secret if _needs_secret()."""
        prepared = [self._prepared(document) for document in self._case.documents]
        rank = {"MachineConfigPool": 0, "MachineConfig": 2}
        prepared.sort(key=lambda document: (rank.get(document["kind"], 1),
                                            document["metadata"].get("creationTimestamp", "")))
        if self._needs_secret():
            prepared.append({"kind": "Secret", "metadata": {"name": "pull-secret", "namespace": "openshift-config"},
                             "type": "kubernetes.io/dockerconfigjson",
                             "stringData": {".dockerconfigjson": '{"auths": {}}'}})
        for document in prepared:
            self._create(document)
        for document in prepared:
            self._finish(document)

    def _prepared(self, document):
        """Returns the document; a ControllerConfig gets the parts that every cluster has."""
        if document["kind"] != "ControllerConfig":
            return document
        document = copy.deepcopy(document)
        document["metadata"].setdefault("annotations", {})[_OUR_VERSION] = "VERSION"
        if self._needs_secret():
            document["spec"]["pullSecret"] = {"namespace": "openshift-config", "name": "pull-secret"}
        return document

    def _needs_secret(self):
        """Returns whether the controller must be able to render the templates, although the case has no pull secret.

        A ControllerConfig whose status is not complete in the case must not become complete.
        """
        if self._case.of_kind("Secret") or "template" in self._case.controllers:
            return False
        return not self._case.controllers & _NEED_THE_STATUS or all(
            _is_complete(document) for document in self._case.of_kind("ControllerConfig"))

    def _create(self, document):
        kind, metadata = document["kind"], document["metadata"]
        version, _ = _KINDS[kind]
        self._await_another_second(kind, metadata)
        metadata = self._with_our_pools(metadata)
        if "namespace" in metadata:
            self._admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": metadata["namespace"]}})
        kept = {key: metadata[key] for key in ("name", "namespace", "labels", "annotations") if metadata.get(key)}
        content = {key: value for key, value in document.items() if key not in ("metadata", "status")}
        path = _path(kind, metadata)
        status, made = self._admin.request("POST", path.rpartition("/")[0], {
            **content, "apiVersion": version, "kind": kind, "metadata": kept})
        if status == 409:
            made = self._admin.must("PATCH", path, {**content, "apiVersion": version, "metadata": kept}, MERGE)
        elif status in (400, 422):
            raise CaseRefused(f"{kind} {metadata['name']}: {made['message']}")
        elif status >= 300:
            raise RuntimeError(f"{path}: {status} {made}")
        self._paths.append(path)
        self._born[kind] = (metadata.get("creationTimestamp", ""), int(time.time()))
        self._uids[document["metadata"].get("uid", "")] = made["metadata"]["uid"]
        self._generations[kind, _name(metadata)] = metadata.get("generation", 0)
        if document.get("status") and kind not in _WITHOUT_STATUS:
            self._put_status(kind, made, document["status"])

    def _await_another_second(self, kind, metadata):
        """Waits for the next second if the object has to be younger than all others of its kind."""
        before, second = self._born.get(kind, ("", 0))
        if before and metadata.get("creationTimestamp", "") > before:
            wait_until(lambda: int(time.time()) > second, "the next second", 5)

    def _with_our_pools(self, metadata):
        """Returns the metadata with the server's uids of pools: older operators used a pool's uid in names."""
        text = json.dumps(metadata)
        for pool in self._case.of_kind("MachineConfigPool"):
            uid = pool["metadata"].get("uid", "")
            if uid and uid in self._uids and uid != metadata.get("uid"):
                text = text.replace(uid, self._uids[uid])
        return json.loads(text)

    def _put_status(self, kind, thing, status):
        offset = thing["metadata"].get("generation", 0) - self._generations.get((kind, _name(thing["metadata"])), 0)

        def translated(value):
            if isinstance(value, list):
                return [translated(each) for each in value]
            if not isinstance(value, dict):
                return value
            return {key: max(0, each + offset) if key == "observedGeneration" else translated(each)
                    for key, each in value.items()}
        self._admin.must("PATCH", f"{_path(kind, thing['metadata'])}/status", {"status": translated(status)}, MERGE)

    def _finish(self, document):
        """Sets the references to other objects, and deletes the object if it is being deleted in the case."""
        kind, metadata = document["kind"], self._with_our_pools(document["metadata"])
        path = _path(kind, metadata)
        # Owners that do not exist are left out, because the garbage collector would remove the object.
        owners = [{**owner, "uid": self._uids[owner["uid"]]} for owner in metadata.get("ownerReferences") or []
                  if owner["uid"] in self._uids]
        finalizers = [self._uids.get(finalizer, finalizer) for finalizer in metadata.get("finalizers") or []]
        if owners or finalizers:
            self._admin.must("PATCH", path, {"metadata": {"ownerReferences": owners, "finalizers": finalizers}}, MERGE)
        if metadata.get("deletionTimestamp"):
            self._delete(kind, metadata)

    # ---- the steps ----

    def carry_out(self, step):
        """Carries out a step other than a sync."""
        if "apply" in step:
            self._create(step["apply"])
            self._finish(step["apply"])
        elif "deleted" in step:
            self._delete(step["deleted"]["kind"], step["deleted"])
        else:
            self._patch(step["patch"])

    def _patch(self, patch):
        kind, path = patch["kind"], _path(patch["kind"], patch)
        if isinstance(patch["merge"], list):
            self._admin.must("PATCH", path, patch["merge"], "application/json-patch+json")
            return
        merge = copy.deepcopy(patch["merge"])
        metadata, status = merge.setdefault("metadata", {}), merge.pop("status", None)
        if "generation" in metadata:
            self._generations[kind, _name(patch)] = metadata.pop("generation")
        is_deleted = metadata.pop("deletionTimestamp", None)
        if metadata or len(merge) > 1:
            self._admin.must("PATCH", path, merge, MERGE)
        if status is not None:
            self._put_status(kind, self._admin.must("GET", path), status)
        if is_deleted:
            self._delete(kind, patch)

    def _delete(self, kind, metadata):
        self._deleted.add((kind, metadata["name"]))
        self._admin.must("DELETE", _path(kind, metadata))

    # ---- waiting ----

    def settle(self):
        """Waits until the controller has looked at everything and has nothing more to write."""
        wait_until(self._is_unchanged_by_looks, "nothing changes any more", 90)

    def _is_unchanged_by_looks(self):
        before = self._versions()
        # The second look sees the writes of the first one.
        for _ in range(2):
            self._make_it_look()
        return self._versions() == before

    def _make_it_look(self):
        """Makes the controller look: creates an object that only gets a condition, and waits for the condition."""
        kind, spec = ("KubeletConfig", {"logLevel": 11}) if "ctr" in self._case.controllers else (
            "ContainerRuntimeConfig", {"containerRuntimeConfig": {"pidsLimit": 1}})
        version, plural = _KINDS[kind]
        path = f"/apis/{version}/{plural}/looked-at"
        self._admin.must("POST", f"/apis/{version}/{plural}", {
            "apiVersion": version, "kind": kind, "metadata": {"name": "looked-at"}, "spec": spec})
        wait_until(lambda: self._admin.must("GET", path).get("status", {}).get("conditions"),
                   "the controller has looked", 60)
        self._admin.must("DELETE", path)
        wait_until(lambda: self._admin.request("GET", path)[0] == 404, "the object is gone", 60)

    def _versions(self):
        kinds = ("MachineConfig", "ControllerConfig", "KubeletConfig", "ContainerRuntimeConfig", "ImagePolicy",
                 "CRIOCredentialProviderConfig")
        return {(kind, _name(thing["metadata"])): thing["metadata"]["resourceVersion"]
                for kind in kinds for thing in self._list(kind)}

    def _list(self, kind):
        version, plural = _KINDS[kind]
        return self._admin.must("GET", f"/apis/{version}/{plural}")["items"]

    # ---- comparing ----

    def differences(self, steps):
        """Returns the differences of the objects from the results after this many steps, as lines like in tests/vectors."""
        lines = []
        for plural, objects in self._case.expected(steps).items():
            kind = _KIND_OF[plural]
            wanted = {each["name"]: _without_empty(each) for each in objects or []}
            # A server removes a deleted object with its last finalizer.
            wanted = {name: each for name, each in wanted.items()
                      if (kind, name) not in self._deleted or each.get("finalizers")}
            got = {_name(each): each for each in (
                _without_empty(self._as_result(kind, thing)) for thing in self._list(kind))}
            if kind == "MachineConfig":
                pools = {pool["metadata"]["name"] for pool in self._case.of_kind("MachineConfigPool")} | {
                    step["apply"]["metadata"]["name"] for step in self._case.steps if "apply" in step}
                wanted, got = ({name: each for name, each in configs.items()
                                if self._case.is_compared(each, wanted, pools)} for configs in (wanted, got))
            for name, thing in sorted(got.items()):
                expected = wanted.pop(thing["name"], None)
                if expected is None:
                    lines.append(f"{kind} {name} should not be there")
                elif expected != thing:
                    lines += [f"{kind} {name}", *differences(expected, thing)]
            lines += [f"{kind} {name} is missing" for name in sorted(wanted)]
        return lines

    def _as_result(self, kind, thing):
        """Returns an object in the form of the results, with the case's uids and generations."""
        metadata = thing["metadata"]
        shown = {key: metadata[key] for key in _COMPARED.get(kind, _COMPARED_OF_OTHERS) if key in metadata}
        field = "spec" if kind == "MachineConfig" else "status"
        shown[field] = thing.get(field)
        if kind == "ControllerConfig":
            shown["annotations"] = {key: value for key, value in shown.get("annotations", {}).items()
                                    if key != _OUR_VERSION}
        text = json.dumps(shown)
        for case_uid, server_uid in self._uids.items():
            text = text.replace(server_uid, case_uid) if case_uid else text
        offset = metadata.get("generation", 0) - self._generations.get((kind, _name(metadata)), 0)
        return self._as_in_results(json.loads(text), offset)

    def _as_in_results(self, value, offset):
        """Translates a value; `offset` is how far the server's generation of the object is ahead of the case's."""
        if isinstance(value, list):
            return [self._as_in_results(each, offset) for each in value]
        if isinstance(value, dict):
            return {key: each - offset if key == "observedGeneration" else self._as_in_results(each, offset)
                    for key, each in value.items()}
        if not isinstance(value, str):
            return value
        if _TIME.fullmatch(value) and value >= self._began:
            return "NOW"
        return re.sub(r"\((\d+)\) generation", lambda found: f"({int(found[1]) - offset}) generation", value)

    # ---- the end ----

    def delete_all(self):
        """Removes all objects, so that the next case can use the cluster."""
        for path in self._paths:
            self._admin.request("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
            self._admin.request("DELETE", path)
        self._objects.delete_all()
        for path in self._paths:
            wait_until(lambda path=path: self._admin.request("GET", path)[0] == 404, f"{path} is gone", 60)


def _name(metadata):
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def _path(kind, metadata):
    version, plural = _KINDS[kind]
    space = f"namespaces/{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"/{'apis' if '/' in version else 'api'}/{version}/{space}{plural}/{metadata['name']}"


def _is_complete(document):
    status = document.get("status") or {}
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or []}
    return status.get("observedGeneration") == document["metadata"].get("generation") and [
        conditions.get(f"TemplateController{kind}") == "True" for kind in ("Completed", "Running", "Failing")] == [
            True, False, False]


def _without_empty(value, key=""):
    """Leaves out values that mean the same as a missing value: null, false, and empty texts, lists and objects."""
    if isinstance(value, list):
        # The order of finalizers has no meaning.
        return sorted(value) if key == "finalizers" else [_without_empty(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _without_empty(each, name) for name, each in value.items()}
    return {name: each for name, each in kept.items()
            if each is not None and each is not False and each not in ("", [], {})
            and not (name == "observedGeneration" and each == 0)}


def differences(expected, got, place=""):
    """Returns a line for each place: "  /status/machineCount: 1 became 2"."""
    if expected == got:
        return []
    if isinstance(expected, dict) and isinstance(got, dict):
        return [line for key in sorted({*expected, *got})
                for line in differences(expected.get(key), got.get(key), f"{place}/{key}")]
    if isinstance(expected, list) and isinstance(got, list):
        both = range(max(len(expected), len(got)))
        return [line for i in both for line in differences(*(each[i] if i < len(each) else None
                                                             for each in (expected, got)), f"{place}/{i}")]
    return [f"  {place}: {_text(expected)} became {_text(got)}"]


def _text(value):
    if value is None:
        return "nothing"
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
