// SPDX-License-Identifier: Apache-2.0
#include "pool/membership.h"

#include <fmt/core.h>

#include "api/annotations.h"

namespace pintle::pool {
namespace {

// Returns the key of a label that every selected node has, or "" if the selector needs none.
std::string NeededLabel(const api::LabelSelector& selector) {
  if (!selector.match_labels.empty()) return selector.match_labels.begin()->first;
  for (const api::LabelSelectorRequirement& requirement : selector.match_expressions) {
    if (requirement.op == "In" || requirement.op == "Exists") return requirement.key;
  }
  return "";
}

}  // namespace

Result<Pools> Pools::Make(std::span<const api::MachineConfigPool* const> pools) {
  Pools compiled;
  for (const api::MachineConfigPool* pool : pools) {
    auto selector = TRY(api::Selector::Compile(pool->spec.node_selector), "invalid label selector");
    // An empty selector would select every node.  A pool with an empty selector, or without one, gets no nodes instead.
    const bool takes_nodes = pool->spec.node_selector && !pool->spec.node_selector->is_empty();
    if (!takes_nodes) continue;
    const std::string label = NeededLabel(*pool->spec.node_selector);
    (label.empty() ? compiled.others_ : compiled.by_label_[label]).push_back({pool, std::move(selector)});
  }
  return compiled;
}

SelectingPools Pools::Selecting(const api::Node& node) const {
  SelectingPools selecting;
  if (IsWindows(node)) return selecting;
  const auto add_matching = [&](const std::vector<CompiledPool>& pools) {
    for (const auto& [pool, selector] : pools) {
      if (!selector.Matches(node.metadata.labels)) continue;
      if (pool->metadata.name == api::kMasterPool) {
        selecting.master = pool;
      } else if (pool->metadata.name == api::kWorkerPool) {
        selecting.worker = pool;
      } else {
        selecting.custom.push_back(pool);
      }
    }
  };
  add_matching(others_);
  for (const auto& [label, value] : node.metadata.labels) {
    if (const auto found = by_label_.find(label); found != by_label_.end()) add_matching(found->second);
  }
  return selecting;
}

Result<std::vector<const api::MachineConfigPool*>> InOrder(const SelectingPools& selecting, const api::Node& node) {
  const auto& [master, worker, custom] = selecting;
  if (custom.size() > 1) {
    return Error(ErrorKind::kInvalid, fmt::format("node {} belongs to {} custom roles, cannot proceed with this Node",
                                                  node.metadata.name, custom.size()));
  }
  std::vector<const api::MachineConfigPool*> pools;
  if (master != nullptr) {
    pools.push_back(master);
    if (custom.empty()) return pools;
  } else if (!custom.empty()) {
    pools.push_back(custom.front());
  }
  if (worker != nullptr) pools.push_back(worker);
  return pools;
}

Result<std::vector<const api::MachineConfigPool*>> Pools::Of(const api::Node& node) const {
  return InOrder(Selecting(node), node);
}

Result<const api::MachineConfigPool*> Pools::PrimaryOf(const api::Node& node) const {
  const auto pools = TRY(Of(node));
  return pools.empty() ? nullptr : pools.front();
}

bool IsWindows(const api::Node& node) {
  const std::string* os = api::Find(node.metadata.labels, api::kOsLabel);
  return os != nullptr && *os == "windows";
}

bool IsManaged(const api::Node& node) {
  const std::string* config = api::Find(node.metadata.annotations, api::kCurrentConfigAnnotation);
  return !IsWindows(node) && config != nullptr && !config->empty();
}

}  // namespace pintle::pool
