// SPDX-License-Identifier: Apache-2.0
#include "agent/check_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;
using testing::Optional;

class CheckProgram : public testing::Test {
 protected:
  std::optional<std::string> Run(const std::string& commands, milliseconds limit = std::chrono::minutes(1)) {
    directory_.Write("check", "#!/bin/sh\n" + commands + "\n");
    std::filesystem::permissions(directory_ / "check", std::filesystem::perms(0755));
    return ValueOf(RunCheck((directory_ / "check").string(), limit, {}));
  }

  TemporaryDirectory directory_;
};

TEST_F(CheckProgram, ReportsTheLastLineOfAFailure) {
  EXPECT_EQ(Run("echo fine >&2"), std::nullopt);
  EXPECT_THAT(Run("echo first >&2; echo no route to the gateway >&2; exit 3"),
              Optional(std::string("failed with status 3: no route to the gateway")));
}

TEST_F(CheckProgram, EndsACheckThatWritesWithoutEnd) {
  EXPECT_THAT(Run("exec yes >&2", milliseconds(200)), Optional(std::string("took longer than 0.2 s")));
}

// `yes` runs in a session of its own, so it is not killed with the check.  It ends when the pipe is closed.
TEST_F(CheckProgram, EndsAfterACheckThatLeavesAProcessThatWritesWithoutEnd) {
  EXPECT_EQ(Run("setsid yes >&2 &\nexit 0"), std::nullopt);
}

}  // namespace
}  // namespace pintle::agent
