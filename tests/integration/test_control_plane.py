# SPDX-License-Identifier: Apache-2.0
"""Tests how machines.control_plane reads the abilities of a Kubernetes version from its answers, with shortened answers
of an old and a new version.
"""

import pytest

from machines import control_plane, kubernetes


def group(name, *versions):
    return {"name": name, "versions": [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]}


OLD = {"kind": "APIGroupList", "groups": [group("apps", "v1"), group("policy", "v1beta1")]}
BOTH = {"kind": "APIGroupList", "groups": [group("policy", "v1", "v1beta1"), group("apps", "v1")]}
NEW = {"kind": "APIGroupList", "groups": [group("apps", "v1"), group("policy", "v1"),
                                          group("admissionregistration.k8s.io", "v1", "v1beta1")]}

EVICTION = {"name": "pods/eviction", "kind": "Eviction", "group": "policy", "verbs": ["create"]}
OLD_CORE = {"groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod"}, {**EVICTION, "version": "v1beta1"}]}
NEW_CORE = {"groupVersion": "v1", "resources": [{**EVICTION, "version": "v1"}, {"name": "pods", "kind": "Pod"}]}

OLD_HELP = """\
Generic flags:

      --bind-address ip                        The IP address on which to listen for the --secure-port port.
      --secure-port int                        The port on which to serve HTTPS. (default 10257)

Insecure serving flags:

      --port int     The port on which to serve unsecured access. (DEPRECATED: see --secure-port instead.)
  -h, --help         help
"""
NEW_HELP = OLD_HELP.replace("      --port int ", "      --profiling")


@pytest.mark.parametrize("groups, version", [(OLD, "policy/v1beta1"), (BOTH, "policy/v1"), (NEW, "policy/v1")])
def test_the_newest_version_that_is_served_is_used(groups, version):
    assert control_plane.served_version(groups, "policy", "v1", "v1beta1") == version


def test_an_error_names_a_version_that_is_not_served():
    with pytest.raises(LookupError, match="serves policy in none of v1; it serves apps/v1, policy/v1beta1"):
        control_plane.served_version(OLD, "policy", "v1")


def test_an_eviction_has_the_version_that_the_pods_take():
    """Kubernetes 1.21 serves budgets of both versions, but accepts evictions of the old version only."""
    assert control_plane.body_version(OLD_CORE, "pods/eviction") == "policy/v1beta1"
    assert control_plane.body_version(NEW_CORE, "pods/eviction") == "policy/v1"
    with pytest.raises(LookupError, match="v1 has no pods/exec"):
        control_plane.body_version(NEW_CORE, "pods/exec")


def test_a_server_has_a_kind_only_if_its_group_lists_the_kind():
    """An old server also has the group, for webhooks, but not the kind of policies."""
    webhooks = {"name": "validatingwebhookconfigurations", "kind": "ValidatingWebhookConfiguration"}
    policies = {"name": "validatingadmissionpolicies", "kind": "ValidatingAdmissionPolicy"}
    group_version = "admissionregistration.k8s.io/v1"
    old = {"kind": "APIResourceList", "groupVersion": group_version, "resources": [webhooks]}
    new = {"kind": "APIResourceList", "groupVersion": group_version, "resources": [policies, webhooks]}
    nothing = {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
    assert [control_plane.has_resource(each, policies["name"]) for each in (old, new, nothing)] == [False, True, False]


def test_an_option_is_given_only_to_programs_that_know_it():
    old, new = control_plane.options_in(OLD_HELP), control_plane.options_in(NEW_HELP)
    assert old == {"bind-address", "secure-port", "port", "help"}
    assert control_plane.only_known(old, port=0, secure_port=1) == {"port": 0, "secure_port": 1}
    assert control_plane.only_known(new, port=0, secure_port=1) == {"secure_port": 1}


def test_a_feature_is_switched_off_only_if_the_program_can_do_without_it():
    old = "  --feature-gates mapStringBool   A set of key=value pairs:\n    Fairness=true|false (BETA - default=true)\n"
    new = "  --feature-gates mapStringBool   A set of key=value pairs:\n    Other=true|false (BETA - default=true)\n"
    assert control_plane.without_features(old, "Fairness") == {"feature_gates": "Fairness=false"}
    assert control_plane.without_features(new, "Fairness") == {}


def test_an_admission_plug_in_is_turned_on_only_if_the_api_server_knows_it():
    old = "--enable-admission-plugins strings   Comma-delimited list: NodeRestriction, PodSecurityPolicy, Priority."
    new = old.replace("PodSecurityPolicy", "PodSecurity")
    wanted = ("NodeRestriction", "PodSecurityPolicy")
    assert control_plane.known_plugins(old, *wanted) == ["NodeRestriction", "PodSecurityPolicy"]
    assert control_plane.known_plugins(new, *wanted) == ["NodeRestriction"]


@pytest.fixture
def chosen(monkeypatch, tmp_path):
    """A folder with all programs, as a developer may have it."""
    for program in kubernetes.PROGRAMS:
        (tmp_path / program).write_text("#!/bin/sh\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv(control_plane.FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def test_a_chosen_folder_is_used_with_its_etcd(chosen):
    assert control_plane.programs() == chosen
    assert control_plane.etcd(chosen) == "etcd"
    (chosen / "etcd").touch(mode=0o755)
    assert control_plane.etcd(chosen) == chosen / "etcd"


def test_a_chosen_folder_without_a_program_is_refused_and_the_program_is_named(chosen):
    (chosen / "kube-scheduler").unlink()
    (chosen / "kubectl").chmod(0o644)
    with pytest.raises(RuntimeError, match="^PINTLE_KUBERNETES=.*: kube-scheduler, kubectl cannot be run there; .*kubelet$"):
        control_plane.programs()
