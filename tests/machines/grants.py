# SPDX-License-Identifier: Apache-2.0
"""Waits until an API server grants rights that were just created."""

import itertools

from .wait import wait_until

_RBAC = "rbac.authorization.k8s.io"
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_numbers = itertools.count()


def wait_until_known(admin):
    """Waits until all Roles and bindings that exist now have an effect.

    The API server reads each of these four kinds separately, and the objects of one kind in the order in which they
    were written.  So when it knows the objects that this function creates, it also knows all earlier ones.
    """
    user = f"user-of-rights-{next(_numbers)}"
    for kind, namespace in (("ClusterRole", None), ("Role", "default")):
        place = f"/apis/{_RBAC}/v1" + (f"/namespaces/{namespace}" if namespace else "")
        roles, bindings = f"{place}/{kind.lower()}s", f"{place}/{kind.lower()}bindings"
        right = {"group": "example.com", "resource": f"{kind.lower()}-things", "verb": "get"}
        admin.must("POST", roles, {"metadata": {"name": user}, "rules": [
            {"apiGroups": [right["group"]], "resources": [right["resource"]], "verbs": [right["verb"]]}]})
        admin.must("POST", bindings, {
            "metadata": {"name": user}, "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": user},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}]})
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                  "spec": {"user": user, "resourceAttributes": right | ({"namespace": namespace} if namespace else {})}}
        wait_until(lambda review=review: admin.must("POST", _REVIEWS, review)["status"].get("allowed"),
                   f"a new {kind} has an effect", 60)
        for path in (bindings, roles):
            admin.must("DELETE", f"{path}/{user}")
