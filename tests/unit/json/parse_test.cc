// SPDX-License-Identifier: Apache-2.0
#include "json/parse.h"

#include "support/expect.h"

namespace pintle::json {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Parse, ReadsEveryKindOfValue) {
  const std::string text = R"({"a":[1,-2,1.5,true,null,"\u00e4"],"b":{"c":18446744073709551615}})";
  const Value value = ValueOf(Parse(text));
  EXPECT_EQ(value["a"][5], "ä");
  EXPECT_EQ(value["b"]["c"], 18446744073709551615U);
  EXPECT_EQ(ToText(value), R"({"a":[1,-2,1.5,true,null,"ä"],"b":{"c":18446744073709551615}})");
}

TEST(Parse, ReportsLineAndColumnOfAnError) {
  EXPECT_THAT(MessageOf(Parse("{\n  \"a\": 1,\n  oops\n}")), StartsWith("not JSON: line 3, column 3: syntax error"));
  EXPECT_THAT(MessageOf(Parse("")), StartsWith("not JSON: "));
  EXPECT_THAT(MessageOf(Parse("[1] x")), StartsWith("not JSON: line 1, column 5: "));
}

TEST(Parse, RefusesAZeroByteAndTrailingText) {
  using std::string_view_literals::operator""sv;
  EXPECT_THAT(MessageOf(Parse("[1]\0"sv)), StartsWith("not JSON: line 1, column 4: a zero byte"));
  EXPECT_FALSE(Parse("[1]\0[2]"sv));
}

TEST(Parse, RefusesBytesThatAreNotUtf8) { EXPECT_THAT(MessageOf(Parse("\"a\xff\"")), HasSubstr("UTF-8")); }

TEST(Parse, RefusesNumbersThatNoTypeCanHold) {
  EXPECT_THAT(MessageOf(Parse("[1e999]")), HasSubstr("a number is out of range"));
}

TEST(Parse, RefusesMoreLevelsThanItsLimit) {
  const std::string fine = std::string(500, '[') + std::string(500, ']');
  EXPECT_TRUE(Succeeded(Parse(fine)));
  EXPECT_EQ(MessageOf(Parse("[" + fine + "]")), "not JSON: nested more than 500 levels deep");
  EXPECT_FALSE(Parse(std::string(10'000'000, '[')));
}

TEST(Parse, RefusesATextLongerThanItsLimit) {
  EXPECT_EQ(MessageOf(Parse("[1, 2]", nullptr, {.depth = 5, .bytes = 5})),
            "JSON of 6 bytes, longer than the limit of 5");
}

TEST(Parse, WarnsOfDuplicateKeys) {
  Report report;
  const Value value = ValueOf(Parse(R"({"list":[{},{"a":{"x":1,"x":[2],"y":3}}]})", &report));
  EXPECT_EQ(value["list"][1]["a"]["x"], Value::array({2}));
  EXPECT_THAT(report.problems(), ElementsAre(Problem{Severity::kWarning, "$.list.1.a.x",
                                                     "occurs more than once in its object; the last value is used"}));
}

TEST(ToText, NeverMakesTextThatIsNotUtf8) { EXPECT_EQ(ToText(Value("a\xff")), "\"a\xEF\xBF\xBD\""); }

TEST(ToIndentedText, IsReadableForPeople) { EXPECT_EQ(ToIndentedText(Value{{"a", 1}}), "{\n  \"a\": 1\n}"); }

}  // namespace
}  // namespace pintle::json
