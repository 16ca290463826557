# SPDX-License-Identifier: Apache-2.0
"""Writes a folder of templates, which replace those of an OpenShift release."""

import json

KUBELET = "/etc/kubernetes/kubelet.conf"
REGISTRIES = "/etc/containers/registries.conf"
# The files that the generator of configs always needs: {name of the template: (path, text)}.
RELEASE_FILES = {
    "kubelet": (KUBELET, "kind: KubeletConfiguration\nmaxPods: 250\n"),
    "storage": ("/etc/containers/storage.conf", "[storage]\ndriver = \"overlay\"\n"),
    "registries": (REGISTRIES, ""),
    "policy": ("/etc/containers/policy.json", '{"default":[{"type":"insecureAcceptAnything"}],"transports":{}}'),
}


def write_templates(folder, **more):
    """Writes templates for the roles master and worker.

    `more` has further files, NAME=(PATH, CONTENTS).  The contents are in YAML, with actions of templates in it.
    """
    common = folder / "common/_base/files"
    common.mkdir(parents=True)
    needed = {name: (path, json.dumps(text)) for name, (path, text) in RELEASE_FILES.items()}
    for name, (path, contents) in (needed | more).items():
        (common / f"{name}.yaml").write_text(f"path: {path}\nmode: 0644\ncontents:\n  inline: {contents}\n")
    for role in ("master", "worker"):
        own = folder / f"{role}/00-{role}/_base/files"
        own.mkdir(parents=True)
        (own / "role.yaml").write_text(f"path: /etc/role\nmode: 0644\ncontents:\n  inline: {role}\n")
