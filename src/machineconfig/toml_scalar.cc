// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/toml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

namespace pintle::machineconfig {
namespace {

bool IsTomlDigit(char c, int base) {
  if (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) return true;
  return c >= '0' && c < '0' + std::min(base, 10);
}

// Removes digits from the front of `text`, and returns them without their underscores.  An underscore must be between
// two digits.  Returns an empty string if there is no digit.
std::string TakeTomlDigits(std::string_view& text, int base) {
  std::string digits;
  const auto has_digit = [&](std::size_t index) { return index < text.size() && IsTomlDigit(text[index], base); };
  while (has_digit(0) || (!digits.empty() && text.starts_with('_') && has_digit(1))) {
    if (text[0] == '_') text.remove_prefix(1);
    digits += text[0];
    text.remove_prefix(1);
  }
  return digits;
}

// Removes `prefix` from the front of `text`, and returns whether it was there.
bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Removes a sign, and returns "-" or "".
std::string TakeSign(std::string_view& text) {
  if (TakePrefix(text, "-")) return "-";
  TakePrefix(text, "+");
  return "";
}

std::optional<json::Value> IntegerOf(const std::string& digits, int base) {
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return json::Value(value);
}

std::optional<json::Value> FloatOf(const std::string& text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return json::Value(value);
}

// Reads an integer with the prefix of its base.  It has no sign.
std::optional<json::Value> PrefixedInteger(std::string_view word) {
  const int base = word[1] == 'x' ? 16 : word[1] == 'o' ? 8 : 2;
  word.remove_prefix(2);
  const std::string digits = TakeTomlDigits(word, base);
  return word.empty() ? IntegerOf(digits, base) : std::nullopt;
}

std::optional<json::Value> TomlNumber(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0o") || word.starts_with("0b")) return PrefixedInteger(word);
  std::string text = TakeSign(word);
  using Limits = std::numeric_limits<double>;
  if (word == "inf") return json::Value(text.empty() ? Limits::infinity() : -Limits::infinity());
  if (word == "nan") return json::Value(Limits::quiet_NaN());
  const std::string whole = TakeTomlDigits(word, 10);
  if (whole.empty() || (whole.size() > 1 && whole[0] == '0')) return std::nullopt;
  text += whole;
  if (word.empty()) return IntegerOf(text, 10);
  if (TakePrefix(word, ".")) {
    const std::string fraction = TakeTomlDigits(word, 10);
    if (fraction.empty()) return std::nullopt;
    text += '.' + fraction;
  }
  if (TakePrefix(word, "e") || TakePrefix(word, "E")) {
    text += 'e' + TakeSign(word);
    text += TakeTomlDigits(word, 10);  // If there are none, FloatOf() refuses the text.
  }
  return word.empty() ? FloatOf(text) : std::nullopt;
}

// Removes the front of `text` if it has the form of `pattern`, in which each 'd' stands for a digit.
bool TakeForm(std::string_view& text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == 'd' ? !IsTomlDigit(text[i], 10) : text[i] != pattern[i]) return false;
  }
  text.remove_prefix(pattern.size());
  return true;
}

// Removes a time with its fraction of a second, if there is one at the front of `text`.
bool TakeTime(std::string_view& text) {
  if (!TakeForm(text, "dd:dd:dd")) return false;
  if (!TakePrefix(text, ".")) return true;
  const std::size_t fraction = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(fraction);
  return fraction > 0;
}

bool IsDateOrTime(std::string_view word) {
  if (!TakeForm(word, "dddd-dd-dd")) return TakeTime(word) && word.empty();
  if (word.empty()) return true;
  const bool has_time = (TakePrefix(word, "T") || TakePrefix(word, "t") || TakePrefix(word, " ")) && TakeTime(word);
  if (!has_time) return false;
  const bool is_utc = word == "Z" || word == "z";
  return word.empty() || is_utc || ((TakeForm(word, "+dd:dd") || TakeForm(word, "-dd:dd")) && word.empty());
}

}  // namespace

std::optional<json::Value> TomlScalar(std::string_view word) {
  return IsDateOrTime(word) ? json::Value(std::string(word)) : TomlNumber(word);
}

}  // namespace pintle::machineconfig
