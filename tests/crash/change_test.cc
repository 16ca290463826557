// SPDX-License-Identifier: Apache-2.0

// The promise of a change of a machine: cut short or refused anywhere, recovery gives the old machine or the new one,
// and so it does when that is cut short too.

#include <fmt/core.h>

#include <cerrno>
#include <string>

#include "change/apply.h"
#include "crash/faults.h"
#include "crash/tree.h"
#include "unit/change/small_machine.h"
#include "unit/temporary_directory.h"

namespace pintle::crash {
namespace {

using change::Everything;
using change::NoConfig;
using change::Recovery;
using change::SmallMachine;

// Of all pairs of two cuts, one in so many is tried.
constexpr int kStride = 7;

Fault CutAt(int call) { return {.at = call, .kind = FaultKind::kExit, .errno_value = 0}; }

// A machine of its own for each history.
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

  // All that a config can change.
  std::string Now() const {
    std::string text;
    for (const char* part : {"etc", "home", "usr"}) text += Describe(directory_ / part);
    return text;
  }

 private:
  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
};

class AChange : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseMemory(); }

  AChange() {
    Machine machine;
    old_ = machine.Now();
    EXPECT_TRUE(machine.Change());
    new_ = machine.Now();
  }

  // A recovery that finds that it has to undo says why, as an error; with the next one there is nothing to do.
  void ExpectThatRecoveryEnds(Machine& machine) {
    const auto first = change::Recover((*machine).host());
    const auto second = change::Recover((*machine).host());
    ASSERT_TRUE(Succeeded(second));
    ASSERT_EQ(second->how, Recovery::kNothingToDo);
    ++histories_;
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

TEST_F(AChange, SucceedsWhenTheKernelTakesOneByteAtATime) {
  for (int at = 1;; ++at) {
    Machine machine;
    const History history = machine.ChangeWith({.at = at, .kind = FaultKind::kShortWrite, .errno_value = 0});
    ASSERT_EQ(history.ending, Ending::kSucceeded) << "short at call " << at;
    ASSERT_EQ(machine.Now(), new_) << "short at call " << at;
    if (!history.fault_met) break;
  }
}

}  // namespace
}  // namespace pintle::crash
