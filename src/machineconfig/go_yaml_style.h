// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides how Go's yaml.v2 writes a text: plain, with which quotes, or as a block.

#include <string_view>

namespace pintle::machineconfig {

enum class Style { kPlain, kSingleQuoted, kDoubleQuoted, kLiteral };

// The styles in which YAML allows a text to be written, and other properties of the text that decide between them.
struct AllowedStyles {
  bool plain = true;
  bool single_quoted = true;
  bool literal = true;
  bool has_breaks = false;
  bool has_blanks = true;  // False only if all characters are known to be visible ASCII.
};

// Returns whether all bytes are visible ASCII characters, as they nearly always are in a data URL.
bool IsVisibleAscii(std::string_view text);

// `is_visible_ascii` is the result of IsVisibleAscii() for this text.
AllowedStyles AllowedStylesFor(std::string_view text, bool is_visible_ascii);

// A simple key is a key on the same line as its value, so it must be written on one line.
enum class TextPlace { kSimpleKey, kElsewhere };

// Returns the style in which the text is written.
Style StyleOf(std::string_view text, const AllowedStyles& styles, TextPlace place);

}  // namespace pintle::machineconfig
