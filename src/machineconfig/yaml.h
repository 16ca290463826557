// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads YAML with kubectl's rules: `no` is false and 0644 is 420 (YAML 1.1), times stay strings, keys become strings,
// `<<` merges.
//
// Documents of Butane are an exception, because Butane's own reader knows which fields are strings: there, the value of
// `inline: on` is the string "on".

#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/parse.h"
#include "json/report.h"
#include "machineconfig/yaml_error.h"

namespace pintle::machineconfig {

// Reads all documents of a stream, without those that are empty or null.  A text that is one JSON object is read as
// JSON.  If the object is a Butane document, the text is read as YAML; if that fails, the JSON object is used.  An
// error names the line or the byte.  If a mapping has a key more than once, the last one counts, and `report`, unless
// it is null, gets a warning.
Result<std::vector<json::Value>> ParseYaml(std::string_view text, json::Report* report = nullptr,
                                           const json::ParseLimits& limits = {});

// Returns the first document as Go's yaml.v2 reads it, or null if there is none.  The caller decodes it into structs as
// Go does, so floating-point numbers keep their type: 1.0 does not become the integer 1, and infinity is no error.
// Errors have the texts of yaml.v2: "yaml: line 3: did not find expected key".  If quotes are forbidden, an error that
// would quote the document names the line instead.
Result<json::Value> ParseGoYaml(std::string_view text, Quotes quotes = Quotes::kAllowed,
                                const json::ParseLimits& limits = {});

}  // namespace pintle::machineconfig
