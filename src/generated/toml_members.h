// SPDX-License-Identifier: Apache-2.0
#pragma once

// Taking the members of a table of TOML that a program knows, as Go's reader fills a struct with them: a member that is
// missing leaves the value as it is, and names differ in case at will.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace pintle::generated {

// nullptr: there is none.
const json::Value* FindTomlMember(const json::Value& table, std::string_view name);

Result<> TakeToml(const json::Value& table, std::string_view name, std::string& to);
Result<> TakeToml(const json::Value& table, std::string_view name, bool& to);
// Of 32 bits, without a sign.
Result<> TakeToml(const json::Value& table, std::string_view name, std::uint32_t& to);
Result<> TakeToml(const json::Value& table, std::string_view name, std::optional<std::vector<std::string>>& to);
Result<> TakeToml(const json::Value& table, std::string_view name, std::map<std::string, std::string>& to);

// A table, or an empty one.
Result<const json::Value*> TableIn(const json::Value& table, std::string_view name);
// The tables of a list.
Result<std::vector<const json::Value*>> TablesIn(const json::Value& table, std::string_view name);

}  // namespace pintle::generated
