// SPDX-License-Identifier: Apache-2.0
#include "host/password_hash.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "base/unique_fd.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using HashState = resource::PasswordHash::State;
using WantedHash = std::optional<HashState>;

// A clock whose wall time stands still, on day 20000 since 1970.
class StoppedClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return std::chrono::steady_clock::now(); }
  WallTime Wall() const override { return WallTime(std::chrono::hours(20000 * 24 + 7)); }
};

const std::string kBefore = "root:*:19000:0:99999:7:::\n";
const std::string kAfter = "corex:$6$other:19001:0:99999:7:::\n\n# odd\nlast:!!:::::::";

struct MachineWithShadow : TemporaryDirectory {
  explicit MachineWithShadow(const std::string& line = "core:$6$old:19500:0:99999:7:::\n") {
    fs::create_directories(path() / "etc");
    Write("etc/passwd", "core:x:1000:1000::/home/core:/bin/bash\n");
    Write("etc/shadow", kBefore + line + kAfter);
    fs::permissions(path() / "etc/shadow", fs::perms(0640));
  }
  Root root() const { return ValueOf(Root::Open(path().string())); }
  Result<> Put(const std::string& user, const WantedHash& want,
               milliseconds patience = std::chrono::seconds(15)) const {
    return PutPasswordHash(root(), {user, want}, StoppedClock(), patience);
  }
  WantedHash Observe(const std::string& user = "core") const { return ValueOf(ObservePasswordHash(root(), user)); }
  std::string Shadow() const { return Read("etc/shadow"); }
};

HashState Hash(std::string hash) { return {std::move(hash), std::nullopt}; }

TEST(PasswordHash, IsReplacedTogetherWithTheDayOfItsChange) {
  const MachineWithShadow machine;
  EXPECT_TRUE(Succeeded(machine.Put("core", Hash("$6$new"))));
  EXPECT_EQ(machine.Shadow(), kBefore + "core:$6$new:20000:0:99999:7:::\n" + kAfter);
  EXPECT_TRUE(Matches(Hash("$6$new"), machine.Observe()));
}

TEST(PasswordHash, ThatIsUnchangedKeepsItsDay) {
  const MachineWithShadow machine;
  EXPECT_TRUE(Succeeded(machine.Put("core", Hash("$6$old"))));
  EXPECT_EQ(machine.Shadow(), kBefore + "core:$6$old:19500:0:99999:7:::\n" + kAfter);
}

TEST(PasswordHash, IsRestoredExactly) {
  for (const char* line : {"core:$6$old:19500:0:99999:7:::\n", "core::0:::::2:\n", "core:*::0:99999:7:::\n", "core:!\n",
                           "core:\n", "core:$6$old:19500\n", ""}) {
    const MachineWithShadow machine(line);
    const WantedHash before = machine.Observe();
    EXPECT_TRUE(Succeeded(machine.Put("core", Hash("$6$new"))));
    EXPECT_TRUE(Matches(Hash("$6$new"), machine.Observe()));
    EXPECT_TRUE(Succeeded(machine.Put("core", before)));
    EXPECT_EQ(machine.Observe().has_value(), before.has_value());
    EXPECT_TRUE(Matches(before, machine.Observe())) << line;
    // Removing a line that was added leaves the line break before it.
    if (*line == '\0') continue;
    EXPECT_EQ(machine.Shadow(), kBefore + line + kAfter);
  }
}

TEST(PasswordHash, KeepsModeAndAttributesOfTheFile) {
  const MachineWithShadow machine;
  const fs::path shadow = machine / "etc/shadow";
  const bool has_attributes = ::setxattr(shadow.c_str(), "user.note", "kept", 4, 0) == 0;
  EXPECT_TRUE(Succeeded(machine.Put("core", Hash("$6$new"))));
  EXPECT_EQ(fs::status(shadow).permissions(), fs::perms(0640));
  char value[8] = {};
  EXPECT_EQ(::getxattr(shadow.c_str(), "user.note", value, sizeof value), has_attributes ? 4 : -1);
}

TEST(PasswordHash, IsOnlyForRootIfTheFileWasMissing) {
  const MachineWithShadow machine;
  fs::remove(machine / "etc/shadow");
  EXPECT_TRUE(Succeeded(machine.Put("core", Hash("$6$new"))));
  EXPECT_EQ(fs::status(machine / "etc/shadow").permissions(), fs::perms::none);
  EXPECT_EQ(machine.Shadow(), "core:$6$new:20000:0:99999:7:::\n");
}

TEST(PasswordHash, IsForThoseWhoMayReadGshadowIfTheFileWasMissing) {
  const MachineWithShadow machine;
  fs::remove(machine / "etc/shadow");
  machine.Write("etc/gshadow", "core:!::\n");
  fs::permissions(machine / "etc/gshadow", fs::perms(0640));
  constexpr gid_t kShadowGroup = 42;
  ASSERT_EQ(::chown((machine / "etc/gshadow").c_str(), 0, kShadowGroup), 0);
  EXPECT_TRUE(Succeeded(machine.Put("core", Hash("$6$new"))));
  struct stat status = {};
  ASSERT_EQ(::stat((machine / "etc/shadow").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  EXPECT_EQ(status.st_gid, kShadowGroup);
  EXPECT_EQ(machine.Shadow(), "core:$6$new:20000:0:99999:7:::\n");
}

TEST(PasswordHash, OfAUserWithoutALineIsAddedUnlessItIsLocked) {
  const MachineWithShadow machine("");
  EXPECT_TRUE(Succeeded(machine.Put("core", Hash("*"))));
  EXPECT_TRUE(Matches(Hash("*"), machine.Observe()));
  EXPECT_EQ(machine.Shadow(), kBefore + kAfter);
  EXPECT_TRUE(Succeeded(machine.Put("core", Hash("$6$new"))));
  EXPECT_EQ(machine.Shadow(), kBefore + kAfter + "\ncore:$6$new:20000:0:99999:7:::\n");
}

TEST(PasswordHash, OfAnUnknownUserIsAnErrorUnlessItIsLocked) {
  const MachineWithShadow machine;
  EXPECT_TRUE(Succeeded(machine.Put("nobody", Hash("*"))));
  const auto put = machine.Put("nobody", Hash("$6$new"));
  EXPECT_EQ(MessageOf(put), "setting the password of nobody: there is no such user");
  EXPECT_EQ(put.error().kind(), ErrorKind::kNotFound);
}

TEST(PasswordHash, ThatWouldBreakTheFileIsRefusedWithoutPrintingIt) {
  const MachineWithShadow machine;
  const std::string before = machine.Shadow();
  for (const char* hash : {"$6$secret:0:0", "$6$secret\nroot::0:0:::::", "$6$secret:"}) {
    EXPECT_THAT(MessageOf(machine.Put("core", Hash(hash))), Not(HasSubstr("secret")));
  }
  EXPECT_THAT(MessageOf(machine.Put("co\nre", Hash("x"))), HasSubstr("it is not a valid user name"));
  EXPECT_EQ(machine.Shadow(), before);
}

TEST(PasswordHash, IsNotWrittenThroughALink) {
  const MachineWithShadow machine;
  fs::rename(machine / "etc/shadow", machine / "etc/elsewhere");
  fs::create_symlink("elsewhere", machine / "etc/shadow");
  EXPECT_THAT(MessageOf(machine.Put("core", Hash("$6$new"))), HasSubstr("reading /etc/shadow"));
}

// Locks the password files as lckpwdf(3) in another process does.
class Locked {
 public:
  explicit Locked(const MachineWithShadow& machine)
      : file_(::open((machine / "etc/.pwd.lock").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    if (::fcntl(file_.get(), F_OFD_SETLK, &whole) != 0) throw std::runtime_error("fcntl");
  }

 private:
  UniqueFd file_;
};

TEST(PasswordHash, WaitsForTheLockUpToALimit) {
  const MachineWithShadow machine;
  const Locked locked(machine);
  const auto put = machine.Put("core", Hash("$6$new"), milliseconds(30));
  EXPECT_THAT(MessageOf(put), HasSubstr("someone else is changing the users of this machine"));
  EXPECT_EQ(put.error().kind(), ErrorKind::kUnavailable);
  EXPECT_THAT(machine.Shadow(), HasSubstr("$6$old"));
}

// Releases the lock when someone has tried to take it and looks at the clock to decide whether to go on waiting.
class ReleasingClock final : public Clock {
 public:
  explicit ReleasingClock(const MachineWithShadow& machine) : locked_(machine) {}

  MonotonicTime Monotonic() const override {
    if (++readings_ == 2) locked_.reset();  // The first reading is for the deadline.
    return {};
  }
  WallTime Wall() const override { return StoppedClock().Wall(); }
  int readings() const { return readings_; }

 private:
  mutable std::optional<Locked> locked_;
  mutable int readings_ = 0;
};

TEST(PasswordHash, IsWrittenWhenTheLockIsReleased) {
  const MachineWithShadow machine;
  const ReleasingClock clock(machine);
  EXPECT_TRUE(Succeeded(PutPasswordHash(machine.root(), {"core", Hash("$6$new")}, clock, std::chrono::seconds(15))));
  EXPECT_GE(clock.readings(), 2);
  EXPECT_THAT(machine.Shadow(), HasSubstr("$6$new"));
}

}  // namespace
}  // namespace pintle::host
