// SPDX-License-Identifier: Apache-2.0
#include "base/time_zone.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/ascii.h"

namespace pintle {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_seconds;

// RFC 8536 (section 3.2) allows offsets from UTC of less than 26 hours.
constexpr auto kFurthest = hours(26);
constexpr std::size_t kHeaderSize = 44;  // In bytes (RFC 8536, section 3.1).

Error Damaged(std::string_view reason) {
  return Error(ErrorKind::kInvalid, fmt::format("is not a usable TZif file: {}", reason));
}

}  // namespace

// Reads a TZif file.  All counts are checked against the size of the file before they are used.
class TimeZone::FileReader {
 public:
  explicit FileReader(std::string_view bytes) : bytes_(bytes) {}

  Result<TimeZone> Read() {
    Header header = TRY(ReadHeader());
    std::size_t time_size = 4;
    if (header.version >= '2') {
      // The first block is for old readers: its times end in 2038.
      at_ += BlockSize(header, time_size);
      header = TRY(ReadHeader());
      time_size = 8;
    }
    if (header.leap_seconds > 0) return Damaged("it counts leap seconds, which the system's clock does not");
    if (header.types == 0) return Damaged("it has no offset from UTC");
    if (BlockSize(header, time_size) > bytes_.size() - at_) return Damaged("it is cut off");
    TimeZone zone;
    TRY(ReadBlock(header, time_size, zone));
    at_ += BlockSize(header, time_size);
    if (header.version >= '2') TRY(ReadFooter(zone));
    return zone;
  }

 private:
  // The counts of the header, in their order in the file.
  struct Header {
    char version = 0;
    std::uint64_t ut_marks = 0;
    std::uint64_t standard_marks = 0;
    std::uint64_t leap_seconds = 0;
    std::uint64_t times = 0;
    std::uint64_t types = 0;
    std::uint64_t characters = 0;
  };

  std::uint64_t Number(std::size_t at, std::size_t size) const {
    std::uint64_t number = 0;
    for (const char c : bytes_.substr(at, size)) number = (number << 8) | static_cast<unsigned char>(c);
    return number;
  }
  std::int64_t Signed32(std::size_t at) const { return static_cast<std::int32_t>(Number(at, 4)); }

  Result<Header> ReadHeader() {
    if (at_ > bytes_.size() || bytes_.size() - at_ < kHeaderSize) return Damaged("it is cut off");
    if (!bytes_.substr(at_).starts_with("TZif")) return Damaged("it does not begin with \"TZif\"");
    const auto count = [&](std::size_t index) { return Number(at_ + 20 + 4 * index, 4); };
    const Header header = {.version = bytes_[at_ + 4],
                           .ut_marks = count(0),
                           .standard_marks = count(1),
                           .leap_seconds = count(2),
                           .times = count(3),
                           .types = count(4),
                           .characters = count(5)};
    at_ += kHeaderSize;
    return header;
  }

  static std::size_t BlockSize(const Header& header, std::size_t time_size) {
    return header.times * (time_size + 1) + header.types * 6 + header.characters +
           header.leap_seconds * (time_size + 4) + header.standard_marks + header.ut_marks;
  }

  Result<> ReadBlock(const Header& header, std::size_t time_size, TimeZone& zone) const {
    const std::size_t types_at = at_ + header.times * (time_size + 1);
    std::vector<seconds> offsets;
    for (std::size_t i = 0; i < header.types; ++i) {
      offsets.emplace_back(Signed32(types_at + 6 * i));
      if (std::chrono::abs(offsets.back()) > kFurthest) return Damaged("an offset from UTC is more than 26 hours");
    }
    zone.first_offset_ = offsets.front();
    for (std::size_t i = 0; i < header.times; ++i) {
      const auto type = static_cast<unsigned char>(bytes_[at_ + header.times * time_size + i]);
      if (type >= offsets.size()) return Damaged("a transition leads to an offset that is not there");
      const std::size_t time_at = at_ + i * time_size;
      const auto time = time_size == 4 ? Signed32(time_at) : static_cast<std::int64_t>(Number(time_at, 8));
      // Times before the year 1 and after the year 9999 are of no use, and calculations with them would overflow.
      constexpr std::int64_t kFirst = -62'135'596'800;
      constexpr std::int64_t kLast = 253'402'300'799;
      zone.transitions_.push_back({sys_seconds(seconds(std::clamp(time, kFirst, kLast))), offsets[type]});
    }
    const auto is_earlier = [](const Transition& a, const Transition& b) { return a.at < b.at; };
    if (!std::is_sorted(zone.transitions_.begin(), zone.transitions_.end(), is_earlier)) {
      return Damaged("its transitions are not in order");
    }
    return {};
  }

  Result<> ReadFooter(TimeZone& zone) const;

  std::string_view bytes_;
  std::size_t at_ = 0;
};

// Reads a rule in the syntax of the variable TZ, such as "CET-1CEST,M3.5.0,M10.5.0/3" or "<+1030>-10:30<+11>-11,...".
class TimeZone::RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text), rest_(text) {}

  Result<Rule> Read() {
    Rule rule;
    // In this syntax, an offset is positive west of Greenwich.
    TRY(SkipName());
    rule.offset = -TRY(Time());
    if (rest_.empty()) return rule;
    TRY(SkipName());
    Summer summer{.offset = rule.offset + hours(1), .begin = {}, .end = {}};
    if (!rest_.empty() && rest_.front() != ',') summer.offset = -TRY(Time());
    summer.begin = TRY(Change());
    summer.end = TRY(Change());
    rule.summer = summer;
    if (!rest_.empty()) return Wrong();
    return rule;
  }

 private:
  Error Wrong() const { return Damaged(fmt::format("its rule \"{}\" cannot be read", text_)); }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Result<> SkipName() {
    const bool is_quoted = Take('<');
    const auto is_part = [&](char c) { return is_quoted ? c != '>' : IsLetter(c); };
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_part);
    if (end == rest_.begin()) return Wrong();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.begin()));
    if (is_quoted && !Take('>')) return Wrong();
    return {};
  }

  Result<int> Number(int most) {
    if (rest_.empty() || !IsDigit(rest_.front())) return Wrong();
    int number = 0;
    while (!rest_.empty() && IsDigit(rest_.front())) {
      number = number * 10 + (rest_.front() - '0');
      if (number > most) return Wrong();
      rest_.remove_prefix(1);
    }
    return number;
  }

  // Reads hours, and the minutes and seconds if they follow.
  Result<seconds> Time() {
    const bool is_negative = Take('-');
    if (!is_negative) Take('+');
    seconds time = hours(TRY(Number(167)));  // RFC 8536 (section 3.3.1) allows a week.
    if (Take(':')) time += minutes(TRY(Number(59)));
    if (Take(':')) time += seconds(TRY(Number(59)));
    return is_negative ? -time : time;
  }

  Result<YearlyChange> Change() {
    if (!Take(',')) return Wrong();
    YearlyChange change;
    if (Take('M')) {
      change.month = static_cast<unsigned>(TRY(Number(12)));
      if (!Take('.')) return Wrong();
      change.week = static_cast<unsigned>(TRY(Number(5)));
      if (!Take('.')) return Wrong();
      change.weekday = static_cast<unsigned>(TRY(Number(6)));
      if (change.month == 0 || change.week == 0) return Wrong();
    } else {
      change.kind = Take('J') ? YearlyChange::Kind::kDayWithoutLeapDay : YearlyChange::Kind::kDay;
      change.day = TRY(Number(365));
      if (change.kind == YearlyChange::Kind::kDayWithoutLeapDay && change.day == 0) return Wrong();
    }
    if (Take('/')) change.time = TRY(Time());
    return change;
  }

  std::string_view text_;
  std::string_view rest_;
};

Result<> TimeZone::FileReader::ReadFooter(TimeZone& zone) const {
  const std::string_view footer = bytes_.substr(at_);
  const std::size_t end = footer.find('\n', 1);
  if (!footer.starts_with('\n') || end == std::string_view::npos) return Damaged("it is cut off");
  const std::string_view rule = footer.substr(1, end - 1);
  if (!rule.empty()) zone.rule_ = TRY(RuleReader(rule).Read());
  return {};
}

Result<TimeZone> TimeZone::Parse(std::string_view tzif) { return FileReader(tzif).Read(); }

local_seconds TimeZone::YearlyChange::In(std::chrono::year year) const {
  using std::chrono::month_weekday;
  const auto first_day = local_days(year / std::chrono::January / 1);
  switch (kind) {
    case Kind::kDay:
      return first_day + days(day) + time;
    case Kind::kDayWithoutLeapDay: {
      const bool is_after_leap_day = year.is_leap() && day >= 60;
      return first_day + days(day - 1 + (is_after_leap_day ? 1 : 0)) + time;
    }
    case Kind::kWeekday:
      break;
  }
  const auto in = year / std::chrono::month(month);
  const std::chrono::weekday on(weekday);
  const auto date = week == 5 ? local_days(in / on[std::chrono::last]) : local_days(in / on[week]);
  return date + time;
}

seconds TimeZone::Rule::OffsetAt(sys_seconds instant) const {
  if (!summer) return offset;
  const auto as_instant = [](local_seconds local, seconds before) {
    return sys_seconds(local.time_since_epoch() - before);
  };
  const auto year = std::chrono::year_month_day(std::chrono::floor<days>(instant + offset)).year();
  // The latest change at or before the instant determines the offset.  It may be a change of the previous year.
  seconds now = offset;
  std::optional<sys_seconds> latest;
  const auto consider = [&](sys_seconds change, seconds from_then_on) {
    if (change > instant || (latest && *latest > change)) return;
    latest = change;
    now = from_then_on;
  };
  for (const auto change_year : {year - std::chrono::years(1), year, year + std::chrono::years(1)}) {
    consider(as_instant(summer->end.In(change_year), summer->offset), offset);
    consider(as_instant(summer->begin.In(change_year), offset), summer->offset);
  }
  return now;
}

seconds TimeZone::OffsetAt(WallTime when) const {
  const auto instant = std::chrono::floor<seconds>(when);
  const auto is_later = [](sys_seconds time, const Transition& transition) { return time < transition.at; };
  const auto next = std::upper_bound(transitions_.begin(), transitions_.end(), instant, is_later);
  if (next == transitions_.end() && rule_) return rule_->OffsetAt(instant);
  return next == transitions_.begin() ? first_offset_ : std::prev(next)->offset;
}

local_seconds TimeZone::LocalAt(WallTime instant) const {
  return local_seconds((std::chrono::floor<seconds>(instant) + OffsetAt(instant)).time_since_epoch());
}

WallTime TimeZone::InstantOf(local_seconds local) const {
  // In every place, as_utc - kFurthest is before the local time, and as_utc + kFurthest is after it.
  const sys_seconds as_utc(local.time_since_epoch());
  const seconds before = OffsetAt(as_utc - kFurthest);
  const seconds after = OffsetAt(as_utc + kFurthest);
  // The larger offset comes first, because it leads to the earlier instant.
  for (const seconds offset : {std::max(before, after), std::min(before, after)}) {
    if (OffsetAt(as_utc - offset) == offset) return as_utc - offset;
  }
  // The clocks skip this time: find the first second with the later offset.
  sys_seconds last_before = as_utc - std::max(before, after);
  sys_seconds first_after = as_utc - std::min(before, after);
  while (first_after - last_before > seconds(1)) {
    const sys_seconds middle = last_before + (first_after - last_before) / 2;
    (OffsetAt(middle) == after ? first_after : last_before) = middle;
  }
  return first_after;
}

}  // namespace pintle
