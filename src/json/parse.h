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
  // The limit of nesting.  Deeper values could overflow the stack of code that visits them recursively.
  std::size_t depth = 500;
  std::size_t bytes = 256 << 20;
  // The limit of the number of values, which limits the memory: two bytes of text can be a value, and a value can take
  // about a hundred bytes of memory.  Real sets of objects have fewer values.
  std::size_t values = 10'000'000;
};

// Parses one JSON text.  An error of syntax has the line and the column, unless it is at the first byte.  If a key
// occurs twice in an object, the last one wins, and `report`, unless it is null, gets a warning.
Result<Value> Parse(std::string_view text, Report* report = nullptr, const ParseLimits& limits = {});

// Writes JSON on one line with sorted keys.  Bytes that are not UTF-8 become U+FFFD; a value from Parse() has none.
std::string ToText(const Value& value);
// Writes JSON on several lines with sorted keys, indented by two spaces, for people.
std::string ToIndentedText(const Value& value);

}  // namespace pintle::json
