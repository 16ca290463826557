// SPDX-License-Identifier: Apache-2.0
#include "pool/waved_rollout.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "base/time_zone_files.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A pool with a policy.  Its nodes do what a test makes them do.
class Fleet {
 public:
  Fleet(const std::string& spec, int count) : pool(PoolWith(kNew, {100})) {
    SetPolicy(spec);
    for (int i = 0; i < count; ++i) nodes.push_back(CreatedAt(NodeAt("n" + std::to_string(i), kOld), i));
  }

  void SetPolicy(const std::string& spec) {
    json::Report report;
    auto read = json::Decode<api::RolloutPolicy>(
        ValueOf(json::Parse(R"({"metadata": {"name": "p"}, "spec": )" + spec + "}")), report);
    EXPECT_FALSE(report.has_errors());
    TimeZoneFiles files;
    policy = ValueOf(CompilePolicy(read, [&](const std::string& name) { return files.Find(name); }));
  }

  PolicyRollout Decide() const {
    const std::vector<NodeState> states = States(nodes);
    Situation situation = SituationOf(pool, states);
    situation.undrainable = &undrainable;
    std::vector<const api::MachineConfigNode*> machine_config_nodes;
    for (const auto& [name, report] : reports) machine_config_nodes.push_back(&report);
    situation.machine_config_nodes = machine_config_nodes;
    return DecideByPolicy(
        situation,
        {.policy = policy, .memory = memory, .now = now, .gate_results = &results, .undisruptive = &undisruptive});
  }

  // Decides, and writes the memory through JSON as the API server keeps it, or else assigns the target to nodes.
  // Returns whether anything was written.
  bool Step(std::vector<std::string>& assigned) {
    last = Decide();
    for (const RolloutNews& item : last.news) news.push_back(item.reason);
    const bool is_new = !json::Equal(last.memory, memory);
    EXPECT_TRUE(!is_new || (last.rollout.updates.empty() && last.rollout.updates_of_unavailable.empty()));
    json::Report report;
    memory = json::Decode<api::RolloutMemory>(json::Encode(last.memory), report);
    for (const auto* list : {&last.rollout.updates, &last.rollout.updates_of_unavailable}) {
      for (const NodeUpdate& update : *list) {
        assigned.push_back(update.node);
        Named(update.node).metadata.annotations[std::string(api::kDesiredConfigAnnotation)] =
            *update.patch.metadata.annotations.at(std::string(api::kDesiredConfigAnnotation));
        Named(update.node).metadata.annotations[std::string(api::kStateAnnotation)] = api::kStateWorking;
      }
    }
    return is_new || !last.rollout.updates.empty() || !last.rollout.updates_of_unavailable.empty();
  }

  // Steps until nothing more is written; returns the nodes that were given the target, sorted.
  std::vector<std::string> AssignTargets() {
    std::vector<std::string> assigned;
    int steps = 0;
    while (Step(assigned)) {
      EXPECT_LT(++steps, 50) << last.message;
      if (steps >= 50) break;
    }
    std::sort(assigned.begin(), assigned.end());
    return assigned;
  }

  api::Node& Named(const std::string& name) {
    return *std::find_if(nodes.begin(), nodes.end(), [&](const api::Node& node) { return node.metadata.name == name; });
  }
  void Finish(const std::string& name) {
    auto& annotations = Named(name).metadata.annotations;
    annotations[std::string(api::kCurrentConfigAnnotation)] = annotations[std::string(api::kDesiredConfigAnnotation)];
    annotations[std::string(api::kStateAnnotation)] = api::kStateDone;
    SetReady(name, true);
    api::MachineConfigNode& report = reports[name];
    report.metadata.name = name;
    report.status.conditions = {
        {.type = "Updated", .status = "True", .last_transition_time = api::Time{now}, .reason = "", .message = ""}};
  }
  void FinishAll(const std::vector<std::string>& names) {
    for (const std::string& name : names) Finish(name);
  }
  void Fail(const std::string& name) {
    Named(name).metadata.annotations[std::string(api::kStateAnnotation)] = api::kStateDegraded;
  }
  void SetReady(const std::string& name, bool is_ready) {
    Named(name).status.conditions = {{.type = "Ready", .status = is_ready ? "True" : "False"}};
  }
  void Order(std::string_view annotation, const std::string& value) {
    pool.metadata.annotations[std::string(annotation)] = value;
  }
  std::string ApprovalOf(const std::string& wave_digest, const std::string& at = "now") const {
    api::RolloutOrder order;
    order.target = pool.spec.configuration.name;
    order.wave_digest = wave_digest;
    order.by = "ann";
    order.at = at;
    return json::ToText(json::Encode(order));
  }
  // The order is for the rollout that the memory is about.
  std::string OverrideOf(const std::string& target, const std::string& at = "now") const {
    api::RolloutOrder order;
    order.target = target;
    order.reason = "CVE-2027-1";
    order.by = "ann";
    order.at = at;
    order.began = memory.began;
    return json::ToText(json::Encode(order));
  }
  std::string Phase() const { return NameOf(last.phase); }

  std::vector<api::Node> nodes;
  api::MachineConfigPool pool;
  Policy policy;
  api::RolloutMemory memory;
  WallTime now = ValueOf(FromRfc3339("2027-01-04T12:00:00Z"));  // A Monday.
  std::map<std::string, GateResult> results;
  NodeNames undisruptive;
  NodeNames undrainable;
  std::map<std::string, api::MachineConfigNode> reports;
  PolicyRollout last;
  std::vector<std::string> news;
};

constexpr const char* kCanary = R"({"pool": "worker", "waves": [{"name": "canary", "nodes": 1, "soak": "10min"}]})";

// ---- waves ----

TEST(WavedRollout, GoesWaveByWaveAndWatchesEachForItsSoak) {
  Fleet fleet(kCanary, 4);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  EXPECT_EQ(fleet.Phase(), "Updating");
  fleet.now += minutes(5);
  fleet.Finish("n0");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Soaking");
  EXPECT_EQ(fleet.last.decide_again_at, fleet.now + minutes(10));
  fleet.now += minutes(10) - std::chrono::seconds(1);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.now += std::chrono::seconds(1);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n2", "n3"));
  fleet.FinishAll({"n1", "n2", "n3"});
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Complete");
  EXPECT_THAT(fleet.news, ElementsAre("RolloutBegun", "RolloutWaveBegun", "RolloutWaveDone", "RolloutWaveBegun",
                                      "RolloutWaveDone", "RolloutFinished"));
}

TEST(WavedRollout, WritesWhatItRemembersBeforeItUpdatesANode) {
  Fleet fleet(kCanary, 4);
  std::vector<std::string> assigned;
  EXPECT_TRUE(fleet.Step(assigned));
  EXPECT_THAT(assigned, IsEmpty());
  EXPECT_TRUE(fleet.memory.assigned_at.contains("n0"));
  EXPECT_TRUE(fleet.Step(assigned));
  EXPECT_THAT(assigned, ElementsAre("n0"));
}

TEST(WavedRollout, DecidesTheSameAgainAfterALostWrite) {
  Fleet fleet(kCanary, 4);
  const PolicyRollout first = fleet.Decide();
  EXPECT_TRUE(json::Equal(fleet.Decide().memory, first.memory));
}

TEST(WavedRollout, BeginsTheSoakAgainWhenANodeIsNotWell) {
  Fleet fleet(kCanary, 2);
  fleet.SetPolicy(R"({"pool": "worker", "waves": [{"nodes": 1, "soak": "10min", "failureThreshold": 0}]})");
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  fleet.now += minutes(9);
  fleet.SetReady("n0", false);
  fleet.AssignTargets();
  fleet.SetReady("n0", true);
  fleet.AssignTargets();
  fleet.now += minutes(9);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.now += minutes(1);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

struct WaveCase {
  const char* waves;
  std::vector<std::string> first;  // The nodes of the first wave, of ten.
};

TEST(WavedRollout, HasTheNodesOfAWaveByNumberPercentageOrLabel) {
  const std::vector<WaveCase> cases = {
      {R"([{"nodes": 2}])", {"n0", "n1"}},
      {R"([{"nodes": "25%"}])", {"n0", "n1", "n2"}},
      {R"([{"nodes": "1%"}])", {"n0"}},
      {R"([{"nodes": 20}])", {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"}},
      {R"([{"nodeSelector": {"matchLabels": {"canary": "yes"}}}])", {"n7", "n8", "n9"}},
      {R"([{"nodeSelector": {"matchLabels": {"canary": "yes"}}, "nodes": 2}])", {"n7", "n8"}},
      {R"([{"nodeSelector": {"matchLabels": {"canary": "no"}}}, {"nodes": 1}])", {"n0"}},
  };
  for (const WaveCase& row : cases) {
    Fleet fleet(R"({"pool": "worker", "waves": )" + std::string(row.waves) + "}", 10);
    for (const char* name : {"n7", "n8", "n9"}) fleet.Named(name).metadata.labels["canary"] = "yes";
    EXPECT_EQ(fleet.AssignTargets(), row.first) << row.waves;
  }
}

TEST(WavedRollout, PrefersNodesThatCanBeUpdatedForAWave) {
  Fleet fleet(kCanary, 3);
  fleet.Named("n0").spec.unschedulable = true;
  fleet.SetReady("n1", false);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n2"));
}

TEST(WavedRollout, PrefersNodesWhoseFailureWouldCountForAWave) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}]})", 3);
  fleet.Fail("n0");  // It is the oldest one and ready, but it has failed already, so a failure would not count.
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

TEST(WavedRollout, KeepsTheNodesOfAWaveWhenAnEditMakesItTheLastOne) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}, {"nodes": 1, "soak": "1h"}]})", 5);
  fleet.FinishAll(fleet.AssignTargets());
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
  // Without the canary, the wave that is under way has the place of the wave with all other nodes.
  fleet.SetPolicy(R"({"pool": "worker", "waves": [{"nodes": 1, "soak": "1h"}]})");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.Fail("n1");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
}

TEST(WavedRollout, BeginsWithTheRestAfterAWaveThatAnEditMadeTheLastOne) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}, {"nodes": 1}]})", 4);
  fleet.FinishAll(fleet.AssignTargets());
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
  fleet.SetPolicy(R"({"pool": "worker", "waves": [{"nodes": 1}]})");
  fleet.Finish("n1");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n2", "n3"));
  EXPECT_THAT(fleet.news, Not(Contains("RolloutFinished")));
  fleet.FinishAll({"n2", "n3"});
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Complete");
}

TEST(WavedRollout, StaysHaltedWhenAnEditLeavesFewerWaves) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}, {"nodes": 1}, {"nodes": 1}]})", 6);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.FinishAll(fleet.AssignTargets());
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n2"));
  fleet.Fail("n2");
  fleet.AssignTargets();
  ASSERT_TRUE(fleet.memory.halt);
  fleet.SetPolicy(R"({"pool": "worker", "waves": [{"nodes": 1}]})");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
}

TEST(WavedRollout, StaysHaltedWhenAnEditAddsAWaveWithoutNodes) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}]})", 4);
  fleet.pool.spec.max_unavailable = api::IntOrString{2};
  fleet.FinishAll(fleet.AssignTargets());
  ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n2"));
  fleet.Fail("n1");
  fleet.Finish("n2");
  fleet.AssignTargets();
  ASSERT_TRUE(fleet.memory.halt);
  fleet.SetPolicy(R"({"pool": "worker", "waves": [{"nodes": 1},
                      {"nodeSelector": {"matchLabels": {"canary": "yes"}}}]})");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
}

TEST(WavedRollout, KeepsTheNodesOfAWaveWhenOtherNodesJoin) {
  Fleet fleet(kCanary, 3);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.nodes.push_back(CreatedAt(NodeAt("a", kOld), -5));
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
}

TEST(WavedRollout, ChoosesAnotherNodeWhenTheCanaryIsDeleted) {
  Fleet fleet(kCanary, 3);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.nodes.erase(fleet.nodes.begin());
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

TEST(WavedRollout, NeverHasMoreNodesUnavailableThanTheWaveOrThePoolAllows) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 6, "maxUnavailable": 2}]})", 8);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0", "n1"));
  fleet.Finish("n0");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n2"));
  fleet.pool.spec.max_unavailable = api::IntOrString{1};
  fleet.Finish("n1");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.Finish("n2");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n3"));
}

TEST(WavedRollout, UpdatesNothingWhileThePoolIsPaused) {
  Fleet fleet(kCanary, 3);
  fleet.pool.spec.paused = true;
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Held");
  fleet.pool.spec.paused = false;
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
}

TEST(WavedRollout, UpdatesNodesThatJoinLaterAsPartOfTheLastWave) {
  Fleet fleet(kCanary, 1);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  fleet.now += minutes(10);
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Complete");
  fleet.SetReady("n0", false);  // A fault long after the rollout does not count.
  fleet.nodes.push_back(NodeAt("late", kOld));
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("late"));
  fleet.Finish("late");
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Complete");
}

TEST(WavedRollout, OfAPoolThatHasItsTargetIsCompleteWithoutAnyNews) {
  Fleet fleet(kCanary, 2);
  fleet.pool.spec.configuration.name = kOld;
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Complete");
  EXPECT_THAT(fleet.news, IsEmpty());
}

TEST(WavedRollout, PrefersNodesThatCanBeDrainedForAWave) {
  Fleet fleet(kCanary, 3);
  fleet.undrainable = {"n0"};
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

// It is found out only after the choice whether a node can be drained.
TEST(WavedRollout, ChoosesAnotherNodeForAWaveWhenTheChosenOneCannotBeDrained) {
  Fleet fleet(kCanary, 3);
  std::vector<std::string> assigned;
  ASSERT_TRUE(fleet.Step(assigned));
  ASSERT_THAT(fleet.memory.members, ElementsAre("n0"));
  fleet.undrainable = {"n0"};
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
  EXPECT_THAT(fleet.memory.members, ElementsAre("n1"));
  // A node that has the target stays in the wave.
  fleet.undrainable = {"n1"};
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_THAT(fleet.memory.members, ElementsAre("n1"));
}

TEST(WavedRollout, KeepsTheNodesOfAWaveIfNoOtherNodeCanBeDrained) {
  Fleet fleet(kCanary, 2);
  std::vector<std::string> assigned;
  ASSERT_TRUE(fleet.Step(assigned));
  fleet.undrainable = {"n0", "n1"};
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
}

// ---- order ----

TEST(WavedRollout, UpdatesOneFailureDomainAtATime) {
  Fleet fleet(R"({"pool": "worker", "order": {"label": "rack"}})", 5);
  const char* const racks[] = {"b", "a", "b", "a"};
  for (int i = 0; i < 4; ++i) fleet.nodes[static_cast<std::size_t>(i)].metadata.labels["rack"] = racks[i];
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n3"));
  fleet.Finish("n1");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.Finish("n3");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0", "n2"));
  fleet.FinishAll({"n0", "n2"});
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n4"));  // A node without the label comes last.
}

TEST(WavedRollout, DoesNotWaitForARackWithoutNodesThatCanBeUpdated) {
  Fleet fleet(R"({"pool": "worker", "order": {"label": "rack"}})", 2);
  fleet.nodes[0].metadata.labels["rack"] = "a";
  fleet.nodes[0].spec.unschedulable = true;
  fleet.nodes[1].metadata.labels["rack"] = "b";
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

// The unavailable node has the only place in maxUnavailable, so no node of the first rack can be updated before it.
TEST(WavedRollout, BeginsWithTheRackWhoseNodesCanBeUpdated) {
  Fleet fleet(R"({"pool": "worker", "order": {"label": "rack"}, "waves": [{"nodes": 2, "maxUnavailable": 1}]})", 2);
  fleet.nodes[0].metadata.labels["rack"] = "a";
  fleet.nodes[1].metadata.labels["rack"] = "b";
  fleet.SetReady("n1", false);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
  fleet.Finish("n1");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
}

// ---- approvals ----

TEST(WavedRollout, WaitsForTheApprovalOfEachWaveButTheFirst) {
  Fleet fleet(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}]})", 3);
  fleet.FinishAll(fleet.AssignTargets());
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingApproval");
  EXPECT_THAT(fleet.last.message, HasSubstr("kubectl pintle approve worker"));
  fleet.Order(api::kApproveAnnotation, "yes");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  // A number does not identify a wave.
  fleet.Order(api::kApproveAnnotation, R"({"target": "rendered-worker-new", "wave": 2, "by": "ann"})");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(DigestOfWave(fleet.policy, 0, kNew)));
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(DigestOfWave(fleet.policy, 1, "rendered-worker-other")));
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.last.wave_digest, DigestOfWave(fleet.policy, 1, kNew));
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(fleet.last.wave_digest));
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n2"));
  EXPECT_EQ(fleet.last.wave_digest, "");
  ASSERT_THAT(fleet.memory.approvals, SizeIs(1));
  EXPECT_EQ(fleet.memory.approvals[0].wave, 2);
  EXPECT_EQ(fleet.memory.approvals[0].by, "ann");
  EXPECT_EQ(fleet.memory.approvals[0].at->at, fleet.now);
  EXPECT_THAT(fleet.news, Contains("RolloutApproved"));
}

TEST(WavedRollout, DoesNotTakeTheApprovalOfAWaveForAWaveThatIsInsertedBeforeIt) {
  Fleet fleet(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}, {"nodes": 1, "soak": "1h"}]})", 4);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  ASSERT_EQ(fleet.Phase(), "AwaitingApproval");
  const std::string approved = fleet.last.wave_digest;
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(approved));
  fleet.SetPolicy(R"({"pool": "worker", "approve": "Manual",
                      "waves": [{"nodes": 1}, {"nodes": 2}, {"nodes": 1, "soak": "1h"}]})");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingApproval");
  EXPECT_EQ(fleet.last.wave, 2);
  EXPECT_NE(fleet.last.wave_digest, approved);
  EXPECT_EQ(fleet.memory.approvals.at(0).wave, 3) << "it is the third wave now";
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(fleet.last.wave_digest));
  const auto inserted = fleet.AssignTargets();
  EXPECT_THAT(inserted, ElementsAre("n1", "n2"));
  fleet.FinishAll(inserted);
  // The wave behind it keeps its approval.
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n3"));
}

TEST(WavedRollout, DoesNotTakeTheApprovalOfAWaveAfterAnEditOfTheWave) {
  Fleet fleet(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}, {"nodes": 1}]})", 5);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(fleet.last.wave_digest));
  fleet.SetPolicy(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}, {"nodes": "100%"}]})");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingApproval");
}

TEST(DigestOfWave, DiffersForEachWaveOfAPolicyAndForEachTarget) {
  const Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}, {"nodes": 1}, {"nodes": 1, "name": "x"}]})", 1);
  std::set<std::string> digests;
  for (std::size_t wave = 0; wave < 4; ++wave) {
    digests.insert(DigestOfWave(fleet.policy, wave, kNew));
    digests.insert(DigestOfWave(fleet.policy, wave, kOld));
  }
  EXPECT_THAT(digests, SizeIs(8));
}

TEST(WavedRollout, DoesNotTakeAnApprovalForALaterTarget) {
  Fleet fleet(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}]})", 3);
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(DigestOfWave(fleet.policy, 1, kNew)));
  fleet.FinishAll(fleet.AssignTargets());
  fleet.pool.spec.configuration.name = "rendered-worker-newer";
  fleet.FinishAll(fleet.AssignTargets());
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingApproval");
}

TEST(WavedRollout, DoesNotTakeAnApprovalForALaterRolloutOfTheSameTarget) {
  Fleet fleet(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}]})", 3);
  fleet.FinishAll(fleet.AssignTargets());
  const std::string digest = DigestOfWave(fleet.policy, 1, kNew);
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(digest));
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n2"));
  // The config is taken back.  That needs no approval, since only the canary has left the old one.
  fleet.pool.spec.configuration.name = kOld;
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Complete");
  fleet.pool.spec.configuration.name = kNew;
  fleet.FinishAll(fleet.AssignTargets());
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingApproval");
  // An order with another time counts as a new one.
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(digest, "later"));
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n2"));
}

TEST(WavedRollout, DoesNotTakeAnApprovalThatItHasSeenDuringTheRolloutOfAnotherTarget) {
  for (const bool is_created_again : {false, true}) {
    Fleet fleet(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}]})", 3);
    fleet.FinishAll(fleet.AssignTargets());
    fleet.AssignTargets();
    ASSERT_EQ(fleet.Phase(), "AwaitingApproval");
    // The order arrives at the same moment as another target.
    fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(fleet.last.wave_digest));
    fleet.pool.spec.configuration.name = kOld;
    if (is_created_again) fleet.memory = {};
    fleet.FinishAll(fleet.AssignTargets());
    fleet.AssignTargets();
    ASSERT_EQ(fleet.Phase(), "Complete");
    fleet.pool.spec.configuration.name = kNew;
    fleet.FinishAll(fleet.AssignTargets());
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty()) << is_created_again;
    EXPECT_EQ(fleet.Phase(), "AwaitingApproval") << is_created_again;
  }
}

TEST(WavedRollout, TakesAnOrderOnlyForTheRolloutThatTheOrderIsFor) {
  for (const bool is_for_this_one : {false, true}) {
    Fleet fleet(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}]})", 3);
    fleet.FinishAll(fleet.AssignTargets());
    fleet.AssignTargets();
    api::RolloutOrder order;
    order.target = kNew;
    order.wave_digest = fleet.last.wave_digest;
    order.began = fleet.memory.began;
    if (!is_for_this_one) order.began->at -= minutes(1);
    fleet.Order(api::kApproveAnnotation, json::ToText(json::Encode(order)));
    EXPECT_EQ(fleet.AssignTargets().empty(), !is_for_this_one);
    fleet.Fail("n1");
    fleet.Fail("n0");
    fleet.AssignTargets();
    ASSERT_TRUE(fleet.memory.halt);
    fleet.Order(api::kResumeAnnotation, json::ToText(json::Encode(order)));
    fleet.AssignTargets();
    EXPECT_EQ(fleet.memory.resumptions.empty(), !is_for_this_one);
  }
}

// ---- failures and halts ----

TEST(WavedRollout, HaltsWhenTheCanaryFailsAndGoesOnWhenTheConfigIsTakenBack) {
  Fleet fleet(kCanary, 4);
  fleet.AssignTargets();
  fleet.Fail("n0");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
  EXPECT_EQ(fleet.memory.halt->reason, "FailureThreshold");
  EXPECT_EQ(fleet.memory.halt->message, "1 node has failed with rendered-worker-new (n0), and the policy allows none");
  EXPECT_EQ(fleet.last.message,
            fleet.memory.halt->message +
                ".  Take the config back, or run `kubectl pintle resume worker` to go on in spite of this");
  fleet.now += hours(100);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.pool.spec.configuration.name = kOld;
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.Finish("n0");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.now += minutes(10);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Complete");
  EXPECT_THAT(fleet.news, Contains("RolloutHaltEnded"));
}

TEST(WavedRollout, TakesAConfigBackAtOnceThoughTheWindowIsClosed) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}, {"nodes": 1}],
                  "windows": [{"days": ["Mon"], "start": "11:00", "duration": "2h"}]})",
              4);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.Finish("n0");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
  // The first canary has the new config and breaks; the second one has not begun.
  fleet.SetReady("n0", false);
  fleet.AssignTargets();
  fleet.now += minutes(5);
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Halted");
  fleet.now += hours(5);
  fleet.pool.spec.configuration.name = kOld;
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0", "n1"));
}

TEST(WavedRollout, DoesNotTakeAHealthyNodeBackOutsideOfAWindow) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}],
                  "windows": [{"days": ["Mon"], "start": "11:00", "duration": "2h"}]})",
              4);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.now += hours(5);
  fleet.pool.spec.configuration.name = kOld;
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingWindow");
}

TEST(WavedRollout, EndsAHaltWhenTheNodeIsWellAgain) {
  Fleet fleet(kCanary, 2);
  fleet.AssignTargets();
  fleet.Fail("n0");
  fleet.AssignTargets();
  fleet.Finish("n0");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_FALSE(fleet.memory.halt);
  EXPECT_EQ(fleet.Phase(), "Soaking");
  fleet.now += minutes(10);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

TEST(WavedRollout, GoesOnWhenAPersonResumesIt) {
  Fleet fleet(kCanary, 3);
  fleet.AssignTargets();
  fleet.Fail("n0");
  fleet.AssignTargets();
  const std::string order = R"({"target": "rendered-worker-new", "by": "ann"})";
  fleet.Order(api::kResumeAnnotation, order);
  fleet.AssignTargets();
  EXPECT_FALSE(fleet.memory.halt);
  EXPECT_EQ(fleet.memory.resumptions.at(0).by, "ann");
  EXPECT_THAT(fleet.memory.resumptions.at(0).nodes, ElementsAre("n0"));
  fleet.now += minutes(10);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n2"));
  // The order has acted; it does not end the next halt.
  fleet.Fail("n1");
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Halted");
}

TEST(WavedRollout, ToleratesAsManyFailuresAsTheWaveAllows) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 4, "failureThreshold": "25%"}]})", 6);
  EXPECT_THAT(fleet.AssignTargets(), SizeIs(4));
  fleet.Fail("n0");
  fleet.FinishAll({"n1", "n2"});
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Updating");
  fleet.Finish("n3");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n4", "n5"));  // The next wave counts its own failures.
}

TEST(WavedRollout, HaltsWhenANodeTakesTooLong) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1, "nodeTimeout": "20min"}]})", 2);
  fleet.AssignTargets();
  fleet.SetReady("n0", false);
  fleet.now += minutes(20) - std::chrono::seconds(1);
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Updating");
  EXPECT_EQ(fleet.last.decide_again_at, fleet.now + std::chrono::seconds(1));
  fleet.now += std::chrono::seconds(1);
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Halted");
}

TEST(WavedRollout, GivesANodeItsTimeFromItsUpdateAndNotFromAnEarlierRecordOfTheUpdate) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1, "nodeTimeout": "5min"}]})", 2);
  std::vector<std::string> assigned;
  EXPECT_TRUE(fleet.Step(assigned));
  EXPECT_TRUE(fleet.memory.assigned_at.contains("n0"));
  // No node is updated for a while, for instance because it is unknown whether another one was.
  fleet.now += minutes(6);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  EXPECT_EQ(fleet.Phase(), "Updating");
}

TEST(WavedRollout, DoesNotCountFaultsFromBeforeTheUpdate) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 3}]})", 5);
  fleet.SetReady("n0", false);
  fleet.Named("n1").metadata.annotations[std::string(api::kStateAnnotation)] = api::kStateDegraded;
  fleet.Named("n2").spec.unschedulable = true;
  const auto assigned = fleet.AssignTargets();
  EXPECT_THAT(assigned, ElementsAre("n1", "n3", "n4"));
  fleet.Fail("n1");
  fleet.FinishAll({"n3", "n4"});
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  EXPECT_NE(fleet.Phase(), "Halted");
  // The old fault ends, and the next one counts.
  fleet.Finish("n1");
  fleet.AssignTargets();
  fleet.Fail("n1");
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Halted");
}

TEST(WavedRollout, DoesNotCountANodeThatSomebodyCordons) {
  Fleet fleet(kCanary, 2);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.Named("n0").spec.unschedulable = true;
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Soaking");
}

TEST(WavedRollout, DoesNotCountAMachineThatJoinsWithTheTargetBeforeItIsReady) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}, {"nodes": 1}]})", 4);
  fleet.FinishAll(fleet.AssignTargets());
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
  // n9 was installed with the target, and its network is not ready yet.
  fleet.now += minutes(1);
  fleet.nodes.push_back(NotReady(NodeAt("n9", kNew)));
  fleet.nodes.back().metadata.creation_timestamp = api::Time{fleet.now};
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Updating");
  fleet.Finish("n9");
  fleet.AssignTargets();
  // Later, it counts as any other node.
  fleet.FinishAll({"n1"});
  fleet.now += hours(1);
  fleet.SetReady("n9", false);
  fleet.AssignTargets();
  fleet.now += minutes(5);
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Halted");
}

TEST(WavedRollout, StaysHaltedWhenItsPolicyIsCreatedAgain) {
  Fleet fleet(kCanary, 4);
  fleet.AssignTargets();
  fleet.Fail("n0");
  fleet.AssignTargets();
  ASSERT_TRUE(fleet.memory.halt);
  fleet.memory = {};
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
}

TEST(WavedRollout, WaitsForTheCanaryWhenItsPolicyIsCreatedAgain) {
  for (const char* const canary : {R"("nodes": 1)", R"("nodeSelector": {"matchLabels": {"canary": ""}})"}) {
    Fleet fleet(R"({"pool": "worker", "waves": [{"name": "canary", )" + std::string(canary) + "}]}", 4);
    fleet.Named("n0").metadata.labels["canary"] = "";
    ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n0")) << canary;
    fleet.memory = {};
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty()) << canary;
    fleet.Fail("n0");
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty()) << canary;
    EXPECT_EQ(fleet.Phase(), "Halted") << canary;
    fleet.Finish("n0");
    EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n2", "n3")) << canary;
  }
}

TEST(WavedRollout, TakesAConfigBackAtOnceFromNodesWhoseFailuresWereExcused) {
  for (const bool is_resumed : {false, true}) {
    Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1, "failureThreshold": )" +
                    std::string(is_resumed ? "0" : "1") + R"(}, {"nodes": 1, "soak": "2h"}],
                    "windows": [{"days": ["Mon"], "start": "11:00", "duration": "2h"}]})",
                4);
    ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
    fleet.Finish("n0");
    fleet.SetReady("n0", false);
    auto assigned = fleet.AssignTargets();
    fleet.now += minutes(30);
    for (const std::string& name : fleet.AssignTargets()) assigned.push_back(name);
    if (is_resumed) {
      ASSERT_TRUE(fleet.memory.halt);
      fleet.Order(api::kResumeAnnotation, R"({"target": "rendered-worker-new", "by": "ann"})");
      assigned = fleet.AssignTargets();
    }
    ASSERT_THAT(assigned, ElementsAre("n1")) << "the wave of n0 has ended";
    fleet.Finish("n1");
    fleet.AssignTargets();
    fleet.now += hours(5);
    fleet.pool.spec.configuration.name = kOld;
    EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0")) << is_resumed;
  }
}

TEST(WavedRollout, TakesAConfigBackAtOnceFromANodeThatFailedBeforeTheRolloutEnded) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"failureThreshold": 1}],
                  "windows": [{"days": ["Mon"], "start": "11:00", "duration": "2h"}]})",
              2);
  ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n0", "n1"));
  fleet.FinishAll({"n0", "n1"});
  fleet.SetReady("n0", false);
  fleet.AssignTargets();
  fleet.now += minutes(30);
  fleet.AssignTargets();
  ASSERT_EQ(fleet.Phase(), "Complete");
  fleet.now += hours(5);
  fleet.pool.spec.configuration.name = kOld;
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
}

TEST(WavedRollout, GivesANodeTimeToBecomeReadyAfterItsUpdate) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 2, "maxUnavailable": 1, "soak": "10min"}]})", 4);
  ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.Finish("n0");
  fleet.SetReady("n0", false);
  // The node is not ready yet, so it keeps its place, and the wave does not soak.
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Updating");
  EXPECT_EQ(fleet.last.decide_again_at, fleet.now + minutes(5));
  fleet.now += std::chrono::seconds(25);
  fleet.SetReady("n0", true);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
  fleet.Finish("n1");
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Soaking");
  // A later pause of the kubelet begins the soak again, and halts nothing.
  fleet.now += minutes(9);
  fleet.SetReady("n0", false);
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Updating");
  fleet.now += minutes(4);
  fleet.SetReady("n0", true);
  fleet.AssignTargets();
  EXPECT_EQ(fleet.Phase(), "Soaking");
  EXPECT_THAT(fleet.news, Not(Contains("RolloutHalted")));
}

TEST(WavedRollout, HaltsWhenANodeIsNotReadyForLongerThanItsWaveAllows) {
  struct Case {
    const char* fields;
    std::chrono::seconds allowed;
  };
  const std::vector<Case> cases = {
      {"", minutes(5)},
      {R"(, "readyTimeout": "20min")", minutes(20)},
      {R"(, "nodeTimeout": "2min")", minutes(2)},
      {R"(, "nodeTimeout": "30min", "readyTimeout": "2h")", minutes(30)},
  };
  for (const Case& row : cases) {
    Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1)" + std::string(row.fields) + "}]}", 2);
    fleet.AssignTargets();
    fleet.Finish("n0");
    fleet.SetReady("n0", false);
    fleet.AssignTargets();
    fleet.now += row.allowed - std::chrono::seconds(1);
    fleet.AssignTargets();
    EXPECT_EQ(fleet.Phase(), "Updating") << row.fields;
    EXPECT_EQ(fleet.last.decide_again_at, fleet.now + std::chrono::seconds(1)) << row.fields;
    fleet.now += std::chrono::seconds(1);
    fleet.AssignTargets();
    EXPECT_EQ(fleet.Phase(), "Halted") << row.fields;
    fleet.SetReady("n0", true);
    EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1")) << row.fields;
  }
}

TEST(WavedRollout, StaysHaltedByANodeUntilItIsWellThoughTheClockIsPutBack) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 2, "maxUnavailable": 1}]})", 3);
  ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.pool.spec.max_unavailable = api::IntOrString{100};
  fleet.now += minutes(65);
  fleet.AssignTargets();
  ASSERT_EQ(fleet.Phase(), "Halted");
  fleet.now -= minutes(30);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
  EXPECT_THAT(fleet.news, Not(Contains("RolloutHaltEnded")));
  fleet.Finish("n0");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

// Earlier controllers did not record which nodes had failed.
TEST(WavedRollout, KeepsAHaltThatAnEarlierControllerHasRecorded) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 2, "maxUnavailable": 1}]})", 3);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.SetReady("n0", false);
  fleet.memory.halt = api::RolloutHalt{
      .reason = "FailureThreshold", .gate = "", .message = "1 node has failed", .since = api::Time{fleet.now}};
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
  EXPECT_THAT(fleet.news, Not(Contains("RolloutHaltEnded")));
  fleet.SetReady("n0", true);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

TEST(WavedRollout, AppliesAPercentageOfFailuresToTheNodesThatAWaveWillHave) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1, "failureThreshold": 3},
                  {"nodeSelector": {"matchLabels": {"canary": "yes"}}, "failureThreshold": "50%"}]})",
              20);
  for (const char* name : {"n7", "n8", "n9"}) fleet.Named(name).metadata.labels["canary"] = "yes";
  fleet.FinishAll(fleet.AssignTargets());
  std::vector<std::string> assigned;
  while (fleet.memory.wave_index == 0) fleet.Step(assigned);
  ASSERT_THAT(assigned, IsEmpty());
  fleet.memory.has_begun = false;  // As if the wave had waited for an approval.
  fleet.memory.members.clear();
  fleet.news.clear();
  for (const char* name : {"n1", "n2"}) {
    fleet.Named(name) = NodeBetween(name, kOld, kNew, api::kStateDegraded);
  }
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
  EXPECT_THAT(fleet.news, ElementsAre("RolloutHalted"));
}

TEST(WavedRollout, RemembersOnlyTheLatestResumptionsAndAFewNodesOfEach) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"failureThreshold": 0}]})", 90);
  const auto assigned = fleet.AssignTargets();
  for (int i = 0; i < 40; ++i) {
    for (const std::string& name : assigned) fleet.Finish(name);
    fleet.Named("n0").metadata.annotations[std::string(api::kDesiredConfigAnnotation)] = kOld;
    fleet.Named("n0").metadata.annotations[std::string(api::kCurrentConfigAnnotation)] = kOld;
    fleet.AssignTargets();
    for (const std::string& name : assigned) fleet.Fail(name);
    fleet.AssignTargets();
    ASSERT_TRUE(fleet.memory.halt) << i;
    fleet.Order(api::kResumeAnnotation,
                R"({"target": "rendered-worker-new", "by": "ann )" + std::to_string(i) + R"("})");
    fleet.AssignTargets();
  }
  EXPECT_EQ(fleet.memory.resumptions.back().by, "ann 39");
  EXPECT_LE(fleet.memory.resumptions.size(), 20U);
  for (const api::RolloutResumption& resumption : fleet.memory.resumptions) {
    EXPECT_LE(resumption.nodes.size(), 50U);
  }
}

TEST(WavedRollout, AllowsNoFailuresAmongNodesThatNoWaveNames) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1, "failureThreshold": "100%"}]})", 4);
  fleet.pool.spec.max_unavailable = api::IntOrString{2};
  fleet.FinishAll(fleet.AssignTargets());
  ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n2"));
  fleet.Fail("n1");
  fleet.Finish("n2");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
}

// Nodes that are on their way to a config can complete that change, and nobody knows whether the next config is good.
TEST(WavedRollout, DoesNotGiveAThirdConfigAtOnceToNodesThatAreBeingUpdated) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}],
                  "windows": [{"days": ["Mon"], "start": "11:00", "duration": "2h"}]})",
              5);
  fleet.FinishAll(fleet.AssignTargets());
  ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n2", "n3", "n4"));
  fleet.pool.spec.configuration.name = "rendered-worker-newer";
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0")) << "it is the canary";
  fleet.now += hours(5);
  fleet.Finish("n0");
  fleet.FinishAll({"n2", "n3"});
  // The window is closed.  One node is late, and one has failed.
  fleet.Fail("n1");
  fleet.SetReady("n1", false);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1", "n4"));
}

TEST(WavedRollout, AlsoWaitsForANodeThatIsOnTheWayToAnotherImage) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}]})", 3);
  auto& annotations = fleet.Named("n1").metadata.annotations;
  annotations[std::string(api::kCurrentImageAnnotation)] = "a";
  annotations[std::string(api::kDesiredImageAnnotation)] = "b";
  annotations[std::string(api::kStateAnnotation)] = api::kStateWorking;
  fleet.AssignTargets();
  EXPECT_THAT(fleet.memory.unfinished, ElementsAre("n1"));
}

TEST(WavedRollout, WithoutWavesNeverHalts) {
  Fleet fleet(R"({"pool": "worker"})", 3);
  fleet.pool.spec.max_unavailable = api::IntOrString{2};
  fleet.AssignTargets();
  fleet.Fail("n0");
  fleet.Finish("n1");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n2"));
}

// ---- windows ----

TEST(WavedRollout, UpdatesNodesWithinWindowsOnly) {
  Fleet fleet(R"({"pool": "worker", "windows": [{"days": ["Mon"], "start": "22:00", "duration": "1h"}]})", 3);
  fleet.pool.spec.max_unavailable = api::IntOrString{1};
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingWindow");
  EXPECT_THAT(fleet.last.message,
              HasSubstr("no maintenance window is open; the next one begins at 2027-01-04T22:00:00Z"));
  EXPECT_EQ(fleet.last.decide_again_at, fleet.now + hours(10));
  fleet.now += hours(10);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.Finish("n0");
  fleet.now += minutes(59);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
  // A change that is under way at the end of the window ends.
  fleet.now += minutes(1);
  fleet.Finish("n1");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingWindow");
}

TEST(WavedRollout, MayMakeChangesThatDisruptNothingAtAnyTime) {
  Fleet fleet(R"({"pool": "worker", "windowScope": "DisruptiveChanges",
                  "windows": [{"days": ["Mon"], "start": "22:00", "duration": "1h"}]})",
              3);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.undisruptive = {"n1"};
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

TEST(WavedRollout, AwaitsAWindowWhenANodeGetsAnotherImage) {
  Fleet fleet(R"({"pool": "worker", "windowScope": "DisruptiveChanges",
                  "windows": [{"days": ["Mon"], "start": "22:00", "duration": "1h"}]})",
              2);
  // The config alone would disrupt nothing, but the node has to leave its image and reboot.
  for (const auto image : {api::kCurrentImageAnnotation, api::kDesiredImageAnnotation}) {
    fleet.Named("n1").metadata.annotations[std::string(image)] = "registry/os@sha256:1";
  }
  fleet.undisruptive = {"n1"};
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingWindow");
}

TEST(WavedRollout, UpdatesNothingDuringAFreeze) {
  Fleet fleet(R"({"pool": "worker", "windowScope": "DisruptiveChanges", "freeze": {"until": "2027-01-07",
                  "reason": "holidays"}})",
              2);
  fleet.undisruptive = {"n0"};
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Frozen");
  EXPECT_THAT(fleet.last.message,
              HasSubstr("the policy's freeze (holidays) forbids updates now; they can begin at 2027-01-07T"));
  fleet.now += hours(60);
  EXPECT_THAT(fleet.AssignTargets(), SizeIs(2));
}

constexpr const char* kForAnEarlierRollout =
    "the override was for an earlier rollout; to override the windows for this one, run "
    "`kubectl pintle override worker --reason=TEXT`";

constexpr const char* kFrozenCanary =
    R"({"pool": "worker", "waves": [{"nodes": 1}], "freeze": {"until": "2027-01-07"}})";

TEST(WavedRollout, DisregardsAFreezeForOneTargetIfAnAdministratorOverridesIt) {
  Fleet fleet(kFrozenCanary, 2);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf(kNew));
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));  // The waves still hold.
  EXPECT_THAT(fleet.news, Contains("RolloutOverridden"));
  EXPECT_EQ(fleet.memory.override_used->reason, "CVE-2027-1");
  EXPECT_EQ(fleet.memory.override_used->by, "ann");
  EXPECT_EQ(fleet.memory.override_used->target, kNew);
  EXPECT_EQ(fleet.memory.override_used->at->at, fleet.now);
  fleet.Finish("n0");
  fleet.pool.spec.configuration.name = "rendered-worker-newer";
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_TRUE(fleet.memory.override_used->withdrawn);
  EXPECT_THAT(fleet.last.message,
              HasSubstr("the override was for rendered-worker-new; to override the windows for the present "
                        "config, run `kubectl pintle override worker --reason=TEXT`"));
  fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf("rendered-worker-newer"));
  EXPECT_THAT(fleet.AssignTargets(), SizeIs(1));
}

TEST(WavedRollout, DisregardsWindowsForOneTargetIfAnAdministratorOverridesThem) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 1}],
                  "windows": [{"days": ["Mon"], "start": "22:00", "duration": "1h"}]})",
              2);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingWindow");
  fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf(kNew));
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.Finish("n0");
  fleet.pool.spec.configuration.name = "rendered-worker-newer";
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingWindow");
}

TEST(WavedRollout, DoesNotTakeALeftOverOverrideForALaterRolloutOfTheSameTarget) {
  Fleet fleet(kFrozenCanary, 2);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf(kNew));
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  // The config is taken back, which needs no window, and is rolled out again.
  fleet.pool.spec.configuration.name = kOld;
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  ASSERT_EQ(fleet.Phase(), "Complete");
  fleet.now += hours(1);
  fleet.pool.spec.configuration.name = kNew;
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Frozen");
  EXPECT_THAT(fleet.last.message, HasSubstr(kForAnEarlierRollout));
  fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf(kNew, "later"));
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
}

TEST(WavedRollout, DoesNotTakeALeftOverOverrideWhenItsMemoryIsLost) {
  for (const bool is_bound : {true, false}) {
    Fleet fleet(kFrozenCanary, 2);
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
    if (!is_bound) fleet.memory.began.reset();
    fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf(kNew));
    fleet.now += minutes(1);
    // The policy is deleted and created again.
    fleet.memory = {};
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty()) << is_bound;
    EXPECT_EQ(fleet.Phase(), "Frozen") << is_bound;
    EXPECT_THAT(fleet.last.message, HasSubstr(kForAnEarlierRollout)) << is_bound;
    fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf(kNew));
    EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0")) << is_bound;
  }
}

TEST(WavedRollout, DoesNotTakeAnOverrideThatItReadsAfterTheRolloutOfTheOrder) {
  for (const bool is_bound : {true, false}) {
    Fleet fleet(kFrozenCanary, 2);
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
    if (!is_bound) fleet.memory.began.reset();
    // No controller runs until the config is taken back.
    fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf(kNew));
    fleet.pool.spec.configuration.name = kOld;
    fleet.AssignTargets();
    ASSERT_EQ(fleet.Phase(), "Complete");
    fleet.now += hours(1);
    fleet.pool.spec.configuration.name = kNew;
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty()) << is_bound;
    EXPECT_EQ(fleet.Phase(), "Frozen") << is_bound;
    EXPECT_THAT(fleet.last.message, HasSubstr(kForAnEarlierRollout)) << is_bound;
    EXPECT_THAT(fleet.news, Not(Contains("RolloutOverridden"))) << is_bound;
  }
}

TEST(WavedRollout, TakesAnOverrideThatNamesNoRolloutForTheOneInWhichItIsReadFirst) {
  Fleet fleet(kFrozenCanary, 2);
  fleet.AssignTargets();
  fleet.Order(api::kOverrideAnnotation, R"({"target": "rendered-worker-new", "reason": "CVE-2027-1", "by": "ann"})");
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
}

TEST(WavedRollout, KeepsAnOverrideWhenTheClockIsPutBack) {
  Fleet fleet(kFrozenCanary, 2);
  fleet.AssignTargets();
  fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf(kNew));
  fleet.FinishAll(fleet.AssignTargets());
  fleet.now -= hours(2);  // From now on, the rollout counts as begun later than the order has it.
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

TEST(WavedRollout, TakesNoOrderThatIsOlderThanItsMemory) {
  Fleet fleet(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}]})", 3);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  fleet.Order(api::kApproveAnnotation, fleet.ApprovalOf(fleet.last.wave_digest));
  fleet.memory = {};
  fleet.FinishAll(fleet.AssignTargets());
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingApproval");
}

TEST(WavedRollout, ReportsAnOverrideThatIsNoOrder) {
  Fleet fleet(kFrozenCanary, 2);
  for (const char* text : {"CVE-2027-1", R"({"target": "rendered-worker-new"})", "{}"}) {
    fleet.Order(api::kOverrideAnnotation, text);
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty()) << text;
    EXPECT_THAT(fleet.last.message,
                HasSubstr("is not an order; write it by `kubectl pintle override worker --reason=TEXT`"))
        << text;
  }
}

TEST(WavedRollout, EndsAnOverrideThatIsWithdrawn) {
  Fleet fleet(kFrozenCanary, 2);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.Order(api::kOverrideAnnotation, fleet.OverrideOf(kNew));
  fleet.FinishAll(fleet.AssignTargets());
  fleet.pool.metadata.annotations.clear();
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.memory.override_used->withdrawn->at, fleet.now);
  EXPECT_EQ(fleet.Phase(), "Frozen");
}

// ---- gates ----

std::string WithGate(const std::string& gate) {
  return R"({"pool": "worker", "waves": [{"nodes": 2}], "gates": [{"name": "g", )" + gate + "}]}";
}

TEST(WavedRollout, UpdatesANodeWhenItsConditionIsMet) {
  Fleet fleet(WithGate(R"("when": "Before", "nodeCondition": {"type": "BackupDone"})"), 3);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingGate");
  fleet.Named("n1").status.conditions.push_back({.type = "BackupDone", .status = "True"});
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
  fleet.Named("n0").status.conditions.push_back({.type = "BackupDone", .status = "False"});
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
}

TEST(WavedRollout, EndsAWaveWhenTheAnnotationsOfItsNodesAreThere) {
  Fleet fleet(WithGate(R"("when": "After", "nodeAnnotation": {"key": "pintle.io/gate-tested", "value": "yes"})"), 3);
  fleet.FinishAll(fleet.AssignTargets());
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingGate");
  fleet.Named("n0").metadata.annotations["pintle.io/gate-tested"] = "yes";
  fleet.Named("n1").metadata.annotations["pintle.io/gate-tested"] = "no";
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.Named("n1").metadata.annotations["pintle.io/gate-tested"] = "yes";
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n2"));
}

TEST(WavedRollout, AwaitsTheResultsOfQueries) {
  Fleet fleet(WithGate(R"("when": "Before", "prometheus": {"url": "http://p", "query": "ALERTS"})"), 3);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_THAT(fleet.last.message, HasSubstr("there is no result yet"));
  fleet.results["g"] = {.is_met = false, .message = "1 alert fires"};
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_THAT(fleet.last.message, HasSubstr("1 alert fires"));
  fleet.now += hours(1000);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_FALSE(fleet.memory.halt);
  fleet.results["g"] = {.is_met = true, .message = ""};
  EXPECT_THAT(fleet.AssignTargets(), SizeIs(2));
}

TEST(WavedRollout, EndsAWaveOnlyByAResultFromAfterItsNodesAreWell) {
  Fleet fleet(WithGate(R"("when": "After", "prometheus": {"url": "http://p", "query": "ALERTS"})"), 3);
  const auto assigned = fleet.AssignTargets();
  fleet.results["g"] = {.is_met = true, .message = "", .asked = fleet.now};
  fleet.now += std::chrono::seconds(10);
  fleet.FinishAll(assigned);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "AwaitingGate");
  fleet.now += std::chrono::seconds(20);
  fleet.results["g"].asked = fleet.now;
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n2"));
}

TEST(WavedRollout, HaltsAfterTheTimeoutOfAGateUntilTheGateIsMet) {
  for (const char* const when : {"Before", "After"}) {
    Fleet fleet(WithGate(std::string(R"("when": ")") + when +
                         R"(", "http": {"url": "http://p"}, "timeout": "1h", "onTimeout": "Halt")"),
                3);
    fleet.FinishAll(fleet.AssignTargets());
    fleet.AssignTargets();
    fleet.now += minutes(59);
    fleet.AssignTargets();
    EXPECT_EQ(fleet.Phase(), "AwaitingGate") << when;
    EXPECT_EQ(fleet.last.decide_again_at, fleet.now + minutes(1)) << when;
    fleet.now += minutes(1);
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
    EXPECT_EQ(fleet.Phase(), "Halted") << when;
    EXPECT_EQ(fleet.memory.halt->reason, "Gate");
    EXPECT_EQ(fleet.memory.halt->message,
              "gate g is not met: there is no result yet; the gate's timeout of 1 hour has passed");
    fleet.results["g"] = {.is_met = true, .message = ""};
    EXPECT_THAT(fleet.AssignTargets(), Not(IsEmpty())) << when;
    EXPECT_FALSE(fleet.memory.halt) << when;
  }
}

constexpr const char* kNightlyGate = R"({"pool": "worker", "waves": [{"nodes": 1}],
    "windows": [{"start": "22:00", "duration": "4h"}],
    "gates": [{"name": "g", "when": "Before", "http": {"url": "http://p"}, "timeout": ")";

TEST(WavedRollout, StaysHaltedByAGateWhileItsWindowIsClosed) {
  Fleet fleet(std::string(kNightlyGate) + R"(30min", "onTimeout": "Halt"}]})", 3);
  fleet.now += hours(10);
  fleet.AssignTargets();
  fleet.now += minutes(30);
  fleet.AssignTargets();
  ASSERT_TRUE(fleet.memory.halt);
  const auto halt = fleet.memory.halt;
  fleet.now += hours(4);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
  fleet.now += hours(20);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Halted");
  EXPECT_TRUE(json::Equal(fleet.memory.halt, halt));
  EXPECT_THAT(fleet.news, Not(Contains("RolloutHaltEnded")));
  fleet.results["g"] = {.is_met = true, .message = ""};
  EXPECT_THAT(fleet.AssignTargets(), SizeIs(1));
  EXPECT_FALSE(fleet.memory.halt);
}

TEST(WavedRollout, StaysHaltedByAGateAfterAWaveWhileANodeIsNotWell) {
  Fleet fleet(WithGate(R"("when": "After", "http": {"url": "http://p"}, "timeout": "1h", "onTimeout": "Halt")"), 3);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  fleet.now += hours(1);
  fleet.AssignTargets();
  ASSERT_TRUE(fleet.memory.halt);
  const auto halt = fleet.memory.halt;
  fleet.SetReady("n0", false);
  fleet.AssignTargets();
  EXPECT_TRUE(json::Equal(fleet.memory.halt, halt));
  fleet.SetReady("n0", true);
  fleet.now += minutes(1);
  fleet.AssignTargets();
  EXPECT_TRUE(json::Equal(fleet.memory.halt, halt));
  EXPECT_THAT(fleet.news, Not(Contains("RolloutHaltEnded")));
}

TEST(WavedRollout, IsNotHaltedByAGateThatNobodyHasCheckedAgain) {
  Fleet fleet(WithGate(R"("when": "After", "http": {"url": "http://p"}, "timeout": "10min", "onTimeout": "Halt")"), 3);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  ASSERT_EQ(fleet.Phase(), "AwaitingGate");
  // No controller runs for some time.  In this time, the alert ends, and a node of the wave becomes unready.
  fleet.now += minutes(20);
  fleet.SetReady("n0", false);
  fleet.AssignTargets();
  EXPECT_FALSE(fleet.memory.halt);
  fleet.SetReady("n0", true);
  fleet.results["g"].is_met = true;
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n2"));
  EXPECT_THAT(fleet.news, Not(Contains("RolloutHalted")));
}

TEST(WavedRollout, KeepsTheTimeoutsOfGatesWhenAPersonResumesAfterFailures) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 3, "maxUnavailable": 1}], "gates": [{"name": "g",
      "when": "Before", "nodeCondition": {"type": "Fit"}, "timeout": "1h", "onTimeout": "Continue"}]})",
              3);
  fleet.Named("n0").status.conditions.push_back({.type = "Fit", .status = "True"});
  ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.FinishAll({"n0"});
  fleet.AssignTargets();
  fleet.now += minutes(50);
  fleet.AssignTargets();
  fleet.Fail("n0");
  fleet.AssignTargets();
  ASSERT_EQ(fleet.Phase(), "Halted");
  fleet.Order(api::kResumeAnnotation, R"({"target": "rendered-worker-new", "by": "ann"})");
  fleet.AssignTargets();
  fleet.Finish("n0");
  fleet.AssignTargets();
  fleet.now += minutes(10);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

TEST(WavedRollout, CountsTheTimeInAllWindowsTowardsTheTimeoutOfAGate) {
  Fleet fleet(std::string(kNightlyGate) + R"(6h", "onTimeout": "Continue"}]})", 3);
  fleet.now += hours(10);
  fleet.AssignTargets();
  fleet.now += hours(4);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.now += hours(20);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.last.decide_again_at, fleet.now + hours(2));
  fleet.now += hours(2) - std::chrono::seconds(1);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.now += std::chrono::seconds(1);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
}

TEST(WavedRollout, CountsTheTimeoutOfAGateOnlyWhileItsNodeCouldBeUpdated) {
  Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 3, "maxUnavailable": 1}], "gates": [{"name": "g",
      "when": "Before", "nodeCondition": {"type": "Fit"}, "timeout": "1h", "onTimeout": "Continue"}]})",
              3);
  fleet.Named("n0").status.conditions.push_back({.type = "Fit", .status = "True"});
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.now += minutes(50);
  fleet.AssignTargets();
  fleet.Finish("n0");
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty()) << "the turn of n1 has only just come";
  fleet.now += minutes(40);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.pool.spec.paused = true;
  fleet.AssignTargets();
  fleet.now += hours(3);
  fleet.AssignTargets();
  fleet.pool.spec.paused = false;
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.now += minutes(20);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

TEST(WavedRollout, ContinuesAfterTheTimeoutOfAGateIfThePolicySaysSo) {
  for (const char* const when : {"Before", "After"}) {
    Fleet fleet(WithGate(std::string(R"("when": ")") + when +
                         R"(", "nodeCondition": {"type": "Fit"}, "timeout": "1h", "onTimeout": "Continue")"),
                3);
    fleet.FinishAll(fleet.AssignTargets());
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
    EXPECT_THAT(fleet.last.message, HasSubstr("gate g is not met by node n0: its condition Fit has to be True"));
    fleet.now += hours(1);
    EXPECT_THAT(fleet.AssignTargets(), Not(IsEmpty())) << when;
  }
}

// The status has no room for the names of so many nodes.
TEST(WavedRollout, KeepsTheTimeoutsOfGatesForAllNodesOfALargePool) {
  for (const char* const on_timeout : {"Continue", "Halt"}) {
    Fleet fleet(R"({"pool": "worker", "gates": [{"name": "g", "when": "Before", "nodeCondition": {"type": "Fit"},
        "timeout": "1h", "onTimeout": ")" +
                    std::string(on_timeout) + R"("}]})",
                80);
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
    EXPECT_THAT(fleet.memory.blocked, SizeIs(50));
    ASSERT_THAT(fleet.memory.blocked_more, SizeIs(1));
    EXPECT_EQ(fleet.memory.blocked_more[0].nodes, 30);
    // The nodes that the status names leave the pool, so the others alone are left.
    std::erase_if(fleet.nodes,
                  [&](const api::Node& node) { return fleet.memory.blocked.contains("g/" + node.metadata.name); });
    fleet.now += minutes(59);
    EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
    EXPECT_EQ(fleet.Phase(), "AwaitingGate");
    fleet.now += minutes(1);
    if (std::string(on_timeout) == "Continue") {
      EXPECT_THAT(fleet.AssignTargets(), SizeIs(30));
    } else {
      EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
      EXPECT_EQ(fleet.Phase(), "Halted");
    }
  }
}

TEST(WavedRollout, PassesAGateForTheRestOfTheWaveWhenAPersonResumes) {
  for (const char* const when : {"Before", "After"}) {
    Fleet fleet(R"({"pool": "worker", "waves": [{"nodes": 2, "maxUnavailable": 1}, {"nodes": 1}], "gates": [
        {"name": "g", "when": ")" +
                    std::string(when) + R"(", "http": {"url": "http://p"}, "timeout": "1h", "onTimeout": "Halt"}]})",
                4);
    for (int i = 0; i < 3; ++i) fleet.FinishAll(fleet.AssignTargets());
    fleet.now += hours(1);
    fleet.AssignTargets();
    ASSERT_TRUE(fleet.memory.halt) << when;
    fleet.Order(api::kResumeAnnotation, R"({"target": "rendered-worker-new", "by": "ann"})");
    std::vector<std::string> assigned;
    for (int i = 0; i < 5; ++i) {
      const auto next = fleet.AssignTargets();
      assigned.insert(assigned.end(), next.begin(), next.end());
      fleet.FinishAll(next);
      fleet.now += minutes(1);
    }
    EXPECT_FALSE(fleet.memory.halt) << when;
    // The gate holds again for the next wave.
    const std::vector<std::string> passed =
        std::string(when) == "Before" ? std::vector<std::string>{"n0", "n1"} : std::vector<std::string>{"n2"};
    EXPECT_EQ(assigned, passed) << when;
    EXPECT_EQ(fleet.Phase(), "AwaitingGate") << when;
    fleet.now += hours(1);
    fleet.AssignTargets();
    EXPECT_TRUE(fleet.memory.halt) << when;
  }
}

// ---- staging ----

TEST(WavedRollout, UpdatesNoNodeBeforeAllHaveStaged) {
  Fleet fleet(R"({"pool": "worker", "stage": "All", "waves": [{"nodes": 1}]})", 3);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.Phase(), "Staging");
  for (const char* name : {"n0", "n1"}) {
    fleet.Named(name).metadata.annotations[std::string(api::kStagedAnnotation)] = kNew;
  }
  fleet.Named("n2").metadata.annotations[std::string(api::kStagedAnnotation)] = kOld;
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_THAT(fleet.last.message, HasSubstr("1 node has not staged rendered-worker-new yet: n2"));
  fleet.Named("n2").metadata.annotations[std::string(api::kUnstageableAnnotation)] = "no space left";
  fleet.AssignTargets();
  EXPECT_THAT(fleet.last.message, HasSubstr("node n2 cannot stage rendered-worker-new: no space left"));
  fleet.Named("n2").metadata.annotations.erase(std::string(api::kUnstageableAnnotation));
  fleet.Named("n2").metadata.annotations[std::string(api::kStagedAnnotation)] = kNew;
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
}

TEST(WavedRollout, DoesNotWaitForTheStagingOfANodeThatAnEarlierTargetHasBroken) {
  Fleet fleet(R"({"pool": "worker", "stage": "All", "waves": [{"nodes": 1}]})", 2);
  for (const char* name : {"n0", "n1"}) {
    fleet.Named(name).metadata.annotations[std::string(api::kStagedAnnotation)] = kNew;
  }
  ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.Fail("n0");
  fleet.AssignTargets();
  fleet.pool.spec.configuration.name = "rendered-worker-newer";
  for (const char* name : {"n0", "n1"}) {
    fleet.Named(name).metadata.annotations.erase(std::string(api::kStagedAnnotation));
  }
  fleet.Named("n0").metadata.annotations[std::string(api::kUnstageableAnnotation)] = "this node is Degraded";
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_THAT(fleet.last.message, HasSubstr("1 node has not staged rendered-worker-newer yet: n1"));
  fleet.Named("n1").metadata.annotations[std::string(api::kStagedAnnotation)] = "rendered-worker-newer";
  EXPECT_THAT(fleet.AssignTargets(), Not(IsEmpty()));
}

TEST(WavedRollout, DoesNotWaitForTheStagingOfANodeWhoseFailureWasExcused) {
  Fleet fleet(R"({"pool": "worker", "stage": "All", "waves": [{"nodes": 1, "failureThreshold": 1}]})", 3);
  fleet.pool.spec.max_unavailable = api::IntOrString{2};
  const auto stage = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      fleet.Named(name).metadata.annotations[std::string(api::kStagedAnnotation)] = fleet.pool.spec.configuration.name;
    }
  };
  stage({"n0", "n1", "n2"});
  ASSERT_THAT(fleet.AssignTargets(), ElementsAre("n0"));
  fleet.Fail("n0");
  ASSERT_THAT(fleet.AssignTargets(), Not(IsEmpty())) << "the wave has ended";
  // Another config comes, and after it a third one, which repairs the node.
  for (const char* const target : {"rendered-worker-newer", "rendered-worker-newest"}) {
    fleet.pool.spec.configuration.name = target;
    for (const char* const name : {"n1", "n2"}) fleet.Finish(name);
    stage({"n1", "n2"});
    std::vector<std::string> assigned = fleet.AssignTargets();
    EXPECT_NE(fleet.Phase(), "Staging") << fleet.last.message;
    EXPECT_THAT(assigned, Not(IsEmpty()));
  }
}

// ---- clocks and statuses ----

TEST(WavedRollout, WaitsNoLongerThanTheSoakWhenTheClockIsPutBack) {
  Fleet fleet(kCanary, 2);
  fleet.FinishAll(fleet.AssignTargets());
  fleet.AssignTargets();
  fleet.now -= hours(1000);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  fleet.now += minutes(10);
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n1"));
}

TEST(WavedRollout, ReportsItsPhaseAndProgress) {
  Fleet fleet(kCanary, 4);
  fleet.AssignTargets();
  const std::vector<NodeState> states = States(fleet.nodes);
  const Situation situation = SituationOf(fleet.pool, states);
  const api::RolloutPoolStatus first = StatusOf(situation, fleet.last, nullptr, fleet.now);
  EXPECT_EQ(first.name, "worker");
  EXPECT_EQ(first.phase, "Updating");
  EXPECT_EQ(first.message, "wave 1 of 2 (canary): 0 of 1 node updated");
  EXPECT_EQ(first.wave, 1);
  EXPECT_EQ(first.waves, 2);
  EXPECT_EQ(first.nodes, 4);
  EXPECT_EQ(first.updated, 0);
  EXPECT_FALSE(first.opens);
  EXPECT_EQ(StatusOf(situation, fleet.last, &first, fleet.now + hours(1)).since->at, fleet.now);
}

TEST(WavedRollout, RemembersHowLongNodesTook) {
  Fleet fleet(R"({"pool": "worker"})", 3);
  fleet.pool.spec.max_unavailable = api::IntOrString{2};
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n0", "n1"));
  fleet.now += minutes(10);
  fleet.Finish("n0");
  fleet.now += minutes(1);  // The controller looks a minute later.
  EXPECT_THAT(fleet.AssignTargets(), ElementsAre("n2"));
  EXPECT_EQ(fleet.memory.took->target, kNew);
  EXPECT_EQ(fleet.memory.took->nodes, 1);
  EXPECT_EQ(fleet.memory.took->seconds, 600);
  fleet.now += minutes(9);
  fleet.FinishAll({"n1", "n2"});
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_EQ(fleet.memory.took->nodes, 3);
  EXPECT_EQ(fleet.memory.took->seconds, 600 + 1200 + 540);
  // The record of these times stays until a node is done with the next target.
  fleet.pool.spec.configuration.name = "rendered-worker-newer";
  EXPECT_THAT(fleet.AssignTargets(), SizeIs(2));
  EXPECT_EQ(fleet.memory.took->target, kNew);
}

TEST(WavedRollout, RemembersTheFirstEndOfEachWaveThatUpdatedNodes) {
  const auto waves = [](const Fleet& fleet) {
    std::vector<int> numbers;
    for (const api::RolloutWaveEnd& end : fleet.memory.ended) numbers.push_back(end.wave);
    return numbers;
  };
  Fleet fleet(R"({"pool": "worker", "waves": [{"name": "none", "nodeSelector": {"matchLabels": {"no": "node"}}},
                                              {"name": "canary", "nodes": 1}]})",
              2);
  fleet.pool.spec.max_unavailable = api::IntOrString{2};
  const std::vector<std::string> canary = fleet.AssignTargets();
  EXPECT_THAT(waves(fleet), IsEmpty());  // No node was in the first wave.
  fleet.now += minutes(10);
  fleet.FinishAll(canary);
  const WallTime ended = fleet.now;
  const std::vector<std::string> others = fleet.AssignTargets();
  EXPECT_THAT(waves(fleet), ElementsAre(2));
  fleet.now += minutes(10);
  fleet.FinishAll(others);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_THAT(waves(fleet), ElementsAre(2, 3));
  EXPECT_EQ(fleet.memory.ended.front().at->at, ended);
  // A node that joins the pool later begins the last wave again, which belongs to the same rollout.
  fleet.now += minutes(10);
  fleet.Named("n1").metadata.annotations[std::string(api::kDesiredConfigAnnotation)] = kOld;
  fleet.Named("n1").metadata.annotations[std::string(api::kCurrentConfigAnnotation)] = kOld;
  const auto joined = fleet.AssignTargets();
  EXPECT_THAT(joined, ElementsAre("n1"));
  fleet.FinishAll(joined);
  EXPECT_THAT(fleet.AssignTargets(), IsEmpty());
  EXPECT_THAT(waves(fleet), ElementsAre(2, 3));
  fleet.pool.spec.configuration.name = "rendered-worker-newer";
  fleet.AssignTargets();
  EXPECT_THAT(waves(fleet), IsEmpty());
}

TEST(WavedRollout, CorrectsAWaveIndexInItsMemoryThatIsOutOfRange) {
  Fleet fleet(kCanary, 2);
  fleet.AssignTargets();
  fleet.memory.wave_index = 17;
  fleet.memory.members = {"gone"};
  fleet.AssignTargets();
  EXPECT_EQ(fleet.memory.wave_index, 1);
  fleet.memory.wave_index = -3;
  fleet.AssignTargets();
  EXPECT_GE(fleet.memory.wave_index, 0);
  fleet.memory.wave_index = std::numeric_limits<std::int32_t>::max();
  fleet.FinishAll({"n0", "n1"});
  fleet.AssignTargets();
  EXPECT_EQ(fleet.last.wave, 2);
}

}  // namespace
}  // namespace pintle::pool
