# SPDX-License-Identifier: Apache-2.0
"""Stories: sequences of changes in a cluster with a controller.  Tests repeat them under faults, and compare the state
of the cluster at the end.
"""

import re
import time

from machines.agent_node import Watch
from machines.controller import GROUP, MERGE
from machines.simulated_agents import PREFIX
from machines.wait import wait_until

NODES = {"worker": ["worker-0", "worker-1", "worker-2"], "infra": ["infra-0"]}
WORKER = "node-role.kubernetes.io/worker"
INFRA = "node-role.kubernetes.io/infra"
QUICK_DRAINS = {"pintle.io/drain-attempt": "5s", "pintle.io/drain-pause": "1s", "pintle.io/drain-eviction-retry": "1s"}
OWN_TAINT = "example.com/mine"
KUBERNETES = "node.kubernetes.io/"
PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
POLICIES = "/apis/pintle.io/v1alpha1/rolloutpolicies"


def begin_short(objects, agents, seconds, count=2):
    """Begins the story short(): creates workers, and a pod on the last but one; returns the workers' config."""
    objects.controller_config()
    objects.config("00-worker", files={"/etc/base": "1"})
    first = objects.wait_for_target("worker", seconds=seconds)
    for name in NODES["worker"][:count]:
        agents.add(name, first)
    quick_drains(objects, "worker")
    objects.admin.must("POST", PODS, {"metadata": {"name": "alone", "labels": {"app": "alone"}},
                                      "spec": _pod_spec(nodeName=agents.names[-2])})
    return first


def end_short(objects, agents, first, seconds):
    """Completes the story short(): updates the nodes one after the other."""
    objects.config("10-more", files={"/etc/more": "1"})
    target = objects.wait_for_target("worker", other_than=first, seconds=seconds)
    _taint_until_targeted(objects, agents.names[-1], target, seconds)
    agents.wait_until_all_have(target, seconds=seconds)


def short(objects, agents, seconds):
    end_short(objects, agents, begin_short(objects, agents, seconds), seconds)


def three_workers(objects, agents):
    """Creates three workers that have the config of their pool, and may all be updated at once; returns the config."""
    objects.config("00-worker", files={"/etc/base": "1"})
    target = objects.wait_for_target("worker")
    for name in NODES["worker"]:
        agents.add(name, target)
    wait_until(lambda: objects.wait_until_updated("worker")["status"]["machineCount"] == 3, "three workers", 60)
    objects.set_pool("worker", maxUnavailable=3)
    return target


def waved(objects, agents, seconds):
    """Updates one worker as a canary, and then the others."""
    objects.admin.must("POST", POLICIES, {
        "apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "policy"},
        "spec": {"pool": "worker", "waves": [
            {"name": "canary", "nodeSelector": {"matchLabels": {"canary": ""}}, "soak": "1s"}, {"name": "others"}]}})
    first = begin_short(objects, agents, seconds, count=3)
    canary = agents.names[-1]
    objects.admin.must("PATCH", f"/api/v1/nodes/{canary}", {"metadata": {"labels": {"canary": ""}}}, MERGE)
    objects.config("10-more", files={"/etc/more": "1"})
    target = objects.wait_for_target("worker", other_than=first, seconds=seconds)
    agents.wait_until_all_have(target, seconds=seconds)
    assert agents.order[0] == canary, f"the order was {agents.order}"
    assert sorted(agents.order) == sorted(agents.names), f"not each node was updated once: {agents.order}"


def halted(objects, agents, seconds):
    """Halts a rollout in waves, takes its config back, and updates the workers to another one.

    The pool allows two nodes to be updated at once, so a node beside the canary that has failed would be noticed.
    """
    objects.admin.must("POST", POLICIES, {
        "apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "policy"},
        "spec": {"pool": "worker", "waves": [{"name": "canary", "nodeSelector": {"matchLabels": {"canary": ""}}},
                                             {"name": "others", "maxUnavailable": 1}]}})
    first = begin_short(objects, agents, seconds, count=3)
    canary = agents.names[-1]
    objects.admin.must("PATCH", f"/api/v1/nodes/{canary}", {"metadata": {"labels": {"canary": ""}}}, MERGE)
    objects.set_pool("worker", maxUnavailable=2)
    agents.hold()
    objects.config("10-more", files={"/etc/more": "bad"})
    bad = objects.wait_for_target("worker", other_than=first, seconds=seconds)
    agents.broken.add(bad)
    agents.go_on()

    def is_halted():
        pools = objects.admin.must("GET", f"{POLICIES}/policy").get("status", {}).get("pools", [])
        return [pool["phase"] for pool in pools if pool["memory"].get("target") == bad] == ["Halted"]
    wait_until(is_halted, "the rollout is halted", seconds)
    configs = agents.configs()
    assert {name for name, config in configs.items() if config != (first, first)} == {canary}, configs
    objects.remove_config("10-more")
    agents.wait_until_all_have(first, seconds=seconds)
    objects.config("20-good", files={"/etc/more": "good"})
    target = objects.wait_for_target("worker", other_than=first, seconds=seconds)
    agents.wait_until_all_have(target, seconds=seconds)
    assert agents.order[0] == canary, f"the order was {agents.order}"
    assert sorted(agents.order) == sorted(agents.names), f"not each node was updated once: {agents.order}"


def whole(objects, agents, seconds):
    """Updates two pools whose nodes run pods with a budget; one change waits behind a pause; a bad change is removed."""
    objects.controller_config()
    objects.config("00-worker", files={"/etc/base": "1"})
    objects.config("50-infra", role="infra", files={"/etc/infra": "1"})
    objects.custom_pool("infra")
    targets = _targets(objects, {"worker": "", "infra": ""}, seconds)
    for pool, nodes in NODES.items():
        quick_drains(objects, pool)
        for name in nodes:
            # A node of the custom pool boots with the config of the worker pool.
            agents.add(name, targets["worker"], labels=[WORKER, INFRA] if pool == "infra" else [WORKER])
    _create_web_pods(objects, seconds)

    objects.config("10-more", files={"/etc/more": "1"})
    targets = _targets(objects, targets, seconds)
    _wait_until_all_have(agents, targets, seconds)

    objects.set_pool("worker", paused=True)
    objects.config("10-more", files={"/etc/more": "2"})
    before, targets = targets, _targets(objects, targets, seconds)
    _wait_until_all_have(agents, {"infra": targets["infra"]}, seconds)
    objects.wait_for_condition("worker", "PausedPending", "True", seconds)
    assert {agents.configs()[name] for name in NODES["worker"]} == {(before["worker"], before["worker"])}
    objects.set_pool("worker", paused=False)
    _wait_until_all_have(agents, targets, seconds)

    agents.hold()
    objects.config("99-bad", files={"/etc/bad": "1"})
    agents.broken.update(_targets(objects, targets, seconds).values())
    agents.go_on()
    for pool in NODES:
        wait_until(lambda pool=pool: objects.pool(pool)["status"]["degradedMachineCount"] == 1,
                   f"{pool} has a degraded node", seconds)
    objects.remove_config("99-bad")
    _wait_until_all_have(agents, targets, seconds)


def end_state(objects):
    """Returns the state of all objects, without times, versions and uids, which differ in each run."""
    pools = {pool["metadata"]["name"]: {
        "configuration": pool["spec"].get("configuration"),
        "is current": pool.get("status", {}).get("observedGeneration") == pool["metadata"]["generation"],
        "status": _without(pool.get("status", {}), "observedGeneration", "conditions"),
        "conditions": _conditions(pool)} for pool in _items(objects, "machineconfigpools")}
    reports = {report["metadata"]["name"]: {"spec": report["spec"], "conditions": _conditions(report)}
               for report in _items(objects, "machineconfignodes")}
    nodes = {node["metadata"]["name"]: {
        "labels": node["metadata"]["labels"],
        "annotations": {key: value for key, value in node["metadata"]["annotations"].items()
                        if key.startswith((PREFIX, "pintle.io/"))},
        "is cordoned": node["spec"].get("unschedulable", False),
        # The taints of Kubernetes' own controllers are left out.
        "taints": [_without(taint, "timeAdded") for taint in node["spec"].get("taints", [])
                   if not taint["key"].startswith(KUBERNETES)]}
        for node in objects.admin.must("GET", "/api/v1/nodes")["items"]}
    policies = {policy["metadata"]["name"]: {"conditions": _conditions(policy), "pools": [
        {key: pool.get(key) for key in ("name", "phase", "wave", "waves", "nodes", "updated")}
        for pool in policy.get("status", {}).get("pools", [])]}
        for policy in objects.admin.must("GET", POLICIES)["items"]}
    return {"pools": pools, "nodes": nodes, "reports": reports, "policies": policies,
            "configs": sorted(objects.rendered())}


def state_at_rest(objects):
    """Returns the end state, once the controller and all agents have nothing left to do."""
    def is_at_rest():
        state = end_state(objects)
        checks = (*map(_pool_rests, state["pools"].values()), *map(_node_rests, state["nodes"].values()),
                  *map(_policy_rests, state["policies"].values()),
                  *(_is_reported(report, state["nodes"][name]) for name, report in state["reports"].items()))
        return all(checks) and state
    return wait_until(is_at_rest, "the controller and all agents have nothing left to do", 60)


def _pool_rests(pool):
    is_updated = pool["conditions"].get("Updated", ("",))[0] == "True"
    is_known = pool["is current"] and pool["status"]["configuration"] == pool["configuration"]
    return is_updated and is_known or pool["status"].get("machineCount") == 0


def _node_rests(node):
    annotations = {key.removeprefix(PREFIX): value for key, value in node["annotations"].items()}
    is_done = annotations["state"] == "Done" and annotations["currentConfig"] == annotations["desiredConfig"]
    is_uncordoned = annotations.get("desiredDrain") == annotations.get("lastAppliedDrain") and not node["is cordoned"]
    return is_done and is_uncordoned and all(taint["key"] != "UpdateInProgress" for taint in node["taints"])


def _policy_rests(policy):
    return all(pool["phase"] == "Complete" for pool in policy["pools"])


def _is_reported(report, node):
    """Returns whether the MachineConfigNode of a node that rests reports the end of its update."""
    is_of_config = report["spec"]["configVersion"]["desired"] == node["annotations"][PREFIX + "currentConfig"]
    return is_of_config and report["conditions"].get("Uncordoned", ("",))[0] == "True"


def differences(expected, found, where=""):
    """Returns lines that describe the differences of two end states."""
    if not (isinstance(expected, dict) and isinstance(found, dict)):
        return [] if expected == found else [f"{where}: {found} in place of {expected}"]
    return [line for key in sorted(expected.keys() | found.keys())
            for line in differences(expected.get(key), found.get(key), f"{where}/{key}")]


def delete_all(objects):
    objects.admin.must("DELETE", POLICIES)
    objects.delete_all()
    for kind in (DEPLOYMENTS, budgets(objects), PODS):
        objects.admin.must("DELETE", kind, {"propagationPolicy": "Background", "gracePeriodSeconds": 0})
    for kind in (PODS, "/apis/apps/v1/namespaces/default/replicasets", "/api/v1/nodes"):
        wait_until(lambda kind=kind: not objects.admin.must("GET", kind)["items"], f"no {kind} are left", 60)


class UpdatingNodes(Watch):
    """Counts at every moment how many nodes of each pool are being updated or are not available for pods."""

    path = "/api/v1/nodes"

    def __init__(self, cluster):
        super().__init__(cluster)
        self.most = {}
        self._under_way = {}

    def receive(self, thing):
        metadata = thing["metadata"]
        pool = "infra" if INFRA in metadata["labels"] else "worker"
        current, desired = (metadata["annotations"].get(PREFIX + key) for key in ("currentConfig", "desiredConfig"))
        is_under_way = current != desired or thing["spec"].get("unschedulable", False)
        self._under_way[metadata["name"]] = pool if is_under_way else None
        self.most[pool] = max(self.most.get(pool, 0), list(self._under_way.values()).count(pool))


def _taint_until_targeted(objects, name, target, seconds):
    """Changes OWN_TAINT again and again, until the node has its desired config and no taint of the controller.

    Meanwhile, the controller adds and removes its own taint.  Neither change may be lost.
    """
    last = None

    def has_target():
        nonlocal last
        node = objects.admin.must("GET", f"/api/v1/nodes/{name}")
        taints = {taint["key"]: taint for taint in node["spec"].get("taints", [])}
        assert not last or taints.get(OWN_TAINT) == last, f"{last} got lost: {taints}"
        if not _is_done_by_kubernetes(node, taints):
            return False
        is_over = node["metadata"]["annotations"][PREFIX + "desiredConfig"] == target and "UpdateInProgress" not in taints
        next_taint = {"key": OWN_TAINT, "value": "" if is_over else str(time.monotonic()), "effect": "NoSchedule"}
        if _put_taints(objects, node, taints | {OWN_TAINT: next_taint}):
            last = next_taint
            return is_over
        return False

    wait_until(has_target, f"{name} has its desired config, and no taint of the controller", seconds, every=0.3)


def _is_done_by_kubernetes(node, taints):
    """Returns whether Kubernetes itself has no taint to change.  Kubernetes 1.20 writes back all taints that it has
    read, even if another client has changed one since.
    """
    wanted = {f"{KUBERNETES}unschedulable"} if node["spec"].get("unschedulable") else set()
    return {key for key in taints if key.startswith(KUBERNETES)} == wanted


def _put_taints(objects, node, taints):
    """Writes the taints; returns False if somebody has changed the node since."""
    status, _ = objects.admin.request("PATCH", f"/api/v1/nodes/{node['metadata']['name']}", {
        "metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
        "spec": {"taints": list(taints.values())}})
    return status == 200


def _targets(objects, before, seconds):
    """Returns the new targets of the pools."""
    return {pool: objects.wait_for_target(pool, other_than=target, seconds=seconds) for pool, target in before.items()}


def _wait_until_all_have(agents, targets, seconds):
    for pool, target in targets.items():
        agents.wait_until_all_have(target, NODES[pool], seconds)


def quick_drains(objects, pool):
    objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/{pool}", {"metadata": {"annotations": QUICK_DRAINS}}, MERGE)


def budgets(objects):
    """Returns the path of the disruption budgets."""
    return f"/apis/{objects.cluster.api('policy', 'v1', 'v1beta1')}/namespaces/default/poddisruptionbudgets"


def create_budget(objects, app):
    """Creates a budget that keeps one of the pods."""
    objects.admin.must("POST", budgets(objects), {"metadata": {"name": app}, "spec": {
        "minAvailable": 1, "selector": {"matchLabels": {"app": app}}}})


def delete_budget(objects, app):
    objects.admin.must("DELETE", f"{budgets(objects)}/{app}")


def _create_web_pods(objects, seconds):
    """Creates two pods on any nodes, with a disruption budget that allows the eviction of one."""
    labels = {"app": "web"}
    objects.admin.must("POST", DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": {
        "replicas": 2, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": _pod_spec()}}})
    create_budget(objects, "web")
    path = f"{budgets(objects)}/web"
    wait_until(lambda: objects.admin.must("GET", path).get("status", {}).get("disruptionsAllowed") == 1,
               "the budget allows one eviction", seconds)


def _pod_spec(**more):
    return {"containers": [{"name": "c", "image": "example.com/c"}], "terminationGracePeriodSeconds": 1, **more}


def _items(objects, kind):
    return objects.admin.must("GET", f"{GROUP}/{kind}")["items"]


def _conditions(thing):
    return {condition["type"]: (condition["status"], condition.get("reason"),
                                re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>", condition.get("message", "")))
            for condition in thing.get("status", {}).get("conditions", [])}


def _without(fields, *names):
    return {key: value for key, value in fields.items() if key not in names}
