# SPDX-License-Identifier: Apache-2.0
"""`pintle render`: one config out of many, and its name."""

import os
import pathlib
import shutil
import threading

from program import machine_config, pintle, refused, write

DATA = pathlib.Path(__file__).parents[1] / "vectors/data/render/005-one-file"
WORDS = ["render", "--pool", DATA / "pool.yaml", "--controller-config", DATA / "controllerconfig.yaml", DATA / "inputs"]


def test_all_formats_are_the_same_config():
    name = (DATA / "expected-name.txt").read_text().strip()
    assert pintle(*WORDS, "-o", "name").stdout == name + "\n"
    rendered = pintle(*WORDS, "-o", "json")
    assert rendered.status == 0
    assert rendered.json()["metadata"]["name"] == name
    assert name in pintle(*WORDS).stdout
    assert pintle(*WORDS, "-o", "hash-input").stdout == (DATA / "expected-hash-input.yaml").read_text()


def test_names_a_config_that_is_already_rendered(tmp_path):
    config = write(tmp_path / "a.json", pintle(*WORDS, "-o", "json").stdout)
    name = (DATA / "expected-name.txt").read_text().strip()
    assert pintle("render", "--hash-only", "worker", config).stdout == name + "\n"
    assert pintle("render", "--hash-only", "worker", "-o", "json", config).json() == {"name": name}


def test_refuses_what_is_no_pool(tmp_path):
    other = write(tmp_path / "other.json", machine_config())
    refused(*WORDS[:1], "--pool", other, *WORDS[3:], says=[str(other), "MachineConfigPool"])


def test_refuses_a_directory_without_configs(tmp_path):
    refused(*WORDS[:-1], tmp_path, says=["no *.yaml, *.yml or *.json", str(tmp_path)])


def test_leaves_out_what_is_no_file_and_passes_hidden_files_by(tmp_path):
    inputs = shutil.copytree(WORDS[-1], tmp_path / "inputs")
    os.mkfifo(inputs / "00-pipe.yaml")
    (inputs / ".#50.yaml").symlink_to("someone@host.1:2")
    write(inputs / ".50.yaml", "a: [")
    answer = pintle(*WORDS[:-1], inputs, "-o", "name")
    assert answer.stdout == pintle(*WORDS, "-o", "name").stdout
    assert answer.stderr == f"pintle: render: left out: {inputs}/00-pipe.yaml is a pipe\n"
    (inputs / "60.yaml").symlink_to("nowhere")
    refused(*WORDS[:-1], inputs, says=["60.yaml", "what it leads to is not there"])


def test_takes_a_pipe_that_is_named(tmp_path):
    os.mkfifo(tmp_path / "config.yaml")
    text = pintle(*WORDS, "-o", "json").stdout
    writer = threading.Thread(target=(tmp_path / "config.yaml").write_text, args=[text], daemon=True)
    writer.start()
    name = pintle("render", "--hash-only", "worker", tmp_path / "config.yaml").stdout
    writer.join(60)
    assert name == (DATA / "expected-name.txt").read_text().strip() + "\n"


def test_names_the_file_that_it_cannot_read(tmp_path):
    broken = write(tmp_path / "broken.yaml", "a: [")
    refused(*WORDS, broken, says=["broken.yaml", "line 2"])
