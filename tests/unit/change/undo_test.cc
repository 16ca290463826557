// SPDX-License-Identifier: Apache-2.0

// Tests what happens if others change a machine between a change and its undoing.

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/xattr.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "change/apply.h"
#include "change/link_changes.h"
#include "change/put.h"
#include "host/files/blob_store.h"
#include "host/files/files.h"
#include "plan/step.h"
#include "support/refused_calls.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "support/tree.h"
#include "support/two_deployments.h"

namespace pintle::change {
namespace {

namespace fs = std::filesystem;
using plan::TestConfig;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRecord = "etc/machine-config-daemon/currentconfig";
constexpr const char* kTheirLink = "etc/systemd/system/multi-user.target.wants/theirs.service";
constexpr const char* kOurLink = "etc/systemd/system/multi-user.target.wants/ours.service";

// Sets a file's immutable bit during its lifetime.
class Immutable {
 public:
  explicit Immutable(const fs::path& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) { Set(FS_IMMUTABLE_FL); }
  ~Immutable() { static_cast<void>(::ioctl(fd_.get(), FS_IOC_SETFLAGS, &no_flags_)); }
  Immutable(const Immutable&) = delete;
  Immutable& operator=(const Immutable&) = delete;

 private:
  void Set(int flags) {
    if (::ioctl(fd_.get(), FS_IOC_SETFLAGS, &flags) != 0) {
      throw std::runtime_error("this file system has no immutable bits");
    }
  }

  UniqueFd fd_;
  int no_flags_ = 0;
};

// An hour passes between two readings of this clock, so each wait ends at once.
class ClockInAHurry final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return MonotonicTime(std::chrono::hours(++readings_)); }
  WallTime Wall() const override { return std::chrono::system_clock::now(); }

 private:
  mutable int readings_ = 0;
};

// Mounts something during its lifetime.
class Mounted {
 public:
  Mounted(const char* source, fs::path where, const char* type) : where_(std::move(where)) {
    if (::mount(source, where_.c_str(), type, type == nullptr ? MS_BIND : 0, nullptr) != 0) {
      throw std::runtime_error("mount: be root");
    }
  }
  ~Mounted() { ::umount2(where_.c_str(), MNT_DETACH); }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;

 private:
  fs::path where_;
};

// A change has been put completely and waits for a reboot when it is undone.
class Undoing : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseOwnMounts(); }

  Undoing() { machine_.policy = {}; }

  // Describes everything that a config can change.
  std::string Tree() const {
    std::string text;
    for (const char* part : {"etc", "home", "usr"}) text += DescribeTree(directory_ / part);
    return text;
  }

  void Change() { ASSERT_EQ(ValueOf(machine_.GoFromTo(NoConfig(), Everything())), Ending::kRebootNeeded); }
  void ChangeToNext() {
    machine_.policy = {.files = {{.path = "/etc", .actions = {{.type = "None", .reload = {}, .restart = {}}}}},
                       .units = {{.name = "*", .actions = {{.type = "None", .reload = {}, .restart = {}}}}},
                       .sshkey = {}};
    ASSERT_EQ(ValueOf(machine_.GoFromTo(NoConfig(), Everything())), Ending::kDone);
    machine_.policy = {};
    TestConfig next = Everything();
    next.metadata().name = "rendered-worker-2";
    for (ignition::File& file : next.ignition().storage.files) file.contents.source = "data:,reworded";
    ASSERT_EQ(ValueOf(machine_.GoFromTo(Everything(), next)), Ending::kRebootNeeded);
  }

  // Gives the change up, checks that it has ended, and returns the reason with the things that were not undone.
  std::string GiveUpAndEnd() {
    const std::string reason = ValueOf(GiveUp(machine_.host())).reason;
    EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kNothingToDo);
    return reason;
  }

  void Enable(const char* link) const {
    fs::create_directories((directory_ / link).parent_path());
    fs::create_symlink("/usr/lib/systemd/system/theirs.service", directory_ / link);
  }

  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
};

TEST_F(Undoing, KeepsAUnitEnabledThatSomeoneHasEnabled) {
  Change();
  Enable(kTheirLink);
  EXPECT_EQ(GiveUpAndEnd(), "it was given up");
  EXPECT_TRUE(machine_.Has(kTheirLink));
  EXPECT_FALSE(machine_.Has(kOurLink));
  EXPECT_FALSE(machine_.Has("etc/systemd/system/a.target.wants"));
}

TEST_F(Undoing, KeepsAUnitDisabledThatSomeoneHasDisabled) {
  Enable(kTheirLink);
  Change();
  fs::remove(directory_ / kTheirLink);
  EXPECT_EQ(GiveUpAndEnd(), "it was given up");
  EXPECT_FALSE(machine_.Has(kTheirLink));
}

TEST_F(Undoing, LeavesALinkOfItsOwnThatSomeoneHasRedirected) {
  Change();
  fs::remove(directory_ / kOurLink);
  Enable(kOurLink);
  EXPECT_THAT(GiveUpAndEnd(), AllOf(HasSubstr(kOurLink), HasSubstr("the edits stay")));
  EXPECT_EQ(fs::read_symlink(directory_ / kOurLink), "/usr/lib/systemd/system/theirs.service");
  EXPECT_FALSE(machine_.Has("etc/systemd/system/a.target.wants/shipped.service"));
}

TEST_F(Undoing, EndsWithAnErrorIfAFileSystemCannotBeSynced) {
  const host::Host host = machine_.host();
  const host::BlobStore contents = ValueOf(host::BlobStore::Open(host.root, "/var/lib/contents"));
  const std::vector<plan::Step> undo = {host::FilePut{"/etc/motd", std::nullopt}};
  InThreadWith(RefuseSyncs, [&] {
    EXPECT_THAT(MessageOf(UndoSteps(host, contents, {.undo = undo, .done = {}})),
                HasSubstr("fsync: Stale file handle"));
  });
}

TEST(RestoreLinks, RestoresTheOldLinksAndKeepsEdits) {
  const resource::UnitLinks::State before = {{{"gone", "1"}, {"other", "1"}, {"edited", "1"}, {"same", "1"}},
                                             {"/empty"}};
  resource::UnitLinks::State now = {{{"new", "2"}, {"other", "2"}, {"edited", "2"}, {"same", "1"}}, {}};
  const resource::UnitLinks::State made = ChangedLinks(before, now);
  now.targets.erase("same");
  now.targets["edited"] = "3";
  now.targets["theirs"] = "3";
  const RestoredLinks back = RestoreLinks(now, before, made);
  EXPECT_THAT(back.links.targets, ElementsAre(testing::Pair("edited", "3"), testing::Pair("gone", "1"),
                                              testing::Pair("other", "1"), testing::Pair("theirs", "3")));
  EXPECT_THAT(back.links.empty_folders, ElementsAre("/empty"));
  EXPECT_THAT(back.edited, ElementsAre("edited"));
}

TEST_F(Undoing, ContinuesAfterAnImmutableFile) {
  Change();
  const Immutable fixed(directory_ / "etc/motd");
  EXPECT_THAT(GiveUpAndEnd(), HasSubstr("writing /etc/motd: the existing entry is immutable: `chattr -i`"));
  EXPECT_EQ(machine_.Read("etc/motd"), "ours");
  EXPECT_FALSE(machine_.Has("etc/new/deep/file"));
}

TEST_F(Undoing, ContinuesAfterAnImmutableDirectory) {
  Change();
  const Immutable fixed(directory_ / "etc/new/deep");
  EXPECT_THAT(GiveUpAndEnd(), HasSubstr("the directory /etc/new/deep is immutable: `chattr -i`"));
  EXPECT_EQ(machine_.Read("etc/motd"), "the OS's greeting\n");
}

TEST_F(Undoing, ContinuesAfterAMountOnADirectory) {
  Change();
  const Mounted mounted("tmpfs", directory_ / "etc/new/deep", "tmpfs");
  EXPECT_THAT(GiveUpAndEnd(), HasSubstr("removing /etc/new/deep: something is mounted there"));
  EXPECT_EQ(machine_.Read("etc/motd"), "the OS's greeting\n");
}

TEST_F(Undoing, ContinuesAfterAMountOnAFile) {
  Change();
  const std::string motd = directory_ / "etc/motd";
  const Mounted mounted(motd.c_str(), motd, nullptr);
  EXPECT_THAT(GiveUpAndEnd(), HasSubstr("writing /etc/motd: something is mounted there"));
  EXPECT_FALSE(machine_.Has("etc/new/deep/file"));
}

TEST_F(Undoing, ContinuesAfterAFailureAndEndsWhenItIsMended) {
  const std::string before = Tree();
  Change();
  {
    const Immutable fixed(directory_ / "etc/systemd/system/multi-user.target.wants");
    EXPECT_THAT(MessageOf(GiveUp(machine_.host())), HasSubstr("look for immutable bits"));
    EXPECT_EQ(machine_.Read("etc/motd"), "the OS's greeting\n");
    EXPECT_THAT(machine_.Read("etc/shadow"), HasSubstr("core:!:"));
    EXPECT_FALSE(machine_.Has("home/core/.ssh"));
  }
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kUndone);
  EXPECT_EQ(Tree(), before);
}

TEST_F(Undoing, EndsWhenTheLockOfThePasswordsIsReleased) {
  const std::string before = Tree();
  Change();
  const host::Host host = machine_.host();
  const ClockInAHurry clock;
  {
    const UniqueFd lock(::open((directory_ / "etc/.pwd.lock").c_str(), O_WRONLY | O_CLOEXEC));
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    ASSERT_EQ(::fcntl(lock.get(), F_OFD_SETLK, &whole), 0);
    EXPECT_THAT(MessageOf(GiveUp({host.root, host.systemd, clock, host.labels, host.deployments})),
                HasSubstr("someone else is changing the users of this machine"));
    EXPECT_EQ(machine_.Read("etc/motd"), "the OS's greeting\n");
  }
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kUndone);
  EXPECT_EQ(Tree(), before);
}

TEST_F(Undoing, PutsBackPintlesOwnFilesDespiteEdits) {
  ChangeToNext();
  fs::permissions(directory_ / kRecord, fs::perms(0644));
  GiveUpAndEnd();
  EXPECT_THAT(machine_.Read(kRecord), HasSubstr("rendered-worker-1"));
}

TEST_F(Undoing, PutsBackPintlesOwnFilesAfterRemoval) {
  ChangeToNext();
  fs::remove(directory_ / kRecord);
  GiveUpAndEnd();
  EXPECT_THAT(machine_.Read(kRecord), HasSubstr("rendered-worker-1"));
}

TEST_F(Undoing, LeavesNoOtherFileBesideAnEditedOne) {
  Change();
  machine_.Write("etc/" + TemporaryNameOf("motd"), "left by a crash");
  machine_.Write("etc/motd", "edited");
  EXPECT_THAT(GiveUpAndEnd(), HasSubstr("writing /etc/motd: someone has edited it"));
  EXPECT_EQ(machine_.Read("etc/motd"), "edited");
  EXPECT_FALSE(machine_.Has("etc/" + TemporaryNameOf("motd")));
}

TEST_F(Undoing, KeepsAFileThatSomeoneHasPutIntoItsDirectory) {
  Change();
  machine_.Write("etc/new/deep/theirs", "theirs");
  GiveUpAndEnd();
  EXPECT_EQ(machine_.Read("etc/new/deep/theirs"), "theirs");
  EXPECT_FALSE(machine_.Has("etc/new/deep/file"));
}

TEST_F(Undoing, FollowsALinkToADirectoryThatSomeoneHasMoved) {
  ChangeToNext();
  fs::create_directories(directory_ / "srv");
  fs::rename(directory_ / "etc/new", directory_ / "srv/new");
  fs::create_symlink("/srv/new", directory_ / "etc/new");
  EXPECT_EQ(GiveUpAndEnd(), "it was given up");
  EXPECT_EQ(machine_.Read("srv/new/deep/file"), "new");
}

TEST_F(Undoing, RestoresAttributesAndTheLongestNames) {
  const std::string motd = directory_ / "etc/motd";
  constexpr std::array<unsigned char, 20> kCapabilities = {1, 0, 0, 2, 0, 4};
  fs::permissions(motd, fs::perms(0640));
  ASSERT_EQ(::setxattr(motd.c_str(), "security.capability", kCapabilities.data(), kCapabilities.size(), 0), 0);
  ASSERT_EQ(::setxattr(motd.c_str(), "trusted.theirs", "yes", 3, 0), 0);
  const std::string before = Tree();
  TestConfig config = Everything();
  for (const std::size_t length : {254U, 255U}) {
    config.WithFile(fmt::format("/etc/{}/{}", std::string(length, 'd'), std::string(255, 'f')), "data:,long");
  }
  ASSERT_EQ(ValueOf(machine_.GoFromTo(NoConfig(), config)), Ending::kRebootNeeded);
  ASSERT_NE(Tree(), before);
  GiveUpAndEnd();
  EXPECT_EQ(Tree(), before);
}

}  // namespace
}  // namespace pintle::change
