// SPDX-License-Identifier: Apache-2.0
#pragma once

// Spec 3.5: what it refuses, and how it becomes, and comes from, its neighbour.

#include <string_view>

#include "base/result.h"
#include "ignition/reading.h"
#include "ignition/v3_4/types.h"
#include "ignition/v3_5/types.h"
#include "json/report.h"

namespace pintle::ignition::v3_5 {

inline constexpr std::string_view kVersion = "3.5.0";

void Validate(const Config& config, json::Report& report);

// The same for a config whose sources an older version, or this one, has accepted: what one takes, all later ones take.
void ValidateParsed(const Config& config, json::Report& report);

// Reads a document of this version or an older one.
Config ReadCompatible(Reading& reading);

Config FromPrevious(v3_4::Config config);

// The Machine Config Operator serves a config without what spec 3.4 cannot say; that is told in `lost`.
Result<v3_4::Config> ToPrevious(Config config, json::Report& lost);

}  // namespace pintle::ignition::v3_5
