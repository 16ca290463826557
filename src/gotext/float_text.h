// SPDX-License-Identifier: Apache-2.0
#pragma once

// Formats fractions as Go does.

#include <string>

namespace pintle::gotext {

inline constexpr int kShortest = -1;

// `verb` is one of e E f g G b x X.  With kShortest, there are just enough digits to read the same number again.  A
// number of 32 bits needs fewer of them than a number of 64 bits.
std::string FloatText(double value, char verb, int precision, int bits);

}  // namespace pintle::gotext
