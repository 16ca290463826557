// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/ascii.h"
#include "gotext/float_text.h"

namespace pintle::machineconfig {
namespace {

constexpr int kBitsOfFloat = 32;
constexpr int kBitsOfDouble = 64;

bool SkipDigits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(end);
  return end > 0;
}

bool Skip(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

std::string WithoutUnderscores(std::string_view text) {
  std::string bare(text);
  bare.erase(std::remove(bare.begin(), bare.end(), '_'), bare.end());
  return bare;
}

// The next definitions read words, such as `true` and `.inf`.

struct Word {
  std::string_view text;
  PlainScalar meaning;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

std::optional<PlainScalar> MeaningOfWord(std::string_view text) {
  static const auto kWords = std::to_array<Word>({
      {"", Null{}},         {"~", Null{}},         {"null", Null{}},      {"Null", Null{}},      {"NULL", Null{}},
      {"y", true},          {"Y", true},           {"yes", true},         {"Yes", true},         {"YES", true},
      {"true", true},       {"True", true},        {"TRUE", true},        {"on", true},          {"On", true},
      {"ON", true},         {"n", false},          {"N", false},          {"no", false},         {"No", false},
      {"NO", false},        {"false", false},      {"False", false},      {"FALSE", false},      {"off", false},
      {"Off", false},       {"OFF", false},        {".nan", kNotANumber}, {".NaN", kNotANumber}, {".NAN", kNotANumber},
      {".inf", kInfinity},  {".Inf", kInfinity},   {".INF", kInfinity},   {"+.inf", kInfinity},  {"+.Inf", kInfinity},
      {"+.INF", kInfinity}, {"-.inf", -kInfinity}, {"-.Inf", -kInfinity}, {"-.INF", -kInfinity},
  });
  constexpr std::size_t kLongestWord = 5;
  if (text.size() > kLongestWord) return std::nullopt;
  const auto word = std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.text == text; });
  if (word == kWords.end()) return std::nullopt;
  return word->meaning;
}

// The next definitions read whole numbers.

// A number without its sign.
struct Magnitude {
  int base = 10;
  std::string_view digits;
};

// A leading 0 makes a number octal; 0x, 0o and 0b name the base.
Magnitude SplitBase(std::string_view text) {
  if (!text.starts_with('0') || text.size() == 1) return {10, text};
  if (text.size() > 2) {
    switch (text[1] | 0x20) {
      case 'x':
        return {16, text.substr(2)};
      case 'o':
        return {8, text.substr(2)};
      case 'b':
        return {2, text.substr(2)};
      default:
        break;
    }
  }
  return {8, text.substr(1)};
}

std::optional<std::uint64_t> ReadMagnitude(const Magnitude& magnitude) {
  std::uint64_t value = 0;
  const char* const end = magnitude.digits.data() + magnitude.digits.size();
  const auto [stop, error] = std::from_chars(magnitude.digits.data(), end, value, magnitude.base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<PlainScalar> WithSign(bool negative, std::uint64_t magnitude) {
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
  if (negative) {
    if (magnitude > kLowest) return std::nullopt;
    return static_cast<std::int64_t>(-magnitude);
  }
  if (magnitude < kLowest) return static_cast<std::int64_t>(magnitude);
  return std::nullopt;
}

std::optional<PlainScalar> ReadInteger(std::string_view text) {
  const bool has_sign = text.starts_with('+') || text.starts_with('-');
  const bool negative = text.starts_with('-');
  const auto magnitude = ReadMagnitude(SplitBase(text.substr(has_sign ? 1 : 0)));
  if (!magnitude) return std::nullopt;
  if (auto value = WithSign(negative, *magnitude)) return value;
  if (!has_sign) return *magnitude;
  return std::nullopt;
}

// yaml.v2 also accepts a sign after 0b.
std::optional<PlainScalar> ReadOddBinary(std::string_view text) {
  if (!text.starts_with("0b+") && !text.starts_with("0b-")) return std::nullopt;
  const auto magnitude = ReadMagnitude({2, text.substr(3)});
  if (!magnitude) return std::nullopt;
  return WithSign(text[2] == '-', *magnitude);
}

// The next functions read fractions.

// Matches [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  if (!Skip(text, '-')) Skip(text, '+');
  if (Skip(text, '.')) {
    if (!SkipDigits(text)) return false;
  } else {
    if (!SkipDigits(text)) return false;
    if (Skip(text, '.')) SkipDigits(text);
  }
  if (Skip(text, 'e') || Skip(text, 'E')) {
    if (!Skip(text, '-')) Skip(text, '+');
    if (!SkipDigits(text)) return false;
  }
  return text.empty();
}

// Returns nullopt for a number that is too large.
std::optional<PlainScalar> ReadFloat(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  Skip(text, '+');
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // from_chars() does not distinguish a number that is too large from one that is too small, which is zero.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

// Returns whether each underscore is between two digits.
bool HasUnderscoresInPlace(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    const bool between = i > 0 && IsDigit(text[i - 1]) && i + 1 < text.size() && IsDigit(text[i + 1]);
    if (!between) return false;
  }
  return true;
}

// Reads a number that begins with a dot.
std::optional<PlainScalar> ReadFloatFromDot(std::string_view text) {
  if (!HasUnderscoresInPlace(text)) return std::nullopt;
  return ReadFloat(WithoutUnderscores(text));
}

// The next functions recognise times in the forms that Go's time.Parse() accepts for 2006-1-2, with or without a time
// of day.

// Reads one or two digits.
std::optional<int> ReadShortNumber(std::string_view& text) {
  if (text.empty() || !IsDigit(text[0])) return std::nullopt;
  const std::size_t length = text.size() > 1 && IsDigit(text[1]) ? 2 : 1;
  int value = 0;
  std::from_chars(text.data(), text.data() + length, value);
  text.remove_prefix(length);
  return value;
}

bool SkipNumberUpTo(std::string_view& text, int highest) {
  const auto value = ReadShortNumber(text);
  return value && *value <= highest;
}

int DaysIn(int year, int month) {
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap ? 1 : 0);
}

bool SkipDate(std::string_view& text) {
  int year = 0;
  if (text.size() < 5 || text[4] != '-') return false;
  if (!std::all_of(text.begin(), text.begin() + 4, IsDigit)) return false;
  std::from_chars(text.data(), text.data() + 4, year);
  text.remove_prefix(5);
  const auto month = ReadShortNumber(text);
  if (!month || *month < 1 || *month > 12 || !Skip(text, '-')) return false;
  const auto day = ReadShortNumber(text);
  return day && *day >= 1 && *day <= DaysIn(year, *month);
}

bool SkipTimeOfDay(std::string_view& text) {
  if (!SkipNumberUpTo(text, 23) || !Skip(text, ':')) return false;
  if (!SkipNumberUpTo(text, 59) || !Skip(text, ':')) return false;
  if (!SkipNumberUpTo(text, 59)) return false;
  if (text.size() > 1 && (text[0] == '.' || text[0] == ',') && IsDigit(text[1])) {
    text.remove_prefix(1);
    SkipDigits(text);
  }
  return true;
}

// Skips "Z", or an offset such as "+01:00" with two digits each.
bool SkipZone(std::string_view& text) {
  if (Skip(text, 'Z')) return true;
  if (text.size() < 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return false;
  std::string_view hour = text.substr(1, 2);
  std::string_view minute = text.substr(4, 2);
  text.remove_prefix(6);
  return SkipNumberUpTo(hour, 24) && hour.empty() && SkipNumberUpTo(minute, 60) && minute.empty();
}

bool IsTimestamp(std::string_view text) {
  if (!SkipDate(text)) return false;
  if (text.empty()) return true;
  if (Skip(text, 'T') || Skip(text, 't')) return SkipTimeOfDay(text) && SkipZone(text) && text.empty();
  if (!text.starts_with(' ')) return false;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return SkipTimeOfDay(text) && text.empty();
}

PlainScalar MeaningOfNumberLike(std::string_view text) {
  if (IsTimestamp(text)) return Timestamp{};
  const std::string bare = WithoutUnderscores(text);
  if (auto integer = ReadInteger(bare)) return *integer;
  if (auto number = ReadFloat(bare)) return *number;
  if (auto integer = ReadOddBinary(bare)) return *integer;
  return Text{};
}

}  // namespace

PlainScalar MeaningOf(std::string_view plain) {
  if (plain.empty()) return Null{};
  const char first = plain[0];
  if (IsDigit(first)) return MeaningOfNumberLike(plain);
  switch (first) {
    case '+':
    case '-':
      if (auto meaning = MeaningOfWord(plain)) return *meaning;
      return MeaningOfNumberLike(plain);
    case '.':
      if (auto meaning = MeaningOfWord(plain)) return *meaning;
      if (auto number = ReadFloatFromDot(plain)) return *number;
      return Text{};
    default:
      if (auto meaning = MeaningOfWord(plain)) return *meaning;
      return Text{};
  }
}

std::optional<Number> ThroughJson(double number) {
  if (!std::isfinite(number)) return std::nullopt;
  constexpr double kHighest = 18446744073709551616.0;  // 2^64
  if (number != std::trunc(number) || std::fabs(number) >= kHighest) return number;
  if (number == 0) return std::int64_t{0};
  const auto meaning = ReadInteger(gotext::FloatText(number, 'f', gotext::kShortest, kBitsOfDouble));
  if (!meaning) return number;
  if (const auto* integer = std::get_if<std::int64_t>(&*meaning)) return *integer;
  return std::get<std::uint64_t>(*meaning);
}

std::string GoNumberText(double number) { return gotext::FloatText(number, 'g', gotext::kShortest, kBitsOfDouble); }
std::string GoNumberText(float number) { return gotext::FloatText(number, 'g', gotext::kShortest, kBitsOfFloat); }

}  // namespace pintle::machineconfig
