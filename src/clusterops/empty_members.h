// SPDX-License-Identifier: Apache-2.0
#pragma once

// Removes empty members from a JSON value, so that values can be compared.

#include "json/value.h"

namespace pintle::clusterops {

// Returns whether the value is null or an empty text.
bool IsEmptyText(const json::Value& value);

// Returns the value without members that are null, "", {} or [].  Programs in Go write such members or leave them out,
// depending on which of them copies an object.
json::Value WithoutEmptyMembers(const json::Value& value);

}  // namespace pintle::clusterops
