// SPDX-License-Identifier: Apache-2.0
#pragma once

// The local time of a place: how far its clocks are ahead of UTC at each instant.
//
// The rules are those of the system's tzdata.  The standard library of Debian 12's compilers has no time zones, and the
// functions of the C library know only one zone at a time, for all threads.  So this class reads the contents of a TZif
// file (RFC 8536) itself: a list of transitions, followed by a rule for the time after the last transition.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace pintle {

class TimeZone {
 public:
  TimeZone() = default;  // UTC.
  // Reads the contents of a file of /usr/share/zoneinfo.
  static Result<TimeZone> Parse(std::string_view tzif);

  // Returns by how much the clocks are ahead of UTC.  West of Greenwich, this is negative.
  std::chrono::seconds OffsetAt(WallTime instant) const;
  std::chrono::local_seconds LocalAt(WallTime instant) const;

  // Returns the first instant at which the clocks have this local time.  If the clocks skip this time because they are
  // put forward, returns the instant of the skip.  If the clocks have this time twice because they are put back,
  // returns the earlier instant.
  WallTime InstantOf(std::chrono::local_seconds local) const;

 private:
  class FileReader;
  class RuleReader;

  struct Transition {
    std::chrono::sys_seconds at;
    std::chrono::seconds offset;  // The offset from UTC from this instant on.
  };
  // The day and the time of each year at which the clocks are changed, as in the variable TZ of POSIX.
  struct YearlyChange {
    enum class Kind { kWeekday, kDayWithoutLeapDay, kDay };
    Kind kind = Kind::kWeekday;
    unsigned month = 1;                                 // This member and the next two are for kWeekday.
    unsigned week = 1;                                  // 5 means the last one of the month.
    unsigned weekday = 0;                               // 0 is Sunday.
    int day = 0;                                        // From 1 for kDayWithoutLeapDay, and from 0 for kDay.
    std::chrono::seconds time = std::chrono::hours(2);  // Since midnight; it may be negative, or more than a day.

    std::chrono::local_seconds In(std::chrono::year year) const;
  };
  // Daylight saving time of each year.
  struct Summer {
    std::chrono::seconds offset;
    YearlyChange begin;
    YearlyChange end;
  };
  struct Rule {
    std::chrono::seconds offset = {};
    std::optional<Summer> summer;

    std::chrono::seconds OffsetAt(std::chrono::sys_seconds instant) const;
  };

  std::chrono::seconds first_offset_ = {};  // Before the first transition.
  std::vector<Transition> transitions_;     // Sorted by time.
  std::optional<Rule> rule_;                // After the last transition.
};

}  // namespace pintle
