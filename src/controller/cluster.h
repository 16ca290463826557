// SPDX-License-Identifier: Apache-2.0
#pragma once

// A fresh copy of all in the cluster that decides about its machines.
//
// Each replica keeps one.  The one that leads decides by it and hands back what the API server answered to its writes,
// so that it never decides by what it knows to be past.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "controller/view.h"
#include "controller/watched.h"
#include "controller/watching.h"
#include "kube/client.h"

namespace pintle::controller {

class Cluster {
 public:
  struct Listener {
    std::function<void()> changed;  // From now on, something may have to be done.
    std::function<void(const api::Node& before, const api::Node& now)> node_changed;
    std::function<void(std::string_view what, const Error& error)> trouble;
  };

  // Pods of the operator are looked for in the namespace.
  Cluster(kube::Client& client, const std::string& namespace_name, Listener listener);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Whether all is here.  Nothing must be decided before.
  bool is_ready() const { return Unread().empty(); }
  // The kinds that are not here yet, in the plural: "nodes".
  std::vector<std::string_view> Unread() const;

  // Whether all pools, and all objects that configs are rendered from, have been read.
  bool CanRender() const;
  // Why some of it cannot be had, in the server's words.  Empty: it is on its way.
  std::string WhyUnread() const;

  View Look() const;

  const Watching<api::MachineConfigPool>& pools() const { return pools_; }
  const Watching<WatchedNode>& nodes() const { return nodes_; }
  const Watching<WatchedMachineConfig>& configs() const { return configs_; }
  Watching<WatchedMachineConfig>& configs() { return configs_; }
  const Watching<api::ControllerConfig>& controller_configs() const { return controller_configs_; }

  // What the API server answered.
  void Put(api::MachineConfigPool pool) { pools_.Put(std::move(pool)); }
  void Put(WatchedNode node) { nodes_.Put(std::move(node)); }
  void Put(WatchedMachineConfigNode node) { machine_config_nodes_.Put(std::move(node)); }

 private:
  template <typename Visit>
  void ForEachKind(Visit&& look_at) const;
  template <typename T>
  typename Watching<T>::Listener ListenerFor(const Listener& listener) const;

  std::optional<pool::MasterScheduling> SchedulingOfMasters() const;
  std::string OperatorNode() const;
  void SetAsideIn(View& view) const;

  Watching<api::MachineConfigPool> pools_;
  Watching<WatchedNode> nodes_;
  Watching<WatchedMachineConfig> configs_;
  Watching<api::ControllerConfig> controller_configs_;
  Watching<WatchedMachineConfigNode> machine_config_nodes_;
  Watching<api::MachineConfiguration> machine_configurations_;
  Watching<api::OSImageStream> os_image_streams_;
  Watching<api::MachineOSConfig> os_configs_;
  Watching<api::MachineOSBuild> os_builds_;
  Watching<Scheduler> schedulers_;
  Watching<api::Pod> operator_pods_;
};

}  // namespace pintle::controller
