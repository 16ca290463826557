// SPDX-License-Identifier: Apache-2.0
#pragma once

// The features of a release that are on, and those that are off.

#include <map>
#include <string>
#include <string_view>

#include "api/feature_gate.h"
#include "base/result.h"

namespace pintle::generated {

using FeatureGates = std::map<std::string, bool>;

// It is an error if the object does not list the release.
Result<FeatureGates> FeatureGatesOf(const api::FeatureGate& object, std::string_view release);

// Returns whether the gate is known and on.
bool IsOpen(const FeatureGates& gates, std::string_view name);

}  // namespace pintle::generated
