// SPDX-License-Identifier: Apache-2.0
#include "pool/target.h"

#include "api/annotations.h"
#include "api/rollout_policy.h"

namespace pintle::pool {

Target::Target(const api::MachineConfigPool& pool, const Layering& layering)
    : pool_config_(pool.spec.configuration.name),
      is_layered_(layering.is_layered()),
      is_known_(!is_layered_ || (!layering.image().empty() && layering.build != nullptr)),
      config_(layering.build != nullptr ? layering.build->spec.machine_config.name : pool_config_),
      image_(layering.image()) {}

bool Target::IsAssignedTo(const NodeState& node) const {
  if (!is_known_ || node.desired_config() != config_) return false;
  return is_layered_ ? node.desired_image() == image_ : !node.desired_image();
}

bool Target::MayLoseUpdateTaint(const NodeState& node) const {
  if (is_layered_) return IsAssignedTo(node);
  return node.desired_config() == config_ && !(node.desired_image() && node.current_image());
}

bool Target::IsReachedBy(const NodeState& node) const {
  return node.is_done() && IsAssignedTo(node) && node.desired_config() == pool_config_;
}

bool Target::IsCurrentOf(const NodeState& node) const {
  if (!is_known_ || node.current_config().empty() || node.current_config() != config_) return false;
  return is_layered_ ? node.current_image() == image_ : !node.current_image() || node.current_image()->empty();
}

NodePatch Target::PatchFor(const NodeState& node) const {
  NodePatch patch;
  auto& annotations = patch.metadata.annotations;
  if (node.desired_config() != config_) annotations.emplace(api::kDesiredConfigAnnotation, config_);
  if (image_.empty()) {
    if (node.desired_image()) annotations.emplace(api::kDesiredImageAnnotation, std::nullopt);
  } else if (node.desired_image() != image_) {
    annotations.emplace(api::kDesiredImageAnnotation, image_);
  }
  return patch;
}

NodePatch Target::StagePatchFor(const NodeState& node, std::string_view to_stage) const {
  const api::Annotations& have = node.node().metadata.annotations;
  const std::string_view wanted = IsAssignedTo(node) ? std::string_view() : to_stage;
  const std::string* const requested = api::Find(have, api::kStageAnnotation);
  NodePatch patch;
  if (requested == nullptr ? wanted.empty() : *requested == wanted) return patch;
  auto& annotations = patch.metadata.annotations;
  annotations.emplace(api::kStageAnnotation, wanted.empty() ? std::nullopt : std::optional<std::string>(wanted));
  for (const std::string_view report : {api::kStagedAnnotation, api::kUnstageableAnnotation}) {
    const std::string* const value = api::Find(have, report);
    if (value != nullptr && (wanted.empty() || *value != wanted)) annotations.emplace(report, std::nullopt);
  }
  return patch;
}

}  // namespace pintle::pool
