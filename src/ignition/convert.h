// SPDX-License-Identifier: Apache-2.0
#pragma once

// A config as a document of an older version.
//
// Where an older version cannot say what a config says, this is an error that names the path and the feature: a machine
// must not come up with less than was asked for.

#include <string>

#include "base/result.h"
#include "ignition/config.h"
#include "ignition/spec_version.h"
#include "json/parse.h"
#include "json/report.h"

namespace pintle::ignition {

// What the Machine Config Operator serves without a word although it is lost is told in `lost`, as warnings.
Result<json::Value> ConvertTo(Config config, SpecVersion version, json::Report* lost = nullptr);

// The same as the text that the Machine Config Operator serves, byte for byte.
Result<std::string> ConvertToText(Config config, SpecVersion version, json::Report* lost = nullptr);

}  // namespace pintle::ignition
