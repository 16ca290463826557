// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a node could be drained, told before anybody touches it.
//
// Two questions are asked of each pod that would go.  Would it be let go now?  And if not, or not together with others
// of its budget: does that pass by itself, as it does when what goes can start on other nodes, or will it stay so until
// a person changes something?  Doubt counts as passing: a drain is only called hopeless when it is.

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
  std::string budget;  // Its name; several with commas between them.  Empty: it is not a budget that keeps the pod.
  std::string why;
  bool may_pass = true;  // By itself.

  bool operator==(const Blocker&) const = default;
  // "pod openshift-ingress/router-1 is kept by disruption budget router: ..."
  std::string ToText() const;
};

enum class Prospect {
  kClear,     // Nothing is in the way.
  kMayPass,   // Something is, for now.
  kHopeless,  // A person has to do something before.
};
Prospect ProspectOf(std::span<const Blocker> blockers);

// All blockers in one line, those that do not pass first, and no more than a person reads.
std::string Summary(std::span<const Blocker> blockers);

// All that the API server's answer to an eviction depends on, and where its pods could start instead.
struct Surroundings {
  std::span<const api::Pod> pods;  // Of the node, whether they would go or not.
  std::span<const api::PodDisruptionBudget> budgets;
  std::span<const api::Node* const> other_nodes;  // The node itself, if it is among them, is passed over.
  std::string node;
  std::map<Maker, std::int32_t> wanted = {};  // How many pods each of them is to make, as far as that is known.
};
// Those whose number decides and is not known.
std::set<Maker> MakersToAsk(const Surroundings& surroundings);
std::vector<Blocker> ForecastDrain(const Surroundings& surroundings);

// Whether the pod could be put onto that node, now or when the node is done with an update, as far as taints, labels
// and the node's health tell.
bool CouldRunOn(const api::Pod& pod, const api::Node& node);

}  // namespace pintle::drain
