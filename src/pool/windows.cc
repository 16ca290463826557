// SPDX-License-Identifier: Apache-2.0
#include "pool/windows.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/time_span.h"

namespace pintle::pool {
namespace {

using std::chrono::days;
using std::chrono::local_days;

constexpr auto kDayNames = std::to_array<std::string_view>({"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"});
constexpr auto kLongestWindow = days(7);
// Openings are worked out for this long.  Each window opens at least once a week, so this covers the next opening and,
// unless windows follow each other without a gap, its end.
constexpr auto kHorizon = days(14);

// Returns the number that `count` digits form, or nullopt if there are no such digits.
std::optional<unsigned> DigitsAt(std::string_view text, std::size_t at, std::size_t count) {
  unsigned number = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return std::nullopt;
    number = number * 10 + static_cast<unsigned>(text[i] - '0');
  }
  return number;
}

// Reads a time of the day such as "22:30".
std::optional<std::chrono::minutes> ReadTimeOfDay(std::string_view text) {
  const auto hour = DigitsAt(text, 0, 2);
  const auto minute = DigitsAt(text, 3, 2);
  if (text.size() != 5 || text[2] != ':' || !hour || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  return std::chrono::hours(*hour) + std::chrono::minutes(*minute);
}

// Reads a date such as "2027-01-07".  Years in which a WallTime would overflow are refused.
std::optional<local_days> ReadDate(std::string_view text) {
  const auto year = DigitsAt(text, 0, 4);
  const auto month = DigitsAt(text, 5, 2);
  const auto day = DigitsAt(text, 8, 2);
  if (text.size() != 10 || text[4] != '-' || text[7] != '-' || !year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  if (!date.ok() || *year < 1970 || *year > 2200) return std::nullopt;
  return local_days(date);
}

}  // namespace

class Windows::Compiler {
 public:
  Compiler(const FindZone& find_zone, std::vector<std::string>& problems)
      : find_zone_(find_zone), problems_(problems) {}

  Window Compile(const api::RolloutWindow& from, const std::string& field) {
    Window window;
    window.days.fill(from.days.empty());
    for (const std::string& name : from.days) {
      const auto day = std::find(kDayNames.begin(), kDayNames.end(), name);
      if (day == kDayNames.end()) {
        Problem(field + ".days", name, "is not a weekday; write Mon, Tue, Wed, Thu, Fri, Sat or Sun");
      } else {
        window.days[static_cast<std::size_t>(day - kDayNames.begin())] = true;
      }
    }
    if (const auto start = ReadTimeOfDay(from.start)) {
      window.start = *start;
    } else {
      Problem(field + ".start", from.start, "is not a time of the day; write hours and minutes such as 22:30");
    }
    const auto duration = ParseTimeSpan(from.duration);
    if (duration && *duration >= std::chrono::minutes(1) && *duration <= kLongestWindow) {
      window.duration = std::chrono::floor<std::chrono::seconds>(*duration);
    } else {
      Problem(field + ".duration", from.duration, "is not a duration from 1min to 7d; write it such as 4h or 90min");
    }
    window.zone = Zone(from.time_zone, field);
    return window;
  }

  // Returns when the freeze ends.  Returns WallTime::min() if the date or the time zone is a problem.
  WallTime EndOf(const api::RolloutFreeze& freeze) {
    const auto zone = Zone(freeze.time_zone, "spec.freeze");
    const auto date = ReadDate(freeze.until);
    if (!date) Problem("spec.freeze.until", freeze.until, "is not a date; write it such as 2027-01-07");
    return date && zone ? zone->InstantOf(*date) : WallTime::min();
  }

 private:
  // Returns nullptr if the time zone is a problem.
  std::shared_ptr<const TimeZone> Zone(const std::string& name, const std::string& field) {
    auto zone = find_zone_(name.empty() ? "UTC" : name);
    if (zone) return *std::move(zone);
    problems_.push_back(fmt::format("{}.timeZone: {}", field, zone.error().message()));
    return nullptr;
  }

  void Problem(const std::string& field, const std::string& value, std::string_view fault) {
    problems_.push_back(fmt::format("{}: \"{}\" {}", field, value, fault));
  }

  const FindZone& find_zone_;
  std::vector<std::string>& problems_;
};

Windows Windows::Compile(const std::vector<api::RolloutWindow>& windows,
                         const std::optional<api::RolloutFreeze>& freeze, const FindZone& find_zone,
                         std::vector<std::string>& problems) {
  Windows compiled;
  Compiler compiler(find_zone, problems);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    compiled.windows_.push_back(compiler.Compile(windows[i], fmt::format("spec.windows[{}]", i)));
  }
  if (freeze) compiled.frozen_until_ = compiler.EndOf(*freeze);
  return compiled;
}

bool Windows::IsOpenAt(WallTime instant) const { return Next(instant).begin <= instant; }

// A duration of whole days is meant by the calendar: a window from midnight for "1d" is open all day, also on the day
// of 25 hours on which the clocks are put back.
WallTime Windows::EndOf(const Window& window, std::chrono::local_days day, WallTime begin) {
  if (window.duration % days(1) != std::chrono::seconds(0)) return begin + window.duration;
  return window.zone->InstantOf(day + window.start + window.duration);
}

void Windows::AddOpenings(const Window& window, WallTime instant,
                          std::vector<std::pair<WallTime, WallTime>>& openings) {
  const auto today = std::chrono::floor<days>(window.zone->LocalAt(instant));
  for (auto day = today - kLongestWindow - days(1); day <= today + kHorizon + days(1); day += days(1)) {
    if (!window.days[std::chrono::weekday(day).c_encoding()]) continue;
    const WallTime begin = window.zone->InstantOf(day + window.start);
    openings.emplace_back(begin, EndOf(window, day, begin));
  }
}

Opening Windows::Next(WallTime now) const {
  const WallTime instant = std::max(now, frozen_until_);
  if (windows_.empty()) return {instant, std::nullopt};
  std::vector<std::pair<WallTime, WallTime>> openings;
  for (const Window& window : windows_) AddOpenings(window, instant, openings);
  std::sort(openings.begin(), openings.end());
  auto [begin, end] = std::pair(WallTime::min(), WallTime::min());
  for (const auto& [from, to] : openings) {
    if (from <= end) {
      end = std::max(end, to);
    } else if (end > instant) {
      break;
    } else {
      std::tie(begin, end) = std::pair(from, to);
    }
  }
  const bool is_endless = end > instant + kHorizon;
  return {std::max(begin, frozen_until_), is_endless ? std::nullopt : std::optional(end)};
}

}  // namespace pintle::pool
