// SPDX-License-Identifier: Apache-2.0
#include "agent/recovery.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "change/journal.h"
#include "change/rejected.h"
#include "ignition/config.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

class PowerWithoutReboots final : public host::Power {
 public:
  Result<> Reboot(const std::string&) override { return Error(ErrorKind::kUnavailable, "nothing reboots"); }
  Result<host::Inhibitor> InhibitShutdown(const std::string&) override { return host::Inhibitor(); }
};

// A machine that has rebooted into the change to rendered-worker-1, which has to be confirmed.
class RecoveryTest : public testing::Test {
 protected:
  using How = happened::Recovered::How;

  RecoveryTest() {
    small_.policy = {};
    small_.Write("proc/sys/kernel/random/boot_id", "one\n");
    plan::TestConfig config = change::Everything();
    config.spec().config = ignition::Encode(config.ignition());
    EXPECT_EQ(ValueOf(small_.GoFromTo(change::NoConfig(), config)), change::Ending::kRebootNeeded);
    change::Change change = *ValueOf(journal_.Read());
    change.awaits_confirmation = true;
    EXPECT_TRUE(Succeeded(journal_.Write(change)));
    small_.Write("proc/sys/kernel/random/boot_id", "two\n");
  }

  TemporaryDirectory directory_;
  change::SmallMachine small_{directory_.path()};
  const Root root_ = ValueOf(Root::Open(directory_.path().string()));
  const change::Journal journal_{root_};
  const host::ThisMachine machine_{ValueOf(Root::Open(directory_.path().string())),
                                   std::make_unique<change::RecordingSystemd>(root_),
                                   std::make_unique<PowerWithoutReboots>(), nullptr, host::Labels()};
};

TEST_F(RecoveryTest, AHealthyMachineKeepsTheConfigOfTheChange) {
  const RecoveryResult result = ValueOf(EndInterruptedChange(machine_, {}));
  EXPECT_EQ(result.recovered.how, How::kToBeConfirmed);
  EXPECT_EQ(result.recovered.goal, Goal{"rendered-worker-1"});
  EXPECT_EQ(result.current, Goal{"rendered-worker-1"});
  EXPECT_FALSE(result.rejected);
  EXPECT_TRUE(Succeeded(ConfirmChange(machine_)));
  EXPECT_FALSE(ValueOf(journal_.Read()));
}

TEST_F(RecoveryTest, AnUnhealthyMachineGoesBackAndRejectsTheConfigOfTheChange) {
  const RecoveryResult result = ValueOf(UndoUnhealthyChange(machine_, {}, "the network is down"));
  EXPECT_EQ(result.recovered.how, How::kRebootNeeded);
  EXPECT_TRUE(result.recovered.undoes);
  EXPECT_EQ(result.current, std::nullopt);
  EXPECT_EQ(result.rejected, (Rejection{{"rendered-worker-1"}, "the network is down"}));
}

TEST_F(RecoveryTest, AMachineWithoutAChangeHasNothingToRecover) {
  ASSERT_TRUE(Succeeded(journal_.Close()));
  const RecoveryResult result = ValueOf(EndInterruptedChange(machine_, {}));
  EXPECT_EQ(result.recovered.how, How::kEnded);
  EXPECT_EQ(result.recovered.goal, std::nullopt);
  EXPECT_EQ(result.current, Goal{"rendered-worker-1"});
}

}  // namespace
}  // namespace pintle::agent
