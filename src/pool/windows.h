// SPDX-License-Identifier: Apache-2.0
#pragma once

// Maintenance windows: when the nodes of a pool may be given a new config.
//
// A window opens at a local time of some weekdays and stays open for a duration.  The duration is elapsed time: where
// the clocks are put forward during a window of four hours, it closes five hours later by the clock.  A duration of
// whole days is an exception: the window closes at the same local time, so a window of one day may last 23 or 25 hours.
// A window whose start is skipped by the clocks opens at the instant of the skip, and a start that the clocks pass
// twice counts once, the first time.  A freeze keeps all windows closed until a date begins.

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/rollout_policy.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/time_zone.h"

namespace pintle::pool {

// Returns the time zone with this name, or an error if there is none.
using FindZone = std::function<Result<std::shared_ptr<const TimeZone>>(const std::string& name)>;

// A time in which changes may begin.
struct Opening {
  WallTime begin;
  std::optional<WallTime> end;  // Unset if it does not end within two weeks.
  bool operator==(const Opening&) const = default;
};

class Windows {
 public:
  Windows() = default;  // Always open.
  // Appends each problem to `problems`, with its field and its remedy.  If there are any problems, the returned object
  // must not be used.
  static Windows Compile(const std::vector<api::RolloutWindow>& windows,
                         const std::optional<api::RolloutFreeze>& freeze, const FindZone& find_zone,
                         std::vector<std::string>& problems);

  // A freeze keeps all windows closed at this time.
  bool IsFrozenAt(WallTime instant) const { return instant < frozen_until_; }
  bool IsOpenAt(WallTime instant) const;
  // Returns the opening that an instant is in, or the next one.  Windows that overlap, or follow each other at once,
  // are one opening.
  Opening Next(WallTime instant) const;

 private:
  struct Window {
    std::array<bool, 7> days = {};    // Whether the window opens on each weekday, from Sunday on.
    std::chrono::minutes start = {};  // The local time of the day at which the window opens.
    std::chrono::seconds duration = {};
    std::shared_ptr<const TimeZone> zone;
  };
  class Compiler;

  // Returns the end of the opening that begins at an instant of a day.
  static WallTime EndOf(const Window& window, std::chrono::local_days day, WallTime begin);
  // Adds the openings of a window that can contain `instant` or begin within the two weeks after it.
  static void AddOpenings(const Window& window, WallTime instant, std::vector<std::pair<WallTime, WallTime>>& openings);

  std::vector<Window> windows_;
  WallTime frozen_until_ = WallTime::min();
};

}  // namespace pintle::pool
