# SPDX-License-Identifier: Apache-2.0
"""Tests `pintle diff`: it prints decoded contents and actions with their reasons, and no secret."""

import json

import pytest
from program import file, ignition, machine_config, pintle, refused, with_files, write

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE{0}\n{0}\n-----END RSA PRIVATE KEY-----\n"


def diff(tmp_path, old, new, *words):
    return pintle("diff", write(tmp_path / "old.json", old), write(tmp_path / "new.json", new), *words)


def test_equal_configs_do_not_differ(tmp_path):
    answer = diff(tmp_path, machine_config(), machine_config())
    assert (answer.status, answer.stdout, answer.stderr) == (0, "", "")
    assert diff(tmp_path, machine_config(), machine_config(), "-o", "json").json()["differs"] is False


def test_configs_without_an_ignition_part_can_be_compared(tmp_path):
    configs = [machine_config(kernelArguments=[argument]) for argument in ["quiet", "nosmt"]]
    for config in configs:
        del config["spec"]["config"]
    answer = diff(tmp_path, *configs)
    assert answer.status == 2 and "nosmt" in answer.stdout and answer.stderr == ""
    answer = diff(tmp_path, configs[0], machine_config(with_files(file("/etc/a", "one\n")), kernelArguments=["quiet"]))
    assert answer.status == 2 and "+one\n" in answer.stdout and "nosmt" not in answer.stdout


def test_prints_the_differences_and_the_actions_of_a_node(tmp_path):
    old, new = (machine_config(with_files(file("/etc/a", text))) for text in ["one\n", "two\n"])
    answer = diff(tmp_path, old, new)
    assert answer.status == 2
    assert "-one\n+two\n" in answer.stdout
    assert "Reboot\n    /etc/a: no policy covers it" in answer.stdout
    found = diff(tmp_path, old, new, "-o", "json")
    assert found.status == 2
    assert (found.json()["reboot"], found.json()["drain"], found.json()["diffFiles"]) == (True, True, ["/etc/a"])


def test_a_policy_spares_the_reboot(tmp_path):
    policy = write(tmp_path / "policy.yaml", "files:\n- path: /etc/a\n  actions:\n  - type: None\n")
    old, new = (machine_config(with_files(file("/etc/a", text))) for text in ["one\n", "two\n"])
    found = diff(tmp_path, old, new, "--policy", policy, "-o", "json").json()
    assert (found["reboot"], found["drain"]) == (False, False)


WHOLE = {"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration", "metadata": {"name": "cluster"}}
COVERED = {"path": "/etc/a", "actions": [{"type": "None"}]}


@pytest.mark.parametrize("option,text,error", [
    ("--policy", {**WHOLE, "kind": "ConfigMap"}, "its kind is ConfigMap instead of MachineConfiguration"),
    ("--policy", {"file": [COVERED]}, "$.file: unknown key; known are files, units, sshkey"),
    ("--policy", {"nodeDisruptionPolicy": {"files": [{"path": "/etc/a", "action": []}]}}, "$.files.0.actions: is missing"),
    ("--policy", {**WHOLE, "spec": {"nodeDisruptionPolicy": {"files": [COVERED], "sshKey": {}}}}, "$.sshKey: unknown key"),
    ("--policy", {"files": [{**COVERED, "path": "etc/a"}]}, "the path etc/a of `files` does not begin with a slash"),
    ("--policy", {"files": [COVERED, COVERED]}, "there are several policies for /etc/a; keep one of them"),
    ("--policy", {"files": [{**COVERED, "actions": [{"type": "Non"}]}]}, 'does not know the action "Non"'),
    ("--overrides", {"storag": ["Disks"]}, "$.?: unknown key; known are storage"),
])
def test_a_policy_with_a_mistake_is_refused(tmp_path, option, text, error):
    config_file = write(tmp_path / "given.json", text)
    old, new = (machine_config(with_files(file("/etc/a", text))) for text in ["one\n", "two\n"])
    answer = diff(tmp_path, old, new, option, config_file)
    assert answer.status == 1 and str(config_file) in answer.stderr and error in answer.stderr, answer.stderr


def test_a_whole_machine_configuration_need_not_have_a_disruption_policy(tmp_path):
    policy = write(tmp_path / "policy.json", {**WHOLE, "spec": {"logLevel": "Normal"}})
    old, new = (machine_config(with_files(file("/etc/a", text))) for text in ["one\n", "two\n"])
    assert diff(tmp_path, old, new, "--policy", policy, "-o", "json").json()["reboot"]


@pytest.mark.parametrize("path,text", [
    ("/var/lib/kubelet/config.json", '{{"auths": {{"registry.example": {{"auth": "{0}", "email": "a@b"}}}}}}'),
    ("/etc/secret.yaml", "data:\n  .dockerconfigjson: {0}\n  tls.key: {0}\n"),
    ("/etc/a.pem", PEM), ("/etc/shadow", "root:$6$salt${0}:1\nb:$2b$10${0}\nc:$y$j9T$s${0}\n"),
    ("/etc/htpasswd", "user:$apr1$abc${0}\nother:$argon2id$v=19$m=1${0}\n"),
    ("/etc/wg0.conf", "PrivateKey = {0}\nPresharedKey = {0}\n"),
    ("/etc/kubeconfig", "users:\n- user:\n    token: {0}\n    client-key-data: {0}\n"),
    ("/etc/env", "HTTP_PROXY=http://user:{0}@proxy.example:3128\nA_SECRET={0}\n"),
    ("/etc/ipsec.secrets", ': PSK "{0}"\n'), ("/etc/token", "{0}\n"),
    ("/etc/a.yaml", "password: |\n  {0}\nplain: a\n"), ("/etc/run", "/bin/x --token {0} --password={0}\n"),
])
def test_secrets_in_files_are_masked(path, text, tmp_path):
    old, new = (machine_config(with_files(file(path, text.format(secret)))) for secret in ["HIDDENa1", "HIDDENb2"])
    for words in [[], ["-o", "json"]]:
        answer = diff(tmp_path, old, new, *words)
        assert answer.status == 2
        assert path in answer.stdout
        assert "HIDDEN" not in answer.stdout + answer.stderr


def test_secrets_of_users_units_disks_and_arguments_are_masked(tmp_path):
    def config(secret):
        return machine_config(ignition(
            passwd={"users": [{"name": "core", "passwordHash": "$6$salt$" + secret}]},
            storage={"luks": [{"name": "a", "device": "/dev/a", "keyFile": {"source": "data:," + secret}}]},
            systemd={"units": [{"name": "a.service", "contents": f"[Service]\nEnvironment=PASSWORD={secret}\n"}]}),
            kernelArguments=["rd.password=" + secret])

    for old, new in [(config("HIDDENa1"), config("HIDDENb2")), (machine_config(), config("HIDDENb2"))]:
        answer = diff(tmp_path, old, new)
        assert answer.status == 2
        assert "HIDDEN" not in answer.stdout + answer.stderr


def test_json_has_the_arguments_and_the_report_just_as_the_cluster_gets_them(tmp_path):
    new = machine_config(ignition(
        storage={"luks": [{"name": "a", "device": "/dev/a", "keyFile": {"source": "data:,key"}}]}),
        kernelArguments=["rd.password=x"])
    found = diff(tmp_path, machine_config(), new, "-o", "json").json()
    assert found["rpmOstreeKargs"] == ["--append=rd.password=x"]
    assert "data:,key" in json.dumps(found["irreconcilableReport"])


def test_a_config_that_cannot_be_read_is_an_error(tmp_path):
    old = write(tmp_path / "a.json", machine_config())
    new = write(tmp_path / "b.json", machine_config(with_files(file("a"))))
    refused("diff", old, new, texts="path not absolute")
    answer = pintle("diff", old, new, "-o", "json")
    assert answer.status == 1
    assert "path not absolute" in json.dumps(answer.json())


def test_takes_butane_and_ignition(tmp_path):
    header = "variant: openshift\nversion: 4.16.0\n"
    metadata = "metadata: {name: x, labels: {machineconfiguration.openshift.io/role: worker}}\n"
    openshift = "openshift: {kernel_arguments: [quiet]}\n"
    files = "storage:\n  files:\n  - {path: /etc/a, contents: {inline: on}}\n"
    old = write(tmp_path / "old.fcc", header + metadata + files)
    new = write(tmp_path / "new.bu", header + metadata + openshift + files.replace("inline: on", "inline: off"))
    answer = pintle("diff", old, new)
    assert (answer.status, answer.stderr) == (2, "")
    assert "-on\n" in answer.stdout and "+off\n" in answer.stdout and "quiet" in answer.stdout
    fcos = write(tmp_path / "a", "variant: fcos\nversion: 1.5.0\n" + files)
    bare = write(tmp_path / "b.ign", pintle("convert", fcos).stdout)
    same = pintle("diff", fcos, bare)
    assert (same.status, same.stdout, same.stderr) == (0, "", "")
    other = pintle("diff", bare, write(tmp_path / "c.ign", with_files(file("/etc/a", "off"))), "-o", "json")
    assert (other.status, other.json()["diffFiles"]) == (2, ["/etc/a"])


def test_reports_all_problems_of_butane(tmp_path):
    bad = write(tmp_path / "a.bu", "variant: fcos\nversion: 1.5.0\nstorage: {files: [{path: a}, {path: b}]}\n")
    refused("diff", bad, bad, texts=[str(bad), "$.storage.files.0.path", "$.storage.files.1.path"])
