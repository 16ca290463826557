// SPDX-License-Identifier: Apache-2.0
#include "host/program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(RunProgram, ReturnsTheOutput) { EXPECT_EQ(*RunProgram({{"echo", "a  b"}, PlainEnvironment()}, {}), "a  b\n"); }

TEST(RunProgram, GivesTheProgramOnlyItsEnvironment) {
  ::setenv("SECRET", "1", 1);
  EXPECT_EQ(*RunProgram({{"env"}, {"A=1", "B=2"}}, {}), "A=1\nB=2\n");
}

TEST(RunProgram, ReturnsTheProgramsErrorText) {
  const auto failed = RunProgram({{"cat", "/nowhere/x"}, PlainEnvironment()}, {});
  EXPECT_EQ(failed.error().message(), "running cat: cat: /nowhere/x: No such file or directory");
  EXPECT_THAT(RunProgram({{"false"}, PlainEnvironment()}, {}).error().message(), EndsWith("it failed with status 1"));
}

TEST(RunProgram, ReportsAMissingProgram) {
  const auto failed = RunProgram({{"no-such-program"}, PlainEnvironment()}, {});
  EXPECT_THAT(failed.error().message(),
              StartsWith("running no-such-program: there is no such program in /usr/local/sbin:"));
}

TEST(RunProgram, SearchesOnlyTheDirectoriesOfTheSystem) {
  const TemporaryDirectory directory;
  for (const char* name : {"true", "program-of-the-caller"}) {
    directory.Write(name, "#!/bin/sh\necho from the directory of the caller\n");
    std::filesystem::permissions(directory / name, std::filesystem::perms(0755));
  }
  const std::string path_before = ::getenv("PATH");
  ::setenv("PATH", directory.path().c_str(), 1);
  const auto known = RunProgram({{"true"}, PlainEnvironment()}, {});
  const auto unknown = RunProgram({{"program-of-the-caller"}, PlainEnvironment()}, {});
  ::setenv("PATH", path_before.c_str(), 1);
  EXPECT_EQ(ValueOf(known), "");
  EXPECT_THAT(MessageOf(unknown), HasSubstr("there is no such program"));
}

// The program, cat, ends only after the function has closed the pipe that cat reads.
TEST(RunProgram, CallsTheFunctionWhileTheProgramRuns) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  int calls = 0;
  const std::string input = fmt::format("/proc/{}/fd/{}", ::getpid(), ends[0]);
  const auto ended = RunProgram({{"cat", input}, PlainEnvironment()}, {}, [&] {
    if (++calls > 1) return;
    EXPECT_EQ(::write(ends[1], "called", 6), 6);
    ::close(ends[1]);
  });
  ::close(ends[0]);
  EXPECT_EQ(*ended, "called");
  EXPECT_GE(calls, 1);
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

TEST(RunProgram, EndsAProgramThatTakesTooLong) {
  const auto ended = RunProgram({{"sleep", "1000"}, PlainEnvironment(), std::chrono::seconds(1)}, {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(ended.error().message(),
            "running sleep: it has not ended within 1 second; run it in a shell to find out what it waits for");
}

TEST(RunProgram, HasPatienceWithAProgramThatEndsInTime) {
  EXPECT_EQ(ValueOf(RunProgram({{"echo", "a"}, PlainEnvironment(), std::chrono::minutes(5)}, {})), "a\n");
}

// The request comes about a second after the start, when nothing is left to read.
TEST(RunProgram, EndsAProgramThatHasClosedItsOutputs) {
  std::stop_source stop;
  const auto before = std::chrono::steady_clock::now();
  const auto stopped = RunProgram({{"sh", "-c", "exec >&- 2>&-; exec sleep 30"}, PlainEnvironment()}, stop.get_token(),
                                  [&] { stop.request_stop(); });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind(), ErrorKind::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(9));
}

TEST(RunProgram, DoesNotWaitForAProcessThatTheProgramHasLeftBehind) {
  const auto output = RunProgram({{"sh", "-c", "setsid sleep 1000 & echo $!"}, PlainEnvironment()}, {});
  const pid_t left_behind = std::stoi(ValueOf(output));
  EXPECT_EQ(::kill(left_behind, SIGKILL), 0) << "it has ended before";
}

TEST(RunProgram, EndsThoughAProcessOfAnotherSessionKeepsTheOutputOpen) {
  std::stop_source stop;
  const TemporaryDirectory directory;
  const std::string command = fmt::format("setsid sh -c 'echo $$ >{0}/new; mv {0}/new {0}/pid; exec sleep 1000' & wait",
                                          directory.path().string());
  const auto stopped = RunProgram({{"sh", "-c", command}, PlainEnvironment()}, stop.get_token(), [&] {
    if (std::filesystem::exists(directory / "pid")) stop.request_stop();
  });
  EXPECT_EQ(stopped.error().kind(), ErrorKind::kCancelled);
  EXPECT_EQ(::kill(std::stoi(directory.Read("pid")), SIGKILL), 0) << "it has ended before";
}

}  // namespace
}  // namespace pintle::host
