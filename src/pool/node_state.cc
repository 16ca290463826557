// SPDX-License-Identifier: Apache-2.0
#include "pool/node_state.h"

#include <fmt/core.h>

#include "api/annotations.h"

namespace pintle::pool {
namespace {

// A condition that keeps pods off a node, and the status that it has.
struct Unready {
  std::string_view label;  // The name of the condition in messages.
  std::string_view status;
};

// Returns nullopt if the condition keeps no pods off the node.
std::optional<Unready> Problem(const api::NodeCondition& condition) {
  if (condition.type == "Ready" && condition.status != "True") return Unready{"NotReady", condition.status};
  if (condition.type == "DiskPressure" && condition.status != "False") return Unready{"OutOfDisk", condition.status};
  if (condition.type == "NetworkUnavailable" && condition.status != "False") {
    return Unready{"NetworkUnavailable", condition.status};
  }
  return std::nullopt;
}

std::optional<Unready> FirstProblem(const api::Node& node) {
  for (const api::NodeCondition& condition : node.status.conditions) {
    if (const auto problem = Problem(condition)) return problem;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WhyNotReady(const api::Node& node) {
  if (const auto problem = FirstProblem(node)) {
    return fmt::format("node {} is reporting {}={}", node.metadata.name, problem->label, problem->status);
  }
  if (node.spec.unschedulable) return fmt::format("node {} is reporting Unschedulable", node.metadata.name);
  return std::nullopt;
}

NodeState::NodeState(const api::Node& node)
    : node_(&node),
      is_ready_uncordoned_(!FirstProblem(node).has_value()),
      is_ready_(is_ready_uncordoned_ && !node.spec.unschedulable) {
  // Annotations are sorted by name.  Those with the prefix are next to each other, and the loop skips the many others.
  static const std::string kPrefix = "machineconfiguration.openshift.io/";
  const auto& annotations = node.metadata.annotations;
  for (auto i = annotations.lower_bound(kPrefix); i != annotations.end() && i->first.starts_with(kPrefix); ++i) {
    Read(i->first, i->second);
  }
  if (const std::string* zone = api::Find(node.metadata.labels, api::kZoneLabel)) zone_ = *zone;
  has_desired_config_ = current_config_ == desired_config_;
  is_done_ = is_done_ && has_desired_config_ && !current_config_.empty() && HasDesiredImage();
}

void NodeState::Read(std::string_view key, std::string_view value) {
  if (key == api::kCurrentConfigAnnotation) {
    current_config_ = value;
  } else if (key == api::kDesiredConfigAnnotation) {
    desired_config_ = value;
  } else if (key == api::kStateAnnotation) {
    is_done_ = value == api::kStateDone;
    is_degraded_ = value == api::kStateDegraded || value == api::kStateUnreconcilable;
  } else if (key == api::kReasonAnnotation) {
    reason_ = value;
  } else if (key == api::kCurrentImageAnnotation) {
    current_image_ = value;
  } else if (key == api::kDesiredImageAnnotation) {
    desired_image_ = value;
  } else if (key == api::kFirstPivotConfigAnnotation) {
    first_pivot_config_ = value;
  } else if (key == api::kCustomPoolLabelsAppliedAnnotation) {
    has_custom_pool_labels_ = true;
  }
}

bool NodeState::HasDesiredImage() const {
  if (!current_image_ && !desired_image_) return true;
  return current_image_ == desired_image_ && !current_image_->empty();
}

}  // namespace pintle::pool
