// SPDX-License-Identifier: Apache-2.0
#include "pool/target.h"

#include "api/annotations.h"

namespace pintle::pool {

Target::Target(const api::MachineConfigPool& pool, const Layering& layering)
    : pool_config_(pool.spec.configuration.name),
      is_layered_(layering.is_layered()),
      can_be_known_(!is_layered_ || (!layering.image().empty() && layering.build != nullptr)),
      config_(layering.build != nullptr ? layering.build->spec.machine_config.name : pool_config_),
      image_(layering.image()) {}

bool Target::IsAssignedTo(const NodeState& node) const {
  if (!can_be_known_ || node.desired_config() != config_) return false;
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
  if (!can_be_known_ || node.current_config().empty() || node.current_config() != config_) return false;
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

}  // namespace pintle::pool
