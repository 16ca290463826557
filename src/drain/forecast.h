// SPDX-License-Identifier: Apache-2.0
#pragma once

// Predicts whether a node can be drained, without touching it.
//
// For each pod that would go, the forecast decides whether it could be evicted now.  If it could not, or not together
// with others of its budget, the forecast decides whether the obstacle disappears without help, as it does when a
// replacement can start on another node, or stays until a person changes something.  In doubt, it counts as one that
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
#include "drain/makers.h"
#include "kube/resource_kind.h"

namespace pintle::drain {

struct Blocker {
  kube::ObjectName pod;
  std::string budget;  // The names of its budgets, separated by commas.  Empty if no budget keeps the pod.
  std::string why;
  bool may_pass = true;  // Whether it may pass without a person's help.

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

// Returns the blockers in one line, those that do not pass first, and no more of them than a person reads.
std::string Summary(std::span<const Blocker> blockers);

// The inputs of the API server's answer to an eviction, and the nodes where a replacement could start.
struct Surroundings {
  std::span<const api::Pod> pods;  // All pods of the node, whether they would go or not.
  std::span<const api::PodDisruptionBudget> budgets;
  std::span<const api::Node* const> other_nodes;  // May include the node itself, which is skipped.
  std::string node;
  std::map<Maker, std::int32_t> wanted = {};  // The replicas that each maker is to have, as far as they are known.
};
// Returns the makers whose number of replicas matters and is not in `wanted`.
std::set<Maker> MakersToAsk(const Surroundings& surroundings);
std::vector<Blocker> ForecastDrain(const Surroundings& surroundings);

// Returns whether the pod could be put onto the node, now or after an update of that node, as far as taints, labels and
// the node's health tell.
bool CouldRunOn(const api::Pod& pod, const api::Node& node);

}  // namespace pintle::drain
