// SPDX-License-Identifier: Apache-2.0
#pragma once

// A current copy of all objects that determine how the cluster's machines are configured.
//
// Each replica keeps a copy.  The leader adds the API server's answers to its own writes, so that it never decides from
// a state that it knows to be outdated.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "controller/overlaid_mirror.h"
#include "controller/view.h"
#include "controller/watched.h"
#include "kube/client.h"

namespace pintle::controller {

class Cluster {
 public:
  struct Listener {
    std::function<void()> changed;  // Called when the copy has changed.
    std::function<void(const api::Node& before, const api::Node& now)> node_changed;
    std::function<void(std::string_view kind, const Error& error)> trouble;  // The kind is in the plural: "nodes".
    UnreadableListener unreadable = {};  // Without it, `trouble` is called for objects that cannot be read.
  };

  // `namespace_name` is the namespace of the operator's pods.
  Cluster(kube::Client& client, const std::string& namespace_name, Listener listener);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Returns whether all objects have been read.  Until then, no node may be updated.
  bool is_ready() const { return UnreadKinds().empty(); }
  // Returns the kinds that have not been read yet, in the plural: "nodes".
  std::vector<std::string_view> UnreadKinds() const;

  // Returns whether all pools, and all objects that configs are rendered from, have been read.
  bool CanRender() const;
  // Returns whether View::is_openshift is known.
  bool KnowsWhetherOpenShift() const { return schedulers_.is_ready() || !schedulers_.refusal().empty(); }
  // Returns the server's errors about kinds that it refuses or has repeatedly failed to list.  The text is empty if
  // there are no such kinds, even if some lists have not arrived yet.
  std::string WhyUnread() const;

  // Returns the state of the whole cluster at this moment.  The view refers to objects of this copy.
  View Look() const;

  const OverlaidMirror<api::MachineConfigPool>& pools() const { return pools_; }
  const OverlaidMirror<WatchedNode>& nodes() const { return nodes_; }
  const OverlaidMirror<WatchedMachineConfig>& configs() const { return configs_; }
  OverlaidMirror<WatchedMachineConfig>& configs() { return configs_; }
  const OverlaidMirror<api::ControllerConfig>& controller_configs() const { return controller_configs_; }
  const OverlaidMirror<WatchedMachineConfigNode>& machine_config_nodes() const { return machine_config_nodes_; }
  const OverlaidMirror<api::RolloutPolicy>& rollout_policies() const { return rollout_policies_; }
  const OverlaidMirror<api::MachineConfiguration>& machine_configurations() const { return machine_configurations_; }

  // Stores the API server's answers to writes.
  void StoreAnswer(api::MachineConfigPool pool) { pools_.StoreAnswer(std::move(pool)); }
  void StoreAnswer(WatchedNode node) { nodes_.StoreAnswer(std::move(node)); }
  void StoreAnswer(WatchedMachineConfigNode node) { machine_config_nodes_.StoreAnswer(std::move(node)); }
  void StoreAnswer(api::RolloutPolicy policy) { rollout_policies_.StoreAnswer(std::move(policy)); }
  void StoreAnswer(api::MachineConfiguration settings) { machine_configurations_.StoreAnswer(std::move(settings)); }
  // Stores a version that is older than the known one.  The API server returns such a version when its database was
  // restored from a backup.
  void StoreOlderAnswer(api::MachineConfigPool pool) { pools_.StoreOlderAnswer(std::move(pool)); }
  void StoreOlderAnswer(WatchedNode node) { nodes_.StoreOlderAnswer(std::move(node)); }
  void StoreOlderAnswer(WatchedMachineConfigNode node) { machine_config_nodes_.StoreOlderAnswer(std::move(node)); }

 private:
  template <typename Visit>
  void ForEachKind(Visit&& visit) const;
  template <typename T>
  OverlaidObjects::Listener ListenerFor(const Listener& listener) const;

  std::optional<pool::MasterScheduling> SchedulingOfMasters() const;
  // Returns View::operator_node.
  std::string OperatorNode() const;
  void AddUnreadableTo(View& view) const;

  OverlaidMirror<api::MachineConfigPool> pools_;
  OverlaidMirror<WatchedNode> nodes_;
  OverlaidMirror<WatchedMachineConfig> configs_;
  OverlaidMirror<api::ControllerConfig> controller_configs_;
  OverlaidMirror<WatchedMachineConfigNode> machine_config_nodes_;
  OverlaidMirror<api::MachineConfiguration> machine_configurations_;
  OverlaidMirror<api::OSImageStream> os_image_streams_;
  OverlaidMirror<api::RolloutPolicy> rollout_policies_;
  OverlaidMirror<api::MachineOSConfig> os_configs_;
  OverlaidMirror<api::MachineOSBuild> os_builds_;
  OverlaidMirror<Scheduler> schedulers_;
  OverlaidMirror<api::Pod> operator_pods_;
};

}  // namespace pintle::controller
