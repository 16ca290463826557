// SPDX-License-Identifier: Apache-2.0
#include "generated/container_runtime_status.h"

#include <gtest/gtest.h>

#include "unit/generated/status_times.h"

namespace pintle::generated {
namespace {

TEST(StatusAfter, ReportsSuccessOrTheError) {
  api::ContainerRuntimeConfig config;
  config.metadata.generation = 2;
  config.status = *StatusAfter(config, ProblemWith(Error(ErrorKind::kInvalid, "invalid PidsLimit 1")), kNow);
  EXPECT_EQ(config.status.observed_generation, 2);
  ASSERT_EQ(config.status.conditions.size(), 1U);
  EXPECT_EQ(config.status.conditions[0].type, "Failure");
  EXPECT_EQ(config.status.conditions[0].status, "True");
  EXPECT_EQ(config.status.conditions[0].message, "Error: invalid PidsLimit 1");

  config.status = *StatusAfter(config, "", kLater);
  ASSERT_EQ(config.status.conditions.size(), 2U);
  EXPECT_EQ(config.status.conditions[1].type, "Success");
  EXPECT_EQ(config.status.conditions[1].message, "Success");
}

TEST(StatusAfter, IsNulloptUnlessTheOutcomeOrTheGenerationIsNew) {
  api::ContainerRuntimeConfig config;
  config.status = *StatusAfter(config, "", kNow);
  EXPECT_FALSE(StatusAfter(config, "", kLater));
  config.metadata.generation = 2;
  const auto again = StatusAfter(config, "", kLater);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->observed_generation, 2);
  ASSERT_EQ(again->conditions.size(), 1U);
  EXPECT_EQ(again->conditions[0].last_transition_time->at, kNow);
}

TEST(ProblemOf, NamesTheWorkThatFailed) {
  const Error error(ErrorKind::kInvalid, "e");
  EXPECT_EQ(ProblemOfName(error), "could not get ctrcfg key: e");
  EXPECT_EQ(ProblemOfTemplates(error), "could not generate origin ContainerRuntime Configs: e");
  EXPECT_EQ(ProblemOfWriting(error), "could not Create/Update MachineConfig: e");
}

TEST(StatusAfter, KeepsTheLastThreeConditions) {
  api::ContainerRuntimeConfig config;
  for (const char* problem : {"a", "b", "c", "d"}) config.status = *StatusAfter(config, problem, kNow);
  ASSERT_EQ(config.status.conditions.size(), 3U);
  EXPECT_EQ(config.status.conditions[0].message, "b");
  EXPECT_EQ(config.status.conditions[2].message, "d");
}

}  // namespace
}  // namespace pintle::generated
