// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is written to a Node during a drain, as merge patches.  Nothing: it is so already, or is no longer wanted.

#include <optional>

#include "api/node.h"
#include "base/clock.h"
#include "drain/protocol.h"
#include "json/fields.h"

namespace pintle::drain {

// Keeps off new pods and starts the clock.  A cordon that is there without a drain is somebody's own, and is noted to
// be kept.
std::optional<json::Value> ToCordon(const api::Node& now, const Request& request, WallTime when);

// Lets pods come back, unless somebody had cordoned the node.
std::optional<json::Value> ToUncordon(const api::Node& now, const Request& request);

// Tells the agent.  Of a drain only while the node is cordoned: otherwise new pods may have come.
std::optional<json::Value> ToAnswer(const api::Node& now, const Request& request);

// Whether the node was cordoned before it was drained.
bool KeepsCordon(const api::Node& node);

}  // namespace pintle::drain
