// SPDX-License-Identifier: Apache-2.0
#include "gotext/quote.h"

#include <fmt/core.h>

#include <cstddef>

#include "gotext/unicode.h"

namespace pintle::gotext {
namespace {

// The characters whose escapes have one letter, and these letters in the same order.
constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v";
constexpr std::string_view kLetters = "abfnrtv";

void AppendEscaped(char32_t rune, char quote, OnlyAscii only_ascii, std::string& to) {
  if (rune == static_cast<char32_t>(quote) || rune == '\\') {
    to += '\\';
    to += static_cast<char>(rune);
    return;
  }
  if (only_ascii == OnlyAscii::kYes ? rune < 0x80 && IsPrintable(rune) : IsPrintable(rune)) {
    return AppendRune(rune, to);
  }
  if (rune < 0x80) {
    if (const std::size_t at = kEscaped.find(static_cast<char>(rune)); at != std::string_view::npos) {
      to += '\\';
      to += kLetters[at];
      return;
    }
  }
  const unsigned value = rune > 0x10ffff ? kRuneError : rune;
  if (value < ' ' || value == 0x7f) {
    to += fmt::format("\\x{:02x}", value);
  } else if (value < 0x10000) {
    to += fmt::format("\\u{:04x}", value);
  } else {
    to += fmt::format("\\U{:08x}", value);
  }
}

std::optional<unsigned> DigitOf(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// Takes a number with this many digits off the beginning of the text.
std::optional<char32_t> TakeNumber(std::string_view& text, std::size_t digits, unsigned base) {
  if (text.size() < digits) return std::nullopt;
  char32_t value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const auto digit = DigitOf(text[i]);
    if (!digit || *digit >= base) return std::nullopt;
    value = value * base + *digit;
  }
  text.remove_prefix(digits);
  return value;
}

struct Character {
  char32_t value;
  bool is_byte;  // The escapes \x41 and \101 stand for bytes, which need not be UTF-8 by themselves.
};

// Takes an escape off the text and returns its character.  `text` begins after the backslash.
std::optional<Character> TakeEscape(std::string_view& text, char quote) {
  if (text.empty()) return std::nullopt;
  const char letter = text.front();
  if (letter >= '0' && letter <= '7') {
    const auto value = TakeNumber(text, 3, 8);
    if (!value || *value > 0xff) return std::nullopt;
    return Character{*value, true};
  }
  text.remove_prefix(1);
  if (const std::size_t at = kLetters.find(letter); at != std::string_view::npos) {
    return Character{static_cast<unsigned char>(kEscaped[at]), false};
  }
  switch (letter) {
    case 'x':
      if (const auto value = TakeNumber(text, 2, 16)) return Character{*value, true};
      return std::nullopt;
    case 'u':
    case 'U': {
      const auto value = TakeNumber(text, letter == 'u' ? 4 : 8, 16);
      if (!value || *value > 0x10ffff || (*value >= 0xd800 && *value <= 0xdfff)) return std::nullopt;
      return Character{*value, false};
    }
    case '\\':
      return Character{'\\', false};
    case '\'':
    case '"':
      if (letter == quote) return Character{static_cast<unsigned char>(letter), false};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<Character> TakeCharacter(std::string_view& text, char quote) {
  if (text.empty() || text.front() == quote) return std::nullopt;
  if (text.front() == '\\') {
    text.remove_prefix(1);
    return TakeEscape(text, quote);
  }
  const Rune rune = FirstRune(text);
  text.remove_prefix(rune.bytes);
  return Character{rune.value, false};
}

// Returns the text between back quotes without carriage returns, as Go reads it.  Returns nullopt if there is another
// back quote in it.
std::optional<std::string> WithoutCarriageReturns(std::string_view text) {
  if (text.find('`') != std::string_view::npos) return std::nullopt;
  std::string unquoted(text);
  std::erase(unquoted, '\r');
  return unquoted;
}

}  // namespace

std::string Quoted(std::string_view text, OnlyAscii only_ascii) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    if (rune.value == kRuneError && rune.bytes == 1) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else {
      AppendEscaped(rune.value, '"', only_ascii, quoted);
    }
    text.remove_prefix(rune.bytes);
  }
  return quoted += '"';
}

std::string QuotedRune(char32_t rune, OnlyAscii only_ascii) {
  if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) rune = kRuneError;
  std::string quoted = "'";
  AppendEscaped(rune, '\'', only_ascii, quoted);
  return quoted += '\'';
}

bool CanBackquote(std::string_view text) {
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    text.remove_prefix(rune.bytes);
    if (rune.bytes > 1) {
      if (rune.value == 0xfeff) return false;
      continue;
    }
    if (rune.value == kRuneError || rune.value == '`' || rune.value == 0x7f) return false;
    if (rune.value < ' ' && rune.value != '\t') return false;
  }
  return true;
}

std::optional<std::string> Unquoted(std::string_view constant) {
  if (constant.size() < 2 || constant.front() != constant.back()) return std::nullopt;
  const char quote = constant.front();
  std::string_view text = constant.substr(1, constant.size() - 2);
  if (quote == '`') return WithoutCarriageReturns(text);
  if (quote != '"' || text.find('\n') != std::string_view::npos) return std::nullopt;
  std::string unquoted;
  while (!text.empty()) {
    const auto character = TakeCharacter(text, quote);
    if (!character) return std::nullopt;
    if (character->is_byte) {
      unquoted += static_cast<char>(character->value);
    } else {
      AppendRune(character->value, unquoted);
    }
  }
  return unquoted;
}

std::optional<UnquotedRune> FirstUnquotedRune(std::string_view text, char quote) {
  const auto character = TakeCharacter(text, quote);
  if (!character) return std::nullopt;
  return UnquotedRune{character->value, text};
}

}  // namespace pintle::gotext
