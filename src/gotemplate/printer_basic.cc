// SPDX-License-Identifier: Apache-2.0

// Prints numbers, characters and texts.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gotemplate/printer.h"
#include "gotext/float_text.h"
#include "gotext/quote.h"
#include "gotext/unicode.h"

namespace pintle::gotemplate {
namespace {

// The letter behind the digits belongs to the prefix 0x.
constexpr std::string_view kLowerDigits = "0123456789abcdefx";
constexpr std::string_view kUpperDigits = "0123456789ABCDEFX";

char32_t RuneOf(std::uint64_t value) { return value > 0x10ffff ? gotext::kRuneError : static_cast<char32_t>(value); }

// Adds the point and the zeros after it, which %#g and similar verbs print.
void KeepZeros(std::string& number, char verb, int precision) {
  int digits = 0;
  if (verb == 'g' || verb == 'G' || verb == 'x') digits = precision == gotext::kShortest ? 6 : precision;
  const bool is_hex = verb == 'x' || verb == 'X';
  const std::size_t tail_at = number.find_first_of(is_hex ? "pP" : "eEpP", 1);
  const std::string tail = tail_at == std::string::npos ? "" : number.substr(tail_at);
  if (tail_at != std::string::npos) number.resize(tail_at);
  bool has_point = false;
  bool has_nonzero_digit = false;
  for (std::size_t i = 1; i < number.size(); ++i) {
    if (number[i] == '.') {
      has_point = true;
      continue;
    }
    has_nonzero_digit = has_nonzero_digit || number[i] != '0';
    if (has_nonzero_digit) --digits;
  }
  if (!has_point) {
    if (number.size() == 2 && number[1] == '0') --digits;
    number += '.';
  }
  for (; digits > 0; --digits) number += '0';
  number += tail;
}

}  // namespace

void Printer::PrintPadding(std::size_t width) { to_.append(width, flags_.zero && !flags_.minus ? '0' : ' '); }

void Printer::PrintPadded(std::string_view text) {
  const std::size_t length = flags_.width ? gotext::CountRunes(text) : 0;
  const std::size_t padding = flags_.width && *flags_.width > length ? *flags_.width - length : 0;
  if (!flags_.minus) PrintPadding(padding);
  to_ += text;
  if (flags_.minus) PrintPadding(padding);
}

void Printer::PrintBool(bool value, char32_t verb) {
  if (verb != 't' && verb != 'v') return PrintBadVerb(verb);
  PrintPadded(value ? "true" : "false");
}

void Printer::PrintInteger(std::uint64_t value, Signedness signedness, char32_t verb) {
  switch (verb) {
    case 'v':
      if (flags_.as_source && signedness == Signedness::kUnsigned) return PrintHex(value, HexPrefix::k0x);
      return PrintDigits(value, 10, signedness, verb);
    case 'd':
      return PrintDigits(value, 10, signedness, verb);
    case 'b':
      return PrintDigits(value, 2, signedness, verb);
    case 'o':
    case 'O':
      return PrintDigits(value, 8, signedness, verb);
    case 'x':
    case 'X':
      return PrintDigits(value, 16, signedness, verb);
    case 'c':
      return PrintCharacter(value);
    case 'q':
      return PrintQuotedCharacter(value);
    case 'U':
      return PrintUnicode(value);
    default:
      return PrintBadVerb(verb);
  }
}

void Printer::PrintDigits(std::uint64_t value, unsigned base, Signedness signedness, char32_t verb) {
  const bool is_negative = signedness == Signedness::kSigned && static_cast<std::int64_t>(value) < 0;
  if (is_negative) value = 0 - value;
  const bool had_zero = flags_.zero;
  std::size_t min_digits = 0;
  if (flags_.precision) {
    min_digits = *flags_.precision;
    if (min_digits == 0 && value == 0) {
      flags_.zero = false;
      PrintPadding(flags_.width.value_or(0));
      flags_.zero = had_zero;
      return;
    }
  } else if (flags_.zero && !flags_.minus && flags_.width) {
    const bool has_sign = is_negative || flags_.plus || flags_.space;
    min_digits = *flags_.width - (has_sign && *flags_.width > 0 ? 1 : 0);
  }
  const std::string_view digits = verb == 'X' ? kUpperDigits : kLowerDigits;
  std::string text;  // The digits, the last one first.
  do {
    text += digits[value % base];
    value /= base;
  } while (value != 0);
  if (text.size() < min_digits) text.append(min_digits - text.size(), '0');
  if (flags_.sharp && base == 2) text += "b0";
  if (flags_.sharp && base == 8 && text.back() != '0') text += '0';
  if (flags_.sharp && base == 16) {
    text += digits[16];
    text += '0';
  }
  if (verb == 'O') text += "o0";
  if (is_negative) {
    text += '-';
  } else if (flags_.plus) {
    text += '+';
  } else if (flags_.space) {
    text += ' ';
  }
  std::reverse(text.begin(), text.end());
  flags_.zero = false;
  PrintPadded(text);
  flags_.zero = had_zero;
}

void Printer::PrintHex(std::uint64_t value, HexPrefix prefix) {
  const bool had_sharp = flags_.sharp;
  flags_.sharp = prefix == HexPrefix::k0x;
  PrintDigits(value, 16, Signedness::kUnsigned, 'v');
  flags_.sharp = had_sharp;
}

void Printer::PrintCharacter(std::uint64_t value) {
  std::string text;
  gotext::AppendRune(RuneOf(value), text);
  PrintPadded(text);
}

void Printer::PrintQuotedCharacter(std::uint64_t value) {
  PrintPadded(gotext::QuotedRune(RuneOf(value), flags_.plus ? gotext::OnlyAscii::kYes : gotext::OnlyAscii::kNo));
}

void Printer::PrintUnicode(std::uint64_t value) {
  std::string digits = fmt::format("{:X}", value);
  const std::size_t min_digits = std::max<std::size_t>(flags_.precision.value_or(0), 4);
  if (digits.size() < min_digits) digits.insert(0, min_digits - digits.size(), '0');
  std::string text = "U+" + digits;
  if (flags_.sharp && value <= 0x10ffff && gotext::IsPrintable(static_cast<char32_t>(value))) {
    text += " '";
    gotext::AppendRune(static_cast<char32_t>(value), text);
    text += '\'';
  }
  const bool had_zero = flags_.zero;
  flags_.zero = false;
  PrintPadded(text);
  flags_.zero = had_zero;
}

void Printer::PrintFloat(double value, int bits, char32_t verb) {
  switch (verb) {
    case 'v':
      return PrintFloatDigits(value, bits, 'g', gotext::kShortest);
    case 'b':
    case 'g':
    case 'G':
    case 'x':
    case 'X':
      return PrintFloatDigits(value, bits, static_cast<char>(verb), gotext::kShortest);
    case 'e':
    case 'E':
    case 'f':
      return PrintFloatDigits(value, bits, static_cast<char>(verb), 6);
    case 'F':
      return PrintFloatDigits(value, bits, 'f', 6);
    default:
      return PrintBadVerb(verb);
  }
}

void Printer::PrintFloatDigits(double value, int bits, char verb, int precision) {
  if (flags_.precision) precision = static_cast<int>(*flags_.precision);
  std::string number = gotext::FloatText(value, verb, precision, bits);
  if (number.front() != '-' && number.front() != '+') number.insert(0, "+");
  if (flags_.space && number.front() == '+' && !flags_.plus) number.front() = ' ';
  const bool had_zero = flags_.zero;
  if (!std::isfinite(value)) {
    flags_.zero = false;
    if (std::isnan(value) && !flags_.space && !flags_.plus) number.erase(0, 1);
    PrintPadded(number);
    flags_.zero = had_zero;
    return;
  }
  if (flags_.sharp && verb != 'b') KeepZeros(number, verb, precision);
  if (!flags_.plus && number.front() == '+') return PrintPadded(std::string_view(number).substr(1));
  if (flags_.zero && !flags_.minus && flags_.width && *flags_.width > number.size()) {
    // The sign comes before the zeros.
    to_ += number.front();
    PrintPadding(*flags_.width - number.size());
    to_ += std::string_view(number).substr(1);
    return;
  }
  PrintPadded(number);
}

void Printer::PrintComplex(const Value& value, char32_t verb) {
  constexpr std::u32string_view kVerbs = U"vbgGxXfFeE";
  if (kVerbs.find(verb) == std::u32string_view::npos) return PrintBadVerb(verb);
  const bool had_plus = flags_.plus;
  to_ += '(';
  PrintFloat(value.complex().real(), 64, verb);
  flags_.plus = true;
  PrintFloat(value.complex().imag(), 64, verb);
  to_ += "i)";
  flags_.plus = had_plus;
}

void Printer::PrintText(std::string_view text, char32_t verb) {
  switch (verb) {
    case 'v':
      return flags_.as_source ? PrintQuoted(text) : PrintPlain(text);
    case 's':
      return PrintPlain(text);
    case 'q':
      return PrintQuoted(text);
    case 'x':
    case 'X':
      return PrintHexBytes(text, verb == 'X');
    default:
      return PrintBadVerb(verb);
  }
}

void Printer::PrintPlain(std::string_view text) {
  PrintPadded(flags_.precision ? gotext::FirstRunes(text, *flags_.precision) : text);
}

void Printer::PrintQuoted(std::string_view text) {
  if (flags_.precision) text = gotext::FirstRunes(text, *flags_.precision);
  if (flags_.sharp && gotext::CanBackquote(text)) return PrintPadded("`" + std::string(text) + "`");
  PrintPadded(gotext::Quoted(text, flags_.plus ? gotext::OnlyAscii::kYes : gotext::OnlyAscii::kNo));
}

void Printer::PrintHexBytes(std::string_view text, bool is_upper) {
  if (flags_.precision) text = text.substr(0, *flags_.precision);
  const std::string_view digits = is_upper ? kUpperDigits : kLowerDigits;
  std::string hex;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (flags_.space && i > 0) hex += ' ';
    if (flags_.sharp && (flags_.space || i == 0)) {
      hex += '0';
      hex += digits[16];
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  PrintPadded(hex);
}

}  // namespace pintle::gotemplate
