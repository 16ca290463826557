// SPDX-License-Identifier: Apache-2.0
#include "change/apply.h"

#include "change/journal.h"
#include "change/rejected.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "support/tree.h"

namespace pintle::change {
namespace {

using plan::TestConfig;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

class Applying : public testing::Test {
 protected:
  // Describes everything that a config can change; the journal's folder, which stays, is left out.
  std::string Tree() const {
    std::string text;
    for (const char* part : {"etc", "home", "usr"}) text += DescribeTree(directory_ / part);
    return text;
  }

  // Leaves a journal that stops at a phase after everything has been put, and boots the machine.
  void CutShort(Phase phase) {
    const auto policy = std::exchange(machine_.policy, {});
    ASSERT_EQ(ValueOf(machine_.GoFromTo(NoConfig(), Everything())), Ending::kRebootNeeded);
    const Journal journal(machine_.host().root);
    Change change = *ValueOf(journal.Read());
    change.phase = phase;
    change.actions = policy.files.front().actions;
    ASSERT_TRUE(Succeeded(journal.Write(change)));
    machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
  }

  // Applies a change as the agent does: it ends with the confirmation after the reboot.
  Result<Ending> BeginToBeConfirmed() {
    const TestConfig from = NoConfig();
    const TestConfig to = Everything();
    return Apply(machine_.host(), from, to, plan::Make(from, to, {}, {}), {}, EndsWith::kConfirmation);
  }
  void Boot() { machine_.Write("proc/sys/kernel/random/boot_id", std::to_string(++boots_)); }

  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
  int boots_ = 0;
};

TEST_F(Applying, PutsTheWholeConfigInPlace) {
  EXPECT_EQ(ValueOf(machine_.GoFromTo(NoConfig(), Everything())), Ending::kDone);
  EXPECT_EQ(machine_.Read("etc/motd"), "ours");
  EXPECT_EQ(machine_.Read("etc/new/deep/file"), "new");
  EXPECT_TRUE(machine_.Has("etc/systemd/system/multi-user.target.wants/ours.service"));
  EXPECT_TRUE(machine_.Has("etc/systemd/system/a.target.wants/shipped.service"));
  EXPECT_EQ(machine_.Read("etc/systemd/system/shipped.service.d/10-more.conf"), "[Service]\nNice=1\n");
  EXPECT_EQ(machine_.Read("home/core/.ssh/authorized_keys.d/ignition"), "ssh-ed25519 AAAA one\n");
  EXPECT_THAT(machine_.Read("etc/shadow"), HasSubstr("core:$6$salt$hash:"));
  EXPECT_THAT(machine_.systemd.jobs, ElementsAre("watcher.service"));
}

TEST_F(Applying, RehearsesAChangeWithoutATrace) {
  const std::string before = Tree();
  const TestConfig from = NoConfig();
  const TestConfig to = Everything();
  ASSERT_TRUE(
      Succeeded(Rehearse(machine_.host(), from, to, plan::Make(from, to, machine_.policy, {}), {}, Edits::kRefused)));
  EXPECT_EQ(Tree(), before);
  EXPECT_FALSE(machine_.Has("var/lib/pintle/change/contents"));
  EXPECT_EQ(ValueOf(PendingOn(machine_.host())), Pending::kNone);
  EXPECT_THAT(machine_.systemd.jobs, testing::IsEmpty());
}

TEST_F(Applying, RefusesToRehearseWhileAChangeIsUnderWay) {
  CutShort(Phase::kApplying);
  const TestConfig from = NoConfig();
  const TestConfig to = Everything();
  const auto rehearsed =
      Rehearse(machine_.host(), from, to, plan::Make(from, to, machine_.policy, {}), {}, Edits::kRefused);
  EXPECT_THAT(MessageOf(rehearsed), HasSubstr("is still under way"));
  EXPECT_TRUE(ValueOf(Journal(machine_.host().root).Read()));
}

// The clock is put back by an hour between the look at the files and the change.  The edit exchanges the directory of a
// file, so that the time of the edited file is not recent either.
TEST_F(Applying, KeepsAnEditAlsoIfTheClockWasPutBack) {
  class ClockAhead final : public Clock {
   public:
    MonotonicTime Monotonic() const override { return std::chrono::steady_clock::now(); }
    WallTime Wall() const override { return std::chrono::system_clock::now() + std::chrono::hours(1); }
  } clock;
  machine_.Write("etc/edited.d/app", "edited\n");
  machine_.Write("etc/app.d/app", "before\n");
  host::Host host = machine_.host();
  const host::Host with_clock = {host.root, host.systemd, clock, {}};
  const TestConfig from = NoConfig();
  TestConfig to;
  to.WithFile("/etc/app.d/app", "data:,ours");
  const auto edit = [&](const host::ActivityProgress& progress) {
    if (!progress.doing.starts_with("applying")) return;
    std::filesystem::rename(directory_ / "etc/app.d", directory_ / "etc/before.d");
    std::filesystem::rename(directory_ / "etc/edited.d", directory_ / "etc/app.d");
  };
  const auto applied = Apply(with_clock, from, to, plan::Make(from, to, machine_.policy, {}), edit);
  EXPECT_THAT(MessageOf(applied), HasSubstr("someone has edited it during the change, and the edit stays"));
  EXPECT_EQ(machine_.Read("etc/app.d/app"), "edited\n");
}

TEST_F(Applying, StoresTheConfigWithTheChange) {
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), Everything())));
  EXPECT_THAT(machine_.Read("etc/machine-config-daemon/currentconfig"), HasSubstr("\"rendered-worker-1\""));
}

TEST_F(Applying, DoesNothingTheSecondTime) {
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), Everything())));
  const std::string before = Tree();
  EXPECT_EQ(ValueOf(machine_.GoFromTo(Everything(), Everything())), Ending::kNothingToDo);
  EXPECT_EQ(Tree(), before);
}

TEST_F(Applying, RestoresTheMachineWhenTheConfigIsRemoved) {
  machine_.Write("etc/passwd-like", "untouched");
  const std::string before = Tree();
  TestConfig files_and_units;
  files_and_units.WithFile("/etc/motd", "data:,ours").WithFile("/etc/new/deep/file", "data:,new");
  files_and_units.WithUnit("ours.service", "[Install]\nWantedBy=multi-user.target\n");
  files_and_units.ignition().systemd.units.back().enabled = true;
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), files_and_units)));
  ASSERT_NE(Tree(), before);
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(files_and_units, NoConfig())));
  EXPECT_EQ(Tree(), before);
}

class PresetsOfIgnition : public Applying {
 protected:
  PresetsOfIgnition() {
    machine_.Write(kPreset, "disable shipped.service\n");
    ignition::Unit& shipped = disabled_.ignition().systemd.units.emplace_back();
    shipped.name = "shipped.service";
    shipped.enabled = false;
  }

  void HaveSystemdStarted() { machine_.Write("etc/machine-id", "0123456789abcdef0123456789abcdef\n"); }

  static constexpr const char* kPreset = "etc/systemd/system-preset/20-ignition.preset";
  TestConfig disabled_;
};

TEST_F(PresetsOfIgnition, DoNotDecideAboutAUnitThatALaterConfigDrops) {
  HaveSystemdStarted();
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), disabled_)));
  EXPECT_FALSE(machine_.Has("etc/systemd/system/a.target.wants/shipped.service"));
  EXPECT_FALSE(machine_.Has(kPreset));
  // Older agents did not remove the file with the first config, so some machines still have it.
  machine_.Write(kPreset, "disable shipped.service\n");
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(disabled_, TestConfig().WithFile("/etc/motd", "data:,ours"))));
  EXPECT_TRUE(machine_.Has("etc/systemd/system/a.target.wants/shipped.service"));
  EXPECT_FALSE(machine_.Has(kPreset));
}

TEST_F(PresetsOfIgnition, StayUntilSystemdHasReadThemAtItsFirstStart) {
  const auto expect_they_stay = [&] {
    ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), disabled_)));
    EXPECT_TRUE(machine_.Has(kPreset));
    ASSERT_TRUE(Succeeded(machine_.GoFromTo(disabled_, NoConfig())));
  };
  expect_they_stay();
  for (const char* id : {"", "\n", "uninitialized\n"}) {
    SCOPED_TRACE(id);
    machine_.Write("etc/machine-id", id);
    expect_they_stay();
  }
}

TEST_F(PresetsOfIgnition, ComeBackWithAChangeThatIsUndone) {
  HaveSystemdStarted();
  const std::string before = Tree();
  machine_.systemd.failing = "watcher.service";
  EXPECT_FALSE(machine_.GoFromTo(NoConfig(), TestConfig().WithFile("/etc/motd", "data:,ours")));
  EXPECT_EQ(Tree(), before);
}

TEST_F(Applying, IsUndoneIfAServiceDoesNotStart) {
  const std::string before = Tree();
  machine_.systemd.failing = "watcher.service";
  EXPECT_EQ(MessageOf(machine_.GoFromTo(NoConfig(), Everything())),
            "applying rendered-worker-1: restarting watcher.service service failed: watcher.service does not start");
  EXPECT_EQ(Tree(), before);
  // The service is restarted again, with the old files.
  EXPECT_THAT(machine_.systemd.jobs, ElementsAre("watcher.service", "watcher.service"));
}

TEST_F(Applying, LeavesNoStagedFileIfItFailsBeforeTheJournal) {
  const std::string before = Tree();
  CustomChange custom;
  custom.stage = [](host::BlobStore& contents) -> Result<Change> {
    TRY(contents.Add(std::string(1 << 20, 'x')));
    TRY(contents.Sync());
    return Error(ErrorKind::kSystem, "no space is left");
  };
  EXPECT_EQ(MessageOf(Make(machine_.host(), custom)), "no space is left");
  EXPECT_FALSE(machine_.Has("var/lib/pintle/change/contents"));
  EXPECT_EQ(Tree(), before);

  // Nothing is left if the journal itself cannot be written.
  std::filesystem::create_directories(directory_ / "var/lib/pintle/change/journal.json.spare/in the way");
  EXPECT_THAT(MessageOf(machine_.GoFromTo(NoConfig(), Everything())), HasSubstr("writing the journal"));
  EXPECT_FALSE(machine_.Has("var/lib/pintle/change/contents"));
  EXPECT_FALSE(machine_.Has("var/lib/pintle/change/journal.json"));
  EXPECT_EQ(Tree(), before);
}

TEST_F(Applying, WaitsForARebootUnlessAPolicyMakesItUnnecessary) {
  machine_.policy = {};
  EXPECT_EQ(ValueOf(machine_.GoFromTo(NoConfig(), Everything())), Ending::kRebootNeeded);
  EXPECT_EQ(machine_.Read("etc/motd"), "ours");
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kRebootNeeded);
  EXPECT_THAT(MessageOf(machine_.GoFromTo(Everything(), NoConfig())), HasSubstr("still under way"));
  // The machine boots.
  machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kFinished);
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kNothingToDo);
}

TEST_F(Applying, IsUndoneIfTheNextBootFindsADifference) {
  machine_.policy = {};
  const std::string before = Tree();
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), Everything())));
  machine_.Write("etc/motd", "someone else's");
  machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
  const Recovered recovered = ValueOf(Recover(machine_.host()));
  // The services of this boot were started with the new files.
  EXPECT_EQ(recovered.how, Recovery::kRebootNeededToUndo);
  EXPECT_THAT(recovered.reason, HasSubstr("content mismatch for file \"/etc/motd\""));
  EXPECT_THAT(recovered.reason, HasSubstr("writing /etc/motd: someone has edited it during the change"));
  EXPECT_FALSE(ValueOf(ReadRejected(machine_.host().root))) << "a person has made this change";
  EXPECT_EQ(machine_.Read("etc/motd"), "someone else's");
  machine_.Write("etc/motd", "the OS's greeting\n");
  EXPECT_EQ(Tree(), before) << "but for what someone has edited";
}

TEST_F(Applying, EndsWhenItIsConfirmedAfterTheRebootAndNotBefore) {
  ASSERT_EQ(ValueOf(BeginToBeConfirmed()), Ending::kRebootNeeded);
  ASSERT_TRUE(Succeeded(Confirm(machine_.host())));
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kRebootNeeded);
  Boot();
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kToBeConfirmed);
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kToBeConfirmed);
  ASSERT_TRUE(Succeeded(Confirm(machine_.host())));
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kNothingToDo);
  EXPECT_EQ(machine_.Read("etc/motd"), "ours");
}

TEST_F(Applying, IsUndoneWithItsReasonWhenItIsGivenUpAfterTheReboot) {
  const std::string before = Tree();
  ASSERT_TRUE(Succeeded(BeginToBeConfirmed()));
  Boot();
  ASSERT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kToBeConfirmed);
  const Recovered recovered = ValueOf(GiveUp(machine_.host(), {}, "it is not well"));
  // The running services were started with the new files.
  EXPECT_EQ(recovered.how, Recovery::kRebootNeededToUndo);
  EXPECT_EQ(recovered.reason, "it is not well");
  const auto rejected = ValueOf(ReadRejected(machine_.host().root));
  ASSERT_TRUE(rejected);
  EXPECT_EQ(std::pair(rejected->config, rejected->why), std::pair("rendered-worker-1"s, "it is not well"s));
  ASSERT_TRUE(Succeeded(KeepRejected(machine_.host().root, std::nullopt)));
  EXPECT_EQ(Tree(), before);
  Boot();
  const Recovered rebooted = ValueOf(Recover(machine_.host()));
  EXPECT_EQ(std::pair(rebooted.how, rebooted.reason), std::pair(Recovery::kUndone, "it is not well"s));
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kNothingToDo);
}

TEST_F(Applying, AsksForTheRebootThatEndsItsUndoUntilTheMachineHasRebooted) {
  ASSERT_TRUE(Succeeded(BeginToBeConfirmed()));
  Boot();
  ASSERT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kToBeConfirmed);
  ASSERT_EQ(ValueOf(GiveUp(machine_.host(), {}, "it is not well")).how, Recovery::kRebootNeededToUndo);
  machine_.Write("etc/motd", "someone else's");
  for (const std::string& why : {""s, "it is given up again"s}) {
    const Recovered again = ValueOf(why.empty() ? Recover(machine_.host()) : GiveUp(machine_.host(), {}, why));
    EXPECT_EQ(std::pair(again.how, again.reason), std::pair(Recovery::kRebootNeededToUndo, "it is not well"s));
  }
  EXPECT_EQ(ValueOf(PendingOn(machine_.host())), Pending::kCutShort);
  Boot();
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kUndone);
  EXPECT_EQ(ValueOf(PendingOn(machine_.host())), Pending::kNone);
  EXPECT_EQ(machine_.Read("etc/motd"), "someone else's");
}

TEST_F(Applying, IsUndoneIfTheBootToBeConfirmedFindsADifference) {
  const std::string before = Tree();
  ASSERT_TRUE(Succeeded(BeginToBeConfirmed()));
  machine_.Write("etc/motd", "someone else's");
  Boot();
  const Recovered recovered = ValueOf(Recover(machine_.host()));
  EXPECT_EQ(recovered.how, Recovery::kRebootNeededToUndo);
  EXPECT_THAT(recovered.reason, HasSubstr("content mismatch for file \"/etc/motd\""));
  EXPECT_THAT(recovered.reason, HasSubstr("writing /etc/motd: someone has edited it during the change"));
  EXPECT_EQ(machine_.Read("etc/motd"), "someone else's");
  machine_.Write("etc/motd", "the OS's greeting\n");
  EXPECT_EQ(Tree(), before) << "but for what someone has edited";
}

TEST_F(Applying, IsNotUndoneIfSystemdDoesNotAnswerAfterTheBoot) {
  ASSERT_TRUE(Succeeded(BeginToBeConfirmed()));
  Boot();
  machine_.systemd.is_away = true;
  EXPECT_THAT(MessageOf(Recover(machine_.host())), HasSubstr("systemd is not on the system bus"));
  EXPECT_FALSE(ValueOf(ReadRejected(machine_.host().root)));
  machine_.systemd.is_away = false;
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kToBeConfirmed);
  EXPECT_EQ(machine_.Read("etc/motd"), "ours");
}

TEST_F(Applying, IsUndoneAfterTooManyBootsWithoutConfirmation) {
  const std::string before = Tree();
  ASSERT_TRUE(Succeeded(BeginToBeConfirmed()));
  for (int boot = 0; boot < kMostBoots; ++boot) {
    Boot();
    // A boot counts once, however often someone looks.
    for (int look = 0; look < 3; ++look) {
      ASSERT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kToBeConfirmed) << boot;
    }
  }
  Boot();
  const Recovered recovered = ValueOf(Recover(machine_.host()));
  EXPECT_EQ(recovered.how, Recovery::kRebootNeededToUndo);
  EXPECT_THAT(recovered.reason, HasSubstr("boot loop: the machine has booted 4 times with rendered-worker-1"));
  EXPECT_EQ(Tree(), before);
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kRebootNeededToUndo);
  Boot();
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kUndone);
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kNothingToDo);
}

TEST_F(Applying, RestoresThePasswordThatTheConfigReplaced) {
  const std::string before = Tree();
  TestConfig first;
  first.WithUser("core", {});
  first.ignition().passwd.users.back().password_hash = "$6$salt$first";
  TestConfig second;
  second.WithUser("core", {});
  second.ignition().passwd.users.back().password_hash = "$6$salt$second";
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), first)));
  const auto kept = directory_ / "etc/machine-config-daemon/pintle-passwords.json";
  EXPECT_EQ(std::filesystem::status(kept).permissions(), std::filesystem::perms(0600));
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(first, second)));
  EXPECT_THAT(machine_.Read("etc/shadow"), HasSubstr("core:$6$salt$second:"));
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(second, NoConfig())));
  EXPECT_EQ(Tree(), before);
}

TEST_F(Applying, RestoresEmptyFoldersForKeysWhenItIsUndone) {
  for (const char* folders : {"home/core/.ssh", "home/core/.ssh/authorized_keys.d"}) {
    std::filesystem::create_directory(directory_ / folders);
    ASSERT_EQ(::chown((directory_ / folders).c_str(), 1000, 1000), 0);
    const std::string before = Tree();
    machine_.systemd.failing = "watcher.service";
    ASSERT_FALSE(machine_.GoFromTo(NoConfig(), Everything()));
    EXPECT_EQ(Tree(), before) << folders;
  }
}

// The journal is JSON, which has text only.
TEST_F(Applying, PutsBackALinkWhoseTargetIsNotUtf8) {
  const std::filesystem::path link = directory_ / "etc/motd";
  std::filesystem::remove(link);
  std::filesystem::create_symlink("caf\xE9", link);
  const std::string before = Tree();
  machine_.policy = {};
  ASSERT_EQ(ValueOf(machine_.GoFromTo(NoConfig(), Everything())), Ending::kRebootNeeded);
  machine_.Write("etc/new/deep/file", "spoiled");
  machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
  EXPECT_THAT(ValueOf(Recover(machine_.host())).reason, HasSubstr("content mismatch"));
  EXPECT_EQ(std::filesystem::read_symlink(link), "caf\xE9");
  EXPECT_EQ(machine_.Read("etc/new/deep/file"), "spoiled");
  std::filesystem::remove_all(directory_ / "etc/new");
  EXPECT_EQ(Tree(), before) << "but for what someone has edited";
}

TEST_F(Applying, IsUndoneWithItsServicesAfterABootInBetween) {
  const std::string before = Tree();
  CutShort(Phase::kApplying);
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kUndone);
  EXPECT_EQ(Tree(), before);
  EXPECT_THAT(machine_.systemd.jobs, ElementsAre("watcher.service"));
}

TEST_F(Applying, IsUndoneIfAServiceFailsAfterABootInBetween) {
  const std::string before = Tree();
  CutShort(Phase::kApplied);
  machine_.systemd.failing = "watcher.service";
  EXPECT_THAT(MessageOf(Recover(machine_.host())), HasSubstr("restarting watcher.service service failed"));
  EXPECT_EQ(Tree(), before);
}

TEST_F(Applying, RefusesAUserThatTheMachineDoesNotHave) {
  const std::string before = Tree();
  EXPECT_THAT(MessageOf(machine_.GoFromTo(NoConfig(), TestConfig().WithUser("nobody-here", {"key"}))),
              HasSubstr("no user named \"nobody-here\""));
  EXPECT_EQ(Tree(), before);
}

TEST_F(Applying, RefusesAPathThatLeadsToPintlesOwnFiles) {
  std::filesystem::create_directories(directory_ / "var/lib/pintle");
  std::filesystem::create_directory_symlink("/var/lib/pintle", directory_ / "etc/ours");
  EXPECT_THAT(MessageOf(machine_.GoFromTo(NoConfig(), TestConfig().WithFile("/etc/ours/deep/a", "data:,1"))),
              HasSubstr("/etc/ours/deep/a leads to /var/lib/pintle/deep/a: cannot write"));
  EXPECT_FALSE(machine_.Has("var/lib/pintle/deep"));
}

TEST_F(Applying, KeepsPintlesOwnFilesWhenAConfigWithThemIsRemoved) {
  // Older versions of Pintle accepted a config with this file.
  TestConfig first;
  first.WithFile("/etc/machine-config-daemon/currentconfig", "data:,theirs").WithFile("/etc/a", "data:,1");
  TestConfig second;
  second.WithFile("/etc/a", "data:,2");
  machine_.Write("etc/a", "1");
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(first, second)));
  EXPECT_THAT(machine_.Read("etc/machine-config-daemon/currentconfig"), HasSubstr("\"rendered-worker-1\""));
}

TEST_F(Applying, RefusesAnOwnerThatTheMachineDoesNotHave) {
  TestConfig config;
  config.WithFile("/etc/a", "data:,1");
  config.ignition().storage.files.back().group.name = "nogroup-here";
  EXPECT_THAT(MessageOf(machine_.GoFromTo(NoConfig(), config)), HasSubstr("no group named \"nogroup-here\""));
}

}  // namespace
}  // namespace pintle::change
