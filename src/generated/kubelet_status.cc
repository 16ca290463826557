// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_status.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace pintle::generated {
namespace {

constexpr std::string_view kAccepted = "Accepted";
constexpr std::string_view kOldSuccess = "Success";
constexpr std::string_view kOldFailure = "Failure";
constexpr std::size_t kOutcomesKept = 3;

api::BriefCondition Condition(std::string_view type, const char* status, const std::string& message, WallTime now) {
  return {
      .type = std::string(type),
      .status = status,
      .last_transition_time = api::Time{now},
      .reason = "",
      .message = message,
  };
}

bool IsSameExceptTime(const api::BriefCondition& a, const api::BriefCondition& b) {
  return a.type == b.type && a.status == b.status && a.reason == b.reason && a.message == b.message;
}

bool IsSameExceptTime(const api::KubeletConfigStatus& a, const api::KubeletConfigStatus& b) {
  return a.observed_generation == b.observed_generation &&
         std::equal(a.conditions.begin(), a.conditions.end(), b.conditions.begin(), b.conditions.end(),
                    [](const auto& x, const auto& y) { return IsSameExceptTime(x, y); });
}

}  // namespace

KubeletOutcome Accepted() { return {.is_accepted = true, .message = "Success"}; }
KubeletOutcome Refused(const Error& error) { return {.is_accepted = false, .message = "Error: " + error.message()}; }
KubeletOutcome OutcomeWithoutName(const Error& error) {
  return {.is_accepted = false, .message = "could not get kubelet config key: " + error.message()};
}
KubeletOutcome OutcomeWithoutBase(const Error& error) {
  return {.is_accepted = false, .message = "could not get original kubelet config: " + error.message()};
}

std::optional<api::KubeletConfigStatus> StatusAfter(const api::KubeletConfig& object, const KubeletOutcome& outcome,
                                                    WallTime now) {
  api::KubeletConfigStatus status = object.status;
  auto& conditions = status.conditions;
  status.observed_generation = object.metadata.generation;
  std::erase_if(conditions, [](const auto& c) { return c.type == kOldSuccess || c.type == kOldFailure; });
  api::BriefCondition newest = Condition(kAccepted, outcome.is_accepted ? "True" : "False", outcome.message, now);
  const bool is_again = !conditions.empty() && conditions.back().message == outcome.message;
  if (is_again) conditions.pop_back();
  conditions.push_back(std::move(newest));
  if (conditions.size() > kOutcomesKept) {
    conditions.erase(conditions.begin(), conditions.end() - static_cast<std::ptrdiff_t>(kOutcomesKept));
  }
  conditions.push_back(Condition(outcome.is_accepted ? kOldSuccess : kOldFailure, "True", outcome.message, now));
  if (IsSameExceptTime(status, object.status)) return {};
  return status;
}

}  // namespace pintle::generated
