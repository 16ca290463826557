# SPDX-License-Identifier: Apache-2.0
"""Gives a node access to a registry of the tests."""

import subprocess


def copy_into_node(node, source, place):
    """Copies a file or a directory of the host into the node."""
    packed = subprocess.run(["tar", "-C", source, "-c", "."], stdout=subprocess.PIPE, check=True).stdout
    node.run("mkdir", "--parents", place)
    subprocess.run([*node.entering(), "tar", "-C", place, "-x"], input=packed, check=True)


def grant_access(node, registry, with_credentials=True):
    """Copies the registry's certificates and credentials into the node, and returns the options of deployments-probe
    that name them.
    """
    copy_into_node(node, registry.certs_dir, "/etc/trust")
    node.run("tee", "/etc/policy.json", input='{"default": [{"type": "insecureAcceptAnything"}]}')
    node.run("sh", "-c", "umask 077; cat >/etc/auth.json", input=registry.auth_file.read_text())
    words = ["--certificates=/etc/trust", "--policy=/etc/policy.json"]
    return [*words, "--auth-file=/etc/auth.json"] if with_credentials else words
