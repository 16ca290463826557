// SPDX-License-Identifier: Apache-2.0
#include "generated/template_status.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/first_characters.h"

namespace pintle::generated {
namespace {

constexpr std::string_view kCompletedType = "TemplateControllerCompleted";
constexpr std::string_view kFailingType = "TemplateControllerFailing";
constexpr std::string_view kRunningType = "TemplateControllerRunning";

enum class Truth { kFalse, kTrue };

void SetCondition(api::ControllerConfigStatus& status, std::string_view type, Truth truth, std::string_view message,
                  WallTime now) {
  api::Condition condition;
  condition.type = type;
  condition.status = truth == Truth::kTrue ? "True" : "False";
  condition.last_transition_time = api::Time{now};
  condition.message = FirstCharacters(message, api::kLongestConditionMessage);
  auto& conditions = status.conditions;
  const auto known =
      std::find_if(conditions.begin(), conditions.end(), [&](const auto& other) { return other.type == type; });
  if (known != conditions.end()) {
    // A condition that stays false keeps the message with the reason why it became false.
    const bool is_same = known->status == condition.status;
    if (is_same && (known->message == condition.message || truth == Truth::kFalse)) return;
    if (is_same) condition.last_transition_time = known->last_transition_time;
    conditions.erase(known);
  }
  conditions.push_back(std::move(condition));
}

bool IsTrue(const api::ControllerConfigStatus& status, std::string_view type) {
  return std::any_of(status.conditions.begin(), status.conditions.end(),
                     [&](const auto& condition) { return condition.type == type && condition.status == "True"; });
}

// Returns the end of the operator's messages about a sync.
std::string Towards(const TemplateSync& sync) {
  return fmt::format("towards ({}) generation using controller version {}", sync.generation, sync.version);
}

}  // namespace

api::ControllerConfigStatus StatusWhenRunning(api::ControllerConfigStatus status, const TemplateSync& sync) {
  const std::string message = "syncing " + Towards(sync);
  SetCondition(status, kRunningType, Truth::kTrue, message, sync.now);
  if (IsTrue(status, kCompletedType)) {
    SetCondition(status, kCompletedType, Truth::kFalse, message + " due to change in Generation", sync.now);
  }
  status.observed_generation = sync.generation;
  return status;
}

api::ControllerConfigStatus StatusWhenFailing(api::ControllerConfigStatus status, const TemplateSync& sync,
                                              const Error& error) {
  SetCondition(status, kFailingType, Truth::kTrue,
               fmt::format("failed to syncing {}: {}", Towards(sync), error.message()), sync.now);
  SetCondition(status, kCompletedType, Truth::kFalse, "", sync.now);
  SetCondition(status, kRunningType, Truth::kFalse, "", sync.now);
  status.observed_generation = sync.generation;
  return status;
}

api::ControllerConfigStatus StatusWhenCompleted(api::ControllerConfigStatus status, const TemplateSync& sync) {
  SetCondition(status, kCompletedType, Truth::kTrue, "sync completed " + Towards(sync), sync.now);
  SetCondition(status, kRunningType, Truth::kFalse, "", sync.now);
  SetCondition(status, kFailingType, Truth::kFalse, "", sync.now);
  status.observed_generation = sync.generation;
  return status;
}

}  // namespace pintle::generated
