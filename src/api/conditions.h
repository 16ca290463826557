// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes, finds and sets conditions in the status of an object.

#include <span>
#include <string_view>
#include <vector>

#include "api/meta.h"

namespace pintle::api {

// Makes a condition without a transition time.  The message becomes printable, and is cut to the length that the API
// allows.
Condition MakeCondition(std::string_view type, std::string_view status, std::string_view reason,
                        std::string_view message);

// Returns the first condition of a type, or nullptr.
const Condition* FindCondition(std::span<const Condition> conditions, std::string_view type);
Condition* FindCondition(std::vector<Condition>& conditions, std::string_view type);

// Returns whether `known` exists, and has the status and the message of `wanted`.
bool HasSameReport(const Condition* known, const Condition& wanted);

// Adds the condition, or replaces the condition of its type.  Its transition time becomes `now`, even if only the
// message is new, as the Machine Config Operator does it for the conditions of a MachineConfigNode.
void PutCondition(std::vector<Condition>& conditions, const Condition& wanted, Time now);

}  // namespace pintle::api
