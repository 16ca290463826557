// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout_simulation.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::ctl {
namespace {

using pool::kNew;
using pool::kOld;
using testing::HasSubstr;
using testing::StartsWith;

struct Fleet {
  explicit Fleet(const std::string& spec, int count = 5) : pool(pool::PoolWith(kNew)) {
    objects.pools.push_back(pool);
    for (int i = 0; i < count; ++i) {
      objects.nodes.push_back(pool::CreatedAt(pool::NodeAt("n" + std::to_string(i), kOld), i));
    }
    if (spec.empty()) return;
    EXPECT_TRUE(AddDocument(
        ValueOf(json::Parse(R"({"kind": "RolloutPolicy", "metadata": {"name": "workers"}, "spec": )" + spec + "}")), "",
        objects));
  }

  Result<RolloutSimulation> Run() const { return SimulateRollout({}, pool, objects, settings); }

  api::MachineConfigPool pool;
  ClusterObjects objects;
  SimulationSettings settings = {.begin = ValueOf(FromRfc3339("2027-03-27T12:00:00Z")),
                                 .node_time = std::chrono::hours(1)};
};

constexpr const char* kSundays = R"({
    "pool": "worker", "waves": [{"name": "canary", "nodes": 1, "soak": "1h"}], "approve": "Manual",
    "windows": [{"days": ["Sun"], "start": "01:00", "duration": "4h", "timeZone": "Europe/Berlin"}]})";

// The clocks in Berlin are put forward in the first of these windows.
TEST(SimulateRollout, PrintsAWeekInTheTimeZoneOfTheWindows) {
  EXPECT_EQ(ValueOf(Fleet(kSundays).Run()).text,
            R"(Pool worker gets rendered-worker-new by RolloutPolicy workers: 5 nodes
Each node takes 1 hour: as --node-time sets it
Assumed: no node fails; each approval is given at once
Times of Europe/Berlin

Sat 2027-03-27 13:00 +01:00  wave 1 of 2 (canary) waits for the window of Sun 2027-03-28 01:00 +01:00
Sun 2027-03-28 01:00 +01:00  wave 1 of 2 (canary) begins, with 1 node
Sun 2027-03-28 01:00 +01:00  the window until Sun 2027-03-28 06:00 +02:00 is used
Sun 2027-03-28 03:00 +02:00  the nodes of wave 1 of 2 (canary) are done, and are watched until Sun 2027-03-28 04:00 +02:00
Sun 2027-03-28 04:00 +02:00  wave 1 of 2 (canary) is done
Sun 2027-03-28 04:00 +02:00  wave 2 of 2 (all other nodes) needs an approval
Sun 2027-03-28 04:00 +02:00  wave 2 of 2 (all other nodes) begins, with 4 nodes
Sun 2027-03-28 06:00 +02:00  wave 2 of 2 (all other nodes) waits for the window of Sun 2027-04-04 01:00 +02:00
... and 3 more steps after a week, which -o json prints
Earliest end: Sun 2027-04-04 03:00 +02:00, after 181 hours
)");
}

TEST(SimulateRollout, HasAllStepsForPrograms) {
  const SimulationAnswer answer = ValueOf(Fleet(kSundays).Run()).answer;
  EXPECT_EQ(answer.policy, "workers");
  EXPECT_EQ(answer.target, kNew);
  EXPECT_EQ(answer.end, "2027-04-04T01:00:00Z");
  ASSERT_EQ(answer.steps.size(), 11U);
  EXPECT_EQ(answer.steps[1].what, "WaveBegins");
  EXPECT_EQ(answer.steps[1].wave, 1);
  EXPECT_EQ(answer.steps[1].wave_name, "canary");
  EXPECT_EQ(answer.steps[1].nodes, 1U);
  EXPECT_EQ(answer.steps[2].since, "2027-03-28T00:00:00Z");
  EXPECT_EQ(answer.steps[2].until, "2027-03-28T04:00:00Z");
}

TEST(SimulateRollout, AssumesThatNodesTakeAsLongAsTheyTookSoFar) {
  Fleet fleet(R"({"pool": "worker"})");
  fleet.settings.node_time.reset();
  EXPECT_THAT(ValueOf(fleet.Run()).text, HasSubstr("Each node takes 10 minutes: a guess"));
  api::RolloutPoolStatus& status = fleet.objects.rollout_policies[0].status.pools.emplace_back();
  status.name = "worker";
  status.memory.took = api::RolloutDurations{.target = kOld, .nodes = 3, .seconds = 900};
  const RolloutSimulation simulation = ValueOf(fleet.Run());
  EXPECT_THAT(simulation.text, HasSubstr("Each node takes 5 minutes: the mean of the 3 nodes"));
  EXPECT_EQ(simulation.answer.node_time_from, "Nodes");
  EXPECT_EQ(simulation.answer.end, "2027-03-27T12:25:00Z");
}

TEST(SimulateRollout, AssumesAtLeastASecondForANode) {
  Fleet fleet(R"({"pool": "worker"})");
  fleet.settings.node_time.reset();
  api::RolloutPoolStatus& status = fleet.objects.rollout_policies[0].status.pools.emplace_back();
  status.name = "worker";
  status.memory.took = api::RolloutDurations{.target = kOld, .nodes = 3, .seconds = 2};
  EXPECT_EQ(ValueOf(fleet.Run()).answer.node_seconds, 1);
}

// The status may come from a file.
TEST(SimulateRollout, GuessesIfNodesCannotHaveTakenSoLong) {
  Fleet fleet(R"({"pool": "worker"})");
  fleet.settings.node_time.reset();
  api::RolloutPoolStatus& status = fleet.objects.rollout_policies[0].status.pools.emplace_back();
  status.name = "worker";
  for (const std::int64_t sum : {std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}}) {
    status.memory.took = api::RolloutDurations{.target = kOld, .nodes = 1, .seconds = sum};
    const RolloutSimulation simulation = ValueOf(fleet.Run());
    EXPECT_EQ(simulation.answer.node_time_from, "Guess");
    EXPECT_THAT(
        simulation.text,
        HasSubstr("Each node takes 10 minutes: a guess, since the time in the policy's status is impossible: "));
    EXPECT_EQ(simulation.answer.end, "2027-03-27T12:50:00Z");
  }
}

// A window without a time zone is in UTC.
TEST(SimulateRollout, PrintsTimesOfUtcIfTheWindowsHaveDifferentTimeZones) {
  const std::string utc = R"({"start": "01:00", "duration": "4h"})";
  const std::string berlin = R"({"start": "01:00", "duration": "4h", "timeZone": "Europe/Berlin"})";
  for (const std::string& windows : {utc + ", " + berlin, berlin + ", " + utc}) {
    EXPECT_THAT(ValueOf(Fleet(R"({"pool": "worker", "windows": [)" + windows + "]}").Run()).text,
                HasSubstr("\nTimes of UTC\n"));
  }
}

TEST(SimulateRollout, TakesALaterConfigIfAllNodesHaveTheConfigOfThePool) {
  Fleet fleet(R"({"pool": "worker"})");
  for (api::Node& node : fleet.objects.nodes) node = pool::NodeAt(node.metadata.name, kNew);
  const RolloutSimulation simulation = ValueOf(fleet.Run());
  EXPECT_THAT(simulation.text, StartsWith("Pool worker gets a later config by RolloutPolicy workers: 5 nodes\n"));
  EXPECT_FALSE(simulation.answer.target);
  EXPECT_EQ(simulation.answer.end, "2027-03-27T17:00:00Z");
}

TEST(SimulateRollout, FollowsMaxUnavailableWithoutAPolicy) {
  const RolloutSimulation simulation = ValueOf(Fleet("").Run());
  EXPECT_THAT(simulation.text, HasSubstr("by its maxUnavailable alone, as it has no RolloutPolicy"));
  EXPECT_EQ(simulation.answer.end, "2027-03-27T17:00:00Z");
}

TEST(SimulateRollout, NamesTheMistakesOfAPolicy) {
  EXPECT_THAT(MessageOf(Fleet(R"({"pool": "worker", "approve": "x"})").Run()),
              HasSubstr("RolloutPolicy workers, by which no node is updated until it is mended: spec.approve: \"x\""));
}

TEST(SimulateRollout, QuotesAValueOfAPolicyOnOneLine) {
  EXPECT_THAT(MessageOf(Fleet(R"({"pool": "worker", "windows": [
                  {"days": ["Sun\npintle: all is well"], "start": "01:00", "duration": "4h"}]})")
                            .Run()),
              HasSubstr(R"(spec.windows[0].days: "Sun\x0Apintle: all is well" is not a weekday)"));
}

TEST(SimulateRollout, NamesTheObstacleOfARolloutThatDoesNotEnd) {
  Fleet fleet(R"({"pool": "worker"})");
  fleet.pool.spec.paused = true;
  const RolloutSimulation simulation = ValueOf(fleet.Run());
  EXPECT_THAT(simulation.text, HasSubstr("\nThe rollout does not end: the pool is paused\n"));
  EXPECT_EQ(simulation.answer.obstacle, "the pool is paused");
  EXPECT_FALSE(simulation.answer.end);
}

Result<SimulationSettings> SettingsOf(std::vector<const char*> words) {
  const std::array options = {kSimulateOption, kNodeTimeOption, kBeginOption};
  return ReadSimulationSettings(ValueOf(CommandLine::Parse(options, words)));
}

TEST(ReadSimulationSettings, AcceptsANodeTimeOfASecond) {
  EXPECT_EQ(ValueOf(SettingsOf({"--node-time=1s"})).node_time, std::chrono::seconds(1));
  EXPECT_EQ(ValueOf(SettingsOf({"--node-time=1500ms"})).node_time, std::chrono::seconds(2));
}

TEST(ReadSimulationSettings, RefusesANodeTimeOfLessThanASecond) {
  EXPECT_EQ(MessageOf(SettingsOf({"--node-time", "0s"})), "--node-time 0s: must be at least 1s");
  EXPECT_EQ(MessageOf(SettingsOf({"--node-time", "999ms"})), "--node-time 999ms: must be at least 1s");
}

TEST(ReadSimulationSettings, RefusesABeginForWhichTheClockHasNoRoom) {
  EXPECT_EQ(ToRfc3339(ValueOf(SettingsOf({"--begin=2200-12-31T23:59:59Z"})).begin), "2200-12-31T23:59:59Z");
  for (const std::string begin : {"2201-01-01T00:00:00Z", "2263-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
                                  "1969-12-31T23:59:59Z", "0001-01-01T00:00:00Z"}) {
    EXPECT_EQ(MessageOf(SettingsOf({"--begin", begin.c_str()})),
              "--begin " + begin + ": must be in the years from 1970 to 2200");
  }
}

}  // namespace
}  // namespace pintle::ctl
