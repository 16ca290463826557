# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle template`, which executes one template and prints its output."""

from generate_inputs import SECRET, controller_config, secret, setting
from program import pintle, refused, write


def test_executes_a_template_with_data_in_json(tmp_path):
    template = write(tmp_path / "t", "{{range $i, $n := .names}}{{$i}}={{$n | printf \"%q\"}}\n{{end}}{{.count}}\n")
    data = write(tmp_path / "data.json", {"names": ["a", "b"], "count": 3})
    answer = pintle("template", template, "--data", data)
    assert (answer.status, answer.stdout, answer.stderr) == (0, '0="a"\n1="b"\n3\n', "")


def test_an_error_has_the_place_in_the_template(tmp_path):
    data = write(tmp_path / "data.json", {})
    bad = write(tmp_path / "bad", "x\n{{if}}\n")
    refused("template", bad, "--data", data, texts=[f"failed to parse template {bad}", f"{bad}:2"])
    failing = write(tmp_path / "failing", "{{index .x 1}}")
    refused("template", failing, "--data", data, texts=[f"template: {failing}:1:2: executing"])
    refused("template", failing, "--data", write(tmp_path / "no.json", "{"), texts=["no.json", "line 1"])
    refused("template", tmp_path / "none", "--data", data, texts=["none", "No such file"])


def test_a_controller_config_is_the_data_of_the_operators_templates(tmp_path):
    template = write(tmp_path / "t.yaml",
                     "{{.ClusterDNSIP}} {{.TLSMinVersion}} {{.PullSecret}} {{onPremPlatformShortName .}}|")
    config = write(tmp_path / "cc.json", controller_config())
    words = ["template", template, "--controller-config", config]
    assert pintle(*words).stdout == '10.0.0.10 VersionTLS12 {"auths":{}} |'
    server = write(tmp_path / "server.json",
                   setting("APIServer", spec={"tlsSecurityProfile": {"type": "Modern", "modern": {}}}))
    pull_secret = write(tmp_path / "secret.json", secret())
    answer = pintle(*words, "--api-server", server, "--pull-secret", pull_secret)
    assert (answer.status, answer.stdout) == (0, f"10.0.0.10 VersionTLS13 {SECRET} |"), answer.stderr


def test_a_controller_config_with_a_value_of_the_wrong_type_is_refused(tmp_path):
    config = controller_config()
    config["spec"]["dns"] = 5
    refused("template", write(tmp_path / "t", "x"), "--controller-config", write(tmp_path / "cc.json", config),
            texts=["cc.json: ", "json: cannot unmarshal number into Go struct field ", "spec.dns of type"])


def test_no_error_contains_the_pull_secret(tmp_path):
    template = write(tmp_path / "t", "{{.PullSecret.Field}}{{index .PullSecret 99999}}")
    words = ["template", template, "--controller-config", write(tmp_path / "cc.json", controller_config())]
    for file in [write(tmp_path / "secret.json", secret()), write(tmp_path / "broken.json", SECRET[:-1])]:
        answer = refused(*words, "--pull-secret", file)
        assert "c2VjcmV0" not in answer.stderr and "planted" not in answer.stderr


def test_the_command_line_is_checked(tmp_path):
    template = write(tmp_path / "t", "x")
    config = write(tmp_path / "cc.json", controller_config())
    refused("template", texts="name one template")
    refused("template", template, texts="--data FILE or --controller-config FILE")
    refused("template", template, "--data", config, "--controller-config", config, texts="either --data FILE or")
    refused("template", template, "--data", config, "--pull-secret", config, texts="need --controller-config")
    pool = write(tmp_path / "pool.json", {"kind": "MachineConfigPool"})
    refused("template", template, "--controller-config", pool, texts=["pool.json", "MachineConfigPool instead of"])
    for wrong in ["[]", '"x"', '{"spec": 1}']:
        refused("template", template, "--controller-config", write(tmp_path / "cc.json", wrong), texts="has no spec")
