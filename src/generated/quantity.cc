// SPDX-License-Identifier: Apache-2.0
#include "generated/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

namespace pintle::generated {
namespace {

constexpr int kSmallestExponent = -9;
constexpr std::array<std::string_view, 10> kDecimalSuffixes = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 6> kBinarySuffixes = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

bool IsDecimalDigit(char c) { return c >= '0' && c <= '9'; }

Error WrongFormat() {
  return Error(ErrorKind::kInvalid,
               "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}
Error WrongSuffix() { return Error(ErrorKind::kInvalid, "unable to parse quantity's suffix"); }
Error TooLarge() { return Error(ErrorKind::kInvalid, "unable to parse numeric part of quantity"); }

// The number times `factor`, or nothing if that is too large.
std::optional<std::int64_t> Times(std::int64_t number, std::int64_t factor) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(number, factor, &product)) return {};
  return product;
}

// "12.5" as 125 and -1.
Result<Quantity> ToDigits(std::string_view text) {
  Quantity number;
  bool is_behind_point = false;
  for (const char c : text) {
    if (c == '.') {
      if (is_behind_point) return WrongFormat();
      is_behind_point = true;
      continue;
    }
    const auto larger = Times(number.digits, 10);
    if (!larger || __builtin_add_overflow(*larger, c - '0', &number.digits)) return TooLarge();
    if (is_behind_point) --number.exponent;
  }
  return number;
}

// Takes zeros at the end into the exponent, so that there is room in front.
void Shorten(Quantity& quantity) {
  if (quantity.digits == 0) quantity.exponent = 0;
  while (quantity.digits != 0 && quantity.digits % 10 == 0) {
    quantity.digits /= 10;
    ++quantity.exponent;
  }
}

Result<> ApplySuffix(std::string_view suffix, Quantity& quantity) {
  const auto decimal = std::find(kDecimalSuffixes.begin(), kDecimalSuffixes.end(), suffix);
  if (decimal != kDecimalSuffixes.end()) {
    quantity.exponent += static_cast<int>(decimal - kDecimalSuffixes.begin()) * 3 + kSmallestExponent;
    return {};
  }
  const auto binary = std::find(kBinarySuffixes.begin(), kBinarySuffixes.end(), suffix);
  if (binary != kBinarySuffixes.end()) {
    quantity.format = Quantity::Format::kBinary;
    for (auto power = kBinarySuffixes.begin(); power <= binary; ++power) {
      Shorten(quantity);
      const auto larger = Times(quantity.digits, 1024);
      if (!larger) return TooLarge();
      quantity.digits = *larger;
    }
    return {};
  }
  if (suffix.empty() || (suffix.front() != 'e' && suffix.front() != 'E')) return WrongSuffix();
  std::string_view digits = suffix.substr(1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int exponent = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  constexpr int kLargestExponent = 1000;
  const bool is_number = problem == std::errc() && end == digits.data() + digits.size();
  if (!is_number || exponent > kLargestExponent || exponent < -kLargestExponent) return WrongSuffix();
  quantity.format = Quantity::Format::kExponent;
  quantity.exponent += exponent;
  return {};
}

void RoundUp(Quantity& quantity) {
  while (quantity.exponent < kSmallestExponent) {
    const bool has_rest = quantity.digits % 10 != 0;
    quantity.digits = quantity.digits / 10 + (has_rest ? 1 : 0);
    ++quantity.exponent;
  }
}

// The whole number, if it is one that fits.
std::optional<std::int64_t> Whole(const Quantity& quantity) {
  if (quantity.exponent < 0) return {};
  std::optional<std::int64_t> number = quantity.digits;
  for (int i = 0; i < quantity.exponent && number; ++i) number = Times(*number, 10);
  return number;
}

std::string WithDecimalSuffix(Quantity quantity) {
  // Digits that are spare make the exponent one that has a suffix.
  while (quantity.exponent % 3 != 0) {
    const auto larger = Times(quantity.digits, 10);
    if (!larger) break;
    quantity.digits = *larger;
    --quantity.exponent;
  }
  const int power = quantity.exponent / 3 - kSmallestExponent / 3;
  const bool has_suffix = quantity.exponent % 3 == 0 && power >= 0 &&
                          static_cast<std::size_t>(power) < kDecimalSuffixes.size() &&
                          quantity.format != Quantity::Format::kExponent;
  if (has_suffix)
    return std::to_string(quantity.digits) + std::string(kDecimalSuffixes[static_cast<std::size_t>(power)]);
  const std::string digits = std::to_string(quantity.digits);
  return quantity.exponent == 0 ? digits : digits + "e" + std::to_string(quantity.exponent);
}

}  // namespace

Result<Quantity> ParseQuantity(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  std::size_t end = 0;
  while (end < text.size() && (IsDecimalDigit(text[end]) || text[end] == '.')) ++end;
  const std::string_view number = text.substr(0, end);
  if (number.find_first_not_of('.') == std::string_view::npos) return WrongFormat();
  Quantity quantity = TRY(ToDigits(number));
  TRY(ApplySuffix(text.substr(end), quantity));
  RoundUp(quantity);
  Shorten(quantity);
  if (is_negative) quantity.digits = -quantity.digits;
  return quantity;
}

std::string Canonical(const Quantity& quantity) {
  if (quantity.digits == 0) return "0";
  const auto whole = Whole(quantity);
  const bool is_small = whole && *whole > -1024 && *whole < 1024;
  if (quantity.format != Quantity::Format::kBinary) return WithDecimalSuffix(quantity);
  if (!whole || is_small) {
    Quantity decimal = quantity;
    decimal.format = Quantity::Format::kDecimal;
    return WithDecimalSuffix(decimal);
  }
  std::int64_t rest = *whole;
  std::string_view suffix;
  for (std::size_t power = 0; rest % 1024 == 0 && power < kBinarySuffixes.size(); ++power) {
    rest /= 1024;
    suffix = kBinarySuffixes[power];
  }
  return std::to_string(rest) + std::string(suffix);
}

}  // namespace pintle::generated
