// SPDX-License-Identifier: Apache-2.0
#include "pool/status.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "api/conditions.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "gotext/quote.h"
#include "pool/target.h"

namespace pintle::pool {
namespace {

constexpr std::string_view kUpdated = "Updated";
constexpr std::string_view kUpdating = "Updating";
constexpr std::string_view kNodeDegraded = "NodeDegraded";
constexpr std::string_view kRenderDegraded = "RenderDegraded";
constexpr std::string_view kImageBuildDegraded = "ImageBuildDegraded";
constexpr std::string_view kPinnedImageSetsDegraded = "PinnedImageSetsDegraded";
constexpr std::string_view kDegraded = "Degraded";

// The sum of the reports of the pool's MachineConfigNodes.
struct Reported {
  std::vector<const NodeState*> degraded;
  std::vector<std::string> degraded_messages;  // One for each of `degraded`.
  std::int32_t updated = 0;
  std::int64_t with_pinned_images = 0;
};

struct Counts {
  std::int32_t machines = 0;
  std::int32_t updated = 0;
  std::int32_t ready = 0;  // The nodes that have reached the target and are ready.
  std::int32_t unavailable = 0;
  std::int32_t degraded = 0;
};

bool HasPinnedImages(const api::MachineConfigNode& node) {
  const auto& sets = node.status.pinned_image_sets;
  return std::all_of(sets.begin(), sets.end(), [](const api::MachineConfigNodePinnedImageSet& set) {
    return set.desired_generation > 0 && set.current_generation == set.desired_generation;
  });
}

// Returns whether the desired config and image that a node reports are the pool's target.
bool DesiresTarget(const api::MachineConfigNode& node, const StatusInputs& inputs) {
  const std::string& target = inputs.pool.spec.configuration.name;
  if (!node.status.config_version || node.status.config_version->desired != target) return false;
  const std::string_view image =
      node.status.config_image ? std::string_view(node.status.config_image->desired_image) : std::string_view();
  if (!inputs.layering.is_layered()) return image.empty();
  return inputs.layering.build != nullptr && inputs.layering.build->spec.machine_config.name == target &&
         !image.empty() && image == inputs.layering.image();
}

// Adds the report of one node.  Only the first condition that marks the node as degraded or as updated counts.
void Add(const api::MachineConfigNode& node, const NodeState& state, const StatusInputs& inputs, Reported& reported) {
  if (HasPinnedImages(node)) ++reported.with_pinned_images;
  for (const api::Condition& condition : node.status.conditions) {
    if (condition.status != "True") continue;
    if (condition.type == kNodeDegraded) {
      reported.degraded.push_back(&state);
      reported.degraded_messages.push_back(
          fmt::format("Node {} is reporting: {}", state.name(), gotext::Quoted(condition.message)));
      return;
    }
    if (inputs.features.image_mode_status_reporting && condition.type == kUpdated && DesiresTarget(node, inputs)) {
      ++reported.updated;
      return;
    }
  }
}

// Finds nodes by name.  Callers mostly request the names in the order of the list, so the next node is tried first.
class NodesByName {
 public:
  explicit NodesByName(std::span<const NodeState> nodes) : nodes_(nodes) {}

  const NodeState* Find(std::string_view name) {
    if (next_ < nodes_.size() && nodes_[next_].name() == name) return &nodes_[next_++];
    if (index_.empty()) {
      index_.reserve(nodes_.size());
      for (std::size_t i = 0; i < nodes_.size(); ++i) index_.emplace(nodes_[i].name(), i);
    }
    const auto found = index_.find(name);
    if (found == index_.end()) return nullptr;
    next_ = found->second + 1;
    return &nodes_[found->second];
  }

 private:
  std::span<const NodeState> nodes_;
  std::size_t next_ = 0;
  std::unordered_map<std::string_view, std::size_t> index_;
};

// Reads the MachineConfigNodes up to the first one that has no conditions yet or belongs to no node of the pool, as the
// Machine Config Operator does.
Reported ReadMachineConfigNodes(const StatusInputs& inputs) {
  NodesByName nodes(inputs.nodes);
  Reported reported;
  for (const api::MachineConfigNode* report : inputs.machine_config_nodes) {
    const NodeState* node = nodes.Find(report->metadata.name);
    if (node == nullptr || report->status.conditions.empty()) break;
    Add(*report, *node, inputs, reported);
  }
  return reported;
}

Counts CountNodes(const StatusInputs& inputs, const Reported& reported) {
  const Target target(inputs.pool, inputs.layering);
  Counts counts;
  counts.machines = static_cast<std::int32_t>(inputs.nodes.size());
  for (const NodeState& node : inputs.nodes) {
    const bool is_updated = target.IsReachedBy(node);
    if (is_updated) ++counts.updated;
    if (is_updated && node.is_ready()) ++counts.ready;
    if (node.is_unavailable()) ++counts.unavailable;
    if (node.is_degraded()) ++counts.degraded;
  }
  if (inputs.features.image_mode_status_reporting) {
    counts.updated = reported.updated;
    counts.degraded = static_cast<std::int32_t>(reported.degraded.size());
  }
  return counts;
}

// Joins the reports of the MachineConfigNodes and, behind them, the reasons that agents wrote on the Nodes.
std::string DegradedMessage(Reported reported) {
  for (const NodeState* node : reported.degraded) {
    if (node->reason().empty()) continue;
    reported.degraded_messages.push_back(
        fmt::format("Node {} is reporting: {}", node->name(), gotext::Quoted(node->reason())));
  }
  return fmt::format("{}", fmt::join(reported.degraded_messages, ", "));
}

// Returns whether another image is being built, failed to build, or is built but not in the MachineOSConfig yet.  Nodes
// that have reached their target are not up to date then.
bool AwaitsImage(const Layering& layering) {
  if (layering.config == nullptr || layering.build == nullptr) return false;
  const BuildProgress progress(*layering.build);
  const std::string& built = layering.build->status.digested_image_push_spec;
  return progress.is_active() || progress.failed || (progress.succeeded && !built.empty() && built != layering.image());
}

struct UpdatingCondition {
  bool status;
  std::string message;
};

UpdatingCondition UpdatingWhilePaused(const BuildProgress& progress, const std::string& build) {
  const auto updating = [&](bool status, std::string_view progress_text) {
    return UpdatingCondition{status, fmt::format("Pool is paused; OS image build {} (mosb: {})", progress_text, build)};
  };
  if (progress.prepared) return updating(true, "has been prepared but will not rollout");
  if (progress.building) return updating(true, "in progress");
  if (progress.succeeded) return updating(false, "completed successfully");
  if (progress.failed) return updating(false, "failed");
  if (progress.interrupted) return updating(false, "was interrupted");
  return updating(true, "has been created but not yet started");
}

std::optional<UpdatingCondition> UpdatingWhileRollingOut(const BuildProgress& progress, const std::string& build,
                                                         bool all_updated) {
  const auto updating = [&](bool status, std::string_view progress_text) {
    return UpdatingCondition{status, fmt::format("Pool {} (mosb: {})", progress_text, build)};
  };
  if (progress.prepared) return updating(true, "is waiting for OS image build to start");
  if (progress.building) return updating(true, "is waiting for OS image build to complete");
  if (progress.succeeded) {
    if (all_updated) return std::nullopt;
    return updating(true, "is waiting for nodes to apply OS image");
  }
  if (progress.failed) return updating(false, "update stopped due to OS image build failure");
  if (progress.interrupted) return updating(false, "update stopped due to OS image build being interrupted");
  return updating(true, "is waiting for OS image build to start");
}

UpdatingCondition UpdatingWithoutImage(const StatusInputs& inputs, bool all_updated, std::string_view line) {
  if (all_updated) return {false, ""};
  if (inputs.pool.spec.paused) return {false, fmt::format("Pool is paused; will not update to {}", line)};
  return {true, fmt::format("All nodes are updating to {}", line)};
}

// Returns the condition Updating if it depends on the image's build, or nullopt if it is the same as without a build.
std::optional<UpdatingCondition> UpdatingByImage(const StatusInputs& inputs, bool all_updated) {
  const Layering& layering = inputs.layering;
  if (layering.config == nullptr) return std::nullopt;
  const std::string& config = layering.config->metadata.name;
  if (inputs.pool.spec.paused) {
    if (layering.build != nullptr) {
      return UpdatingWhilePaused(BuildProgress(*layering.build), layering.build->metadata.name);
    }
    return UpdatingCondition{
        true, fmt::format("Pool is paused; waiting for a new OS image build to start (mosc: {})", config)};
  }

  const auto& before = inputs.pool.status.conditions;
  if (IsTrue(before, kRenderDegraded) || IsTrue(before, kNodeDegraded) || IsTrue(before, kPinnedImageSetsDegraded)) {
    return UpdatingCondition{false, "Pool update paused due to degraded condition"};
  }
  if (layering.build == nullptr) {
    return UpdatingCondition{true, fmt::format("Pool is waiting for a new OS image build to start (mosc: {})", config)};
  }
  return UpdatingWhileRollingOut(BuildProgress(*layering.build), layering.build->metadata.name, all_updated);
}

// The reason and message with which ImageBuildDegraded becomes false.
struct BuildNotDegraded {
  std::string_view reason;
  std::string_view message;
};

// Returns nullopt if ImageBuildDegraded keeps its status.
std::optional<BuildNotDegraded> WhyBuildIsNotDegraded(const Layering& layering, bool was_degraded) {
  if (layering.build != nullptr) {
    const BuildProgress progress(*layering.build);
    if (progress.is_active()) return BuildNotDegraded{"Building", "New build started"};
    if (progress.succeeded) return BuildNotDegraded{"BuildSuccess", "Build completed successfully"};
    return std::nullopt;
  }
  if (!was_degraded) return std::nullopt;
  if (layering.config != nullptr) {
    return BuildNotDegraded{"BuildPending", "MachineOSConfig updated/created, waiting for MachineOSBuild"};
  }
  return BuildNotDegraded{"NoLayeredObjects", "No layered pool objects found, clearing stale build degraded condition"};
}

// Sets conditions.  The callers set them in the same order as the Machine Config Operator, and each one once: a
// condition that is set to another status in between loses its transition time.
class ConditionWriter {
 public:
  ConditionWriter(std::vector<api::Condition>& conditions, std::optional<api::Time> now)
      : conditions_(conditions), now_(now) {}

  void Set(std::string_view type, bool status, std::string_view reason = "", std::string_view message = "") {
    SetCondition(conditions_, {.type = std::string(type),
                               .status = status ? "True" : "False",
                               .last_transition_time = now_,
                               .reason = std::string(reason),
                               .message = std::string(message)});
  }

 private:
  std::vector<api::Condition>& conditions_;
  std::optional<api::Time> now_;
};

void SetUpdating(ConditionWriter& conditions, const StatusInputs& inputs, bool all_updated) {
  const std::string line = TargetLine(inputs.pool, inputs.layering);
  conditions.Set(kUpdated, all_updated, "", all_updated ? fmt::format("All nodes are updated with {}", line) : "");
  auto updating = UpdatingByImage(inputs, all_updated);
  if (!updating) updating = UpdatingWithoutImage(inputs, all_updated, line);
  conditions.Set(kUpdating, updating->status, "", updating->message);
}

// Sets the conditions for degraded nodes, a failed build and the pool as a whole; returns whether the pool is degraded.
bool SetDegraded(ConditionWriter& conditions, const StatusInputs& inputs, const Counts& counts, Reported reported) {
  const bool by_nodes = counts.degraded > 0;
  const auto reporting_nodes = reported.degraded.size();
  const std::string node_message = by_nodes ? DegradedMessage(std::move(reported)) : "";
  conditions.Set(kNodeDegraded, by_nodes,
                 by_nodes ? fmt::format("{} nodes are reporting degraded status on sync", reporting_nodes) : "",
                 node_message);

  const auto& before = inputs.pool.status.conditions;
  const bool by_render = IsTrue(before, kRenderDegraded);
  bool by_build = IsTrue(before, kImageBuildDegraded);
  if (const auto why = WhyBuildIsNotDegraded(inputs.layering, by_build)) {
    conditions.Set(kImageBuildDegraded, false, why->reason, why->message);
    by_build = false;
  }

  const bool is_degraded = by_nodes || by_render || by_build;
  const std::string_view message = by_nodes   ? std::string_view(node_message)
                                   : by_build ? std::string_view("Custom OS image build failed")
                                              : std::string_view();
  conditions.Set(kDegraded, is_degraded, "", message);
  return is_degraded;
}

// Returns the stream whose image the pool's rendered config has.  Returns nullopt if a machine config overrides the
// image, if the image of the rendered config is unknown, or if no stream has this image.
std::optional<api::NameReference> StreamOf(const StatusInputs& inputs) {
  const auto image_of = [&](const std::string& config) {
    const auto found = inputs.configs.find(config);
    return found == inputs.configs.end() ? std::string_view() : std::string_view(found->second.os_image_url);
  };
  const auto& source = inputs.pool.spec.configuration.source;
  const bool is_overridden = std::any_of(
      source.begin(), source.end(), [&](const api::ObjectReference& config) { return !image_of(config.name).empty(); });
  const std::string_view image = image_of(inputs.pool.spec.configuration.name);
  if (is_overridden || image.empty()) return std::nullopt;
  const auto& streams = inputs.os_image_streams;
  const auto stream = std::find_if(streams.begin(), streams.end(),
                                   [&](const api::OSImageStreamSet& set) { return set.os_image == image; });
  if (stream == streams.end()) return std::nullopt;
  return api::NameReference{stream->name};
}

// Returns the configuration for the status of a pool whose nodes all have the target.  Keeps the old value unless the
// name or the sources have changed.
const api::PoolConfiguration& NewConfiguration(const api::MachineConfigPool& pool) {
  const api::PoolConfiguration& before = pool.status.configuration;
  const api::PoolConfiguration& now = pool.spec.configuration;
  return before.name == now.name && json::Equal(before.source, now.source) ? before : now;
}

api::PoolSynchronizerStatus PinnedImageSets(const Counts& counts, const Reported& reported) {
  api::PoolSynchronizerStatus status;
  status.type = "PinnedImageSets";
  status.machine_count = counts.machines;
  status.updated_machine_count = reported.with_pinned_images;
  status.ready_machine_count = counts.ready;
  status.available_machine_count = counts.machines - counts.unavailable;
  status.unavailable_machine_count = counts.unavailable;
  return status;
}

}  // namespace

Features Features::Named(std::span<const std::string> names) {
  const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  return {.image_mode_status_reporting = has("ImageModeStatusReporting"), .os_streams = has("OSStreams")};
}

bool IsTrue(std::span<const api::Condition> conditions, std::string_view type) {
  const api::Condition* const found = api::FindCondition(conditions, type);
  return found != nullptr && found->status == "True";
}

void SetCondition(std::vector<api::Condition>& conditions, api::Condition condition) {
  condition.message = FirstCharacters(PrintableLines(condition.message), api::kLongestConditionMessage);
  const auto is_of_type = [&](const api::Condition& other) { return other.type == condition.type; };
  const auto last = std::find_if(conditions.rbegin(), conditions.rend(), is_of_type);
  if (last != conditions.rend() && last->status == condition.status) {
    if (last->reason == condition.reason && last->message == condition.message) return;
    condition.last_transition_time = last->last_transition_time;
  }
  std::erase_if(conditions, is_of_type);
  conditions.push_back(std::move(condition));
}

std::string TargetLine(const api::MachineConfigPool& pool, const Layering& layering) {
  std::string line = fmt::format("MachineConfig {}", pool.spec.configuration.name);
  if (!layering.image().empty()) line += fmt::format(" / Image {}", layering.image());
  return line;
}

api::MachineConfigPoolStatus Status(const StatusInputs& inputs) {
  Reported reported = ReadMachineConfigNodes(inputs);
  const Counts counts = CountNodes(inputs, reported);
  const bool all_updated = counts.updated == counts.machines && counts.ready == counts.machines &&
                           counts.unavailable == 0 && !AwaitsImage(inputs.layering);

  api::MachineConfigPoolStatus status;
  status.observed_generation = inputs.pool.metadata.generation;
  status.configuration = all_updated ? NewConfiguration(inputs.pool) : inputs.pool.status.configuration;
  status.machine_count = counts.machines;
  status.updated_machine_count = counts.updated;
  status.ready_machine_count = counts.ready;
  status.unavailable_machine_count = counts.unavailable;
  status.degraded_machine_count = counts.degraded;
  status.cert_expirys.assign(inputs.cert_expirys.begin(), inputs.cert_expirys.end());
  status.pool_synchronizers_status = {PinnedImageSets(counts, reported)};

  status.conditions = inputs.pool.status.conditions;
  ConditionWriter conditions(status.conditions, inputs.now);
  SetUpdating(conditions, inputs, all_updated);
  const bool is_degraded = SetDegraded(conditions, inputs, counts, std::move(reported));
  if (inputs.features.os_streams && all_updated && !is_degraded) status.os_image_stream = StreamOf(inputs);
  return status;
}

}  // namespace pintle::pool
