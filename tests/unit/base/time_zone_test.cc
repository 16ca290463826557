// SPDX-License-Identifier: Apache-2.0
#include "base/time_zone.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/time_zone_files.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle {
namespace {

using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::string ZoneBytes(const std::string& name) {
  std::ostringstream bytes;
  bytes << std::ifstream("/usr/share/zoneinfo/" + name, std::ios::binary).rdbuf();
  return bytes.str();
}

TimeZone Zone(const std::string& name) { return ValueOf(TimeZone::Parse(ZoneBytes(name))); }

// Returns the local time of a text such as "2027-03-28 02:30:00".
local_seconds Local(const std::string& text) {
  const WallTime as_utc = ValueOf(FromRfc3339(text.substr(0, 10) + "T" + text.substr(11) + "Z"));
  return local_seconds(std::chrono::floor<seconds>(as_utc).time_since_epoch());
}

struct OffsetCase {
  const char* zone;
  const char* instant;
  minutes offset;
};

TEST(TimeZone, KnowsTheOffsetAtEveryInstant) {
  const std::vector<OffsetCase> cases = {
      {"Europe/Berlin", "2027-03-28T00:59:59Z", minutes(60)},
      {"Europe/Berlin", "2027-03-28T01:00:00Z", minutes(120)},
      {"Europe/Berlin", "2027-10-31T00:59:59Z", minutes(120)},
      {"Europe/Berlin", "2027-10-31T01:00:00Z", minutes(60)},
      {"Europe/Berlin", "1980-04-06T00:59:59Z", minutes(60)},
      {"Europe/Berlin", "1980-04-06T01:00:00Z", minutes(120)},
      // These instants are behind the last transition in the file, so the rule at the end of the file decides.
      {"Europe/Berlin", "2100-03-28T00:59:59Z", minutes(60)},
      {"Europe/Berlin", "2100-03-28T01:00:00Z", minutes(120)},
      {"America/New_York", "2027-03-14T06:59:59Z", minutes(-300)},
      {"America/New_York", "2027-03-14T07:00:00Z", minutes(-240)},
      {"America/New_York", "2027-11-07T05:59:59Z", minutes(-240)},
      {"America/New_York", "2027-11-07T06:00:00Z", minutes(-300)},
      {"America/New_York", "2150-11-01T05:59:59Z", minutes(-240)},
      {"America/New_York", "2150-11-01T06:00:00Z", minutes(-300)},
      {"Australia/Lord_Howe", "2027-04-03T14:59:59Z", minutes(660)},
      {"Australia/Lord_Howe", "2027-04-03T15:00:00Z", minutes(630)},
      {"Australia/Lord_Howe", "2027-10-02T15:29:59Z", minutes(630)},
      {"Australia/Lord_Howe", "2027-10-02T15:30:00Z", minutes(660)},
      {"Australia/Lord_Howe", "2100-01-01T00:00:00Z", minutes(660)},
      {"Australia/Lord_Howe", "2100-07-01T00:00:00Z", minutes(630)},
      {"Asia/Kolkata", "2027-01-01T00:00:00Z", minutes(330)},
      {"Asia/Kolkata", "2027-07-01T00:00:00Z", minutes(330)},
      {"UTC", "2027-07-01T00:00:00Z", minutes(0)},
  };
  for (const OffsetCase& row : cases) {
    EXPECT_EQ(Zone(row.zone).OffsetAt(ValueOf(FromRfc3339(row.instant))), row.offset) << row.zone << row.instant;
  }
}

struct InstantCase {
  const char* zone;
  const char* local;
  const char* instant;
};

TEST(TimeZone, FindsTheInstantOfALocalTime) {
  const std::vector<InstantCase> cases = {
      {"Europe/Berlin", "2027-01-15 12:00:00", "2027-01-15T11:00:00Z"},
      {"Europe/Berlin", "2027-07-15 12:00:00", "2027-07-15T10:00:00Z"},
      // The clocks go from 02:00 to 03:00.
      {"Europe/Berlin", "2027-03-28 01:59:59", "2027-03-28T00:59:59Z"},
      {"Europe/Berlin", "2027-03-28 02:00:00", "2027-03-28T01:00:00Z"},
      {"Europe/Berlin", "2027-03-28 02:30:00", "2027-03-28T01:00:00Z"},
      {"Europe/Berlin", "2027-03-28 03:00:00", "2027-03-28T01:00:00Z"},
      {"Europe/Berlin", "2027-03-28 03:00:01", "2027-03-28T01:00:01Z"},
      // The clocks go from 03:00 to 02:00.
      {"Europe/Berlin", "2027-10-31 01:59:59", "2027-10-30T23:59:59Z"},
      {"Europe/Berlin", "2027-10-31 02:30:00", "2027-10-31T00:30:00Z"},
      {"Europe/Berlin", "2027-10-31 03:00:00", "2027-10-31T02:00:00Z"},
      {"America/New_York", "2027-03-14 02:30:00", "2027-03-14T07:00:00Z"},
      {"America/New_York", "2027-11-07 01:30:00", "2027-11-07T05:30:00Z"},
      {"America/New_York", "2027-11-07 02:00:00", "2027-11-07T07:00:00Z"},
      // The clocks change by half an hour, at 02:00.
      {"Australia/Lord_Howe", "2027-10-03 02:15:00", "2027-10-02T15:30:00Z"},
      {"Australia/Lord_Howe", "2027-10-03 02:30:00", "2027-10-02T15:30:00Z"},
      {"Australia/Lord_Howe", "2027-04-04 01:45:00", "2027-04-03T14:45:00Z"},
      {"Australia/Lord_Howe", "2027-04-04 02:00:00", "2027-04-03T15:30:00Z"},
      // This island skipped a whole day.
      {"Pacific/Apia", "2011-12-30 12:00:00", "2011-12-30T10:00:00Z"},
      {"Asia/Kolkata", "2028-02-29 00:00:00", "2028-02-28T18:30:00Z"},
      {"Europe/Berlin", "2100-07-15 12:00:00", "2100-07-15T10:00:00Z"},
  };
  for (const InstantCase& row : cases) {
    EXPECT_EQ(ToRfc3339(Zone(row.zone).InstantOf(Local(row.local))), row.instant) << row.zone << " " << row.local;
  }
}

TEST(TimeZone, TheInstantOfALocalTimeIsNotLaterThanAnyInstantWithThatLocalTime) {
  for (const char* const name : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"}) {
    const TimeZone zone = Zone(name);
    const WallTime begin = ValueOf(FromRfc3339("2026-01-01T00:00:00Z"));
    for (WallTime at = begin; at < begin + hours(24 * 900); at += minutes(17)) {
      const WallTime first = zone.InstantOf(zone.LocalAt(at));
      EXPECT_LE(first, at) << name << ToRfc3339(at);
      EXPECT_EQ(zone.LocalAt(first), zone.LocalAt(at)) << name << ToRfc3339(at);
    }
  }
}

TEST(TimeZone, ReadsEveryZoneOfTheSystem) {
  TimeZoneFiles files;
  std::ifstream table("/usr/share/zoneinfo/zone1970.tab");
  int count = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream columns(line);
    std::string countries, place, name;
    columns >> countries >> place >> name;
    EXPECT_TRUE(Succeeded(files.Find(name))) << name;
    ++count;
  }
  EXPECT_GT(count, 200);
}

// Returns a file of version 2 without transitions, which ends with this rule.
std::string FileWithRule(const std::string& rule) {
  const auto number = [](unsigned value) {
    return std::string{'\0', '\0', static_cast<char>(value >> 8), static_cast<char>(value)};
  };
  const std::string header =
      "TZif2" + std::string(15, '\0') + number(0) + number(0) + number(0) + number(0) + number(1) + number(4);
  const std::string block = number(0) + std::string(2, '\0') + std::string("UTC\0", 4);
  return header + block + header + block + "\n" + rule + "\n";
}

TEST(TimeZone, ReadsAllFormsOfARule) {
  struct RuleCase {
    const char* rule;
    const char* instant;
    minutes offset;
  };
  const std::vector<RuleCase> cases = {
      {"<+0545>-5:45", "2027-06-01T00:00:00Z", minutes(345)},
      {"EST5EDT,M3.2.0,M11.1.0", "2027-03-14T07:00:00Z", minutes(-240)},
      // With J, day 60 is March 1 in every year.  Without J, days count from 0 and include February 29.
      {"A0B,J60/0,J300/0", "2028-02-29T23:59:59Z", minutes(0)},
      {"A0B,J60/0,J300/0", "2028-03-01T00:00:00Z", minutes(60)},
      {"A0B,J60/0,J300/0", "2027-03-01T00:00:00Z", minutes(60)},
      {"A0B,59/0,299/0", "2028-02-28T23:59:59Z", minutes(0)},
      {"A0B,59/0,299/0", "2028-02-29T00:00:00Z", minutes(60)},
      // Summer time at the turn of the year.
      {"A0B,M10.1.0/0,M4.1.0/0", "2027-12-31T23:59:59Z", minutes(60)},
      {"A0B,M10.1.0/0,M4.1.0/0", "2028-01-01T00:00:00Z", minutes(60)},
      {"A0B,M10.1.0/0,M4.1.0/0", "2028-06-01T00:00:00Z", minutes(0)},
      // Summer time all year.
      {"EST5EDT,0/0,J365/25", "2028-01-01T04:59:59Z", minutes(-240)},
      {"EST5EDT,0/0,J365/25", "2028-01-01T05:00:00Z", minutes(-240)},
      // A time before the day begins.
      {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2027-03-28T00:59:59Z", minutes(-120)},
      {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2027-03-28T01:00:00Z", minutes(-60)},
  };
  for (const RuleCase& row : cases) {
    const TimeZone zone = ValueOf(TimeZone::Parse(FileWithRule(row.rule)));
    EXPECT_EQ(zone.OffsetAt(ValueOf(FromRfc3339(row.instant))), row.offset) << row.rule << " " << row.instant;
  }
}

TEST(TimeZone, RefusesWrongRules) {
  for (const char* const rule :
       {"A", "A0B", "A0B,", "A0B,M3.5.0", "A0B,M13.1.0,M1.1.0", "A0B,M0.1.0,M1.1.0", "A0B,M3.0.0,M1.1.0",
        "A0B,M3.5.7,M1.1.0", "A0B,J0,J1", "A0B,366,1", "A0B,1,2x", "A168", "<A0", "A0B,1/1:60,2", "5"}) {
    EXPECT_THAT(MessageOf(TimeZone::Parse(FileWithRule(rule))), testing::HasSubstr("cannot be read")) << rule;
  }
}

TEST(TimeZone, RefusesEveryFileThatIsCutOff) {
  const std::string whole = ZoneBytes("Europe/Berlin");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(TimeZone::Parse(std::string_view(whole).substr(0, size)).has_value()) << size;
  }
}

TEST(TimeZone, SurvivesEveryWrongByte) {
  std::string bytes = ZoneBytes("Asia/Kolkata");
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char wrong : {'\0', '\1', '\x7f', '\xff'}) {
      const char right = std::exchange(bytes[at], wrong);
      if (const auto zone = TimeZone::Parse(bytes)) {
        (void)zone->InstantOf(local_days(std::chrono::year(2027) / 3 / 28));
      }
      bytes[at] = right;
    }
  }
}

TEST(TimeZoneFiles, NameTheRemedyForAWrongName) {
  TimeZoneFiles files;
  EXPECT_EQ(MessageOf(files.Find("../../../etc/passwd")),
            "\"../../../etc/passwd\" is not the name of a time zone; write a name such as Europe/Berlin, or UTC");
  EXPECT_THAT(MessageOf(files.Find("Europe/Berlni")),
              testing::AllOf(testing::HasSubstr("the time zone \"Europe/Berlni\" cannot be read"),
                             testing::HasSubstr("install the package tzdata")));
  EXPECT_THAT(MessageOf(files.Find("zone1970.tab")), testing::HasSubstr("is not the name"));
}

TEST(TimeZoneFiles, NeedNoFileForUtc) {
  const TemporaryDirectory empty;
  TimeZoneFiles files(empty.path().string());
  EXPECT_TRUE(Succeeded(files.Find("UTC")));
  EXPECT_FALSE(files.Find("Europe/Berlin").has_value());
}

TEST(TimeZoneFiles, ReadEachZoneOnce) {
  TimeZoneFiles files;
  EXPECT_EQ(ValueOf(files.Find("Europe/Berlin")), ValueOf(files.Find("Europe/Berlin")));
}

}  // namespace
}  // namespace pintle
