// SPDX-License-Identifier: Apache-2.0
#pragma once

// The difference of two texts, line by line, in the unified form of diff(1).

#include <string>
#include <string_view>
#include <vector>

namespace pintle::change {

std::vector<std::string_view> LinesOf(std::string_view text);

// Hunks with three lines around each change; empty for equal texts.  Secrets are masked: what is compared are the lines
// themselves, so that a change of a secret shows.
std::string UnifiedDiff(std::string_view from, std::string_view to);

}  // namespace pintle::change
