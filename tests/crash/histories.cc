// SPDX-License-Identifier: Apache-2.0
#include "crash/histories.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace pintle::crash {
namespace {

int histories = 0;

class Total final : public testing::Environment {
 public:
  void TearDown() override {
    fmt::print("{} histories in all\n", histories);
    // A run of selected tests has fewer histories, and a test that fails ends early.
    const bool is_whole_run = testing::GTEST_FLAG(filter) == "*" && !testing::UnitTest::GetInstance()->Failed();
    if (is_whole_run) {
      EXPECT_GE(histories, LEAST_HISTORIES);
    }
  }
};

const testing::Environment* const kTotal = testing::AddGlobalTestEnvironment(new Total);

}  // namespace

void CountHistory() { ++histories; }

}  // namespace pintle::crash
