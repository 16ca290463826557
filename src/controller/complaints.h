// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which of the errors that recur are logged.
//
// What is the same each time is said once; but it is said again when it was over in between, and now and then for as
// long as it lasts: nobody looks for what a process of many months said in its first hour.

#include <chrono>
#include <map>
#include <string>

#include "base/clock.h"

namespace pintle::controller {

inline constexpr auto kComplaintsSaidAgainAfter = std::chrono::hours(1);
// Whatever is tried again is tried more often than this; so what has not failed for so long went well.
inline constexpr auto kComplaintsOverAfter = std::chrono::minutes(15);

class Complaints {
 public:
  // Tells whether this error is to be logged now.
  bool IsNews(const std::string& what, const std::string& how, MonotonicTime now);

 private:
  struct Complaint {
    std::string how;
    MonotonicTime said;
    MonotonicTime last;
  };

  std::map<std::string, Complaint> complaints_;  // By what has gone wrong.
};

}  // namespace pintle::controller
