// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether a node has to be drained before a change.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plan/actions.h"
#include "plan/difference.h"

namespace pintle::plan {

struct Drain {
  bool is_needed = false;
  std::string reason;                // Why the drain is needed; empty if it is not.
  std::optional<std::string> error;  // Set if it cannot be decided whether a drain is needed; the update then fails.
};

// Decides for a running node.
Drain DrainFor(std::span<const Action> actions, const ParsedConfig& from, const ParsedConfig& to);

// Decides for a node that is not in the cluster yet.  `action` is the result of FirstBootActionFor().
Drain FirstBootDrainFor(std::string_view action, const Difference& difference, const ParsedConfig& from,
                        const ParsedConfig& to);

}  // namespace pintle::plan
