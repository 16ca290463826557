// SPDX-License-Identifier: Apache-2.0
#include "json/go_json.h"

#include "support/expect.h"

namespace pintle::json {
namespace {

TEST(GoJson, EscapesCharactersOfHtml) {
  const Value value = {{"a<", "&>\n\"\x01\xE2\x80\xA8"}};
  const std::string text = R"({"a\u003c":"\u0026\u003e\n\"\u0001\u2028"})";
  EXPECT_EQ(GoJson(value), text);
  EXPECT_EQ(GoJsonLength(value), text.size());
}

}  // namespace
}  // namespace pintle::json
