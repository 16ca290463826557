// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes how long to wait before the next attempt.
//
// The waits grow, and each has a random part, so that many clients do not return to a restarted server all at once.

#include <chrono>
#include <functional>

namespace pintle::kube {

// A source of numbers evenly distributed in [0, 1).
using Random = std::function<double()>;

// Returns a source that is seeded by the kernel.
Random SystemRandom();

// The slack of timers for back-offs.  The slack is small, because the random part spreads the waits already.
inline constexpr std::chrono::microseconds kRetrySlack = std::chrono::milliseconds(10);

class Backoff {
 public:
  struct Settings {
    std::chrono::milliseconds first = std::chrono::milliseconds(500);
    std::chrono::milliseconds longest = std::chrono::seconds(30);
    double jitter = 1;  // The largest random addition, relative to the wait without it.
  };

  Backoff(Settings settings, Random random) : settings_(settings), random_(std::move(random)), next_(settings.first) {}

  std::chrono::milliseconds Next();
  void Reset() { next_ = settings_.first; }

 private:
  Settings settings_;
  Random random_;
  std::chrono::milliseconds next_;
};

}  // namespace pintle::kube
