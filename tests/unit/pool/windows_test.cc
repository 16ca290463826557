// SPDX-License-Identifier: Apache-2.0
#include "pool/windows.h"

#include <cstdlib>

#include "base/time_zone_files.h"
#include "support/expect.h"

namespace pintle::pool {
namespace {

using testing::ElementsAre;

struct CompiledWindows {
  Windows windows;
  std::vector<std::string> problems;
};

CompiledWindows CompileWindows(const std::vector<api::RolloutWindow>& windows,
                               const std::optional<api::RolloutFreeze>& freeze = {}) {
  TimeZoneFiles files;
  CompiledWindows compiled;
  compiled.windows = Windows::Compile(
      windows, freeze, [&](const std::string& name) { return files.Find(name); }, compiled.problems);
  return compiled;
}

Windows WindowsOf(const std::vector<api::RolloutWindow>& windows,
                  const std::optional<api::RolloutFreeze>& freeze = {}) {
  CompiledWindows compiled = CompileWindows(windows, freeze);
  EXPECT_THAT(compiled.problems, ElementsAre());
  return compiled.windows;
}

WallTime Instant(const std::string& text) { return ValueOf(FromRfc3339(text)); }

// Returns the next opening as a text such as "2027-03-28T01:00:00Z to 2027-03-28T02:00:00Z".
std::string NextOf(const Windows& windows, const std::string& instant) {
  const Opening next = windows.Next(Instant(instant));
  return ToRfc3339(next.begin) + " to " + (next.end ? ToRfc3339(*next.end) : "no end");
}

struct WindowCase {
  const char* what;
  api::RolloutWindow window;
  const char* now;
  bool is_open;
  const char* next;
};

TEST(Windows, OpenAndCloseAtTheRightInstants) {
  const api::RolloutWindow sunday_at_2 = {{"Sun"}, "02:00", "1h", "Europe/Berlin"};
  const api::RolloutWindow in_the_skip = {{"Sun"}, "02:30", "1h", "Europe/Berlin"};
  const api::RolloutWindow saturday_night = {{"Sat"}, "23:00", "4h", "Europe/Berlin"};
  const api::RolloutWindow new_york = {{"Sun"}, "01:30", "1h", "America/New_York"};
  const api::RolloutWindow lord_howe = {{"Sun"}, "02:15", "30min", "Australia/Lord_Howe"};
  const api::RolloutWindow kolkata = {{"Tue", "Thu"}, "00:15", "90min", "Asia/Kolkata"};
  const api::RolloutWindow every_night = {{}, "22:00", "4h", ""};
  const std::vector<WindowCase> cases = {
      {"in winter", sunday_at_2, "2027-01-03T00:59:59Z", false, "2027-01-03T01:00:00Z to 2027-01-03T02:00:00Z"},
      {"first second", sunday_at_2, "2027-01-03T01:00:00Z", true, "2027-01-03T01:00:00Z to 2027-01-03T02:00:00Z"},
      {"last second", sunday_at_2, "2027-01-03T01:59:59Z", true, "2027-01-03T01:00:00Z to 2027-01-03T02:00:00Z"},
      {"at the end", sunday_at_2, "2027-01-03T02:00:00Z", false, "2027-01-10T01:00:00Z to 2027-01-10T02:00:00Z"},
      {"in summer", sunday_at_2, "2027-07-04T00:00:00Z", true, "2027-07-04T00:00:00Z to 2027-07-04T01:00:00Z"},
      {"start skipped", in_the_skip, "2027-03-28T00:59:59Z", false, "2027-03-28T01:00:00Z to 2027-03-28T02:00:00Z"},
      {"start skipped, open", in_the_skip, "2027-03-28T01:00:00Z", true,
       "2027-03-28T01:00:00Z to 2027-03-28T02:00:00Z"},
      {"start repeated", in_the_skip, "2027-10-31T00:30:00Z", true, "2027-10-31T00:30:00Z to 2027-10-31T01:30:00Z"},
      // The clocks show 02:30 once more.
      {"only the first pass opens", in_the_skip, "2027-10-31T01:30:00Z", false,
       "2027-11-07T01:30:00Z to 2027-11-07T02:30:00Z"},
      {"through the skip", saturday_night, "2027-03-27T22:00:00Z", true,
       "2027-03-27T22:00:00Z to 2027-03-28T02:00:00Z"},
      {"through the repeated hour", saturday_night, "2027-10-31T00:59:59Z", true,
       "2027-10-30T21:00:00Z to 2027-10-31T01:00:00Z"},
      {"the day before the skip", saturday_night, "2027-03-20T23:00:00Z", true,
       "2027-03-20T22:00:00Z to 2027-03-21T02:00:00Z"},
      {"New York in autumn", new_york, "2027-11-07T05:30:00Z", true, "2027-11-07T05:30:00Z to 2027-11-07T06:30:00Z"},
      {"New York in spring", new_york, "2027-03-14T06:30:00Z", true, "2027-03-14T06:30:00Z to 2027-03-14T07:30:00Z"},
      {"half an hour skipped", lord_howe, "2027-10-02T15:30:00Z", true, "2027-10-02T15:30:00Z to 2027-10-02T16:00:00Z"},
      // 01:30 to 02:00 is repeated, and 02:15 comes behind it.
      {"half an hour repeated", lord_howe, "2027-04-03T15:00:00Z", false,
       "2027-04-03T15:45:00Z to 2027-04-03T16:15:00Z"},
      {"no daylight saving time", kolkata, "2027-07-05T18:45:00Z", true,
       "2027-07-05T18:45:00Z to 2027-07-05T20:15:00Z"},
      {"two days", kolkata, "2027-07-05T20:15:00Z", false, "2027-07-07T18:45:00Z to 2027-07-07T20:15:00Z"},
      {"leap day",
       {{"Tue"}, "10:00", "2h", "UTC"},
       "2028-02-29T11:59:59Z",
       true,
       "2028-02-29T10:00:00Z to 2028-02-29T12:00:00Z"},
      {"to the leap day", every_night, "2028-02-29T01:00:00Z", true, "2028-02-28T22:00:00Z to 2028-02-29T02:00:00Z"},
      {"from the leap day", every_night, "2028-03-01T01:00:00Z", true, "2028-02-29T22:00:00Z to 2028-03-01T02:00:00Z"},
      {"no leap day", every_night, "2027-03-01T01:00:00Z", true, "2027-02-28T22:00:00Z to 2027-03-01T02:00:00Z"},
      {"over the turn of the year", every_night, "2028-01-01T00:30:00Z", true,
       "2027-12-31T22:00:00Z to 2028-01-01T02:00:00Z"},
      {"Friday begins the year",
       {{"Fri"}, "00:00", "1h", "UTC"},
       "2026-12-31T12:00:00Z",
       false,
       "2027-01-01T00:00:00Z to 2027-01-01T01:00:00Z"},
      {"a week at a time", {{"Mon"}, "00:00", "7d", "UTC"}, "2027-01-06T12:00:00Z", true, nullptr},
  };
  for (const WindowCase& row : cases) {
    const Windows windows = WindowsOf({row.window});
    EXPECT_EQ(windows.IsOpenAt(Instant(row.now)), row.is_open) << row.what;
    if (row.next != nullptr) {
      EXPECT_EQ(NextOf(windows, row.now), row.next) << row.what;
    }
  }
}

TEST(Windows, AreAlwaysOpenIfThereAreNone) {
  EXPECT_TRUE(WindowsOf({}).IsOpenAt(Instant("2027-01-01T00:00:00Z")));
  EXPECT_EQ(NextOf(WindowsOf({}), "2027-01-01T00:00:00Z"), "2027-01-01T00:00:00Z to no end");
}

TEST(Windows, ThatOverlapOrFollowEachOtherAreOne) {
  const Windows windows = WindowsOf({{{"Mon"}, "20:00", "2h", "UTC"},
                                     {{"Mon"}, "22:00", "3h", "UTC"},
                                     {{"Tue"}, "00:30", "1h", "UTC"},
                                     {{"Tue"}, "03:00", "1h", "UTC"}});
  EXPECT_EQ(NextOf(windows, "2027-01-04T21:00:00Z"), "2027-01-04T20:00:00Z to 2027-01-05T01:30:00Z");
  EXPECT_EQ(NextOf(windows, "2027-01-05T02:00:00Z"), "2027-01-05T03:00:00Z to 2027-01-05T04:00:00Z");
}

TEST(Windows, OfAllDayAndEveryDayHaveNoEnd) {
  EXPECT_FALSE(WindowsOf({{{}, "00:00", "1d", "Asia/Kolkata"}}).Next(Instant("2027-01-05T02:00:00Z")).end);
}

TEST(Windows, OfWholeDaysEndAtTheSameLocalTime) {
  for (const char* const duration : {"1d", "24h"}) {
    const Windows every_day = WindowsOf({{{}, "00:00", duration, "Europe/Berlin"}});
    for (const char* const now : {"2027-10-30T12:00:00Z", "2027-10-31T22:30:00Z", "2027-03-28T12:00:00Z"}) {
      EXPECT_TRUE(every_day.IsOpenAt(Instant(now))) << duration << " " << now;
      EXPECT_FALSE(every_day.Next(Instant(now)).end) << duration << " " << now;
    }
  }
  const Windows all_week = WindowsOf({{{"Mon"}, "00:00", "7d", "Europe/Berlin"}});
  EXPECT_TRUE(all_week.IsOpenAt(Instant("2027-10-31T22:30:00Z")));
  const Windows sundays = WindowsOf({{{"Sun"}, "00:00", "1d", "Europe/Berlin"}});
  EXPECT_EQ(NextOf(sundays, "2027-10-31T12:00:00Z"), "2027-10-30T22:00:00Z to 2027-10-31T23:00:00Z");
  EXPECT_EQ(NextOf(sundays, "2027-03-28T12:00:00Z"), "2027-03-27T23:00:00Z to 2027-03-28T22:00:00Z");
}

TEST(Windows, StayClosedInAFreezeUntilItsDayBegins) {
  const api::RolloutFreeze freeze = {"2027-01-07", "Europe/Berlin", "holidays"};
  const Windows windows = WindowsOf({{{}, "00:00", "2h", "Europe/Berlin"}}, freeze);
  EXPECT_TRUE(windows.IsFrozenAt(Instant("2027-01-06T22:59:59Z")));
  EXPECT_FALSE(windows.IsFrozenAt(Instant("2027-01-06T23:00:00Z")));
  EXPECT_FALSE(windows.IsOpenAt(Instant("2027-01-05T23:30:00Z")));
  EXPECT_EQ(NextOf(windows, "2027-01-05T23:30:00Z"), "2027-01-06T23:00:00Z to 2027-01-07T01:00:00Z");
  EXPECT_EQ(NextOf(WindowsOf({}, freeze), "2027-01-01T00:00:00Z"), "2027-01-06T23:00:00Z to no end");
}

TEST(Windows, ThatBeginBeforeAFreezeEndsAreOpenFromThen) {
  const Windows windows = WindowsOf({{{}, "22:00", "4h", "UTC"}}, api::RolloutFreeze{"2027-01-07", "", ""});
  EXPECT_EQ(NextOf(windows, "2027-01-01T00:00:00Z"), "2027-01-07T00:00:00Z to 2027-01-07T02:00:00Z");
}

TEST(Windows, NameEachMistakeWithItsFieldAndRemedy) {
  const auto problems = CompileWindows({{{"Sunday"}, "25:00", "0", "Europe/Berlni"}, {{}, "7:30", "8d", ""}},
                                       api::RolloutFreeze{"2027-02-29", "x y", ""})
                            .problems;
  EXPECT_THAT(
      problems,
      ElementsAre("spec.windows[0].days: \"Sunday\" is not a weekday; write Mon, Tue, Wed, Thu, Fri, Sat or Sun",
                  "spec.windows[0].start: \"25:00\" is not a time of the day; write hours and minutes such as 22:30",
                  "spec.windows[0].duration: \"0\" is not a duration from 1min to 7d; write it such as 4h or 90min",
                  testing::StartsWith("spec.windows[0].timeZone: the time zone \"Europe/Berlni\" cannot be read"),
                  "spec.windows[1].start: \"7:30\" is not a time of the day; write hours and minutes such as 22:30",
                  "spec.windows[1].duration: \"8d\" is not a duration from 1min to 7d; write it such as 4h or 90min",
                  testing::StartsWith("spec.freeze.timeZone: \"x y\" is not the name of a time zone"),
                  "spec.freeze.until: \"2027-02-29\" is not a date; write it such as 2027-01-07"));
}

// Returns whether the clock of a zone is set forward or back within a day of a moment.
bool IsNearClockChange(const TimeZone& zone, WallTime at) {
  const auto offset = [&](WallTime then) { return zone.LocalAt(then).time_since_epoch() - then.time_since_epoch(); };
  return offset(at - std::chrono::days(1)) != offset(at + std::chrono::days(1));
}

// Compares two years, in steps of five minutes, with a definition that is as plain as possible.  Of the days on which
// no clock is set, only the nightly run compares all; other runs compare one in ten.
TEST(Windows, AgreeWithTheClockOnTheWall) {
  const bool is_nightly = std::getenv("PINTLE_NIGHTLY") != nullptr;
  const WallTime begin = Instant("2027-01-01T00:00:00Z");
  for (const char* const zone_name : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}) {
    TimeZoneFiles files;
    const auto zone = ValueOf(files.Find(zone_name));
    const Windows windows = WindowsOf({{{}, "02:15", "45min", zone_name}});
    for (int number = 1; number < 2 * 365; ++number) {
      const WallTime compared = begin + std::chrono::days(number);
      if (!is_nightly && number % 10 != 0 && !IsNearClockChange(*zone, compared)) continue;
      // A window may have opened on the day before.
      WallTime opened = WallTime::min();
      std::chrono::local_days day_opened = {};
      for (WallTime at = compared - std::chrono::days(1); at < compared + std::chrono::days(1);
           at += std::chrono::minutes(5)) {
        const auto local = zone->LocalAt(at);
        const auto day = std::chrono::floor<std::chrono::days>(local);
        if (local - day >= std::chrono::minutes(135) && day_opened != day) {
          day_opened = day;
          opened = at;
        }
        if (at < compared) continue;
        const bool is_open = opened != WallTime::min() && at < opened + std::chrono::minutes(45);
        ASSERT_EQ(windows.IsOpenAt(at), is_open) << zone_name << " " << ToRfc3339(at);
      }
    }
  }
}

}  // namespace
}  // namespace pintle::pool
