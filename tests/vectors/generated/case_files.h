// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of cases, and the configs that a case has for its answer.
//
// What cannot be read is thrown: then the vectors are not what the runner takes them for.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "generated/machine_config.h"
#include "json/parse.h"

namespace pintle::vectors {

std::string TextOf(const std::filesystem::path& path);
json::Value JsonOf(const std::filesystem::path& path);
// All documents of a file of YAML.
std::vector<json::Value> DocumentsOf(const std::filesystem::path& path);

// The names in a folder, sorted.
std::vector<std::string> NamesIn(const std::filesystem::path& folder);

// How configs, in the order in which they were made, differ from an output folder: _order.json and NAME.json, or
// error.txt.  Empty if they do not.
std::string DifferenceFrom(const std::filesystem::path& folder,
                           const Result<std::vector<generated::MachineConfig>>& configs);

// How an error, or a text, differs.
std::string DifferenceOfTexts(std::string_view expected, std::string_view got);

}  // namespace pintle::vectors
