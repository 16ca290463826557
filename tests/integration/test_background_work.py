# SPDX-License-Identifier: Apache-2.0
"""Tests that an error in a thread beside a test fails the test."""

import contextlib

import pytest

from machines.background_work import BackgroundWork


class Broken(BackgroundWork):
    def work(self):
        raise OSError("the work is broken")


class Waiting(BackgroundWork):
    def __init__(self):
        super().__init__()
        self.times = 0

    def work(self):
        self.ending.wait()
        self.times += 1


def test_the_end_raises_the_error_of_the_work():
    with pytest.raises(OSError, match="the work is broken"), Broken():
        pass


def test_an_error_of_the_work_is_the_cause_of_the_failure_of_a_test():
    with pytest.raises(OSError, match="the work is broken") as raised, Broken():
        raise TimeoutError("the test waits for the work in vain")
    assert isinstance(raised.value.__cause__, TimeoutError)


def test_an_error_is_not_lost_if_the_work_has_ended_or_has_begun_again():
    with pytest.raises(OSError, match="the work is broken"), contextlib.ExitStack() as stack:
        work = Broken()
        stack.push(work)
        for _ in range(2):
            work.begin()
            work.end()


def test_work_without_an_error_ends_with_the_test():
    with Waiting() as work:
        assert work.times == 0
    assert work.times == 1
    # An error of the test stays as it is.
    with pytest.raises(KeyError), work:
        raise KeyError
    assert work.times == 2
