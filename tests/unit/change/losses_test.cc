// SPDX-License-Identifier: Apache-2.0
#include "change/losses.h"

#include "support/expect.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Losses : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), from_))); }

  std::vector<std::string> LostOnTheWayTo(const plan::TestConfig& to, const Ignored& ignored = {}) {
    Things left_alone = ValueOf(LeftAlone(ignored, from_, to));
    left_alone.merge(UnreadableKeys(ValueOf(Root::Open(directory_.path().string())), from_, to));
    std::vector<std::string> lost;
    for (const Finding& finding : ValueOf(
             FindingsThatWouldBeLost(machine_.host(), ValueOf(FindingsOn(machine_.host(), from_)), to, left_alone))) {
      lost.push_back(finding.about);
    }
    return lost;
  }

  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
  plan::TestConfig from_ = Everything();
  const Ignored ignored_ = {{"/etc/motd", WallTime::max()}};
};

TEST_F(Losses, AreEditsByHand) {
  machine_.Write("etc/motd", "edited");
  EXPECT_THAT(LostOnTheWayTo(from_), ElementsAre("/etc/motd"));
}

TEST_F(Losses, ExcludeEditsThatTheNewConfigWants) {
  machine_.Write("etc/motd", "edited");
  plan::TestConfig to = Everything();
  to.ignition().storage.files.front().contents.source = "data:,edited";
  EXPECT_THAT(LostOnTheWayTo(to), IsEmpty());
}

TEST_F(Losses, ExcludeIgnoredThingsThatTheNewConfigLeavesAlone) {
  machine_.Write("etc/motd", "edited");
  plan::TestConfig to = Everything();
  to.WithFile("/etc/other", "data:,other");
  EXPECT_THAT(LostOnTheWayTo(to, ignored_), IsEmpty());
  to.ignition().storage.files.front().contents.source = "data:,newer";
  EXPECT_THAT(LostOnTheWayTo(to, ignored_), ElementsAre("/etc/motd"));
  EXPECT_THAT(LostOnTheWayTo(NoConfig(), ignored_), ElementsAre("/etc/motd"));
}

TEST_F(Losses, IncludeAPasswordEvenIfTheUsersKeysAreAsWanted) {
  machine_.Write("etc/shadow", "root:*:19000:0:99999:7:::\ncore:$6$other$hash:19000:0:99999:7:::\n");
  EXPECT_THAT(LostOnTheWayTo(from_), ElementsAre("core"));
}

TEST_F(Losses, ExcludeUnreadableKeysThatTheNewConfigLeavesAlone) {
  std::filesystem::remove_all(directory_ / "home/core/.ssh");
  std::filesystem::create_directory_symlink("/etc", directory_ / "home/core/.ssh");
  plan::TestConfig to = Everything();
  to.WithFile("/etc/other", "data:,other");
  EXPECT_THAT(LostOnTheWayTo(to), IsEmpty());
  const Things left_alone = UnreadableKeys(ValueOf(Root::Open(directory_.path().string())), from_, to);
  ASSERT_TRUE(Succeeded(Apply(machine_.host(), from_, to, plan::Make(from_, to, machine_.policy, {}), {},
                              EndsWith::kTheBoot, left_alone)));
  EXPECT_EQ(machine_.Read("etc/other"), "other");
  EXPECT_THAT(TextOf(ValueOf(FindingsOn(machine_.host(), to)), "c"), testing::HasSubstr("could not read SSH keys"));
  to.ignition().passwd.users.front().ssh_authorized_keys = {"another"};
  EXPECT_THAT(LostOnTheWayTo(to), ElementsAre("core"));
}

TEST_F(Losses, ExcludeKeysInAFolderThatIsSetAside) {
  ASSERT_EQ(::chown((directory_ / "home/core/.ssh").c_str(), 0, 0), 0);
  plan::TestConfig to = Everything();
  to.WithFile("/etc/other", "data:,other");
  EXPECT_THAT(LostOnTheWayTo(to), IsEmpty());
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(from_, to)));
  EXPECT_EQ(machine_.Read("home/core/.ssh/authorized_keys.d/ignition"), "ssh-ed25519 AAAA one\n");
  EXPECT_TRUE(machine_.Has("home/core/.ssh.before-pintle/authorized_keys.d/ignition"));
  EXPECT_THAT(ValueOf(FindingsOn(machine_.host(), to)), IsEmpty());
}

TEST_F(Losses, DoNotHappenToIgnoredThings) {
  machine_.Write("etc/motd", "edited");
  plan::TestConfig to = Everything();
  to.WithFile("/etc/other", "data:,other");
  ASSERT_TRUE(Succeeded(Apply(machine_.host(), from_, to, plan::Make(from_, to, machine_.policy, {}), {},
                              EndsWith::kTheBoot, ValueOf(LeftAlone(ignored_, from_, to)))));
  EXPECT_EQ(machine_.Read("etc/motd"), "edited");
  EXPECT_EQ(machine_.Read("etc/other"), "other");
}

}  // namespace
}  // namespace pintle::change
