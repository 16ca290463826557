// SPDX-License-Identifier: Apache-2.0
#include "gotext/float_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace pintle::gotext {
namespace {

// The room for a number without the digits of its precision.  In fixed notation, the largest number has 309 digits
// before the point.
constexpr std::size_t kRoom = 400;

// Formats a number by the standard library.
std::string Written(double value, std::chars_format format, int precision, int bits) {
  std::string text(kRoom + static_cast<std::size_t>(std::max(precision, 0)), '\0');
  char* const begin = text.data();
  char* const end = begin + text.size();
  const std::to_chars_result result = precision >= 0 ? std::to_chars(begin, end, value, format, precision)
                                      : bits == 32   ? std::to_chars(begin, end, static_cast<float>(value), format)
                                                     : std::to_chars(begin, end, value, format);
  text.resize(static_cast<std::size_t>(result.ptr - begin));
  return text;
}

// The digits of the shortest form that reads back as the same number, and the decimal exponent of the first digit.
struct ShortestDigits {
  std::string digits;
  int exponent = 0;
};

ShortestDigits DigitsOf(double value, int bits) {
  const std::string text = Written(std::fabs(value), std::chars_format::scientific, kShortest, bits);
  const std::size_t e = text.find('e');
  ShortestDigits shortest{.digits = text.substr(0, e)};
  std::erase(shortest.digits, '.');
  const bool is_small = text[e + 1] == '-';
  std::from_chars(text.data() + e + 2, text.data() + text.size(), shortest.exponent);
  if (is_small) shortest.exponent = -shortest.exponent;
  return shortest;
}

// Writes zeros after the digits of a large number.  The standard library would write all digits that the number has.
std::string ShortestFixed(double value, int bits) {
  const auto [digits, exponent] = DigitsOf(value, bits);
  const std::string sign = std::signbit(value) ? "-" : "";
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (whole >= digits.size()) return sign + digits + std::string(whole - digits.size(), '0');
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

// Implements %g with as few digits as possible.  As in Go, the notation depends on the exponent, and not on the length
// of the text.
std::string ShortestGeneral(double value, int bits) {
  const int exponent = DigitsOf(value, bits).exponent;
  if (exponent < -4 || exponent >= 6) return Written(value, std::chars_format::scientific, kShortest, bits);
  return ShortestFixed(value, bits);
}

// The number mantissa * 2^(exponent - mantissa_bits).
struct Parts {
  std::uint64_t mantissa;
  int exponent;
  int mantissa_bits;
};

Parts PartsOf(double value, int bits) {
  const int mantissa_bits = bits == 32 ? 23 : 52;
  const int bias = bits == 32 ? -127 : -1023;
  const std::uint64_t raw =
      bits == 32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : std::bit_cast<std::uint64_t>(value);
  const std::uint64_t mantissa = raw & ((std::uint64_t{1} << mantissa_bits) - 1);
  const int exponent_mask = bits == 32 ? 0xff : 0x7ff;
  const int exponent = static_cast<int>(raw >> mantissa_bits) & exponent_mask;
  if (exponent == 0) return {mantissa, 1 + bias, mantissa_bits};
  return {mantissa | std::uint64_t{1} << mantissa_bits, exponent + bias, mantissa_bits};
}

// Implements %b, for example 4503599627370496p-52.
std::string Binary(double value, int bits) {
  const Parts parts = PartsOf(value, bits);
  return fmt::format("{}{}p{:+}", std::signbit(value) ? "-" : "", parts.mantissa, parts.exponent - parts.mantissa_bits);
}

// Implements %x, for example 0x1.8p+01.
std::string Hexadecimal(double value, int precision, int bits) {
  Parts parts = PartsOf(value, bits);
  std::uint64_t mantissa = parts.mantissa;
  int exponent = mantissa == 0 ? 0 : parts.exponent;
  // Bit 60 is the digit before the point, and the 60 bits below it are the 15 digits after the point.
  mantissa <<= 60 - parts.mantissa_bits;
  constexpr std::uint64_t kOne = std::uint64_t{1} << 60;
  while (mantissa != 0 && (mantissa & kOne) == 0) {
    mantissa <<= 1;
    --exponent;
  }
  if (precision >= 0 && precision < 15) {
    const int shift = precision * 4;
    const std::uint64_t extra = (mantissa << shift) & (kOne - 1);
    mantissa >>= 60 - shift;
    if ((extra | (mantissa & 1)) > kOne / 2) ++mantissa;
    mantissa <<= 60 - shift;
    if ((mantissa & (kOne << 1)) != 0) {
      mantissa >>= 1;
      ++exponent;
    }
  }
  std::string text = fmt::format("{}0x{}", std::signbit(value) ? "-" : "", mantissa >> 60 & 1);
  mantissa <<= 4;  // Remove the leading bit.
  std::string digits;
  while (precision < 0 ? mantissa != 0 : digits.size() < static_cast<std::size_t>(precision)) {
    digits += "0123456789abcdef"[mantissa >> 60 & 15];
    mantissa <<= 4;
  }
  if (!digits.empty()) text += "." + digits;
  return text + fmt::format("p{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
}

// Formats a finite number with a lower-case verb.
std::string LowerText(double value, char verb, int precision, int bits) {
  switch (verb) {
    case 'e':
      return Written(value, std::chars_format::scientific, precision, bits);
    case 'f':
      return precision == kShortest ? ShortestFixed(value, bits)
                                    : Written(value, std::chars_format::fixed, precision, bits);
    case 'b':
      return Binary(value, bits);
    case 'x':
      return Hexadecimal(value, precision, bits);
    default:
      if (precision == kShortest) return ShortestGeneral(value, bits);
      return Written(value, std::chars_format::general, precision, bits);
  }
}

}  // namespace

std::string FloatText(double value, char verb, int precision, int bits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  const bool is_upper = verb == 'E' || verb == 'G' || verb == 'X';
  std::string text = LowerText(value, is_upper ? static_cast<char>(verb | 0x20) : verb, precision, bits);
  if (is_upper) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  return text;
}

}  // namespace pintle::gotext
