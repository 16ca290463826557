# SPDX-License-Identifier: Apache-2.0
"""Simulates the agents of thousands of nodes.

machines.simulated_agents lists all nodes again and again; these agents follow a watch.
"""

import contextlib
import queue
import threading
import time

from fleet_objects import conditions_of_report
from machines.controller import GROUP, MERGE
from machines.simulated_agents import PREFIX

_WORKERS = 4


class Agents(contextlib.AbstractContextManager):
    """While in `with`, each node that is given another config reports that it works on it, and then that it has it."""

    def __init__(self, client):
        self._client = client
        self._waiting, self._given = queue.Queue(), {}
        self._may_work = threading.Event()
        self._may_work.set()
        self.trouble = None
        self._began, self._has_ended = threading.Event(), False
        self._threads = [threading.Thread(target=self._reporting_trouble, args=(work,), daemon=True)
                         for work in [self._follow] + [self._answer] * _WORKERS]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        self._began.wait()
        return self

    def __exit__(self, *_):
        self._has_ended = True
        self.go_on()
        for _ in range(_WORKERS):
            self._waiting.put(None)

    def hold(self):
        """Makes all agents pause before their next report."""
        self._may_work.clear()

    def go_on(self):
        self._may_work.set()

    def check(self):
        if self.trouble:
            raise self.trouble

    def _reporting_trouble(self, work):
        try:
            work()
        except Exception as trouble:    # check() raises it.
            if not self._has_ended:
                self.trouble = trouble
        finally:
            self._began.set()

    def _follow(self):
        with self._client.watched("/api/v1/nodes") as events:
            self._began.set()
            for event in events:
                metadata = event["object"]["metadata"]
                desired = metadata.get("annotations", {}).get(PREFIX + "desiredConfig")
                if event["type"] != "MODIFIED" or desired == self._given.get(metadata["name"]):
                    continue
                self._given[metadata["name"]] = desired
                if metadata["annotations"][PREFIX + "currentConfig"] != desired:
                    self._waiting.put((metadata["name"], desired))

    def _answer(self):
        while (given := self._waiting.get()) is not None:
            self._may_work.wait()
            name, config = given
            self._annotate(name, state="Working")
            self._annotate(name, state="Done", currentConfig=config)
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self._client.must("PATCH", f"{GROUP}/machineconfignodes/{name}/status", {"status": {
                "configVersion": {"current": config, "desired": config},
                "conditions": conditions_of_report(True, now)}}, MERGE)

    def _annotate(self, name, **annotations):
        self._client.must("PATCH", f"/api/v1/nodes/{name}", {"metadata": {
            "annotations": {PREFIX + key: value for key, value in annotations.items()}}}, MERGE)
