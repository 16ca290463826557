// SPDX-License-Identifier: Apache-2.0
#include "kube/backoff.h"

#include <algorithm>
#include <memory>
#include <random>

namespace pintle::kube {

Random SystemRandom() {
  const auto engine = std::make_shared<std::mt19937_64>(std::random_device()());
  return [engine] { return std::uniform_real_distribution<double>()(*engine); };
}

std::chrono::milliseconds Backoff::Next() {
  const auto base = next_;
  next_ = std::min(next_ * 2, settings_.longest);
  const auto added = static_cast<double>(base.count()) * settings_.jitter * random_();
  return base + std::chrono::milliseconds(static_cast<std::int64_t>(added));
}

}  // namespace pintle::kube
