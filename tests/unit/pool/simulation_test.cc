// SPDX-License-Identifier: Apache-2.0
#include "pool/simulation.h"

#include "base/time_zone_files.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// A pool with a policy, whose rollout is simulated.
struct SimulatedPool {
  SimulatedPool(const std::string& spec, int count) : pool(PoolWith(kNew, {1})) {
    json::Report report;
    const auto read = json::Decode<api::RolloutPolicy>(
        ValueOf(json::Parse(R"({"metadata": {"name": "p"}, "spec": )" + spec + "}")), report);
    TimeZoneFiles files;
    policy = ValueOf(CompilePolicy(read, [&](const std::string& name) { return files.Find(name); }));
    for (int i = 0; i < count; ++i) nodes.push_back(CreatedAt(NodeAt("n" + std::to_string(i), kOld), i));
  }

  Simulation Run() const {
    const std::vector<NodeState> states = States(nodes);
    const Situation situation = SituationOf(pool, states);
    return Simulate(
        {.situation = situation, .policy = policy, .memory = memory, .begin = begin, .node_time = node_time});
  }

  api::MachineConfigPool pool;
  std::vector<api::Node> nodes;
  Policy policy;
  api::RolloutMemory memory;
  WallTime begin = ValueOf(FromRfc3339("2027-03-27T12:00:00Z"));  // A Saturday.
  seconds node_time = minutes(30);
};

// Returns a text such as "2027-03-28T00:00:00Z WaveBegins 1, 4 nodes, until 2027-03-28T01:00:00Z".
std::string TextOf(const SimulatedStep& step) {
  std::string text = ToRfc3339(step.at) + " " + NameOf(step.kind);
  if (step.wave > 0) text += " " + std::to_string(step.wave);
  if (step.nodes > 0) text += ", " + std::to_string(step.nodes) + " nodes";
  if (step.since) text += ", since " + ToRfc3339(*step.since);
  if (step.until) text += ", until " + ToRfc3339(*step.until);
  return text;
}

std::vector<std::string> TextOf(const Simulation& simulation) {
  std::vector<std::string> lines;
  for (const SimulatedStep& step : simulation.steps) lines.push_back(TextOf(step));
  return lines;
}

TEST(Simulation, HasEachWaveWithItsSoak) {
  const SimulatedPool simulated(R"({"pool": "worker", "waves": [{"name": "canary", "nodes": 1, "soak": "1h"}]})", 4);
  const Simulation simulation = simulated.Run();
  EXPECT_THAT(TextOf(simulation),
              ElementsAre("2027-03-27T12:00:00Z WaveBegins 1, 1 nodes",
                          "2027-03-27T12:30:00Z Soaks 1, until 2027-03-27T13:30:00Z", "2027-03-27T13:30:00Z WaveDone 1",
                          "2027-03-27T13:30:00Z WaveBegins 2, 3 nodes", "2027-03-27T15:00:00Z WaveDone 2",
                          "2027-03-27T15:00:00Z Finished, 4 nodes"));
  EXPECT_EQ(ToRfc3339(simulation.end.value()), "2027-03-27T15:00:00Z");
}

TEST(Simulation, UpdatesAsManyNodesAtATimeAsThePoolAllows) {
  SimulatedPool simulated(R"({"pool": "worker"})", 10);
  simulated.pool.spec.max_unavailable = api::IntOrString{3};
  EXPECT_EQ(simulated.Run().end, simulated.begin + 4 * simulated.node_time);
}

// The clocks in Berlin are put forward at 2027-03-28T01:00:00Z.
TEST(Simulation, UsesAWindowInTheNightInWhichTheClocksArePutForward) {
  SimulatedPool simulated(R"({"pool": "worker", "waves": [{"nodes": 1, "soak": "1h"}],
                "windows": [{"days": ["Sun"], "start": "01:00", "duration": "4h", "timeZone": "Europe/Berlin"}]})",
                          5);
  simulated.node_time = hours(1);
  const Simulation simulation = simulated.Run();
  EXPECT_THAT(TextOf(simulation),
              ElementsAre("2027-03-27T12:00:00Z WaitsForWindow 1, until 2027-03-28T00:00:00Z",
                          "2027-03-28T00:00:00Z WaveBegins 1, 1 nodes",
                          "2027-03-28T00:00:00Z WindowUsed 1, since 2027-03-28T00:00:00Z, until 2027-03-28T04:00:00Z",
                          "2027-03-28T01:00:00Z Soaks 1, until 2027-03-28T02:00:00Z", "2027-03-28T02:00:00Z WaveDone 1",
                          "2027-03-28T02:00:00Z WaveBegins 2, 4 nodes",
                          // The next window begins at the same local time, an hour earlier in UTC.
                          "2027-03-28T04:00:00Z WaitsForWindow 2, until 2027-04-03T23:00:00Z",
                          "2027-04-03T23:00:00Z WindowUsed 2, since 2027-04-03T23:00:00Z, until 2027-04-04T03:00:00Z",
                          "2027-04-04T01:00:00Z WaveDone 2", "2027-04-04T01:00:00Z Finished, 5 nodes"));
}

// The clocks in Berlin pass 02:30 twice on 2027-10-31.
TEST(Simulation, UsesAWindowOnceInTheNightInWhichTheClocksArePutBack) {
  SimulatedPool simulated(R"({"pool": "worker",
                "windows": [{"days": ["Sun"], "start": "02:30", "duration": "1h", "timeZone": "Europe/Berlin"}]})",
                          3);
  simulated.begin = ValueOf(FromRfc3339("2027-10-30T00:00:00Z"));
  simulated.node_time = hours(1);
  const Simulation simulation = simulated.Run();
  std::vector<std::string> used;
  for (const SimulatedStep& step : simulation.steps) {
    if (step.kind == SimulatedStep::Kind::kWindowUsed) used.push_back(ToRfc3339(*step.since));
  }
  EXPECT_THAT(used, ElementsAre("2027-10-31T00:30:00Z", "2027-11-07T01:30:00Z", "2027-11-14T01:30:00Z"));
  EXPECT_EQ(ToRfc3339(simulation.end.value()), "2027-11-14T02:30:00Z");
}

TEST(Simulation, WaitsForTheEndOfAFreeze) {
  SimulatedPool simulated(R"({"pool": "worker", "freeze": {"until": "2027-06-01"}})", 1);
  EXPECT_EQ(ToRfc3339(simulated.Run().end.value()), "2027-06-01T00:30:00Z");
}

TEST(Simulation, AssumesThatEachApprovalIsGivenAtOnce) {
  const SimulatedPool simulated(R"({"pool": "worker", "approve": "Manual", "waves": [{"nodes": 1}, {"nodes": 1}]})", 3);
  const Simulation simulation = simulated.Run();
  EXPECT_THAT(TextOf(simulation), AllOf(Contains("2027-03-27T12:30:00Z NeedsApproval 2"),
                                        Contains("2027-03-27T13:00:00Z NeedsApproval 3")));
  EXPECT_EQ(simulation.end, simulated.begin + 3 * simulated.node_time);
}

TEST(Simulation, AssumesThatGatesAreMetAndThatNodesHaveStaged) {
  const SimulatedPool simulated(R"({"pool": "worker", "stage": "All", "waves": [{"nodes": 1}],
                      "gates": [{"name": "g", "when": "Before", "http": {"url": "http://shop"}},
                                {"name": "h", "when": "After", "nodeCondition": {"type": "Fit"}}]})",
                                2);
  EXPECT_EQ(simulated.Run().end, simulated.begin + 2 * simulated.node_time);
}

TEST(Simulation, GoesOnWithTheRolloutThatIsUnderWay) {
  SimulatedPool simulated(R"({"pool": "worker", "waves": [{"nodes": 1}]})", 2);
  simulated.nodes[0] = CreatedAt(NodeBetween("n0", kOld, kNew, api::kStateWorking), 0);
  simulated.memory.target = kNew;
  simulated.memory.members = {"n0"};
  simulated.memory.has_begun = true;
  simulated.memory.began = api::Time{simulated.begin - minutes(20)};
  simulated.memory.assigned_at = {{"n0", api::Time{simulated.begin - minutes(20)}}};
  EXPECT_THAT(TextOf(simulated.Run()),
              ElementsAre("2027-03-27T12:10:00Z WaveDone 1", "2027-03-27T12:10:00Z WaveBegins 2, 1 nodes",
                          "2027-03-27T12:40:00Z WaveDone 2", "2027-03-27T12:40:00Z Finished, 2 nodes"));
}

TEST(Simulation, WithoutAMemoryEndsWhenTheLastNodeAtWorkIsDone) {
  SimulatedPool simulated(R"({"pool": "worker"})", 2);
  simulated.nodes[0] = NodeAt("n0", kNew);
  simulated.nodes[1] = CreatedAt(NodeBetween("n1", kOld, kNew, api::kStateWorking), 1);
  EXPECT_THAT(TextOf(simulated.Run()),
              ElementsAre("2027-03-27T12:30:00Z WaveDone 1", "2027-03-27T12:30:00Z Finished, 2 nodes"));
}

TEST(Simulation, ReportsAHaltIfNodesTakeLongerThanThePolicyAllows) {
  SimulatedPool simulated(R"({"pool": "worker", "waves": [{"nodes": 1, "nodeTimeout": "10min"}]})", 2);
  const Simulation simulation = simulated.Run();
  EXPECT_THAT(TextOf(simulation), Contains("2027-03-27T12:10:00Z Halted 1"));
  EXPECT_EQ(simulation.end, simulated.begin + 2 * simulated.node_time);
}

TEST(Simulation, NamesTheObstacleIfTheRolloutDoesNotEnd) {
  SimulatedPool simulated(R"({"pool": "worker"})", 2);
  simulated.nodes[1].spec.unschedulable = true;
  const Simulation simulation = simulated.Run();
  EXPECT_FALSE(simulation.end);
  EXPECT_THAT(simulation.obstacle,
              HasSubstr("not updated, because somebody has cordoned them (run `kubectl uncordon`): n1"));
  simulated.pool.spec.paused = true;
  EXPECT_EQ(simulated.Run().obstacle, "the pool is paused");
  EXPECT_FALSE(simulated.Run().end);
}

TEST(Simulation, OfAPoolThatHasItsTargetEndsAtOnce) {
  SimulatedPool simulated(R"({"pool": "worker"})", 2);
  for (api::Node& node : simulated.nodes) node = NodeAt(node.metadata.name, kNew);
  EXPECT_EQ(simulated.Run().end, simulated.begin);
}

TEST(Simulation, OfManyNodesAndWindowsHasALimitedNumberOfDecisions) {
  SimulatedPool simulated(R"({"pool": "worker", "waves": [{"nodes": "10%"}],
                "windows": [{"start": "22:00", "duration": "2h"}]})",
                          300);
  simulated.pool.spec.max_unavailable = api::IntOrString{"5%"};
  const Simulation simulation = simulated.Run();
  ASSERT_TRUE(simulation.end) << simulation.obstacle;
  // A window has time for four times 15 nodes.
  EXPECT_EQ(ToRfc3339(*simulation.end), "2027-04-01T00:00:00Z");
}

}  // namespace
}  // namespace pintle::pool
