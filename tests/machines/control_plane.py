# SPDX-License-Identifier: Apache-2.0
"""Which Kubernetes the tests run on, and what it can do.

That is asked of the programs and of their API server, so that the tests run on any version that somebody has.
"""

import functools
import os
import pathlib
import re

from . import kubernetes, shell

CHOICE = "PINTLE_KUBERNETES"


def programs():
    """The folder with the programs of a control plane: the one that was chosen, or the one that is built and kept."""
    chosen = os.environ.get(CHOICE)
    if not chosen:
        return kubernetes.programs()
    folder = pathlib.Path(chosen).resolve()
    missing = [program for program in kubernetes.PROGRAMS if not os.access(folder / program, os.X_OK)]
    if missing:
        raise RuntimeError(f"{CHOICE}={chosen}: {', '.join(missing)} cannot be run there; the folder has to have "
                           f"{', '.join(kubernetes.PROGRAMS)}, and may have an etcd")
    return folder


def etcd(folder):
    """The folder's own etcd, or the one that is installed."""
    if os.access(folder / "etcd", os.X_OK):
        return folder / "etcd"
    shell.need("etcd")
    return "etcd"


@functools.lru_cache(maxsize=None)
def options_of(program):
    """The names of a program's options, as its help has them."""
    return options_in(shell.run(program, "--help").stdout)


def options_in(text):
    return set(re.findall(r"(?m)^ +(?:-\w, )?--([a-z0-9-]+)", text))


def those_there_are(known, **options):
    """Those of the options that a program knows, for what may be left out where there is no such thing."""
    return {name: value for name, value in options.items() if name.replace("_", "-") in known}


def served_version(groups, group, *wanted):
    """The first version of these that the API server has, as GROUP/VERSION; `groups` is its answer to /apis."""
    there = {version["groupVersion"] for each in groups["groups"] for version in each["versions"]}
    for version in wanted:
        if f"{group}/{version}" in there:
            return f"{group}/{version}"
    raise LookupError(f"the API server has {group} in none of {', '.join(wanted)}, but {', '.join(sorted(there))}")


def has_resource(resources, name):
    """Whether a group has it; `resources` is the API server's answer to the group."""
    return any(resource["name"] == name for resource in resources.get("resources", []))


def body_version(resources, name):
    """The version of what is sent to a subresource; `resources` is the API server's answer to the group that has it."""
    for resource in resources["resources"]:
        if resource["name"] == name:
            return "/".join(part for part in (resource.get("group"), resource.get("version")) if part)
    raise LookupError(f"{resources['groupVersion']} has no {name}")
