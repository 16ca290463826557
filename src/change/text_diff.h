// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares two texts line by line, in the unified form of diff(1).

#include <string>
#include <string_view>
#include <vector>

namespace pintle::change {

// Returns the lines without their line breaks.
std::vector<std::string_view> LinesOf(std::string_view text);

// Returns hunks with three lines around each change; empty for equal texts.  The lines are compared unmasked and
// printed masked.  So the diff reveals that a secret has changed, but not the secret.
std::string UnifiedDiff(std::string_view from, std::string_view to);

}  // namespace pintle::change
