// SPDX-License-Identifier: Apache-2.0
#pragma once

// When requests came, so that tests can tell that whoever sends them waits longer each time.

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "kube/backoff.h"

namespace pintle::kube {

// Doubles for as long as a test lasts.  No request comes too early by chance, however slow the machine is.
inline constexpr Backoff::Settings kDoubling = {
    .first = std::chrono::milliseconds(2), .longest = std::chrono::hours(1), .jitter = 0};
// By so many requests a wait that does not grow is told from one that does.
inline constexpr std::size_t kEnough = 6;

class Arrivals {
 public:
  // From the threads of a server.
  void Note() {
    const std::lock_guard lock(mutex_);
    times_.push_back(std::chrono::steady_clock::now());
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return times_.size();
  }

  // Between each and the next one there was at least twice the time that there was before, but for the first of them.
  void MustDouble(std::chrono::milliseconds first = kDoubling.first) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 2; i < times_.size(); ++i, first *= 2) EXPECT_GE(times_[i] - times_[i - 1], first) << i;
  }

 private:
  std::mutex mutex_;
  std::vector<std::chrono::steady_clock::time_point> times_;
};

// How often something that always fails is tried in its first minute, by someone who waits so.
inline std::size_t RequestsInAMinute(Backoff::Settings settings) {
  Backoff backoff(settings, [] { return 0.0; });
  std::size_t requests = 1;
  for (auto at = backoff.Next(); at < std::chrono::minutes(1); at += backoff.Next()) ++requests;
  return requests;
}

}  // namespace pintle::kube
