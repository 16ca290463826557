// SPDX-License-Identifier: Apache-2.0
#include "host/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace pintle::host {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(RunProgram, ReturnsWhatWasWritten) {
  EXPECT_EQ(*RunProgram({{"echo", "a  b"}, PlainEnvironment()}, {}), "a  b\n");
}

TEST(RunProgram, GivesItsEnvironmentAndNoOther) {
  ::setenv("SECRET", "1", 1);
  EXPECT_EQ(*RunProgram({{"env"}, {"A=1", "B=2"}}, {}), "A=1\nB=2\n");
}

TEST(RunProgram, TellsWhatTheProgramComplainedOf) {
  const auto failed = RunProgram({{"cat", "/nowhere/x"}, PlainEnvironment()}, {});
  EXPECT_EQ(failed.error().message(), "running cat: cat: /nowhere/x: No such file or directory");
  EXPECT_THAT(RunProgram({{"false"}, PlainEnvironment()}, {}).error().message(), EndsWith("it failed with status 1"));
}

TEST(RunProgram, SaysThatAProgramIsNotThere) {
  const auto failed = RunProgram({{"no-such-program"}, PlainEnvironment()}, {});
  EXPECT_THAT(failed.error().message(), HasSubstr("running no-such-program: posix_spawn: No such file"));
}

TEST(RunProgram, EndsAProgramWhenAskedToStop) {
  std::stop_source stop;
  std::thread asking([&] { stop.request_stop(); });
  const auto before = std::chrono::steady_clock::now();
  const auto stopped = RunProgram({{"sleep", "1000"}, PlainEnvironment()}, stop.get_token());
  asking.join();
  EXPECT_EQ(stopped.error().kind(), ErrorKind::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(9));
}

}  // namespace
}  // namespace pintle::host
