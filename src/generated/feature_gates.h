// SPDX-License-Identifier: Apache-2.0
#pragma once

// The feature gates of a release.  A feature is on if its gate is open.

#include <map>
#include <string>
#include <string_view>

#include "api/feature_gate.h"
#include "base/result.h"

namespace pintle::generated {

using FeatureGates = std::map<std::string, bool>;

// Returns the gates of one release.  It is an error if the object does not list the release.
Result<FeatureGates> FeatureGatesOf(const api::FeatureGate& object, std::string_view release);

// Returns whether there is a gate of this name, and it is open.
bool IsOpen(const FeatureGates& gates, std::string_view name);

}  // namespace pintle::generated
