// SPDX-License-Identifier: Apache-2.0
#pragma once

// Predicts whether a node can be drained, without touching it.
//
// For each pod that would be evicted, the forecast decides whether the pod's disruption budget allows the eviction
// after the node's other pods of that budget are gone.  The eviction counts as possible if it will be allowed once
// those pods have been replaced on other nodes.  If the eviction is not possible, the forecast decides whether the
// obstacle disappears by itself or stays until a person changes something.  In doubt, the obstacle counts as one that
// disappears: a drain is called hopeless only if it certainly is.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "api/pod_disruption_budget.h"
#include "drain/pod_owners.h"
#include "kube/resource_kind.h"

namespace pintle::drain {

// A pod that cannot be evicted now.
struct Blocker {
  kube::ObjectName pod;
  // The names of the pod's budgets, separated by commas.  Empty if a dry run has found the blocker.
  std::string budget;
  std::string why;
  bool may_pass = true;  // The obstacle may disappear without a person's help.

  bool operator==(const Blocker&) const = default;
  // Returns text such as "pod openshift-ingress/router-1 is kept by disruption budget router: ..."
  std::string ToText() const;
};

enum class Prospect {
  kClear,     // Nothing is in the way.
  kMayPass,   // A later attempt may succeed.
  kHopeless,  // A person has to change something first.
};
Prospect ProspectOf(std::span<const Blocker> blockers);

// Returns the first few blockers in one line, beginning with those that need a person's help.
std::string Summary(std::span<const Blocker> blockers);

// The objects on which the API server's answer to an eviction depends, and the nodes where a replacement could start.
struct Surroundings {
  std::span<const api::Pod> pods;  // All pods of the node, whether they would go or not.
  std::span<const api::PodDisruptionBudget> budgets;
  std::span<const api::Node* const> other_nodes;  // May include the node itself, which is skipped.
  std::string node;
  std::map<PodOwner, std::int32_t> wanted = {};  // The replicas that each owner is to have, as far as they are known.
};
// Returns the owners whose number of replicas the forecast needs and `wanted` does not have.
std::set<PodOwner> PodOwnersToAsk(const Surroundings& surroundings);
// Returns the pods that would be evicted but cannot be evicted now.
std::vector<Blocker> ForecastDrain(const Surroundings& surroundings);

// Returns whether taints, labels and the node's health allow the pod to be put onto the node, now or after an update of
// that node.
bool CouldRunOn(const api::Pod& pod, const api::Node& node);

}  // namespace pintle::drain
