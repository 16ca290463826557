# SPDX-License-Identifier: Apache-2.0
"""Work in a thread beside a test, whose errors fail the test."""

import contextlib
import threading


class BackgroundWork(contextlib.AbstractContextManager):
    """Runs work() in a thread from the beginning of `with` to its end, which raises the error of work().

    A test whose thread has ended usually times out, so the thread's error is raised also if the test has failed.
    Subclasses define work(), which returns soon after `ending` is set.
    """

    def __init__(self):
        self.ending = threading.Event()
        self._thread = self._trouble = None

    def work(self):
        raise NotImplementedError

    def has_begun(self):
        return self._thread is not None

    def begin(self):
        self.ending.clear()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self):
        """Ends the thread if there is one.  Its error is not raised before the end of `with`."""
        self.ending.set()
        if self._thread:
            self._thread.join()
            self._thread = None

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, _, error, *__):
        self.end()
        if self._trouble and (error is None or isinstance(error, Exception)):
            raise self._trouble from error

    def _run(self):
        try:
            self.work()
        except Exception as trouble:
            self._trouble = self._trouble or trouble
