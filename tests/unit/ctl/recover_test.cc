// SPDX-License-Identifier: Apache-2.0
#include "ctl/recover.h"

#include <fcntl.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "change/journal.h"
#include "ctl/apply.h"
#include "ctl/verbs.h"
#include "support/expect.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "unit/ctl/terminal.h"

namespace pintle::ctl {
namespace {

using change::Phase;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kBootId = "proc/sys/kernel/random/boot_id";

// The tree of a machine that was turned off during a change which needs a reboot.
class OnATree : public testing::Test {
 protected:
  OnATree() {
    machine_.policy = {};  // Every change is a reboot.
    machine_.Write(kBootId, "the boot of the change\n");
  }

  void MakeChange() {
    ASSERT_EQ(ValueOf(machine_.GoFromTo(change::NoConfig(), Config())), change::Ending::kRebootNeeded);
  }
  void TurnOff() const { std::filesystem::remove_all(tree_ / "proc"); }
  void CutShort() {
    const change::Journal journal(machine_.host().root);
    change::Change cut_short = *ValueOf(journal.Read());
    cut_short.phase = Phase::kApplying;
    ASSERT_TRUE(Succeeded(journal.Write(cut_short)));
  }

  template <typename Options>
  CommandLine Line(const Options& options, std::vector<std::string> words) const {
    words.insert(words.end(), {"--root", tree()});
    const std::vector<std::string_view> views(words.begin(), words.end());
    return ValueOf(CommandLine::Parse(options, views));
  }
  CommandLine RecoverLine(std::vector<std::string> words) const { return Line(kRecoverOptions, std::move(words)); }
  Machine Opened() const { return ValueOf(Machine::Of(RecoverLine({}))); }

  std::string tree() const { return tree_.path().string(); }
  static plan::TestConfig Config() {
    plan::TestConfig config;
    config.WithFile("/etc/motd", "data:,ours");
    return config;
  }

  TemporaryDirectory tree_;
  change::SmallMachine machine_{tree_.path()};
};

TEST_F(OnATree, AChangeIsUndoneWithoutAReboot) {
  MakeChange();
  TurnOff();
  const RecoveryOutcome recovered = ValueOf(EndInterruptedChange(Opened(), Direction::kUndo));
  EXPECT_EQ(recovered.how, change::Recovery::kUndone);
  EXPECT_THAT(RecoveredText(recovered), HasSubstr("is undone: it was given up"));
  EXPECT_EQ(machine_.Read("etc/motd"), "the OS's greeting\n");
  EXPECT_FALSE(ValueOf(change::Journal(machine_.host().root).Read()));
}

// If one of these tests fails, it must not reboot the machine on which it runs.
class WithoutABus : public OnATree {
 protected:
  WithoutABus() { ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent", 1); }
  ~WithoutABus() override { ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS"); }
};

TEST_F(WithoutABus, AnUndoneChangeOfATreeRebootsNothing) {
  MakeChange();
  TurnOff();
  EXPECT_EQ(ValueOf(Recover(RecoverLine({"--give-up", "--reboot"}))), ExitStatus::kSuccess);
}

TEST_F(WithoutABus, AChangeOfATreeThatWaitsForARebootRebootsNothing) {
  MakeChange();
  EXPECT_EQ(ValueOf(Recover(RecoverLine({"--reboot"}))), ExitStatus::kDiffers);
}

TEST_F(WithoutABus, ATreeCannotBeRebooted) {
  EXPECT_EQ(MessageOf(Opened().Reboot("a test")),
            "the machine in " + tree() + " is not running, and cannot be rebooted");
}

TEST_F(OnATree, RemediesNameTheTree) {
  MakeChange();
  const std::string remedy = "`pintle recover --root " + tree() + " --give-up` undoes it";
  change::Change pending = *ValueOf(change::Journal(machine_.host().root).Read());
  EXPECT_THAT(PendingText(pending, Opened()),
              AllOf(HasSubstr("`pintle recover --root " + tree() + "` after it"), HasSubstr(remedy)));
  pending.awaits_confirmation = true;
  EXPECT_THAT(PendingText(pending, Opened()), HasSubstr(remedy));
  testing::internal::CaptureStderr();
  const auto applied = Apply(Line(kApplyOptions, {"--none", "--yes"}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(remedy));
  EXPECT_EQ(ValueOf(applied), ExitStatus::kDiffers);
}

TEST(RecoveredText, EscapesControlCharacters) {
  const RecoveryOutcome recovered = {change::Recovery::kUndone, "c\nd", "a\x1b[2J", "b"};
  EXPECT_EQ(RecoveredText(recovered), "The change from a\\x1B[2J to b is undone: c\\x0Ad.\n");
}

// The next change waits for the lock of the password files, so that its line appears.
TEST_F(OnATree, TheProgressOfARecoveryEndsBeforeTheNextChange) {
  MakeChange();
  CutShort();
  machine_.Write("next.ign", R"({"ignition": {"version": "3.4.0"},
      "passwd": {"users": [{"name": "core", "passwordHash": "$6$salt$hash"}]}})");
  UniqueFd lock(::open((tree_ / "etc/.pwd.lock").c_str(), O_RDWR | O_CLOEXEC));
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(lock.get(), F_OFD_SETLK, &whole), 0);

  Terminal terminal;
  auto applied = std::async(std::launch::async, [&] {
    return Apply(Line(kApplyOptions, {"--yes", (tree_ / "next.ign").string()}));
  });
  EXPECT_THAT(terminal.ReadLine(), HasSubstr("was cut short; it is undone."));
  EXPECT_THAT(terminal.ReadLine(), StartsWith("applying rendered-local-"));
  lock = UniqueFd();
  EXPECT_EQ(ValueOf(applied.get()), ExitStatus::kSuccess);
}

}  // namespace
}  // namespace pintle::ctl
