// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads members of a table of TOML as Go's decoder fills a struct: a missing member leaves the value as it is, and
// upper and lower case of keys do not matter.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace pintle::generated {

// Each of these functions reads a member of the type of `to`.  A member of another type is an error.
Result<> ReadToml(const json::Value& table, std::string_view name, std::string& to);
Result<> ReadToml(const json::Value& table, std::string_view name, bool& to);
// It is an error if the number does not fit into an unsigned number of 32 bits.
Result<> ReadToml(const json::Value& table, std::string_view name, std::uint32_t& to);
Result<> ReadToml(const json::Value& table, std::string_view name, std::optional<std::vector<std::string>>& to);
Result<> ReadToml(const json::Value& table, std::string_view name, std::map<std::string, std::string>& to);

// Returns the table of this name, or an empty table if there is none.
Result<const json::Value*> TableIn(const json::Value& table, std::string_view name);
// Returns the tables in the list of this name, or none if there is no such list.
Result<std::vector<const json::Value*>> TablesIn(const json::Value& table, std::string_view name);

}  // namespace pintle::generated
