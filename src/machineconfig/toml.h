// SPDX-License-Identifier: Apache-2.0
#pragma once

// TOML to JSON values: the files of the container tools (registries.conf, crio.conf.d) are written in it.

#include <string_view>

#include "base/result.h"
#include "json/parse.h"

namespace pintle::machineconfig {

// Reads TOML 1.0.  Dates and times become texts.  An error says the line and the last key, in the manner of the reader
// that the Machine Config Operator uses: `toml: line 1 (last key "a"): expected value but found '=' instead`.
Result<json::Value> ParseToml(std::string_view text);

}  // namespace pintle::machineconfig
