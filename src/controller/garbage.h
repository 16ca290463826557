// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds rendered configs that nobody needs any more.
//
// A cluster renders hundreds of configs in its life, each as large as all configs that it was rendered from.  A node
// needs the config that it has, the config that it is to get, and the config that it first booted with.  A pool needs
// its target, and the config that all of its nodes have reached and may go back to.  A build of an image needs its
// config.  The newest of the other configs are kept as well, for people who investigate.
//
// Another controller that managed the cluster before may have kept configs for good reasons.  So each pool has a time
// until which all of its rendered configs are kept: a day after Pintle began to manage it, or later if a person changes
// the annotation.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "controller/view.h"

namespace pintle::controller {

// An annotation of a pool; its value is a time.
inline constexpr std::string_view kKeptUntilAnnotation = "pintle.io/rendered-configs-kept-until";
inline constexpr auto kKeptAfterTakeover = std::chrono::hours(24);

// Returns the time in the annotation, or nullopt if the annotation is missing or is not a time.
std::optional<WallTime> KeptUntil(const api::MachineConfigPool& pool);

// A rendered config that nobody needs.
struct Garbage {
  std::string pool;
  std::string name;
  std::string uid;
};

// If an object that may need any rendered config cannot be read, no config may be removed now, and this function
// returns the reason.  Otherwise returns "".
std::string WhyGarbageIsUnknown(const View& view);

// Finds the rendered configs that nobody needs, except the newest `kept_for_each_pool` of each pool.  Includes those
// that are not due for removal yet.  Finds nothing while WhyGarbageIsUnknown() returns a reason.
std::vector<Garbage> FindGarbage(const View& view, std::size_t kept_for_each_pool);

}  // namespace pintle::controller
