// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints single values with the flags of a format.  A format may ask for millions of spaces for each element of a list.
// So when the text is longer than kLongestPrint (print.h), the values of further elements and fields are not printed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gotemplate/print.h"
#include "gotemplate/value.h"

namespace pintle::gotemplate {

// The width, the precision and the flags of a verb.  The flags - + # are called minus, plus and sharp.
struct PrintFlags {
  std::optional<std::size_t> width;
  std::optional<std::size_t> precision;
  bool minus = false;
  bool plus = false;
  bool sharp = false;
  bool space = false;
  bool zero = false;
  bool with_names = false;  // From %+v.
  bool as_source = false;   // From %#v.
};

class Printer {
 public:
  explicit Printer(std::string& to) : to_(to) {}

  PrintFlags& flags() { return flags_; }

  // Prints an argument of a function.  An invalid Value prints as nil.
  void PrintArgument(const Value& argument, char32_t verb);
  // Prints a value as Go prints an argument that is a reflect.Value.  An invalid Value has a text of its own.
  void PrintReflected(const Value& value, char32_t verb);
  // Prints a value, or an element or a field of a value, as Go prints a reflect.Value.
  void PrintValue(const Value& value, char32_t verb, std::size_t depth);

 private:
  enum class Signedness : std::uint8_t { kUnsigned, kSigned };
  enum class HexPrefix : std::uint8_t { kNone, k0x };

  bool is_full() const { return to_.size() > kLongestPrint; }

  void PrintBadVerb(char32_t verb);
  void PrintPadding(std::size_t width);
  void PrintPadded(std::string_view text);

  void PrintBool(bool value, char32_t verb);
  void PrintInteger(std::uint64_t value, Signedness signedness, char32_t verb);
  void PrintDigits(std::uint64_t value, unsigned base, Signedness signedness, char32_t verb);
  void PrintHex(std::uint64_t value, HexPrefix prefix);
  void PrintCharacter(std::uint64_t value);
  void PrintQuotedCharacter(std::uint64_t value);
  void PrintUnicode(std::uint64_t value);
  void PrintFloat(double value, int bits, char32_t verb);
  void PrintFloatDigits(double value, int bits, char verb, int precision);
  void PrintComplex(const Value& value, char32_t verb);
  void PrintText(std::string_view text, char32_t verb);
  void PrintPlain(std::string_view text);
  void PrintQuoted(std::string_view text);
  void PrintHexBytes(std::string_view text, bool is_upper);
  void PrintBytes(const Value& value, char32_t verb);
  void PrintSequence(const Value& value, char32_t verb, std::size_t depth);
  void PrintMap(const Value& value, char32_t verb, std::size_t depth);
  void PrintStruct(const Value& value, char32_t verb, std::size_t depth);
  void PrintPointer(const Value& value, char32_t verb, std::size_t depth);
  void PrintAddress(const Value& value, char32_t verb);

  std::string& to_;
  PrintFlags flags_;
  Value argument_;  // The value that PrintBadVerb() prints.
};

// Returns the name of the value's type as %T prints it.
std::string_view TypeName(const Value& value);

}  // namespace pintle::gotemplate
