// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that are named on the command line.

#include <string>
#include <vector>

#include "base/result.h"
#include "json/parse.h"

namespace pintle::ctl {

// The whole of a file, or with "-" of standard input.  One that is longer than `limit` is an error.
Result<std::string> ReadInput(const std::string& path, std::size_t limit = json::ParseLimits().bytes);

// All documents of a file of JSON or YAML.
Result<std::vector<json::Value>> ReadDocuments(const std::string& path);

}  // namespace pintle::ctl
