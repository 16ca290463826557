// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which features of a release are on, and which are off.

#include <map>
#include <string>
#include <string_view>

#include "api/feature_gate.h"
#include "base/result.h"

namespace pintle::generated {

using FeatureGates = std::map<std::string, bool>;

// The release has to be among those that the object speaks of.
Result<FeatureGates> FeatureGatesOf(const api::FeatureGate& object, std::string_view release);

}  // namespace pintle::generated
