// SPDX-License-Identifier: Apache-2.0

// Damages in many ways a text that contains a secret.  No message of a parser may contain a part of the secret.
//
// Each wrong byte and each insertion is tried at every fourth place, and their first places differ.  With
// PINTLE_NIGHTLY, which `./dev test --nightly` sets, they are tried at all places.

#include "support/planted_secret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "json/parse.h"

namespace pintle::planted {
namespace {

std::size_t Step() { return std::getenv("PINTLE_NIGHTLY") != nullptr ? 1 : 4; }

class EveryParser : public testing::TestWithParam<Parser> {
 protected:
  static void ExpectNoSecretInMessages(const std::string& text) {
    if (HasFailure()) return;  // One failure is enough: the others have the same cause.
    const std::string messages = MessagesWithoutNames(GetParam(), text);
    EXPECT_EQ(PieceOfSecretIn(messages), "") << "messages: " << messages.substr(0, 2000) << "\nof: " << text;
  }
};

TEST_P(EveryParser, HasASampleWithTheSecret) {
  EXPECT_NE(GetParam().sample.find(kSecret), std::string::npos);
  ExpectNoSecretInMessages(GetParam().sample);
}

TEST_P(EveryParser, ReportsNoSecretOfATextThatEndsEarly) {
  const std::string& sample = GetParam().sample;
  for (std::size_t end = 0; end <= sample.size(); ++end) ExpectNoSecretInMessages(sample.substr(0, end));
}

TEST_P(EveryParser, ReportsNoSecretOfATextWithAWrongByte) {
  using std::string_literals::operator""s;
  std::size_t first = 0;
  for (const char wrong : "\"'\\{}[]<>,:;%&*!#|=.-\n\t\x7f\xff 0aZ"s + '\0') {
    for (std::size_t at = first++ % Step(); at < GetParam().sample.size(); at += Step()) {
      std::string text = GetParam().sample;
      text[at] = wrong;
      ExpectNoSecretInMessages(text);
    }
  }
}

TEST_P(EveryParser, ReportsNoSecretOfATextWithAnInsertion) {
  std::size_t first = 0;
  for (const char* put : {"\\q",  "\\u12", "\\ud800", "%zz",    "%",         "\"", "\"\"", "'",     "\n", "\x01",
                          "\xc3", "*",     "&",       "!!int ", "!!binary ", ",",  ": ",   "1e999", "{",  "]"}) {
    for (std::size_t at = first++ % Step(); at <= GetParam().sample.size(); at += Step()) {
      std::string text = GetParam().sample;
      text.insert(at, put);
      ExpectNoSecretInMessages(text);
    }
  }
}

TEST_P(EveryParser, ReportsNoSecretOfATextWithTheSecretInserted) {
  for (std::size_t at = 0; at <= GetParam().sample.size(); ++at) {
    std::string text = GetParam().sample;
    text.insert(at, kSecret);
    ExpectNoSecretInMessages(text);
  }
}

// Calls `visit` with each value of a document.  `visit` may change the value, but has to restore it.
void ForEachValue(json::Value& value, const std::function<void(json::Value&)>& visit) {
  visit(value);
  if (!value.is_structured()) return;
  for (json::Value& element : value) ForEachValue(element, visit);
}

TEST_P(EveryParser, ReportsNoSecretOfAValueOfAnotherType) {
  if (!GetParam().is_json) GTEST_SKIP() << "it has no values";
  const std::string secret(kSecret);
  const std::vector<json::Value> replacements = {secret, {secret}, {{secret, secret}}, {{{secret, {secret}}}}, 1.5,
                                                 -1,     true,     {nullptr}};
  json::Value document = *json::Parse(GetParam().sample);
  ForEachValue(document, [&](json::Value& value) {
    for (const json::Value& replacement : replacements) {
      const json::Value before = std::exchange(value, replacement);
      ExpectNoSecretInMessages(json::ToText(document));
      value = before;
    }
  });
}

TEST_P(EveryParser, ReportsNoSecretOfAKeyThatIsTheSecret) {
  if (!GetParam().is_json) GTEST_SKIP() << "it has no keys";
  json::Value document = *json::Parse(GetParam().sample);
  ForEachValue(document, [&](json::Value& value) {
    if (!value.is_object()) return;
    const json::Value before = value;
    value[std::string(kSecret)] = 1;
    // Puts the secret in front as a key that occurs twice: the last one counts, and the parser warns of it.
    std::string text = json::ToText(document);
    ExpectNoSecretInMessages(text);
    const std::string key = json::ToText(std::string(kSecret)) + ":1";
    text.insert(text.find(key), key + ",");
    ExpectNoSecretInMessages(text);
    for (const auto& [name, member] : before.members()) {
      value = before;
      value.Erase(name);
      value[std::string(kSecret)] = member;
      ExpectNoSecretInMessages(json::ToText(document));
    }
    value = before;
  });
}

// An error about a long text is short.
TEST_P(EveryParser, ReportsLittleOfALongText) {
  std::string text = GetParam().sample;
  text.insert(text.find(kSecret), std::string(1 << 20, 'A') + "\\q\"");
  EXPECT_LT(GetParam().messages(text).size(), 10'000U);
}

TEST(MessagesWithoutNames, HaveTheErrorsOfAControllerConfig) {
  const auto parser =
      std::ranges::find_if(Parsers(), [](const Parser& candidate) { return candidate.name == "controller config"; });
  ASSERT_NE(parser, Parsers().end());
  const std::string text = R"({"kind":"ControllerConfig","metadata":{"name":")" + std::string(kSecret) +
                           R"("},"spec":{"internalRegistryPullSecret":"%"}})";
  EXPECT_NE(MessagesWithoutNames(*parser, text).find("is not base64"), std::string::npos);
}

std::string NameOf(const testing::TestParamInfo<Parser>& info) {
  std::string name(info.param.name);
  for (char& c : name) {
    if (c == ' ') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, EveryParser, testing::ValuesIn(Parsers().begin(), Parsers().end()), NameOf);

}  // namespace

void PrintTo(const Parser& parser, std::ostream* out) { *out << parser.name; }

}  // namespace pintle::planted
