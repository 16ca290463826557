// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints the program's texts.
//
// These functions report no failed write; main() checks at the end whether all of standard output was written.

#include <string_view>

namespace pintle::ctl {

// Prints an answer to standard output.
void Print(std::string_view text);

// Prints warnings, errors, progress and questions to standard error.
void PrintToStderr(std::string_view text);

}  // namespace pintle::ctl
