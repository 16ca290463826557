# SPDX-License-Identifier: Apache-2.0
"""Tests that the benchmark of whole commands compares them with their budgets."""

import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "bench"))

from command_bench import ROLLOUT, SMALL, Measurements  # noqa: E402


@pytest.fixture
def measured(tmp_path):
    """Measures a command with a budget; each run takes the next of these costs: seconds of processor time, and KiB."""
    def measure(budget, *costs):
        for number, (cpu, memory) in enumerate(costs):
            (tmp_path / str(number)).write_text(f"1.0 {cpu} {memory} 0\n", encoding="ascii")
        launcher = tmp_path / "launcher"
        launcher.write_text('#!/bin/sh\nset -- "${0%/*}"/[0-9]\ncat "$1" && rm "$1"\n', encoding="ascii")
        launcher.chmod(0o755)
        measurements = Measurements("pintle", str(launcher), len(costs))
        measurements.measure("a command", ["version"], budget=budget)
        return measurements.exceeded
    return measure


def test_a_command_within_its_budget_is_not_reported(measured):
    assert not measured(SMALL, (0.005, 8192))


def test_memory_over_the_budget_is_reported(measured):
    assert measured(SMALL, (0.004, 8300)) == ["a command takes 8.11 MiB (budget: 8)"]


def test_only_the_median_of_the_processor_time_counts(measured):
    assert not measured(SMALL, (0.004, 8000), (0.009, 8000), (0.004, 8000))
    assert measured(SMALL, (0.004, 8000), (0.009, 8000), (0.006, 8000)) == [
        "a command takes 6.0 ms of processor time (budget: 5)"]


def test_a_budget_that_is_known_not_to_be_met_is_printed(measured, capsys):
    assert not measured(ROLLOUT, (0.3, 8000))
    assert "known not to be met: 300.0 ms of processor time (budget: 200)" in capsys.readouterr().out
