// SPDX-License-Identifier: Apache-2.0
#pragma once

// Clocks, points in time, and the format of times in RFC 3339.
//
// Durations and deadlines are measured on the monotonic clock, which only runs forward; times that people or other
// machines read are taken from the wall clock.  A function that decides takes a time point as a parameter.  Code that
// waits takes a Clock, so that a test can let hours pass in an instant.

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle {

using MonotonicTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonotonicTime Monotonic() const = 0;
  virtual WallTime Wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return std::chrono::steady_clock::now(); }
  WallTime Wall() const override { return std::chrono::system_clock::now(); }
};

// Formats a time as Kubernetes does, in RFC 3339, UTC and whole seconds: "2026-11-21T05:41:43Z".
std::string ToRfc3339(WallTime time);
// Reads an RFC 3339 time, which may have a fraction of a second and an offset from UTC.  "T" and "Z" must be capitals,
// although the standard does not demand capitals: the times come from Go programs, whose parser refuses anything else.
// A time before the year 1678 or after the year 2261 becomes the first instant of 1678 or of 2262.
Result<WallTime> FromRfc3339(std::string_view text);

}  // namespace pintle
