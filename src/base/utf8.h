// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether bytes are UTF-8, and finds where characters end.

#include <cstddef>
#include <string_view>

namespace pintle {

// UTF-8 as Unicode defines it has no overlong forms, no surrogates, and nothing above U+10FFFF.
bool IsUtf8(std::string_view bytes);

struct Utf8Start {
  bool is_character;
  // The length of the character.  If the bytes are not UTF-8, this is the number of bytes that one U+FFFD replaces: the
  // longest beginning of a valid character, and at least one byte, as Unicode recommends.
  std::size_t length;
};

// Classifies the first bytes of a text, which must not be empty.
Utf8Start StartOf(std::string_view text);

}  // namespace pintle
