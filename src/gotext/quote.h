// SPDX-License-Identifier: Apache-2.0
#pragma once

// Quotes and unquotes texts and characters as Go does.

#include <optional>
#include <string>
#include <string_view>

namespace pintle::gotext {

enum class OnlyAscii { kNo, kYes };

// Quotes with double quotes and escapes what cannot be printed.
std::string Quoted(std::string_view text, OnlyAscii only_ascii = OnlyAscii::kNo);
std::string QuotedRune(char32_t rune, OnlyAscii only_ascii = OnlyAscii::kNo);

// Returns whether the text can stand between back quotes.
bool CanBackquote(std::string_view text);

// Returns the text of a constant in double or back quotes, or nullopt if its syntax is wrong.
std::optional<std::string> Unquoted(std::string_view constant);

// Returns the character of a constant in single quotes, and the text after it.
struct UnquotedRune {
  char32_t value;
  std::string_view rest;
};
std::optional<UnquotedRune> FirstUnquotedRune(std::string_view text, char quote);

}  // namespace pintle::gotext
