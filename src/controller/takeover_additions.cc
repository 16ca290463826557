// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_additions.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/annotations.h"
#include "api/controller_config.h"
#include "api/rollout_policy.h"
#include "api/waiting_files.h"
#include "controller/garbage.h"
#include "controller/kubeconfig_data_pass.h"
#include "controller/pause_condition.h"
#include "controller/replacing_patch.h"
#include "controller/rollout_pass.h"
#include "drain/protocol.h"

namespace pintle::controller {
namespace {

// Pintle's controller adds these annotations to objects; the Machine Config Operator does not know them.
constexpr auto kOwnAnnotations = std::to_array<std::string_view>(
    {kKeptUntilAnnotation, api::kTargetSinceAnnotation, api::kOsImageStreamAnnotation, kCopiedAtAnnotation,
     api::kFilesWaitAnnotation, api::kStageAnnotation, drain::kStartedAnnotation, drain::kKeepCordonedAnnotation});
// Pintle's controller adds these conditions to the statuses of pools.
constexpr auto kOwnConditions = std::to_array<std::string_view>({kPausedPending, kMisconfigured});

std::string KindAndName(TakeoverObject object, const api::ObjectMeta& metadata) {
  const char* kind = "ControllerConfig";
  if (object == TakeoverObject::kPool) kind = "MachineConfigPool";
  if (object == TakeoverObject::kNode) kind = "Node";
  if (object == TakeoverObject::kKubeconfigData) kind = "ConfigMap";
  const std::string in = metadata.namespace_name.empty() ? "" : metadata.namespace_name + "/";
  return fmt::format("{} {}{}", kind, in, metadata.name);
}

// Returns the write that removes the annotations of Pintle's controller from the object, or nullopt if it has none.
std::optional<TakeoverWrite> WithoutOwnAnnotations(TakeoverObject object, const api::ObjectMeta& metadata) {
  std::vector<std::string_view> left;
  for (const std::string_view key : kOwnAnnotations) {
    if (api::Find(metadata.annotations, key) != nullptr) left.push_back(key);
  }
  if (left.empty()) return std::nullopt;
  ReplacingPatch patch(metadata);
  patch.RemoveAnnotations(left);
  return TakeoverWrite{.object = object,
                       .namespace_name = metadata.namespace_name,
                       .name = metadata.name,
                       .patch = std::move(patch).operations(),
                       .in_words = fmt::format("{}: without the annotations {}", KindAndName(object, metadata),
                                               fmt::join(left, " and "))};
}

}  // namespace

TakeoverStep AnnotationsStep(const TakeoverState& state) {
  TakeoverStep step{.name = "annotations"};
  for (const AnnotatedObject& annotated : state.annotated) {
    if (!step.write) step.write = WithoutOwnAnnotations(annotated.object, annotated.metadata);
  }
  for (const api::Node& node : state.nodes) {
    if (!step.write) step.write = WithoutOwnAnnotations(TakeoverObject::kNode, node.metadata);
  }
  step.is_done = !step.write;
  return step;
}

TakeoverStep ConditionsStep(const TakeoverState& state) {
  TakeoverStep step{.name = "conditions", .is_done = true};
  for (const AnnotatedObject& pool : state.annotated) {
    std::vector<std::string> left;
    ReplacingPatch patch(pool.metadata);
    // Each removal changes the indices of the conditions behind it, so the last one is removed first.
    for (std::size_t i = pool.conditions.size(); i-- > 0;) {
      const auto own = std::find(kOwnConditions.begin(), kOwnConditions.end(), pool.conditions[i]);
      if (own == kOwnConditions.end()) continue;
      left.push_back(pool.conditions[i]);
      patch.Remove(fmt::format("/status/conditions/{}", i));
    }
    if (left.empty()) continue;
    step.is_done = false;
    step.write =
        TakeoverWrite{.object = pool.object,
                      .name = pool.metadata.name,
                      .patch = std::move(patch).operations(),
                      .part = kube::Part::kStatus,
                      .in_words = fmt::format("{}: its status without the conditions {}",
                                              KindAndName(pool.object, pool.metadata), fmt::join(left, " and "))};
    return step;
  }
  return step;
}

}  // namespace pintle::controller
