// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the places of problems in a JSON text.
//
// A report has only the paths of its problems.  The functions below find the lines and columns of the problems.

#include <cstddef>
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

// The place of the value that a problem is about.  If the value is missing, this is the place of the closest value
// around it.
struct LocatedProblem {
  // The first byte of the value.  For an object or a list, the byte behind its bracket; for an unused key, the key
  // itself.
  TextPosition position;
  std::size_t end = 0;     // The offset behind the token.
  std::string_view token;  // The value as it is written; for an object or a list, only the opening bracket.
  std::size_t last = 0;    // The offset of the value's last byte.
};

// kAny lets a key of the text differ in case from the key in a problem's path.
enum class KeyCase { kExact, kAny };

// Returns a result for each problem, in the same order; results after the first 200 are empty.  The text must be valid
// JSON.
std::vector<LocatedProblem> Locate(std::string_view json_text, std::span<const json::Problem> problems,
                                   KeyCase key_case = KeyCase::kExact);

// Returns the line and the column of an offset.
TextPosition PositionOf(std::string_view text, std::size_t offset);

}  // namespace pintle::ignition
