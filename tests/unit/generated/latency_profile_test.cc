// SPDX-License-Identifier: Apache-2.0
#include "generated/latency_profile.h"

#include <gtest/gtest.h>

namespace pintle::generated {
namespace {

struct Latency {
  const char* pool;
  const char* profile;
  const char* frequency;  // The frequency, or the error.
};

TEST(SetWorkerLatency, AppliesToWorkersOnly) {
  const Latency cases[] = {
      {"worker", "", "7s"},
      {"worker", "Default", "10s"},
      {"worker", "MediumUpdateAverageReaction", "20s"},
      {"worker", "LowUpdateSlowReaction", "1m0s"},
      {"worker", "Bogus",
       "unknown worker latency profile type found Bogus, failed to update the original kubelet configuration"},
      {"infra", "LowUpdateSlowReaction", "7s"},
      {"master", "Bogus", "7s"},
  };
  for (const Latency& c : cases) {
    KubeletConfiguration config;
    config.node_status_update_frequency = *ParseGoDuration("7s");
    const Result<> set = SetWorkerLatency(c.pool, c.profile, config);
    EXPECT_EQ(set ? GoText(config.node_status_update_frequency) : set.error().message(), c.frequency)
        << c.pool << c.profile;
  }
}

TEST(LatencyProfileOf, IsTheProfileThatWasSet) {
  for (const char* profile : {"", "Default", "MediumUpdateAverageReaction", "LowUpdateSlowReaction"}) {
    KubeletConfiguration config;
    ASSERT_TRUE(SetWorkerLatency("worker", profile, config));
    EXPECT_EQ(LatencyProfileOf(config), profile);
  }
}

struct Transition {
  const char* from;
  const char* to;
  const char* why_not;
};

TEST(TransitionError, RefusesChangesBetweenTheFastestAndTheSlowestProfile) {
  const Transition cases[] = {
      {"", "Default", ""},
      {"Default", "MediumUpdateAverageReaction", ""},
      {"MediumUpdateAverageReaction", "LowUpdateSlowReaction", ""},
      {"LowUpdateSlowReaction", "LowUpdateSlowReaction", ""},
      {"Default", "LowUpdateSlowReaction",
       "transition not allowed from old WorkerLatencyProfile: \"Default\" to new WorkerLatencyProfile: "
       "\"LowUpdateSlowReaction\""},
      {"", "LowUpdateSlowReaction",
       "transition not allowed from old WorkerLatencyProfile: \"\" to new WorkerLatencyProfile: "
       "\"LowUpdateSlowReaction\""},
      {"LowUpdateSlowReaction", "",
       "transition not allowed from old WorkerLatencyProfile: \"LowUpdateSlowReaction\" to new WorkerLatencyProfile: "
       "\"\""},
  };
  for (const Transition& c : cases) EXPECT_EQ(TransitionError(c.from, c.to).value_or(""), c.why_not) << c.from << c.to;
}

}  // namespace
}  // namespace pintle::generated
