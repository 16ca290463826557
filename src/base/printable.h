// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts that came from somewhere else, made fit for a terminal, a log, a shell or a bus.
//
// A name from a config or a disk may have any byte in it.  Written as it is, it could move the cursor, colour what
// follows, begin a line that looks like ours, or run a command when a remedy is pasted.

#include <cstddef>
#include <string>
#include <string_view>

namespace pintle {

// On one line: control characters but the tab, bytes that are not UTF-8, and characters that turn the direction of
// text around are shown as \xNN, byte by byte.
std::string Printable(std::string_view text);

// The same of several lines, whose breaks stay.
std::string PrintableLines(std::string_view text);

// One word for a shell: as it is where that means the same, and else in quotes, $'...' where there are characters that
// a terminal would not show.
std::string ShellQuoted(std::string_view word);

// An operand for a shell: the same, and behind `--` when a program would take it for an option.
std::string ShellOperand(std::string_view word);

// So many bytes at most, cut between two characters.  How many more there were comes on top: "abc... (12 more
// characters)".  A byte that is not UTF-8 becomes U+FFFD.
std::string Shortened(std::string text, std::size_t most);

// Without the passwords in URLs: scheme://user:password@host.
std::string WithoutUrlPasswords(std::string_view text, std::string_view instead);

}  // namespace pintle
