// SPDX-License-Identifier: Apache-2.0

// The promise of a change that comes with the next boot: whoever is cut short, the power or the program, while it is
// staged, finalized, or ended after the boot, the machine boots the old files or the new ones, /var included.

#include "change/next_boot.h"

#include <fmt/core.h>

#include <string>

#include "change/apply.h"
#include "crash/faults.h"
#include "crash/tree.h"
#include "unit/change/two_deployments.h"
#include "unit/temporary_directory.h"

namespace pintle::crash {
namespace {

using change::BootableMachine;
using change::Recovery;

// Of all pairs of two cuts, one in so many is tried.
constexpr int kStride = 5;

Fault CutAt(int call) { return {.at = call, .kind = FaultKind::kExit, .errno_value = 0}; }

plan::TestConfig Everything() {
  plan::TestConfig config = change::Everything();
  config.WithFile("/var/ours/state", "data:,ours");
  return config;
}

class Machine {
 public:
  BootableMachine& operator*() { return machine_; }

  // Without a policy, all of it needs a reboot.
  bool Stage() {
    const plan::TestConfig from = change::NoConfig();
    const plan::TestConfig to = Everything();
    const auto ended = change::Apply(machine_.host(), from, to, plan::Make(from, to, {}, {}));
    return ended && *ended == change::Ending::kRebootNeeded;
  }
  bool Finalize() { return change::Finalize(machine_.host()).has_value(); }
  bool Recover() { return change::Recover(machine_.host()).has_value(); }

  void PowerCut() { machine_.Boot(); }
  void Reboot() {
    Finalize();
    machine_.Boot();
  }

  // Boots until nothing is left to do.
  bool Settle() {
    for (int boot = 0; boot < 4; ++boot) {
      const auto recovered = change::Recover(machine_.host());
      if (!recovered) return false;
      if (recovered->how == Recovery::kNothingToDo) return true;
      const bool needs_reboot =
          recovered->how == Recovery::kRebootNeeded || recovered->how == Recovery::kRebootNeededToUndo;
      if (needs_reboot) Reboot();
    }
    return false;
  }

  // All that a config can change in what is booted.
  std::string Now() const {
    const auto top = machine_.top();
    const bool has_state = std::filesystem::exists(top / "var/ours");
    return Describe(top / "etc") + Describe(top / "var/home") + (has_state ? Describe(top / "var/ours") : "");
  }

  void Spoil() const { std::filesystem::permissions(machine_.top() / "etc/new/deep/file", std::filesystem::perms(0)); }

 private:
  TemporaryDirectory directory_;
  BootableMachine machine_{directory_.path()};
};

class AChangeWithTheNextBoot : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    change::UseOwnMounts();
    UseMemory();
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
    ASSERT_TRUE(machine.Settle());
    const std::string now = machine.Now();
    ASSERT_THAT(now, testing::AnyOf(old_, new_));
    was_old_ = was_old_ || now == old_;
    was_new_ = was_new_ || now == new_;
  }

  std::string old_;
  std::string new_;
  bool was_old_ = false;
  bool was_new_ = false;
  int histories_ = 0;
};

TEST_F(AChangeWithTheNextBoot, CutShortWhileItIsStagedIsOldOrNewWhateverFollows) {
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

TEST_F(AChangeWithTheNextBoot, ThatIsNotAsWantedAfterTheBootIsOldAgainWhereverItsRecoveryIsCut) {
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

}  // namespace
}  // namespace pintle::crash
