# SPDX-License-Identifier: Apache-2.0
"""Tests the libraries that are loaded only when they are needed: which program loads which library, and the error when
a library is missing.
"""

import ctypes
import json
import os
import re
import struct
import subprocess

import pytest
from program import PINTLE, file, machine_config, with_files, write

BUILD = PINTLE.parents[2]
PROGRAMS = [PINTLE, BUILD / "src/agent/pintled"]
(MODULE,) = (BUILD / "src/host").glob("pintle-ostree-*.so")
LOADED_WHEN_NEEDED = ("libostree", "libgio", "libarchive", "libcurl", "libcrypto", "libssl", MODULE.name)
FEATURES = {"pintle": {"digests", "http", "ostree", "tls-server"}, "pintled": {"digests", "http", "ostree", "tls-server"}}
OWNER_AND_TYPE = ("FDO", 0x407C0C0A)
HIDING = """
soname=$1; shift
for library in $(ldconfig -p | sed -n "s/.*$soname .*=> //p"); do
  mount --bind /dev/null "$(readlink -f "$library")"
done
exec "$@"
"""


def loaded_by(*words):
    """Returns the names of the shared libraries that a run of the program loads."""
    run = subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "LD_DEBUG": "files"})
    return set(re.findall(r"file=(\S+) \[0\];  generating link map", run.stderr))


def notes(program):
    """Returns the program's ELF notes about the libraries that it loads when it needs them."""
    objcopy = ["objcopy", "--dump-section", ".note.dlopen=/dev/stdout", program, "/dev/null"]
    raw = subprocess.run(objcopy, check=True, capture_output=True).stdout
    found = []
    while raw:
        owner_size, size, kind = struct.unpack_from("<III", raw)
        rest = raw[12:]
        assert (rest[:owner_size].rstrip(b"\0").decode(), kind) == OWNER_AND_TYPE
        rest = rest[(owner_size + 3) & ~3:]
        found += json.loads(rest[:size].rstrip(b"\0"))
        raw = rest[(size + 3) & ~3:]
    return found


def symbols(path, which):
    listed = subprocess.run(["nm", "--dynamic", which, path], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if "pintle" in line}


def test_a_command_without_digests_images_and_network_loads_none_of_their_libraries(tmp_path):
    config = write(tmp_path / "config.json", machine_config(with_files(file("/etc/a", "a"))))
    for words in (["version"], ["validate", config]):
        loaded = loaded_by(PINTLE, *words)
        assert "libc.so.6" in loaded
        assert not [name for name in loaded if name.startswith(LOADED_WHEN_NEEDED)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_packaging_tools_find_what_is_loaded_later(program):
    found = {feature["feature"]: feature for feature in notes(program)}
    assert set(found) == FEATURES[program.name]
    for feature in found.keys() - {"ostree"}:
        ctypes.CDLL(found[feature]["soname"][0])
    assert found["ostree"]["soname"] == [MODULE.name]
    assert all(feature["priority"] in ("required", "recommended", "suggested") for feature in found.values())
    readelf = ["readelf", "--section-headers", "--wide", program]
    sections = subprocess.run(readelf, check=True, capture_output=True, text=True).stdout
    (flags,) = re.findall(r" \.note\.dlopen +NOTE +(?:[0-9a-f]+ +){4}(\w+) ", sections)
    assert flags == "A", "the section is writable"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_defines_all_symbols_that_the_module_needs(program):
    required = symbols(MODULE, "--undefined-only")
    assert required and required <= symbols(program, "--defined-only")


def without(soname, *words):
    """Runs the program on a machine that has no library of this name."""
    return subprocess.run(["unshare", "--mount", "sh", "-ec", HIDING, "sh", soname, PINTLE, *words], check=False,
                          capture_output=True, text=True)


def test_without_libcrypto_the_missing_package_is_named_and_nothing_changes(tmp_path):
    config = write(tmp_path / "config.json", machine_config(with_files(file("/etc/a", "a"))))
    (tmp_path / "root").mkdir()
    run = without("libcrypto.so.3", "apply", "--root", tmp_path / "root", "--yes", config)
    assert run.returncode == 1
    assert "libcrypto.so.3" in run.stderr and "install the package openssl-libs" in run.stderr
    assert not (tmp_path / "root/etc/a").exists()


def test_without_libcurl_the_missing_package_is_named(tmp_path):
    kubeconfig = write(tmp_path / "kubeconfig", {
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": "https://127.0.0.1:1"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "users": [{"name": "me", "user": {"token": "t"}}]})
    run = without("libcurl.so.4", "rollout", "--kubeconfig", kubeconfig, "worker")
    assert run.returncode == 1
    assert "libcurl.so.4" in run.stderr and "install the package libcurl" in run.stderr
