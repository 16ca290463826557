// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where in a JSON text a problem is.
//
// A report knows the paths of its problems.  The text is searched for them only when there are any, in one pass.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/report.h"

namespace pintle::ignition {

// Lines and columns count from 1; columns count bytes.
struct TextPosition {
  std::size_t line = 0;
  std::size_t column = 0;
};

// The value that a problem is about or, where there is none, the closest one around it.
struct Found {
  TextPosition position;   // Its first byte; of an object or a list, the byte behind the bracket.  A key that has no
                           // effect is a problem itself.
  std::size_t end = 0;     // The offset behind the value; of an object or a list, where it begins.
  std::string_view token;  // A text, a number or a word as it is written; of others, the bracket.
  std::size_t last = 0;    // The offset of the value's last byte.
};

// Whether a key that differs from a path's in the case of its letters is taken for it.
enum class KeyCase { kExact, kAny };

// One for each problem, in the same order.  The text must be valid JSON.
std::vector<Found> Locate(std::string_view json_text, std::span<const json::Problem> problems,
                          KeyCase key_case = KeyCase::kExact);

TextPosition PositionOf(std::string_view text, std::size_t offset);

// What is wrong with a text that is not JSON, in the words of the Machine Config Operator.
struct SyntaxProblem {
  std::string what;
  std::size_t offset;  // Behind the culprit.
};
std::optional<SyntaxProblem> FindSyntaxProblem(std::string_view text);

}  // namespace pintle::ignition
