// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the first syntax error of a JSON text, for a message in the words of the Machine Config Operator.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pintle::ignition {

struct SyntaxProblem {
  std::string what;    // In the Machine Config Operator's words.
  std::size_t offset;  // The offset behind the wrong byte.
};
// Returns the first syntax error of a JSON text, or nullopt if the text is valid.
std::optional<SyntaxProblem> FindSyntaxProblem(std::string_view text);

// Returns whether JSON allows this character between two tokens.
constexpr bool IsJsonSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace pintle::ignition
