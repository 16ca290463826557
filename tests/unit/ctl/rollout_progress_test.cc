// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout_progress.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/printable.h"
#include "ctl/rollout.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::ctl {
namespace {

using pool::kNew;
using pool::kOld;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kCanaryWave = R"({"pool": "worker", "waves": [{"name": "canary", "nodes": 1, "soak": "1h"}]})";
constexpr const char* kSundayWindows = R"({
    "pool": "worker", "waves": [{"name": "canary", "nodes": 1}],
    "windows": [{"days": ["Sun"], "start": "01:00", "duration": "4h", "timeZone": "Europe/Berlin"}]})";

struct PolicyFleet {
  explicit PolicyFleet(const std::string& spec, int count = 5) : pool(pool::PoolWith(kNew)) {
    objects.pools.push_back(pool);
    for (int i = 0; i < count; ++i) {
      objects.nodes.push_back(pool::CreatedAt(pool::NodeAt("n" + std::to_string(i), kOld), i));
    }
    question.now = ValueOf(FromRfc3339("2027-03-27T12:00:00Z"));
    EXPECT_TRUE(AddDocument(
        ValueOf(json::Parse(R"({"kind": "RolloutPolicy", "metadata": {"name": "workers"}, "spec": )" + spec + "}")), "",
        objects));
  }

  api::RolloutPolicy& policy() { return objects.rollout_policies[0]; }

  // Makes the policy report a rollout of the pool's config, in its first wave since an hour.
  api::RolloutPoolStatus& Report(const std::string& phase) {
    api::RolloutPoolStatus& status = policy().status.pools.emplace_back();
    status.name = "worker";
    status.phase = phase;
    status.since = api::Time{question.now - std::chrono::hours(1)};
    status.wave = 1;
    status.waves = 2;
    status.nodes = 5;
    return status;
  }

  RolloutPreview Preview() const { return ValueOf(PreviewRollout(question, pool, objects)); }

  api::MachineConfigPool pool;
  ClusterObjects objects;
  RolloutQuestion question;
};

TEST(RolloutProgress, OnlyNodesOfTheFirstWaveAreUpdatedNext) {
  const RolloutPreview preview = PolicyFleet(kCanaryWave).Preview();
  EXPECT_THAT(preview.answer.patched_in_order.value(), ElementsAre("n0"));
  EXPECT_THAT(preview.table, HasSubstr("The rollout by RolloutPolicy workers: wave 1 of 2 (canary), 0 of 5 nodes are "
                                       "updated\n  Updating since Sat 2027-03-27 12:00 +00:00"));
  EXPECT_THAT(preview.table, HasSubstr("n1    -     rendered-worker-old  waits: its wave is later\n"));
  EXPECT_THAT(preview.warnings, IsEmpty());
  const RolloutProgress& progress = preview.answer.rollout.value();
  EXPECT_EQ(progress.wave_name, "canary");
  // Five nodes one after the other take ten minutes each, and the canary is watched for an hour.
  EXPECT_EQ(progress.earliest_end, "2027-03-27T13:50:00Z");
  EXPECT_EQ(progress.node_time_from, "Guess");
}

TEST(RolloutProgress, HasTheNextWindowInItsOwnTimeZone) {
  const RolloutPreview preview = PolicyFleet(kSundayWindows).Preview();
  EXPECT_THAT(preview.answer.patches.value(), IsEmpty());
  EXPECT_THAT(preview.table,
              HasSubstr("  AwaitingWindow since Sat 2027-03-27 13:00 +01:00: no maintenance window is open"));
  EXPECT_THAT(preview.table,
              HasSubstr("  Next window: Sun 2027-03-28 01:00 +01:00 until Sun 2027-03-28 06:00 +02:00\n"));
  EXPECT_THAT(preview.table,
              HasSubstr("  Earliest end: Sun 2027-03-28 01:50 +01:00, in 12 hours 50 minutes, if each node takes "
                        "10 minutes, which is a guess\n"));
  EXPECT_THAT(preview.table, HasSubstr("n0    -     rendered-worker-old  waits: no window is open\n"));
  EXPECT_EQ(preview.answer.rollout->time_zone, "Europe/Berlin");
}

TEST(RolloutProgress, ComputesTheEndFromHowLongNodesTookSoFar) {
  PolicyFleet fleet(R"({"pool": "worker"})");
  fleet.Report("Updating").memory.took = api::RolloutDurations{.target = kOld, .nodes = 3, .seconds = 900};
  const RolloutPreview preview = fleet.Preview();
  EXPECT_EQ(preview.answer.rollout->earliest_end, "2027-03-27T12:25:00Z");
  EXPECT_THAT(preview.table, HasSubstr("  Updating since Sat 2027-03-27 11:00 +00:00, for 1 hour"));
  EXPECT_THAT(preview.table, HasSubstr("if each node takes 5 minutes, as nodes took so far\n"));
}

TEST(RolloutProgress, UpdatesNoNodeByAPolicyThatCannotBeUsed) {
  const RolloutPreview preview = PolicyFleet(R"({"pool": "worker", "approve": "Perhaps\nnot"})").Preview();
  EXPECT_THAT(preview.answer.patches.value(), IsEmpty());
  EXPECT_THAT(preview.table,
              HasSubstr("The rollout by RolloutPolicy workers: the policy cannot be used, and no node is "
                        "updated until it is mended: "));
  EXPECT_THAT(preview.table, HasSubstr("waits: the RolloutPolicy cannot be used\n"));
  EXPECT_TRUE(preview.answer.rollout->problem);
}

constexpr const char* kGatedByHttp = R"({"pool": "worker", "gates": [
    {"name": "quiet", "when": "Before", "http": {"url": "http://127.0.0.1/"}}]})";

TEST(RolloutProgress, AssumesThatAGateOfTheControllerIsMet) {
  const RolloutPreview preview = PolicyFleet(kGatedByHttp).Preview();
  EXPECT_THAT(preview.answer.patched_in_order.value(), ElementsAre("n0"));
  EXPECT_THAT(preview.warnings,
              ElementsAre("it is assumed that these gates of RolloutPolicy workers are met, which only "
                          "the controller can check: quiet"));
}

TEST(RolloutProgress, KeepsAGateThatTheControllerHasFoundBlocking) {
  PolicyFleet fleet(kGatedByHttp);
  api::RolloutMemory& memory = fleet.Report("AwaitingGate").memory;
  memory.target = kNew;
  memory.has_begun = true;
  memory.blocked["quiet"] = api::Time{fleet.question.now - std::chrono::hours(1)};
  const RolloutPreview preview = fleet.Preview();
  EXPECT_THAT(preview.answer.patches.value(), IsEmpty());
  EXPECT_EQ(preview.answer.rollout->phase, "AwaitingGate");
  EXPECT_THAT(preview.warnings, IsEmpty());
}

// The gate's timeout stands still, for instance because the window is closed.
TEST(RolloutProgress, HasNoEndIfAGateHalts) {
  PolicyFleet fleet(R"({"pool": "worker", "gates": [{"name": "quiet", "when": "Before", "timeout": "1h",
      "onTimeout": "Halt", "http": {"url": "http://127.0.0.1/"}}]})");
  api::RolloutPoolStatus& status = fleet.Report("Halted");
  status.message = "the gate quiet is not met";
  status.memory.target = kNew;
  status.memory.has_begun = true;
  status.memory.waited["quiet"] = 3600;
  status.memory.halt =
      api::RolloutHalt{.reason = "Gate", .gate = "quiet", .message = "m", .since = api::Time{fleet.question.now}};
  const RolloutPreview preview = fleet.Preview();
  EXPECT_THAT(preview.answer.patches.value(), IsEmpty());
  EXPECT_EQ(preview.answer.rollout->phase, "Halted");
  EXPECT_FALSE(preview.answer.rollout->earliest_end);
  EXPECT_THAT(preview.warnings, IsEmpty());
}

TEST(RolloutProgress, OfACompleteRolloutIsOneLine) {
  PolicyFleet fleet(kCanaryWave);
  for (api::Node& node : fleet.objects.nodes) node = pool::NodeAt(node.metadata.name, kNew);
  const RolloutPreview preview = fleet.Preview();
  EXPECT_THAT(preview.table, HasSubstr("The rollout by RolloutPolicy workers: complete, 5 of 5 nodes are updated\n"));
  EXPECT_FALSE(preview.answer.rollout->earliest_end);
}

TEST(ClusterObjects, LeaveOutAMachineConfigNodeWithoutConditionsThatCount) {
  ClusterObjects objects;
  const auto add = [&](const std::string& name, const std::string& type) {
    const std::string conditions = R"([{"type": ")" + type + R"(", "status": "True", "reason": "", "message": "",
                                       "lastTransitionTime": "2027-01-01T00:00:00Z"}])";
    EXPECT_TRUE(AddDocument(ValueOf(json::Parse(R"({"kind": "MachineConfigNode", "metadata": {"name": ")" + name +
                                                R"("}, "spec": {"node": {"name": "n"}, "pool": {"name": "worker"},
                                                "configVersion": {"desired": "c"}}, "status": {"conditions": )" +
                                                conditions + "}}")),
                            "", objects));
  };
  add("n0", "UpdatePrepared");
  add("n1", "Updated");
  ASSERT_EQ(objects.machine_config_nodes.size(), 1U);
  EXPECT_EQ(objects.machine_config_nodes[0].metadata.name, "n1");
}

// A pool without a policy has the answer and the table of earlier versions.
TEST(RolloutProgress, IsLeftOutWithoutAPolicy) {
  PolicyFleet fleet(kCanaryWave);
  fleet.objects.rollout_policies.clear();
  const RolloutPreview preview = fleet.Preview();
  EXPECT_FALSE(preview.answer.rollout);
  EXPECT_THAT(preview.table, Not(HasSubstr("rollout by")));
}

TEST(RolloutProgress, LeavesOutAnEndThatTakesTooLongToWorkOut) {
  PolicyFleet fleet(R"({"pool": "worker"})", 3000);
  const RolloutPreview preview = fleet.Preview();
  EXPECT_FALSE(preview.answer.rollout->earliest_end);
  EXPECT_THAT(preview.table,
              HasSubstr("  The earliest end is not known: working it out takes longer for so many nodes"));
}

TEST(RolloutProgress, PrintsNoControlCharacters) {
  PolicyFleet fleet(R"({"pool": "worker", "waves": [{"name": "a\u001b[2Jb\nc", "nodes": 1}], "approve": "Manual"})");
  fleet.policy().metadata.name = "p\x1b[2J\nPool worker: all is well";
  api::RolloutPoolStatus& status = fleet.Report("Updating\x1b\n");
  status.message = "m\x1b[2J\nNext: nothing";
  const CheckedPolicy policy = CheckedPolicy::Of(fleet.policy(), "worker");
  const std::string text =
      ProgressText(ProgressOf(policy, &status, nullptr, fleet.question.now), policy, fleet.question.now);
  EXPECT_EQ(text, PrintableLines(text));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

}  // namespace
}  // namespace pintle::ctl
