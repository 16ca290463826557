// SPDX-License-Identifier: Apache-2.0
#include "change/original_passwords.h"

#include <filesystem>

#include "change/losses.h"
#include "support/expect.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using plan::TestConfig;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kFile = "etc/machine-config-daemon/pintle-passwords.json";

// A machine on which a config has replaced the password of the user core, and the record of the old password is
// damaged.
class DamagedPasswords : public testing::Test {
 protected:
  void SetUp() override {
    machine_.Write("etc/shadow", "root:*:19000:0:99999:7:::\ncore:$6$own$hash:19000:0:99999:7:::\n");
    ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), WithCore())));
    ASSERT_THAT(ValueOf(ReadOriginalPasswords(root_)), testing::SizeIs(1));
    machine_.Write(kFile, "{\"core\": tor");
  }

  static TestConfig WithCore() {
    TestConfig config;
    config.WithUser("core", {"key"});
    config.ignition().passwd.users.back().password_hash = "$6$salt$ours";
    return config;
  }

  std::vector<Finding> Findings() { return ValueOf(FindingsOn(machine_.host(), WithCore())); }

  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
  Root root_ = ValueOf(Root::Open(directory_.path().string()));
};

TEST_F(DamagedPasswords, AreAFindingOnTheUserBeforeTheUserIsLocked) {
  const auto findings = Findings();
  ASSERT_THAT(findings, testing::SizeIs(1));
  EXPECT_EQ(findings.front().about, "core");
  EXPECT_THAT(findings.front().text,
              HasSubstr("the password that the user core had before a config managed the user is lost: "
                        "/etc/machine-config-daemon/pintle-passwords.json: "));
  EXPECT_THAT(findings.front().text, HasSubstr("`pintle restore core` accepts the loss"));
}

TEST_F(DamagedPasswords, BlockOnlyAConfigThatLocksTheUser) {
  TestConfig same = WithCore();
  same.WithFile("/etc/other", "data:,other");
  EXPECT_THAT(ValueOf(FindingsThatWouldBeLost(machine_.host(), Findings(), same, {})), IsEmpty());
  EXPECT_THAT(ValueOf(FindingsThatWouldBeLost(machine_.host(), Findings(), NoConfig(), {})), testing::SizeIs(1));
}

TEST_F(DamagedPasswords, StayUnchangedWithAConfigThatStillHasTheUser) {
  TestConfig same = WithCore();
  same.WithFile("/etc/other", "data:,other");
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(WithCore(), same)));
  EXPECT_EQ(machine_.Read(kFile), "{\"core\": tor");
}

TEST_F(DamagedPasswords, StillNameTheUserThatIsLocked) {
  EXPECT_THAT(UsersLockedBy(root_, WithCore(), NoConfig()), ElementsAre("core"));
  EXPECT_THAT(UsersLockedBy(root_, WithCore(), WithCore()), IsEmpty());
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(WithCore(), NoConfig())));
  EXPECT_THAT(machine_.Read("etc/shadow"), HasSubstr("core:*:"));
  EXPECT_FALSE(machine_.Has(kFile));
}

TEST_F(DamagedPasswords, DoNotIncludeARecordThatCannotBeReadAtTheMoment) {
  // Opening this link fails with ELOOP.
  std::filesystem::remove(directory_ / kFile);
  std::filesystem::create_symlink("pintle-passwords.json", directory_ / kFile);
  const auto findings = Findings();
  ASSERT_THAT(findings, testing::SizeIs(1));
  EXPECT_EQ(findings.front().about, "core");
  EXPECT_THAT(findings.front().text, HasSubstr("could not read the password that the user core had before a config"));
  EXPECT_THAT(UsersLockedBy(root_, WithCore(), NoConfig()), IsEmpty());
  EXPECT_FALSE(Succeeded(machine_.GoFromTo(WithCore(), NoConfig())));
  EXPECT_THAT(machine_.Read("etc/shadow"), HasSubstr("core:$6$salt$ours:"));
}

TEST_F(DamagedPasswords, BlockAConfigWithANewUser) {
  TestConfig two = WithCore();
  two.WithUser("root", {"key"});
  EXPECT_THAT(MessageOf(machine_.GoFromTo(WithCore(), two)), HasSubstr("`pintle restore core` creates the file anew"));
}

TEST_F(DamagedPasswords, AreReplacedWhenAPersonAcceptsTheLoss) {
  const TestConfig config = WithCore();
  const auto all = [](const plan::Step&) { return true; };
  EXPECT_EQ(ValueOf(Restore(machine_.host(), config, plan::Make(config, config, machine_.policy, {}), all)),
            Ending::kDone);
  EXPECT_THAT(Findings(), IsEmpty());
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(config, NoConfig())));
  EXPECT_THAT(machine_.Read("etc/shadow"), HasSubstr("core:*:"));
}

}  // namespace
}  // namespace pintle::change
