// SPDX-License-Identifier: Apache-2.0
#include "clusterops/required_pools.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "clusterops/pool_labels.h"
#include "clusterops/pool_summary.h"

namespace pintle::clusterops {
namespace {

constexpr auto kPatiencePerMachine = std::chrono::minutes(10);

// The reason why a pool is not ready, and the time at which the pool ceased to be ready, if this time is known.
struct Obstacle {
  std::string message;
  std::optional<WallTime> since;
};

std::string EmptyFieldText(const api::MachineConfigPool& pool, std::string_view field) {
  return fmt::format("{} for pool {} is empty: {}", field, pool.metadata.name, PoolSummary(pool));
}

std::string NoSuchConfig(std::string_view name) {
  return fmt::format("machineconfig.machineconfiguration.openshift.io \"{}\" not found", name);
}

// Checks the config that all nodes have and its sources.  Returns a message about the first of these configs that does
// not exist or was not made by this version of the controller, or an empty text if all configs are right.
std::string ControllerMismatch(const api::MachineConfigPool& pool, const RequiredPoolsInputs& inputs) {
  const std::string& rendered = pool.status.configuration.name;
  std::vector<std::string_view> names = {rendered};
  for (const api::ObjectReference& source : pool.status.configuration.source) names.push_back(source.name);
  for (const std::string_view name : names) {
    const api::MachineConfig* const config = inputs.config_named(name);
    if (config == nullptr) return NoSuchConfig(name);
    const std::string* const version =
        api::Find(config->metadata.annotations, api::kGeneratedByControllerVersionAnnotation);
    if (version == nullptr) {
      if (name != rendered) continue;  // A person has written this config.
      return fmt::format("{} must be created by controller version {}: {}", name, inputs.controller_version,
                         PoolSummary(pool));
    }
    if (*version == inputs.controller_version) continue;
    return fmt::format("controller version mismatch for {} expected {} has {}: {}", name, inputs.controller_version,
                       *version, PoolSummary(pool));
  }
  return "";
}

// Returns a message if the config that all nodes have does not exist, has another OS image, or was not made for this
// release.  Otherwise returns an empty text.
std::string ReleaseMismatch(const api::MachineConfigPool& pool, const RequiredPoolsInputs& inputs) {
  const std::string& name = pool.status.configuration.name;
  const api::MachineConfig* const config = inputs.config_named(name);
  if (config == nullptr) return NoSuchConfig(name);
  const bool is_overridden = api::Find(config->metadata.annotations, api::kOsImageUrlOverriddenAnnotation) != nullptr;
  const auto image = inputs.os_images.find(pool.metadata.name);
  if (!is_overridden && image != inputs.os_images.end() && image->second != config->spec.os_image_url) {
    return fmt::format("osImageURL mismatch for {} in {} expected: {} got: {}", pool.metadata.name, name, image->second,
                       config->spec.os_image_url);
  }
  if (inputs.release.empty()) return "";
  const std::string* const release = api::Find(config->metadata.annotations, api::kReleaseImageVersionAnnotation);
  if (release == nullptr) {
    return fmt::format("unable to access annotation {} for {} expected: {}", api::kReleaseImageVersionAnnotation, name,
                       inputs.release);
  }
  if (*release != inputs.release) {
    return fmt::format("release image version mismatch for {} in {} expected: {} got: {}", pool.metadata.name, name,
                       inputs.release, *release);
  }
  return "";
}

// Returns why a pool does not have the configuration of the release, or an empty text if it has.
std::string WhyNotOfRelease(const api::MachineConfigPool& pool, const RequiredPoolsInputs& inputs) {
  if (pool.spec.configuration.name.empty()) return EmptyFieldText(pool, "configuration spec");
  if (pool.status.configuration.name.empty()) return EmptyFieldText(pool, "configuration status");
  if (pool.status.configuration.source.empty()) {
    return EmptyFieldText(pool, "list of MachineConfigs that were used to generate configuration");
  }
  const std::string why = ControllerMismatch(pool, inputs);
  return why.empty() ? ReleaseMismatch(pool, inputs) : why;
}

// Returns the time since which a condition has had this status.  Returns nullopt if the condition is missing, has
// another status or has no transition time.
std::optional<WallTime> Since(const api::MachineConfigPool& pool, std::string_view type, std::string_view status) {
  const api::Condition* const condition = LastCondition(pool, type);
  if (condition == nullptr || condition->status != status || !condition->last_transition_time) return std::nullopt;
  return condition->last_transition_time->at;
}

// Returns nullopt if the pool is ready.
std::optional<Obstacle> ObstacleIn(const api::MachineConfigPool& pool, const RequiredPoolsInputs& inputs) {
  const api::MachineConfigPoolStatus& status = pool.status;
  const std::string& name = pool.metadata.name;
  if (HasTrueCondition(pool, "Degraded")) {
    const api::Condition& degraded = *LastCondition(pool, "Degraded");
    const std::string& why = degraded.message.empty() ? PoolSummary(pool) : degraded.message;
    return Obstacle{fmt::format("MachineConfigPool {} is not ready, retrying. Status: (pool degraded: true total: {}, "
                                "ready {}, updated: {}, unavailable: {}, reason: {})",
                                name, status.machine_count, status.ready_machine_count, status.updated_machine_count,
                                status.unavailable_machine_count, why),
                    Since(pool, "Degraded", "True")};
  }
  if (const std::string why = WhyNotOfRelease(pool, inputs); !why.empty()) {
    return Obstacle{
        fmt::format("MachineConfigPool {} has not progressed to latest configuration: {}, retrying", name, why),
        Since(pool, "Updated", "False")};
  }
  if (pool.metadata.generation <= status.observed_generation && HasTrueCondition(pool, "Updated")) return std::nullopt;
  return Obstacle{fmt::format("required MachineConfigPool {} is not ready, retrying. Status: (total: {}, ready {}, "
                              "updated: {}, unavailable: {}, degraded: {})",
                              name, status.machine_count, status.ready_machine_count, status.updated_machine_count,
                              status.unavailable_machine_count, status.degraded_machine_count),
                  Since(pool, "Updated", "False")};
}

// Returns why a paused pool cannot become ready, or an empty text if the pool is ready or the pause is not the reason.
std::string PausedText(const api::MachineConfigPool& pool, const RequiredPoolsInputs& inputs) {
  const std::string& name = pool.metadata.name;
  if (HasTrueCondition(pool, "Degraded")) return "";
  if (!HasTrueCondition(pool, "Updated")) {
    return fmt::format("required MachineConfigPool {} is paused and cannot sync until it is unpaused", name);
  }
  const bool is_behind = pool.metadata.generation > pool.status.observed_generation;
  if (!is_behind || !WhyNotOfRelease(pool, inputs).empty()) return "";
  return fmt::format(
      "the required MachineConfigPool {} was paused with no pending updates; no further syncing will occur until it is "
      "unpaused",
      name);
}

}  // namespace

RequiredPools LookAtRequiredPools(const RequiredPoolsInputs& inputs) {
  RequiredPools result;
  std::int32_t machines = 0;
  for (const api::MachineConfigPool* pool : inputs.pools) {
    if (!IsRequiredForUpgrade(*pool)) continue;
    machines += pool->status.machine_count;
    if (pool->spec.paused && result.failure.empty()) result.failure = PausedText(*pool, inputs);
    auto obstacle = ObstacleIn(*pool, inputs);
    if (!obstacle) continue;
    if (result.waiting.empty()) result.waiting = std::move(obstacle->message);
    const WallTime since = obstacle->since.value_or(inputs.waiting_since.value_or(inputs.now));
    result.since = std::min(result.since.value_or(since), since);
  }
  if (!result.failure.empty()) {
    result.waiting.clear();
    return result;
  }
  if (result.waiting.empty()) return result;
  result.until = *result.since + kPatiencePerMachine * std::max<std::int32_t>(machines, 1);
  if (inputs.now < *result.until) return result;
  result.failure = fmt::format("during syncRequiredMachineConfigPools: [context deadline exceeded, {}]",
                               std::exchange(result.waiting, ""));
  result.until.reset();
  return result;
}

}  // namespace pintle::clusterops
