// SPDX-License-Identifier: Apache-2.0
#include "change/any_bytes.h"

#include "json/parse.h"
#include "support/expect.h"

namespace pintle::change {
namespace {

using testing::HasSubstr;

// Encodes the document as text and decodes it again.
json::Value ThereAndBack(const json::Value& document) {
  return ValueOf(WithAnyBytes(ValueOf(json::Parse(json::ToText(WithTextOnly(document))))));
}

TEST(AnyBytes, SurviveInStringsAndNames) {
  const json::Value document = {{"target", "caf\xE9"},
                                {"caf\xE9/\xFF", {"text", "\x80", 7, nullptr, {{"deeper", "\xFF"}}}},
                                {"mark", "base64\x01hello"}};
  EXPECT_EQ(ThereAndBack(document), document);
}

TEST(AnyBytes, LeaveTextAsItIs) {
  const json::Value document = {{"target", "café"}, {"list", {"a", "base64:", ""}}};
  EXPECT_EQ(WithTextOnly(document), document);
}

TEST(AnyBytes, AreAnErrorIfTheTextAfterTheMarkIsNotBase64) {
  EXPECT_THAT(MessageOf(WithAnyBytes({{"a", "base64\x01!"}})), HasSubstr("not valid base64"));
}

}  // namespace
}  // namespace pintle::change
