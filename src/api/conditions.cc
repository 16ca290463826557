// SPDX-License-Identifier: Apache-2.0
#include "api/conditions.h"

#include <algorithm>
#include <string>

#include "base/first_characters.h"
#include "base/printable.h"

namespace pintle::api {

Condition MakeCondition(std::string_view type, std::string_view status, std::string_view reason,
                        std::string_view message) {
  return {.type = std::string(type),
          .status = std::string(status),
          .last_transition_time = {},
          .reason = std::string(reason),
          .message = FirstCharacters(PrintableLines(message), kLongestConditionMessage)};
}

const Condition* FindCondition(std::span<const Condition> conditions, std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const Condition& condition) { return condition.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

Condition* FindCondition(std::vector<Condition>& conditions, std::string_view type) {
  return const_cast<Condition*>(FindCondition(std::span<const Condition>(conditions), type));
}

bool HasSameReport(const Condition* known, const Condition& wanted) {
  return known != nullptr && known->status == wanted.status && known->message == wanted.message;
}

void PutCondition(std::vector<Condition>& conditions, const Condition& wanted, Time now) {
  Condition* known = FindCondition(conditions, wanted.type);
  if (known == nullptr) known = &conditions.emplace_back();
  *known = wanted;
  known->last_transition_time = now;
}

}  // namespace pintle::api
