// SPDX-License-Identifier: Apache-2.0
#pragma once

// Characters as Go sees them: what is a letter, a digit, or can be printed.

#include <cstddef>
#include <string>
#include <string_view>

namespace pintle::gotemplate {

inline constexpr char32_t kRuneError = 0xfffd;
// In the place of a character where a text has ended.
inline constexpr char32_t kEndOfText = 0xffffffff;

struct Rune {
  char32_t value;
  std::size_t bytes;  // A byte that begins no character counts as one that is kRuneError.
};

// The first character of a text that is not empty.
Rune FirstRune(std::string_view text);

void AppendRune(char32_t rune, std::string& to);

std::size_t CountRunes(std::string_view text);
// So many characters at the beginning of a text, or all of it.
std::string_view FirstRunes(std::string_view text, std::size_t count);

bool IsLetter(char32_t rune);
bool IsDigit(char32_t rune);  // Of any script.
bool IsPrintable(char32_t rune);

// Whether there is nothing but white space in a text.
bool IsBlank(std::string_view text);

}  // namespace pintle::gotemplate
