// SPDX-License-Identifier: Apache-2.0
#include "host/files/acting_as.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "support/expect.h"
#include "support/refused_calls.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

constexpr Owner kActingUser{1000, 1000};
constexpr gid_t kGroupOfProcess = 4711;

class ActingAsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::setgroups(1, &kGroupOfProcess), 0);
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  }
  ~ActingAsTest() override { ::setgroups(0, nullptr); }

  void WriteOwnedBy(const std::string& name, uid_t uid, gid_t gid, mode_t permissions) {
    directory_.Write(name, "contents");
    ASSERT_EQ(::chown((directory_ / name).c_str(), uid, gid), 0);
    ASSERT_EQ(::chmod((directory_ / name).c_str(), permissions), 0);
  }
  bool CanRead(const std::string& name) const {
    return static_cast<bool>(UniqueFd(::open((directory_ / name).c_str(), O_RDONLY | O_CLOEXEC)));
  }

  TemporaryDirectory directory_;
};

TEST_F(ActingAsTest, MayReadOnlyWhatTheUserMayRead) {
  WriteOwnedBy("of-user", kActingUser.uid, 0, 0400);
  WriteOwnedBy("of-group", 0, kActingUser.gid, 0040);
  WriteOwnedBy("of-root", 0, 0, 0400);
  WriteOwnedBy("of-group-of-process", 0, kGroupOfProcess, 0040);
  {
    const auto acting = ValueOf(ActingAs::Begin(kActingUser));
    EXPECT_TRUE(CanRead("of-user"));
    EXPECT_TRUE(CanRead("of-group"));
    EXPECT_FALSE(CanRead("of-root"));
    EXPECT_FALSE(CanRead("of-group-of-process"));
  }
  EXPECT_TRUE(CanRead("of-root"));
}

TEST_F(ActingAsTest, GivesTheGroupsBack) {
  { const auto acting = ValueOf(ActingAs::Begin(kActingUser)); }
  gid_t group = 0;
  ASSERT_EQ(::getgroups(1, &group), 1);
  EXPECT_EQ(group, kGroupOfProcess);
}

// In a user namespace, setfsuid() and setfsgid() do nothing for users and groups that the namespace does not have.
TEST_F(ActingAsTest, IsAnErrorIfTheThreadWouldKeepItsRights) {
  WriteOwnedBy("of-root", 0, 0, 0400);
  for (const auto ignore : {IgnoreCall<SYS_setfsuid>, IgnoreCall<SYS_setfsgid>, IgnoreCall<SYS_setgroups>}) {
    InThreadWith(ignore, [&] {
      EXPECT_THAT(MessageOf(ActingAs::Begin(kActingUser)),
                  testing::StartsWith("the kernel does not let root act as user 1000 with only the group 1000; "));
      EXPECT_TRUE(CanRead("of-root"));
    });
  }
}

}  // namespace
}  // namespace pintle::host
