// SPDX-License-Identifier: Apache-2.0
#include "pool/gate_timeouts.h"

#include <chrono>

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
