// SPDX-License-Identifier: Apache-2.0

// Tests the promise of a change of a machine: wherever it is cut short or refused, recovery gives the old machine or
// the new one, even if the recovery is cut short, too.
//
// A change that reboots, and is then confirmed or given up, is tested in the same way.

#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "change/apply.h"
#include "change/drift.h"
#include "change/early.h"
#include "crash/faults.h"
#include "crash/histories.h"
#include "crash/to_be_confirmed.h"
#include "host/files/seen_files.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "support/tree.h"

namespace pintle::crash {
namespace {

using change::Everything;
using change::NoConfig;
using change::Recovery;
using change::Reworded;
using change::SmallMachine;

const int kStride = Stride(7);

class ClockAhead final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return std::chrono::steady_clock::now(); }
  WallTime Wall() const override { return std::chrono::system_clock::now() + 2 * host::kTimeAtRest; }
};

// The machine of one history.
class Machine {
 public:
  SmallMachine& operator*() { return machine_; }

  bool Change() { return machine_.GoFromTo(NoConfig(), Everything()).has_value(); }
  History ChangeWith(const Fault& fault) {
    return RunWith(fault, [&] { return Change(); });
  }
  History RecoverWith(const Fault& fault) {
    return RunWith(fault, [&] { return change::Recover(machine_.host()).has_value(); });
  }

  // Compares the machine with its config, at a time at which no file was changed recently.
  void LookAt(const plan::TestConfig& config) {
    host::Host host = machine_.host();
    const ClockAhead ahead;
    EXPECT_THAT(ValueOf(change::FindingsOnThisMachine({host.root, host.systemd, ahead, {}}, config)),
                testing::IsEmpty());
  }

  // Makes a change as the agent does: the machine reboots, and then the change has to be confirmed.
  bool ChangeToBeConfirmed() {
    const plan::TestConfig from = NoConfig();
    const plan::TestConfig to = Everything();
    const auto ended =
        change::Apply(machine_.host(), from, to, plan::Make(from, to, {}, {}), {}, change::EndsWith::kConfirmation);
    return ended && *ended == change::Ending::kRebootNeeded;
  }
  // Boots into the change for the first time.
  bool BootIntoChangeToBeConfirmed() {
    if (!ChangeToBeConfirmed()) return false;
    Boot();
    return true;
  }
  void PowerCut() { Boot(); }
  void Boot() {
    BeginBoot();
    EXPECT_TRUE(PutFilesEarly());
    read_by_services_.push_back(Now());
  }
  void BeginBoot() { machine_.Write("proc/sys/kernel/random/boot_id", std::to_string(++boots_)); }
  bool PutFilesEarly() {
    host::Host host = machine_.host();
    host::SystemdOffline links(host.root);
    return change::PutFilesEarly({host.root, links, host.clock, host.labels}).has_value();
  }
  bool Recover() { return change::Recover(machine_.host()).has_value(); }
  bool Confirm() { return change::Confirm(machine_.host()).has_value(); }
  bool GiveUp() { return change::GiveUp(machine_.host(), {}, "it is not well").has_value(); }

  // Boots and confirms until nothing is left to do.
  bool Settle() {
    for (int turn = 0; turn < 6; ++turn) {
      const auto recovered = change::Recover(machine_.host());
      if (!recovered) return false;
      if (recovered->how == Recovery::kNothingToDo) return true;
      if (recovered->how == Recovery::kToBeConfirmed && !Confirm()) return false;
      const bool needs_reboot =
          recovered->how == Recovery::kRebootNeeded || recovered->how == Recovery::kRebootNeededToUndo;
      if (needs_reboot) Boot();
    }
    return false;
  }

  // Describes everything that a config can change.
  std::string Now() const {
    std::string text;
    for (const char* part : {"etc", "home", "usr"}) text += DescribeTree(directory_ / part);
    return text;
  }
  // Returns the state of the machine in each boot at the time when services began to start.
  const std::vector<std::string>& read_by_services() const { return read_by_services_; }

 private:
  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
  int boots_ = 0;
  std::vector<std::string> read_by_services_;
};

class AChange : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseMemoryFileSystem(); }

  AChange() {
    Machine machine;
    old_ = machine.Now();
    EXPECT_TRUE(machine.Change());
    new_ = machine.Now();
  }

  // A recovery that undoes a change reports the reason as an error; the next one finds nothing to do.
  void ExpectThatRecoveryEnds(Machine& machine) {
    const auto first = change::Recover((*machine).host());
    const auto second = change::Recover((*machine).host());
    ASSERT_TRUE(Succeeded(second));
    ASSERT_EQ(second->how, Recovery::kNothingToDo);
    ++histories_;
    CountHistory();
  }

  std::string old_;
  std::string new_;
  int histories_ = 0;
};

TEST_F(AChange, CutShortAnywhereIsOldOrNewAfterRecovery) {
  bool was_old = false;
  bool was_new = false;
  for (int at = 1;; ++at) {
    Machine machine;
    if (!machine.ChangeWith(CutAt(at)).fault_met) break;
    SCOPED_TRACE(fmt::format("cut at call {}", at));
    ASSERT_NO_FATAL_FAILURE(ExpectThatRecoveryEnds(machine));
    const std::string now = machine.Now();
    ASSERT_THAT(now, testing::AnyOf(old_, new_));
    was_old = was_old || now == old_;
    was_new = was_new || now == new_;
  }
  EXPECT_TRUE(was_old && was_new);
  fmt::print("{} histories\n", histories_);
}

TEST_F(AChange, CutShortByAPowerCutIsOldOrNewForEveryServiceOfTheNextBoot) {
  bool was_old = false;
  bool was_new = false;
  for (int at = 1;; ++at) {
    SCOPED_TRACE(fmt::format("cut at call {}", at));
    Machine machine;
    if (!machine.ChangeWith(CutAt(at)).fault_met) break;
    machine.PowerCut();
    ASSERT_THAT(machine.read_by_services(), testing::Each(testing::AnyOf(old_, new_)));
    const std::string now = machine.Now();
    ASSERT_NO_FATAL_FAILURE(ExpectThatRecoveryEnds(machine));
    ASSERT_EQ(machine.Now(), now);
    was_old = was_old || now == old_;
    was_new = was_new || now == new_;
  }
  EXPECT_TRUE(was_old && was_new);
  fmt::print("{} histories\n", histories_);
}

TEST_F(AChange, CutShortByTwoPowerCutsIsOldOrNewForEveryServiceOfTheBootAfterThem) {
  for (int at = 1;; ++at) {
    for (int early_at = 1 + at % kStride;; early_at += kStride) {
      SCOPED_TRACE(fmt::format("cut at call {}, and early in the boot at call {}", at, early_at));
      Machine machine;
      if (!machine.ChangeWith(CutAt(at)).fault_met) {
        fmt::print("{} histories\n", histories_);
        return;
      }
      machine.BeginBoot();
      const bool was_cut = RunWith(CutAt(early_at), [&] { return machine.PutFilesEarly(); }).fault_met;
      machine.PowerCut();
      ASSERT_THAT(machine.read_by_services(), testing::Each(testing::AnyOf(old_, new_)));
      ASSERT_NO_FATAL_FAILURE(ExpectThatRecoveryEnds(machine));
      if (!was_cut) break;
    }
  }
}

TEST_F(AChange, CutShortAnywhereIsOldOrNewAfterARecoveryThatWasCutShortAnywhere) {
  for (int at = 1;; ++at) {
    for (int recovery_at = 1 + at % kStride;; recovery_at += kStride) {
      Machine machine;
      if (!machine.ChangeWith(CutAt(at)).fault_met) {
        fmt::print("{} histories\n", histories_);
        return;
      }
      if (!machine.RecoverWith(CutAt(recovery_at)).fault_met) break;
      SCOPED_TRACE(fmt::format("cut at call {}, its recovery at call {}", at, recovery_at));
      ASSERT_NO_FATAL_FAILURE(ExpectThatRecoveryEnds(machine));
      ASSERT_THAT(machine.Now(), testing::AnyOf(old_, new_));
    }
  }
}

TEST_F(AChange, CutShortWhileItIsUndoneForAServiceThatFailedIsOldAfterRecovery) {
  for (int at = 1;; ++at) {
    Machine machine;
    (*machine).systemd.failing = "watcher.service";
    if (!machine.ChangeWith(CutAt(at)).fault_met) break;
    SCOPED_TRACE(fmt::format("cut at call {}", at));
    ASSERT_NO_FATAL_FAILURE(ExpectThatRecoveryEnds(machine));
    ASSERT_EQ(machine.Now(), old_);
  }
  fmt::print("{} histories\n", histories_);
}

TEST_F(AChange, ThatTheDiskRefusesAnywhereIsOldOrNewAfterRecovery) {
  for (const int errno_value : {ENOSPC, EIO, EROFS, EINTR}) {
    for (int at = 1;; ++at) {
      Machine machine;
      const History history = machine.ChangeWith({.at = at, .kind = FaultKind::kError, .errno_value = errno_value});
      if (!history.fault_met) break;
      SCOPED_TRACE(fmt::format("errno {} at call {}", errno_value, at));
      if (history.ending == Ending::kSucceeded) {
        ASSERT_EQ(machine.Now(), new_);
      }
      ASSERT_NO_FATAL_FAILURE(ExpectThatRecoveryEnds(machine));
      ASSERT_THAT(machine.Now(), testing::AnyOf(old_, new_));
    }
  }
  fmt::print("{} histories\n", histories_);
}

TEST_F(AChange, OnADiskThatBecomesFullAnywhereIsOldAtOnceOrAfterARecovery) {
  for (int at = 1;; ++at) {
    Machine machine;
    const History history = machine.ChangeWith({.at = at, .kind = FaultKind::kDiskFull, .errno_value = ENOSPC});
    SCOPED_TRACE(fmt::format("full from call {} on", at));
    ++histories_;
    CountHistory();
    // From a certain call on, the rest of the change needs no more space.
    if (history.ending == Ending::kSucceeded) {
      ASSERT_FALSE(history.fault_met);
      ASSERT_EQ(machine.Now(), new_);
      break;
    }
    if (ValueOf(change::PendingOn((*machine).host())) != change::Pending::kNone) {
      ASSERT_TRUE(machine.Recover());
    }
    ASSERT_EQ(machine.Now(), old_);
  }
  fmt::print("{} histories\n", histories_);
}

// One failed call does not prevent the undoing.
TEST_F(AChange, ThatTheDiskRefusesOnceIsUndoneAtOnce) {
  for (const int errno_value : {ENOSPC, EIO, EROFS}) {
    for (int at = 1;; ++at) {
      Machine machine;
      const History history = machine.ChangeWith({.at = at, .kind = FaultKind::kError, .errno_value = errno_value});
      if (!history.fault_met) break;
      SCOPED_TRACE(fmt::format("errno {} at call {}", errno_value, at));
      ++histories_;
      CountHistory();
      ASSERT_EQ(ValueOf(change::PendingOn((*machine).host())), change::Pending::kNone);
      const bool has_succeeded = history.ending == Ending::kSucceeded;
      ASSERT_EQ(machine.Now(), has_succeeded ? new_ : old_);
      ASSERT_TRUE(has_succeeded || !(*machine).Has("var/lib/pintle/change/contents"));
    }
  }
  fmt::print("{} histories\n", histories_);
}

TEST_F(AChange, SucceedsWhenTheKernelTakesOneByteAtATime) {
  for (int at = 1;; ++at) {
    Machine machine;
    const History history = machine.ChangeWith({.at = at, .kind = FaultKind::kShortWrite, .errno_value = 0});
    ASSERT_EQ(history.ending, Ending::kSucceeded) << "short at call " << at;
    ASSERT_EQ(machine.Now(), new_) << "short at call " << at;
    if (!history.fault_met) break;
    CountHistory();
  }
}

// Files that were seen before are not read again.  So the record of these files must be correct after an undo.
TEST_F(AChange, OfRecordedFilesIsOldOrNewAfterRecovery) {
  const auto change = [](Machine& machine) { return (*machine).GoFromTo(Everything(), Reworded()).has_value(); };
  const auto prepare = [](Machine& machine) {
    ASSERT_TRUE(machine.Change());
    machine.LookAt(Everything());
  };
  Machine uncut;
  ASSERT_NO_FATAL_FAILURE(prepare(uncut));
  ASSERT_TRUE(change(uncut));
  const std::string reworded = uncut.Now();
  ASSERT_NE(reworded, new_);
  for (int at = 1;; ++at) {
    Machine machine;
    ASSERT_NO_FATAL_FAILURE(prepare(machine));
    if (!RunWith(CutAt(at), [&] { return change(machine); }).fault_met) break;
    SCOPED_TRACE(fmt::format("cut at call {}", at));
    ASSERT_NO_FATAL_FAILURE(ExpectThatRecoveryEnds(machine));
    ASSERT_THAT(machine.Now(), testing::AnyOf(new_, reworded));
  }
  fmt::print("{} histories\n", histories_);
}

class AChangeToBeConfirmed : public AChange {
 protected:
  ~AChangeToBeConfirmed() override {
    fmt::print("{} histories: {} old, {} new\n", histories_, histories_ - new_count_, new_count_);
  }

  void ExpectOldOrNew(Machine& machine) {
    ++histories_;
    CountHistory();
    ASSERT_TRUE(machine.Settle());
    const std::string now = machine.Now();
    ASSERT_THAT(now, testing::AnyOf(old_, new_));
    ASSERT_THAT(machine.read_by_services(), testing::Each(testing::AnyOf(old_, new_)));
    if (now == new_) ++new_count_;
  }
  void ExpectBothWereSeen() const {
    EXPECT_GT(new_count_, 0);
    EXPECT_LT(new_count_, histories_);
  }

  int new_count_ = 0;
};

TEST_F(AChangeToBeConfirmed, CutShortAnywhereBeforeTheBootIsOldOrNew) {
  for (int at = 1;; ++at) {
    for (const bool boots : {false, true}) {
      SCOPED_TRACE(fmt::format("cut at call {}, then {}", at, boots ? "a boot" : "a recovery"));
      Machine machine;
      const bool was_cut = RunWith(CutAt(at), [&] { return machine.ChangeToBeConfirmed(); }).fault_met;
      if (boots) machine.Boot();
      ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
      if (!was_cut) return ExpectBothWereSeen();
    }
  }
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
        return ExpectBothWereSeen();
      }
      if (at % 2 == 0) machine.Boot();
      const bool was_cut = machine.RecoverWith(CutAt(recovery_at)).fault_met;
      ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
      if (!was_cut) break;
    }
  }
}

TEST_F(AChangeToBeConfirmed, ThatHasBootedTooOftenIsOldAfterACutAnywhereInItsRecovery) {
  for (int at = 1;; ++at) {
    for (const bool boots : {false, true}) {
      SCOPED_TRACE(fmt::format("cut at call {}, then {}", at, boots ? "a boot" : "a recovery"));
      Machine machine;
      ASSERT_TRUE(machine.BootIntoChangeToBeConfirmed());
      for (int boot = 0; boot < change::kMostBoots; ++boot) {
        ASSERT_TRUE(machine.Recover());
        ASSERT_EQ(machine.Now(), new_);
        machine.Boot();
      }
      const bool was_cut = machine.RecoverWith(CutAt(at)).fault_met;
      if (boots) machine.Boot();
      ASSERT_NO_FATAL_FAILURE(ExpectOldOrNew(machine));
      ASSERT_EQ(machine.Now(), old_);
      if (!was_cut) return;
    }
  }
}

TEST_F(AChangeToBeConfirmed, ThatTheDiskRefusesAnywhereAfterTheBootIsOldOrNew) {
  using Doing = bool (Machine::*)();
  for (const Doing doing : {&Machine::Recover, &Machine::Confirm, &Machine::GiveUp}) {
    for (const int errno_value : {ENOSPC, EIO, EROFS}) {
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
  ExpectBothWereSeen();
}

}  // namespace
}  // namespace pintle::crash
