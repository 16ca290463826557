// SPDX-License-Identifier: Apache-2.0
#include "change/claim.h"

#include <filesystem>
#include <future>
#include <optional>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr auto kLongPatience = std::chrono::minutes(1);

class ClaimTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path().string()));
  std::optional<Claim> first_ = ValueOf(Claim::Take(root_));
};

TEST_F(ClaimTest, IsRefusedAtOnceWithoutPatience) {
  EXPECT_THAT(MessageOf(Claim::Take(root_)), HasSubstr("another program is changing this machine"));
  EXPECT_EQ(Claim::Take(root_).error().kind(), ErrorKind::kConflict);
}

TEST_F(ClaimTest, IsAwaitedUntilItsHolderReleasesIt) {
  auto second = std::async(std::launch::async, [&] { return Claim::Take(root_, kLongPatience); });
  EXPECT_EQ(second.wait_for(milliseconds(120)), std::future_status::timeout);
  first_.reset();
  EXPECT_TRUE(Succeeded(second.get()));
}

TEST_F(ClaimTest, IsRefusedAfterTheTimeLimit) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(MessageOf(Claim::Take(root_, milliseconds(120))), HasSubstr("another program is changing this machine"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(120));
}

TEST_F(ClaimTest, IsFreeAgainAfterARefusal) {
  EXPECT_FALSE(Claim::Take(root_));
  first_.reset();
  EXPECT_TRUE(Succeeded(Claim::Take(root_, kLongPatience)));
}

TEST_F(ClaimTest, IsHeldUntilItIsReleased) {
  EXPECT_TRUE(ValueOf(Claim::IsHeld(root_)));
  first_.reset();
  EXPECT_FALSE(ValueOf(Claim::IsHeld(root_)));
}

TEST_F(ClaimTest, IsRefusedWithARemedyIfTheLockIsASymlink) {
  first_.reset();
  const auto lock = directory_ / "var/lib/pintle/lock";
  std::filesystem::remove(lock);
  std::filesystem::create_symlink("/etc/elsewhere", lock);
  EXPECT_EQ(MessageOf(Claim::Take(root_)),
            "a symlink is in the path, or symlinks form a loop; remove or correct them: opening /var/lib/pintle/lock: "
            "open: Too "
            "many levels of symbolic links");
}

TEST_F(ClaimTest, IsNotHeldOnAMachineThatHasNeverBeenChanged) {
  const TemporaryDirectory fresh;
  EXPECT_FALSE(ValueOf(Claim::IsHeld(ValueOf(Root::Open(fresh.path().string())))));
  EXPECT_TRUE(std::filesystem::is_empty(fresh.path()));
}

}  // namespace
}  // namespace pintle::change
