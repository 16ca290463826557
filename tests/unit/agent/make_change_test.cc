// SPDX-License-Identifier: Apache-2.0
#include "agent/make_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "change/journal.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using change::Ending;
using change::NoConfig;
using testing::ElementsAre;
using testing::HasSubstr;

// Records why shutdowns were held back.
class RecordingPower final : public host::Power {
 public:
  explicit RecordingPower(std::string& reason) : reason_(reason) {}
  Result<> Reboot(const std::string&) override { return Error(ErrorKind::kUnavailable, "nothing reboots"); }
  Result<host::Inhibitor> InhibitShutdown(const std::string& why) override {
    reason_ = why;
    return host::Inhibitor();
  }

 private:
  std::string& reason_;
};

class MakeChangeTest : public testing::Test {
 protected:
  enum class Forced { kNo, kYes };

  MakeChangeTest() { small_.Write("proc/sys/kernel/random/boot_id", "one\n"); }

  // Makes the change from no config to one that has /etc/motd.
  MadeChange Make(const std::string& name, Forced forced = Forced::kNo) {
    plan::TestConfig config;
    config.metadata().name = name;
    config.WithFile("/etc/motd", "data:,ours");
    Prepared prepared{.from = CurrentConfigOf(NoConfig()), .to = CurrentConfigOf(config), .plan = {}};
    prepared.plan = plan::Make(prepared.from, prepared.to, small_.policy, {});
    prepared.is_forced = forced == Forced::kYes;
    return MakeChange(machine_, prepared, {}, {});
  }

  static change::CurrentConfig CurrentConfigOf(const plan::ParsedConfig& config) {
    return {.object = config.object, .ignition = config.ignition, .writers = {}};
  }

  TemporaryDirectory directory_;
  change::SmallMachine small_{directory_.path()};
  const Root root_ = ValueOf(Root::Open(directory_.path().string()));
  std::string held_back_;
  std::unique_ptr<change::RecordingSystemd> own_systemd_ = std::make_unique<change::RecordingSystemd>(root_);
  change::RecordingSystemd& systemd_ = *own_systemd_;
  const host::ThisMachine machine_{ValueOf(Root::Open(directory_.path().string())), std::move(own_systemd_),
                                   std::make_unique<RecordingPower>(held_back_), nullptr, host::Labels()};
};

TEST_F(MakeChangeTest, EndsAChangeWithoutARebootAndHoldsBackShutdownsMeanwhile) {
  const MadeChange made = Make("rendered-worker-1");
  EXPECT_EQ(ValueOf(made.ending), Ending::kDone);
  EXPECT_FALSE(made.is_in_journal);
  EXPECT_EQ(small_.Read("etc/motd"), "ours");
  EXPECT_THAT(systemd_.jobs, ElementsAre("watcher.service"));
  EXPECT_EQ(held_back_, "the change to rendered-worker-1 is under way");
}

TEST_F(MakeChangeTest, RemovesTheFileThatForcesTheChange) {
  small_.Write("run/machine-config-daemon-force", "");
  EXPECT_TRUE(Succeeded(Make("rendered-worker-1", Forced::kYes).ending));
  EXPECT_FALSE(small_.Has("run/machine-config-daemon-force"));
}

TEST_F(MakeChangeTest, LeavesNothingInTheJournalIfTheChangeWasUndone) {
  systemd_.failing = "watcher.service";
  const MadeChange made = Make("rendered-worker-1");
  EXPECT_THAT(MessageOf(made.ending), HasSubstr("watcher.service does not start"));
  EXPECT_FALSE(made.is_in_journal);
  EXPECT_EQ(small_.Read("etc/motd"), "the OS's greeting\n");
}

TEST_F(MakeChangeTest, DistinguishesItsOwnChangeInTheJournalFromAnotherProgramsChange) {
  small_.policy = {};
  EXPECT_EQ(ValueOf(Make("rendered-worker-1").ending), Ending::kRebootNeeded);
  const MadeChange again = Make("rendered-worker-1");
  EXPECT_FALSE(again.ending);
  EXPECT_TRUE(again.is_in_journal);
  const MadeChange another = Make("rendered-worker-2");
  EXPECT_FALSE(another.ending);
  EXPECT_FALSE(another.is_in_journal);
}

}  // namespace
}  // namespace pintle::agent
