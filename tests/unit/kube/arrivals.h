// SPDX-License-Identifier: Apache-2.0
#pragma once

// The times of requests, so that tests can check that the client waits longer each time.

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "kube/backoff.h"

namespace pintle::kube {

// The limit is so long that the interval doubles throughout a test, even on a slow machine.  Without jitter, no request
// comes too early.
inline constexpr Backoff::Settings kDoubling = {
    .first = std::chrono::milliseconds(2), .longest = std::chrono::hours(1), .jitter = 0};
// This many requests are enough to distinguish a growing interval from a constant one.
inline constexpr std::size_t kEnough = 6;

class Arrivals {
 public:
  // May be called from a server's threads.
  void Note() {
    const std::lock_guard lock(mutex_);
    times_.push_back(std::chrono::steady_clock::now());
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return times_.size();
  }

  // Checks that the first interval is not shorter than `first`, and each further one not shorter than a backoff that
  // doubles from there.
  void MustDouble(std::chrono::milliseconds first = kDoubling.first) {
    const std::lock_guard lock(mutex_);
    ASSERT_GE(times_.size(), 2U) << "there is no interval";
    for (std::size_t i = 1; i < times_.size(); ++i, first *= 2) EXPECT_GE(times_[i] - times_[i - 1], first) << i;
  }

 private:
  std::mutex mutex_;
  std::vector<std::chrono::steady_clock::time_point> times_;
};

// Returns how often a request that always fails is made in its first minute, with this backoff.
inline std::size_t RequestsInAMinute(Backoff::Settings settings) {
  Backoff backoff(settings, [] { return 0.0; });
  std::size_t requests = 1;
  for (auto at = backoff.Next(); at < std::chrono::minutes(1); at += backoff.Next()) ++requests;
  return requests;
}

}  // namespace pintle::kube
