// SPDX-License-Identifier: Apache-2.0
#include "pool/membership.h"

#include <fmt/core.h>

#include "api/annotations.h"

namespace pintle::pool {

Result<Pools> Pools::Make(std::span<const api::MachineConfigPool* const> pools) {
  Pools compiled;
  for (const api::MachineConfigPool* pool : pools) {
    auto selector = TRY(api::Selector::Compile(pool->spec.node_selector), "invalid label selector");
    // An empty selector would select every node.  A pool with an empty selector, or without one, gets no nodes instead.
    const bool takes_nodes = pool->spec.node_selector && !pool->spec.node_selector->is_empty();
    if (takes_nodes) compiled.pools_.emplace_back(pool, std::move(selector));
  }
  return compiled;
}

Result<std::vector<const api::MachineConfigPool*>> Pools::Of(const api::Node& node) const {
  const api::MachineConfigPool* master = nullptr;
  const api::MachineConfigPool* worker = nullptr;
  std::vector<const api::MachineConfigPool*> custom;
  if (IsWindows(node)) return custom;
  for (const auto& [pool, selector] : pools_) {
    if (!selector.Matches(node.metadata.labels)) continue;
    if (pool->metadata.name == api::kMasterPool) {
      master = pool;
    } else if (pool->metadata.name == api::kWorkerPool) {
      worker = pool;
    } else {
      custom.push_back(pool);
    }
  }

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
