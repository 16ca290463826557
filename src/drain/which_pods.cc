// SPDX-License-Identifier: Apache-2.0
#include "drain/which_pods.h"

#include <algorithm>

namespace pintle::drain {
namespace {

constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

// The DaemonSet need not exist any more: the garbage collector removes the pods of a deleted DaemonSet.
bool IsOfDaemonSet(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(), [](const api::OwnerReference& owner) {
    return owner.controller.value_or(false) && owner.kind == "DaemonSet";
  });
}

}  // namespace

Fate FateOf(const api::Pod& pod) {
  if (IsOfDaemonSet(pod) && !IsFinished(pod)) return Fate::kStaysForDaemonSet;
  if (api::Find(pod.metadata.annotations, kMirrorAnnotation) != nullptr) return Fate::kStaysAsMirror;
  return Fate::kGoes;
}

bool IsFinished(const api::Pod& pod) { return pod.status.phase == "Succeeded" || pod.status.phase == "Failed"; }

bool IsTerminating(const api::Pod& pod) { return pod.metadata.deletion_timestamp.has_value(); }

bool IsReady(const api::Pod& pod) {
  const auto& conditions = pod.status.conditions;
  return std::any_of(conditions.begin(), conditions.end(), [](const api::PodCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

}  // namespace pintle::drain
