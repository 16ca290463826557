// SPDX-License-Identifier: Apache-2.0
#include "api/label_selector.h"

#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::api {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

LabelSelector Read(const std::string& text) {
  json::Report report;
  auto selector = json::Decode<LabelSelector>(ValueOf(json::Parse(text)), report);
  EXPECT_THAT(report.problems(), IsEmpty());
  return selector;
}

Selector Compiled(const std::string& text) { return ValueOf(Selector::Compile(Read(text))); }

std::string WhyRefused(const std::string& text) { return MessageOf(Selector::Compile(Read(text))); }

TEST(Selector, MatchesNothingIfAbsentAndEverythingIfEmpty) {
  EXPECT_FALSE(ValueOf(Selector::Compile(std::nullopt)).Matches({{"a", "b"}}));
  EXPECT_TRUE(Compiled("{}").Matches({}));
  EXPECT_TRUE(Compiled("{}").Matches({{"a", "b"}}));
}

TEST(Selector, RequiresEveryLabelThatItNames) {
  const Selector selector = Compiled(R"({"matchLabels":{"a":"1","example.com/b":""}})");
  EXPECT_TRUE(selector.Matches({{"a", "1"}, {"example.com/b", ""}, {"c", "3"}}));
  EXPECT_FALSE(selector.Matches({{"a", "1"}}));
  EXPECT_FALSE(selector.Matches({{"a", "2"}, {"example.com/b", ""}}));
}

TEST(Selector, UnderstandsEachOperator) {
  const Labels with = {{"role", "infra"}};
  const Labels with_other_value = {{"role", "db"}};
  const Labels without;
  const auto matches = [&](const std::string& expression) {
    const Selector selector = Compiled(R"({"matchExpressions":[)" + expression + "]}");
    return std::vector<bool>{selector.Matches(with), selector.Matches(with_other_value), selector.Matches(without)};
  };
  using Answers = std::vector<bool>;
  EXPECT_EQ(matches(R"({"key":"role","operator":"In","values":["worker","infra"]})"), (Answers{true, false, false}));
  EXPECT_EQ(matches(R"({"key":"role","operator":"NotIn","values":["infra"]})"), (Answers{false, true, true}));
  EXPECT_EQ(matches(R"({"key":"role","operator":"Exists"})"), (Answers{true, true, false}));
  EXPECT_EQ(matches(R"({"key":"role","operator":"DoesNotExist"})"), (Answers{false, false, true}));
}

TEST(Selector, RequiresAllOfItsExpressions) {
  const Selector selector = Compiled(
      R"({"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b","operator":"Exists"},{"key":"c","operator":"DoesNotExist"}]})");
  EXPECT_TRUE(selector.Matches({{"a", "1"}, {"b", ""}}));
  EXPECT_FALSE(selector.Matches({{"a", "1"}, {"b", ""}, {"c", ""}}));
}

TEST(Selector, IsRefusedInTheWordsOfKubernetes) {
  EXPECT_EQ(WhyRefused(R"({"matchExpressions":[{"key":"a","operator":"Like"}]})"),
            "\"Like\" is not a valid label selector operator");
  EXPECT_EQ(WhyRefused(R"({"matchExpressions":[{"key":"a","operator":"In"}]})"),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
  EXPECT_EQ(WhyRefused(R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]})"),
            "values: Invalid value: [\"b\"]: values set must be empty for exists and does not exist");
  EXPECT_EQ(WhyRefused(R"({"matchLabels":{"a":"-"}})"),
            "values[0][a]: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric "
            "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
            "'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
}

TEST(Selector, NamesEveryProblemOfARequirement) {
  const std::string message = WhyRefused(R"({"matchExpressions":[{"key":"a/b/c","operator":"NotIn"}]})");
  EXPECT_TRUE(message.starts_with("[key: Invalid value: \"a/b/c\": a qualified name must consist of")) << message;
  EXPECT_TRUE(message.ends_with("values set can't be empty]")) << message;
}

TEST(ProblemsOfLabelKey, ChecksPrefixAndName) {
  EXPECT_THAT(ProblemsOfLabelKey("node-role.kubernetes.io/worker"), IsEmpty());
  EXPECT_THAT(ProblemsOfLabelKey("a"), IsEmpty());
  EXPECT_THAT(ProblemsOfLabelKey(std::string(63, 'a')), IsEmpty());
  EXPECT_EQ(ProblemsOfLabelKey(std::string(64, 'a')).at(0), "name part must be no more than 63 bytes");
  EXPECT_EQ(ProblemsOfLabelKey("/a").at(0), "prefix part must be non-empty");
  EXPECT_EQ(ProblemsOfLabelKey("a/").at(0), "name part must be non-empty");
  EXPECT_THAT(ProblemsOfLabelKey("A.b/c").at(0), HasSubstr("prefix part a lowercase RFC 1123 subdomain"));
  EXPECT_THAT(ProblemsOfLabelKey("a..b/c"), testing::SizeIs(1));
}

TEST(ProblemsOfLabelValue, ChecksCharactersAndLength) {
  EXPECT_THAT(ProblemsOfLabelValue(""), IsEmpty());
  EXPECT_THAT(ProblemsOfLabelValue("a_b.c-d"), IsEmpty());
  EXPECT_THAT(ProblemsOfLabelValue(".a"), testing::SizeIs(1));
  EXPECT_EQ(ProblemsOfLabelValue(std::string(64, 'a')).at(0), "must be no more than 63 bytes");
}

}  // namespace
}  // namespace pintle::api
