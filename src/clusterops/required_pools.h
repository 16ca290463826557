// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pools that an upgrade of the cluster waits for.
//
// A release counts as installed when all nodes of these pools have configs that were rendered from it.  Until then the
// ClusterOperator keeps the old version, and the cluster's version operator does not go on.  The pools have ten minutes
// for each of their machines.  After that, the wait is reported as a failure until the pools are ready.  A paused pool
// with pending updates is reported as a failure at once.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/machine_config.h"
#include "api/machine_config_pool.h"
#include "base/clock.h"

namespace pintle::clusterops {

struct RequiredPoolsInputs {
  std::span<const api::MachineConfigPool* const> pools;
  // Returns a config by its name, or nullptr.
  std::function<const api::MachineConfig*(std::string_view name)> config_named;
  // The version that generated configs must have.
  std::string controller_version = {};
  // The release that the pools' configs must be made for; empty to accept any release.
  std::string release = {};
  // The OS image that the config of a pool must have, by pool.  The image is not checked if the pool is missing here,
  // or if the config has kOsImageUrlOverriddenAnnotation.
  std::map<std::string, std::string, std::less<>> os_images = {};
  WallTime now = {};
  // The time at which the caller first found that these pools are not ready.
  std::optional<WallTime> waiting_since = {};
};

struct RequiredPools {
  std::string failure;  // The reason why a person has to act; empty if nobody has to.
  std::string waiting;  // The reason why the pools are not ready yet; empty if they are, or if `failure` is set.
  // The time at which the wait began, and the time at which the wait becomes a failure.  `until` is set only during the
  // wait.
  std::optional<WallTime> since = {};
  std::optional<WallTime> until = {};

  bool are_ready() const { return failure.empty() && waiting.empty(); }
};

// Returns whether the required pools have the release, or else the reason why they do not have it.
RequiredPools LookAtRequiredPools(const RequiredPoolsInputs& inputs);

}  // namespace pintle::clusterops
