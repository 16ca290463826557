// SPDX-License-Identifier: Apache-2.0
#include "ignition/json_syntax.h"

#include <gtest/gtest.h>

namespace pintle::ignition {
namespace {

std::string WhatIsWrongIn(std::string_view text) {
  const auto problem = FindSyntaxProblem(text);
  return problem ? problem->what + " @" + std::to_string(problem->offset) : "";
}

TEST(FindSyntaxProblem, FindsNoneInAValidText) {
  for (const char* text : {"{}", " [1, -2.5e+3, \"\\u00e9\\n\", true, null, {\"a\": []}] ", "0", "\"\""}) {
    EXPECT_EQ(WhatIsWrongIn(text), "") << text;
  }
}

TEST(FindSyntaxProblem, NamesTheFirstWrongCharacter) {
  EXPECT_EQ(WhatIsWrongIn(R"({"a" 1})"), "invalid character '1' after object key @6");
  EXPECT_EQ(WhatIsWrongIn("[1 2]"), "invalid character '2' after array element @4");
  EXPECT_EQ(WhatIsWrongIn("{} x"), "invalid character 'x' after top-level value @4");
}

TEST(FindSyntaxProblem, ReportsATextThatEndsTooEarly) {
  EXPECT_EQ(WhatIsWrongIn("{"), "unexpected end of JSON input @1");
  EXPECT_EQ(WhatIsWrongIn("tru"), "invalid character ' ' in literal true (expecting 'e') @3");
}

}  // namespace
}  // namespace pintle::ignition
