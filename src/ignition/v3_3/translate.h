// SPDX-License-Identifier: Apache-2.0
#pragma once

// Validates and reads spec 3.3, and translates it from and to the previous version.

#include <string_view>

#include "base/result.h"
#include "ignition/reading.h"
#include "ignition/v3_2/types.h"
#include "ignition/v3_3/types.h"
#include "json/report.h"

namespace pintle::ignition::v3_3 {

inline constexpr std::string_view kVersion = "3.3.0";

void Validate(const Config& config, json::Report& report);

// Reads a document of this version or an older one.
Config ReadThisOrOlder(Reading& reading);

Config FromPrevious(v3_2::Config config);

// Anything that spec 3.2 does not support is an error.
Result<v3_2::Config> ToPrevious(Config config);

}  // namespace pintle::ignition::v3_3
