// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the files of cases, and compares configs with the expected ones.
//
// These functions throw an exception if a file cannot be read: then the vectors are not what the runner expects.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "generated/machine_config.h"
#include "json/parse.h"

namespace pintle::vectors {

std::string TextOf(const std::filesystem::path& path);
json::Value JsonOf(const std::filesystem::path& path);
// Returns all documents of a YAML file.
std::vector<json::Value> DocumentsOf(const std::filesystem::path& path);

// Returns the sorted names in a folder.
std::vector<std::string> NamesIn(const std::filesystem::path& folder);

// Compares configs, in the order in which they were made, with an output folder, which has _order.json and NAME.json,
// or error.txt.  Returns the first difference, or "" if they agree.
std::string DifferenceFrom(const std::filesystem::path& folder,
                           const Result<std::vector<generated::MachineConfig>>& configs);

// Returns how two texts differ, or "" if they agree.  If `got` does not end with a newline, those at the end of
// `expected` do not count.
std::string DifferenceOfTexts(std::string_view expected, std::string_view got);

}  // namespace pintle::vectors
