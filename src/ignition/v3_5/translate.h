// SPDX-License-Identifier: Apache-2.0
#pragma once

// Validates and reads spec 3.5, and translates it from and to the previous version.

#include <string_view>

#include "base/result.h"
#include "ignition/reading.h"
#include "ignition/v3_4/types.h"
#include "ignition/v3_5/types.h"
#include "json/report.h"

namespace pintle::ignition::v3_5 {

inline constexpr std::string_view kVersion = "3.5.0";

void Validate(const Config& config, json::Report& report);

// Validates a config without its sources.  They were validated when the config was read, by the rules of its version,
// and later versions accept all sources that older ones do.
void ValidateParsed(const Config& config, json::Report& report);

// Reads a document of this version or an older one.
Config ReadThisOrOlder(Reading& reading);

Config FromPrevious(v3_4::Config config);

// Drops fields that spec 3.4 does not support, as the Machine Config Operator does, with a warning in `lost`.
Result<v3_4::Config> ToPrevious(Config config, json::Report& lost);

}  // namespace pintle::ignition::v3_5
