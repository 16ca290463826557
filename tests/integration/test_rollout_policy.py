# SPDX-License-Identifier: Apache-2.0
"""Tests RolloutPolicies with pintle-controller against a real control plane, and simulated agents on its nodes."""

import dataclasses
import datetime
import os
import zoneinfo

import pytest

import controller_stories as stories
from machines import certs, programs, shell
from machines.cluster import Cluster
from machines.controller import GROUP, MERGE, Controller, Objects, prepare_cluster
from machines.loopback_server import Handler, LoopbackServer
from machines.prometheus import Prometheus
from machines.simulated_agents import SimulatedAgents
from machines.simulated_clock import SimulatedClock
from machines.wait import wait_until

PINTLE = programs.here("pintle")
POLICIES = "/apis/pintle.io/v1alpha1/rolloutpolicies"
WORKERS = ["worker-0", "worker-1", "worker-2"]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
# The controller's clock is years ahead in some tests; two leap days are at most eight years apart.
VALIDITY = certs.Validity(datetime.timedelta(hours=-1), datetime.timedelta(days=9 * 366))


@pytest.fixture(scope="module")
def cluster():
    with Cluster(validity=VALIDITY) as running:
        prepare_cluster(running)
        yield running


@pytest.fixture
def objects(cluster):
    made = Objects(cluster)
    made.controller_config()
    yield made
    made.admin.must("DELETE", POLICIES)
    made.delete_all()


@pytest.fixture
def clock(tmp_path):
    return SimulatedClock(tmp_path / "clock")


@pytest.fixture
def controller(cluster, objects, clock):
    # The servers of these tests are on loopback.
    with Controller(cluster, "controller", "--gate-addresses=all", environment=clock.environment) as running:
        wait_until(objects.leader, "the controller leads", 60)
        yield running


@pytest.fixture
def agents(cluster):
    with SimulatedAgents(cluster) as running:
        yield running


@pytest.fixture
def rolled_out(objects, controller, agents):
    """Creates three workers that have the config of their pool; returns the config's name."""
    return stories.three_workers(objects, agents)


def create(objects, name="policy", **spec):
    pools = {} if "poolSelector" in spec else {"pool": "worker"}
    objects.admin.must("POST", POLICIES, {"apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy",
                                          "metadata": {"name": name}, "spec": {**pools, **spec}})


def status(objects, name="policy"):
    return objects.admin.must("GET", f"{POLICIES}/{name}").get("status", {})


def condition(objects, kind, name="policy"):
    return next((each for each in status(objects, name).get("conditions", []) if each["type"] == kind), None)


def of_pool(objects, pool="worker"):
    """Returns the part of the policy's status that is about a pool, or None."""
    return next((each for each in status(objects).get("pools", []) if each["name"] == pool), None)


def wait_for_phase(objects, phase, target=None):
    """Waits until the rollout is in a phase, and with this target."""
    def found():
        pool = of_pool(objects)
        fits = pool and pool["phase"] == phase and target in (None, pool["memory"].get("target"))
        return pool if fits else None
    return wait_until(found, f"the rollout is {phase}", 60)


def desired(agents):
    return {name: config[1] for name, config in agents.configs().items()}


def updated(agents, target):
    return sorted(name for name, config in desired(agents).items() if config == target)


def change(objects, agents, before, is_broken=False, text="good"):
    """Changes the config of the workers; returns the new target."""
    agents.hold()
    objects.config("99-change", files={"/etc/change": "broken" if is_broken else text})
    target = objects.wait_for_target("worker", other_than=before)
    if is_broken:
        agents.broken.add(target)
    agents.go_on()
    return target


def pass_to(objects, clock, text):
    """Sets the controller's clock to this time, and lets the controller look at it."""
    clock.set(datetime.datetime.fromisoformat(text) - datetime.datetime.now(datetime.timezone.utc))
    objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/worker",
                       {"metadata": {"annotations": {"example.com/now": text}}}, MERGE)


def make_controller_look(objects):
    """Changes a field of the pool, and waits until the controller has looked at it."""
    objects.set_pool("worker", maxUnavailable=2)
    wait_until(lambda: objects.pool("worker")["status"]["observedGeneration"]
               == objects.pool("worker")["metadata"]["generation"], "the controller has looked at the pool", 60)


def plugin(cluster, verb, *words, user="ann"):
    """Runs the kubectl plug-in as this user of the workstation."""
    link = cluster.folder / "kubectl-pintle"
    if not link.exists():
        link.symlink_to(PINTLE)
    return shell.run(link, verb, "--kubeconfig", cluster.admin.kubeconfig, *words, check=False,
                     env={**os.environ, "USER": user})


def test_a_canary_that_fails_halts_the_rollout_until_the_config_is_taken_back(objects, controller, agents, rolled_out):
    create(objects, waves=[{"name": "canary", "nodes": 1}])
    wait_for_phase(objects, "Complete")
    target = change(objects, agents, rolled_out, is_broken=True)
    halted = wait_for_phase(objects, "Halted", target)
    canary, = updated(agents, target)
    assert canary in halted["message"]
    wait_until(lambda: condition(objects, "Halted")["status"] == "True", "the policy is halted", 60)
    message, = wait_until(lambda: objects.events("RolloutHalted"), "there is an Event", 60)
    assert "kubectl pintle resume worker" in message
    # Another replica takes over, reads the state of the rollout from the policy, and updates nothing.
    controller.end()
    controller.start()
    wait_until(objects.leader, "the controller leads again", 60)
    make_controller_look(objects)
    assert updated(agents, target) == [canary]
    assert of_pool(objects)["memory"]["halt"] == halted["memory"]["halt"]
    objects.remove_config("99-change")
    agents.wait_until_all_have(rolled_out)
    wait_for_phase(objects, "Complete", rolled_out)
    assert condition(objects, "Halted")["status"] == "False"
    assert agents.order == []    # No node has ever changed.


def test_a_person_resumes_a_halted_rollout(cluster, objects, agents, rolled_out):
    create(objects, waves=[{"name": "canary", "nodes": 1}])
    wait_for_phase(objects, "Complete")
    answer = plugin(cluster, "resume", "worker")
    assert answer.returncode == 1 and "the rollout of pool worker is not halted; it is Complete" in answer.stderr
    target = change(objects, agents, rolled_out, is_broken=True)
    wait_for_phase(objects, "Halted", target)
    answer = plugin(cluster, "resume", "worker")
    assert answer.returncode == 0, answer.stderr
    wait_until(lambda: len(updated(agents, target)) == 3, "the other nodes are updated", 60)
    resumption, = of_pool(objects)["memory"]["resumptions"]
    assert resumption["by"] == "ann ($USER)" and len(resumption["nodes"]) == 1
    wait_for_phase(objects, "Halted", target)    # The others have failed as well.


def test_a_wave_waits_for_its_approval(cluster, objects, agents, rolled_out):
    create(objects, waves=[{"nodes": 1}], approve="Manual")
    wait_for_phase(objects, "Complete")
    target = change(objects, agents, rolled_out)
    waiting = wait_for_phase(objects, "AwaitingApproval", target)
    assert len(updated(agents, target)) == 1
    preview = plugin(cluster, "rollout", "worker")
    assert (preview.returncode, preview.stderr) == (0, "")
    assert "The rollout by RolloutPolicy policy: wave 2 of 2 (all other nodes), 1 of 3 nodes are updated\n" \
        in preview.stdout
    assert "  AwaitingApproval since " in preview.stdout and "waits: the next wave needs an approval" in preview.stdout
    printed = plugin(cluster, "status", "worker").stdout
    assert "    AwaitingApproval since " in printed and "    Earliest end: " in printed
    answer = plugin(cluster, "approve", "worker")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == f"Wave 2 of 2 of pool worker may begin with {target}.\n"
    agents.wait_until_all_have(target)
    approval, = wait_for_phase(objects, "Complete", target)["memory"]["approvals"]
    assert approval["wave"] == 2 and approval["by"] == "ann ($USER)" and approval["at"]
    assert approval["waveDigest"] == waiting["waveDigest"] and "waveDigest" not in of_pool(objects)
    answer = plugin(cluster, "approve", "worker")
    assert answer.returncode == 1 and "waits for no approval; it is Complete" in answer.stderr


def test_kubectl_lists_the_phases_of_all_pools_of_a_policy(cluster, objects, agents, rolled_out):
    objects.custom_pool("infra")
    for pool in "infra", "worker":
        objects.admin.must("PATCH", f"{GROUP}/machineconfigpools/{pool}", {"metadata": {"labels": {"tier": "all"}}}, MERGE)
    create(objects, poolSelector={"matchLabels": {"tier": "all"}}, waves=[{"nodes": 1}], approve="Manual")
    wait_for_phase(objects, "Complete")
    target = change(objects, agents, rolled_out)
    wait_for_phase(objects, "AwaitingApproval", target)
    wait_until(lambda: of_pool(objects, "infra")["phase"] == "Complete", "the pool without nodes is complete", 60)
    header, policy = cluster.kubectl("get", "rolloutpolicies").stdout.splitlines()
    assert header.split() == ["NAME", "ACCEPTED", "HALTED", "PHASES", "AGE"]
    assert "infra: Complete, worker: AwaitingApproval" in policy


def test_a_person_simulates_the_rollout_of_a_later_config(cluster, objects, agents, rolled_out):
    create(objects, waves=[{"name": "canary", "nodes": 1}], approve="Manual")
    wait_for_phase(objects, "Complete")
    answer = plugin(cluster, "rollout", "worker", "--simulate", "--node-time=5min", "--begin=2027-03-27T12:00:00Z")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("Pool worker gets a later config by RolloutPolicy policy: 3 nodes\n")
    assert "Sat 2027-03-27 12:05 +00:00  wave 2 of 2 (all other nodes) needs an approval\n" in answer.stdout
    assert answer.stdout.endswith("Earliest end: Sat 2027-03-27 12:10 +00:00, after 10 minutes\n")
    assert desired(agents) == {name: rolled_out for name in WORKERS}


def test_an_order_is_refused_while_its_policy_reports_about_an_older_config(cluster, objects, controller, agents,
                                                                            rolled_out):
    create(objects, waves=[{"nodes": 1}], approve="Manual")
    wait_for_phase(objects, "Complete")
    target = change(objects, agents, rolled_out)
    wait_for_phase(objects, "AwaitingApproval", target)
    controller.end()
    objects.set_pool("worker", configuration={"name": "rendered-worker-newer"})
    for verb in ["approve"], ["override", "--reason=CVE-2027-1"]:
        answer = plugin(cluster, *verb, "worker")
        assert answer.returncode != 0
        assert ("pool worker has the new target rendered-worker-newer, but its policy still reports the rollout of "
                f"{target}") in answer.stderr
        assert f"pintle.io/rollout-{verb[0]}" not in objects.pool("worker")["metadata"].get("annotations", {})


@dataclasses.dataclass(frozen=True)
class Wait:
    """A config that comes while nodes may not be updated.  A moment is a day of the season and a time in UTC."""
    phase: str
    since: tuple     # The moment at which the config comes.
    opens: tuple
    closes: tuple
    inside: tuple    # A moment in this window.


@dataclasses.dataclass(frozen=True)
class Season:
    """A special day in Berlin, a window that opens on this day and a week later, and configs that wait for it."""
    day: datetime.date
    start: str
    duration: str
    waits: tuple
    is_frozen_before: bool = False


def next_day(is_wanted):
    """Returns the next day that is wanted, from the day after tomorrow on."""
    day = datetime.date.today() + datetime.timedelta(days=2)
    while not is_wanted(day):
        day += datetime.timedelta(days=1)
    return day


def hours_in_berlin(day):
    """Returns how many hours this day has."""
    begin, end = (datetime.datetime.combine(each, datetime.time(), BERLIN).astimezone(datetime.timezone.utc)
                  for each in (day, day + datetime.timedelta(days=1)))
    return (end - begin) / datetime.timedelta(hours=1)


def seasons():
    # The clocks skip the hour from 01:00 UTC on, and with it the start at 02:30 o'clock.  So the window opens at 03:00.
    # At the moment inside, it is 03:45 o'clock, although the window would end at 03:30 on another day.
    spring = Season(next_day(lambda day: hours_in_berlin(day) == 23), "02:30", "1h", (
        Wait("AwaitingWindow", (0, "00:50"), (0, "01:00"), (0, "02:00"), (0, "01:45")),
        Wait("AwaitingWindow", (0, "02:10"), (7, "00:30"), (7, "01:30"), (7, "01:15"))))
    # It is 02:30 o'clock at 00:30 UTC and again at 01:30 UTC, where the window ends.  At the moment inside, it is 02:15
    # o'clock for the second time.  The next config comes at 02:40 o'clock, and waits for a week.
    autumn = Season(next_day(lambda day: hours_in_berlin(day) == 25), "02:30", "1h", (
        Wait("AwaitingWindow", (0, "00:20"), (0, "00:30"), (0, "01:30"), (0, "01:15")),
        Wait("AwaitingWindow", (0, "01:40"), (7, "01:30"), (7, "02:30"), (7, "02:15"))))
    leap_day = Season(next_day(lambda day: (day.month, day.day) == (2, 29)), "00:00", "1d", (
        Wait("Frozen", (-1, "22:50"), (-1, "23:00"), (0, "23:00"), (0, "22:30")),
        Wait("AwaitingWindow", (0, "23:10"), (6, "23:00"), (7, "23:00"), (6, "23:10"))), is_frozen_before=True)
    return {"spring": spring, "autumn": autumn, "leap day": leap_day}


@pytest.mark.parametrize("season", seasons().values(), ids=seasons())
def test_nodes_are_updated_only_in_windows(objects, agents, clock, rolled_out, season):
    def instant(moment):
        days, time = moment
        return f"{season.day + datetime.timedelta(days=days)}T{time}:00Z"

    freeze = {"freeze": {"until": str(season.day), "timeZone": "Europe/Berlin"}} if season.is_frozen_before else {}
    create(objects, **freeze, windows=[{"days": [DAYS[season.day.weekday()]], "start": season.start,
                                        "duration": season.duration, "timeZone": "Europe/Berlin"}])
    target = rolled_out
    for number, wait in enumerate(season.waits):
        pass_to(objects, clock, instant(wait.since))
        wait_for_phase(objects, "Complete", target)
        target = change(objects, agents, target, text=str(number))
        waiting = wait_for_phase(objects, wait.phase, target)
        assert (waiting["opens"], waiting["closes"]) == (instant(wait.opens), instant(wait.closes))
        assert updated(agents, target) == []
        pass_to(objects, clock, instant(wait.inside))
        agents.wait_until_all_have(target)
    wait_for_phase(objects, "Complete", target)


def test_a_reason_of_the_administrator_overrides_a_freeze_for_one_config(cluster, objects, agents, rolled_out):
    create(objects, freeze={"until": "2100-01-01", "reason": "holidays"})
    wait_for_phase(objects, "Complete")
    target = change(objects, agents, rolled_out)
    assert "holidays" in wait_for_phase(objects, "Frozen", target)["message"]
    answer = plugin(cluster, "override", "worker", "--reason=CVE-2027-1")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == f"The windows and the freeze of its policy do not apply while pool worker gets {target}.\n"
    agents.wait_until_all_have(target)
    used = wait_for_phase(objects, "Complete", target)["memory"]["override"]
    assert used["reason"] == "CVE-2027-1" and used["target"] == target and used["by"] == "ann ($USER)" and used["at"]
    message, = objects.events("RolloutOverridden")
    assert "CVE-2027-1" in message
    # The annotation is still there.  It has no effect under a policy that was created later.
    objects.admin.must("DELETE", f"{POLICIES}/policy")
    create(objects, freeze={"until": "2100-01-01", "reason": "holidays"})
    wait_for_phase(objects, "Complete", target)
    agents.add("worker-3", rolled_out)
    assert "the override was for an earlier rollout" in wait_for_phase(objects, "Frozen", target)["message"]
    assert updated(agents, target) == WORKERS
    agents.hold()
    objects.config("99-later", files={"/etc/later": "x"})
    later = objects.wait_for_target("worker", other_than=target)
    agents.go_on()
    assert f"the override was for {target}" in wait_for_phase(objects, "Frozen", later)["message"]


ALERT = "groups: [{name: shop, rules: [{alert: ShopHasErrors, expr: shop_errors > 0}]}]"


class Shop(LoopbackServer):
    """A service of the cluster, with a health check and a metric whose answers a test sets.

    If the answer is None, the health check accepts requests and never answers.
    """

    def __init__(self):
        super().__init__(ShopHandler)
        self.answer = 503
        self.errors = 1


class ShopHandler(Handler):
    def do_GET(self):
        if self.path == "/metrics":
            self.respond(200, f"shop_errors {self.server.errors}\n".encode(), "text/plain; version=0.0.4")
        elif self.server.answer is None:
            self.rfile.read(1)    # It ends when the client closes the connection.
        else:
            self.respond(self.server.answer)


def test_nodes_are_updated_when_an_http_check_and_a_condition_allow_it(objects, agents, rolled_out):
    with Shop() as shop:
        create(objects, gates=[
            {"name": "shop", "when": "Before", "http": {"url": f"http://{shop.host}/healthz"}},
            {"name": "tested", "when": "Before", "nodeAnnotation": {"key": "pintle.io/gate-tested"}}])
        wait_for_phase(objects, "Complete")
        target = change(objects, agents, rolled_out)
        wait_until(lambda: "the server answers 503" in of_pool(objects)["message"], "the check is reported", 60)
        assert updated(agents, target) == []
        shop.answer = 200
        wait_until(lambda: "gate tested is not met by node" in of_pool(objects)["message"], "the next gate", 90)
        assert updated(agents, target) == []
        for name in WORKERS:
            objects.admin.must("PATCH", f"/api/v1/nodes/{name}",
                               {"metadata": {"annotations": {"pintle.io/gate-tested": ""}}}, MERGE)
        agents.wait_until_all_have(target)


def test_nodes_are_updated_when_no_alert_of_prometheus_fires(objects, agents, rolled_out):
    with Shop() as shop, Prometheus(shop.host, ALERT) as prometheus:
        prometheus.wait_for(prometheus.alerts, "the alert fires")
        create(objects, gates=[{"name": "alerts", "when": "Before", "prometheus": {
            "url": prometheus.url, "query": 'ALERTS{alertstate="firing"}'}}])
        wait_for_phase(objects, "Complete")
        target = change(objects, agents, rolled_out)
        wait_until(lambda: "the query has 1 result and must have none" in of_pool(objects)["message"],
                   "the alert is reported", 60)
        assert updated(agents, target) == []
        shop.errors = 0
        agents.wait_until_all_have(target, seconds=120)


def test_an_alert_after_the_canary_halts_the_rollout_from_the_timeout_of_its_gate_until_it_ends(
        objects, agents, clock, rolled_out):
    with Shop() as shop, Prometheus(shop.host, ALERT) as prometheus:
        shop.errors = 0
        create(objects, waves=[{"nodes": 1}], gates=[{
            "name": "alerts", "when": "After", "timeout": "1h", "onTimeout": "Halt",
            "prometheus": {"url": prometheus.url, "query": 'ALERTS{alertstate="firing"}'}}])
        wait_for_phase(objects, "Complete")
        agents.hold()
        objects.config("99-change", files={"/etc/change": "good"})
        target = objects.wait_for_target("worker", other_than=rolled_out)
        canary, = wait_until(lambda: updated(agents, target), "the canary is updated", 60)
        # The alert fires before the canary is done.  Until then, the gate was met, which must not count any more.
        shop.errors = 1
        prometheus.wait_for(prometheus.alerts, "the alert fires")
        agents.go_on()
        wait_for_phase(objects, "AwaitingGate", target)
        wait_until(lambda: "waits for a gate: gate alerts is not met: the query has 1 result" in of_pool(objects)["message"],
                   "the alert is reported", 60)
        assert updated(agents, target) == agents.order == [canary]
        pass_to(objects, clock, (clock.now() + datetime.timedelta(hours=2)).isoformat())
        halted = wait_for_phase(objects, "Halted", target)
        assert "the query has 1 result and must have none; the gate's timeout of 1 hour has passed" in halted["message"]
        assert updated(agents, target) == [canary]
        shop.errors = 0
        agents.wait_until_all_have(target, seconds=120)
        wait_for_phase(objects, "Complete", target)
        assert condition(objects, "Halted")["status"] == "False"


def test_a_check_that_is_not_answered_holds_the_rollout_until_the_timeout_of_its_gate(objects, agents, clock,
                                                                                      rolled_out):
    with Shop() as shop:
        shop.answer = None
        create(objects, gates=[{"name": "shop", "when": "Before", "timeout": "1h", "onTimeout": "Continue",
                                "http": {"url": f"http://{shop.host}/healthz"}}])
        wait_for_phase(objects, "Complete")
        target = change(objects, agents, rolled_out)
        wait_until(lambda: f"gate shop is not met: {shop.host} " in of_pool(objects)["message"],
                   "the check is reported", 60)
        waiting = of_pool(objects)
        assert waiting["phase"] == "AwaitingGate" and " 20 s, before any answer" in waiting["message"]
        assert updated(agents, target) == []
        pass_to(objects, clock, (clock.now() + datetime.timedelta(minutes=50)).isoformat())
        make_controller_look(objects)
        assert of_pool(objects)["phase"] == "AwaitingGate" and updated(agents, target) == []
        pass_to(objects, clock, (clock.now() + datetime.timedelta(minutes=20)).isoformat())
        agents.wait_until_all_have(target)
        wait_for_phase(objects, "Complete", target)


def test_a_query_that_prometheus_refuses_holds_the_rollout_with_its_reason(objects, agents, rolled_out):
    with Shop() as shop, Prometheus(shop.host, "groups: []") as prometheus:
        create(objects, gates=[{"name": "alerts", "when": "Before", "prometheus": {
            "url": prometheus.url, "query": "ALERTS{"}}])
        wait_for_phase(objects, "Complete")
        target = change(objects, agents, rolled_out)
        wait_until(lambda: "Prometheus cannot evaluate the query: invalid parameter" in of_pool(objects)["message"],
                   "the reason of Prometheus is reported", 60)
        assert updated(agents, target) == []


def test_a_policy_that_cannot_be_used_holds_its_pool_and_names_the_mistake(objects, agents, rolled_out):
    create(objects, windows=[{"start": "22:00", "duration": "1h", "timeZone": "Europe/Berlni"}])
    wait_until(lambda: condition(objects, "Accepted"), "the controller has looked at the policy", 60)
    assert condition(objects, "Accepted")["status"] == "False"
    assert 'spec.windows[0].timeZone: the time zone "Europe/Berlni" cannot be read' in condition(
        objects, "Accepted")["message"]
    target = change(objects, agents, rolled_out)
    objects.wait_for_condition("worker", "Updating", "True")
    assert updated(agents, target) == []
    objects.admin.must("PATCH", f"{POLICIES}/policy", {"spec": {"windows": []}}, MERGE)
    agents.wait_until_all_have(target)
    assert condition(objects, "Accepted")["status"] == "True"


def test_the_api_server_refuses_a_policy_with_too_many_waves_windows_or_gates(objects):
    window = {"start": "22:00", "duration": "1h"}
    gate = {"name": "g", "when": "After", "http": {"url": "http://shop"}}
    for field, item in ("waves", {"nodes": 1}), ("windows", window), ("gates", gate):
        policy = {"apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "policy"},
                  "spec": {"pool": "worker", field: [item] * 33}}
        code, answer = objects.admin.request("POST", POLICIES, policy)
        assert code == 422 and f"spec.{field}: " in answer["message"] and "32 items" in answer["message"]
        policy["spec"][field] = [item] * 32
        objects.admin.must("POST", POLICIES + "?dryRun=All", policy)


def test_the_older_of_two_policies_counts_and_the_newer_one_reports_the_conflict(objects, agents, rolled_out):
    create(objects, waves=[{"nodes": 1}], approve="Manual")
    wait_for_phase(objects, "Complete")
    first = objects.admin.must("GET", f"{POLICIES}/policy")["metadata"]["creationTimestamp"]
    # Policies that were made in the same second are ordered by their names.
    create(objects, name="second")
    wait_until(lambda: condition(objects, "Conflict", "second"), "the newer policy reports the older one", 60)
    assert "the pool worker has the older policy policy" in condition(objects, "Conflict", "second")["message"]
    assert first <= objects.admin.must("GET", f"{POLICIES}/second")["metadata"]["creationTimestamp"]
    objects.admin.must("DELETE", f"{POLICIES}/policy")
    wait_until(lambda: condition(objects, "Conflict", "second") is None, "the conflict has ended", 60)
