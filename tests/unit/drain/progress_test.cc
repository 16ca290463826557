// SPDX-License-Identifier: Apache-2.0
#include "drain/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect.h"

namespace pintle::drain {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const Request kDrain = {Verb::kDrain, "b"};
const Request kUncordon = {Verb::kUncordon, "b"};
const WallTime kStart = ValueOf(FromRfc3339("2026-11-21T20:00:00Z"));

// Returns a short name for the news.
std::string WordFor(const News& news) {
  static constexpr const char* kWords[] = {
      "misunderstood", "cordoning",   "cordoned",   "cordon failed",   "draining",      "failed",   "overdue",
      "drained",       "uncordoning", "uncordoned", "uncordon failed", "answer failed", "answered", "withdrawn"};
  static_assert(std::size(kWords) == std::variant_size_v<News>);
  return kWords[news.index()];
}

// Drives the progress of a node, event by event.
class Progress {
 public:
  // Returns the news of an event, or nullopt if it changes nothing.
  std::optional<std::vector<std::string>> At(const Event& event) {
    const auto transition = Advance(phase, event, settings, now);
    if (!transition) return std::nullopt;
    phase = transition->next;
    command = transition->command;
    wait = transition->wait;
    last = transition->news;
    std::vector<std::string> words;
    for (const News& news : transition->news) words.push_back(WordFor(news));
    return words;
  }
  auto See(std::optional<Request> asked, bool is_cordoned, std::optional<WallTime> started = std::nullopt) {
    return At(happened::Seen{{.asked = std::move(asked), .is_cordoned = is_cordoned, .started = started}});
  }
  template <typename P>
  bool IsIn() const {
    return std::holds_alternative<P>(phase);
  }

  Phase phase;
  Command command = Command::kNothing;
  milliseconds wait = {};
  std::vector<News> last;
  Settings settings;
  WallTime now = kStart;
};

Progress Evicting() {
  Progress progress;
  EXPECT_TRUE(progress.See(kDrain, true, kStart));
  return progress;
}

TEST(Advance, DrainsFromTheRequestToTheAnswer) {
  Progress progress;
  EXPECT_EQ(progress.See({}, false), std::nullopt);
  EXPECT_THAT(*progress.See(kDrain, false), ElementsAre("cordoning"));
  EXPECT_EQ(progress.command, Command::kCordon);
  EXPECT_EQ(progress.See(kDrain, false), std::nullopt) << "the write is under way";
  EXPECT_THAT(*progress.See(kDrain, true, kStart), ElementsAre("cordoned", "draining"));
  EXPECT_EQ(progress.command, Command::kEvict);
  EXPECT_THAT(*progress.At(happened::PodsGone{}), ElementsAre("drained"));
  EXPECT_EQ(progress.command, Command::kAnswer);
  EXPECT_EQ(RequestOf(progress.phase), kDrain);
  EXPECT_EQ(progress.See(kDrain, true, kStart), std::nullopt) << "the write is under way";
  EXPECT_THAT(*progress.See({}, true), ElementsAre("answered"));
  EXPECT_TRUE(progress.IsIn<phase::Idle>());
}

TEST(Advance, UncordonsAndThenAnswers) {
  Progress progress;
  EXPECT_THAT(*progress.See(kUncordon, true), ElementsAre("uncordoning"));
  EXPECT_EQ(progress.command, Command::kUncordon);
  EXPECT_EQ(progress.See(kUncordon, false), std::nullopt);
  EXPECT_THAT(*progress.At(happened::Uncordoned{false}), ElementsAre("uncordoned"));
  EXPECT_EQ(progress.command, Command::kAnswer);
  EXPECT_EQ(progress.See(kUncordon, false), std::nullopt);
  EXPECT_THAT(*progress.See({}, false), ElementsAre("answered"));
}

TEST(Advance, ContinuesTheDrainOfAnotherController) {
  Progress progress;
  progress.now = kStart + minutes(5);
  EXPECT_THAT(*progress.See(kDrain, true, kStart), ElementsAre("cordoned", "draining"))
      << "the other controller may have ended before it reported that the node is cordoned";
  EXPECT_EQ(std::get<phase::Evicting>(progress.phase).started, kStart);
}

TEST(Advance, SetsAMissingStartTime) {
  Progress progress;
  EXPECT_THAT(*progress.See(kDrain, true), ElementsAre("cordoning"));
  EXPECT_EQ(progress.command, Command::kCordon);
}

TEST(Advance, TriesAgainAfterAPauseThatGetsLonger) {
  Progress progress = Evicting();
  EXPECT_THAT(*progress.At(happened::AttemptFailed{"why"}), ElementsAre("failed"));
  EXPECT_EQ(progress.command, Command::kWait);
  EXPECT_EQ(progress.wait, minutes(1));
  progress.now = kStart + minutes(10);
  EXPECT_THAT(*progress.At(happened::TimeIsUp{}), ElementsAre("draining"));
  EXPECT_EQ(progress.command, Command::kEvict);
  EXPECT_THAT(*progress.At(happened::AttemptFailed{"why"}), ElementsAre("failed"));
  EXPECT_EQ(progress.wait, minutes(1)) << "the pause depends on the time before the attempt";

  progress.now = kStart + minutes(10) + seconds(1);
  EXPECT_TRUE(progress.At(happened::TimeIsUp{}));
  EXPECT_TRUE(progress.At(happened::AttemptFailed{"why"}));
  EXPECT_EQ(progress.wait, minutes(5));
  EXPECT_TRUE(std::get<news::AttemptFailed>(progress.last[0]).is_slow);
}

TEST(Advance, ReportsAtEachAttemptThatItTakesTooLong) {
  Progress progress = Evicting();
  EXPECT_TRUE(progress.At(happened::AttemptFailed{"why"}));
  progress.now = kStart + hours(1);
  EXPECT_THAT(*progress.At(happened::TimeIsUp{}), ElementsAre("draining"));
  EXPECT_TRUE(progress.At(happened::AttemptFailed{"why"}));
  progress.now += seconds(1);
  EXPECT_THAT(*progress.At(happened::TimeIsUp{}), ElementsAre("overdue", "draining"));
  EXPECT_TRUE(progress.At(happened::AttemptFailed{"why"}));
  EXPECT_THAT(*progress.At(happened::TimeIsUp{}), ElementsAre("overdue", "draining"));
}

TEST(Advance, ADrainThatBeganCenturiesAgoTakesTooLong) {
  for (const char* started : {"1678-01-01T00:00:00Z", "1700-01-01T00:00:00Z"}) {
    Progress progress;
    EXPECT_THAT(*progress.See(kDrain, true, ValueOf(FromRfc3339(started))),
                ElementsAre("cordoned", "overdue", "draining"))
        << started;
    EXPECT_TRUE(std::get<phase::Evicting>(progress.phase).is_slow) << started;
  }
}

TEST(Advance, FollowsTheSettings) {
  Progress progress = Evicting();
  progress.settings = {.pause = seconds(7), .slow_after = seconds(20), .slow_pause = seconds(9)};
  progress.settings.timeout = minutes(30);
  EXPECT_TRUE(progress.At(happened::AttemptFailed{"why"}));
  EXPECT_EQ(progress.wait, seconds(7));
  progress.now = kStart + minutes(31);
  EXPECT_THAT(*progress.At(happened::TimeIsUp{}), ElementsAre("overdue", "draining"));
  EXPECT_TRUE(progress.At(happened::AttemptFailed{"why"}));
  EXPECT_EQ(progress.wait, seconds(9));
}

TEST(Advance, CordonsAgainWhenSomebodyHasUncordoned) {
  for (const bool pauses : {false, true}) {
    Progress progress = Evicting();
    if (pauses) {
      EXPECT_TRUE(progress.At(happened::AttemptFailed{"why"}));
    }
    EXPECT_THAT(*progress.See(kDrain, false, kStart), ElementsAre("cordoning"));
    EXPECT_TRUE(std::get<news::Cordoning>(progress.last[0]).again);
    EXPECT_EQ(progress.command, Command::kCordon);
    EXPECT_THAT(*progress.See(kDrain, true, kStart), ElementsAre("cordoned", "draining"));
    EXPECT_EQ(std::get<phase::Evicting>(progress.phase).started, kStart) << "the start time is kept";
  }
}

TEST(Advance, DoesNotAnswerADrainWhoseCordonIsGone) {
  Progress progress = Evicting();
  EXPECT_TRUE(progress.At(happened::PodsGone{}));
  EXPECT_THAT(*progress.See(kDrain, false, kStart), ElementsAre("cordoning"));
  EXPECT_EQ(progress.command, Command::kCordon);
}

TEST(Advance, StartsOverForAnotherConfig) {
  const Request other_request = {Verb::kDrain, "c"};
  Progress progress = Evicting();
  EXPECT_THAT(*progress.See(other_request, true), ElementsAre("cordoning"));
  EXPECT_FALSE(std::get<news::Cordoning>(progress.last[0]).again);
  EXPECT_EQ(RequestOf(progress.phase), other_request);
}

TEST(Advance, EndsADrainWhoseRequestIsWithdrawn) {
  Progress progress = Evicting();
  EXPECT_THAT(*progress.See(kUncordon, true), ElementsAre("uncordoning"));
  progress = Evicting();
  EXPECT_THAT(*progress.See({}, true), ElementsAre("withdrawn"));
  EXPECT_EQ(progress.command, Command::kNothing);
}

TEST(Advance, DelaysRepeatedWritesMoreEachTime) {
  const std::pair<Phase, Command> writing[] = {{phase::Cordoning{kDrain}, Command::kCordon},
                                               {phase::Answering{kDrain}, Command::kAnswer},
                                               {phase::Uncordoning{kUncordon}, Command::kUncordon}};
  for (const auto& [phase, command] : writing) {
    Progress progress;
    progress.phase = phase;
    std::vector<milliseconds> waits;
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(progress.At(happened::WriteFailed{"why"})->size(), 1u);
      EXPECT_EQ(progress.command, Command::kWait);
      waits.push_back(progress.wait);
      EXPECT_THAT(*progress.At(happened::TimeIsUp{}), IsEmpty());
      EXPECT_EQ(progress.command, command);
    }
    EXPECT_THAT(waits, ElementsAre(seconds(10), seconds(20), seconds(40), seconds(80), seconds(160), seconds(180)));
  }
}

TEST(Advance, LogsAMalformedRequestOnce) {
  Progress progress;
  const auto see = [&](const char* what) { return progress.At(happened::Seen{{.misunderstood = what}}); };
  EXPECT_THAT(*see("stop"), ElementsAre("misunderstood"));
  EXPECT_EQ(see("stop"), std::nullopt);
  EXPECT_THAT(*see("go"), ElementsAre("misunderstood"));
  EXPECT_THAT(*see(""), IsEmpty());
  EXPECT_THAT(*see("go"), ElementsAre("misunderstood"));
}

TEST(Advance, IgnoresAnOutdatedResult) {
  const Event past[] = {happened::PodsGone{}, happened::AttemptFailed{"why"}, happened::WriteFailed{"why"},
                        happened::TimeIsUp{}, happened::Uncordoned{false}};
  for (const Event& event : past) EXPECT_FALSE(Advance(phase::Idle{}, event, {}, kStart)) << event.index();
}

}  // namespace
}  // namespace pintle::drain
