// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts and characters in quotes, as Go writes and reads them.

#include <optional>
#include <string>
#include <string_view>

namespace pintle::gotemplate {

enum class OnlyAscii { kNo, kYes };

// In double quotes, with what cannot be printed escaped.
std::string Quoted(std::string_view text, OnlyAscii only_ascii = OnlyAscii::kNo);
std::string QuotedRune(char32_t rune, OnlyAscii only_ascii = OnlyAscii::kNo);

// Whether the text can stand between back quotes.
bool CanBackquote(std::string_view text);

// The text of a constant in double or back quotes; no value: it is written wrongly.
std::optional<std::string> Unquoted(std::string_view constant);

// The character of a constant in single quotes, and what stands behind it.
struct UnquotedRune {
  char32_t value;
  std::string_view rest;
};
std::optional<UnquotedRune> FirstUnquotedRune(std::string_view text, char quote);

}  // namespace pintle::gotemplate
