// SPDX-License-Identifier: Apache-2.0
#include "pool/gate_timeouts.h"

#include <chrono>
#include <cstdint>
#include <limits>

#include "support/expect.h"

namespace pintle::pool {
namespace {

using std::chrono::minutes;
using testing::IsEmpty;

const WallTime kMorning = *FromRfc3339("2027-01-02T08:00:00Z");

Gate GateWithTimeout(GateTimeout on_timeout) {
  Gate gate;
  gate.timeout = minutes(10);
  gate.on_timeout = on_timeout;
  return gate;
}

TEST(GateTimeouts, DecideWhenTheTimeoutHasPassed) {
  using Outcome = GateTimeouts::Outcome;
  const std::map<GateTimeout, Outcome> outcomes = {{GateTimeout::kWait, Outcome::kBlocks},
                                                   {GateTimeout::kHalt, Outcome::kHalts},
                                                   {GateTimeout::kContinue, Outcome::kContinues}};
  for (const auto& [on_timeout, outcome] : outcomes) {
    std::map<std::string, api::Time> blocked;
    const Gate gate = GateWithTimeout(on_timeout);
    GateTimeouts first(blocked, kMorning);
    EXPECT_EQ(first.Judge(gate, "g"), Outcome::kBlocks);
    EXPECT_EQ(first.next(), kMorning + minutes(10));
    GateTimeouts last(blocked, kMorning + minutes(10));
    EXPECT_EQ(last.Judge(gate, "g"), outcome);
    EXPECT_EQ(last.next(), std::nullopt);
  }
}

TEST(GateTimeouts, AGateWithoutATimeoutBlocksAndIsNotRecordedByItself) {
  std::map<std::string, api::Time> blocked;
  GateTimeouts timeouts(blocked, kMorning);
  EXPECT_EQ(timeouts.Judge(Gate(), "g"), GateTimeouts::Outcome::kBlocks);
  EXPECT_THAT(blocked, IsEmpty());
  EXPECT_EQ(timeouts.RecordAsBlocking("g"), kMorning);
  EXPECT_EQ(blocked.at("g").at, kMorning);
}

TEST(GateTimeouts, StandStillAndGoOn) {
  using Outcome = GateTimeouts::Outcome;
  const Gate gate = GateWithTimeout(GateTimeout::kHalt);
  std::map<std::string, api::Time> blocked;
  std::map<std::string, std::int64_t> waited;
  GateTimeouts(blocked, kMorning, &waited).Judge(gate, "g");
  GateTimeouts still(blocked, kMorning + minutes(4), &waited);
  EXPECT_EQ(still.JudgeStill(gate, "g"), Outcome::kBlocks);
  EXPECT_EQ(still.JudgeStill(gate, "new"), Outcome::kBlocks);
  EXPECT_EQ(still.next(), std::nullopt);
  still.ForgetUnblocked();
  EXPECT_THAT(blocked, IsEmpty());
  EXPECT_EQ(waited, (std::map<std::string, std::int64_t>{{"g", 240}}));
  GateTimeouts later(blocked, kMorning + minutes(600), &waited);
  EXPECT_EQ(later.JudgeStill(gate, "g"), Outcome::kBlocks);
  EXPECT_EQ(later.Judge(gate, "g"), Outcome::kBlocks);
  EXPECT_EQ(later.next(), kMorning + minutes(606));
  EXPECT_THAT(waited, IsEmpty());
  GateTimeouts last(blocked, kMorning + minutes(606), &waited);
  EXPECT_EQ(last.JudgeStill(gate, "g"), Outcome::kHalts);
  EXPECT_EQ(last.Judge(gate, "g"), Outcome::kHalts);
}

TEST(GateTimeouts, StopOrForgetAllNodesOfAGate) {
  Gate gate = GateWithTimeout(GateTimeout::kHalt);
  gate.name = "g";
  const api::Time since{kMorning};
  const std::map<std::string, api::Time> before = {{"g", since}, {"g/n", since}, {"gg", since}, {"f/g", since}};
  auto blocked = before;
  std::map<std::string, std::int64_t> waited = {{"g/m", 60}};
  EXPECT_FALSE(GateTimeouts(blocked, kMorning + minutes(9), &waited).StopAll(gate));
  EXPECT_EQ(waited, (std::map<std::string, std::int64_t>{{"g", 540}, {"g/m", 60}, {"g/n", 540}}));
  EXPECT_EQ(blocked, (std::map<std::string, api::Time>{{"f/g", since}, {"gg", since}}));
  GateTimeouts(blocked, kMorning, &waited).Forget("g");
  EXPECT_THAT(waited, IsEmpty());
  EXPECT_EQ(blocked.size(), 2U);
  blocked = before;
  EXPECT_TRUE(GateTimeouts(blocked, kMorning + minutes(10), &waited).StopAll(gate));
}

// A person may have damaged the memory.
TEST(GateTimeouts, TakeAnImpossibleNumberOfSecondsForTheNearestPossibleOne) {
  const Gate gate = GateWithTimeout(GateTimeout::kHalt);
  for (const std::int64_t seconds :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    std::map<std::string, api::Time> blocked;
    std::map<std::string, std::int64_t> waited = {{"g", seconds}};
    GateTimeouts timeouts(blocked, kMorning, &waited);
    EXPECT_EQ(timeouts.JudgeStill(gate, "g") == GateTimeouts::Outcome::kHalts, seconds > 0);
    EXPECT_EQ(timeouts.Judge(gate, "g") == GateTimeouts::Outcome::kHalts, seconds > 0);
  }
}

TEST(GateTimeouts, ForgetGatesThatDoNotBlockNow) {
  std::map<std::string, api::Time> blocked = {{"a", api::Time{kMorning}}, {"b", api::Time{kMorning}}};
  GateTimeouts timeouts(blocked, kMorning + minutes(1));
  EXPECT_EQ(timeouts.RecordAsBlocking("b"), kMorning);
  timeouts.ForgetUnblocked();
  EXPECT_EQ(blocked, (std::map<std::string, api::Time>{{"b", api::Time{kMorning}}}));
}

TEST(GateTimeouts, BeginAgainWhenTheClockIsPutBack) {
  std::map<std::string, api::Time> blocked = {{"g", api::Time{kMorning}}};
  GateTimeouts timeouts(blocked, kMorning - minutes(60));
  EXPECT_EQ(timeouts.Judge(GateWithTimeout(GateTimeout::kHalt), "g"), GateTimeouts::Outcome::kBlocks);
  EXPECT_EQ(timeouts.next(), kMorning - minutes(50));
  EXPECT_EQ(blocked.at("g").at, kMorning - minutes(60));
}

}  // namespace
}  // namespace pintle::pool
