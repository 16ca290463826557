// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rendered configs that nobody needs any more.
//
// A cluster renders hundreds of them in its life, each as large as all that it was rendered from.  One is needed as
// long as a node has it, is to have it or booted with it first, a pool has it as its target or as what all its nodes
// reached and may go back to, or an image is being built from it.  The newest others of each pool are kept as well, for
// people who look back.
//
// Whoever takes over a cluster finds what another controller has left there, perhaps for good reasons.  So each pool
// says until when all of its rendered configs are kept: for a day from when it was looked after first, or for longer if
// somebody wants that.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "controller/view.h"

namespace pintle::controller {

// Of a pool, with a time as its value.
inline constexpr std::string_view kKeptUntilAnnotation = "pintle.io/rendered-configs-kept-until";
inline constexpr auto kKeptAfterTakeover = std::chrono::hours(24);

// Nothing if the annotation is missing or is not a time.
std::optional<WallTime> KeptUntil(const api::MachineConfigPool& pool);

struct Garbage {
  std::string pool;
  std::string name;
  std::string uid;
};

// Finds every config that no node and no pool needs, also those that are not due for removal yet.
std::vector<Garbage> FindGarbage(const View& view, std::size_t kept_for_each_pool);

}  // namespace pintle::controller
