# SPDX-License-Identifier: Apache-2.0
"""Builds the controller's image, and applies the overlay that belongs to it."""

import json
import os
import pathlib
import re
import sys

from machines import shell
from machines.controller import wait_until_owners_are_known
from machines.manifests import copy_for, for_old_kustomize, for_this_cluster

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = SOURCE / "packaging/build_image.py"
VERSION = re.search(r"(?m)^\s*version: '([^']+)'", (SOURCE / "meson.build").read_text(encoding="utf-8"))[1]
NAME = "registry.example/pintle-controller"


def build(package, folder):
    """Builds the image with NAME in its overlay, which is not the default name; returns the folder with the image.

    The overlay of the image names deploy/ by a relative path, as one in build/image does.
    """
    output = folder / "build/image"
    shell.run(sys.executable, PROGRAM, "--package", package, "--name", NAME, "--output", output)
    return output


def digest(output):
    """Returns the digest of the image's manifest, by which manifests of Kubernetes name it."""
    return json.loads((output / "layout/index.json").read_text())["manifests"][0]["digest"]


def apply_overlay(cluster, output):
    """Applies the kinds and the image's overlay to a cluster, with a copy of deploy/ that its kubectl understands."""
    deploy = output.parents[1] / "deploy"
    copy_for(cluster, deploy)
    overlay = output / "kustomization.yaml"
    text = overlay.read_text(encoding="utf-8")
    overlay.write_text(for_old_kustomize(text.replace(os.path.relpath(SOURCE / "deploy", output), "../../deploy")))
    for folder in deploy / "crds", output:
        cluster.apply(for_this_cluster(cluster, cluster.kubectl("kustomize", folder).stdout))
        cluster.wait_until_kinds_are_served()
    wait_until_owners_are_known(cluster)
