// SPDX-License-Identifier: Apache-2.0
#include "api/quantity.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

namespace pintle::api {
namespace {

constexpr std::int64_t kNano = -9;  // Kubernetes rounds quantities up to a multiple of 10^-9.

enum class Format { kDecimal, kDecimalExponent, kBinary };

// A suffix stands for a power of ten or of two.
struct Suffix {
  Format format = Format::kDecimal;
  std::int64_t exponent = 0;
};

constexpr std::int64_t kDecimalStep = 3;  // The exponents of all decimal suffixes are multiples of 3.
constexpr auto kDecimalSuffixes = std::to_array<std::pair<std::string_view, std::int64_t>>(
    {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}});
constexpr auto kBinarySuffixes = std::to_array<std::pair<std::string_view, std::int64_t>>(
    {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}});

// Returns nullopt for an unknown suffix.
std::optional<Suffix> ParseSuffix(std::string_view suffix) {
  for (const auto& [text, exponent] : kDecimalSuffixes) {
    if (suffix == text) return Suffix{Format::kDecimal, exponent};
  }
  for (const auto& [text, exponent] : kBinarySuffixes) {
    if (suffix == text) return Suffix{Format::kBinary, exponent};
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return {};
  std::string_view digits = suffix.substr(1);
  if (digits.starts_with('+') && digits.size() > 1 && digits[1] != '-') digits.remove_prefix(1);
  std::int32_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  return Suffix{Format::kDecimalExponent, exponent};
}

// The parts of a quantity's text.
struct Pieces {
  bool is_negative = false;
  bool has_digits = false;  // Whether there is a digit before the suffix.
  std::string_view whole;   // The digits before the point without leading zeros, or "0" if none are left.
  std::string_view fraction;
  std::string_view suffix;
};

// Returns the position of the first character from `from` on that is not one of these characters.
std::size_t EndOfRun(std::string_view text, std::size_t from, std::string_view characters) {
  return std::min(text.find_first_not_of(characters, from), text.size());
}

// Splits a text that is not empty, as the parser of Kubernetes does.  Returns nullopt if that parser refuses the text
// with an error that quotes a regular expression.  The parser itself does not use the expression: it accepts "+", which
// does not match the expression, and refuses "1.2.3", which matches.
std::optional<Pieces> SplitQuantity(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  Pieces pieces;
  std::size_t at = 0;
  if (text[0] == '-' || text[0] == '+') {
    pieces.is_negative = text[0] == '-';
    at = 1;
  }
  at = EndOfRun(text, at, "0");
  const std::size_t end_of_whole = EndOfRun(text, at, kDigits);
  pieces.whole = end_of_whole == at ? "0" : text.substr(at, end_of_whole - at);
  at = end_of_whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = EndOfRun(text, at + 1, kDigits);
    pieces.fraction = text.substr(at + 1, end - at - 1);
    at = end;
  }
  pieces.has_digits = text.substr(0, at).find_first_of(kDigits) != std::string_view::npos;
  pieces.suffix = text.substr(at);
  std::size_t end = EndOfRun(text, at, "eEinumkKMGTP");
  if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
  if (EndOfRun(text, end, kDigits) != text.size()) return {};
  return pieces;
}

// The number digits * 10^exponent.  The digits have no leading zeros, and the number 0 has no digits.
struct Decimal {
  std::string digits;
  std::int64_t exponent = 0;

  bool is_zero() const { return digits.empty(); }

  void DropLeadingZeros() { digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size())); }

  void DropTrailingZeros() {
    while (digits.ends_with('0')) {
      digits.pop_back();
      ++exponent;
    }
  }

  void TimesTwo() {
    int carry = 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
      const int doubled = (digits[i] - '0') * 2 + carry;
      digits[i] = static_cast<char>('0' + doubled % 10);
      carry = doubled / 10;
    }
    if (carry > 0) digits.insert(digits.begin(), '1');
  }

  void PlusOne() {
    std::size_t i = digits.size();
    while (i > 0 && digits[i - 1] == '9') digits[--i] = '0';
    if (i > 0) {
      ++digits[i - 1];
    } else {
      digits.insert(digits.begin(), '1');
    }
  }

  // Rounds up to a multiple of 10^least.
  void RoundUp(std::int64_t least) {
    if (exponent >= least || is_zero()) return;
    const auto excess = static_cast<std::size_t>(std::min<std::int64_t>(least - exponent, std::int64_t{1} << 40));
    const std::size_t kept = digits.size() > excess ? digits.size() - excess : 0;
    const bool is_exact = digits.find_first_not_of('0', kept) == std::string::npos;
    digits.resize(kept);
    exponent = least;
    if (!is_exact) PlusOne();
  }

  // Returns the number if its exponent is not negative and it fits into 64 bits.
  std::optional<std::int64_t> ToInteger() const {
    constexpr std::int64_t kMostZeros = 18;  // 10^19 does not fit into 64 bits with a sign.
    if (is_zero()) return 0;
    if (exponent < 0 || exponent > kMostZeros) return {};
    const std::string all = digits + std::string(static_cast<std::size_t>(exponent), '0');
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
    if (error != std::errc() || end != all.data() + all.size()) return {};
    return number;
  }

  // Returns the lowest 64 bits of a whole number.
  std::uint64_t LowestBits() const {
    constexpr std::int64_t kBits = 64;  // 10^64 is a multiple of 2^64.
    constexpr std::uint64_t kTen = 10;
    if (exponent >= kBits) return 0;
    std::uint64_t bits = 0;
    for (const char digit : digits) bits = bits * kTen + static_cast<std::uint64_t>(digit - '0');
    for (std::int64_t i = 0; i < exponent; ++i) bits *= kTen;
    return bits;
  }
};

std::string DecimalText(Decimal number, Format format) {
  number.DropTrailingZeros();
  for (; number.exponent % kDecimalStep != 0; --number.exponent) number.digits += '0';
  if (format == Format::kDecimal) {
    for (const auto& [text, exponent] : kDecimalSuffixes) {
      if (exponent == number.exponent) return number.digits + std::string(text);
    }
    return number.digits;  // Kubernetes leaves out an exponent for which it has no suffix, so 1000E becomes 1.
  }
  return number.exponent == 0 ? number.digits : fmt::format("{}e{}", number.digits, number.exponent);
}

std::string BinaryText(std::int64_t number) {
  constexpr std::int64_t kKibi = 1024;
  std::size_t steps = 0;
  for (; number % kKibi == 0 && steps < kBinarySuffixes.size(); ++steps) number /= kKibi;
  return std::to_string(number) + std::string(steps == 0 ? "" : kBinarySuffixes[steps - 1].first);
}

std::string CanonicalText(const Decimal& number, Format format) {
  constexpr std::int64_t kLeastBinary = 1024;
  if (format == Format::kBinary) {
    // A number that is not whole, or is less than 1Ki, is written in the decimal form.
    Decimal whole = number;
    whole.DropTrailingZeros();
    if (const auto integer = whole.ToInteger(); integer && *integer >= kLeastBinary) return BinaryText(*integer);
    format = Format::kDecimal;
  }
  return DecimalText(number, format);
}

// Kubernetes parses numbers of up to 18 digits on a quick path, which neither rounds nor caps them.  These numbers are
// called short here.
constexpr std::size_t kMostShortDigits = 18;

bool IsShort(const Pieces& pieces, const Suffix& suffix) {
  const std::size_t digits = pieces.whole.size() + pieces.fraction.size();
  if (suffix.format != Format::kBinary) {
    const auto decimals = static_cast<std::int64_t>(pieces.fraction.size());
    return digits <= kMostShortDigits && suffix.exponent - decimals >= kNano;
  }
  // With a binary suffix, Kubernetes limits the digits to 14, and counts three further digits for each ten bits.
  constexpr std::int64_t kMostBinaryDigits = 14;
  constexpr std::int64_t kDigitsOfTenBits = 3;
  constexpr std::int64_t kTenBits = 10;
  const auto digits_left =
      kMostBinaryDigits - static_cast<std::int64_t>(digits) - suffix.exponent * kDigitsOfTenBits / kTenBits;
  return pieces.fraction.empty() && digits_left >= 0;
}

// Returns whether Kubernetes considers the text of a short number canonical, and so keeps it.
bool IsKeptAsWritten(const Pieces& pieces, const Suffix& suffix) {
  if (suffix.format == Format::kBinary) {
    constexpr int kEight = 8;
    constexpr std::size_t kLastDigits = 3;  // Only these matter, because 1000 is a multiple of 8.
    int last = 0;
    for (const char digit : pieces.whole.substr(pieces.whole.size() - std::min(pieces.whole.size(), kLastDigits))) {
      last = last * 10 + (digit - '0');
    }
    return last % kEight != 0;
  }
  const std::string digits = std::string(pieces.whole) + std::string(pieces.fraction);
  const std::int64_t scale = suffix.exponent - static_cast<std::int64_t>(pieces.fraction.size());
  return scale % kDecimalStep == 0 && !digits.ends_with("000") && digits[0] != '0';
}

Decimal NumberOf(const Pieces& pieces, const Suffix& suffix) {
  Decimal number{std::string(pieces.whole) + std::string(pieces.fraction),
                 -static_cast<std::int64_t>(pieces.fraction.size())};
  number.DropLeadingZeros();
  if (suffix.format == Format::kBinary) {
    for (std::int64_t i = 0; i < suffix.exponent; ++i) number.TimesTwo();
  } else {
    number.exponent += suffix.exponent;
  }
  return number;
}

// Caps a number with a binary suffix at the largest signed number of 64 bits, as Kubernetes does.  Returns whether the
// number was larger.
bool CapAtLargestInteger(Decimal& number) {
  const std::string largest = "9223372036854775807";
  Decimal whole = number;
  whole.RoundUp(0);
  const bool is_larger =
      whole.digits.size() != largest.size() ? whole.digits.size() > largest.size() : whole.digits > largest;
  if (is_larger) number = {largest, 0};
  return is_larger;
}

std::uint64_t Negated(std::uint64_t bits) { return 0 - bits; }

// Converts a number that is short, or that was capped, to a whole number.  Rounds away from zero.
std::int64_t ValueOfShort(Decimal number, bool is_negative) {
  // Kubernetes multiplies by these powers of ten at once, and does not check whether the product fits into 64 bits.
  constexpr std::array kUncheckedExponents = {1, 2, 3, 6, 9};
  number.RoundUp(0);
  const auto integer = number.ToInteger();
  const bool is_unchecked =
      std::find(kUncheckedExponents.begin(), kUncheckedExponents.end(), number.exponent) != kUncheckedExponents.end();
  const std::uint64_t bits = integer ? static_cast<std::uint64_t>(*integer) : is_unchecked ? number.LowestBits() : 0;
  return static_cast<std::int64_t>(is_negative ? Negated(bits) : bits);
}

// Converts a number that is not short to a whole number.  Kubernetes holds such a number as a multiple of 10^-9.
std::int64_t ValueOfLong(Decimal number, bool is_negative) {
  if (is_negative) {
    // Kubernetes takes the lowest 64 bits of this multiple, divides them, and rounds up.  If the result is negative,
    // the division has rounded it up already.
    constexpr std::int64_t kNanosInOne = 1'000'000'000;
    number.exponent -= kNano;
    const auto nanos = static_cast<std::int64_t>(Negated(number.LowestBits()));
    return nanos / kNanosInOne + (nanos % kNanosInOne != 0 ? 1 : 0);
  }
  number.RoundUp(0);
  return static_cast<std::int64_t>(number.LowestBits());
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  const auto malformed = [] {
    return Error(ErrorKind::kInvalid,
                 "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  };
  if (text.empty()) return malformed();
  const auto pieces = SplitQuantity(text);
  if (!pieces) return malformed();
  const auto suffix = ParseSuffix(pieces->suffix);
  if (!suffix) return Error(ErrorKind::kInvalid, "unable to parse quantity's suffix");
  const bool is_short = IsShort(*pieces, *suffix);
  // If no digit is there, Kubernetes takes a short number for 0.
  if (!is_short && !pieces->has_digits) {
    return Error(ErrorKind::kInvalid, "unable to parse numeric part of quantity");
  }
  Decimal number = NumberOf(*pieces, *suffix);
  Quantity quantity;
  if (number.is_zero()) return quantity;

  if (!is_short) number.RoundUp(kNano);
  const bool is_capped = !is_short && suffix->format == Format::kBinary && CapAtLargestInteger(number);
  const bool is_kept = is_short && IsKeptAsWritten(*pieces, *suffix);
  const std::string_view sign = pieces->is_negative ? "-" : "";
  quantity.text_ = is_kept ? std::string(text) : fmt::format("{}{}", sign, CanonicalText(number, suffix->format));

  quantity.value_ = is_short || is_capped ? ValueOfShort(std::move(number), pieces->is_negative)
                                          : ValueOfLong(std::move(number), pieces->is_negative);
  return quantity;
}

Result<Quantity> Quantity::FromJson(const json::Value& value) {
  const std::string text = value.is_string() ? value.text() : json::ToText(value);
  std::string_view trimmed = text;
  trimmed.remove_prefix(std::min(trimmed.find_first_not_of(' '), trimmed.size()));
  trimmed = trimmed.substr(0, trimmed.find_last_not_of(' ') + 1);  // If only spaces are there, npos + 1 is 0.
  return Parse(trimmed);
}

}  // namespace pintle::api
