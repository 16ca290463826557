// SPDX-License-Identifier: Apache-2.0
#pragma once

// Validates and reads spec 3.0, the oldest 3.x version.

#include <string_view>

#include "ignition/reading.h"
#include "ignition/v3_0/types.h"
#include "json/report.h"

namespace pintle::ignition::v3_0 {

inline constexpr std::string_view kVersion = "3.0.0";

void Validate(const Config& config, json::Report& report);

// Reads a document of this version.  The functions of this name for later versions also read older documents.
Config ReadThisOrOlder(Reading& reading);

}  // namespace pintle::ignition::v3_0
