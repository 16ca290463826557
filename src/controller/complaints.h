// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which recurring errors are logged.
//
// An error that stays the same is logged once, again when it comes back after a while, and now and then while it lasts:
// nobody reads what a process of many months logged in its first hour.

#include <chrono>
#include <map>
#include <string>

#include "base/clock.h"

namespace pintle::controller {

inline constexpr auto kLoggedAgainAfter = std::chrono::hours(1);
// All retries come more often than this, so an action that has not failed for this long has succeeded.
inline constexpr auto kForgottenAfter = std::chrono::minutes(15);

// If failures will likely pass in a moment, people are told only when there are more than this many in a row.
inline constexpr int kFailuresBeforeReport = 2;

class Complaints {
 public:
  // Returns whether this error is to be logged now.
  bool IsNews(const std::string& what, const std::string& how, MonotonicTime now);

 private:
  struct Complaint {
    std::string how;
    MonotonicTime said;
    MonotonicTime last;
  };

  std::map<std::string, Complaint> complaints_;  // The key is what has failed.
};

}  // namespace pintle::controller
