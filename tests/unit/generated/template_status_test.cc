// SPDX-License-Identifier: Apache-2.0
#include "generated/template_status.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "unit/generated/status_times.h"

namespace pintle::generated {
namespace {

using testing::ElementsAre;

std::vector<std::string> Lines(const api::ControllerConfigStatus& status) {
  std::vector<std::string> lines;
  for (const api::Condition& condition : status.conditions) {
    lines.push_back(condition.type.substr(18) + " " + condition.status + " " + condition.message);
  }
  return lines;
}

const TemplateSync kSync{.generation = 2, .version = "VERSION", .now = kNow};

TEST(TemplateStatus, IsRunningAndThenCompleted) {
  const auto running = StatusWhenRunning({}, kSync);
  EXPECT_EQ(running.observed_generation, 2);
  EXPECT_THAT(Lines(running),
              ElementsAre("Running True syncing towards (2) generation using controller version VERSION"));
  EXPECT_THAT(Lines(StatusWhenCompleted(running, kSync)),
              ElementsAre("Completed True sync completed towards (2) generation using controller version VERSION",
                          "Running False ", "Failing False "));
}

TEST(TemplateStatus, IsNoLongerCompletedAfterTheGenerationHasChanged) {
  const auto completed = StatusWhenCompleted({}, {.generation = 1, .version = "VERSION", .now = kNow});
  const auto failing =
      StatusWhenFailing(StatusWhenRunning(completed, kSync), kSync, Error(ErrorKind::kInvalid, "no secret"));
  EXPECT_THAT(Lines(failing),
              ElementsAre("Completed False syncing towards (2) generation using controller version VERSION due to "
                          "change in Generation",
                          "Failing True failed to syncing towards (2) generation using controller version VERSION: no "
                          "secret",
                          "Running False "));
}

// The operator keeps the first message.
TEST(TemplateStatus, HasTheLatestErrorAndTheTimeOfTheFirst) {
  const auto first = StatusWhenFailing({}, kSync, Error(ErrorKind::kInvalid, "one"));
  const auto second = StatusWhenFailing(first, {.generation = 2, .version = "VERSION", .now = kLater},
                                        Error(ErrorKind::kInvalid, "two"));
  const api::Condition& condition = second.conditions.back();
  EXPECT_TRUE(condition.message.ends_with(": two"));
  EXPECT_EQ(condition.last_transition_time->at, kNow);
}

TEST(TemplateStatus, StaysWhenNothingChanges) {
  const auto completed = StatusWhenCompleted({}, kSync);
  const auto again = StatusWhenCompleted(completed, {.generation = 2, .version = "VERSION", .now = kLater});
  EXPECT_TRUE(json::Equal(again.conditions, completed.conditions));
}

}  // namespace
}  // namespace pintle::generated
