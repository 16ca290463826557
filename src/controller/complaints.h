// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which recurring errors are logged.
//
// An error that stays the same is logged once, and then every hour while it lasts, so that the end of a long log also
// contains the error.  An error that comes back after a while is logged again.

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
  // Returns whether the caller should log now that the action has failed with this message.
  bool ShouldLog(const std::string& action, const std::string& message, MonotonicTime now);

 private:
  struct Complaint {
    std::string message;
    MonotonicTime logged;  // When the message was logged last.
    MonotonicTime last;    // When the action failed last.
  };

  std::map<std::string, Complaint> complaints_;  // The key is the action that failed.
};

}  // namespace pintle::controller
