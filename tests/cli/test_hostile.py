# SPDX-License-Identifier: Apache-2.0
"""Tests input that was made to break a program: the program ends soon, with an answer or an error, and needs memory in
proportion to the input.

The limits are much higher than the normal cost, so that tests fail on quadratic growth but not on a busy machine.
"""

import base64
import json
import os
import subprocess
import zlib

import pytest
from machines import shell
from program import MB, data_url, file, ignition, machine_config, pintle, refused, with_files, write

BIG = 100 * MB
MAX_CONTENTS = 60 * MB  # The limit for the record of a machine's config, less some room for the rest of the config.


def memory(path, times=8):
    return times * path.stat().st_size + 256 * MB


def bomb(size, byte):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    pieces = [packer.compress(byte * MB) for _ in range(size // MB)]
    return b"".join(pieces) + packer.flush()


def config_with(source):
    return json.dumps(with_files({"path": "/a", "contents": {"source": source}}))


@pytest.mark.parametrize("header,unit", [("data:,", "a"), ("data:;base64,", "QUFB"), ("data:,", "%41")],
                         ids=["plain", "base64", "percent"])
def test_the_longest_contents_that_a_machine_keeps_work(header, unit, tmp_path):
    source = header + unit * (MAX_CONTENTS // len(unit))
    path = write(tmp_path / "a.json", config_with(source))
    assert pintle("validate", path, memory=memory(path)).status == 0
    path = write(tmp_path / "a.yaml", "kind: MachineConfig\nspec: {config: " + config_with(source) + "}\n")
    assert pintle("validate", path, memory=memory(path)).status == 0
    answer = pintle("diff", write(tmp_path / "b.json", machine_config()), path, memory=memory(path))
    assert answer.status == 2
    assert "cannot be printed: has more than" in answer.stdout


def test_the_longest_unit_that_a_machine_keeps_works(tmp_path):
    unit = {"name": "a.service", "contents": "[Unit]\n" + "A=b\n" * (MAX_CONTENTS // 5)}
    path = write(tmp_path / "a.json", ignition(systemd={"units": [unit]}))
    assert pintle("validate", path, memory=memory(path)).status == 0


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.bu"])
@pytest.mark.parametrize("text", ["[" * BIG, "[" * 10_000 + "]" * 10_000, '{"a":' * 1_000_000,
                                  "[" * 1_000_000 + "]" * 1_000_000], ids=["100MB", "lists", "objects", "closed"])
def test_deep_nests_are_refused(name, text, tmp_path):
    path = write(tmp_path / name, text)
    for words in [["validate", path], ["rollout", "--pool", path, "--nodes", path], ["diff", path, path]]:
        refused(*words, texts=str(path), memory=memory(path))


def test_deep_yaml_blocks_are_refused(tmp_path):
    for text in ["- " * 1_000_000, "".join(" " * depth + "a:\n" for depth in range(10_000))]:
        path = write(tmp_path / "a.yaml", text)
        refused("validate", path, texts="nested more than 500 levels deep", memory=memory(path))


def test_deep_configs_in_objects_are_refused(tmp_path):
    deep = '{"kind":"MachineConfig","spec":{"config":' + '{"a":' * 10_000 + "1" + "}" * 10_002
    for name in ["a.json", "a.yaml"]:
        refused("diff", *[write(tmp_path / name, deep)] * 2, texts=["500 levels"])


def test_text_that_is_not_utf8_is_refused(tmp_path):
    for name, text in [("a.json", b'{"ignition":{"version":"\xff"}}'), ("a.yaml", b"kind: \xff\xfe\xfd\n"),
                       ("a.bu", b"variant: fcos\nversion: 1.4.0\nstorage: \xc0\x80\n"), ("b.json", b"\0" * 1000)]:
        refused("validate", write(tmp_path / name, text), texts=name)


def test_contents_may_be_any_bytes(tmp_path):
    old, new = (machine_config(with_files(file("/etc/a", contents))) for contents in [b"\xff\xfe", b"\0\xff" * 1000])
    answer = pintle("diff", write(tmp_path / "old.json", old), write(tmp_path / "new.json", new))
    assert answer.status == 2
    assert "binary contents differ: 2 bytes before, 2000 after" in answer.stdout


def test_huge_numbers_are_refused(tmp_path):
    for number in ["1e999", "9" * 1_000_000, "-" + "9" * 400, "1e-999999999", "18446744073709551616"]:
        config = json.dumps(with_files({"path": "/a", "mode": "NUMBER"})).replace('"NUMBER"', number)
        path = write(tmp_path / "a.json", config)
        refused("validate", path, texts=str(path), memory=memory(path))


@pytest.mark.parametrize("words", [["validate", "/dev/zero"], ["convert", "--to", "3.4", "/dev/zero"],
                                   ["diff", "/dev/zero", "/dev/zero"],
                                   ["rollout", "--pool", "/dev/zero", "--nodes", "x"]])
def test_reading_an_endless_file_ends(words):
    refused(*words, texts=["/dev/zero", "longer than 268435456 bytes"], memory=1024 * MB)


def test_reading_an_endless_pipe_ends(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = ["/bin/sh", "-c", 'exec cat /dev/zero >"$1"', "sh", pipe]
    with shell.running(*command, stderr=subprocess.DEVNULL) as writer:
        refused("validate", pipe, texts=[str(pipe), "longer than"], memory=1024 * MB)
        writer.wait(60)


def test_packed_configs_that_never_end_are_refused(tmp_path):
    packed = bomb(1024 * MB, b" ")
    for name, contents in [("a.ign", packed), ("b.ign", base64.b64encode(packed))]:
        path = write(tmp_path / name, contents)
        refused("validate", path, texts=[name, "unpacks to more than"], memory=1024 * MB)
        refused("convert", "--to", "3.4", path, texts="unpacks to more than", memory=1024 * MB)


def test_too_little_memory_is_an_error_and_no_crash(tmp_path):
    path = write(tmp_path / "a.ign", bomb(1024 * MB, b" "))
    refused("validate", path, texts="out of memory", memory=200 * MB)


@pytest.mark.parametrize("byte", [b"\0", b"\1", b"\n", b"a"], ids=["nul", "control", "newline", "letter"])
@pytest.mark.parametrize("size", [1024 * MB, 15 * MB], ids=["1G", "15M"])
def test_packed_contents_without_end_are_not_printed(size, byte, tmp_path):
    contents = {"source": data_url(bomb(size, byte)), "compression": "gzip"}
    new = write(tmp_path / "new.json", machine_config(with_files({"path": "/a", "contents": contents})))
    answer = pintle("diff", write(tmp_path / "old.json", machine_config()), new, memory=memory(new))
    assert answer.status == 2
    assert "cannot be printed: unpacks to more than" in answer.stdout or "too long to print" in answer.stdout


BILLION_LAUGHS = 'a: &a ["lol"]\n' + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12))
MERGES = "a0: &a0 {k0: 1}\n" + "".join(f"a{i}: &a{i} {{<<: *a{i - 1}, k{i}: 1}}\n" for i in range(1, 5000))
LONG_ALIAS = "a: &a " + "x" * 100_000 + "\nb: [" + ",".join(["*a"] * 90_000) + "]\n"


@pytest.mark.parametrize("text", [BILLION_LAUGHS, MERGES, LONG_ALIAS], ids=["laughs", "merges", "long"])
def test_aliases_that_multiply_are_refused(text, tmp_path):
    path = write(tmp_path / "a.yaml", text)
    for words in [["validate", path], ["rollout", "--pool", path, "--nodes", path]]:
        refused(*words, texts=[str(path), "excessive aliasing"], memory=memory(path))


def test_too_many_values_are_refused(tmp_path):
    for name in ["a.json", "a.yaml"]:
        path = write(tmp_path / name, "[" + "{}," * 11_000_000 + "1]")
        refused("diff", path, path, texts="more than 10000000 values", memory=4096 * MB)


def test_too_many_tags_are_refused(tmp_path):
    text = "".join(f"%TAG !t{i}! tag:x\n" for i in range(200_000)) + "--- a\n"
    refused("validate", write(tmp_path / "a.yaml", text), texts="%TAG", seconds=30)


def numbered(entry):
    return lambda count: [entry(i) for i in range(count)]


FILES = numbered(lambda i: {"path": f"/f{i}", "contents": {"source": "data:,a"}})
SHAPES = {
    "files": lambda n: ignition(storage={"files": FILES(n)}),
    "units": lambda n: ignition(systemd={"units": numbered(
        lambda i: {"name": f"u{i}.service", "contents": "[Unit]\n"})(n)}),
    "same files": lambda n: ignition(storage={"files": [{"path": "/a"}] * n}),
    "same links": lambda n: ignition(storage={"links": [{"path": "/a", "target": "x"}] * n,
                                              "files": numbered(lambda i: {"path": f"/a/{i}"})(n)}),
    "parts of a path": lambda n: ignition(storage={"links": numbered(lambda i: {"path": f"/l{i}", "target": "x"})(50),
                                                   "files": [{"path": "/a" * n}]}),
    "partitions": lambda n: ignition(storage={"disks": [{"device": "/dev/a", "partitions": numbered(
        lambda i: {"number": i + 1, "startMiB": 1 + 2 * i, "sizeMiB": 1})(n)}]}),
    "overlapping partitions": lambda n: ignition(storage={"disks": [{"device": "/dev/a", "partitions": numbered(
        lambda i: {"number": i + 1, "startMiB": 1 + i, "sizeMiB": n})(n)}]}),
    "users": lambda n: ignition(passwd={"users": numbered(lambda i: {"name": f"u{i}"})(n)}),
    "keys": lambda n: ignition(passwd={"users": [
        {"name": "core", "sshAuthorizedKeys": numbered(lambda i: f"k{i}")(n)}]}),
    "unknown keys": lambda n: ignition(**{f"k{i}": 1 for i in range(n)}),
    "spec 2": lambda n: {"ignition": {"version": "2.2.0"},
                         "storage": {"files": [{"path": "/f", "filesystem": "root", "mode": 420}] * n}},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_time_grows_no_faster_than_input(shape, tmp_path):
    old = write(tmp_path / "old.json", machine_config())
    costs = []
    for count in [25_000, 100_000]:
        path = write(tmp_path / "a.json", SHAPES[shape](count))
        new = write(tmp_path / "new.json", machine_config(SHAPES[shape](count)))
        answers = [pintle("validate", path, memory=memory(path, 64)), pintle("diff", old, new, memory=memory(new, 64))]
        assert all(answer.status in (0, 1, 2) for answer in answers), [answer.stderr[-500:] for answer in answers]
        costs.append(sum(answer.cpu for answer in answers))
    # Four times the input takes 4 times as long if the time is linear, and 16 times if it is quadratic.  Short times
    # are noise.
    assert costs[1] < 2 or costs[1] < 10 * costs[0], costs


def test_a_million_duplicates_are_reported_in_a_short_text(tmp_path):
    path = write(tmp_path / "a.json", ignition(storage={"files": [{"path": "/a"}] * 1_000_000}))
    answer = refused("validate", path, texts="duplicate entry defined", memory=memory(path, 128))
    assert "more problems" in answer.stderr
    assert len(answer.stderr) < 16 * MB
    path = write(tmp_path / "b.json", '{"ignition":{"version":"3.4.0"}' + ',"a":1' * 1_000_000 + "}")
    answer = pintle("validate", path, memory=memory(path, 64))
    assert answer.status == 0
    assert len(answer.stderr) < 16 * MB
