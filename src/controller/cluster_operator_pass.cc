// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster_operator_pass.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "clusterops/pool_labels.h"
#include "clusterops/required_pools.h"
#include "controller/default_pools.h"
#include "json/fields.h"
#include "machineconfig/render.h"

namespace pintle::controller {
namespace {

// The key of the operator's own image among the images of a release.
constexpr const char* kOperatorImageKey = "machineConfigOperator";
// Stands for the version in messages if no release is known.
constexpr const char* kUnknownRelease = "an unknown release";

// Returns the OS image of the release for each pool, by the name of the pool.
std::map<std::string, std::string, std::less<>> ImagesOfRelease(const View& view) {
  std::map<std::string, std::string, std::less<>> images;
  for (const api::MachineConfigPool* pool : view.pools) {
    std::string image = view.controller_config->spec.base_os_container_image;
    if (view.os_image_stream != nullptr) {
      const auto set = machineconfig::ImagesFor(*pool, view.PoolNamed(api::kWorkerPool), *view.os_image_stream);
      // A pool whose stream does not exist is not rendered, and its own status reports the missing stream.
      if (!set) continue;
      if (*set != nullptr) image = (*set)->os_image;
    }
    if (!image.empty()) images.emplace(pool->metadata.name, std::move(image));
  }
  return images;
}

bool AreTemplatesFailing(const api::ControllerConfig& config) {
  const auto& conditions = config.status.conditions;
  return std::any_of(conditions.begin(), conditions.end(), [](const api::Condition& condition) {
    return condition.type == "TemplateControllerFailing" && condition.status == "True";
  });
}

void AddFailuresOf(const View& view, std::vector<clusterops::TaskFailure>& failures) {
  const auto add = [&](std::string_view task, std::string why) {
    failures.push_back({.task = std::string(task), .why = std::move(why)});
  };
  if (!view.unreadable_settings.empty()) {
    add(clusterops::kRenderConfigTask, view.unreadable_settings);
  } else if (view.controller_config == nullptr) {
    add(clusterops::kRenderConfigTask, fmt::format("there is no ControllerConfig {}", api::kControllerConfigName));
  }
  if (view.controller_config != nullptr && AreTemplatesFailing(*view.controller_config)) {
    add(clusterops::kMachineConfigControllerTask, WhyTemplatesAreBehind(*view.controller_config));
  }
  for (const auto& [pool, why] : view.unreadable_pools) {
    add(clusterops::kMachineConfigPoolsTask, fmt::format("the MachineConfigPool {} cannot be read: {}", pool, why));
  }
}

std::set<std::string, std::less<>> TasksOf(const std::vector<clusterops::TaskFailure>& failures) {
  std::set<std::string, std::less<>> tasks;
  for (const clusterops::TaskFailure& failure : failures) tasks.insert(failure.task);
  return tasks;
}

// Returns a message if a pool that an upgrade waits for does not exist yet, or else an empty text.
std::string MissingPoolText(const View& view) {
  for (const api::MachineConfigPool& pool : MissingPools(view)) {
    if (!clusterops::IsRequiredForUpgrade(pool)) continue;
    return fmt::format("required MachineConfigPool {} does not exist yet", pool.metadata.name);
  }
  return "";
}

// Returns a merge patch of the status.  Such a patch keeps members that it does not mention, so members that are gone,
// such as those of removed pools, are set to null.
json::Value StatusPatchOf(const api::ClusterOperator& known, const api::ClusterOperatorStatus& next) {
  json::Value patch;
  patch["metadata"]["resourceVersion"] = known.metadata.resource_version;
  patch["status"] = json::Encode(next);
  json::Value& extension = patch["status"]["extension"];
  if (!known.status.extension.is_object()) return patch;
  for (const auto& [key, value] : known.status.extension.members()) {
    if (next.extension.Find(key) == nullptr) extension[key] = nullptr;
  }
  return patch;
}

}  // namespace

clusterops::Release WantedRelease(const View& view, const api::ClusterOperator& known) {
  clusterops::Release release;
  if (view.controller_config != nullptr) {
    release.version = view.controller_config->metadata.Annotation(api::kReleaseImageVersionAnnotation);
    const auto& images = view.controller_config->spec.images;
    const auto image = images.find(kOperatorImageKey);
    if (image != images.end()) release.operator_image = image->second;
  }
  if (!release.version.empty()) return release;
  for (const api::OperandVersion& version : known.status.versions) {
    if (version.name == "operator") release.version = version.version;
  }
  return release;
}

ClusterOperatorChange ClusterOperatorPass(const ClusterOperatorInputs& inputs) {
  const View& view = inputs.view;
  std::vector<clusterops::TaskFailure> failures = inputs.failures;
  AddFailuresOf(view, failures);
  ClusterOperatorChange change;
  clusterops::Release release = WantedRelease(view, inputs.known);
  if (release.version.empty()) {
    // The ControllerConfig may be made in a moment, so the ClusterOperator does not report yet that there is no
    // ControllerConfig.
    if (inputs.failures.empty()) {
      change.failed_tasks = TasksOf(failures);
      return change;
    }
    release.version = inputs.release_of_images.empty() ? kUnknownRelease : inputs.release_of_images;
  }
  std::string waiting;
  if (view.controller_config != nullptr) {
    clusterops::RequiredPools pools = clusterops::LookAtRequiredPools(
        {.pools = view.pools,
         .config_named = [&view](std::string_view name) { return view.ConfigNamed(name); },
         .controller_version = SigningVersion(view.configs, inputs.versions),
         .release = view.controller_config->metadata.Annotation(api::kReleaseImageVersionAnnotation),
         .os_images = ImagesOfRelease(view),
         .now = inputs.now,
         .waiting_since = inputs.waiting_since});
    if (!pools.are_ready()) change.waiting_since = inputs.waiting_since.value_or(inputs.now);
    change.again_at = pools.until;
    waiting = pools.waiting.empty() ? MissingPoolText(view) : std::move(pools.waiting);
    if (!pools.failure.empty()) {
      failures.push_back({.task = std::string(clusterops::kRequiredPoolsTask), .why = std::move(pools.failure)});
    }
  }
  change.failed_tasks = TasksOf(failures);
  std::optional<clusterops::TaskFailure> failure;
  if (const auto* first = clusterops::FirstFailure(failures)) failure = *first;
  clusterops::OperatorReport report =
      clusterops::ReportOf({.before = inputs.known.status,
                            .release = std::move(release),
                            .pools = view.pools,
                            .failure = std::move(failure),
                            .waiting = std::move(waiting),
                            .now = api::Time{std::chrono::floor<std::chrono::seconds>(inputs.now)}});
  if (json::Equal(report.status, inputs.known.status)) return change;
  change.patch = StatusPatchOf(inputs.known, report.status);
  change.events = std::move(report.events);
  return change;
}

}  // namespace pintle::controller
