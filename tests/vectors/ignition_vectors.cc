// SPDX-License-Identifier: Apache-2.0

// Pintle must accept or refuse each Ignition config as the operator does, and convert it to the same text.

#include <fmt/core.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "ignition/config.h"
#include "ignition/convert.h"
#include "ignition/go_text.h"
#include "ignition/spec_version.h"
#include "json/parse.h"
#include "support/expect.h"
#include "vectors/cases.h"
#include "vectors/expect_text.h"

namespace pintle::ignition {
namespace {

using vectors::Case;

json::Value Json(const Case& c, const std::string& file) { return ValueOf(json::Parse(c.Text(file))); }

Result<Config> ParseInput(const Case& c) {
  json::Report report;
  return Parse(c.Text(c.Has("input.bin") ? "input.bin" : "input.json"), report);
}

std::vector<std::string> CasesThat(const std::function<bool(const Case&)>& predicate) {
  std::vector<std::string> cases = vectors::CaseNames("ignition");
  // accept-expected.json is not a case.
  std::erase_if(cases,
                [&](const std::string& name) { return name.ends_with(".json") || !predicate(Case("ignition", name)); });
  return cases;
}

bool IsRead(const Case& c) { return !c.Has("expected-error.txt"); }

// Returns whether the JSON that the operator wrote for a case is valid.  An output is invalid if validation and
// conversion both failed.
bool IsReadAgain(const Case& c) {
  const bool is_valid = !c.Has("expected-validate-error.txt") || !c.Has("convert-3.5-error.txt");
  return c.Has("expected-stdjson.json") && is_valid;
}

class IgnitionVectors : public testing::TestWithParam<std::string> {};
class ReadVectors : public testing::TestWithParam<std::string> {};
class ValidVectors : public testing::TestWithParam<std::string> {};

TEST_P(IgnitionVectors, AreReadOrRefused) {
  const Case c("ignition", GetParam());
  const auto config = ParseInput(c);
  if (const auto error = c.TextIfThere("expected-error.txt")) {
    // The caller of the parser adds this prefix.
    std::string_view expected = *error;
    constexpr std::string_view kWrapping = "failed to parse Ignition config: ";
    if (expected.starts_with(kWrapping)) expected.remove_prefix(kWrapping.size());
    vectors::ExpectContains(MessageOf(config), expected);
    return;
  }
  ASSERT_TRUE(Succeeded(config));
  EXPECT_EQ(json::ToText(Encode(*config)), json::ToText(Json(c, "expected.json")));
}

TEST_P(ValidVectors, AreTheSameWhenReadAgain) {
  const Case c("ignition", GetParam());
  json::Report report;

  const auto again = Parse(c.Text("expected-stdjson.json"), report);

  ASSERT_TRUE(Succeeded(again));
  EXPECT_EQ(json::ToText(Encode(*again)), json::ToText(Json(c, "expected.json")));
}

TEST_P(ReadVectors, AreConverted) {
  const Case c("ignition", GetParam());
  const Config config = ValueOf(ParseInput(c));
  int versions = 0;
  for (const char* name : {"2.2", "3.0", "3.1", "3.2", "3.3", "3.4", "3.5"}) {
    SCOPED_TRACE(name);
    const auto converted = ConvertTo(config, ValueOf(ParseSpecVersion(name)));
    if (const auto error = c.TextIfThere(fmt::format("convert-{}-error.txt", name))) {
      vectors::ExpectContains(MessageOf(converted), *error);
      ++versions;
    } else if (const std::string file = fmt::format("convert-{}.json", name); c.Has(file)) {
      ASSERT_TRUE(Succeeded(converted));
      EXPECT_EQ(json::ToText(*converted), json::ToText(Json(c, file)));
      EXPECT_EQ(ValueOf(ConvertToText(config, ValueOf(ParseSpecVersion(name)))), vectors::Trimmed(c.Text(file)));
      ++versions;
    }
  }
  EXPECT_EQ(versions, 7);
}

TEST_P(ReadVectors, AreWrittenAsIgnitionWritesThem) {
  const Case c("ignition", GetParam());
  std::string text;
  WriteGoText(ValueOf(ParseInput(c)), text);
  EXPECT_EQ(text, vectors::Trimmed(c.Text("expected-stdjson.json")));
}

INSTANTIATE_TEST_SUITE_P(All, IgnitionVectors, testing::ValuesIn(CasesThat([](const Case&) { return true; })),
                         vectors::NameOf);
INSTANTIATE_TEST_SUITE_P(All, ReadVectors, testing::ValuesIn(CasesThat(IsRead)), vectors::NameOf);
INSTANTIATE_TEST_SUITE_P(All, ValidVectors, testing::ValuesIn(CasesThat(IsReadAgain)), vectors::NameOf);

TEST(AcceptVectors, ChooseTheVersion) {
  const json::Value cases =
      ValueOf(json::Parse(vectors::ReadText(vectors::DataDirectory() / "ignition" / "accept-expected.json")));
  ASSERT_GT(cases.size(), 10U);
  for (const json::Value& test : cases) {
    const auto accept = test["accept"].text();
    SCOPED_TRACE(accept);
    const auto version = Negotiate(accept);
    if (test.contains("error")) {
      EXPECT_EQ(MessageOf(version), test["error"].text());
    } else {
      ASSERT_TRUE(Succeeded(version));
      EXPECT_EQ(ToText(*version), test["version"].text());
    }
  }
}

}  // namespace
}  // namespace pintle::ignition
