# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle rollout`, which prints what happens next in a pool."""

import json
import pathlib

from program import pintle, refused, write

DATA = pathlib.Path(__file__).parents[1] / "vectors/data/rollout/003-mu-1-of-5"
POOL = DATA / "pool.json"
NODES = DATA / "nodes.json"


def test_prints_the_decision_as_text_and_as_json():
    table = pintle("rollout", "--pool", POOL, "--nodes", NODES, "--with", DATA / "mcns.json")
    found = pintle("rollout", "--pool", POOL, "--nodes", NODES, "--with", DATA / "mcns.json", "-o", "json")
    assert table.status == found.status == 2
    patched = found.json()["patchedInOrder"]
    assert len(patched) == found.json()["maxUnavailable"] == 1
    assert patched[0] in table.stdout


def test_reads_nodes_in_every_form(tmp_path):
    expected = pintle("rollout", "--pool", POOL, "--nodes", NODES, "-o", "json").json()
    nodes = json.loads(NODES.read_text())
    nodes = nodes if isinstance(nodes, list) else nodes["items"]
    forms = {
        "list.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}),
        "array.json": json.dumps(nodes),
        "documents.yaml": "".join("---\n" + json.dumps(node) + "\n" for node in nodes),
    }
    for name, text in forms.items():
        words = ["rollout", "--pool", POOL, "--nodes", write(tmp_path / name, text), "-o", "json"]
        assert pintle(*words).json() == expected
    answer = pintle("rollout", "--pool", POOL, "--nodes", "-", "-o", "json", stdin=forms["array.json"].encode())
    assert answer.json() == expected


def test_reads_a_long_list_from_a_file_and_from_a_pipe(tmp_path):
    nodes = json.loads(NODES.read_text())
    nodes = nodes if isinstance(nodes, list) else nodes["items"]
    padding = {"managedFields": [{"manager": "kubelet", "time": "2026-01-01T00:00:00Z"}] * 100}
    nodes = [{**node, "kind": "Node", "metadata": {**node["metadata"], "name": f"n{number}", **padding}}
             for number, node in enumerate(nodes * 40)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}, indent=4)
    assert len(text) > 2_000_000
    path = write(tmp_path / "list.json", text)
    words = ["rollout", "--pool", POOL, "-o", "json", "--nodes"]
    expected = pintle(*words, path)
    assert expected.status == 2 and expected.json()["status"]["machineCount"] == len(nodes)
    for name in "-", "/dev/stdin":
        assert pintle(*words, name, stdin=text.encode()).stdout == expected.stdout
    with path.open("rb") as opened:
        assert pintle(*words, "-", stdin=opened).stdout == expected.stdout
    broken = write(tmp_path / "broken.json", text[:-100])
    for name, more in (broken, {}), ("-", {"stdin": text[:-100].encode()}):
        refused(*words, name, texts=f"reading {name}: ", **more)


def test_a_json_list_whose_unneeded_parts_are_left_out_gives_the_same_answer(tmp_path):
    tried = 0
    for folder in sorted(DATA.parent.iterdir()):
        words, plain = (["rollout", "--pool", folder / "pool.json", "-o", "json"] for _ in range(2))
        for option, name, kind in ("--nodes", "nodes.json", "Node"), ("--with", "mcns.json", "MachineConfigNode"):
            if not (folder / name).exists():
                continue
            objects = json.loads((folder / name).read_text())
            objects = objects if isinstance(objects, list) else objects["items"]
            objects = [{**each, "kind": kind} for each in objects]
            for each in objects:
                each["metadata"].setdefault("annotations", {})["example.com/other"] = "x"
                for condition in each.get("status", {}).get("conditions") or []:
                    condition["message"] = condition.get("message") or "why"
            # kubectl sorts the keys, so that the type of a condition comes last.
            text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=4, sort_keys=True)
            words += [option, write(tmp_path / f"{folder.name}-{name}", text)]
            documents = "".join(f"---\n{json.dumps(each)}\n" for each in objects)
            plain += [option, write(tmp_path / f"{folder.name}-{name}.yaml", documents or "[]")]
        answer, expected = pintle(*words), pintle(*plain)
        assert (answer.status, answer.stdout) == (expected.status, expected.stdout), folder
        tried += answer.status in (0, 2)
    assert tried > 50


def test_before_the_first_render_no_node_of_a_pool_is_being_updated(tmp_path):
    pool = write(tmp_path / "pool.json", {"kind": "MachineConfigPool", "metadata": {"name": "worker"}})
    node = {"kind": "Node", "metadata": {"name": "w0", "labels": {"node-role.kubernetes.io/worker": ""}}}
    output = pintle("rollout", "--pool", pool, "--nodes", write(tmp_path / "nodes.json", node)).stdout
    assert output.startswith("Pool worker: no config yet\n")
    assert "waits: nothing is rendered for the pool yet" in output


def test_refuses_a_file_that_is_not_a_pool(tmp_path):
    refused("rollout", "--pool", NODES, "--nodes", NODES, texts=[str(NODES), "MachineConfigPool"])
    empty = write(tmp_path / "empty.yaml", "")
    refused("rollout", "--pool", empty, "--nodes", NODES, texts=[str(empty), "exactly one is needed"])


def test_a_file_without_nodes_is_reported(tmp_path):
    for name, text in [("pool.json", POOL.read_text()), ("empty.json", '{"kind": "NodeList", "items": []}')]:
        path = write(tmp_path / name, text)
        answer = pintle("rollout", "--pool", POOL, "--nodes", path)
        assert answer.stderr == f"pintle: rollout: {path} has no Node, so the pool has none\n"


def test_simulates_a_rollout_by_a_policy(tmp_path):
    policy = write(tmp_path / "policy.yaml", {"kind": "RolloutPolicy", "metadata": {"name": "p"}, "spec": {
        "pool": "worker", "waves": [{"name": "canary", "nodes": 1, "soak": "30min"}]}})
    words = ["rollout", "--simulate", "--pool", POOL, "--nodes", NODES, "--with", policy,
             "--begin", "2027-03-27T12:00:00Z", "--node-time", "30min"]
    text = pintle(*words)
    assert text.status == 0
    assert "Sat 2027-03-27 12:00 +00:00  wave 1 of 2 (canary) begins, with 1 node\n" in text.stdout
    answer = pintle(*words, "-o", "json").json()
    assert answer["policy"] == "p" and answer["nodeSeconds"] == 1800 and answer["nodeTimeFrom"] == "Option"
    assert [step["what"] for step in answer["steps"]][:3] == ["WaveBegins", "Soaks", "WaveDone"]


def test_decides_by_a_policy_among_its_inputs(tmp_path):
    policy = write(tmp_path / "policy.json", {"kind": "RolloutPolicy", "metadata": {"name": "p"}, "spec": {
        "pool": "worker", "waves": [{"name": "canary", "nodes": 1}],
        "freeze": {"until": "2199-01-01", "timeZone": "Europe/Berlin", "reason": "year's end"}}})
    words = ["rollout", "--pool", POOL, "--nodes", NODES]
    assert pintle(*words).status == 2
    frozen = pintle(*words, "--with", policy)
    assert (frozen.status, frozen.stderr) == (0, "")
    assert "The rollout by RolloutPolicy p: wave 1 of 2 (canary), " in frozen.stdout
    assert "  Frozen since " in frozen.stdout and "year's end" in frozen.stdout
    assert "  Next window: Tue 2199-01-01 00:00 +01:00\n" in frozen.stdout
    assert "waits: the policy's freeze forbids updates" in frozen.stdout
    answer = pintle(*words, "--with", policy, "-o", "json").json()
    assert answer["patchedInOrder"] == [] and answer["rollout"]["phase"] == "Frozen"
    assert answer["rollout"]["waveName"] == "canary" and answer["rollout"]["opens"] == "2198-12-31T23:00:00Z"


def test_an_error_about_a_policy_has_one_line(tmp_path):
    policy = write(tmp_path / "policy.json", {"kind": "RolloutPolicy", "metadata": {"name": "p"}, "spec": {
        "pool": "worker", "windows": [{"days": ["Sun\npintle: all is well"], "start": "01:00", "duration": "4h"}]}})
    answer = refused("rollout", "--simulate", "--pool", POOL, "--nodes", NODES, "--with", policy,
                     texts=["spec.windows[0].days: ", "is not a weekday"])
    assert answer.stderr.count("\n") == 1


def test_refuses_two_nodes_of_one_name(tmp_path):
    node = {"kind": "Node", "metadata": {"name": "w0"}}
    nodes = write(tmp_path / "nodes.json", {"kind": "List", "items": [node, node]})
    for more in [], ["--simulate"]:
        refused("rollout", *more, "--pool", POOL, "--nodes", nodes,
                texts=['two Nodes are named "w0"; take one of them out of the files'])


def test_the_options_of_a_simulation_need_simulate():
    for option in "--node-time=5min", "--begin=2027-03-27T12:00:00Z":
        refused("rollout", "--pool", POOL, "--nodes", NODES, option, texts=["needs --simulate"])
    words = ["rollout", "--simulate", "--pool", POOL, "--nodes", NODES]
    refused(*words, "--node-time=soon", texts=["--node-time soon", "must be a time"])
    refused(*words, "--node-time=0s", texts=["--node-time 0s: must be at least 1s"])
    refused(*words, "--begin=tomorrow", texts=["--begin"])
    refused(*words, "--begin=2262-01-01T00:00:00Z",
            texts=["--begin 2262-01-01T00:00:00Z: must be in the years from 1970 to 2200"])
    refused(*words, "-o", "name", texts=["-o name cannot be combined with --simulate"])
