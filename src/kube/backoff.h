// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long to wait before trying again: longer each time, and for each of many clients a bit differently, so that they
// do not all come back to a server at the moment it does.

#include <chrono>
#include <functional>

namespace pintle::kube {

// Evenly from [0, 1).
using Random = std::function<double()>;

// Seeded by the kernel.
Random SystemRandom();

// Of the timers for it: what is waited for is spread already.
inline constexpr std::chrono::microseconds kRetrySlack = std::chrono::milliseconds(10);

class Backoff {
 public:
  struct Settings {
    std::chrono::milliseconds first = std::chrono::milliseconds(500);
    std::chrono::milliseconds longest = std::chrono::seconds(30);
    double jitter = 1;  // What is added at most, as a part of the time itself.
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
