// SPDX-License-Identifier: Apache-2.0
#pragma once

// Quotes and unquotes texts and characters as Go does.

#include <optional>
#include <string>
#include <string_view>

namespace pintle::gotext {

enum class OnlyAscii { kNo, kYes };

// Quotes a text with double quotes, and escapes characters that cannot be printed.
std::string Quoted(std::string_view text, OnlyAscii only_ascii = OnlyAscii::kNo);
std::string QuotedRune(char32_t rune, OnlyAscii only_ascii = OnlyAscii::kNo);

// Returns whether the text can be written in back quotes, where nothing is escaped.
bool CanBackquote(std::string_view text);

// Returns the text of a constant in double or back quotes, or nullopt if its syntax is wrong.
std::optional<std::string> Unquoted(std::string_view constant);

struct UnquotedRune {
  char32_t value;
  std::string_view rest;  // The text after the character; in a character constant, this is the closing quote.
};
// Returns the first character of a constant.  `text` begins after the opening quote, and `quote` is the closing one.
// Returns nullopt if the character's escape is wrong, or if there is no character before the closing quote.
std::optional<UnquotedRune> FirstUnquotedRune(std::string_view text, char quote);

}  // namespace pintle::gotext
