// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/number.h"

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "base/ascii.h"
#include "gotext/quote.h"

namespace pintle::gotemplate {
namespace {

char Lower(char c) { return static_cast<char>(c | 0x20); }

// Checks that underscores only separate digits.  The prefix of a base (0b, 0o or 0x) counts as a digit.
bool HasGoodUnderscores(std::string_view text) {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  char previous = '^';  // The previous character: '0' stands for any digit, '!' for others, and '^' for the beginning.
  bool is_hex = false;
  if (text.size() >= 2 && text[0] == '0' && std::string_view("box").find(Lower(text[1])) != std::string_view::npos) {
    is_hex = Lower(text[1]) == 'x';
    previous = '0';
    text.remove_prefix(2);
  }
  for (const char c : text) {
    if (IsDigit(c) || (is_hex && Lower(c) >= 'a' && Lower(c) <= 'f')) {
      previous = '0';
    } else if (c == '_') {
      if (previous != '0') return false;
      previous = '_';
    } else {
      if (previous == '_') return false;
      previous = '!';
    }
  }
  return previous != '_';
}

std::optional<std::string> WithoutUnderscores(std::string_view text) {
  std::string plain(text);
  if (text.find('_') == std::string_view::npos) return plain;
  if (!HasGoodUnderscores(text)) return std::nullopt;
  std::erase(plain, '_');
  return plain;
}

// Parses digits without a sign.  The prefixes 0x, 0o, 0b and a leading 0 set the base.
std::optional<std::uint64_t> ReadUnsigned(std::string_view text) {
  auto digits = WithoutUnderscores(text);
  if (!digits || digits->empty()) return std::nullopt;
  int base = 10;
  std::size_t prefix = 0;
  if (digits->front() == '0' && digits->size() > 1) {
    const char letter = Lower((*digits)[1]);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    prefix = letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1;
  }
  std::uint64_t value = 0;
  const char* end = digits->data() + digits->size();
  const auto [at, error] = std::from_chars(digits->data() + prefix, end, value, base);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ReadInteger(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const auto value = ReadUnsigned(text);
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  if (!value || *value > kLimit || (!is_negative && *value == kLimit)) return std::nullopt;
  return static_cast<std::int64_t>(is_negative ? 0 - *value : *value);
}

std::optional<double> ReadReal(std::string_view text) {
  auto plain = WithoutUnderscores(text);
  if (!plain) return std::nullopt;
  std::string_view digits = *plain;
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool is_hex = digits.size() > 2 && digits[0] == '0' && Lower(digits[1]) == 'x';
  if (is_hex) {
    if (digits.find_first_of("pP") == std::string_view::npos) return std::nullopt;
    digits.remove_prefix(2);
  }
  if (digits.empty() || digits.front() == '-' || digits.front() == '+') return std::nullopt;
  if (!is_hex && !IsDigit(digits.front()) && digits.front() != '.') return std::nullopt;
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, error] =
      std::from_chars(digits.data(), end, value, is_hex ? std::chars_format::hex : std::chars_format::general);
  if (at != end) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // A number that is too close to zero becomes zero.
    const std::size_t exponent = digits.find_last_of(is_hex ? "pP" : "eE");
    if (exponent == std::string_view::npos || digits[exponent + 1] != '-') return std::nullopt;
    value = 0;
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  return is_negative ? -value : value;
}

// A floating-point constant with a whole value, such as 1e3, can also be used as an integer.
void AddWholeNumbers(Number& number) {
  const double real = *number.real;
  if (std::trunc(real) != real) return;
  if (!number.integer && real >= -0x1p63 && real < 0x1p63) number.integer = static_cast<std::int64_t>(real);
  if (!number.unsigned_integer && real >= 0 && real < 0x1p64) {
    number.unsigned_integer = static_cast<std::uint64_t>(real);
  }
}

Number Complex(double real, double imaginary) {
  Number number;
  number.complex = std::complex<double>(real, imaginary);
  if (imaginary == 0) {
    number.real = real;
    AddWholeNumbers(number);
  }
  return number;
}

Error IllegalSyntax(std::string_view text) {
  return Error(ErrorKind::kInvalid, "illegal number syntax: " + gotext::Quoted(text));
}

}  // namespace

Result<Number> ReadNumber(std::string_view text) {
  if (text.ends_with('i')) {
    if (const auto imaginary = ReadReal(text.substr(0, text.size() - 1))) return Complex(0, *imaginary);
  }
  Number number;
  number.unsigned_integer = ReadUnsigned(text);
  number.integer = ReadInteger(text);
  if (number.integer == 0) number.unsigned_integer = 0;  // The text may be -0.
  if (number.integer) {
    number.real = static_cast<double>(*number.integer);
  } else if (number.unsigned_integer) {
    number.real = static_cast<double>(*number.unsigned_integer);
  } else if (const auto real = ReadReal(text)) {
    // A number that has neither a point nor an exponent, and fits no integer type, is too large.
    if (text.find_first_of(".eEpP") == std::string_view::npos) {
      return Error(ErrorKind::kInvalid, "integer overflow: " + gotext::Quoted(text));
    }
    number.real = real;
    AddWholeNumbers(number);
  } else {
    return IllegalSyntax(text);
  }
  return number;
}

Result<Number> ReadComplex(std::string_view text) {
  // The sign between the parts is the last sign that does not belong to an exponent.
  const std::size_t sign = [&] {
    std::size_t at = text.find_last_of("+-");
    while (at > 0 && at != std::string_view::npos &&
           std::string_view("ep").find(Lower(text[at - 1])) != std::string_view::npos) {
      at = text.find_last_of("+-", at - 1);
    }
    return at;
  }();
  if (sign == 0 || sign == std::string_view::npos || !text.ends_with('i')) return IllegalSyntax(text);
  std::string_view first = text.substr(0, sign);
  if (first.ends_with('i')) return IllegalSyntax(text);
  const auto real = ReadReal(first);
  const auto imaginary = ReadReal(text.substr(sign, text.size() - sign - 1));
  if (!real || !imaginary) return IllegalSyntax(text);
  return Complex(*real, *imaginary);
}

Result<Number> ReadCharacter(std::string_view text) {
  const auto rune = gotext::FirstUnquotedRune(text.substr(1), '\'');
  if (!rune) return Error(ErrorKind::kInvalid, "invalid syntax");
  if (rune->rest != "'") return Error(ErrorKind::kInvalid, "malformed character constant: " + std::string(text));
  Number number;
  number.integer = static_cast<std::int64_t>(rune->value);
  number.unsigned_integer = rune->value;
  number.real = static_cast<double>(rune->value);
  return number;
}

}  // namespace pintle::gotemplate
