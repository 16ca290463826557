// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints the texts of programs that people run.
//
// A write can fail, for instance because the disk is full.  The first failed write to standard output is reported at
// once, while its cause is known, and later ones are not.  main() calls FlushOutput() at the end, because the exit
// status must not be that of success if a part of the answer is missing.

#include <string_view>

namespace pintle {

// Prints an answer to standard output, as it is.
void Print(std::string_view text);

// Prints warnings, errors, progress and questions to standard error.  Control characters are escaped, but line breaks
// are kept.
void PrintToStderr(std::string_view text);

// Writes the part of the answer that is still buffered.  Returns false if any part of the answer could not be written.
bool FlushOutput();

}  // namespace pintle
