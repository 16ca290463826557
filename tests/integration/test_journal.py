# SPDX-License-Identifier: Apache-2.0
"""Tests the log: under systemd, entries are in the journal with their fields; elsewhere they are plain text."""

import json

import pytest

from machines.node import BUILD_ON_MACHINE, Node
from machines.wait import wait_until

PROBE = f"{BUILD_ON_MACHINE}/tests/integration/log-probe"
MESSAGE_ID = "5ee1f7c1e2f04f5a8f0a2b8c6d1e9f30"


@pytest.fixture(scope="module")
def node():
    with Node(plain=True) as machine:
        yield machine


def entries(node, *matches):
    lines = node.run("journalctl", "-o", "json", "--all", *matches).stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_a_service_logs_to_the_journal_with_message_id_and_fields(node):
    node.run("systemd-run", "--unit=probe", PROBE, "--stay")
    wait_until(lambda: entries(node, f"MESSAGE_ID={MESSAGE_ID}"), "the journal has the entry", 60)
    [entry] = entries(node, f"MESSAGE_ID={MESSAGE_ID}")
    assert entry["MESSAGE"] == "the probe is careful"
    assert entry["PRIORITY"] == "4"
    assert entry["PINTLE_UNIT"] == "a.service"
    assert entry["PINTLE_DIFF"] == "one\ntwo"
    assert entry["SYSLOG_IDENTIFIER"] == "log-probe"
    assert entry["_SYSTEMD_UNIT"] == "probe.service"
    wait_until(lambda: entries(node, "-u", "probe", "PRIORITY=6", "SYSLOG_IDENTIFIER=log-probe"),
               "the journal has the entry without an id", 10)
    node.run("systemctl", "stop", "probe")
    assert not entries(node, "-u", "probe", "PRIORITY=7")


def test_a_command_logs_to_stderr_as_plain_text(node):
    assert node.run(PROBE).stderr.splitlines() == [
        "log-probe: warning: the probe is careful [PINTLE_UNIT=a.service PINTLE_DIFF=one\\ntwo]",
        "log-probe: the probe is done",
    ]


def test_debug_entries_are_written_on_request(node):
    assert "log-probe: debug: nobody asked" in node.run("env", "PINTLE_DEBUG=1", PROBE).stderr
