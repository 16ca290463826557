// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes texts that we did not write safe for a terminal, a log, a shell or a bus.
//
// A name from a config or a disk may contain any byte.  If it were printed unchanged, it could move the cursor, colour
// the text after it, begin a line that looks like ours, or run a command when someone pastes a remedy into a shell.

#include <cstddef>
#include <string>
#include <string_view>

namespace pintle {

// Returns the text as a single line.  Escapes as \xNN, byte by byte: control characters, except for the tab; line
// separators; byte order marks; characters that change the direction of text; and bytes that are not UTF-8.
std::string Printable(std::string_view text);

// Like Printable(), but keeps line breaks.
std::string PrintableLines(std::string_view text);

// Quotes a word for a shell, if the word needs quotes.  A word with tabs or with characters that a terminal does not
// show is written as $'...'.
std::string ShellQuoted(std::string_view word);

// Like ShellQuoted(), but puts `--` before a word that a program would take for an option.
std::string ShellOperand(std::string_view word);

// Cuts a text that is longer than `max_bytes`, without splitting a character, and appends how much was cut: "abc... (12
// more characters)".  A byte that is not UTF-8 becomes U+FFFD.
std::string Shortened(std::string text, std::size_t max_bytes);

// Replaces the password in each URL of the form scheme://user:password@host by `instead`.  In http and https URLs
// without a password, the user name is replaced, since it may be a token: https://token@host.
std::string WithoutUrlPasswords(std::string_view text, std::string_view instead);

}  // namespace pintle
