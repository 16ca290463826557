# SPDX-License-Identifier: Apache-2.0
"""Runs Kustomize on the folders in deploy/.

The manifests are written for today's Kustomize.  The Kustomize in kubectl 1.20 has other names for two keys, which
newer versions have dropped.  So kustomize() passes a copy of the folders with the old names to kubectl.
"""

import pathlib
import re
import shutil
import tempfile

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"


def kustomize(cluster, folder):
    """Returns the objects of a folder below deploy/, or of an overlay elsewhere, as YAML."""
    folder = pathlib.Path(folder).resolve()
    top = DEPLOY if folder.is_relative_to(DEPLOY) else folder
    with tempfile.TemporaryDirectory(prefix="pintle-manifests-") as copies:
        # The copy of an overlay is beside the copy of deploy/, so that its relative paths still lead there.
        for source in {DEPLOY, top}:
            shutil.copytree(source, pathlib.Path(copies) / source.name)
        _use_old_names(copies)
        return cluster.kubectl("kustomize", pathlib.Path(copies) / top.name / folder.relative_to(top)).stdout


def copy_for(cluster, place):
    """Makes `place` a copy of deploy/ that the cluster's own kubectl understands."""
    shutil.copytree(DEPLOY, place)
    _use_old_names(place)
    for path in place.rglob("*.yaml"):
        path.write_text(for_this_cluster(cluster, path.read_text()))


def _use_old_names(place):
    for path in list(pathlib.Path(place).rglob("Kustomization")):
        path.rename(path.with_name("kustomization.yaml"))
    for path in pathlib.Path(place).rglob("kustomization.yaml"):
        path.write_text(for_old_kustomize(path.read_text()))


def for_old_kustomize(text):
    """Returns a kustomization.yaml that has the folders in `bases`, and the old names of the keys for patches."""
    def bases_and_resources(match):
        lines = match[1].splitlines(keepends=True)
        folders = [line for line in lines if not line.rstrip().endswith(".yaml")]
        files = [line for line in lines if line not in folders]
        return ("bases:\n" + "".join(folders) if folders else "") + ("resources:\n" + "".join(files) if files else "")
    text = re.sub(r"(?m)^resources:\n((?:  - \S+\n)+)", bases_and_resources, text)
    return text.replace("patches:\n", "patchesStrategicMerge:\n").replace("  - path: ", "  - ")


def for_this_cluster(cluster, text):
    """Replaces policy/v1 by policy/v1beta1 if the cluster is too old.

    The only kind of this group in our manifests, PodDisruptionBudget, is the same in both versions.
    """
    return text.replace("policy/v1\n", cluster.api("policy", "v1", "v1beta1") + "\n")


def manifests_for(cluster, folder):
    return for_this_cluster(cluster, kustomize(cluster, folder))
