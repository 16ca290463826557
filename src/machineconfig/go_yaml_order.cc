// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/go_yaml_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/ascii.h"
#include "machineconfig/go_yaml_character.h"

namespace pintle::machineconfig {
namespace {

bool SortsAsLetter(char32_t c) {
  // Everything beyond ASCII is taken for a letter; the keys of a config have no such characters.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

// Words of ASCII letters are in the order of their bytes, which is quick to compare.
bool IsAsciiWord(std::string_view text) { return std::all_of(text.begin(), text.end(), IsLetter); }

bool IsDecimalDigit(char32_t c) { return c >= '0' && c <= '9'; }

std::u32string Decoded(std::string_view text) {
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = CharacterAt(text, at);
    characters += c.code;
    at += c.size;
  }
  return characters;
}

struct DigitRun {
  std::int64_t value = 0;
  std::size_t end = 0;
};

// Reads the digits from a place on, as the continuation of the number `value`.
DigitRun ReadDigits(const std::u32string& text, std::size_t from, std::uint64_t value) {
  std::size_t end = from;
  for (; end < text.size() && IsDecimalDigit(text[end]); ++end) value = value * 10 + (text[end] - '0');
  return {static_cast<std::int64_t>(value), end};
}

// Returns whether the digits right before a place are more than leading zeros, so that a 0 there is significant.
bool IsInsideNumber(const std::u32string& text, std::size_t at) {
  while (at > 0 && IsDecimalDigit(text[at - 1])) {
    if (text[--at] != '0') return true;
  }
  return false;
}

// Compares two texts whose first difference is at this place.
bool IsBeforeAt(const std::u32string& a, const std::u32string& b, std::size_t at) {
  const bool a_is_letter = SortsAsLetter(a[at]);
  const bool b_is_letter = SortsAsLetter(b[at]);
  if (a_is_letter && b_is_letter) return a[at] < b[at];
  if (a_is_letter || b_is_letter) return b_is_letter;
  const bool has_zero = a[at] == '0' || b[at] == '0';
  const std::uint64_t digits_before = has_zero && IsInsideNumber(a, at) ? 1 : 0;
  const DigitRun a_run = ReadDigits(a, at, digits_before);
  const DigitRun b_run = ReadDigits(b, at, digits_before);
  if (a_run.value != b_run.value) return a_run.value < b_run.value;
  if (a_run.end != b_run.end) return a_run.end < b_run.end;
  return a[at] < b[at];
}

}  // namespace

bool IsBefore(std::string_view a, std::string_view b) {
  if (IsAsciiWord(a) && IsAsciiWord(b)) return a < b;
  const std::u32string a_text = Decoded(a);
  const std::u32string b_text = Decoded(b);
  const auto differing = std::mismatch(a_text.begin(), a_text.end(), b_text.begin(), b_text.end());
  const auto at = static_cast<std::size_t>(differing.first - a_text.begin());
  if (at == a_text.size() || at == b_text.size()) return a_text.size() < b_text.size();
  return IsBeforeAt(a_text, b_text, at);
}

}  // namespace pintle::machineconfig
