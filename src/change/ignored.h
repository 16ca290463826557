// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a person does not want to hear of for some time, although it is not as its config says.
//
// Findings about it do not count until then.  A change leaves alone what is ignored, as long as both configs say the
// same of it; what the new one says anew would be overwritten, and counts as ever.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"

namespace pintle::change {

inline constexpr const char* kIgnored = "/var/lib/pintle/ignored.json";

struct IgnoredThing {
  std::string about;  // A path, a unit with all of its files, a user, the OS.
  WallTime until;
};
using Ignored = std::vector<IgnoredThing>;

// Until when a finding about this does not count; nothing: it does.
std::optional<WallTime> IgnoredUntil(const Ignored& ignored, std::string_view about);

// When the first of them ends.
std::optional<WallTime> FirstEnd(const Ignored& ignored);

// "2026-12-24T12:00:00Z"; "2026-12-24", which is when that day begins, in UTC; or a time from now on: "2h", "3d".
Result<WallTime> ReadUntil(std::string_view text, WallTime now);

// Those that have not ended.
Result<Ignored> ReadIgnored(const Root& root, WallTime now);
Result<> KeepIgnored(const Root& root, const Ignored& ignored);

}  // namespace pintle::change
