// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/ascii.h"

namespace pintle {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Reads a text from its front.  Each function returns false or nullopt if the text does not continue as expected.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool Literal(char expected) {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<unsigned> Digits(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    unsigned value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (!IsDigit(c)) return std::nullopt;
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }

  // Reads the digits after a decimal point.  Digits beyond nanoseconds are dropped.
  std::optional<nanoseconds> Fraction() {
    std::int64_t value = 0;
    std::int64_t unit = 1'000'000'000;
    bool has_digits = false;
    while (const auto digit = Digits(1)) {
      has_digits = true;
      unit /= 10;
      value += static_cast<std::int64_t>(*digit) * unit;
    }
    return has_digits ? std::optional(nanoseconds(value)) : std::nullopt;
  }

  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<std::chrono::sys_days> ReadDate(Reader& reader) {
  const auto year = reader.Digits(4);
  if (!year || !reader.Literal('-')) return std::nullopt;
  const auto month = reader.Digits(2);
  if (!month || !reader.Literal('-')) return std::nullopt;
  const auto day = reader.Digits(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month),
                                         std::chrono::day(*day));
  return date.ok() ? std::optional(std::chrono::sys_days(date)) : std::nullopt;
}

std::optional<nanoseconds> ReadTimeOfDay(Reader& reader) {
  const auto hour = reader.Digits(2);
  if (!hour || *hour > 23 || !reader.Literal(':')) return std::nullopt;
  const auto minute = reader.Digits(2);
  if (!minute || *minute > 59 || !reader.Literal(':')) return std::nullopt;
  const auto second = reader.Digits(2);
  if (!second || *second > 60) return std::nullopt;  // 60 is a leap second.
  nanoseconds time = hours(*hour) + minutes(*minute) + seconds(*second);
  if (reader.Literal('.')) {
    const auto fraction = reader.Fraction();
    if (!fraction) return std::nullopt;
    time += *fraction;
  }
  return time;
}

std::optional<minutes> ReadOffset(Reader& reader) {
  if (reader.Literal('Z')) return minutes(0);
  const bool east = reader.Literal('+');
  if (!east && !reader.Literal('-')) return std::nullopt;
  const auto hour = reader.Digits(2);
  if (!hour || *hour > 23 || !reader.Literal(':')) return std::nullopt;
  const auto minute = reader.Digits(2);
  if (!minute || *minute > 59) return std::nullopt;
  const minutes offset = hours(*hour) + minutes(*minute);
  return east ? offset : -offset;
}

std::optional<WallTime> ReadTime(std::string_view text) {
  Reader reader(text);
  const auto date = ReadDate(reader);
  if (!date || !reader.Literal('T')) return std::nullopt;
  const auto time = ReadTimeOfDay(reader);
  if (!time) return std::nullopt;
  const auto offset = ReadOffset(reader);
  if (!offset || !reader.AtEnd()) return std::nullopt;
  // Our clock counts nanoseconds in 64 bits, which reach from the year 1678 to the year 2261.
  constexpr std::chrono::sys_days kFirst = std::chrono::year(1678) / std::chrono::January / 1;
  constexpr std::chrono::sys_days kLast = std::chrono::year(2262) / std::chrono::January / 1;
  const auto day = std::clamp(*date, kFirst, kLast);
  if (day != *date || day == kLast) return WallTime(day);
  return std::chrono::time_point_cast<WallTime::duration>(WallTime(day) + *time - *offset);
}

}  // namespace

std::string ToRfc3339(WallTime time) {
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

Result<WallTime> FromRfc3339(std::string_view text) {
  if (const auto time = ReadTime(text)) return *time;
  return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not a time such as 2026-11-21T05:41:43Z", text));
}

}  // namespace pintle
