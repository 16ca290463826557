// SPDX-License-Identifier: Apache-2.0
#include "ctl/display_zone.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <utility>

namespace pintle::ctl {

std::string DisplayZone::TextOf(WallTime time) const {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  const auto local = zone->LocalAt(time);
  const auto day = std::chrono::floor<std::chrono::days>(local);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(local - day);
  const auto offset = std::chrono::duration_cast<std::chrono::minutes>(zone->OffsetAt(time)).count();
  return fmt::format("{} {:04}-{:02}-{:02} {:02}:{:02} {}{:02}:{:02}", kDays[std::chrono::weekday(day).c_encoding()],
                     static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                     offset < 0 ? '-' : '+', std::abs(offset) / 60, std::abs(offset) % 60);
}

Result<DisplayZone> DisplayZoneOf(const api::RolloutPolicy& policy, TimeZoneFiles& files) {
  std::set<std::string> names;
  for (const api::RolloutWindow& window : policy.spec.windows) names.insert(window.time_zone);
  if (policy.spec.windows.empty() && policy.spec.freeze) names.insert(policy.spec.freeze->time_zone);
  const std::string name = names.size() == 1 ? *names.begin() : "";
  if (name.empty()) return DisplayZone();
  auto zone = TRY(files.Find(name));
  return DisplayZone{.name = name, .zone = std::move(zone)};
}

}  // namespace pintle::ctl
