// SPDX-License-Identifier: Apache-2.0
#include "generated/go_duration.h"

#include <fmt/core.h>

#include <cstddef>
#include <optional>

#include "base/ascii.h"

namespace pintle::generated {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 63;  // Only a negative duration can have this many nanoseconds.
constexpr std::uint64_t kMicrosecond = 1000;
constexpr std::uint64_t kMillisecond = 1000 * kMicrosecond;
constexpr std::uint64_t kSecond = 1000 * kMillisecond;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};

constexpr Unit kUnits[] = {
    {"ns", 1},
    {"us", kMicrosecond},
    {"\xC2\xB5s", kMicrosecond},  // The micro sign.
    {"\xCE\xBCs", kMicrosecond},  // The Greek letter mu.
    {"ms", kMillisecond},
    {"s", kSecond},
    {"m", kMinute},
    {"h", kHour},
};

// Quotes a text as Go's package time does, which differs from strconv.
std::string QuotedByTime(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || byte < ' ') {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

// Takes a whole number off the beginning of the text.  Returns nullopt if the number is too large.
std::optional<std::uint64_t> TakeWhole(std::string_view& text) {
  std::uint64_t number = 0;
  while (!text.empty() && IsDigit(text.front())) {
    if (number > kMost / 10) return {};
    number = number * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (number > kMost) return {};
    text.remove_prefix(1);
  }
  return number;
}

struct Fraction {
  std::uint64_t digits = 0;
  double scale = 1;  // 10 to the power of the number of digits: ".25" has the digits 25 and the scale 100.
};

// Takes the digits behind the point off the text.  Ignores those that no longer fit into the number.
Fraction TakeFraction(std::string_view& text) {
  Fraction fraction;
  bool is_full = false;
  for (; !text.empty() && IsDigit(text.front()); text.remove_prefix(1)) {
    if (is_full) continue;
    const std::uint64_t next = fraction.digits * 10 + static_cast<std::uint64_t>(text.front() - '0');
    is_full = fraction.digits > (kMost - 1) / 10 || next > kMost;
    if (is_full) continue;
    fraction.digits = next;
    fraction.scale *= 10;
  }
  return fraction;
}

std::string_view TakeUnit(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && text[end] != '.' && !IsDigit(text[end])) ++end;
  const std::string_view unit = text.substr(0, end);
  text.remove_prefix(end);
  return unit;
}

const Unit* FindUnit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

class DurationParser {
 public:
  explicit DurationParser(std::string_view text) : text_(text), rest_(text) {}

  Result<GoDuration> Parse() {
    const bool is_negative = rest_.starts_with('-');
    if (is_negative || rest_.starts_with('+')) rest_.remove_prefix(1);
    if (rest_ == "0") return GoDuration{};
    if (rest_.empty()) return Invalid();
    std::uint64_t sum = 0;
    while (!rest_.empty()) {
      sum += TRY(TakePart());
      if (sum > kMost) return Invalid();
    }
    if (is_negative) return GoDuration{static_cast<std::int64_t>(~sum + 1)};
    if (sum > kMost - 1) return Invalid();
    return GoDuration{static_cast<std::int64_t>(sum)};
  }

 private:
  Error Invalid() const { return Error(ErrorKind::kInvalid, "time: invalid duration " + QuotedByTime(text_)); }

  // Takes a number and its unit off the text.
  Result<std::uint64_t> TakePart() {
    const std::size_t before = rest_.size();
    const bool begins_well = rest_.front() == '.' || IsDigit(rest_.front());
    if (!begins_well) return Invalid();
    const auto number = TakeWhole(rest_);
    if (!number) return Invalid();
    bool has_digits = rest_.size() != before;
    Fraction fraction;
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      const std::size_t before_fraction = rest_.size();
      fraction = TakeFraction(rest_);
      has_digits = has_digits || rest_.size() != before_fraction;
    }
    if (!has_digits) return Invalid();
    const std::string_view name = TakeUnit(rest_);
    if (name.empty()) return Error(ErrorKind::kInvalid, "time: missing unit in duration " + QuotedByTime(text_));
    const Unit* unit = FindUnit(name);
    if (unit == nullptr) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("time: unknown unit {} in duration {}", QuotedByTime(name), QuotedByTime(text_)));
    }
    if (*number > kMost / unit->nanoseconds) return Invalid();
    std::uint64_t part = *number * unit->nanoseconds;
    if (fraction.digits > 0) {
      const double nanoseconds =
          static_cast<double>(fraction.digits) * (static_cast<double>(unit->nanoseconds) / fraction.scale);
      part += static_cast<std::uint64_t>(nanoseconds);
      if (part > kMost) return Invalid();
    }
    return part;
  }

  std::string_view text_;
  std::string_view rest_;
};

// Writes an amount in a larger unit: 3500 in units of 1000 is "3.5".
std::string InUnits(std::uint64_t amount, std::uint64_t unit) {
  std::string text = std::to_string(amount / unit);
  std::uint64_t rest = amount % unit;
  if (rest == 0) return text;
  text += '.';
  for (std::uint64_t digit = unit / 10; rest > 0; digit /= 10) {
    text += static_cast<char>('0' + rest / digit);
    rest %= digit;
  }
  return text;
}

std::string PositiveText(std::uint64_t nanoseconds) {
  if (nanoseconds < kMicrosecond) return fmt::format("{}ns", nanoseconds);
  if (nanoseconds < kMillisecond) return InUnits(nanoseconds, kMicrosecond) + "\xC2\xB5s";
  if (nanoseconds < kSecond) return InUnits(nanoseconds, kMillisecond) + "ms";
  std::string text;
  if (nanoseconds >= kHour) text += fmt::format("{}h", nanoseconds / kHour);
  if (nanoseconds >= kMinute) text += fmt::format("{}m", nanoseconds % kHour / kMinute);
  return text + InUnits(nanoseconds % kMinute, kSecond) + "s";
}

}  // namespace

Result<GoDuration> ParseGoDuration(std::string_view text) { return DurationParser(text).Parse(); }

std::string GoText(GoDuration duration) {
  const auto nanoseconds = static_cast<std::uint64_t>(duration.nanoseconds);
  if (nanoseconds == 0) return "0s";
  return duration.nanoseconds < 0 ? "-" + PositiveText(~nanoseconds + 1) : PositiveText(nanoseconds);
}

}  // namespace pintle::generated
