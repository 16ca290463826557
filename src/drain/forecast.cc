// SPDX-License-Identifier: Apache-2.0
#include "drain/forecast.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "drain/protocol.h"
#include "drain/which_pods.h"

namespace pintle::drain {
namespace {

constexpr std::size_t kMostInSummary = 5;

using Budget = api::PodDisruptionBudget;

bool Tolerates(const api::Toleration& toleration, const api::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.op == "Exists") return toleration.key.empty() || toleration.key == taint.key;
  return toleration.key == taint.key && toleration.value == taint.value;
}

// Kubernetes adds and removes taints about a node's health by itself, so they do not keep a pod off the node for long.
bool IsAboutHealth(const api::Taint& taint) { return taint.key.starts_with("node.kubernetes.io/"); }

bool IsKeptOffBy(const api::Pod& pod, const api::Taint& taint) {
  if (IsAboutHealth(taint)) return false;
  if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return false;
  const auto& tolerations = pod.spec.tolerations;
  return std::none_of(tolerations.begin(), tolerations.end(),
                      [&](const api::Toleration& toleration) { return Tolerates(toleration, taint); });
}

bool IsNodeReady(const api::Node& node) {
  const auto& conditions = node.status.conditions;
  return std::none_of(conditions.begin(), conditions.end(), [](const api::NodeCondition& condition) {
    return condition.type == "Ready" && condition.status != "True";
  });
}

// Returns whether the node is being updated, and will take pods again afterwards.
bool ComesBack(const api::Node& node) {
  if (api::Find(node.metadata.annotations, kKeepCordonedAnnotation) != nullptr) return false;
  return DrainStateOf(node).asked ||
         node.metadata.Annotation(api::kDesiredDrainAnnotation).starts_with(api::kDrainPrefix);
}

// Returns whether the API server evicts the pod without looking at budgets.
bool GoesWithoutBudget(const api::Pod& pod) {
  return IsTerminating(pod) || IsFinished(pod) || pod.status.phase == "Pending";
}

bool IsHealthy(const Budget& budget) {
  return budget.status.desired_healthy > 0 && budget.status.current_healthy >= budget.status.desired_healthy;
}

// Returns whether the pod is not ready and the budget allows its eviction for this reason.  Unless the budget's policy
// is AlwaysAllow, enough other pods of the budget have to be healthy.
bool AllowsUnready(const api::Pod& pod, const Budget& budget) {
  if (drain::IsReady(pod)) return false;
  return budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow" || IsHealthy(budget);
}

// The budgets by namespace, each with its selector compiled once.
class CompiledBudgets {
 public:
  explicit CompiledBudgets(std::span<const Budget> budgets) {
    for (const Budget& budget : budgets) {
      // The API server refuses selectors that cannot be compiled.
      if (auto selector = api::Selector::Compile(budget.spec.selector)) {
        known_[budget.metadata.namespace_name].emplace_back(&budget, *std::move(selector));
      }
    }
  }

  std::vector<const Budget*> Of(const api::Pod& pod) const {
    std::vector<const Budget*> found;
    const auto in_namespace = known_.find(pod.metadata.namespace_name);
    if (in_namespace == known_.end()) return found;
    for (const auto& [budget, selector] : in_namespace->second) {
      if (selector.Matches(pod.metadata.labels)) found.push_back(budget);
    }
    return found;
  }

 private:
  std::map<std::string, std::vector<std::pair<const Budget*, api::Selector>>> known_;
};

std::string NamesOf(const std::vector<const Budget*>& budgets) {
  std::string names;
  for (const Budget* budget : budgets) names += (names.empty() ? "" : ", ") + budget->metadata.name;
  return names;
}

class ForecastCalculation {
 public:
  explicit ForecastCalculation(const Surroundings& around) : around_(around), budgets_(around.budgets) {}

  std::vector<Blocker> All() {
    std::vector<Blocker> blockers;
    for (const api::Pod& pod : around_.pods) {
      if (!Goes(pod) || GoesWithoutBudget(pod)) continue;
      if (auto blocker = BlockerOf(pod)) blockers.push_back(*std::move(blocker));
    }
    return blockers;
  }

  const std::set<PodOwner>& to_ask() const { return to_ask_; }

 private:
  std::optional<Blocker> BlockerOf(const api::Pod& pod) {
    const std::vector<const Budget*> budgets = budgets_.Of(pod);
    if (budgets.empty()) return std::nullopt;
    if (budgets.size() > 1) {
      return Blocker{kube::NameOf(pod.metadata), NamesOf(budgets),
                     "a pod with more than one budget cannot be evicted; change the selectors so that it has only one",
                     false};
    }
    const Budget& budget = *budgets.front();
    if (AllowsUnready(pod, budget)) return std::nullopt;
    const auto kept_because = [&](std::string why, bool may_pass) {
      return Blocker{kube::NameOf(pod.metadata), budget.metadata.name, std::move(why), may_pass};
    };
    const auto& status = budget.status;
    if (status.observed_generation < budget.metadata.generation) return std::nullopt;  // The status is out of date.
    if (status.disruptions_allowed <= 0) {
      const std::int32_t expected = ExpectedPods(pod, budget);
      if (expected > 0 && status.desired_healthy >= expected) {
        return kept_because(
            fmt::format("it requires all of its {} pods to be healthy, and so never allows an eviction; allow "
                        "one of them to be unavailable, or run more",
                        expected),
            false);
      }
      return kept_because(fmt::format("{} of its pods are healthy and {} have to be{}", status.current_healthy,
                                      status.desired_healthy, LackOfPlaceText(pod)),
                          HasPlaceElsewhere(pod));
    }
    // The budget allows some pods to go at once; further pods can go when the first ones have been replaced elsewhere.
    if (taken_[&budget]++ < status.disruptions_allowed || HasPlaceElsewhere(pod)) return std::nullopt;
    return kept_because(
        fmt::format("it allows the eviction of {} at a time{}", status.disruptions_allowed, LackOfPlaceText(pod)),
        false);
  }

  // For a budget with a number as minAvailable, Kubernetes counts the existing pods as the expected ones.  While one of
  // them is being replaced, that count is one too low, and the budget looks as if it could never allow an eviction.
  // So this function takes the number of pods that the owner is to have, if that is larger.
  std::int32_t ExpectedPods(const api::Pod& pod, const Budget& budget) {
    const auto& status = budget.status;
    const auto& least = budget.spec.min_available;
    const bool counts_existing_pods = least && std::holds_alternative<std::int32_t>(least->value);
    const auto owner = PodOwnerOf(pod);
    if (!counts_existing_pods || !owner || status.desired_healthy < status.expected_pods) return status.expected_pods;
    const auto wanted = around_.wanted.find(*owner);
    if (wanted != around_.wanted.end()) return std::max(status.expected_pods, wanted->second);
    to_ask_.insert(*owner);
    return status.expected_pods;
  }

  bool HasPlaceElsewhere(const api::Pod& pod) const {
    return std::any_of(around_.other_nodes.begin(), around_.other_nodes.end(), [&](const api::Node* node) {
      return node->metadata.name != around_.node && CouldRunOn(pod, *node);
    });
  }

  // Returns the end of a message, which is empty if a replacement has a place on another node.
  const char* LackOfPlaceText(const api::Pod& pod) const {
    return HasPlaceElsewhere(pod)
               ? ""
               : ", and no other schedulable node can run a replacement; add a node or allow more to be unavailable";
  }

  const Surroundings& around_;
  CompiledBudgets budgets_;
  std::map<const Budget*, std::int32_t> taken_;  // How many of the node's pods each budget has allowed to go so far.
  std::set<PodOwner> to_ask_;
};

}  // namespace

std::string Blocker::ToText() const {
  if (budget.empty()) return fmt::format("pod {} cannot be evicted: {}", pod.ToString(), why);
  return fmt::format("pod {} is kept by disruption budget {}: {}", pod.ToString(), budget, why);
}

Prospect ProspectOf(std::span<const Blocker> blockers) {
  if (blockers.empty()) return Prospect::kClear;
  const bool passes =
      std::all_of(blockers.begin(), blockers.end(), [](const Blocker& blocker) { return blocker.may_pass; });
  return passes ? Prospect::kMayPass : Prospect::kHopeless;
}

std::string Summary(std::span<const Blocker> blockers) {
  std::vector<const Blocker*> order;
  for (const Blocker& blocker : blockers) order.push_back(&blocker);
  std::stable_partition(order.begin(), order.end(), [](const Blocker* blocker) { return !blocker->may_pass; });
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kMostInSummary); ++i) {
    text += (text.empty() ? "" : "; ") + order[i]->ToText();
  }
  if (order.size() > kMostInSummary) text += fmt::format("; and {} more pods", order.size() - kMostInSummary);
  return text;
}

std::set<PodOwner> PodOwnersToAsk(const Surroundings& surroundings) {
  ForecastCalculation calculation(surroundings);
  calculation.All();
  return calculation.to_ask();
}

std::vector<Blocker> ForecastDrain(const Surroundings& surroundings) { return ForecastCalculation(surroundings).All(); }

bool CouldRunOn(const api::Pod& pod, const api::Node& node) {
  const bool takes_pods = !node.spec.unschedulable && IsNodeReady(node);
  if (!takes_pods && !ComesBack(node)) return false;
  const auto& taints = node.spec.taints;
  if (std::any_of(taints.begin(), taints.end(), [&](const api::Taint& taint) { return IsKeptOffBy(pod, taint); })) {
    return false;
  }
  const auto& wanted = pod.spec.node_selector;
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    const std::string* has = api::Find(node.metadata.labels, label.first);
    return has != nullptr && *has == label.second;
  });
}

}  // namespace pintle::drain
