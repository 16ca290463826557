// SPDX-License-Identifier: Apache-2.0
#include "generated/toml_members.h"

#include <fmt/core.h>
#include <strings.h>

#include <limits>

namespace pintle::generated {
namespace {

std::string_view TomlTypeOf(const json::Value& value) {
  switch (value.type()) {
    case json::Value::Type::kBoolean:
      return "boolean";
    case json::Value::Type::kInteger:
    case json::Value::Type::kUnsigned:
      return "integer";
    case json::Value::Type::kReal:
      return "float";
    case json::Value::Type::kString:
      return "string";
    case json::Value::Type::kArray:
      return "array";
    case json::Value::Type::kObject:
      return "table";
    case json::Value::Type::kNull:
      break;
  }
  return "nothing";
}

Error WrongType(std::string_view name, const json::Value& value, std::string_view wanted) {
  return Error(ErrorKind::kInvalid, fmt::format("toml: incompatible types: \"{}\" has type {}; its type must be {}",
                                                name, TomlTypeOf(value), wanted));
}

Result<std::vector<std::string>> TextsOf(std::string_view name, const json::Value& list) {
  if (!list.is_array()) return WrongType(name, list, "list of strings");
  std::vector<std::string> texts;
  for (const json::Value& element : list) {
    if (!element.is_string()) return WrongType(name, element, "string");
    texts.push_back(element.text());
  }
  return texts;
}

const json::Value& EmptyTable() {
  static const json::Value kNone = json::Value::object();
  return kNone;
}

// Returns nullptr if there is no such member.
const json::Value* FindTomlMember(const json::Value& table, std::string_view name) {
  if (const json::Value* member = table.Find(name)) return member;
  if (!table.is_object()) return nullptr;
  for (const auto& [key, member] : table.members()) {
    if (key.size() == name.size() && strncasecmp(key.data(), name.data(), name.size()) == 0) return &member;
  }
  return nullptr;
}

}  // namespace

Result<> ReadToml(const json::Value& table, std::string_view name, std::string& to) {
  const json::Value* member = FindTomlMember(table, name);
  if (member == nullptr) return {};
  if (!member->is_string()) return WrongType(name, *member, "string");
  to = member->text();
  return {};
}

Result<> ReadToml(const json::Value& table, std::string_view name, bool& to) {
  const json::Value* member = FindTomlMember(table, name);
  if (member == nullptr) return {};
  if (!member->is_boolean()) return WrongType(name, *member, "boolean");
  to = member->boolean();
  return {};
}

Result<> ReadToml(const json::Value& table, std::string_view name, std::uint32_t& to) {
  const json::Value* member = FindTomlMember(table, name);
  if (member == nullptr) return {};
  if (!member->is_integer()) return WrongType(name, *member, "integer");
  const std::int64_t number = member->integer();
  if (number < 0 || number > std::numeric_limits<std::uint32_t>::max()) {
    return Error(ErrorKind::kInvalid, fmt::format("toml: {} is out of range for uint32", number));
  }
  to = static_cast<std::uint32_t>(number);
  return {};
}

Result<> ReadToml(const json::Value& table, std::string_view name, std::optional<std::vector<std::string>>& to) {
  const json::Value* member = FindTomlMember(table, name);
  if (member != nullptr) to = TRY(TextsOf(name, *member));
  return {};
}

Result<> ReadToml(const json::Value& table, std::string_view name, std::map<std::string, std::string>& to) {
  for (const auto& [key, value] : TRY(TableIn(table, name))->members()) {
    if (!value.is_string()) return WrongType(key, value, "string");
    to[key] = value.text();
  }
  return {};
}

Result<const json::Value*> TableIn(const json::Value& table, std::string_view name) {
  const json::Value* member = FindTomlMember(table, name);
  if (member == nullptr) return &EmptyTable();
  if (!member->is_object()) return WrongType(name, *member, "table");
  return member;
}

Result<std::vector<const json::Value*>> TablesIn(const json::Value& table, std::string_view name) {
  std::vector<const json::Value*> tables;
  const json::Value* member = FindTomlMember(table, name);
  if (member == nullptr) return tables;
  if (!member->is_array()) return WrongType(name, *member, "list of tables");
  for (const json::Value& element : *member) {
    if (!element.is_object()) return WrongType(name, element, "table");
    tables.push_back(&element);
  }
  return tables;
}

}  // namespace pintle::generated
