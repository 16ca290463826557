// SPDX-License-Identifier: Apache-2.0
#include "base/time_span.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include "base/ascii.h"

namespace pintle {
namespace {

using std::chrono::milliseconds;

constexpr auto kLongestTime = std::chrono::hours(24 * 365);

std::string_view WithoutSpaceBefore(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r"), text.size()));
}

Error Must(std::string requirement) { return Error(ErrorKind::kInvalid, "must " + std::move(requirement)); }

struct Unit {
  std::string_view name;
  milliseconds length;
};
constexpr auto kUnits = std::to_array<Unit>({
    {"", std::chrono::seconds(1)},
    {"ms", milliseconds(1)},
    {"msec", milliseconds(1)},
    {"s", std::chrono::seconds(1)},
    {"sec", std::chrono::seconds(1)},
    {"second", std::chrono::seconds(1)},
    {"m", std::chrono::minutes(1)},
    {"min", std::chrono::minutes(1)},
    {"minute", std::chrono::minutes(1)},
    {"h", std::chrono::hours(1)},
    {"hr", std::chrono::hours(1)},
    {"hour", std::chrono::hours(1)},
    {"d", std::chrono::hours(24)},
    {"day", std::chrono::hours(24)},
    {"w", std::chrono::hours(168)},
    {"week", std::chrono::hours(168)},
    {"hours", std::chrono::hours(1)},
    {"days", std::chrono::hours(24)},
    {"weeks", std::chrono::hours(168)},
    {"minutes", std::chrono::minutes(1)},
    {"seconds", std::chrono::seconds(1)},
});

}  // namespace

Result<milliseconds> ParseTimeSpan(std::string_view text) {
  const auto syntax_error = [] { return Must("be a time such as 90, 5s, 10min or 1h 30min"); };
  std::string_view left = WithoutSpaceBefore(text);
  if (left.empty()) return syntax_error();
  milliseconds time(0);
  while (!left.empty()) {
    std::int32_t count = 0;
    if (!IsDigit(left.front())) return syntax_error();
    const auto [end, failed] = std::from_chars(left.data(), left.data() + left.size(), count);
    if (failed != std::errc()) return syntax_error();
    left = WithoutSpaceBefore(left.substr(static_cast<std::size_t>(end - left.data())));
    const auto unit_end = std::find_if_not(left.begin(), left.end(), IsLower);
    const std::string_view name = left.substr(0, static_cast<std::size_t>(unit_end - left.begin()));
    const auto unit =
        std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& candidate) { return candidate.name == name; });
    if (unit == kUnits.end()) return syntax_error();
    time += count * unit->length;
    if (time > kLongestTime) return Must("be a year at most");
    left = WithoutSpaceBefore(left.substr(name.size()));
  }
  return time;
}

std::string GoTimeSpan(std::chrono::seconds span) {
  const auto count = span.count();
  std::string text = fmt::format("{}s", count % 60);
  if (count >= 60) text = fmt::format("{}m{}", count / 60 % 60, text);
  if (count >= 3600) text = fmt::format("{}h{}", count / 3600, text);
  return text;
}

std::string InWords(std::chrono::nanoseconds span) {
  const auto text = [](long long count, const char* unit) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  };
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(span).count();
  if (seconds >= 3600 && seconds % 3600 == 0) return text(seconds / 3600, "hour");
  if (seconds >= 60 && seconds % 60 == 0) return text(seconds / 60, "minute");
  return text(seconds, "second");
}

}  // namespace pintle
