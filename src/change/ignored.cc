// SPDX-License-Identifier: Apache-2.0
#include "change/ignored.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

#include "change/set_aside_remedy.h"
#include "change/state_directory.h"
#include "host/systemd/unit_files.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::change {
namespace {

// A thing can be ignored for ten years at most.
constexpr auto kLongest = std::chrono::days(3660);

// The form in which an entry is stored.
struct KeptIgnored {
  std::string about;
  std::string until;

  static constexpr auto kFields = json::FieldList{
      json::Required{"about", &KeptIgnored::about},
      json::Required{"until", &KeptIgnored::until},
  };
};

// Returns whether findings about `about` are ignored if `thing` is.  An ignored unit includes its file and its
// drop-ins.
bool Covers(std::string_view thing, std::string_view about) {
  if (thing == about) return true;
  const std::string unit = fmt::format("{}/{}", host::kUnitDirectory, thing);
  return !thing.starts_with('/') && (about == unit || about.starts_with(unit + ".d/"));
}

// Parses a span of time such as "2h" or "3d".
std::optional<std::chrono::seconds> ReadSpan(std::string_view text) {
  using Unit = std::pair<std::string_view, std::chrono::seconds>;
  constexpr auto kUnits = std::to_array<Unit>({{"s", std::chrono::seconds(1)},
                                               {"min", std::chrono::minutes(1)},
                                               {"h", std::chrono::hours(1)},
                                               {"d", std::chrono::days(1)},
                                               {"w", std::chrono::weeks(1)}});
  std::int32_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc() || count < 0) return std::nullopt;
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& each) { return each.first == name; });
  return unit == kUnits.end() ? std::nullopt : std::optional(count * unit->second);
}

Result<WallTime> ReadTime(std::string_view text, WallTime now) {
  // A very long span is cut, so that the sum cannot overflow.  The cut span is still so long that ParseUntil() refuses
  // it.
  if (const auto span = ReadSpan(text)) return now + std::min<std::chrono::seconds>(*span, kLongest + kLongest);
  if (const auto day = FromRfc3339(fmt::format("{}T00:00:00Z", text))) return *day;
  if (const auto time = FromRfc3339(text)) return *time;
  return Error(ErrorKind::kInvalid,
               fmt::format("\"{}\" is not a time; write it like 2026-12-24, 2026-12-24T12:00:00Z, 2h or 3d", text));
}

}  // namespace

std::optional<WallTime> IgnoredUntil(const Ignored& ignored, std::string_view about) {
  std::optional<WallTime> until;
  for (const IgnoredThing& thing : ignored) {
    if (Covers(thing.about, about)) until = std::max(until.value_or(thing.until), thing.until);
  }
  return until;
}

std::optional<WallTime> FirstEnd(const Ignored& ignored) {
  const auto first =
      std::min_element(ignored.begin(), ignored.end(), [](const auto& a, const auto& b) { return a.until < b.until; });
  return first == ignored.end() ? std::nullopt : std::optional(first->until);
}

Result<WallTime> ParseUntil(std::string_view text, WallTime now) {
  const WallTime until = TRY(ReadTime(text, now));
  if (until <= now) return Error(ErrorKind::kInvalid, fmt::format("{} is in the past", ToRfc3339(until)));
  if (until > now + kLongest) {
    return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is more than ten years from now", text));
  }
  return until;
}

Result<Ignored> ReadIgnored(const Root& root, WallTime now) {
  const auto read = [&]() -> Result<Ignored> {
    if (!TRY(root.Status(kIgnored))) return Ignored();
    json::Report report;
    auto document = TRY(WithoutVersion(format::kIgnored, TRY(json::Parse(TRY(root.ReadFile(kIgnored))))));
    const auto kept = json::Decode<std::vector<KeptIgnored>>(std::move(document), report);
    TRY(report.ToResult());
    Ignored ignored;
    for (const KeptIgnored& entry : kept) {
      const WallTime until = TRY(FromRfc3339(entry.until));
      if (until > now) ignored.push_back({entry.about, until});
    }
    return ignored;
  };
  return WithSetAsideRemedy(kIgnored, read());
}

Result<> KeepIgnored(const Root& root, const Ignored& ignored) {
  TRY(ExpectKnownVersion(root, format::kIgnored));
  if (ignored.empty()) return root.Remove(kIgnored);
  std::vector<KeptIgnored> kept;
  for (const IgnoredThing& thing : ignored) kept.push_back({thing.about, ToRfc3339(thing.until)});
  TRY(root.MakeDirectories(kStateDirectory, kPrivateDirectory));
  return root.WriteFile(kIgnored, TextWithVersion(format::kIgnored, json::Encode(kept)));
}

}  // namespace pintle::change
