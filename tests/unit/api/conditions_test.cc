// SPDX-License-Identifier: Apache-2.0
#include "api/conditions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pintle::api {
namespace {

const Time kEarlier{std::chrono::sys_days(std::chrono::year(2027) / 1 / 2)};
const Time kNow{std::chrono::sys_days(std::chrono::year(2027) / 1 / 3)};

TEST(MakeCondition, HasAMessageThatTheApiAccepts) {
  const Condition condition = MakeCondition("Degraded", "True", "Broken", "\x1b" + std::string(40000, 'x'));
  EXPECT_EQ(condition.type, "Degraded");
  EXPECT_EQ(condition.status, "True");
  EXPECT_EQ(condition.reason, "Broken");
  EXPECT_FALSE(condition.last_transition_time);
  EXPECT_EQ(condition.message.size(), kLongestConditionMessage);
  EXPECT_TRUE(condition.message.starts_with("\\x1Bxxx"));
}

TEST(FindCondition, ReturnsTheFirstOfItsType) {
  std::vector<Condition> conditions = {MakeCondition("A", "True", "", "1"), MakeCondition("B", "True", "", "2"),
                                       MakeCondition("B", "True", "", "3")};
  EXPECT_EQ(FindCondition(conditions, "B"), &conditions[1]);
  EXPECT_EQ(FindCondition(conditions, "C"), nullptr);
}

TEST(HasSameReport, ComparesStatusAndMessageAlone) {
  const Condition wanted = MakeCondition("A", "True", "Reason", "message");
  Condition known = wanted;
  known.reason = "Another";
  known.last_transition_time = kEarlier;
  EXPECT_TRUE(HasSameReport(&known, wanted));
  known.message = "another";
  EXPECT_FALSE(HasSameReport(&known, wanted));
  EXPECT_FALSE(HasSameReport(nullptr, wanted));
}

TEST(PutCondition, ReplacesTheConditionOfItsTypeOrAddsOne) {
  std::vector<Condition> conditions = {MakeCondition("A", "True", "", "old"), MakeCondition("B", "True", "", "other")};
  conditions[0].last_transition_time = kEarlier;
  PutCondition(conditions, MakeCondition("A", "True", "", "new"), kNow);
  PutCondition(conditions, MakeCondition("C", "False", "", "added"), kNow);
  ASSERT_EQ(conditions.size(), 3U);
  EXPECT_EQ(conditions[0].message, "new");
  EXPECT_EQ(conditions[0].last_transition_time->at, kNow.at);
  EXPECT_EQ(conditions[1].message, "other");
  EXPECT_EQ(conditions[2].type, "C");
}

}  // namespace
}  // namespace pintle::api
