# SPDX-License-Identifier: Apache-2.0
"""Writes a folder of templates, which replace those of an OpenShift release."""

import json

KUBELET = "/etc/kubernetes/kubelet.conf"
REGISTRIES = "/etc/containers/registries.conf"
# The generator of configs always needs these files: {name of the template: (path, contents in YAML)}.
_NEEDED = {
    "kubelet": (KUBELET, json.dumps("kind: KubeletConfiguration\nmaxPods: 250\n")),
    "storage": ("/etc/containers/storage.conf", json.dumps("[storage]\ndriver = \"overlay\"\n")),
    "registries": (REGISTRIES, '""'),
    "policy": ("/etc/containers/policy.json",
               json.dumps('{"default":[{"type":"insecureAcceptAnything"}],"transports":{}}')),
}


def write_templates(folder, **more):
    """Writes templates for the roles master and worker.

    `more` has further files, NAME=(PATH, CONTENTS).  The contents are in YAML, with actions of templates in it.
    """
    common = folder / "common/_base/files"
    common.mkdir(parents=True)
    for name, (path, contents) in (_NEEDED | more).items():
        (common / f"{name}.yaml").write_text(f"path: {path}\nmode: 0644\ncontents:\n  inline: {contents}\n")
    for role in ("master", "worker"):
        own = folder / f"{role}/00-{role}/_base/files"
        own.mkdir(parents=True)
        (own / "role.yaml").write_text(f"path: /etc/role\nmode: 0644\ncontents:\n  inline: {role}\n")
