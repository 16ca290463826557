// SPDX-License-Identifier: Apache-2.0
#pragma once

// Formats progress as lines.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "host/ostree/activity_progress.h"

namespace pintle::ctl {

// Returns how many columns of a terminal a printable text takes, if each character takes one.
std::size_t ColumnsOf(const std::string& text);

// Returns a line that fits into this many columns of a terminal.  The activity is shortened before the progress.
std::string FittingLine(const host::ActivityProgress& activity, std::size_t columns);

// Makes lines for a journal or a file: at most one for each tenth of an activity, at most one a second, and none in the
// first second of an activity.
class LineForEachTenth {
 public:
  static constexpr auto kMinInterval = std::chrono::seconds(1);

  // Returns nullopt if no line is due.
  std::optional<std::string> LineOf(const host::ActivityProgress& activity, MonotonicTime now);

 private:
  std::string doing_;
  std::uint32_t tenth_ = 0;
  MonotonicTime next_ = MonotonicTime::min();
};

}  // namespace pintle::ctl
