// SPDX-License-Identifier: Apache-2.0
#include "json/known_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "json/report.h"

namespace pintle::json {
namespace {

TEST(KnownKeys, AreRecognisedInEverySpelling) {
  EXPECT_TRUE(IsKnownKey("sshAuthorizedKeys"));
  EXPECT_TRUE(IsKnownKey("ssh_authorized_keys"));
  EXPECT_TRUE(IsKnownKey("PATH"));
  EXPECT_FALSE(IsKnownKey("hunter2"));
  EXPECT_FALSE(IsKnownKey(""));
  EXPECT_FALSE(IsKnownKey(std::string(1 << 20, 'a')));
}

TEST(PlaceForMessage, HasKnownKeysAndNumbersOnly) {
  EXPECT_EQ(PlaceForMessage("$"), "$");
  EXPECT_EQ(PlaceForMessage("$.storage.files.0.path"), "$.storage.files.0.path");
  EXPECT_EQ(PlaceForMessage("$.storage.hunter2.3"), "$.storage.?.3");
  EXPECT_EQ(PlaceForMessage("hunter2"), "?");
}

TEST(WithoutUnknownKey, SuggestsTheNearestKey) {
  EXPECT_EQ(WithoutUnknownKey("$.files.0.hunter2", "Unused key hunter2"), "Unused key");
  EXPECT_EQ(WithoutUnknownKey("$.files.0.a.hunter.2", "Unused key a.hunter.2"), "Unused key");
  EXPECT_EQ(WithoutUnknownKey("$.systemd.contents", "Unused key contents"), "Unused key contents");
  EXPECT_EQ(WithoutUnknownKey("$.passwordHahs", "Unused key passwordHahs"),
            "Unused key; did you mean \"passwordHash\"?");
  EXPECT_EQ(WithoutUnknownKey("$.pasword_hash", "Unused key pasword_hash"),
            "Unused key; did you mean \"passwordHash\"?");
  EXPECT_EQ(WithoutUnknownKey("$.files.0", "must be a list"), "must be a list");
}

TEST(Report, ContainsNeitherAValueNorAnUnknownKey) {
  Report report;
  report.Error(Path(Path(), "hunter2"), "\"hunter3\" is none of \"a\", \"b\"");
  report.Error(Path(Path(), "kind"), "\"hunter3\" is not known");
  EXPECT_THAT(report.problems()[0].ToString(), "$.?: is none of \"a\", \"b\"");
  EXPECT_THAT(report.problems()[1].ToString(), "$.kind: is not known");
}

}  // namespace
}  // namespace pintle::json
