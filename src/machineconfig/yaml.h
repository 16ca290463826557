// SPDX-License-Identifier: Apache-2.0
#pragma once

// YAML to JSON values, with the meaning that kubectl gives YAML: `no` is false and 0644 is 420 (YAML 1.1), times stay
// texts, keys become texts, `<<` merges.
//
// Butane is read by another reader, and so a document of it has texts where Butane has them: `inline: on` is "on".

#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/parse.h"
#include "json/report.h"

namespace pintle::machineconfig {

// Reads all documents of a stream; those that are empty or null are left out.  A text that is one JSON object is read
// as such.  An error says the line.  A key that stands twice in a mapping, of which the last silently wins, is told in
// `report` when there is one.
Result<std::vector<json::Value>> ParseYaml(std::string_view text, json::Report* report = nullptr,
                                           const json::ParseLimits& limits = {});

}  // namespace pintle::machineconfig
