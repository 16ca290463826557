// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts a config to a document of an older version.
//
// If the older version has no equivalent of something in the config, the conversion fails, because a machine must not
// come up with less than was asked for.  The error names the path and the feature.

#include <string>

#include "base/result.h"
#include "ignition/config.h"
#include "ignition/spec_version.h"
#include "json/parse.h"
#include "json/report.h"

namespace pintle::ignition {

// A few fields are dropped nevertheless, because the Machine Config Operator drops them.  `lost` gets a warning about
// each.
Result<json::Value> ConvertTo(Config config, SpecVersion version, json::Report* lost = nullptr);

// Like ConvertTo(), but returns the text that the Machine Config Operator serves, byte for byte.
Result<std::string> ConvertToText(Config config, SpecVersion version, json::Report* lost = nullptr);

}  // namespace pintle::ignition
