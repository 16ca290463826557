// SPDX-License-Identifier: Apache-2.0
#include "agent/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A systemd with prepared units, which no call changes.
class PreparedSystemd final : public host::Systemd {
 public:
  Result<> PutEnablement(std::span<const resource::Put<resource::UnitState>>) override { return {}; }
  Result<resource::UnitLinks::State> ObserveLinks() override { return resource::UnitLinks::State(); }
  Result<> PutLinks(const resource::UnitLinks::State&) override { return {}; }
  Result<> Reload() override { return {}; }
  Result<> Run(host::JobKind, const std::string&, milliseconds) override { return {}; }
  Result<host::UnitStatus> Observe(const std::string& unit) override {
    if (is_away) return Error(ErrorKind::kUnavailable, "looking at " + unit + ": systemd is not on the system bus");
    const auto known = units.find(unit);
    return known == units.end() ? host::UnitStatus{"not-found", "inactive", "", false} : known->second;
  }

  void SetState(const std::string& unit, const std::string& active_state) {
    units[unit] = {"loaded", active_state, "enabled", false};
  }

  std::map<std::string, host::UnitStatus> units;
  bool is_away = false;
};

class HealthTest : public testing::Test {
 protected:
  HealthTest() { settings_.check_directory = "/check.d"; }

  Result<std::vector<std::string>> Find() { return FindHealthProblems(systemd_, root_, settings_, stop_.get_token()); }
  std::vector<std::string> Unwell() { return ValueOf(Find()); }

  void WriteCheck(const std::string& name, const std::string& script) {
    std::filesystem::create_directories(directory_ / "check.d");
    directory_.Write("check.d/" + name, script);
    std::filesystem::permissions(directory_ / ("check.d/" + name), std::filesystem::perms(0755));
  }

  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path()));
  PreparedSystemd systemd_;
  HealthSettings settings_;
  std::stop_source stop_;
};

TEST_F(HealthTest, IsFineWithoutAnyChecks) { EXPECT_THAT(Unwell(), IsEmpty()); }

TEST_F(HealthTest, RequiresItsUnitsToBeActive) {
  settings_.units = {"a.service", "b.service", "c.service", "d.service", "e.service"};
  systemd_.SetState("a.service", "active");
  systemd_.SetState("b.service", "reloading");
  systemd_.SetState("c.service", "failed");
  systemd_.SetState("d.service", "activating");
  EXPECT_THAT(Unwell(), ElementsAre("c.service is failed", "d.service is activating",
                                    "e.service cannot be checked: its load state is not-found"));
}

TEST_F(HealthTest, RequiresACompleteBootIfAUnitWantsThat) {
  systemd_.SetState("boot-complete.target", "inactive");
  EXPECT_THAT(Unwell(), IsEmpty());
  systemd_.units["boot-complete.target"].is_needed = true;
  EXPECT_THAT(Unwell(), ElementsAre("boot-complete.target is inactive"));
  systemd_.SetState("boot-complete.target", "active");
  EXPECT_THAT(Unwell(), IsEmpty());
}

TEST_F(HealthTest, ReportsThatSystemdDoesNotAnswer) {
  systemd_.is_away = true;
  EXPECT_THAT(Unwell(), ElementsAre("looking at boot-complete.target: systemd is not on the system bus"));
}

TEST_F(HealthTest, RunsAllProgramsInTheOrderOfTheirNames) {
  WriteCheck("20-second", "#!/bin/sh\necho 2 >> \"${0%/*}/../ran\"\necho first >&2; echo 'no gateway' >&2; exit 3\n");
  WriteCheck("10-first", "#!/bin/sh\necho 1 >> \"${0%/*}/../ran\"\necho fine; exit 0\n");
  WriteCheck("30-third", "#!/bin/sh\nexit 1\n");
  EXPECT_THAT(Unwell(), ElementsAre("20-second failed with status 3: no gateway", "30-third failed with status 1"));
  EXPECT_EQ(directory_.Read("ran"), "1\n2\n");
}

TEST_F(HealthTest, RunsProgramsOnly) {
  WriteCheck("README", "#!/bin/sh\nexit 1\n");
  std::filesystem::permissions(directory_ / "check.d/README", std::filesystem::perms(0644));
  WriteCheck(".hidden", "#!/bin/sh\nexit 1\n");
  std::filesystem::create_directory(directory_ / "check.d/directory");
  EXPECT_THAT(Unwell(), IsEmpty());
}

TEST_F(HealthTest, RunsNoProgramThatOthersMayChange) {
  const std::string script = "#!/bin/sh\necho \"${0##*/}\" >> \"${0%/*}/../ran\"\n";
  WriteCheck("10-open", script);
  WriteCheck("20-safe", script);
  const auto allow = [&](const char* name, unsigned mode) {
    std::filesystem::permissions(directory_ / name, std::filesystem::perms(mode));
  };
  allow("check.d/10-open", 0775);
  EXPECT_THAT(Unwell(), ElementsAre(AllOf(HasSubstr("check.d/10-open is not used"), HasSubstr("`chmod go-w`"))));
  EXPECT_EQ(directory_.Read("ran"), "20-safe\n");
  // Whoever may write to the directory can replace every program in it.
  allow("check.d", 0777);
  EXPECT_THAT(Unwell(), ElementsAre(AllOf(HasSubstr("check.d is not used"), HasSubstr("`chmod go-w`"))));
  EXPECT_EQ(directory_.Read("ran"), "20-safe\n");
}

TEST_F(HealthTest, RunsNoProgramsInADirectoryThatALinkOfOthersLeadsTo) {
  WriteCheck("10-safe", "#!/bin/sh\ntouch \"${0%/*}/../ran\"\n");
  std::filesystem::create_directory(directory_ / "open");
  std::filesystem::permissions(directory_ / "open", std::filesystem::perms(0777));
  std::filesystem::create_symlink("../check.d", directory_ / "open/link");
  settings_.check_directory = "/open/link";
  EXPECT_THAT(Unwell(), ElementsAre(HasSubstr("may write " + (directory_ / "open").string())));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "ran"));
}

TEST_F(HealthTest, UsesNoShellForAFileThatIsNoProgram) {
  WriteCheck("text", "exit 0\n");
  EXPECT_THAT(Unwell(), ElementsAre("text could not be run: posix_spawn: Exec format error"));
}

TEST_F(HealthTest, ReportsASignal) {
  WriteCheck("killed", "#!/bin/sh\nkill -9 $$\n");
  EXPECT_THAT(Unwell(), ElementsAre("killed was ended by signal 9"));
}

TEST_F(HealthTest, KeepsTheBeginningOfALongLine) {
  WriteCheck("long", "#!/bin/sh\nprintf '%01000d\\n' 0 >&2\nexit 1\n");
  EXPECT_THAT(Unwell(), ElementsAre("long failed with status 1: " + std::string(300, '0')));
}

TEST_F(HealthTest, EndsAProgramThatTakesTooLong) {
  settings_.check_limit = milliseconds(50);
  WriteCheck("endless", "#!/bin/sh\nsleep 1000\n");
  EXPECT_THAT(Unwell(), ElementsAre("endless took longer than 0.05 s"));
}

TEST_F(HealthTest, DoesNotWaitForProcessesThatAProgramLeavesRunning) {
  WriteCheck("leaves", "#!/bin/sh\nsleep 1000 &\necho gone >&2\nexit 1\n");
  EXPECT_THAT(Unwell(), ElementsAre("leaves failed with status 1: gone"));
}

TEST_F(HealthTest, ReportsThatTheDirectoryIsAFile) {
  directory_.Write("check.d", "");
  EXPECT_THAT(Unwell(), ElementsAre("opening /check.d: open: Not a directory"));
}

TEST_F(HealthTest, ADanglingLinkInPlaceOfTheDirectoryIsReported) {
  std::filesystem::create_symlink("/nowhere", directory_ / "check.d");
  EXPECT_THAT(Unwell(), ElementsAre("opening /check.d: open: No such file or directory"));
}

TEST_F(HealthTest, StopsOnRequest) {
  WriteCheck("endless", "#!/bin/sh\nsleep 1000\n");
  stop_.request_stop();
  EXPECT_EQ(MessageOf(Find()), "the health check was cancelled");
}

TEST(Judge, WaitsLongerAndLongerUntilTheLimit) {
  const auto pause = [](int rounds, milliseconds passed) {
    return std::get<AskAgain>(Judge({"a is failed"}, rounds, passed, minutes(10))).after;
  };
  EXPECT_EQ(pause(1, seconds(0)), seconds(1));
  EXPECT_EQ(pause(2, seconds(1)), seconds(2));
  EXPECT_EQ(pause(3, seconds(3)), seconds(5));
  EXPECT_EQ(pause(4, seconds(8)), seconds(10));
  EXPECT_EQ(pause(60, minutes(9)), seconds(10));
  EXPECT_EQ(pause(66, milliseconds(599'500)), milliseconds(500));
}

TEST(Judge, IsUnwellWithAllReasonsAfterTheLimit) {
  const HealthVerdict verdict = Judge({"a is failed", "b is inactive"}, 67, minutes(10), minutes(10));
  EXPECT_EQ(std::get<Unwell>(verdict).why, "a is failed; b is inactive");
}

TEST(Judge, IsWellWithoutReasonsAlsoAfterTheLimit) {
  EXPECT_TRUE(std::holds_alternative<Well>(Judge({}, 1, seconds(0), minutes(10))));
  EXPECT_TRUE(std::holds_alternative<Well>(Judge({}, 70, minutes(11), minutes(10))));
}

}  // namespace
}  // namespace pintle::agent
