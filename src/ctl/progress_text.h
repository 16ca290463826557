// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far something is, as the lines that say so.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "host/how_far.h"

namespace pintle::ctl {

// Of text that a terminal can show.
std::size_t ColumnsOf(const std::string& text);

// What fits into so many columns of a terminal.  What is being done gives way to how far it is.
std::string FittingLine(const host::HowFar& how_far, std::size_t columns);

// For a journal or a file: a line for each tenth, after the first second, and no more than one a second.
class TenthLines {
 public:
  static constexpr auto kRest = std::chrono::seconds(1);

  // Nothing: it is no news.
  std::optional<std::string> LineOf(const host::HowFar& how_far, MonotonicTime now);

 private:
  std::string doing_;
  std::uint32_t tenth_ = 0;
  MonotonicTime next_ = MonotonicTime::min();
};

}  // namespace pintle::ctl
