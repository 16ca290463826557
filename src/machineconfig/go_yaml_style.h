// SPDX-License-Identifier: Apache-2.0
#pragma once

// How Go's yaml.v2 writes a text: plain, in quotes of which kind, or as a block.

#include <string_view>

namespace pintle::machineconfig {

enum class Style { kPlain, kSingleQuoted, kDoubleQuoted, kLiteral };

struct Ways {
  bool plain = true;
  bool single_quoted = true;
  bool literal = true;
  bool has_breaks = false;
  bool has_blanks = true;  // Or anything else but visible ASCII.
};

// Whether each byte is a visible character of ASCII, as nearly all of a data URL is.
bool IsVisibleAscii(std::string_view text);

// The ways in which a text could be written,
Ways WaysFor(std::string_view text, bool is_visible_ascii);

// and the one that it is written in.  A simple key is one that stands in one line with its value.
Style StyleOf(std::string_view text, const Ways& ways, bool is_simple_key);

}  // namespace pintle::machineconfig
