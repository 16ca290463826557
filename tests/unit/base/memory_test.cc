// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace pintle {
namespace {

// Returns the resident memory in kilobytes.
long Resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return -1;
}

// Its address is a relocated constant.
const char* const kWords[] = {"one", "two"};

TEST(Memory, UnusedCodeTakesNoMemory) {
  const long before = Resident();
  ReleaseIdleMemory();
  EXPECT_LT(Resident(), before);
  // Pages that were released are read again when they are used.
  EXPECT_EQ(std::string(kWords[0]) + kWords[1], "onetwo");
  EXPECT_THROW(static_cast<void>(std::stoi("none")), std::invalid_argument);
}

}  // namespace
}  // namespace pintle
