// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses TOML, in which the configuration files of the container tools are written (registries.conf, crio.conf.d).

#include <string_view>

#include "base/result.h"
#include "json/parse.h"

namespace pintle::machineconfig {

// Reads TOML 1.0.  Dates and times become strings.  An error names the line and the last key, in the format of the
// Machine Config Operator's reader: `toml: line 1 (last key "a"): expected value but found '=' instead`.
Result<json::Value> ParseToml(std::string_view text);

}  // namespace pintle::machineconfig
