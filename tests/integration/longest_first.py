# SPDX-License-Identifier: Apache-2.0
"""Starts the test files that take longest first, so that all of pytest's workers end at about the same time.

The build folder has the seconds that each file took.  All workers read these figures before the first test, so they
agree on the order.  New figures are written after the last test.
"""

import collections
import json
import os
import pathlib

import pytest

_FIGURES = pathlib.Path(os.environ.get("PINTLE_BUILD", "build")) / "integration-seconds.json"
# The order of the first run, in which there are no figures: these files have many boots or long waits.
_FIRST = ("test_agent_faults.py", "test_takeover.py", "test_controller.py", "test_rollout_policy.py",
          "test_rpm_ostree.py", "test_next_boot.py", "test_deployments.py", "test_first_boot.py",
          "test_controller_faults.py", "test_alerts.py", "test_api_answers.py", "test_agent.py", "test_agent_local.py",
          "test_page.py", "test_generated_rollouts.py", "test_deploy.py", "test_stage_all.py", "test_generated.py",
          "test_real_kubelets.py")


class LongestFirst:
    def __init__(self):
        self._took = collections.Counter()

    def pytest_collection_modifyitems(self, items):
        known = _figures()
        items.sort(key=lambda item: -_expected(item.path.name, known))    # Tests of one file keep their order.

    def pytest_runtest_logreport(self, report):
        self._took[pathlib.PurePath(report.nodeid.partition("::")[0]).name] += report.duration

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        # Each worker has only some of the files, and a run of selected tests would give wrong figures.
        if not hasattr(session.config, "workerinput") and len(self._took) > len(_FIRST) and _FIGURES.parent.is_dir():
            _FIGURES.write_text(json.dumps(_figures() | {name: round(took) for name, took in self._took.items()}),
                                encoding="ascii")


def _figures():
    try:
        return json.loads(_FIGURES.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return {}


def _expected(name, known):
    return known.get(name, 1000 * (len(_FIRST) - _FIRST.index(name)) if name in _FIRST and not known else 0)
