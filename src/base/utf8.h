// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether bytes are UTF-8, finds the end of the first character of a text, and encodes characters.

#include <cstddef>
#include <string>
#include <string_view>

namespace pintle {

// Returns whether the bytes are UTF-8 as Unicode defines it: without overlong forms, surrogates, and code points above
// U+10FFFF.
bool IsUtf8(std::string_view bytes);

// The first character of a text, or the bytes there that are not UTF-8.
struct Utf8Character {
  bool is_valid;  // False if the bytes are not UTF-8.
  // The length of the character in bytes.  If the bytes are not UTF-8, this is the number of bytes that one U+FFFD
  // replaces.  As Unicode recommends, one U+FFFD replaces the longest prefix that could begin a valid character, or one
  // byte if there is no such prefix.
  std::size_t length;
};

// The text must not be empty.
Utf8Character FirstUtf8Character(std::string_view text);

// Appends a character, which is given as its code point.  The code point must be at most U+10FFFF.
void AppendUtf8(char32_t code, std::string& to);

}  // namespace pintle
