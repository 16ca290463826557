// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts texts that we did not write into HTML.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace pintle::dashboard {

// Escapes the text so that a browser shows it as text, in an element and in an attribute in double quotes.  Control
// characters and characters that change the direction of text become escapes, as on a terminal.
std::string Escaped(std::string_view text);

// Like Escaped(), but keeps line breaks, and cuts off a text that is longer than `max_bytes`.
std::string EscapedLines(std::string_view text, std::size_t max_bytes);

// Returns the time as an element for people and programs: <time datetime="...">2026-11-27 07:30 UTC</time>.
std::string TimeElement(WallTime time);

}  // namespace pintle::dashboard
