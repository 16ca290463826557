// SPDX-License-Identifier: Apache-2.0
#include "json/list_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/fields.h"
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

TEST(ReadList, KeepsAValueThatIsNoStringIfOnlyStringsAreLeftOut) {
  constexpr std::array kOmissions = {Omission{"metadata", "uid", "", OmittedValues::kStrings}};
  const auto parse = [&](std::string_view text) { return TextOf(OnlyElement(text, {.members = kOmissions})); };
  EXPECT_EQ(parse(R"({"metadata":{"name":"a","uid": "\u0041"}})"), R"({"metadata":{"name":"a"}})");
  for (const std::string value : {"1", "null", "true", R"(["a"])", R"({"a":"b"})"}) {
    const std::string text = R"({"metadata":{"uid":)" + value + "}}";
    EXPECT_EQ(parse(text), text);
  }
  EXPECT_EQ(parse(R"({"metadata":{"uid":"\x"}})"), "nothing");
  // The last one of two values counts, so the first one must not be kept.
  EXPECT_EQ(parse(R"({"metadata":{"uid":{"a":"b"},"uid":"c"}})"), "nothing");
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
  // These texts are invalid JSON, or have a key twice, so Parse() refuses them.
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

// This is what ReadList() has made of a text.
struct Reading {
  bool is_read = false;
  Value rest;
  Value::Array elements;  // Empty if the text is not read.

  bool operator==(const Reading& other) const = default;
};

Reading ReadingOf(std::optional<Value> rest, Value::Array elements) {
  if (!rest) return {};
  return {.is_read = true, .rest = *std::move(rest), .elements = std::move(elements)};
}

Reading ReadText(std::string_view text, const Omissions& omissions = {}) {
  Value::Array elements;
  auto rest = ReadList(text, omissions, [&](Value element) {
    elements.push_back(std::move(element));
    return true;
  });
  return ReadingOf(std::move(rest), std::move(elements));
}

// Returns a function that returns a text in pieces of at most `longest` bytes.
ReadPiece PiecesOf(std::string_view text, std::size_t longest) {
  return [text, longest](std::span<char> to) mutable -> std::optional<std::size_t> {
    EXPECT_FALSE(to.empty());
    const std::string_view piece = text.substr(0, std::min(longest, to.size()));
    std::copy(piece.begin(), piece.end(), to.begin());
    text.remove_prefix(piece.size());
    return piece.size();
  };
}

Reading ReadThroughWindow(std::string_view text, std::size_t window, std::size_t piece,
                          const Omissions& omissions = {}) {
  Value::Array elements;
  const auto take = [&](Value element) {
    elements.push_back(std::move(element));
    return true;
  };
  auto rest = ReadList(PiecesOf(text, piece), omissions, take, {}, window);
  return ReadingOf(std::move(rest), std::move(elements));
}

// Each kind of token is at each place of the window's edge.
constexpr std::string_view kManyTokens =
    "\n{ \"apiVersion\" : \"v1\", \"more\": {\"a\": [1, 2]}, \"items\" : [ {\"a\": -12.5e+10, \"b\": [true, false, "
    "null]}"
    " , 123456 ,\"\\ud83d\\ude00\\u00e4\\n\\\\\xc3\xa4\xf0\x9f\x98\x80\", {}, [ ], {\"conditions\":[{\"type\": \"A\"} "
    ", "
    "{\"more\":1,\"type\":\"C\"},{\"type\":\"B\",\"more\":[{}]}],\"metadata\":{\"uid\":"
    "\"0123456789abcdefghijklmnopqrstuvwxyz\"}}"
    ", 7 ] ,\"kind\":\"List\", \"items2\": [0], \"n\": 12 }  \n ";

constexpr std::array<std::string_view, 2> kWantedTypes = {"A", "B"};
constexpr std::array kConditionsChosen = {ElementChoice{"", "conditions", "type", kWantedTypes}};
constexpr std::array kUidOmitted = {Omission{"metadata", "uid"}};

TEST(ReadList, ReadsTheSameThroughAWindowOfEachSize) {
  for (const Omissions& omissions : {Omissions{}, Omissions{.members = kUidOmitted, .elements = kConditionsChosen}}) {
    const Reading expected = ReadText(kManyTokens, omissions);
    ASSERT_TRUE(expected.is_read);
    ASSERT_EQ(expected.elements.size(), 7U);
    for (std::size_t window = 1; window <= kManyTokens.size() + 2; ++window) {
      for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, kManyTokens.size()}) {
        ASSERT_EQ(ReadThroughWindow(kManyTokens, window, piece, omissions), expected) << window << " " << piece;
      }
    }
  }
}

TEST(ReadList, ReadsAListThatIsTheTextThroughAWindowOfEachSize) {
  constexpr std::string_view kText = " [1234567890, {\"a\": [ ]} ,[\"x\"], 12 ]\n";
  const Reading expected = ReadText(kText);
  ASSERT_EQ(expected.elements.size(), 4U);
  for (std::size_t window = 1; window <= kText.size() + 2; ++window) {
    EXPECT_EQ(ReadThroughWindow(kText, window, window), expected) << window;
  }
}

TEST(ReadList, ReadsNoTextThatEndsTooEarlyOrGoesOn) {
  const std::size_t end = kManyTokens.rfind('}');
  for (std::size_t window = 1; window <= 200; window += window < 20 ? 1 : 37) {
    for (std::size_t length = 0; length <= end; ++length) {
      ASSERT_FALSE(ReadThroughWindow(kManyTokens.substr(0, length), window, window).is_read) << window << " " << length;
    }
    for (const std::string_view more : {"x", "{}", "]", ","}) {
      ASSERT_FALSE(ReadThroughWindow(std::string(kManyTokens) + std::string(more), window, window).is_read);
    }
  }
}

TEST(ReadList, LeavesAByteOrderMarkAndYamlToParseWhateverTheWindow) {
  for (const std::string_view text :
       {"\xef\xbb\xbf[]", "- a\n- b\n", "items:\n- a\n", "[a, b]", "{\"items\": [1], }", ""}) {
    for (std::size_t window = 1; window < 40; ++window) EXPECT_FALSE(ReadThroughWindow(text, window, 100).is_read);
  }
}

TEST(ReadList, HoldsNoMoreOfTheTextThanAnElementNeeds) {
  std::string text = "[" + std::string(1000, 'x').insert(0, 1, '"').append(1, '"');
  for (int i = 0; i < 1000; ++i) text += ",[1,2,3,4,5,6,7,8,9]";
  text += "]";
  std::size_t largest = 0;
  const ReadPiece pieces = PiecesOf(text, text.size());
  const ReadPiece read = [&](std::span<char> to) {
    largest = std::max(largest, to.size());
    return pieces(to);
  };
  int count = 0;
  const auto take = [&](const Value&) { return ++count > 0; };
  EXPECT_TRUE(ReadList(read, {}, take, {}, 64));
  EXPECT_EQ(count, 1001);
  EXPECT_LE(largest, 2048U);
}

TEST(ReadList, ReturnsNulloptIfTheTextCannotBeReadOrIsTooLong) {
  const auto take = [](const Value&) { return true; };
  const auto broken = [text = PiecesOf("[1, 2", 100)](std::span<char> to) -> std::optional<std::size_t> {
    const auto count = text(to);
    return count == 0U ? std::nullopt : count;
  };
  EXPECT_FALSE(ReadList(broken, {}, take));
  EXPECT_FALSE(ReadList(PiecesOf("[1, 2]", 100), {}, take, {.bytes = 5}));
  EXPECT_TRUE(ReadList(PiecesOf("[1, 2]", 100), {}, take, {.bytes = 6}));
  EXPECT_FALSE(ReadList(PiecesOf("[1, 2]", 1), {}, take, {.values = 2}, 2));
  EXPECT_TRUE(ReadList(PiecesOf("[1, 2]", 1), {}, take, {.values = 3}, 2));
}

// Writes random lists of objects, and texts that are nearly such lists.
class DocumentWriter {
 public:
  std::string Write() {
    std::string text = Blanks();
    const bool is_object = random_() % 2 == 0;
    if (is_object) text += "{" + Blanks() + (random_() % 2 == 0 ? "\"kind\":\"List\"," : "") + "\"items\"" + Colon();
    text += List([&] { return Element(); });
    if (is_object) text += (random_() % 2 == 0 ? ",\"metadata\"" + Colon() + Written(2) : "") + Blanks() + "}";
    return text + Blanks();
  }

  // Changes one byte.
  std::string Damaged(std::string text) {
    static constexpr std::string_view kBytes = "{}[]:,\"\\ \n01.-eu\x80\x01";
    const std::size_t at = random_() % text.size();
    const char byte = kBytes[random_() % kBytes.size()];
    switch (random_() % 3) {
      case 0:
        return text.erase(at, 1);
      case 1:
        return text.insert(at, 1, byte);
      default:
        text[at] = byte;
        return text;
    }
  }

  std::size_t Below(std::size_t end) { return random_() % end; }

 private:
  std::string Blanks() {
    switch (random_() % 4) {
      case 0:
        return "\n" + std::string(random_() % 40, ' ');
      case 1:
        return std::array{" ", "\t", "\r\n", "  "}[random_() % 4];
      default:
        return "";
    }
  }

  std::string Colon() { return Blanks() + ":" + Blanks(); }

  template <typename WritePart>
  std::string Parts(char begin, char end, WritePart&& write_part) {
    std::string text = begin + Blanks();
    for (std::size_t left = random_() % 5; left > 0; --left) {
      text += write_part() + Blanks();
      if (left > 1) text += "," + Blanks();
    }
    return text + end;
  }

  template <typename WritePart>
  std::string List(WritePart&& write_part) {
    return Parts('[', ']', write_part);
  }

  std::string Text() {
    static constexpr std::array kParts = {
        "a",        "0123456789abcdefghij", " ", "\\n", "\\\"", "\\u00e4", "\\ud83d\\ude00",
        "\xc3\xa4", "\xf0\x9f\x98\x80",     "{", "]",   ","};
    std::string text = "\"";
    for (std::size_t left = random_() % 4; left > 0; --left) text += kParts[random_() % kParts.size()];
    return text + "\"";
  }

  std::string Written(int depth) {
    switch (random_() % (depth > 0 ? 9 : 6)) {
      case 0:
        return std::array{"true", "false", "null"}[random_() % 3];
      case 1:
        return std::array{"0", "-1", "12345678901", "2.5", "-1e3", "0.125E+2"}[random_() % 6];
      case 6:
        return List([&] { return Written(depth - 1); });
      case 7:
      case 8:
        return Parts('{', '}', [&] { return Member(depth); });
      default:
        return Text();
    }
  }

  std::string Member(int depth) {
    static constexpr std::array kKeys = {"a",   "b",    "\\u0063",    "metadata",       "annotations",
                                         "uid", "kind", "conditions", "ours/something", "x"};
    const std::string type = std::array{"\"A\"", "\"B\"", "\"C\"", "\"\xc3\xa4\"", "1"}[random_() % 5];
    if (random_() % 4 == 0) return "\"type\"" + Colon() + type;
    return "\"" + std::string(kKeys[random_() % kKeys.size()]) + "\"" + Colon() + Written(depth - 1);
  }

  // The kind of an element comes first, if it has any.
  std::string Element() {
    if (random_() % 8 == 0) return random_() % 2 == 0 ? Text() : List([&] { return Written(2); });
    std::string text = "{" + Blanks();
    const bool has_kind = random_() % 4 != 0;
    if (has_kind) text += "\"kind\"" + Colon() + std::array{"\"Node\"", "\"Other\""}[random_() % 2];
    const std::size_t more = random_() % 3;
    static constexpr std::array kKeys = {"metadata", "conditions", "annotations"};
    for (std::size_t i = 0; i < more; ++i) {
      if (has_kind || i > 0) text += Blanks() + ",";
      text += Blanks() + "\"" + kKeys[i] + "\"" + Colon() + Written(4);
    }
    return text + Blanks() + "}";
  }

  std::mt19937 random_{1};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same texts in each run.
};

constexpr std::array kModelMembers = {Omission{"metadata", "a"}, Omission{"metadata", "b", "Node"},
                                      Omission{"metadata", "uid", "Node", OmittedValues::kStrings}};
constexpr std::array<std::string_view, 1> kModelPrefixes = {"ours/"};
constexpr std::array kModelChoices = {PrefixChoice{"Node", "annotations", kModelPrefixes}};
constexpr std::array kModelElements = {ElementChoice{"Node", "conditions", "type", kWantedTypes}};
constexpr Omissions kModelOmissions = {kModelMembers, kModelChoices, kModelElements};

// Removes the parts of an element that are left out, as the header defines them.
void LeaveOut(Value& value, std::string_view name, std::string_view kind) {
  const auto is_of = [&](std::string_view wanted) { return wanted.empty() || wanted == kind; };
  if (value.is_object()) {
    std::erase_if(value.members(), [&](const auto& member) {
      const bool is_omitted = std::any_of(kModelMembers.begin(), kModelMembers.end(), [&](const Omission& each) {
        return each.parent == name && each.key == member.first && is_of(each.kind) &&
               (each.values == OmittedValues::kAll || member.second.is_string());
      });
      return is_omitted || (name == "annotations" && is_of("Node") && !member.first.starts_with("ours/"));
    });
    for (auto& [key, member] : value.members()) LeaveOut(member, key, kind);
  } else if (value.is_array()) {
    if (name == "conditions" && is_of("Node")) {
      std::erase_if(value.elements(), [](const Value& element) {
        const Value* const type = element.Find("type");
        return type != nullptr && type->is_string() && type->text() != "A" && type->text() != "B";
      });
    }
    for (Value& element : value) LeaveOut(element, name, kind);
  }
}

// Returns what ReadList() has to make of a text that Parse() can read.
Reading ModelOf(Value parsed, const Omissions& omissions) {
  Reading model{.is_read = true, .rest = std::move(parsed), .elements = {}};
  Value& list = model.rest.is_array() ? model.rest : *model.rest.Find("items");
  model.elements = std::exchange(list, Value::array()).elements();
  if (omissions.members.empty()) return model;
  for (Value& element : model.elements) LeaveOut(element, "", element.TextAt({"kind"}));
  if (model.rest.is_object()) LeaveOut(model.rest, "", "");
  return model;
}

TEST(ReadList, ReadsRandomTextsAsParseDoesWhateverTheWindow) {
  DocumentWriter writer;
  int read = 0;
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = writer.Write();
    if (i % 3 == 0) text = writer.Damaged(std::move(text));
    const auto parsed = Parse(text);
    for (const Omissions& omissions : {Omissions{}, kModelOmissions}) {
      const Reading reading = ReadText(text, omissions);
      // A text with a duplicate key is not read.
      if (reading.is_read) {
        ASSERT_TRUE(parsed) << text;
        ASSERT_EQ(reading, ModelOf(*parsed, omissions)) << text;
      }
      ++(reading.is_read ? read : refused);
      for (const std::size_t window : {std::size_t{1}, 1 + writer.Below(40), 1 + writer.Below(400)}) {
        ASSERT_EQ(ReadThroughWindow(text, window, 1 + writer.Below(100), omissions), reading) << window << text;
      }
    }
  }
  EXPECT_GT(read, 3000);
  EXPECT_GT(refused, 1000);
}

struct Part {
  std::string a;
  std::optional<std::string> b;
  std::map<std::string, std::string> annotations;
  std::vector<std::string> x;
  std::optional<bool> kind;
  double type = 0;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = FieldList{
      Field{"a", &Part::a}, Field{"b", &Part::b},       Field{"annotations", &Part::annotations},
      Field{"x", &Part::x}, Field{"kind", &Part::kind}, Field{"type", &Part::type},
  };
};

struct Whole {
  std::string kind;
  Part metadata;
  std::vector<Part> conditions;
  std::map<std::string, std::string> annotations;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = FieldList{
      Field{"kind", &Whole::kind},
      Field{"metadata", &Whole::metadata},
      Field{"conditions", &Whole::conditions},
      Field{"annotations", &Whole::annotations},
  };
};

// Reads a text, and the elements of the kind Node into objects.  Returns the objects, encoded, or nullopt.
std::optional<Value::Array> ReadIntoObjects(std::string_view text, std::size_t window,
                                            const Omissions& omissions = {}) {
  Value::Array objects;
  Whole whole;
  const auto begin = [&] { return &(whole = Whole()); };
  const auto take_whole = [&] {
    objects.push_back(Encode(whole));
    return true;
  };
  const auto take = [](const Value& element) { return element.TextAt({"kind"}) != "Node"; };
  const DirectKind direct[] = {{"Node", ShapeOf<Whole>(), begin, take_whole}};
  const auto rest = ReadList(PiecesOf(text, text.size() + 1), omissions, take, {}, window, direct);
  return rest ? std::optional(std::move(objects)) : std::nullopt;
}

TEST(ReadList, ReadsElementsOfAKindIntoObjects) {
  const std::string text =
      R"([{"kind": "Other", "metadata": 1}, {"v": [1], "kind": "Node", "metadata": {"a": "\u0041", "b": "c", "more": {"a": 1},
          "annotations": {"\u006bey": "", "k2": "v"}, "x": ["1", "2"], "kind": true, "type": 2.5}, "annotations": null,
          "conditions": [{"a": "x"}, {}]}, {"kind": "Node"}])";
  const auto objects = ReadIntoObjects(text, 1);
  ASSERT_TRUE(objects);
  EXPECT_EQ(ToText(Value(*objects)),
            R"([{"conditions":[{"a":"x"},{}],"kind":"Node","metadata":{"a":"A","annotations":{"k2":"v","key":""},)"
            R"("b":"c","kind":true,"type":2.5,"x":["1","2"]}},{"kind":"Node"}])");
  for (const std::string_view odd :
       {R"("metadata": [])", R"("metadata": {"a": 1})", R"("metadata": {"a": "", "a": ""})",
        R"("annotations": {"a": 1})", R"("annotations": {"a": "", "a": ""})", R"("annotations": [])",
        R"("conditions": {})", R"("conditions": [null])", R"("metadata": {"x": [null]})",
        R"("metadata": {"kind": "true"})", R"("kind": "Node")", R"("items": [])", R"("metadata": nul)",
        R"("more": {"a": 01})"}) {
    EXPECT_FALSE(ReadIntoObjects(R"([{"kind": "Node", )" + std::string(odd) + "}]", 100)) << odd;
  }
}

TEST(ReadList, ReadsRandomElementsIntoTheObjectsThatTheirValuesAreDecodedInto) {
  DocumentWriter writer;
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = writer.Write();
    if (i % 3 == 0) text = writer.Damaged(std::move(text));
    for (const Omissions& omissions : {Omissions{}, kModelOmissions}) {
      const auto objects = ReadIntoObjects(text, 1 + writer.Below(400), omissions);
      if (!objects) continue;
      Reading model = ModelOf(ValueOf(Parse(text)), omissions);
      Value::Array expected;
      for (Value& element : model.elements) {
        if (element.TextAt({"kind"}) != "Node") continue;
        Report report;
        expected.push_back(Encode(Decode<Whole>(std::move(element), report)));
        ASSERT_FALSE(report.has_errors()) << text;
      }
      ASSERT_EQ(*objects, expected) << text;
      read += expected.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(read, 1000);
}

TEST(ReadList, StopsWhenAnElementIsNotTaken) {
  int taken = 0;
  EXPECT_FALSE(ReadList("[1, 2, 3]", {}, [&](const Value&) { return ++taken < 2; }));
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace pintle::json
