// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether bytes are UTF-8, and finds where characters end.

#include <cstddef>
#include <string_view>

namespace pintle {

// Returns whether the bytes are UTF-8 as Unicode defines it: without overlong forms, surrogates, and code points above
// U+10FFFF.
bool IsUtf8(std::string_view bytes);

struct Utf8Start {
  bool is_character;  // False if the bytes are not UTF-8.
  // The length of the character in bytes.  If the bytes are not UTF-8, this is the number of bytes that one U+FFFD
  // replaces.  As Unicode recommends, one U+FFFD replaces the longest prefix that could begin a valid character, or one
  // byte if there is no such prefix.
  std::size_t length;
};

// Classifies the first bytes of a text, which must not be empty.
Utf8Start StartOf(std::string_view text);

}  // namespace pintle
