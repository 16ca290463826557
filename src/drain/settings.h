// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long drains of a pool's nodes may take and how often they are tried: as the Machine Config Operator has it,
// unless the pool says otherwise by annotations such as `pintle.io/drain-timeout: 3h`.

#include <chrono>
#include <string>
#include <vector>

#include "api/machine_config_pool.h"
#include "base/result.h"

namespace pintle::drain {

struct Settings {
  using Time = std::chrono::milliseconds;

  Time timeout = std::chrono::hours(1);           // drain-timeout: then people are told; it goes on.
  Time attempt = std::chrono::seconds(90);        // drain-attempt: how long one attempt takes.
  Time pause = std::chrono::minutes(1);           // drain-pause: between two attempts.
  Time slow_after = std::chrono::minutes(10);     // drain-slow-after: then there are longer pauses,
  Time slow_pause = std::chrono::minutes(5);      // drain-slow-pause: of this.
  Time eviction_retry = std::chrono::seconds(5);  // drain-eviction-retry: a pod that a budget kept is asked again.

  bool operator==(const Settings&) const = default;
};

struct PoolSettings {
  Settings settings;
  std::vector<Error> problems;  // One for each annotation that cannot be used, in whose place the default is.
};
PoolSettings SettingsOf(const api::MachineConfigPool& pool);

}  // namespace pintle::drain
