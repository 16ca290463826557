// SPDX-License-Identifier: Apache-2.0
#pragma once

// Formats floating-point numbers as Go does.

#include <string>

namespace pintle::gotext {

// The precision of the shortest text that reads back as the same number.
inline constexpr int kShortest = -1;

// `verb` is one of e E f g G b x X.  `bits` is 32 or 64, the size of the number's type: with kShortest, a number of 32
// bits has fewer digits.
std::string FloatText(double value, char verb, int precision, int bits);

}  // namespace pintle::gotext
