// SPDX-License-Identifier: Apache-2.0
#include "base/command_line.h"

#include <array>
#include <string>
#include <vector>

#include "support/expect.h"

namespace pintle {
namespace {

using testing::ElementsAre;

constexpr std::array kOptions = {
    Option{"--pool", "FILE", "the pool"},
    Option{"-o", "FORMAT", "json or text"},
    Option{"--yes", "", "do not ask"},
    Option{"--as", "json|yaml|a-name", "one of these"},
};

Result<CommandLine> Parse(std::vector<const char*> words) { return CommandLine::Parse(kOptions, words); }

TEST(CommandLine, AcceptsOptionsAnywhereAmongTheWords) {
  const CommandLine line = ValueOf(Parse({"a.yaml", "--pool", "p.yaml", "-", "--yes", "-o=json"}));
  EXPECT_THAT(line.operands(), ElementsAre("a.yaml", "-"));
  EXPECT_EQ(line.Value("--pool"), "p.yaml");
  EXPECT_EQ(line.Value("-o"), "json");
  EXPECT_TRUE(line.Has("--yes"));
}

TEST(CommandLine, KeepsEveryValueOfAnOptionAndUsesTheLast) {
  const CommandLine line = ValueOf(Parse({"--pool=a", "--pool", "b"}));
  EXPECT_THAT(line.Values("--pool"), ElementsAre("a", "b"));
  EXPECT_EQ(ValueOf(line.Needed("--pool")), "b");
}

TEST(CommandLine, AcceptsTheValueOfAShortOptionInTheSameWord) {
  EXPECT_EQ(ValueOf(Parse({"-ojson"})).Value("-o"), "json");
  EXPECT_EQ(ValueOf(Parse({"-o=json"})).Value("-o"), "json");
  EXPECT_EQ(ValueOf(Parse({"-oa=b"})).Value("-o"), "a=b");
  EXPECT_EQ(MessageOf(Parse({"-xjson"})), "unknown option -xjson (see --help)");
  EXPECT_EQ(MessageOf(Parse({"--output=x"})), "unknown option --output; did you mean -o? (see --help)");
}

TEST(CommandLine, AfterTwoDashesHasOnlyOperands) {
  EXPECT_THAT(ValueOf(Parse({"--", "--pool", "--yes"})).operands(), ElementsAre("--pool", "--yes"));
}

TEST(CommandLine, ExplainsAWrongOption) {
  EXPECT_EQ(MessageOf(Parse({"--poll", "x"})), "unknown option --poll; did you mean --pool? (see --help)");
  EXPECT_EQ(MessageOf(Parse({"--bogus"})), "unknown option --bogus (see --help)");
  EXPECT_EQ(MessageOf(Parse({"--pool"})), "--pool needs a value: FILE (see --help)");
  EXPECT_EQ(MessageOf(Parse({"--yes=1"})), "--yes takes no value (see --help)");
  EXPECT_EQ(MessageOf(ValueOf(Parse({})).Needed("--pool")), "--pool is needed (see --help)");
  EXPECT_EQ(MessageOf(ValueOf(Parse({"--pool", ""})).Needed("--pool")),
            "--pool: the value must not be empty (see --help)");
  EXPECT_EQ(MessageOf(ValueOf(Parse({"--pool="})).Needed("--pool")),
            "--pool: the value must not be empty (see --help)");
}

TEST(CommandLine, AcceptsOneOfTheValuesThatAnOptionLists) {
  for (const char* value : {"json", "yaml", "a-name"}) EXPECT_EQ(ValueOf(Parse({"--as", value})).Value("--as"), value);
  for (const char* value : {"", "jso", "yaml|a-name", "name", "JSON"}) {
    EXPECT_EQ(MessageOf(Parse({"--as", value})),
              "--as " + std::string(value) + ": the value must be one of json|yaml|a-name (see --help)");
  }
  EXPECT_EQ(MessageOf(Parse({"--as=xml", "--as=json"})),
            "--as xml: the value must be one of json|yaml|a-name (see --help)");
}

TEST(Describe, ListsEachOptionWithItsValue) {
  EXPECT_THAT(Describe(kOptions), testing::StartsWith("  --pool FILE                  the pool\n"));
}

}  // namespace
}  // namespace pintle
