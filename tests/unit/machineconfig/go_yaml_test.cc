// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/go_yaml.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

// Returns the YAML of a mapping with one member.
std::string Written(const std::string& key, const json::Value& value) {
  std::string text;
  EXPECT_TRUE(Succeeded(WriteGoYaml({{key, &value}}, [&](std::string_view piece) { text += piece; })));
  return text;
}

std::string WrittenAs(const json::Value& value) { return Written("k", value); }

std::string ProblemWith(const json::Value& value) {
  return MessageOf(WriteGoYaml({{"k", &value}}, [](std::string_view) {}));
}

// "9" < "9223372036854775808" < "1" < "9", since numbers wrap around.
TEST(WriteGoYaml, WritesEachKeyOnceIfTheOrderOfKeysIsACircle) {
  const json::Value value("v");
  std::vector<std::string> keys;
  for (const char* key : {"9223372036854775808", "9", "1"}) {
    for (int i = 0; i < 40; ++i) keys.push_back(key + std::string("-") + std::to_string(i));
  }
  std::vector<GoYamlMember> members;
  for (std::size_t i = 0; i < keys.size(); ++i) members.push_back({keys[i * 7 % keys.size()], &value});
  std::string text;

  ASSERT_TRUE(Succeeded(WriteGoYaml(members, [&](std::string_view piece) { text += piece; })));

  for (const std::string& key : keys) EXPECT_THAT(text, testing::HasSubstr(key + ": v\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 120);
}

TEST(WriteGoYaml, PutsManyKeysInOrder) {
  const json::Value value("v");
  json::Value map = json::Value::object();
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    map["a" + std::to_string(i)] = value;
    expected += "a" + std::to_string(i) + ": v\n";
  }
  std::string text;
  ASSERT_TRUE(Succeeded(WriteGoYamlDocument(map, [&](std::string_view piece) { text += piece; })));
  EXPECT_EQ(text, expected);
}

TEST(WriteGoYaml, QuotesTextsThatWouldHaveAnotherMeaning) {
  EXPECT_EQ(WrittenAs("quay.io/a@sha256:1"), "k: quay.io/a@sha256:1\n");
  for (const char* text : {"yes", "1", "0x10", "12:30", "2024-01-02", "~", "null", ".5", "1e3", "n", "+.inf"}) {
    EXPECT_EQ(WrittenAs(text), "k: \"" + std::string(text) + "\"\n");
  }
  EXPECT_EQ(WrittenAs(""), "k: \"\"\n");
  EXPECT_EQ(WrittenAs("3.5.0"), "k: 3.5.0\n");
  EXPECT_EQ(WrittenAs("<<"), "k: <<\n");
}

TEST(WriteGoYaml, UsesSingleQuotesAroundIndicators) {
  EXPECT_EQ(WrittenAs("a: b"), "k: 'a: b'\n");
  EXPECT_EQ(WrittenAs("#x"), "k: '#x'\n");
  EXPECT_EQ(WrittenAs(" lead"), "k: ' lead'\n");
  EXPECT_EQ(WrittenAs("- a"), "k: '- a'\n");
  EXPECT_EQ(WrittenAs("it's: so"), "k: 'it''s: so'\n");
  EXPECT_EQ(WrittenAs("x:"), "k: 'x:'\n");
  EXPECT_EQ(WrittenAs("-a"), "k: -a\n");
}

TEST(WriteGoYaml, WritesMultiLineTextsAsBlocks) {
  EXPECT_EQ(WrittenAs("a\n\n b\n"), "k: |\n  a\n\n   b\n");
  EXPECT_EQ(WrittenAs("a"
                      "\nb"),
            "k: |-\n  a\n  b\n");
  EXPECT_EQ(WrittenAs("\n"), "k: |2+\n\n");
  EXPECT_EQ(WrittenAs(" a\n\n"), "k: |2+\n   a\n\n");
  EXPECT_EQ(WrittenAs("a \nb"), "k: \"a \\nb\"\n");
  EXPECT_EQ(WrittenAs("a\tb\n"), "k: \"a\\tb\\n\"\n");
}

TEST(WriteGoYaml, FoldsLongLinesAtSpaces) {
  const std::string word(81, 'x');
  EXPECT_EQ(WrittenAs(word + " y z"), "k: " + word + "\n  y z\n");
  EXPECT_EQ(WrittenAs(word + ": y"), "k: '" + word + ":\n  y'\n");
  EXPECT_EQ(WrittenAs(word + "\t y"), "k: \"" + word + "\\t\n  y\"\n");
  EXPECT_EQ(WrittenAs(word + "\t  y"), "k: \"" + word + "\\t\n  \\ y\"\n");
}

TEST(WriteGoYaml, EscapesUnprintableCharacters) {
  EXPECT_EQ(WrittenAs("\xF0\x9F\x98\x80"), "k: \"\\U0001F600\"\n");
  EXPECT_EQ(WrittenAs("\xC3\xA9"), "k: \xC3\xA9\n");
  EXPECT_EQ(WrittenAs("\xEF\xBB\xBF"
                      "a"),
            "k: \"\\uFEFF\\x61\"\n");
  EXPECT_EQ(WrittenAs(std::string("\0\x1b\\\"", 4)), "k: \"\\0\\e\\\\\\\"\"\n");
}

TEST(WriteGoYaml, NestsListsAndMappings) {
  const json::Value value = {{"a", {1, {{"x", true}, {"y", nullptr}}, {2, 3}}},
                             {"b", json::Value::array()},
                             {"c", json::Value::object()},
                             {"d", {{"e", -1.5}}}};
  EXPECT_EQ(WrittenAs(value),
            "k:\n"
            "  a:\n"
            "  - 1\n"
            "  - x: true\n"
            "    \"y\": null\n"
            "  - - 2\n"
            "    - 3\n"
            "  b: []\n"
            "  c: {}\n"
            "  d:\n"
            "    e: -1.5\n");
}

TEST(WriteGoYaml, WritesAnyTypeOfDocument) {
  const auto text_of = [](const json::Value& value) {
    std::string text;
    EXPECT_TRUE(Succeeded(WriteGoYamlDocument(value, [&](std::string_view piece) { text += piece; })));
    return text;
  };
  EXPECT_EQ(text_of({{"b", 1}, {"a", json::Value::array({"on", "x"})}}), "a:\n- \"on\"\n- x\nb: 1\n");
  EXPECT_EQ(text_of(json::Value::array({json::Value{{"a", 1}, {"b", 2}}, "x"})), "- a: 1\n  b: 2\n- x\n");
  EXPECT_EQ(text_of(json::Value::array()), "[]\n");
  EXPECT_EQ(text_of("on"), "\"on\"\n");
}

TEST(WriteGoYaml, WritesALongKeyOnALineOfItsOwn) {
  const std::string key(129, 'k');
  EXPECT_EQ(Written(key, "v"), "? " + key + "\n: v\n");
  EXPECT_EQ(Written(key, {{"a", 1}, {"b", {2}}}), "? " + key + "\n: a: 1\n  b:\n  - 2\n");
}

TEST(WriteGoYaml, CanBeReadBackByTheYamlReader) {
  EXPECT_EQ(WrittenAs("a \xC2\x85 b"), "k: a b\n");
  EXPECT_EQ(WrittenAs("a\xC2\x85\xC2\x85"
                      "b"),
            "k: |-\n  a\n  b\n");
  EXPECT_EQ(ProblemWith("a\x7F"), "yaml: control characters are not allowed");
  EXPECT_EQ(ProblemWith("\xC2\x80"), "yaml: control characters are not allowed");
  EXPECT_EQ(ProblemWith("\xEF\xBF\xBF"), "yaml: control characters are not allowed");
  EXPECT_EQ(ProblemWith("\xC2\x85--- "), "yaml: line 2: found unexpected document indicator");
  EXPECT_EQ(WrittenAs("\xC2\x85---"), "k: ' ---'\n");
}

}  // namespace
}  // namespace pintle::machineconfig
