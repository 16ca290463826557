// SPDX-License-Identifier: Apache-2.0
#include "json/list_reader.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/expect.h"

namespace pintle::json {
namespace {

std::string TextOf(const std::optional<Value>& value) { return value ? ToText(*value) : "nothing"; }

// Returns the only element of a list, or nullopt if the list is not read.
std::optional<Value> OnlyElement(std::string_view text, const Omissions& omissions = {},
                                 const ParseLimits& limits = {}) {
  std::optional<Value> only;
  const auto rest = ReadList(
      "[" + std::string(text) + "]", omissions,
      [&](Value element) {
        only = std::move(element);
        return true;
      },
      limits);
  return rest ? only : std::nullopt;
}

// Returns what ReadList() takes, and the rest of the text.
std::pair<std::vector<std::string>, std::string> Elements(std::string_view text) {
  std::vector<std::string> elements;
  const auto rest = ReadList(text, {}, [&](const Value& element) {
    elements.push_back(ToText(element));
    return true;
  });
  return {elements, TextOf(rest)};
}

TEST(ReadList, ReturnsWhatParseReturns) {
  for (const std::string text : {
           R"({"a": [1, -2, 0, -0, 2.5, 1e3, -1.5E-2, true, false, null], "b": {}, "c": [], "": ""})",
           R"(["\"\\\/\b\f\n\r\t", "\u0041\u00e4\u20ac\ud83d\ude00", "ä€😀", "0123456789abcdef\n", "01234567\"9"])",
           "18446744073709551615",
           "-9223372036854775808",
           " [ ] ",
           "\t{ \"a\" :\r\n1 } ",
           "{\n                 \"a\":\n\n\t          1\n}",
           "\"x\"",
           "null",
           R"({"z": 1, "y": {"b": 1, "a": 2}, "x": 3})",
       }) {
    const auto quick = OnlyElement(text);
    ASSERT_TRUE(quick) << text;
    EXPECT_EQ(*quick, ValueOf(Parse(text))) << text;
    EXPECT_EQ(quick->type(), ValueOf(Parse(text)).type()) << text;
  }
}

TEST(ReadList, ReturnsNulloptForTextsThatParseHasToRead) {
  for (const std::string_view text : {
           std::string_view("{"),
           std::string_view("[1,]"),
           std::string_view("[1 2]"),
           std::string_view("{\"a\":1,}"),
           std::string_view("{a:1}"),
           std::string_view("01"),
           std::string_view("-"),
           std::string_view("1."),
           std::string_view("1e"),
           std::string_view(".5"),
           std::string_view("+1"),
           std::string_view("18446744073709551616"),
           std::string_view("-9223372036854775809"),
           std::string_view("1e999"),
           std::string_view("nul"),
           std::string_view("truex"),
           std::string_view("\"a"),
           std::string_view("\"\x01\""),
           std::string_view("\"a\tb\""),
           std::string_view("\"\\x\""),
           std::string_view("\"\\u12\""),
           std::string_view("\"\\ud800\""),
           std::string_view("\"\\udc00\""),
           std::string_view("\"\xff\""),
           std::string_view("\"\xc0\x80\""),
           std::string_view("\"\xed\xa0\x80\""),
           std::string_view("[] {}"),
           std::string_view("\xef\xbb\xbf[]"),
           std::string_view("[]\0", 3),
           std::string_view("{\"a\":1,\"a\":2}"),
           std::string_view("// x\n[]"),
       }) {
    EXPECT_FALSE(OnlyElement(text)) << text;
  }
  EXPECT_FALSE(OnlyElement(std::string(100, '[') + std::string(100, ']')));
  EXPECT_FALSE(OnlyElement("[[]]", {}, {.depth = 2}));
  EXPECT_TRUE(OnlyElement("[[]]", {}, {.depth = 3}));
  EXPECT_FALSE(OnlyElement("[1]", {}, {.values = 2}));
  EXPECT_FALSE(OnlyElement("1", {}, {.bytes = 2}));
}

// Each kind of character is at each place of the eight bytes that are looked at together.
TEST(ReadList, FindsTheEndOfAStringAtEachPlace) {
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string plain(length, 'x');
    for (const std::string_view special : {"", "\\n", "\\\\", "\\\"", "é", "\x7f", "!", " ", "#", "[", "]"}) {
      const std::string text = "[\"" + plain + std::string(special) + plain + "\"]";
      const auto quick = OnlyElement(text);
      ASSERT_TRUE(quick) << text;
      EXPECT_EQ(*quick, ValueOf(Parse(text))) << text;
    }
    EXPECT_FALSE(OnlyElement("[\"" + plain + "\x1f" + plain + "\"]"));
  }
}

TEST(ReadList, SkipsBlanksOfEachLength) {
  for (std::size_t length = 0; length < 40; ++length) {
    for (const std::string_view other : {"", "\t", "\r\n", "\n "}) {
      const std::string blanks = "\n" + std::string(length, ' ') + std::string(other) + std::string(length / 2, ' ');
      const auto quick = OnlyElement("{" + blanks + "\"a\"" + blanks + ":" + blanks + "1" + blanks + "}");
      EXPECT_EQ(TextOf(quick), R"({"a":1})") << length;
    }
    EXPECT_FALSE(OnlyElement("{\n" + std::string(length, ' ') + "\v\"a\":1}"));
  }
}

TEST(ReadList, ChecksMembersThatAreLeftOut) {
  constexpr std::array kOmissions = {Omission{"metadata", "managedFields"}, Omission{"conditions", "time"}};
  const auto parse = [&](std::string_view text) { return TextOf(OnlyElement(text, {.members = kOmissions})); };
  EXPECT_EQ(parse(R"({"metadata": {"managedFields": [{"a": "\n"}], "name": "a"}, "managedFields": 1})"),
            R"({"managedFields":1,"metadata":{"name":"a"}})");
  EXPECT_EQ(parse(R"({"conditions": [{"time": 1, "type": "T"}, {"time": {}}], "time": 2})"),
            R"({"conditions":[{"type":"T"},{}],"time":2})");
  EXPECT_EQ(parse(R"({"metadata": {"managedFields": [1,]}})"), "nothing");
}

TEST(ReadList, LeavesMembersOutOfTheElementsOfOneKind) {
  constexpr std::array kOmissions = {Omission{"spec", "a", "Node"}};
  static constexpr std::array<std::string_view, 2> kPrefixes = {"ours/", "mine/"};
  constexpr std::array kChoices = {PrefixChoice{"Node", "annotations", kPrefixes}};
  const auto parse = [&](std::string_view text) {
    std::vector<std::string> elements;
    const auto rest = ReadList(text, {.members = kOmissions, .prefixes = kChoices}, [&](const Value& element) {
      elements.push_back(ToText(element));
      return true;
    });
    return rest ? elements : std::vector<std::string>{"nothing"};
  };
  const std::string spec = R"("spec":{"a":1,"b":2})";
  // The kind of one element does not count for the next one, nor does a kind within an element.
  EXPECT_EQ(parse("[{\"kind\":\"Node\"," + spec + "},{" + spec + "},{\"kind\":\"Pool\"," + spec + "}]"),
            (std::vector<std::string>{R"({"kind":"Node","spec":{"b":2}})", "{" + spec + "}",
                                      R"({"kind":"Pool",)" + spec + "}"}));
  EXPECT_EQ(parse(R"({"items":[{"inner":{"kind":"Node"},)" + spec + "}]}"),
            std::vector<std::string>{R"({"inner":{"kind":"Node"},)" + spec + "}"});
  EXPECT_EQ(parse(R"([{"kind":"Node","annotations":{"mine/a":1,"other/b":[2],"ours/c":3,"ours":4}}])"),
            std::vector<std::string>{R"({"annotations":{"mine/a":1,"ours/c":3},"kind":"Node"})"});
  EXPECT_EQ(parse(R"([{"kind":"Node","annotations":{"other/b":"\x"}}])"), std::vector<std::string>{"nothing"});
}

TEST(ReadList, LeavesElementsOutOfTheListsOfOneKind) {
  static constexpr std::array<std::string_view, 2> kWanted = {"A", "B"};
  constexpr std::array kChoices = {ElementChoice{"Report", "conditions", "type", kWanted}};
  const auto parse = [&](const std::string& kind, const std::string& conditions) {
    const auto element =
        OnlyElement(R"({"kind":")" + kind + R"(","conditions":)" + conditions + "}", {.elements = kChoices});
    return element ? ToText((*element)["conditions"]) : "nothing";
  };
  // The member that decides may come last, and the choice holds for no other kind.
  const std::string both = R"([{"more":{"type":"A"},"type":"C"},{"more":1,"type":"B"}])";
  EXPECT_EQ(parse("Report", both), R"([{"more":1,"type":"B"}])");
  EXPECT_EQ(parse("Other", both), both);
  EXPECT_EQ(parse("Report", R"([ {"type":"C"} , {"type":"C"} ])"), "[]");
  EXPECT_EQ(parse("Report", R"([{"type":"A"},{"type":"C"}])"), R"([{"type":"A"}])");
  // What cannot be compared is kept.
  for (const std::string odd : {R"([{"more":1}])", R"([{"type":1}])", R"(["C"])", "[[]]", R"([{"type":null}])"}) {
    EXPECT_EQ(parse("Report", odd), odd);
  }
  EXPECT_EQ(parse("Report", R"([{"type":"\u0041"}])"), R"([{"type":"A"}])");
  EXPECT_EQ(parse("Report", R"([{"\u0074ype":"C"}])"), R"([{"type":"C"}])");
  // Parse() judges these.
  EXPECT_EQ(parse("Report", R"([{"type":"C","type":"A"}])"), "nothing");
  EXPECT_EQ(parse("Report", R"([{"type":"C",}])"), "nothing");
  EXPECT_EQ(parse("Report", R"([{"type":"C"},])"), "nothing");
  EXPECT_EQ(parse("Report", R"([{"type":"C"}{"type":"C"}])"), "nothing");
}

TEST(ReadList, CountsTheValuesOfAnElementOnce) {
  static constexpr std::array<std::string_view, 1> kWanted = {"A"};
  constexpr std::array kChoices = {ElementChoice{"", "list", "type", kWanted}};
  const Omissions omissions{.elements = kChoices};
  const std::string text = R"({"list":[{"type":"A"},{"type":"C"}]})";
  EXPECT_TRUE(OnlyElement(text, omissions, {.values = 7}));
  EXPECT_FALSE(OnlyElement(text, omissions, {.values = 6}));
}

TEST(ReadList, TakesTheElementsOfAList) {
  EXPECT_EQ(Elements(R"([{"a": 1}, 2])"), std::pair(std::vector<std::string>{R"({"a":1})", "2"}, std::string("[]")));
  EXPECT_EQ(Elements(R"({"items": [{"items": [1]}], "kind": "List", "other": [3]})"),
            std::pair(std::vector<std::string>{R"({"items":[1]})"},
                      std::string(R"({"items":[],"kind":"List","other":[3]})")));
  EXPECT_EQ(Elements(R"({"kind": "Node", "spec": {"items": [1]}})").second, "nothing");
  EXPECT_EQ(Elements(R"({"items": null})").second, "nothing");
  EXPECT_EQ(Elements(R"([1, 2)").second, "nothing");
  EXPECT_EQ(Elements(R"("text")").second, "nothing");
}

TEST(ReadList, StopsWhenAnElementIsNotTaken) {
  int taken = 0;
  EXPECT_FALSE(ReadList("[1, 2, 3]", {}, [&](const Value&) { return ++taken < 2; }));
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace pintle::json
