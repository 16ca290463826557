// SPDX-License-Identifier: Apache-2.0
#pragma once

// The time limits and intervals for drains of a pool's nodes.  The defaults are those of the Machine Config Operator;
// annotations of the pool, such as `pintle.io/drain-timeout: 3h`, override them.

#include <chrono>
#include <string>
#include <vector>

#include "api/machine_config_pool.h"
#include "base/result.h"

namespace pintle::drain {

struct Settings {
  using Time = std::chrono::milliseconds;

  Time timeout = std::chrono::hours(1);           // drain-timeout: a longer drain is reported, and goes on.
  Time attempt = std::chrono::seconds(90);        // drain-attempt: the duration of one attempt.
  Time pause = std::chrono::minutes(1);           // drain-pause: the time between two attempts.
  Time slow_after = std::chrono::minutes(10);     // drain-slow-after: the pauses are longer from then on.
  Time slow_pause = std::chrono::minutes(5);      // drain-slow-pause: the longer pause.
  Time eviction_retry = std::chrono::seconds(5);  // drain-eviction-retry: the interval after a budget's refusal.

  bool operator==(const Settings&) const = default;
};

struct PoolSettings {
  Settings settings;
  std::vector<Error> problems;  // An error for each invalid annotation, in place of which the default is used.
};
PoolSettings SettingsOf(const api::MachineConfigPool& pool);

}  // namespace pintle::drain
