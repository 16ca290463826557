// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_progress.h"

#include <gmock/gmock.h>

#include <chrono>
#include <vector>

namespace pintle::controller {
namespace {

using std::chrono::seconds;

constexpr auto kStepPatience = seconds(60);
constexpr MonotonicTime kBegin = MonotonicTime(seconds(1000));

std::vector<TakeoverStep> StepsWith(bool has_record, bool is_led) {
  return {{.name = "record", .is_done = has_record}, {.name = "leases", .is_done = is_led, .waits_for = "we lead"}};
}

TEST(TakeoverProgress, EndsWhenTheRecordIsThatOfAnotherRun) {
  TakeoverProgress progress(kStepPatience, "run the same command again");
  EXPECT_TRUE(progress.Saw(StepsWith(false, false), kBegin));
  EXPECT_TRUE(progress.Saw(StepsWith(true, false), kBegin));
  const auto ended = progress.Saw(StepsWith(false, false), kBegin);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message(), testing::HasSubstr("has changed or removed the record"));
}

TEST(TakeoverProgress, GoesOnIfThereAreNoSteps) {
  TakeoverProgress progress(kStepPatience, "run the same command again");
  EXPECT_TRUE(progress.Saw(StepsWith(true, true), kBegin));
  EXPECT_TRUE(progress.Saw({}, kBegin));
}

TEST(TakeoverProgress, HasPatienceWithEachStep) {
  TakeoverProgress progress(kStepPatience, "run the same command again");
  EXPECT_TRUE(progress.Saw(StepsWith(false, false), kBegin));
  EXPECT_TRUE(progress.Saw(StepsWith(true, false), kBegin + kStepPatience));
  EXPECT_TRUE(progress.Saw(StepsWith(true, false), kBegin + 2 * kStepPatience));
  const auto ended = progress.Saw(StepsWith(true, false), kBegin + 2 * kStepPatience + seconds(1));
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message(), testing::Eq("leases: still waits until we lead; run the same command again"));
}

TEST(TakeoverProgress, EndsIfAnotherProgramUndoesAStepAgainAndAgain) {
  TakeoverProgress progress(kStepPatience, "run the same command again");
  std::vector<TakeoverStep> steps = {{.name = "record", .is_done = true}, {.name = "leave"}, {.name = "replicas"}};
  MonotonicTime now = kBegin;
  int looks = 0;
  do {
    steps[1].is_done = ++looks % 2 == 0;
    now += seconds(1);
  } while (progress.Saw(steps, now) && looks < 1000);
  EXPECT_NEAR(looks, 2 * kStepPatience.count(), 4);
}

TEST(TakeoverProgress, TriesAgainAfterAnErrorThatMayPass) {
  TakeoverProgress progress(kStepPatience, "run the same command again");
  EXPECT_TRUE(progress.Saw(StepsWith(true, false), kBegin));
  const Error is_down(ErrorKind::kUnavailable, "the API server answers 503");
  EXPECT_TRUE(progress.Failed(is_down, kBegin + seconds(1)));
  EXPECT_TRUE(progress.Failed(Error(ErrorKind::kConflict, "409"), kBegin + 2 * kStepPatience));
  const auto ended = progress.Failed(is_down, kBegin + kStepPatience + seconds(1));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message(), "leases: the API server answers 503");
}

TEST(TakeoverProgress, DecidesAgainIfTheObjectIsGone) {
  TakeoverProgress progress(kStepPatience, "run the same command again");
  const Error is_gone(ErrorKind::kNotFound, "404");
  EXPECT_TRUE(progress.Saw(StepsWith(true, false), kBegin));
  EXPECT_TRUE(progress.Failed(is_gone, kBegin));
  // An object cannot be created in a namespace that does not exist.
  auto steps = StepsWith(true, false);
  steps[1].write = TakeoverWrite{.is_creation = true};
  EXPECT_TRUE(progress.Saw(steps, kBegin));
  EXPECT_FALSE(progress.Failed(is_gone, kBegin));
}

TEST(TakeoverProgress, EndsWithAnErrorThatStays) {
  TakeoverProgress progress(kStepPatience, "run the same command again");
  EXPECT_TRUE(progress.Saw(StepsWith(true, false), kBegin));
  EXPECT_FALSE(progress.Failed(Error(ErrorKind::kInvalid, "403"), kBegin));
}

TEST(TakeoverProgress, EndsIfTheFirstLookFails) {
  TakeoverProgress progress(kStepPatience, "run the same command again");
  EXPECT_FALSE(progress.Failed(Error(ErrorKind::kUnavailable, "connection refused"), kBegin));
}

}  // namespace
}  // namespace pintle::controller
