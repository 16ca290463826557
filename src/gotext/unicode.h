// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits texts into characters, which Go calls runes, and classifies them as Go does.

#include <cstddef>
#include <string>
#include <string_view>

namespace pintle::gotext {

inline constexpr char32_t kRuneError = 0xfffd;
// Lexers use this value for the character after the end of a text.
inline constexpr char32_t kEndOfText = 0xffffffff;

struct Rune {
  char32_t value;
  std::size_t bytes;  // A byte that begins no valid character counts as a character kRuneError of one byte.
};

// Returns the first character of a text that is not empty.
Rune FirstRune(std::string_view text);

// Appends a character.  A value that is no character is appended as kRuneError.
void AppendRune(char32_t rune, std::string& to);

std::size_t CountRunes(std::string_view text);
// Returns the first `count` characters of a text, or all of it.
std::string_view FirstRunes(std::string_view text, std::size_t count);

bool IsLetter(char32_t rune);
bool IsDigit(char32_t rune);      // Accepts the digits of all scripts.
bool IsPrintable(char32_t rune);  // Accepts no white space but the space of ASCII.

// Returns whether a text is empty or consists of white space.
bool IsBlank(std::string_view text);

}  // namespace pintle::gotext
