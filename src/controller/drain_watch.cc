// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_watch.h"

#include <utility>

namespace pintle::controller {

void DrainWatch::Look(const View& view, const PoolMembers& members) {
  std::map<std::string, std::string> seen;
  std::set<std::string> complaints;
  const auto see = [&](const api::Node& node, const drain::Settings& settings, const std::string& pool_version) {
    const std::string& name = node.metadata.name;
    std::string version = node.metadata.resource_version + " " + pool_version;
    const auto before = seen_.find(name);
    const bool is_news = before == seen_.end() || before->second != version;
    seen[name] = std::move(version);
    if (is_news) listener_.changed(node, settings);
  };
  for (const api::MachineConfigPool* pool : view.pools) {
    const drain::PoolSettings read = drain::SettingsOf(*pool);
    for (const Error& problem : read.problems) {
      complaints.insert(problem.message());
      if (!complaints_.contains(problem.message())) listener_.trouble(pool->metadata.name, problem);
    }
    for (const pool::NodeState& node : members.Of(pool->metadata.name)) {
      see(node.node(), read.settings, pool->metadata.resource_version);
    }
  }
  for (const api::Node* node : view.nodes) {
    if (!seen.contains(node->metadata.name)) see(*node, {}, "");
  }
  for (const auto& [name, version] : seen_) {
    if (!seen.contains(name)) listener_.gone(name);
  }
  seen_ = std::move(seen);
  complaints_ = std::move(complaints);
}

void DrainWatch::Clear() {
  seen_.clear();
  complaints_.clear();
}

}  // namespace pintle::controller
