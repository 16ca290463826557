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
    // Meson sets the number, for a run of all tests.  A failed test counts too few histories, so they are not compared.
    const char* const least = std::getenv("PINTLE_LEAST_HISTORIES");
    if (least != nullptr && !testing::UnitTest::GetInstance()->Failed()) {
      EXPECT_GE(histories, std::stoi(least));
    }
  }
};

const testing::Environment* const kTotal = testing::AddGlobalTestEnvironment(new Total);

}  // namespace

void CountHistory() { ++histories; }

int Stride(int nightly) { return std::getenv("PINTLE_NIGHTLY") != nullptr ? nightly : 2 * nightly; }

}  // namespace pintle::crash
