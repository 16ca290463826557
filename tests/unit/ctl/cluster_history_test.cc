// SPDX-License-Identifier: Apache-2.0
#include "ctl/cluster_history.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::optional<api::Time> AtSecond(int second) { return api::Time{WallTime(std::chrono::seconds(second))}; }

api::Event EventAbout(const std::string& kind, const std::string& name, const std::string& reason) {
  api::Event event;
  event.involved_object.kind = kind;
  event.involved_object.name = name;
  event.reason = reason;
  event.message = "because";
  event.type = "Normal";
  return event;
}

std::vector<std::string> Reasons(ClusterTimeline timeline) {
  std::vector<std::string> reasons;
  for (const ClusterHappening& entry : std::move(timeline).Entries())
    reasons.push_back(entry.name + " " + entry.reason);
  return reasons;
}

TEST(ClusterTimeline, IsInTheOrderOfTime) {
  ClusterTimeline timeline("worker", {"a"});
  api::Event reboot = EventAbout("Node", "a", "Reboot");
  reboot.first_timestamp = reboot.last_timestamp = AtSecond(30);
  timeline.Add(reboot);
  api::MachineConfigNode report;
  report.metadata.name = "a";
  report.status.conditions = {
      {.type = "Updated", .status = "True", .last_transition_time = AtSecond(40), .reason = "Updated", .message = "m"},
      {.type = "Drained", .status = "False", .last_transition_time = AtSecond(10), .reason = "NotYet", .message = "m"}};
  timeline.Add(report);
  timeline.Add(pool::CreatedAt(pool::NodeAt("a", pool::kOld), 5));
  EXPECT_THAT(Reasons(timeline), ElementsAre("a Created", "a Drained=False", "a Reboot", "a Updated=True"));
}

TEST(ClusterTimeline, LeavesOutOtherObjects) {
  ClusterTimeline timeline(std::nullopt, {"a"});
  for (const auto& [kind, name] : {std::pair("Node", "b"), std::pair("MachineConfigPool", "a")}) {
    api::Event event = EventAbout(kind, name, "Reboot");
    event.last_timestamp = AtSecond(1);
    timeline.Add(event);
  }
  timeline.Add(pool::PoolWith(pool::kNew));
  EXPECT_THAT(Reasons(timeline), IsEmpty());
}

TEST(ClusterTimeline, HasTheLatestTimeAndTheNumberOfARepeatedEvent) {
  ClusterTimeline timeline(std::nullopt, {"a"});
  api::Event event = EventAbout("Node", "a", "Drain");
  event.type = "Warning";
  event.count = 3;
  event.first_timestamp = AtSecond(10);
  event.last_timestamp = AtSecond(70);
  timeline.Add(event);
  const auto entries = std::move(timeline).Entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].at, "1970-01-01T00:01:10Z");
  EXPECT_EQ(entries[0].count, 3);
  EXPECT_TRUE(entries[0].is_warning);
  EXPECT_THAT(TimelineText(entries), HasSubstr("1970-01-01T00:01:10Z  warning    a     Drain   because (3 times since "
                                               "1970-01-01T00:00:10Z)\n"));
}

// Programs that use the newer interface leave the timestamps of the older one empty.
TEST(ClusterTimeline, TakesTheTimeOfANewEvent) {
  ClusterTimeline timeline(std::nullopt, {"a"});
  timeline.Add(EventAbout("Node", "a", "Starting"), WallTime(std::chrono::seconds(5)));
  api::Event created = EventAbout("Node", "a", "Stopping");
  created.metadata.creation_timestamp = AtSecond(7);
  timeline.Add(created);
  timeline.Add(EventAbout("Node", "a", "Never"));
  EXPECT_THAT(Reasons(timeline), ElementsAre("a Starting", "a Stopping"));
}

TEST(ClusterTimeline, HasTheOrdersAndTheRolloutOfAPool) {
  ClusterTimeline timeline("worker", {"a"});
  api::MachineConfigPool pool = pool::PoolWith(pool::kNew);
  pool.metadata.annotations = {
      {std::string(api::kTargetSinceAnnotation), "1970-01-01T00:00:01Z"},
      {std::string(api::kApproveAnnotation),
       R"({"target": "rendered-worker-new", "wave": 2, "by": "ann", "at": "1970-01-01T00:00:20Z"})"},
      {std::string(api::kResumeAnnotation), "garbage"},
      {std::string(api::kOverrideAnnotation), R"({"target": "x", "at": "yesterday"})"}};
  timeline.Add(pool);
  api::RolloutPolicy policy;
  api::RolloutPoolStatus& status = policy.status.pools.emplace_back();
  status.name = "worker";
  status.phase = "Halted";
  status.since = AtSecond(40);
  status.memory.target = pool::kNew;
  status.memory.began = AtSecond(2);
  status.memory.ended.push_back({.wave = 1, .at = AtSecond(15)});
  status.memory.approvals.push_back({.wave = 2, .wave_digest = "d", .by = "ann", .at = AtSecond(21)});
  status.memory.halt = api::RolloutHalt{.reason = "Gate", .gate = "g", .message = "m", .since = AtSecond(39)};
  status.memory.assigned_at["a"] = *AtSecond(22);
  timeline.Add(policy);
  EXPECT_THAT(Reasons(timeline),
              ElementsAre("worker NewTarget", "worker RolloutBegan", "worker WaveDone", "worker Approve",
                          "worker Approved", "a Assigned", "worker Halted", "worker Halted"));
}

TEST(ClusterTimeline, PrintsNoControlCharacters) {
  const std::string hostile = "a\x1b[2J\xe2\x80\xae\xff\r\n2026-01-01T00:00:00Z  event";
  ClusterTimeline timeline(std::nullopt, {hostile});
  api::Event event = EventAbout("Node", hostile, hostile);
  event.message = hostile;
  event.last_timestamp = AtSecond(1);
  timeline.Add(event);
  const std::string text = TimelineText(std::move(timeline).Entries());
  EXPECT_EQ(text, PrintableLines(text));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

}  // namespace
}  // namespace pintle::ctl
