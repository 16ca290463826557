// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether bytes are text, and where its characters end.

#include <cstddef>
#include <string_view>

namespace pintle {

// As Unicode defines it: nothing longer than it needs to be, no surrogates, nothing above U+10FFFF.
bool IsUtf8(std::string_view bytes);

struct Utf8Start {
  bool is_character;
  // Of the character; else of the bytes for which one U+FFFD stands, as Unicode recommends it: as many as could have
  // begun a character, at least one.
  std::size_t length;
};

// What a text, which is not empty, begins with.
Utf8Start StartOf(std::string_view text);

}  // namespace pintle
