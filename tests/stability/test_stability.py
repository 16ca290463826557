# SPDX-License-Identifier: Apache-2.0
"""Compares the lists of docs/stability.md with what the programs print, publish and write.

The files beside this one have the lists, too, so that nobody removes a line from the page by mistake. A program may
have more than the lists.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree

import pytest
from program import PINTLE, file, machine_config, pintle, with_files, write
from small_machine import Machine

HERE = pathlib.Path(__file__).parent
SOURCE = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("PINTLE_BUILD", "build"))
LISTS = ["annotations", "bus", "exit", "files", "json", "metrics", "settings"]
ROLLOUT = SOURCE / "tests/vectors/data/rollout/003-mu-1-of-5"
RENDER = SOURCE / "tests/vectors/data/render/005-one-file"
JOURNAL = "/var/lib/pintle/change/journal.json"
STATUS = {
    "source": "kubernetes", "node": "worker-0", "current": "rendered-worker-1", "desired": "rendered-worker-2",
    "currentImage": "quay.io/os@sha256:0", "desiredImage": "quay.io/os@sha256:1", "state": "Working", "reason": "why",
    "phase": "draining", "since": "2026-11-21T05:41:43Z", "doing": "waits", "next": "reboot", "findings": 1,
    "warnings": ["one"], "leftAside": "kernelArguments",
}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to users, which needs root")


def entries(name):
    return (HERE / f"{name}.txt").read_text().splitlines()


@pytest.mark.parametrize("name", LISTS)
def test_the_page_has_each_list(name):
    page = (SOURCE / "docs/stability.md").read_text()
    (block,) = re.findall(rf"(?ms)^```{name}\n(.*?)^```$", page)
    assert block.splitlines() == entries(name) == sorted(set(entries(name)), key=entries(name).index)
    assert len(entries(name)) >= 4


def test_the_page_has_no_list_without_a_file():
    page = (SOURCE / "docs/stability.md").read_text()
    assert sorted(re.findall(r"(?m)^```(\w+)$", page)) == LISTS == sorted(path.stem for path in HERE.glob("*.txt"))


# ---- the bus --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bus(tmp_path_factory):
    """Starts a bus with an agent's interface on it; returns the environment of its clients."""
    folder = tmp_path_factory.mktemp("bus")
    address = f"unix:path={folder}/bus"
    config = folder / "bus.conf"
    config.write_text(f"""<busconfig><type>system</type><listen>{address}</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
        <allow user="*"/></policy></busconfig>""")
    env = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": address}
    with contextlib.ExitStack() as stack:
        def start(*words, **streams):
            process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env, **streams)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process
        daemon = start("dbus-daemon", f"--config-file={config}", "--nofork", "--print-address=1")
        assert daemon.stdout.readline().startswith("unix:")
        agent = start(BUILD / "tests/integration/agent-bus-probe", "serve", stdin=subprocess.PIPE)
        assert agent.stdout.readline() == "serving\n"
        agent.stdin.write(json.dumps(STATUS) + "\n")
        agent.stdin.flush()
        assert agent.stdout.readline() == "published\n"
        yield env


def members_of_the_bus(env):
    described = subprocess.run(
        ["busctl", "--system", "call", "--json=short", "io.pintle.Agent1", "/io/pintle/Agent1",
         "org.freedesktop.DBus.Introspectable", "Introspect"],
        env=env, capture_output=True, text=True, check=True).stdout
    root = xml.etree.ElementTree.fromstring(json.loads(described)["data"][0])
    (interface,) = [element for element in root.iter("interface") if element.get("name") == "io.pintle.Agent1"]
    for member in interface:
        kind, name = member.tag, member.get("name")
        types = member.get("type", "") if kind == "property" else \
            "".join(argument.get("type") for argument in member.iter("arg")) if kind == "signal" else ""
        yield f"{kind} {name} {types}".strip()


def test_the_agent_has_each_member_on_the_bus(bus):
    assert [entry for entry in entries("bus") if entry not in set(members_of_the_bus(bus))] == []


# ---- JSON -----------------------------------------------------------------------------------------------------------


def paths_in(value, prefix=""):
    """Returns the path of each field, such as findings[].about."""
    if isinstance(value, list):
        return {path for element in value for path in paths_in(element, f"{prefix}[]")}
    if not isinstance(value, dict):
        return set()
    found = set()
    for key, member in value.items():
        path = f"{prefix}.{key}" if prefix else key
        found |= {path} | paths_in(member, path)
    return found


@pytest.fixture(scope="module")
def printed(bus, tmp_path_factory):
    """Returns the fields that each verb prints in one of its answers."""
    folder = tmp_path_factory.mktemp("answers")
    found = {}

    def add(name, text):
        found.setdefault(name, set()).update(paths_in(json.loads(text)))

    def on_disk(name, *words):
        add(name, pintle(*name.split(), *words, "-o", "json").stdout)

    old, new = (write(folder / text, machine_config(with_files(file("/etc/a", text)))) for text in ["one", "two"])
    on_disk("version")
    on_disk("diff", old, new)
    on_disk("validate", write(folder / "wrong.json", with_files(file("etc/a"))))
    on_disk("rollout", "--pool", ROLLOUT / "pool.json", "--nodes", ROLLOUT / "nodes.json")
    rendered = pintle("render", "--pool", RENDER / "pool.yaml", "--controller-config", RENDER / "controllerconfig.yaml",
                      RENDER / "inputs", "-o", "json").stdout
    on_disk("render --hash-only", "worker", write(folder / "rendered.json", rendered))
    add("status", subprocess.run([PINTLE, "status", "-o", "json"], env=bus, capture_output=True, text=True,
                                 check=False).stdout)
    (folder / "root").mkdir()
    ask_machine(Machine(folder / "root"), folder, add)
    return found


def ask_machine(machine, folder, add):
    """Asks a machine in each of the states in which some fields are printed."""
    def ask(name, *words):
        add(name, pintle(*name.split(), "--root", machine.root, *words, "-o", "json").stdout)

    config = write(folder / "a.ign", with_files(file("/etc/motd", "ours\n")))
    ask("apply", "--dry-run", config)
    machine.run("apply", "--yes", config)
    machine.path("/etc/motd").write_text("edited\n")
    ask("apply", "--yes", "--none")
    machine.run("ignore", "/etc/motd", "--until", "2h")
    ask("ignore")
    ask("explain", "/etc/motd")
    write(machine.path(JOURNAL), {
        "version": 1, "phase": "applying", "from": "a", "to": "b", "bootID": "", "steps": [], "undo": [], "actions": [],
        "nextBoot": None})
    ask("verify")
    machine.path("/var/lib/pintle/policy.json").write_text("{")
    ask("recover --set-aside")
    ask("recover")


@needs_root
def test_each_field_is_printed(printed):
    missing = [entry for entry in entries("json") if entry.rsplit(" ", 1)[1] not in printed[entry.rsplit(" ", 1)[0]]]
    assert missing == []


# ---- exit statuses --------------------------------------------------------------------------------------------------


def test_commands_end_with_each_status(tmp_path):
    old, new = (write(tmp_path / text, machine_config(with_files(file("/etc/a", text)))) for text in ["one", "two"])
    ended = {pintle("version").status, pintle("no-such-verb").status, pintle("diff", old, new).status}
    assert ended == {0, 1, 2}
    page = (SOURCE / "man/pintle.1").read_text().replace("\\-", "-")
    described = [" ".join(entry) for entry in re.findall(r"(?m)^\.TP\n\.B (\d+)\n(.*)$", page)]
    assert [entry for entry in entries("exit") if entry not in described] == []


# ---- names that the programs contain --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def texts():
    """Returns the contents of the programs that run on a node and in the cluster."""
    programs = ["src/agent/pintled", "src/ctl/pintle", "src/controller/pintle-controller"]
    return {name.rsplit("/", 1)[1]: (BUILD / name).read_bytes() for name in programs}


def has_text(program, text):
    return text.encode() + b"\0" in program


def test_the_programs_have_each_annotation_and_its_values(texts):
    agent, controller = texts["pintled"], texts["pintle-controller"]
    words = [word for entry in entries("annotations") for word in entry.split()]
    assert [word for word in words if not has_text(agent, word) and not has_text(controller, word)] == []
    header = (SOURCE / "src/api/annotations.h").read_text()
    values = {value for entry in entries("annotations") for value in entry.split()[1:]}
    assert values <= set(re.findall(r'kAgent\w+ = "(\w+)"', header))


def test_the_programs_have_each_metric(texts):
    assert [name for name in entries("metrics")
            if not has_text(texts["pintled" if name.startswith("mcd_") else "pintle-controller"], name)] == []


def test_the_agent_knows_each_setting(texts):
    table = re.findall(r'Key\{"(\w+)", "(\w+)"', (SOURCE / "src/agent/settings.cc").read_text())
    for section, key in map(str.split, entries("settings")):
        assert (section, key) in table and has_text(texts["pintled"], key)


# ---- files ----------------------------------------------------------------------------------------------------------


def versions_of_files():
    header = (SOURCE / "src/change/format.h").read_text()
    return {path: int(version) for path, version in re.findall(r'Format k\w+ = \{"([^"]+)", (\d+)', header)}


def test_each_file_is_still_known_and_its_version_does_not_fall(texts):
    known = versions_of_files()
    for path, version in map(str.split, entries("files")):
        assert known[path] >= int(version), path
        assert has_text(texts["pintled"], path), path
    assert len(known) == len(entries("files")), "the page has to list each file of src/change/format.h"


@needs_root
def test_files_name_their_version(tmp_path):
    (tmp_path / "root").mkdir()
    machine = Machine(tmp_path / "root")
    config = with_files(file("/etc/motd", "ours\n"))
    config["passwd"] = {"users": [{"name": "core", "passwordHash": "$6$salt$ours"}]}
    machine.run("apply", "--yes", write(tmp_path / "a.ign", config))
    machine.path("/etc/motd").write_text("edited\n")
    machine.run("ignore", "/etc/motd", "--until", "2h")
    known = versions_of_files()
    written = [path for path in known if machine.path(path).exists()]
    assert len(written) >= 3
    for path in written:
        assert json.loads(machine.path(path).read_text())["version"] == known[path], path
