# SPDX-License-Identifier: Apache-2.0
"""Finds the Kubernetes programs that the tests use, and the abilities of their version.

The abilities are read from the programs' help and from the API server, so that the tests run on any version.
"""

import functools
import os
import pathlib
import re

from . import kubernetes, shell

FOLDER_VARIABLE = "PINTLE_KUBERNETES"


def programs():
    """Returns the folder with the programs of a control plane: the chosen one, or the one that is built and cached."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if not chosen:
        return kubernetes.programs()
    folder = pathlib.Path(chosen).resolve()
    missing = [program for program in kubernetes.PROGRAMS if not os.access(folder / program, os.X_OK)]
    if missing:
        raise RuntimeError(f"{FOLDER_VARIABLE}={chosen}: {', '.join(missing)} cannot be run there; the folder has to "
                           f"have {', '.join(kubernetes.PROGRAMS)}, and may have an etcd and a kubelet")
    return folder


def etcd(folder):
    """Returns the folder's own etcd, or the installed one."""
    if os.access(folder / "etcd", os.X_OK):
        return folder / "etcd"
    shell.need("etcd")
    return "etcd"


@functools.lru_cache(maxsize=None)
def help_of(program):
    return shell.run(program, "--help").stdout


def options_of(program):
    """Returns the names of a program's options, according to its help."""
    return options_in(help_of(program))


def options_in(text):
    return set(re.findall(r"(?m)^ +(?:-\w, )?--([a-z0-9-]+)", text))


def only_known(known, **options):
    """Returns those of the options that the program knows.  Older or newer versions lack some."""
    return {name: value for name, value in options.items() if name.replace("_", "-") in known}


def known_plugins(text, *wanted):
    """Returns those of the admission plug-ins that an API server knows; `text` is its help."""
    return [plugin for plugin in wanted if re.search(rf"\b{plugin}\b", text)]


def without_features(text, *unwanted):
    """Returns the options that switch off those of the features that can be switched off; `text` is a program's help.

    The start of an API server takes a quarter less processor time without priority and fairness, which a server with
    the few requests of a test does not need.
    """
    off = [f"{feature}=false" for feature in unwanted if re.search(rf"\b{feature}=true\|false", text)]
    return {"feature_gates": ",".join(off)} if off else {}


def served_version(groups, group, *wanted):
    """Returns the first of these versions that is served, as GROUP/VERSION; `groups` is the answer to /apis."""
    served = {version["groupVersion"] for each in groups["groups"] for version in each["versions"]}
    for version in wanted:
        if f"{group}/{version}" in served:
            return f"{group}/{version}"
    raise LookupError(f"the API server serves {group} in none of {', '.join(wanted)}; "
                      f"it serves {', '.join(sorted(served))}")


def has_resource(resources, name):
    """Returns whether a group has the resource; `resources` is the API server's answer about the group."""
    return any(resource["name"] == name for resource in resources.get("resources", []))


def body_version(resources, name):
    """Returns the version of a subresource's request body; `resources` is the API server's answer about its group."""
    for resource in resources["resources"]:
        if resource["name"] == name:
            return "/".join(part for part in (resource.get("group"), resource.get("version")) if part)
    raise LookupError(f"{resources['groupVersion']} has no {name}")
