// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts text to JSON values and back.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/report.h"
#include "json/value.h"

namespace pintle::json {

struct ParseLimits {
  // The limit of nesting.  Deeper values could overflow the stack of code that walks them recursively.
  std::size_t depth = 500;
  std::size_t bytes = 256 << 20;
  // This is more than any real set of objects has.  Two bytes of text can become a value, which costs about a
  // hundred.
  std::size_t values = 10'000'000;
};

// Reads one JSON text.  An error names line and column.  A duplicate key in an object, of which the last would
// silently win, is a warning in `report` if there is one.
Result<Value> Parse(std::string_view text, Report* report = nullptr, const ParseLimits& limits = {});

// Writes JSON on one line with sorted keys.  Bytes that are not UTF-8 become U+FFFD; a value from Parse() has none.
std::string ToText(const Value& value);
// Writes the same JSON for people, indented by two spaces.
std::string ToIndentedText(const Value& value);

}  // namespace pintle::json
