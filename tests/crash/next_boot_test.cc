// SPDX-License-Identifier: Apache-2.0

// Tests the promise of a change that comes with the next boot: wherever the program is killed or the power is cut while
// the change is staged, finalized or ended, the machine boots the old files or the new ones, /var included.

#include "change/next_boot.h"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "change/apply.h"
#include "change/early.h"
#include "crash/faults.h"
#include "crash/histories.h"
#include "crash/to_be_confirmed.h"
#include "support/temporary_directory.h"
#include "support/tree.h"
#include "support/two_deployments.h"

namespace pintle::crash {
namespace {

using change::BootableMachine;
using change::Recovery;

const int kStride = Stride(5);

plan::TestConfig Everything() {
  plan::TestConfig config = change::Everything();
  config.WithFile("/var/ours/state", "data:,ours");
  return config;
}

class Machine {
 public:
  BootableMachine& operator*() { return machine_; }

  // Without a policy, the whole change needs a reboot.
  bool Stage(change::EndsWith end = change::EndsWith::kTheBoot) {
    const plan::TestConfig from = change::NoConfig();
    const plan::TestConfig to = Everything();
    const auto ended = change::Apply(machine_.host(), from, to, plan::Make(from, to, {}, {}), {}, end);
    return ended && *ended == change::Ending::kRebootNeeded;
  }
  bool Finalize() { return change::Finalize(machine_.host()).has_value(); }
  bool Recover() { return change::Recover(machine_.host()).has_value(); }
  bool Confirm() { return change::Confirm(machine_.host()).has_value(); }
  bool GiveUp() { return change::GiveUp(machine_.host(), {}, "it is not well").has_value(); }

  // Boots into the change for the first time.
  bool BootIntoChangeToBeConfirmed() {
    if (!Stage(change::EndsWith::kConfirmation)) return false;
    Reboot();
    return true;
  }
  void PowerCut() { Boot(); }
  void Reboot() {
    Finalize();
    Boot();
  }
  void BeginBoot() { machine_.Boot(); }
  bool PutFilesEarly() {
    host::Host host = machine_.host();
    host::SystemdOffline links(host.root);
    return change::PutFilesEarly({host.root, links, host.clock, host.labels, host.deployments}).has_value();
  }

  // Boots and confirms until nothing is left to do.
  bool Settle() {
    for (int turn = 0; turn < 6; ++turn) {
      const auto recovered = change::Recover(machine_.host());
      if (!recovered) return false;
      if (recovered->how == Recovery::kNothingToDo) return true;
      if (recovered->how == Recovery::kToBeConfirmed && !Confirm()) return false;
      const bool needs_reboot =
          recovered->how == Recovery::kRebootNeeded || recovered->how == Recovery::kRebootNeededToUndo;
      if (needs_reboot) Reboot();
    }
    return false;
  }

  // Describes everything that a config can change in the booted deployment.
  std::string Now() const {
    const auto top = machine_.top();
    const bool has_state = std::filesystem::exists(top / "var/ours");
    return DescribeTree(top / "etc") + DescribeTree(top / "var/home") +
           (has_state ? DescribeTree(top / "var/ours") : "");
  }

  // Returns the state of the machine in each boot at the time when services began to start.
  const std::vector<std::string>& read_by_services() const { return read_by_services_; }

  void Spoil() const { std::filesystem::permissions(machine_.top() / "etc/new/deep/file", std::filesystem::perms(0)); }

 private:
  void Boot() {
    BeginBoot();
    EXPECT_TRUE(PutFilesEarly());
    read_by_services_.push_back(Now());
  }

  TemporaryDirectory directory_;
  BootableMachine machine_{directory_.path()};
  std::vector<std::string> read_by_services_;
};

class AChangeWithTheNextBoot : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    change::UseOwnMounts();
    UseMemoryFileSystem();
  }

  AChangeWithTheNextBoot() {
    Machine machine;
    old_ = machine.Now();
    EXPECT_TRUE(machine.Stage());
    EXPECT_EQ(machine.Now(), old_);
    machine.Reboot();
    EXPECT_TRUE(machine.Settle());
    new_ = machine.Now();
    EXPECT_NE(old_, new_);
  }
  ~AChangeWithTheNextBoot() override { fmt::print("{} histories\n", histories_); }

  void ExpectOldOrNew(Machine& machine) {
    ++histories_;
    CountHistory();
    ASSERT_TRUE(machine.Settle());
    const std::string now = machine.Now();
    ASSERT_THAT(now, testing::AnyOf(old_, new_));
    ASSERT_THAT(machine.read_by_services(), testing::Each(testing::AnyOf(old_, new_)));
    was_old_ = was_old_ || now == old_;
    was_new_ = was_new_ || now == new_;
  }

  std::string old_;
  std::string new_;
  bool was_old_ = false;
  bool was_new_ = false;
  int histories_ = 0;
};

TEST_F(AChangeWithTheNextBoot, CutShortDuringStagingIsOldOrNewInTheEnd) {
  for (int at = 1;; ++at) {
    for (const char* then : {"power cut", "reboot", "recovery"}) {
      SCOPED_TRACE(fmt::format("cut at call {}, then {}", at, then));
      Machine machine;
      if (!RunWith(CutAt(at), [&] { return machine.Stage(); }).fault_met) return;
      if (then == std::string("power cut")) machine.PowerCut();
      if (then == std::string("reboot")) machine.Reboot();
      ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
    }
  }
}

TEST_F(AChangeWithTheNextBoot, CutShortWhileItIsFinalizedIsOldOrNewAfterARecoveryThatWasCutShortAnywhere) {
  for (int at = 1;; ++at) {
    for (int recovery_at = 1 + at % kStride;; recovery_at += kStride) {
      SCOPED_TRACE(fmt::format("cut at call {}, its recovery at call {}", at, recovery_at));
      Machine machine;
      ASSERT_TRUE(machine.Stage());
      if (!RunWith(CutAt(at), [&] { return machine.Finalize(); }).fault_met) {
        EXPECT_TRUE(was_old_ && was_new_);
        return;
      }
      machine.PowerCut();
      const bool was_cut = RunWith(CutAt(recovery_at), [&] { return machine.Recover(); }).fault_met;
      if (was_cut) machine.PowerCut();
      ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
      if (!was_cut) break;
    }
  }
}

TEST_F(AChangeWithTheNextBoot, CutShortWhileItIsFinalizedAndEarlyInTheNextBootIsOldOrNewForEveryService) {
  for (int at = 1;; ++at) {
    for (int early_at = 1 + at % kStride;; early_at += kStride) {
      SCOPED_TRACE(fmt::format("cut at call {}, and early in the boot at call {}", at, early_at));
      Machine machine;
      ASSERT_TRUE(machine.Stage());
      if (!RunWith(CutAt(at), [&] { return machine.Finalize(); }).fault_met) return;
      machine.BeginBoot();
      const bool was_cut = RunWith(CutAt(early_at), [&] { return machine.PutFilesEarly(); }).fault_met;
      machine.PowerCut();
      ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
      if (!was_cut) break;
    }
  }
}

TEST_F(AChangeWithTheNextBoot, LeavesNothingForOstreeToFinalizeIfItsFinalizerIsKilled) {
  for (int at = 1;; ++at) {
    SCOPED_TRACE(fmt::format("killed at call {}", at));
    Machine machine;
    ASSERT_TRUE(machine.Stage());
    if (!RunWith(CutAt(at), [&] { return machine.Finalize(); }).fault_met) break;
    static_cast<void>(change::DropUnfinalized((*machine).host()));  // It returns why the change is given up.
    const auto pending = ValueOf((*machine).deployments.Observe()).pending;
    ASSERT_FALSE(pending && pending->is_staged);
    machine.PowerCut();
    ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
  }
}

TEST_F(AChangeWithTheNextBoot, ThatTheDiskRefusesWhileItIsFinalizedIsOldOrNew) {
  for (const int errno_value : {ENOSPC, EIO}) {
    for (int at = 1;; ++at) {
      SCOPED_TRACE(fmt::format("errno {} at call {}", errno_value, at));
      Machine machine;
      ASSERT_TRUE(machine.Stage());
      const Fault fault = {.at = at, .kind = FaultKind::kError, .errno_value = errno_value};
      if (!RunWith(fault, [&] { return machine.Finalize(); }).fault_met) break;
      machine.PowerCut();
      ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
    }
  }
}

TEST_F(AChangeWithTheNextBoot, ThatIsNotAsWantedAfterTheBootIsOldAfterACutAnywhereInItsRecovery) {
  for (int at = 1;; ++at) {
    SCOPED_TRACE(fmt::format("cut at call {}", at));
    Machine machine;
    ASSERT_TRUE(machine.Stage());
    machine.Reboot();
    machine.Spoil();
    const bool was_cut = RunWith(CutAt(at), [&] { return machine.Recover(); }).fault_met;
    ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
    ASSERT_EQ(machine.Now(), old_);
    if (!was_cut) return;
  }
}

TEST_F(AChangeWithTheNextBoot, KeepsTheDeploymentThatSomeoneElseHasStagedWhenItIsGivenUp) {
  Machine machine;
  ASSERT_TRUE(machine.Stage());
  ASSERT_TRUE(Succeeded((*machine).deployments.StageAnother()));
  const auto recovered = ValueOf(change::GiveUp((*machine).host(), {}, "it is not well"));
  EXPECT_EQ(recovered.how, Recovery::kUndone);
  EXPECT_EQ(recovered.reason,
            "it is not well; the deployment other belongs to someone else, and is still the next one to boot");
  EXPECT_EQ(ValueOf((*machine).deployments.Observe()).pending->id, "other");
  EXPECT_EQ(machine.Now(), old_);
}

TEST_F(AChangeWithTheNextBoot, PutsNoFilesIntoADeploymentThatSomeoneElseHasStaged) {
  Machine machine;
  ASSERT_TRUE(machine.Stage());
  ASSERT_TRUE(Succeeded((*machine).deployments.StageAnother()));
  ASSERT_TRUE(machine.Finalize());
  const auto pending = ValueOf((*machine).deployments.Observe()).pending;
  EXPECT_TRUE(pending && pending->id == "other" && pending->is_staged);
}

TEST_F(AChangeWithTheNextBoot, DoesNotReplaceADeploymentThatSomeoneElseHasStaged) {
  Machine machine;
  ASSERT_TRUE(Succeeded((*machine).deployments.StageAnother()));
  EXPECT_FALSE(machine.Stage());
  EXPECT_EQ(ValueOf((*machine).deployments.Observe()).pending->id, "other");
  EXPECT_EQ(ValueOf(change::Recover((*machine).host())).how, Recovery::kNothingToDo);
}

class AChangeToBeConfirmed : public AChangeWithTheNextBoot {};

TEST_F(AChangeToBeConfirmed, EndsWhenItIsConfirmedAndNotBefore) {
  Machine machine;
  ASSERT_TRUE(machine.BootIntoChangeToBeConfirmed());
  for (int look = 0; look < 3; ++look) {
    EXPECT_EQ(ValueOf(change::Recover((*machine).host())).how, Recovery::kToBeConfirmed);
  }
  ASSERT_TRUE(machine.Confirm());
  EXPECT_EQ(ValueOf(change::Recover((*machine).host())).how, Recovery::kNothingToDo);
  EXPECT_EQ(machine.Now(), new_);
}

TEST_F(AChangeToBeConfirmed, IsUndoneWithItsReasonWhenItIsGivenUp) {
  Machine machine;
  ASSERT_TRUE(machine.BootIntoChangeToBeConfirmed());
  ASSERT_TRUE(machine.Recover());
  const auto given_up = ValueOf(change::GiveUp((*machine).host(), {}, "it is not well"));
  EXPECT_EQ(given_up.how, Recovery::kRebootNeededToUndo);
  EXPECT_EQ(given_up.reason, "it is not well");
  machine.Reboot();
  const auto recovered = ValueOf(change::Recover((*machine).host()));
  EXPECT_EQ(recovered.how, Recovery::kUndone);
  EXPECT_EQ(recovered.reason, "it is not well");
  EXPECT_EQ(machine.Now(), old_);
}

TEST_F(AChangeToBeConfirmed, CutShortWhileItsBootIsCountedIsNew) {
  ToBeConfirmed<Machine>(new_).IsNewWhereverTheCountOfItsBootIsCut();
}

TEST_F(AChangeToBeConfirmed, CutShortWhileItIsConfirmedIsNew) {
  ToBeConfirmed<Machine>(new_).IsNewWhereverItsConfirmationIsCut();
}

TEST_F(AChangeToBeConfirmed, CutShortWhileItIsGivenUpIsOldOrNewAfterARecoveryThatWasCutShortAnywhere) {
  for (int at = 1;; ++at) {
    for (int recovery_at = 1 + at % kStride;; recovery_at += kStride) {
      SCOPED_TRACE(fmt::format("cut at call {}, its recovery at call {}", at, recovery_at));
      Machine machine;
      ASSERT_TRUE(machine.BootIntoChangeToBeConfirmed());
      ASSERT_TRUE(machine.Recover());
      if (!RunWith(CutAt(at), [&] { return machine.GiveUp(); }).fault_met) {
        ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
        ASSERT_EQ(machine.Now(), old_);
        EXPECT_TRUE(was_old_ && was_new_);
        return;
      }
      at % 2 == 0 ? machine.PowerCut() : machine.Reboot();
      const bool was_cut = RunWith(CutAt(recovery_at), [&] { return machine.Recover(); }).fault_met;
      if (was_cut) machine.PowerCut();
      ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
      if (!was_cut) break;
    }
  }
}

TEST_F(AChangeToBeConfirmed, ThatIsGivenUpIsOldAfterACutAnywhereInTheOldDeployment) {
  for (int at = 1;; ++at) {
    SCOPED_TRACE(fmt::format("cut at call {}", at));
    Machine machine;
    ASSERT_TRUE(machine.BootIntoChangeToBeConfirmed());
    ASSERT_TRUE(machine.Recover());
    ASSERT_TRUE(machine.GiveUp());
    machine.Reboot();
    const bool was_cut = RunWith(CutAt(at), [&] { return machine.Recover(); }).fault_met;
    if (at % 2 == 0) machine.PowerCut();
    ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
    ASSERT_EQ(machine.Now(), old_);
    if (!was_cut) return;
  }
}

TEST_F(AChangeToBeConfirmed, ThatHasBootedTooOftenIsOldAfterACutAnywhereInItsRecovery) {
  for (int at = 1;; ++at) {
    for (const bool boots : {false, true}) {
      SCOPED_TRACE(fmt::format("cut at call {}, then {}", at, boots ? "a power cut" : "a recovery"));
      Machine machine;
      ASSERT_TRUE(machine.BootIntoChangeToBeConfirmed());
      for (int boot = 0; boot < change::kMostBoots; ++boot) {
        ASSERT_EQ(ValueOf(change::Recover((*machine).host())).how, Recovery::kToBeConfirmed);
        ASSERT_EQ(machine.Now(), new_);
        machine.PowerCut();
      }
      const bool was_cut = RunWith(CutAt(at), [&] { return machine.Recover(); }).fault_met;
      if (boots) machine.PowerCut();
      ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
      ASSERT_EQ(machine.Now(), old_);
      if (!was_cut) return;
    }
  }
}

TEST_F(AChangeToBeConfirmed, ThatTheDiskRefusesAnywhereAfterTheBootIsOldOrNew) {
  using Doing = bool (Machine::*)();
  for (const Doing doing : {&Machine::Recover, &Machine::Confirm, &Machine::GiveUp}) {
    for (const int errno_value : {ENOSPC, EIO}) {
      for (int at = 1;; ++at) {
        SCOPED_TRACE(fmt::format("errno {} at call {}", errno_value, at));
        Machine machine;
        ASSERT_TRUE(machine.BootIntoChangeToBeConfirmed());
        if (doing != &Machine::Recover) {
          ASSERT_TRUE(machine.Recover());
        }
        const Fault fault = {.at = at, .kind = FaultKind::kError, .errno_value = errno_value};
        const bool was_met = RunWith(fault, [&] { return (machine.*doing)(); }).fault_met;
        ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
        if (!was_met) break;
      }
    }
  }
  EXPECT_TRUE(was_old_ && was_new_);
}

}  // namespace
}  // namespace pintle::crash
