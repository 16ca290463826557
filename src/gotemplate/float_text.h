// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fractions as Go writes them.

#include <string>

namespace pintle::gotemplate {

inline constexpr int kShortest = -1;

// `verb` is one of e E f g G b x X.  With kShortest, as many digits as are needed to read the same number again.  A
// number of 32 bits needs fewer than one of 64.
std::string FloatText(double value, char verb, int precision, int bits);

}  // namespace pintle::gotemplate
