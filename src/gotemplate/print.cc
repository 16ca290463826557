// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/print.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "gotemplate/invalid.h"
#include "gotemplate/printer.h"
#include "gotext/unicode.h"

namespace pintle::gotemplate {
namespace {

// The limit of a width, a precision or an argument number.  As in Go, a number in the format is compared with this
// limit before its last digit is read, so such a number can be ten times as large.
constexpr std::size_t kLargestNumber = 1'000'000;

class FormatPrinter {
 public:
  FormatPrinter(std::string_view format, std::span<const Value> arguments)
      : rest_(format), arguments_(arguments), printer_(text_) {}

  Result<std::string> Run();

 private:
  void PrintVerb();
  // Takes the flags.  If the verb, a lowercase letter, follows them directly, and there is an argument for the verb,
  // prints the argument and returns true.
  bool TakeFlags();
  void TakeArgumentNumber();
  void TakeWidth();
  void TakePrecision();
  void TakeVerb();
  void PrintExtraArguments();
  std::optional<std::size_t> TakeNumber();
  // Takes the next argument as a width or a precision.  A negative width aligns to the left.  Returns nullopt if there
  // is no argument, or if it is not a whole number within the limit.
  std::optional<std::int64_t> NumberArgument();
  void PrintWith(char32_t verb);

  std::string_view rest_;
  const std::span<const Value> arguments_;
  std::string text_;
  Printer printer_;
  std::size_t next_ = 0;                 // The index of the next argument.
  bool has_argument_number_ = false;     // Whether an argument number was just read.
  bool is_argument_number_good_ = true;  // Whether the argument numbers of this verb are valid.
  bool is_reordered_ = false;            // Whether the format has used an argument number.
};

Result<std::string> FormatPrinter::Run() {
  while (!rest_.empty()) {
    const std::size_t percent = std::min(rest_.find('%'), rest_.size());
    text_ += rest_.substr(0, percent);
    rest_.remove_prefix(percent);
    if (rest_.empty()) break;
    rest_.remove_prefix(1);
    PrintVerb();
    TRY(CheckLength(text_));
  }
  if (!is_reordered_ && next_ < arguments_.size()) PrintExtraArguments();
  TRY(CheckLength(text_));
  return std::move(text_);
}

void FormatPrinter::PrintVerb() {
  printer_.flags() = {};
  is_argument_number_good_ = true;
  has_argument_number_ = false;
  if (TakeFlags()) return;
  TakeArgumentNumber();
  TakeWidth();
  TakePrecision();
  if (!has_argument_number_) TakeArgumentNumber();
  TakeVerb();
}

bool FormatPrinter::TakeFlags() {
  PrintFlags& flags = printer_.flags();
  for (; !rest_.empty(); rest_.remove_prefix(1)) {
    switch (rest_.front()) {
      case '#':
        flags.sharp = true;
        break;
      case '0':
        flags.zero = true;
        break;
      case '+':
        flags.plus = true;
        break;
      case '-':
        flags.minus = true;
        break;
      case ' ':
        flags.space = true;
        break;
      default: {
        const char c = rest_.front();
        if (c < 'a' || c > 'z' || next_ >= arguments_.size()) return false;
        rest_.remove_prefix(1);
        PrintWith(static_cast<unsigned char>(c));
        return true;
      }
    }
  }
  return false;
}

void FormatPrinter::PrintWith(char32_t verb) {
  PrintFlags& flags = printer_.flags();
  if (verb == 'v') {
    flags.as_source = std::exchange(flags.sharp, false);
    flags.with_names = std::exchange(flags.plus, false);
  }
  printer_.PrintArgument(arguments_[next_++], verb);
}

// Takes an argument number, such as [3].
void FormatPrinter::TakeArgumentNumber() {
  has_argument_number_ = false;
  if (!rest_.starts_with('[')) return;
  is_reordered_ = true;
  const std::size_t end = rest_.find(']');
  if (end == std::string_view::npos || rest_.size() < 3) {
    is_argument_number_good_ = false;
    rest_.remove_prefix(1);
    return;
  }
  const std::string_view behind = rest_.substr(end + 1);
  rest_ = rest_.substr(1, end - 1);
  const auto argument_number = TakeNumber();
  const bool is_number = argument_number && rest_.empty();
  rest_ = behind;
  has_argument_number_ = is_number;
  if (is_number && *argument_number >= 1 && *argument_number <= arguments_.size()) {
    next_ = *argument_number - 1;
  } else {
    is_argument_number_good_ = false;
  }
}

std::optional<std::size_t> FormatPrinter::TakeNumber() {
  std::optional<std::size_t> number;
  while (!rest_.empty() && IsDigit(rest_.front())) {
    if (number.value_or(0) > kLargestNumber) {
      rest_ = {};  // As in Go, the text after such a number is not read.
      return std::nullopt;
    }
    number = number.value_or(0) * 10 + static_cast<std::size_t>(rest_.front() - '0');
    rest_.remove_prefix(1);
  }
  return number;
}

std::optional<std::int64_t> FormatPrinter::NumberArgument() {
  if (next_ >= arguments_.size()) return std::nullopt;
  const Value argument = WithoutInterface(arguments_[next_++]);
  std::int64_t number = 0;
  if (IsSigned(argument.kind())) {
    number = argument.integer();
  } else if (IsUnsigned(argument.kind()) && argument.unsigned_integer() <= kLargestNumber) {
    number = static_cast<std::int64_t>(argument.unsigned_integer());
  } else {
    return std::nullopt;
  }
  constexpr auto kLargest = static_cast<std::int64_t>(kLargestNumber);
  if (number > kLargest || number < -kLargest) return std::nullopt;
  return number;
}

void FormatPrinter::TakeWidth() {
  PrintFlags& flags = printer_.flags();
  if (!rest_.starts_with('*')) {
    flags.width = TakeNumber();
    if (has_argument_number_ && flags.width) is_argument_number_good_ = false;
    return;
  }
  rest_.remove_prefix(1);
  const auto width = NumberArgument();
  if (!width) text_ += "%!(BADWIDTH)";
  if (width && *width < 0) {
    flags.minus = true;
    flags.zero = false;
  }
  if (width) flags.width = static_cast<std::size_t>(*width < 0 ? -*width : *width);
  has_argument_number_ = false;
}

void FormatPrinter::TakePrecision() {
  if (!rest_.starts_with('.') || rest_.size() < 2) return;  // As in Go, a point at the end is a verb.
  rest_.remove_prefix(1);
  if (has_argument_number_) is_argument_number_good_ = false;
  TakeArgumentNumber();
  PrintFlags& flags = printer_.flags();
  if (!rest_.starts_with('*')) {
    flags.precision = TakeNumber().value_or(0);
    return;
  }
  rest_.remove_prefix(1);
  const auto precision = NumberArgument();
  if (precision && *precision >= 0) {
    flags.precision = static_cast<std::size_t>(*precision);
  } else {
    text_ += "%!(BADPREC)";
  }
  has_argument_number_ = false;
}

void FormatPrinter::TakeVerb() {
  if (rest_.empty()) {
    text_ += "%!(NOVERB)";
    return;
  }
  const gotext::Rune verb = gotext::FirstRune(rest_);
  rest_.remove_prefix(verb.bytes);
  if (verb.value == '%') {
    text_ += '%';
  } else if (!is_argument_number_good_ || next_ >= arguments_.size()) {
    text_ += "%!";
    gotext::AppendRune(verb.value, text_);
    text_ += is_argument_number_good_ ? "(MISSING)" : "(BADINDEX)";
  } else {
    PrintWith(verb.value);
  }
}

// Reports arguments that the format does not use.
void FormatPrinter::PrintExtraArguments() {
  printer_.flags() = {};
  text_ += "%!(EXTRA ";
  const char* separator = "";
  for (const Value& argument : arguments_.subspan(next_)) {
    if (!CheckLength(text_)) return;
    text_ += separator;
    separator = ", ";
    if (const Value value = WithoutInterface(argument); value.is_valid()) {
      text_ += TypeName(value);
      text_ += '=';
      printer_.PrintArgument(value, 'v');
    } else {
      text_ += "<nil>";
    }
  }
  text_ += ')';
}

}  // namespace

Result<> CheckLength(std::string_view text) {
  if (text.size() <= kLongestPrint) return {};
  return Invalid("the text would be too long");
}

Result<std::string> Print(std::span<const Value> values) {
  std::string text;
  Printer printer(text);
  bool was_text = true;  // No space comes before the first argument.
  for (const Value& value : values) {
    const bool is_text = WithoutInterface(value).kind() == Kind::kString;
    if (!was_text && !is_text) text += ' ';
    printer.PrintArgument(value, 'v');
    TRY(CheckLength(text));
    was_text = is_text;
  }
  return text;
}

Result<std::string> PrintLine(std::span<const Value> values) {
  std::string text;
  Printer printer(text);
  for (const Value& value : values) {
    if (!text.empty() || &value != values.data()) text += ' ';
    printer.PrintArgument(value, 'v');
    TRY(CheckLength(text));
  }
  text += '\n';
  return text;
}

Result<std::string> PrintFormat(std::string_view format, std::span<const Value> values) {
  return FormatPrinter(format, values).Run();
}

std::string FormattedValue(const Value& value, char verb) {
  std::string text;
  Printer(text).PrintReflected(value, static_cast<unsigned char>(verb));
  return text;
}

}  // namespace pintle::gotemplate
