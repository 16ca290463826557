// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list of things that a person wants Pintle to ignore for some time: findings on them do not count.
//
// A change leaves an ignored thing alone if the old and the new config agree on it.  If they differ, the change would
// overwrite the thing, so its findings count as if it were not ignored.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "change/format.h"

namespace pintle::change {

inline constexpr const char* kIgnored = format::kIgnored.path;

struct IgnoredThing {
  std::string about;  // A path, a unit with all of its files, a user, or the OS.
  WallTime until;
};
using Ignored = std::vector<IgnoredThing>;

// Returns the time until which findings on this thing do not count, or nullopt if they count.
std::optional<WallTime> IgnoredUntil(const Ignored& ignored, std::string_view about);

// Returns the earliest time at which an entry ends, or nullopt if there is no entry.
std::optional<WallTime> FirstEnd(const Ignored& ignored);

// Parses a time: "2026-12-24T12:00:00Z"; "2026-12-24", the beginning of that day in UTC; or a span from now:
// "2h", "3d".
Result<WallTime> ParseUntil(std::string_view text, WallTime now);

// Returns the entries that have not ended.
Result<Ignored> ReadIgnored(const Root& root, WallTime now);

// Stores the list.  An empty list removes the file.
Result<> KeepIgnored(const Root& root, const Ignored& ignored);

}  // namespace pintle::change
