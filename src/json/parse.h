// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text to JSON values, and back.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/report.h"
#include "json/value.h"

namespace pintle::json {

struct ParseLimits {
  // Levels of lists and objects inside one another.  Deeper ones would cost whoever walks the value its stack.
  std::size_t depth = 500;
  std::size_t bytes = 256 << 20;
  // More than any real set of objects has; two bytes of text can be a value, which costs about a hundred.
  std::size_t values = 10'000'000;
};

// Reads one JSON text.  An error says the line and the column.  A key that stands twice in an object, of which the last
// would silently win, is told in `report` when there is one.
Result<Value> Parse(std::string_view text, Report* report = nullptr, const ParseLimits& limits = {});

// JSON on one line, keys in order.  Bytes that are not UTF-8 become U+FFFD: a value from Parse() has none.
std::string ToText(const Value& value);
// The same for people: indented by two spaces.
std::string ToIndentedText(const Value& value);

}  // namespace pintle::json
