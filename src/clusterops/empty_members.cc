// SPDX-License-Identifier: Apache-2.0
#include "clusterops/empty_members.h"

#include <utility>

namespace pintle::clusterops {

using json::Value;

bool IsEmptyText(const Value& value) { return value.is_null() || (value.is_string() && value.text().empty()); }

Value WithoutEmptyMembers(const Value& value) {
  if (value.is_array()) {
    Value list = Value::array();
    for (const Value& element : value) list.push_back(WithoutEmptyMembers(element));
    return list;
  }
  if (!value.is_object()) return value;
  Value object = Value::object();
  for (const auto& [key, member] : value.members()) {
    Value kept = WithoutEmptyMembers(member);
    if (IsEmptyText(kept) || (kept.is_structured() && kept.empty())) continue;
    object[key] = std::move(kept);
  }
  return object;
}

}  // namespace pintle::clusterops
