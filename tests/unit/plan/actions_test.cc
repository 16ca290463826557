// SPDX-License-Identifier: Apache-2.0
#include "plan/actions.h"

#include "support/configs.h"
#include "support/expect.h"

namespace pintle::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Action> ActionsBetween(const TestConfig& from, const TestConfig& to,
                                   const NodeDisruptionPolicy& policy = DefaultPolicy()) {
  return ActionsFor(Compare(from, to), policy);
}

std::vector<std::string> TypesOf(const std::vector<Action>& actions) {
  std::vector<std::string> types;
  for (const Action& action : actions) types.push_back(action.what.type);
  return types;
}

TEST(ActionsFor, IsTheActionNoneWithoutAChange) {
  EXPECT_THAT(
      TypesOf(ActionsBetween(TestConfig().WithFile("/etc/a", "data:,1"), TestConfig().WithFile("/etc/a", "data:,1"))),
      ElementsAre("None"));
}

TEST(ActionsFor, NamesEverythingThatForcesAReboot) {
  TestConfig to;
  to.WithFile("/etc/a", "data:,1").WithFile("/etc/b", "data:,1").WithUnit("u.service", "[Unit]");
  to.spec().kernel_arguments = {"quiet"};
  const auto actions = ActionsBetween(TestConfig(), to);
  ASSERT_THAT(TypesOf(actions), ElementsAre("Reboot"));
  EXPECT_THAT(actions[0].reasons, ElementsAre("kernel arguments change", "/etc/a: no policy covers it",
                                              "/etc/b: no policy covers it", "u.service: no policy covers it"));
}

TEST(ActionsFor, NamesThePolicyThatRequiresAnAction) {
  const auto actions =
      ActionsBetween(TestConfig(), TestConfig().WithFile("/etc/containers/registries.d/x.yaml", "data:,1"));
  ASSERT_THAT(TypesOf(actions), ElementsAre("Reload"));
  EXPECT_EQ(ServiceOf(actions[0].what), "crio.service");
  EXPECT_THAT(actions[0].reasons,
              ElementsAre("/etc/containers/registries.d/x.yaml: the policy for /etc/containers/registries.d"));
}

TEST(ActionsFor, OmitsNoneBesideOtherActions) {
  TestConfig to;
  to.WithFile("/var/lib/kubelet/config.json", "data:,1").WithFile("/etc/containers/policy.json", "data:,1");
  EXPECT_THAT(TypesOf(ActionsBetween(TestConfig(), to)), ElementsAre("Reload"));
}

TEST(ActionsFor, IsEmptyIfOnlyTheOrderOfFilesChanges) {
  TestConfig from;
  from.WithFile("/etc/a", "data:,1").WithFile("/etc/b", "data:,1");
  TestConfig to;
  to.WithFile("/etc/b", "data:,1").WithFile("/etc/a", "data:,1");
  EXPECT_THAT(ActionsBetween(from, to), IsEmpty());
}

TEST(FindFilePolicy, UsesTheNearestDirectoryAndNotAMerePrefix) {
  NodeDisruptionPolicy policy;
  policy.files = {{"/etc/my.d", {}}, {"/etc/my.d/deep/", {}}};
  EXPECT_EQ(FindFilePolicy(policy, "/etc/my.d/x")->path, "/etc/my.d");
  EXPECT_EQ(FindFilePolicy(policy, "/etc/my.d/deep/x/y")->path, "/etc/my.d/deep/");
  EXPECT_EQ(FindFilePolicy(policy, "/etc/my.dx/x"), nullptr);
}

TEST(FindFilePolicy, ReadsPathsAsTheMachineConfigOperatorDoes) {
  NodeDisruptionPolicy policy;
  policy.files = {{"/", {}}, {"", {}}, {"/etc/my.conf/", {}}, {"/etc/./odd//d", {}}};
  EXPECT_EQ(FindFilePolicy(policy, "/etc/x"), nullptr);
  EXPECT_EQ(FindFilePolicy(policy, "/etc/my.conf"), nullptr);
  EXPECT_EQ(FindFilePolicy(policy, "/etc/my.conf/x")->path, "/etc/my.conf/");
  EXPECT_EQ(FindFilePolicy(policy, "/etc/odd/d/x")->path, "/etc/./odd//d");
  EXPECT_EQ(FindFilePolicy(policy, "/etc/odd/d"), nullptr);
}

TEST(FindFilePolicy, UnderstandsWildcardsBehindLiteralPaths) {
  NodeDisruptionPolicy policy;
  policy.files = {{"/etc/*/conf.d", {}}, {"/etc/app/conf.d/special.conf", {}}, {"/opt/*.conf", {}}};
  EXPECT_EQ(FindFilePolicy(policy, "/etc/app/conf.d/a.conf")->path, "/etc/*/conf.d");
  EXPECT_EQ(FindFilePolicy(policy, "/etc/app/conf.d/special.conf")->path, "/etc/app/conf.d/special.conf");
  EXPECT_EQ(FindFilePolicy(policy, "/etc/a/b/conf.d/x"), nullptr);
  EXPECT_EQ(FindFilePolicy(policy, "/opt/x.conf")->path, "/opt/*.conf");
}

TEST(FindUnitPolicy, UnderstandsWildcards) {
  NodeDisruptionPolicy policy;
  policy.units = {{"app@*.service", {}}, {"app@1.service", {}}};
  EXPECT_EQ(FindUnitPolicy(policy, "app@2.service")->name, "app@*.service");
  EXPECT_EQ(FindUnitPolicy(policy, "app@1.service")->name, "app@1.service");
  EXPECT_EQ(FindUnitPolicy(policy, "other.service"), nullptr);
}

TEST(WithDefaults, UsesTheFirstOfSeveralPoliciesForAThing) {
  NodeDisruptionPolicy user;
  user.files = {{"/etc/mine", {{"None", {}, {}}}}, {"/etc/mine", {{"Drain", {}, {}}}}};
  user.units = {{"mine.service", {{"None", {}, {}}}}, {"mine.service", {{"Drain", {}, {}}}}};
  const NodeDisruptionPolicy merged = WithDefaults(user);
  EXPECT_EQ(FindFilePolicy(merged, "/etc/mine")->actions[0].type, "None");
  EXPECT_EQ(FindUnitPolicy(merged, "mine.service")->actions[0].type, "None");
}

TEST(WithDefaults, ReplacesEntriesOfTheSameFileAndKeepsTheOthers) {
  NodeDisruptionPolicy user;
  user.files = {{"/etc/containers/policy.json", {{"None", {}, {}}}}, {"/etc/mine", {{"None", {}, {}}}}};
  const NodeDisruptionPolicy merged = WithDefaults(user);
  EXPECT_THAT(merged.files, SizeIs(DefaultPolicy().files.size() + 1));
  EXPECT_EQ(FindFilePolicy(merged, "/etc/containers/policy.json")->actions[0].type, "None");
  EXPECT_EQ(merged.files.back().path, "/etc/mine");
  EXPECT_EQ(merged.sshkey.actions[0].type, "None");
}

TEST(FirstBootActionFor, IsTheMostDisruptiveAction) {
  const auto action = [](const TestConfig& to) { return FirstBootActionFor(Compare(TestConfig(), to)); };
  const std::string ca = "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt";
  EXPECT_EQ(action(TestConfig().WithUser("core", {"k"})), "none");
  EXPECT_EQ(action(TestConfig().WithFile("/etc/nmstate/openshift/x.yml", "data:,1")), "none");
  EXPECT_EQ(action(TestConfig().WithFile("/etc/nmstate/openshift/a/x.yml", "data:,1")), "reboot");
  EXPECT_EQ(action(TestConfig().WithFile("/etc/containers/policy.json", "data:,1")), "reload crio");
  EXPECT_EQ(action(TestConfig().WithFile("/etc/containers/policy.json", "data:,1").WithFile(ca, "data:,1")),
            "restart crio");
  EXPECT_EQ(action(TestConfig().WithUnit("u.service", "[Unit]")), "reboot");
}

TEST(Actions, ThatAreUnknownOrNameNoServiceAreRefused) {
  const api::NodeDisruptionAction restart{"Restart", {}, {{"crio.service"}}};
  const api::NodeDisruptionAction unknown{"Teleport", {}, {}};
  const api::NodeDisruptionAction of_nothing{"Reload", {}, {}};
  EXPECT_TRUE(ExpectKnownActions(std::vector{restart}).has_value());
  EXPECT_EQ(ExpectKnownActions(std::vector{restart, unknown}).error().message(),
            "this version of Pintle does not know the action \"Teleport\"");
  EXPECT_EQ(ExpectKnownActions(std::vector{of_nothing}).error().message(),
            "the action \"Reload\" does not name its service");
}

}  // namespace
}  // namespace pintle::plan
