// SPDX-License-Identifier: Apache-2.0
#include "generated/image_policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "unit/generated/image_policy_fixture.h"
#include "unit/generated/status_times.h"

namespace pintle::generated {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RequirementsOf, LeaveOutScopesOfNamespacesThatAClusterPolicyContains) {
  const std::vector of_cluster = {PolicyFor({"s.test", "t.test/ns"})};
  const std::vector of_namespaces = {PolicyFor({"s.test", "s.test/x", "u.test"}, "ns1"), PolicyFor({"t.test"}, "ns2")};
  const auto all = RequirementsOf(of_cluster, of_namespaces);
  ASSERT_TRUE(all);
  EXPECT_THAT(all->of_cluster, SizeIs(2));
  ASSERT_THAT(all->of_namespaces, SizeIs(2));
  EXPECT_TRUE(all->of_namespaces.at("ns1").contains("u.test"));
  EXPECT_THAT(all->of_namespaces.at("ns1"), SizeIs(1));
  EXPECT_TRUE(all->of_namespaces.at("ns2").contains("t.test"));
  ASSERT_THAT(all->conflicts, SizeIs(1));
  EXPECT_EQ(all->conflicts[0].policy, &of_namespaces[0]);
  EXPECT_THAT(all->conflicts[0].scopes, ElementsAre("s.test", "s.test/x"));
}

TEST(RequirementsOf, AddUpForOneScope) {
  const std::vector twice = {PolicyFor({"s.test"}), PolicyFor({"s.test"})};
  EXPECT_THAT(RequirementsOf(twice, {})->of_cluster.at("s.test"), SizeIs(2));
}

TEST(RequirementsOf, FailWithTheErrorOfTheFirstWrongPolicy) {
  std::vector wrong = {PolicyFor({"s.test"})};
  wrong[0].spec.policy.signed_identity.emplace().match_policy = "Huh";
  EXPECT_EQ(RequirementsOf(wrong, {}).error().message(), "unknown signedIdentity match policy: Huh");
  EXPECT_FALSE(RequirementsOf({}, wrong));
}

TEST(ConditionsOf, NameTheScopesWithoutEffect) {
  const api::ImagePolicy policy = PolicyFor({"s.test/x"}, "ns1");
  const auto conditions = ConditionsOf({&policy, {"s.test/x", "s.test"}}, kNow);
  ASSERT_THAT(conditions, SizeIs(1));
  EXPECT_EQ(conditions[0].type, "Pending");
  EXPECT_EQ(conditions[0].status, "False");
  EXPECT_EQ(conditions[0].reason, "ConflictScopes");
  EXPECT_EQ(conditions[0].last_transition_time->at, kNow);
  EXPECT_EQ(conditions[0].message,
            R"(has conflicting scope(s) ["s.test/x" "s.test"] that equal to or nest inside existing )"
            "clusterimagepolicy, only policy from clusterimagepolicy scope(s) will be applied");
}

TEST(ConditionsOf, HaveAMessageThatTheApiServerAccepts) {
  const api::ImagePolicy policy = PolicyFor({}, "ns1");
  const std::vector<std::string> scopes(256, "s.test/" + std::string(500, 'x'));
  EXPECT_THAT(ConditionsOf({&policy, scopes}, kNow)[0].message, SizeIs(api::kLongestConditionMessage));
}

// The operator writes a new time at each sync, which triggers the next sync.
TEST(ConditionsOf, DoNotChangeIfTheyReportTheSameAlready) {
  api::ImagePolicy policy = PolicyFor({"s.test/x"}, "ns1");
  api::ConditionWithGeneration other_condition;
  other_condition.type = "Other";
  other_condition.observed_generation = 3;
  policy.status.conditions = {other_condition};
  policy.status.conditions = ConditionsOf({&policy, {"s.test/x"}}, kNow);
  ASSERT_THAT(policy.status.conditions, SizeIs(2));
  EXPECT_EQ(policy.status.conditions[0].type, "Other");
  EXPECT_EQ(policy.status.conditions[0].observed_generation, 3);
  EXPECT_EQ(ConditionsOf({&policy, {"s.test/x"}}, kLater)[1].last_transition_time->at, kNow);
  EXPECT_EQ(ConditionsOf({&policy, {"s.test"}}, kLater)[1].last_transition_time->at, kLater);
}

TEST(ConditionsOf, HaveTheGenerationOfThePolicy) {
  api::ImagePolicy policy = PolicyFor({"s.test/x"}, "ns1");
  policy.metadata.generation = 4;
  policy.status.conditions = ConditionsOf({&policy, {"s.test/x"}}, kNow);
  EXPECT_EQ(policy.status.conditions[0].observed_generation, 4);
  policy.metadata.generation = 5;
  const auto conditions = ConditionsOf({&policy, {"s.test/x"}}, kLater);
  EXPECT_EQ(conditions[0].observed_generation, 5);
  EXPECT_EQ(conditions[0].last_transition_time->at, kNow);
}

TEST(ConditionsWithoutConflict, KeepAllOtherConditions) {
  api::ImagePolicy policy = PolicyFor({"s.test/x"}, "ns1");
  EXPECT_THAT(ConditionsWithoutConflict(policy), IsEmpty());
  policy.status.conditions = ConditionsOf({&policy, {"s.test/x"}}, kNow);
  EXPECT_THAT(ConditionsWithoutConflict(policy), IsEmpty());
  policy.status.conditions[0].reason = "Another";
  EXPECT_THAT(ConditionsWithoutConflict(policy), SizeIs(1));
}

}  // namespace
}  // namespace pintle::generated
