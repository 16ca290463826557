# SPDX-License-Identifier: Apache-2.0
"""Makes templates and manifests for tests of `pintle generate` and of pintle-controller."""

import base64
import json

from machines.templates import RELEASE_FILES
from program import write

GROUP = "machineconfiguration.openshift.io"
CONFIG_GROUP = "config.openshift.io"
SECRET = '{"auths":{"r.test":{"auth":"c2VjcmV0OnBsYW50ZWQtc2VjcmV0"}}}'
FILES = {**RELEASE_FILES, "dns": ("/etc/dns", "{{.ClusterDNSIP}}")}


def put_template(folder, path, text):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def put_templates(folder):
    """Writes templates for masters and workers.

    They make 00-ROLE with the common files and a unit, and 01-ROLE-role with one file.
    """
    for name, (path, text) in FILES.items():
        put_template(folder, f"common/_base/files/{name}.yaml",
                     f"path: {path}\nmode: 0644\ncontents:\n  inline: {json.dumps(text)}\n")
    for role in ("master", "worker"):
        put_template(folder, f"{role}/00-{role}/_base/units/x.service.yaml", "name: x.service\nenabled: true\n")
        put_template(folder, f"{role}/01-{role}-role/_base/files/role.yaml",
                     f"path: /etc/role\nmode: 0644\ncontents:\n  inline: {role}\n")
    return folder


def controller_config(**spec):
    return {"apiVersion": f"{GROUP}/v1", "kind": "ControllerConfig",
            "metadata": {"name": "machine-config-controller", "annotations": {f"{GROUP}/generated-by-version": "v4"}},
            "spec": {"clusterDNSIP": "10.0.0.10", "releaseImage": "r.test/release@sha256:" + "0" * 64,
                     "infra": {"status": {"platformStatus": {"type": "None"}}}, **spec}}


def pool_label(name):
    """Returns the label of a pool, by which KubeletConfigs select the pool."""
    return {f"pools.operator.machineconfiguration.openshift.io/{name}": ""}


def pool(name, **spec):
    labels = {**pool_label(name), f"{GROUP}/mco-built-in": ""}
    return {"apiVersion": f"{GROUP}/v1", "kind": "MachineConfigPool", "metadata": {"name": name, "labels": labels},
            "spec": {"machineConfigSelector": {"matchLabels": {f"{GROUP}/role": name}}, **spec}}


def selects(name):
    return {"machineConfigPoolSelector": {"matchLabels": pool_label(name)}}


def kubelet_config(name="pods", role="worker", **configuration):
    return {"apiVersion": f"{GROUP}/v1", "kind": "KubeletConfig", "metadata": {"name": name},
            "spec": {**selects(role), "kubeletConfig": configuration}}


def setting(kind, name="cluster", **content):
    return {"apiVersion": f"{CONFIG_GROUP}/v1", "kind": kind, "metadata": {"name": name}, **content}


def feature_gate(*enabled):
    return setting("FeatureGate", spec={}, status={"featureGates": [
        {"version": "0.0.1-snapshot", "enabled": [{"name": name} for name in enabled], "disabled": []}]})


def secret(text=SECRET):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "openshift-config", "name": "pull-secret"},
            "type": "kubernetes.io/dockerconfigjson",
            "data": {".dockerconfigjson": base64.b64encode(text.encode()).decode()}}


def put_manifests(folder, *objects):
    """Writes each object to a file of its own; removes the files of earlier calls."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("[0-9][0-9]-*.json"):
        old.unlink()
    for number, manifest in enumerate(objects):
        write(folder / f"{number:02}-{manifest['kind'].lower()}.json", manifest)
    return folder
