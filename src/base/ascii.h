// SPDX-License-Identifier: Apache-2.0
#pragma once

// Classes and cases of ASCII characters.  Unlike the functions of <cctype>, these do not depend on the locale, and
// accept every char.

#include <string>
#include <string_view>

namespace pintle {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }
constexpr bool IsLetterOrDigit(char c) { return IsLetter(c) || IsDigit(c); }
constexpr char LowerCaseOf(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns the text with its ASCII letters in lower case.
std::string InLowerCase(std::string_view text);

// Compares two texts.  Upper and lower case of an ASCII letter count as equal.
bool SameIgnoringCase(std::string_view a, std::string_view b);

}  // namespace pintle
