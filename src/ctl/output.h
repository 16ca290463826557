// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the program says.
//
// A text that cannot be written is lost without a word here; main() looks at the end whether all of the answer was
// said.

#include <string_view>

namespace pintle::ctl {

// On standard output: the answer.
void Print(std::string_view text);

// On standard error: warnings, and what went wrong.
void Tell(std::string_view text);

}  // namespace pintle::ctl
