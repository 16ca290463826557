// SPDX-License-Identifier: Apache-2.0
#include "pool/layering.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/annotations.h"
#include "gotext/quote.h"
#include "pool/status.h"

namespace pintle::pool {
namespace {

template <typename T, typename Predicate>
const T* FirstWhere(std::span<const T> all, Predicate&& predicate) {
  const auto found = std::find_if(all.begin(), all.end(), predicate);
  return found == all.end() ? nullptr : &*found;
}

// Returns the build that an annotation of the MachineOSConfig names, if that build is of the pool's rendered config.
// Otherwise returns the first build of this MachineOSConfig and of the rendered config, or nullptr.
const api::MachineOSBuild* FindBuild(const api::MachineConfigPool& pool, const api::MachineOSConfig& config,
                                     std::span<const api::MachineOSBuild> builds) {
  const std::string& target = pool.spec.configuration.name;
  if (const std::string* current = api::Find(config.metadata.annotations, api::kCurrentBuildAnnotation)) {
    const auto* named = FirstWhere(builds, [&](const api::MachineOSBuild& build) {
      return build.metadata.name == *current && build.spec.machine_config.name == target;
    });
    if (named != nullptr) return named;
  }
  return FirstWhere(builds, [&](const api::MachineOSBuild& build) {
    return build.spec.machine_os_config.name == config.metadata.name && build.spec.machine_config.name == target;
  });
}

}  // namespace

Layering FindLayering(const api::MachineConfigPool& pool, std::span<const api::MachineOSConfig> configs,
                      std::span<const api::MachineOSBuild> builds) {
  Layering layering;
  layering.config = FirstWhere(configs, [&](const api::MachineOSConfig& config) {
    return config.spec.machine_config_pool.name == pool.metadata.name;
  });
  if (layering.config != nullptr) layering.build = FindBuild(pool, *layering.config, builds);
  return layering;
}

BuildProgress::BuildProgress(const api::MachineOSBuild& build)
    : prepared(IsTrue(build.status.conditions, "Prepared")),
      building(IsTrue(build.status.conditions, "Building")),
      succeeded(IsTrue(build.status.conditions, "Succeeded")),
      failed(IsTrue(build.status.conditions, "Failed")),
      interrupted(IsTrue(build.status.conditions, "Interrupted")) {}

ImageReadiness CheckImage(const Layering& layering) {
  if (layering.config == nullptr && layering.build != nullptr) {
    const std::string* config = api::Find(layering.build->metadata.labels, api::kMachineOSConfigNameLabel);
    const std::string orphaned = fmt::format("orphaned MachineOSBuild {} found, but MachineOSConfig {} not found",
                                             gotext::Quoted(layering.build->metadata.name),
                                             gotext::Quoted(config == nullptr ? std::string() : *config));
    return {.can_apply = false, .reason = orphaned, .error = orphaned};
  }
  if (layering.config == nullptr || layering.build == nullptr) {
    return {.can_apply = false, .reason = "No MachineOSConfig or MachineOSBuild for this pool", .error = ""};
  }
  if (layering.image().empty()) {
    return {.can_apply = false, .reason = "Desired image not set in MachineOSConfig", .error = ""};
  }

  const BuildProgress progress(*layering.build);
  if (progress.succeeded) {
    const bool is_current = layering.build->status.digested_image_push_spec == layering.image();
    std::string reason = fmt::format("Image built successfully, pullspec: {}", layering.image());
    if (!is_current) {
      reason +=
          fmt::format(", but MachineOSConfig {} has not updated yet", gotext::Quoted(layering.config->metadata.name));
    }
    return {.can_apply = is_current, .reason = std::move(reason), .error = ""};
  }
  if (progress.building) return {.can_apply = false, .reason = "Image build pending", .error = ""};
  if (progress.failed) {
    return {.can_apply = false,
            .reason = "Image build failed",
            .error = fmt::format("image build for MachineConfigPool {} failed", layering.build->metadata.name)};
  }
  return {.can_apply = false, .reason = "Image is not ready yet", .error = ""};
}

}  // namespace pintle::pool
