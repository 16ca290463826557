// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_conditions.h"

#include <fmt/core.h>

#include <string>

#include "api/conditions.h"

namespace pintle::controller {
namespace {

constexpr std::string_view kTrue = "True";
constexpr std::string_view kUnknown = "Unknown";

// The reason of the parent condition is the child's type, such as Drained.  The reason of the child condition is made
// of both types, such as UpdateExecutedDrained.
DrainMoment MakeMoment(std::string_view parent, std::string_view parent_status, std::string_view child,
                       std::string_view message, std::string_view child_status, std::string_view child_message) {
  return {api::MakeCondition(parent, parent_status, child, message),
          api::MakeCondition(child, child_status, fmt::format("{}{}", parent, child), child_message)};
}

// Makes a moment of the phase UpdateExecuted.
DrainMoment Executed(std::string_view child, std::string_view message, std::string_view child_status,
                     std::string_view child_message) {
  return MakeMoment("UpdateExecuted", kUnknown, child, message, child_status, child_message);
}

std::string WithUnschedulable(std::string_view message, bool is_cordoned) {
  return fmt::format("{} The node is reporting Unschedulable = {}", message, is_cordoned);
}

// Sets a condition, unless the condition of its type has the same status and message already.  Returns whether the
// condition was set.
bool SetUnlessSame(std::vector<api::Condition>& conditions, const api::Condition& wanted, api::Time now) {
  if (api::HasSameReport(api::FindCondition(conditions, wanted.type), wanted)) return false;
  api::PutCondition(conditions, wanted, now);
  return true;
}

}  // namespace

namespace drain_moment {

DrainMoment Cordoned() {
  return Executed("Cordoned", "Cordoned Node as part of update executed phase", kTrue,
                  WithUnschedulable("Cordoned node.", true));
}

DrainMoment CordonFailed(std::string_view why, bool is_cordoned) {
  return Executed("Cordoned", "Failed to Cordon Node as part of In progress update phase", kUnknown,
                  WithUnschedulable(fmt::format("Error: Failed to Cordon node. Error is {},", why), is_cordoned));
}

DrainMoment Draining(std::string_view asked, std::string_view answered) {
  return Executed("Drained", "Draining Node as part of update executed phase", kUnknown,
                  fmt::format("Draining node. The drain will not be complete until desired drainer {} matches current "
                              "drainer {}",
                              asked, answered));
}

DrainMoment DrainFailed(std::string_view why, std::string_view asked, std::string_view answered) {
  return Executed("Drained", "Node Drain has not succeeded", kUnknown,
                  fmt::format("Error: Node Drain has not succeeded. Error is: {} The drain will not be complete until "
                              "desired drainer {} matches current drainer {}",
                              why, asked, answered));
}

DrainMoment Drained(std::string_view asked) {
  return Executed(
      "Drained", "Drained Node as part of update executed phase", kTrue,
      fmt::format("Drained node. The drain is complete as the desired drainer matches current drainer: {}", asked));
}

DrainMoment Uncordoned(bool is_cordoned) {
  return MakeMoment("UpdateComplete", kTrue, "Uncordoned", "Uncordoned Node as part of completing upgrade phase", kTrue,
                    WithUnschedulable("UnCordoned node.", is_cordoned));
}

DrainMoment UncordonFailed(std::string_view why, bool is_cordoned) {
  return MakeMoment("UpdateComplete", kUnknown, "Uncordoned",
                    "Failed to Uncordon Node as part of completing upgrade phase", kUnknown,
                    WithUnschedulable(fmt::format("Error: Failed to UnCordon node. Error is: {}", why), is_cordoned));
}

}  // namespace drain_moment

std::optional<std::vector<api::Condition>> NextConditions(std::vector<api::Condition> known, const DrainMoment& moment,
                                                          api::Time now) {
  const bool changes_parent = SetUnlessSame(known, moment.parent, now);
  const bool changes_child = SetUnlessSame(known, moment.child, now);
  if (!changes_parent && !changes_child) return std::nullopt;
  return known;
}

}  // namespace pintle::controller
