// SPDX-License-Identifier: Apache-2.0
#pragma once

// The merge patches that a drain writes to a Node.  The functions return nullopt if the Node is already as it should
// be, or if its agent no longer asks for the change.

#include <optional>

#include "api/node.h"
#include "base/clock.h"
#include "drain/protocol.h"
#include "json/field_list.h"

namespace pintle::drain {

// Cordons the node and writes the time at which the drain starts.  If the node is cordoned already, without a drain,
// somebody else has cordoned it, and the patch records that it has to stay cordoned.  If the node is not cordoned, the
// patch removes an earlier record of this kind.
std::optional<json::Value> CordonPatch(const api::Node& now, const Request& request, WallTime when);

// Uncordons the node, unless somebody else had cordoned it.
std::optional<json::Value> UncordonPatch(const api::Node& now, const Request& request);

// Answers the agent's request.  A drain is answered only while the node is cordoned: otherwise new pods may have come.
std::optional<json::Value> AnswerPatch(const api::Node& now, const Request& request);

// Returns whether the node was cordoned before it was drained.
bool KeepsCordon(const api::Node& node);

}  // namespace pintle::drain
