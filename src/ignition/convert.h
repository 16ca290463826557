// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts a config to a document of an older version.
//
// If the older version has no equivalent of something in the config, that is an error that names the path and the
// feature: a machine must not come up with less than was asked for.

#include <string>

#include "base/result.h"
#include "ignition/config.h"
#include "ignition/spec_version.h"
#include "json/parse.h"
#include "json/report.h"

namespace pintle::ignition {

// `lost` gets warnings about what the Machine Config Operator drops silently.
Result<json::Value> ConvertTo(Config config, SpecVersion version, json::Report* lost = nullptr);

// Like ConvertTo(), but returns the text that the Machine Config Operator serves, byte for byte.
Result<std::string> ConvertToText(Config config, SpecVersion version, json::Report* lost = nullptr);

}  // namespace pintle::ignition
