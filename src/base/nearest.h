// SPDX-License-Identifier: Apache-2.0
#pragma once

// The word that someone meant who has mistyped it.

#include <span>
#include <string>
#include <string_view>

namespace pintle {

// The known word that differs from this one by few letters, or else the first that begins with it.  Empty: none is near
// enough for a guess to be of help.  Dashes at the beginning do not count as letters.
std::string_view Nearest(std::string_view word, std::span<const std::string_view> known);

// "; did you mean WORD?" for the end of a message, or nothing.
std::string Guess(std::string_view word, std::span<const std::string_view> known);

}  // namespace pintle
