# SPDX-License-Identifier: Apache-2.0
"""Compares what pintle-controller generates on a real API server with the results of the Machine Config Operator.

The operator's cases are kept elsewhere: PINTLE_SYNC_VECTORS names their folder, or its parent.  A few cases of our own
always run.  tests/vectors compares only the pure functions that decide.
"""

import json
import os
import pathlib

import pytest

from machines import openshift_kinds
from machines.cluster import Cluster
from machines.controller import DEPLOY, Controller, prepare_cluster
from machines.openshift_settings import allow_operator
from machines.wait import wait_until
from sync_cases import Case, CaseRefused, World

VARIABLE = "PINTLE_SYNC_VECTORS"
VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors"
OWN = VECTORS / "data/generated/sync"
# The cases in which Pintle deliberately differs from the operator, whose result is a defect.
DELIBERATE = json.loads((VECTORS / "generated/sync_differences.json").read_text(encoding="utf-8"))


def folders():
    configured = os.environ.get(VARIABLE)
    places = [OWN]
    if configured:
        place = pathlib.Path(configured)
        places.append(place / "sync" if (place / "sync").is_dir() else place)
    return [folder for place in places for folder in sorted(place.iterdir()) if (folder / "scenario.yaml").exists()]


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        openshift_kinds.install(running)
        running.kubectl("create", "namespace", "openshift-config")
        running.apply((DEPLOY / "openshift/rbac.yaml").read_text())
        allow_operator(running)
        yield running


def test_the_folder_of_the_operators_cases_has_cases():
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} does not name the folder of the operator's cases")
    assert [folder for folder in folders() if folder.parent != OWN], os.environ[VARIABLE]


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_ends_as_with_the_operator(cluster, folder):
    case = Case(folder, folder.parents[1])
    world = World(cluster, case)
    try:
        world.fill()
        carry_out(cluster, world, case, folder, deliberate_differences(folder))
    except CaseRefused as refused:
        pytest.skip(f"such a cluster cannot exist: the API server refuses {refused}")
    finally:
        world.delete_all()


def deliberate_differences(folder):
    """Returns the differences that the case must have."""
    if folder.parent == OWN:
        return []
    deliberate = DELIBERATE.get(folder.name, {"difference": []})
    return deliberate.get("on_an_api_server", deliberate)["difference"]


def carry_out(cluster, world, case, folder, differences):
    """Carries out the steps.  The controller starts at the first step in which the operator's controller runs."""
    end = len(case.steps)
    first = next((number for number, step in enumerate(case.steps) if "sync" in step), end)
    for step in case.steps[:first]:
        world.carry_out(step)
    with Controller(cluster, "sync", f"--templates={folder.parents[1] / 'own-templates'}", "--controller-version=HASH"):
        for number, step in enumerate(case.steps[first:end - 1], first):
            if "sync" not in step:
                world.carry_out(step)
            elif "sync" not in case.steps[number + 1]:
                # A case with deliberate differences may differ after this step, too.
                await_differences(world, number + 1, [], 2)
                world.settle()
        if first < end and "sync" not in case.steps[-1]:
            world.carry_out(case.steps[-1])
        await_differences(world, end, differences, 20)
        world.settle()
        assert world.differences(end) == differences


def await_differences(world, steps, differences, seconds):
    """Waits until the objects after this many steps have exactly these differences, or the time is over."""
    try:
        return wait_until(lambda: world.differences(steps) == differences, "the objects are as expected", seconds)
    except TimeoutError:
        return False
