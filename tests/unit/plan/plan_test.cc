// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include "base/digest.h"
#include "plan/kernel_arguments.h"
#include "support/configs.h"
#include "support/expect.h"

namespace pintle::plan {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

Plan PlanBetween(const TestConfig& from, const TestConfig& to) { return Make(from, to, {}, {}); }

TEST(Make, FindsAllObstacles) {
  TestConfig to;
  to.ignition().storage.disks.emplace_back().device = "/dev/a";
  auto& link = to.ignition().storage.links.emplace_back();
  link.path = "/etc/l";
  link.target = "a";
  to.ignition().passwd.groups.emplace_back().name = "g";
  to.WithFile("/run/machine-config-daemon-force", "data:,");
  to.spec().fips = true;
  const Plan plan = PlanBetween(TestConfig(), to);
  EXPECT_FALSE(plan.IsReconcilable());
  EXPECT_THAT(plan.verdict.obstacles, SizeIs(5));
  EXPECT_THAT(plan.verdict.text, testing::EndsWith("ignition Passwd Groups section contains changes"));
  for (const auto& obstacle : plan.verdict.obstacles) EXPECT_FALSE(obstacle.advice.empty()) << obstacle.text;
}

TEST(Make, AllowsOverriddenChanges) {
  TestConfig to;
  to.ignition().storage.disks.emplace_back().device = "/dev/a";
  EXPECT_FALSE(Make(TestConfig(), to, {}, {}).IsReconcilable());
  EXPECT_TRUE(Make(TestConfig(), to, {}, {.storage = {"Disks"}}).IsReconcilable());
}

TEST(Make, RefusesAFieldThatOnlyAnOlderVersionAllows) {
  TestConfig to;
  auto& link = to.ignition().storage.links.emplace_back();
  link.path = "/etc/l";
  link.target = "";
  EXPECT_EQ(
      PlanBetween(TestConfig(), to).verdict.text,
      "validating new Ignition config from machineconfig \"rendered-worker-1\" failed: invalid ignition V3 config "
      "found: error at $.storage.links.0.target: link target is required\n");
}

TEST(Make, CannotDecideAboutADrainIfRegistriesAreNoDataUrl) {
  const std::string path = "/etc/containers/registries.conf";
  const TestConfig remote = std::move(TestConfig().WithFile(path, "https://h/x"));
  const TestConfig local = std::move(TestConfig().WithFile(path, "data:,"));
  EXPECT_EQ(PlanBetween(remote, local).drain.error, "failed decoding Data URL scheme string: missing data prefix");
  EXPECT_EQ(PlanBetween(local, remote).drain.error, "failed decoding Data URL scheme string missing data prefix");
  EXPECT_EQ(PlanBetween(local, TestConfig().WithFile(path, "")).drain.error,
            "failed decoding Data URL scheme string missing data prefix");
}

TEST(RpmOstreeArguments, AreTrimmedAsGoDoes) {
  const std::vector<std::string> from = {"\u00A0a\u2003b\u3000 c"};
  const std::vector<std::string> to = {"x=\"y z  ", "\u2028"};
  EXPECT_THAT(
      RpmOstreeArguments(from, to),
      testing::ElementsAre("--delete-if-present=a\u2003b", "--delete-if-present=c", "--append=x=\"y z", "--append="));
}

TEST(Make, DrainsANodeThatReboots) {
  const Plan plan = PlanBetween(TestConfig(), TestConfig().WithFile("/etc/a", "data:,1"));
  EXPECT_TRUE(plan.Reboots());
  EXPECT_TRUE(plan.drain.is_needed);
  EXPECT_EQ(plan.drain.reason, "the node reboots");
}

TEST(Make, LeavesANodeAloneForANewSshKey) {
  const Plan plan = PlanBetween(TestConfig().WithUser("core", {"a"}), TestConfig().WithUser("core", {"a", "b"}));
  EXPECT_TRUE(plan.IsReconcilable());
  EXPECT_FALSE(plan.Reboots());
  EXPECT_FALSE(plan.drain.is_needed);
}

// Steps

template <typename R>
std::vector<resource::Put<R>> PutsOf(const std::vector<Step>& steps) {
  std::vector<resource::Put<R>> found;
  for (const Step& step : steps) {
    if (const auto* put = std::get_if<resource::Put<R>>(&step)) found.push_back(*put);
  }
  return found;
}

template <typename R>
std::optional<resource::Put<R>> FindPut(const std::vector<Step>& steps, const std::string& key) {
  for (const auto& put : PutsOf<R>(steps)) {
    if (put.key == key) return put;
  }
  return std::nullopt;
}

std::vector<Step> StepsBetween(const TestConfig& from, const TestConfig& to, const Originals& originals = {}) {
  return ValueOf(StepsFor(from, to, originals));
}

TEST(StepsFor, PutsFilesWithTheDigestOfTheirDecodedContents) {
  const auto steps = StepsBetween(TestConfig(), TestConfig().WithFile("/etc/a", "data:,hello%20world"));
  const auto put = FindPut<resource::FileEntry>(steps, "/etc/a");
  ASSERT_TRUE(put && put->want);
  EXPECT_EQ(put->want->sha256, Sha256("hello world").hex());
  EXPECT_EQ(put->want->permissions, 0644);
}

TEST(StepsFor, KeepsTheBootstrapKubeconfigPrivate) {
  TestConfig to;
  to.WithFile("/etc/kubernetes/kubeconfig", "data:,token").WithFile("/etc/kubernetes/other", "data:,");
  for (ignition::File& file : to.ignition().storage.files) file.mode = 0644;
  const auto steps = StepsBetween(TestConfig(), to);
  EXPECT_EQ(FindPut<resource::FileEntry>(steps, "/etc/kubernetes/kubeconfig")->want->permissions, 0600);
  EXPECT_EQ(FindPut<resource::FileEntry>(steps, "/etc/kubernetes/other")->want->permissions, 0644);
}

TEST(StepsFor, RestoresTheStateBeforeTheFirstConfig) {
  resource::FileEntry::State original;
  original.sha256 = Sha256("as the OS has it").hex();
  TestConfig from;
  from.WithFile("/etc/os", "data:,1").WithFile("/etc/ours", "data:,1");
  const auto steps = StepsBetween(from, TestConfig(), {{"/etc/os", original}});
  EXPECT_EQ(FindPut<resource::FileEntry>(steps, "/etc/os")->want->sha256, original.sha256);
  EXPECT_FALSE(FindPut<resource::FileEntry>(steps, "/etc/ours")->want);
}

TEST(StepsFor, MasksAUnitByALink) {
  TestConfig to;
  to.WithUnit("u.service", "[Unit]");
  to.ignition().systemd.units[0].mask = true;
  const auto steps = StepsBetween(TestConfig(), to);
  const auto put = FindPut<resource::FileEntry>(steps, "/etc/systemd/system/u.service");
  ASSERT_TRUE(put && put->want);
  EXPECT_EQ(put->want->kind, resource::EntryKind::kLink);
  EXPECT_EQ(put->want->target, "/dev/null");
  EXPECT_THAT(PutsOf<resource::UnitState>(steps), IsEmpty());
}

TEST(StepsFor, RemovesPasswordAndKeysOfARemovedUser) {
  const auto steps = StepsBetween(TestConfig().WithUser("core", {"a"}), TestConfig());
  EXPECT_FALSE(FindPut<resource::AuthorizedKeys>(steps, "core")->want.has_value());
  EXPECT_EQ(FindPut<resource::PasswordHash>(steps, "core")->want->hash, "*");
}

TEST(StepsFor, HasOneDeployment) {
  TestConfig to;
  to.spec().kernel_arguments = {"a b=\"1 2\""};
  to.spec().kernel_type = "realtime";
  const auto deployments = PutsOf<resource::Deployment>(StepsBetween(TestConfig(), to));
  ASSERT_THAT(deployments, SizeIs(1));
  EXPECT_THAT(deployments[0].want->kernel_arguments, testing::ElementsAre("a", "b=\"1 2\""));
  EXPECT_EQ(deployments[0].want->kernel_type, "realtime");
}

TEST(StepsFor, RefusesContentsThatCannotBeDecoded) {
  EXPECT_THAT(MessageOf(StepsFor(TestConfig(), TestConfig().WithFile("/etc/x", "https://h/x"), {})),
              StartsWith("could not decode file \"/etc/x\""));
}

}  // namespace
}  // namespace pintle::plan
