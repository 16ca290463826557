// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which recurring errors are logged.
//
// An error that stays the same is logged once, and then every hour while it lasts, so that it is not only found at the
// start of a long log.  An error that comes back after a while is logged again.

#include <chrono>
#include <map>
#include <string>

#include "base/clock.h"

namespace pintle::controller {

inline constexpr auto kLoggedAgainAfter = std::chrono::hours(1);
// All retries come more often than this, so an action that has not failed for this long has succeeded.
inline constexpr auto kForgottenAfter = std::chrono::minutes(15);

// Failures that may pass by themselves are reported only when there are more than this many in a row.
inline constexpr int kFailuresBeforeReport = 2;

class Complaints {
 public:
  // Returns whether the caller should log the error `message` of the action `what` now.
  bool ShouldLog(const std::string& what, const std::string& message, MonotonicTime now);

 private:
  struct Complaint {
    std::string message;
    MonotonicTime logged;
    MonotonicTime last;  // The last time that the action failed.
  };

  std::map<std::string, Complaint> complaints_;  // The key is the action that failed.
};

}  // namespace pintle::controller
