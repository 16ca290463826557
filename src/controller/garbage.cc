// SPDX-License-Identifier: Apache-2.0
#include "controller/garbage.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "api/annotations.h"
#include "controller/watched.h"

namespace pintle::controller {
namespace {

using Names = std::set<std::string, std::less<>>;
using ConfigPointers = std::vector<const api::MachineConfig*>;

// Returns the configs that nodes, pools and builds of images need.
Names NeededIn(const View& view) {
  Names needed;
  for (const api::MachineConfigPool* pool : view.pools) {
    needed.insert(pool->spec.configuration.name);
    needed.insert(pool->status.configuration.name);
  }
  for (const api::Node* node : view.nodes) {
    for (const std::string_view key :
         {api::kCurrentConfigAnnotation, api::kDesiredConfigAnnotation, api::kFirstPivotConfigAnnotation}) {
      needed.insert(node->metadata.Annotation(key));
    }
    // The agent may be working towards a config for which a drain was requested or granted.
    for (const std::string_view key : {api::kDesiredDrainAnnotation, api::kLastAppliedDrainAnnotation}) {
      const std::string& drain = node->metadata.Annotation(key);
      const std::size_t dash = drain.find('-');
      if (dash != std::string::npos) needed.insert(drain.substr(dash + 1));
    }
  }
  for (const api::MachineConfigNode* node : view.machine_config_nodes) {
    needed.insert(node->spec.config_version.desired);
    if (node->status.config_version) {
      needed.insert(node->status.config_version->current);
      needed.insert(node->status.config_version->desired);
    }
  }
  for (const api::MachineOSBuild& build : view.os_builds) needed.insert(build.spec.machine_config.name);
  return needed;
}

bool IsNewer(const api::MachineConfig* a, const api::MachineConfig* b) {
  if (a->metadata.creation_timestamp != b->metadata.creation_timestamp) {
    return a->metadata.creation_timestamp > b->metadata.creation_timestamp;
  }
  return a->metadata.name < b->metadata.name;
}

}  // namespace

std::optional<WallTime> KeptUntil(const api::MachineConfigPool& pool) {
  const auto time = FromRfc3339(pool.metadata.Annotation(kKeptUntilAnnotation));
  return time ? std::optional(*time) : std::nullopt;
}

std::string WhyGarbageIsUnknown(const View& view) {
  if (!view.unreadable_nodes.empty()) {
    const auto& [node, why] = view.unreadable_nodes.front();
    return fmt::format("the Node {} may need any rendered config, and cannot be read: {}", node->metadata.name, why);
  }
  if (view.held_pools.empty()) return "";
  const auto& [pool, why] = *view.held_pools.begin();
  return fmt::format("an object of the pool {}, which may need any rendered config, cannot be read: {}", pool, why);
}

std::vector<Garbage> FindGarbage(const View& view, std::size_t kept_for_each_pool) {
  if (!WhyGarbageIsUnknown(view).empty()) return {};
  const Names needed = NeededIn(view);
  struct ConfigsOfPool {
    const api::MachineConfigPool* pool = nullptr;
    ConfigPointers configs = {};
  };
  // The key is the uid of the pool.  Kubernetes itself deletes the configs of a deleted pool.
  std::map<std::string_view, ConfigsOfPool> unneeded;
  for (const api::MachineConfigPool* pool : view.pools) unneeded[pool->metadata.uid].pool = pool;
  for (const api::MachineConfig* config : view.configs) {
    if (!IsRenderedAndUnlabelled(*config) || config->metadata.deletion_timestamp ||
        needed.contains(config->metadata.name))
      continue;
    const auto of_pool = unneeded.find(config->metadata.owner_references.front().uid);
    if (of_pool != unneeded.end()) of_pool->second.configs.push_back(config);
  }
  std::vector<Garbage> garbage;
  for (auto& [uid, of_pool] : unneeded) {
    auto& [pool, configs] = of_pool;
    std::sort(configs.begin(), configs.end(), IsNewer);
    for (std::size_t i = kept_for_each_pool; i < configs.size(); ++i) {
      garbage.push_back({pool->metadata.name, configs[i]->metadata.name, configs[i]->metadata.uid});
    }
  }
  return garbage;
}

}  // namespace pintle::controller
