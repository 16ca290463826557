// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that people write, by the names that they give them on a command line or in a directory.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/parse.h"

namespace pintle::machineconfig {

// The whole of a file, or with "-" of standard input.  One that is longer than `limit` is an error.
Result<std::string> ReadInput(const std::string& path, std::size_t limit = json::ParseLimits().bytes);

// Whether a directory may be named that has none of the files that are wanted.
enum class EmptyDirectory { kAllowed, kRefused };

// In the place of each directory those files in it, in the order of their names, that have one of these endings; what
// is no directory stays as it is.
Result<std::vector<std::string>> FilesNamedBy(std::span<const std::string> inputs,
                                              std::span<const std::string_view> endings, EmptyDirectory empty);

// All documents of a file of JSON or YAML.
Result<std::vector<json::Value>> ReadDocuments(const std::string& path);

}  // namespace pintle::machineconfig
