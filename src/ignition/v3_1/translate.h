// SPDX-License-Identifier: Apache-2.0
#pragma once

// Validates and reads spec 3.1, and translates it from the previous version.

#include <string_view>

#include "ignition/reading.h"
#include "ignition/v3_0/types.h"
#include "ignition/v3_1/types.h"
#include "json/report.h"

namespace pintle::ignition::v3_1 {

inline constexpr std::string_view kVersion = "3.1.0";

void Validate(const Config& config, json::Report& report);

// Reads a document of this version or an older one.
Config ReadThisOrOlder(Reading& reading);

Config FromPrevious(v3_0::Config config);

}  // namespace pintle::ignition::v3_1
