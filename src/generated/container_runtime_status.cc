// SPDX-License-Identifier: Apache-2.0
#include "generated/container_runtime_status.h"

#include <fmt/core.h>

#include <cstddef>
#include <utility>

#include "generated/runtime_templates.h"

namespace pintle::generated {
namespace {

constexpr std::string_view kSuccess = "Success";
constexpr std::string_view kFailure = "Failure";

}  // namespace

std::string ProblemWith(const Error& error) { return "Error: " + error.message(); }

std::string ProblemOfName(const Error& error) { return "could not get ctrcfg key: " + error.message(); }

std::string ProblemOfTemplates(const Error& error) {
  return fmt::format("{}: {}", kNoTemplatesForRuntimeConfigs, error.message());
}

std::string ProblemOfWriting(const Error& error) { return "could not Create/Update MachineConfig: " + error.message(); }

std::optional<api::ContainerRuntimeConfigStatus> StatusAfter(const api::ContainerRuntimeConfig& config,
                                                             std::string_view problem, WallTime now) {
  constexpr std::size_t kMostConditions = 3;
  api::ContainerRuntimeConfigStatus status = config.status;
  status.observed_generation = config.metadata.generation;
  auto& conditions = status.conditions;
  api::BriefCondition condition;
  condition.type = problem.empty() ? kSuccess : kFailure;
  condition.status = "True";
  condition.last_transition_time = api::Time{now};
  condition.message = problem.empty() ? kSuccess : problem;
  const bool is_reported =
      !conditions.empty() && conditions.back().type == condition.type && conditions.back().message == condition.message;
  if (is_reported && config.status.observed_generation == status.observed_generation) return {};
  if (is_reported) return status;
  conditions.push_back(std::move(condition));
  if (conditions.size() > kMostConditions) {
    conditions.erase(conditions.begin(), conditions.end() - static_cast<std::ptrdiff_t>(kMostConditions));
  }
  return status;
}

}  // namespace pintle::generated
