// SPDX-License-Identifier: Apache-2.0
#include "host/authorized_keys.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using KeysState = resource::AuthorizedKeys::State;
using WantedKeys = std::optional<KeysState>;

constexpr const char* kFile = "home/core/.ssh/authorized_keys.d/ignition";

// The user `core` has the IDs of the user who runs the tests, so that no test needs a privilege.
struct MachineWithHome : TemporaryDirectory {
  MachineWithHome() {
    fs::create_directories(path() / "etc");
    fs::create_directories(path() / "home/core");
    Write("etc/passwd", fmt::format("core:x:{}:{}::/home/core:/bin/bash\nhomeless:x:{}:{}::/none:/bin/sh\n", ::getuid(),
                                    ::getgid(), ::getuid(), ::getgid()));
  }
  Root root() const { return ValueOf(Root::Open(path().string())); }
  Result<> Put(const std::string& user, const WantedKeys& want) const {
    return PutAuthorizedKeys(root(), {user, want}, Labels());
  }
  WantedKeys Observe(const std::string& user = "core") const { return ValueOf(ObserveAuthorizedKeys(root(), user)); }
  mode_t Mode(const std::string& name) const {
    struct stat status;
    if (::lstat((path() / name).c_str(), &status) != 0) throw std::runtime_error("lstat " + name);
    return status.st_mode & 07777;
  }
};

KeysState Keys(std::vector<std::string> keys) {
  KeysState state;
  state.keys = std::move(keys);
  return state;
}

TEST(AuthorizedKeys, AreWrittenOnLinesOfTheirOwnForTheUserAlone) {
  const MachineWithHome machine;
  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({"ssh-rsa A", "ssh-rsa B"}))));
  EXPECT_EQ(machine.Read(kFile), "ssh-rsa A\nssh-rsa B\n");
  EXPECT_EQ(machine.Mode(kFile), 0600U);
  EXPECT_EQ(machine.Mode("home/core/.ssh"), 0700U);
  EXPECT_EQ(machine.Mode("home/core/.ssh/authorized_keys.d"), 0700U);
  EXPECT_TRUE(Matches(Keys({"ssh-rsa A", "ssh-rsa B"}), machine.Observe()));
}

TEST(AuthorizedKeys, MayBePutAgainAndReplaceTheOldOnes) {
  const MachineWithHome machine;
  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({"ssh-rsa A"}))));
  const auto written = fs::last_write_time(machine / kFile);
  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({"ssh-rsa A"}))));
  EXPECT_EQ(fs::last_write_time(machine / kFile), written);
  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({"ssh-rsa B"}))));
  EXPECT_EQ(machine.Read(kFile), "ssh-rsa B\n");
}

TEST(AuthorizedKeys, AnEmptyListEmptiesAFileButCreatesNone) {
  const MachineWithHome machine;
  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({}))));
  EXPECT_FALSE(fs::exists(machine / "home/core/.ssh"));
  EXPECT_TRUE(Matches(Keys({}), machine.Observe()));

  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({"ssh-rsa A"}))));
  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({}))));
  EXPECT_TRUE(fs::exists(machine / kFile));
  EXPECT_EQ(machine.Read(kFile), "");
}

TEST(AuthorizedKeys, AreRemovedIfThereWereNoneBefore) {
  const MachineWithHome machine;
  const WantedKeys before = machine.Observe();
  EXPECT_FALSE(before.has_value());
  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({"ssh-rsa A"}))));
  EXPECT_TRUE(Succeeded(machine.Put("core", before)));
  EXPECT_TRUE(fs::is_empty(machine / "home/core"));
}

TEST(AuthorizedKeys, LeaveTheUsersOtherFilesAlone) {
  const MachineWithHome machine;
  fs::create_directory(machine / "home/core/.ssh");
  machine.Write("home/core/.ssh/id_rsa", "secret");
  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({"ssh-rsa A"}))));
  EXPECT_TRUE(Succeeded(machine.Put("core", std::nullopt)));
  EXPECT_EQ(machine.Read("home/core/.ssh/id_rsa"), "secret");
  EXPECT_FALSE(fs::exists(machine / "home/core/.ssh/authorized_keys.d"));
}

TEST(AuthorizedKeys, AreRestoredExactly) {
  for (const std::string text : {"", "ssh-rsa A\n", "ssh-rsa A", "\n\nssh-rsa A\n\n", "# by hand\r\nssh-rsa A\r\n"}) {
    const MachineWithHome machine;
    fs::create_directories((machine / kFile).parent_path());
    machine.Write(kFile, text);
    const WantedKeys before = machine.Observe();
    EXPECT_TRUE(Succeeded(machine.Put("core", Keys({"ssh-rsa B"}))));
    EXPECT_FALSE(Matches(before, machine.Observe()));
    EXPECT_TRUE(Succeeded(machine.Put("core", before)));
    EXPECT_EQ(machine.Read(kFile), text);
    EXPECT_TRUE(Matches(before, machine.Observe()));
  }
}

TEST(AuthorizedKeys, AreNotWrittenThroughALinkThatTheUserMade) {
  for (const char* place : {".ssh", ".ssh/authorized_keys.d"}) {
    const MachineWithHome machine;
    fs::create_directories((machine / "home/core" / place).parent_path());
    fs::create_directory_symlink("/etc", machine / "home/core" / place);
    const std::string expected =
        fmt::format("writing the SSH keys of core: /home/core/{}: a link or a file is in the place", place);
    EXPECT_THAT(MessageOf(machine.Put("core", Keys({"ssh-rsa A"}))), HasSubstr(expected));
    EXPECT_THAT(MessageOf(ObserveAuthorizedKeys(machine.root(), "core")),
                HasSubstr("a link or a file is in the place"));
    EXPECT_FALSE(fs::exists(machine / "etc/ignition"));
    EXPECT_FALSE(fs::exists(machine / "etc/authorized_keys.d"));
  }
}

TEST(AuthorizedKeys, ReplaceNoLinkInThePlaceOfTheFile) {
  const MachineWithHome machine;
  fs::create_directories((machine / kFile).parent_path());
  machine.Write("etc/target", "untouched");
  fs::create_symlink("/etc/target", machine / kFile);
  EXPECT_THAT(MessageOf(machine.Put("core", Keys({"ssh-rsa A"}))), HasSubstr("Too many levels of symbolic links"));
  EXPECT_EQ(machine.Read("etc/target"), "untouched");
}

TEST(AuthorizedKeys, AreNotWrittenIfTheyAreTooLongToBeReadAgain) {
  const MachineWithHome machine;
  EXPECT_TRUE(Succeeded(machine.Put("core", Keys({"ssh-rsa A"}))));
  EXPECT_THAT(MessageOf(machine.Put("core", Keys({std::string(17 << 20, 'k')}))),
              HasSubstr("longer than the limit of 16777216 bytes"));
  EXPECT_EQ(machine.Read(kFile), "ssh-rsa A\n");
}

TEST(AuthorizedKeys, OfAnUnknownUserAreAnErrorUnlessTheListIsEmpty) {
  const MachineWithHome machine;
  EXPECT_FALSE(machine.Observe("nobody").has_value());
  EXPECT_TRUE(Succeeded(machine.Put("nobody", Keys({}))));
  EXPECT_TRUE(Succeeded(machine.Put("nobody", std::nullopt)));
  const auto put = machine.Put("nobody", Keys({"ssh-rsa A"}));
  EXPECT_EQ(MessageOf(put), "writing the SSH keys of nobody: there is no such user");
  EXPECT_EQ(put.error().kind(), ErrorKind::kNotFound);
}

TEST(AuthorizedKeys, OfAUserWithoutAHomeFolderAreAnError) {
  const MachineWithHome machine;
  EXPECT_FALSE(machine.Observe("homeless").has_value());
  EXPECT_THAT(MessageOf(machine.Put("homeless", Keys({"ssh-rsa A"}))),
              HasSubstr("the home folder of the user homeless"));
  EXPECT_FALSE(fs::exists(machine / "none"));
}

// Only root can create the files of other users that these tests need.
class AuthorizedKeysAsRoot : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::getuid(), 0U) << "only root can act for other users: be root";
    fs::permissions(machine_.path(), fs::perms(0755));
    machine_.Write("etc/passwd", "core:x:1234:1235::/home/core:/bin/bash\n");
    ASSERT_EQ(::chown((machine_ / "home/core").c_str(), 1234, 1235), 0);
  }
  struct stat StatusOf(const std::string& name) const {
    struct stat status = {};
    EXPECT_EQ(::lstat((machine_ / name).c_str(), &status), 0) << name;
    return status;
  }

  const MachineWithHome machine_;
};

TEST_F(AuthorizedKeysAsRoot, BelongToTheUser) {
  EXPECT_TRUE(Succeeded(machine_.Put("core", Keys({"ssh-rsa A"}))));
  for (const char* name : {"home/core/.ssh", "home/core/.ssh/authorized_keys.d", kFile}) {
    EXPECT_EQ(StatusOf(name).st_uid, 1234U) << name;
    EXPECT_EQ(StatusOf(name).st_gid, 1235U) << name;
  }
  machine_.Write("etc/mine", "");
  EXPECT_EQ(StatusOf("etc/mine").st_uid, 0U) << "Put() must switch back to root";
}

#ifdef PINTLE_HAS_SELINUX
TEST_F(AuthorizedKeysAsRoot, WithALabelAreNotWrittenAgain) {
  machine_.Write("contexts", "/home/core/.*  system_u:object_r:ssh_home_t:s0\n");
  const Labels labels = Labels::FromFile((machine_ / "contexts").string());
  const WantedKeys keys = Keys({"ssh-rsa A"});
  EXPECT_TRUE(Succeeded(PutAuthorizedKeys(machine_.root(), {"core", keys}, labels)));
  // SELinux returns labels with a zero byte at the end.
  const std::string label("system_u:object_r:ssh_home_t:s0\0", 32);
  const std::string file = (machine_ / kFile).string();
  ASSERT_EQ(::setxattr(file.c_str(), "security.selinux", label.data(), label.size(), 0), 0);
  const ino_t written = StatusOf(kFile).st_ino;
  EXPECT_TRUE(Succeeded(PutAuthorizedKeys(machine_.root(), {"core", keys}, labels)));
  EXPECT_EQ(StatusOf(kFile).st_ino, written);
}
#endif

TEST_F(AuthorizedKeysAsRoot, ArePutIntoANewFolderInPlaceOfAFolderOfSomeoneElse) {
  for (const char* name : {"home/core/.ssh", "home/core/.ssh/authorized_keys.d"}) {
    ASSERT_EQ(fs::exists((machine_ / name).parent_path()), true);
    fs::create_directory(machine_ / name);
    fs::permissions(machine_ / name, fs::perms::owner_all);
    machine_.Write(std::string(name) + "/theirs", "kept");
    const WantedKeys before = machine_.Observe();
    ASSERT_TRUE(before && before->belongs_to_other_user) << name;
    EXPECT_TRUE(Matches(Keys({}), before)) << "keys in the folder of another user do not count";

    EXPECT_TRUE(Succeeded(machine_.Put("core", Keys({"ssh-rsa A"}))));
    EXPECT_EQ(machine_.Read(kFile), "ssh-rsa A\n");
    EXPECT_EQ(StatusOf(name).st_uid, 1234U);
    EXPECT_EQ(machine_.Mode(name), 0700U);
    EXPECT_EQ(machine_.Read(std::string(name) + ".before-pintle/theirs"), "kept");

    EXPECT_TRUE(Succeeded(machine_.Put("core", before)));
    EXPECT_EQ(machine_.Read(std::string(name) + "/theirs"), "kept");
    EXPECT_EQ(StatusOf(name).st_uid, 0U);
    EXPECT_FALSE(fs::exists(machine_ / (std::string(name) + ".before-pintle")));
    EXPECT_TRUE(Succeeded(machine_.Put("core", before))) << "as after a crash";
    EXPECT_EQ(machine_.Read(std::string(name) + "/theirs"), "kept");

    // Makes the folder of the user again for the next round.
    fs::remove_all(machine_ / name);
    fs::create_directory(machine_ / "home/core/.ssh");
    ASSERT_EQ(::chown((machine_ / "home/core/.ssh").c_str(), 1234, 1235), 0);
  }
}

TEST_F(AuthorizedKeysAsRoot, DoNotReplaceAFolderThatWasSetAsideBefore) {
  fs::create_directory(machine_ / "home/core/.ssh");
  fs::create_directory(machine_ / "home/core/.ssh.before-pintle");
  EXPECT_THAT(
      MessageOf(machine_.Put("core", Keys({"ssh-rsa A"}))),
      HasSubstr("/home/core/.ssh: it belongs to another user and not to core, and .ssh.before-pintle is there"));
  EXPECT_TRUE(fs::is_empty(machine_ / "home/core/.ssh"));
}

TEST_F(AuthorizedKeysAsRoot, LeaveAFolderOfSomeoneElseAloneIfTheListIsEmpty) {
  fs::create_directory(machine_ / "home/core/.ssh");
  EXPECT_TRUE(Succeeded(machine_.Put("core", Keys({}))));
  EXPECT_EQ(StatusOf("home/core/.ssh").st_uid, 0U);
}

TEST_F(AuthorizedKeysAsRoot, AreNotWrittenToAFolderThatTheUserMayNotWrite) {
  ASSERT_EQ(::chown((machine_ / "home/core").c_str(), 0, 0), 0);
  EXPECT_THAT(MessageOf(machine_.Put("core", Keys({"ssh-rsa A"}))), HasSubstr("mkdir: Permission denied"));
}

}  // namespace
}  // namespace pintle::host
