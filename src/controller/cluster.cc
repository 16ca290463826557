// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "controller/generated_kinds.h"
#include "controller/reasons.h"

namespace pintle::controller {
namespace {

constexpr const char* kOperatorPodSelector = "k8s-app=machine-config-operator";

}  // namespace

template <typename T>
OverlaidObjects::Listener Cluster::ListenerFor(const Listener& listener) const {
  return OverlaidObjects::ListenerFor(kube::kResourceKind<T>, listener.changed, listener.trouble, listener.unreadable);
}

Cluster::Cluster(kube::Client& client, const std::string& namespace_name, Listener listener)
    : pools_(client, Need::kAlways, ListenerFor<api::MachineConfigPool>(listener)),
      nodes_(client, Need::kAlways,
             {.changed = listener.changed,
              .replaced =
                  [changed = listener.node_changed](const kube::AnyObject& before, const kube::AnyObject& now) {
                    changed(kube::As<WatchedNode>(before), kube::As<WatchedNode>(now));
                  },
              .trouble = ListenerFor<WatchedNode>(listener).trouble,
              .unreadable = listener.unreadable}),
      configs_(client, Need::kAlways, ListenerFor<WatchedMachineConfig>(listener)),
      controller_configs_(client, Need::kAlways, ListenerFor<api::ControllerConfig>(listener)),
      machine_config_nodes_(client, Need::kIfInstalled, ListenerFor<WatchedMachineConfigNode>(listener)),
      machine_configurations_(client, Need::kIfInstalled, ListenerFor<api::MachineConfiguration>(listener)),
      os_image_streams_(client, Need::kIfServed, ListenerFor<api::OSImageStream>(listener)),
      rollout_policies_(client, Need::kIfInstalled, ListenerFor<api::RolloutPolicy>(listener)),
      os_configs_(client, Need::kIfServed, ListenerFor<api::MachineOSConfig>(listener)),
      os_builds_(client, Need::kIfServed, ListenerFor<api::MachineOSBuild>(listener)),
      schedulers_(client, Need::kIfServed, ListenerFor<Scheduler>(listener)),
      operator_pods_(client, Need::kAlways, ListenerFor<api::Pod>(listener),
                     {.namespace_name = namespace_name, .label_selector = kOperatorPodSelector}) {}

template <typename Visit>
void Cluster::ForEachKind(Visit&& visit) const {
  visit(pools_);
  visit(nodes_);
  visit(configs_);
  visit(controller_configs_);
  visit(machine_config_nodes_);
  visit(machine_configurations_);
  visit(os_image_streams_);
  visit(rollout_policies_);
  visit(os_configs_);
  visit(os_builds_);
  visit(schedulers_);
  visit(operator_pods_);
}

std::vector<std::string_view> Cluster::UnreadKinds() const {
  std::vector<std::string_view> unread;
  ForEachKind([&](const OverlaidObjects& objects) {
    if (!objects.is_ready()) unread.push_back(objects.kind().plural);
  });
  return unread;
}

std::string Cluster::WhyUnread() const {
  std::string why;
  ForEachKind([&](const OverlaidObjects& objects) {
    if (!objects.is_ready()) AddReason(objects.refusal(), why);
  });
  return why;
}

bool Cluster::CanRender() const {
  return pools_.is_ready() && configs_.is_ready() && controller_configs_.is_ready() &&
         machine_configurations_.is_ready() && os_image_streams_.is_ready();
}

View Cluster::Look() const {
  View view;
  const auto point_at = [](auto& pointers) { return [&](const auto& object) { pointers.push_back(&object); }; };
  const auto copy_to = [](auto& objects) { return [&](const auto& object) { objects.push_back(object); }; };
  pools_.ForEach(point_at(view.pools));
  nodes_.ForEach(point_at(view.nodes));
  configs_.ForEach(point_at(view.configs));
  machine_config_nodes_.ForEach(point_at(view.machine_config_nodes));
  rollout_policies_.ForEach(point_at(view.rollout_policies));
  os_configs_.ForEach(copy_to(view.os_configs));
  os_builds_.ForEach(copy_to(view.os_builds));
  view.controller_config = controller_configs_.Find(api::kControllerConfigName);
  view.machine_configuration = machine_configurations_.Find(kSingletonName);
  view.os_image_stream = os_image_streams_.Find(kSingletonName);
  view.master_scheduling = SchedulingOfMasters();
  view.is_openshift = !schedulers_.is_missing();
  view.operator_node = OperatorNode();
  AddUnreadableTo(view);
  return view;
}

void Cluster::AddUnreadableTo(View& view) const {
  pools_.ForEachUnreadable([&](const api::MachineConfigPool& pool, const Error& why) {
    const std::string& name = pool.metadata.name;
    const auto at = std::lower_bound(view.pools.begin(), view.pools.end(), name,
                                     [](const auto* known, const auto& n) { return known->metadata.name < n; });
    const bool is_known = at != view.pools.end() && (*at)->metadata.name == name;
    is_known ? void(*at = &pool) : void(view.pools.insert(at, &pool));
    view.unreadable_pools.emplace(name, why.message());
    view.held_pools.emplace(name, why.message());
    // If the pool's selector cannot be read, a node of this pool might be taken for a worker, so the worker pool has to
    // wait as well.
    const bool has_selector = pool.spec.node_selector && why.message().find("$.spec.nodeSelector") == std::string::npos;
    if (!has_selector) view.held_pools.emplace(api::kWorkerPool, why.message());
  });
  nodes_.ForEachUnreadable([&](const WatchedNode& node, const Error& why) {
    view.unreadable_nodes.push_back({&node, why.message()});
  });
  configs_.ForEachUnreadable([&](const WatchedMachineConfig& config, const Error& why) {
    view.unreadable_configs.push_back({&config, why.message()});
  });
  // The controller reads only the object with the given name of each of these kinds.
  const auto add_unreadable = [&](std::string& reasons, const auto& settings, std::string_view name) {
    settings.ForEachUnreadable([&](const auto& object, const Error& why) {
      if (object.metadata.name == name) AddReason(why.message(), reasons);
    });
  };
  add_unreadable(view.unreadable_controller_config, controller_configs_, api::kControllerConfigName);
  add_unreadable(view.unreadable_os_image_stream, os_image_streams_, kSingletonName);
  AddReason(view.unreadable_controller_config, view.unreadable_settings);
  AddReason(view.unreadable_os_image_stream, view.unreadable_settings);
  add_unreadable(view.unreadable_settings, machine_configurations_, kSingletonName);
  // Without its policy, a pool would be updated at once.  An unreadable policy that names no pool may be for any pool.
  rollout_policies_.ForEachUnreadable([&](const api::RolloutPolicy& policy, const Error& why) {
    for (const api::MachineConfigPool* known : view.pools) {
      const bool may_apply = policy.spec.pool.empty() || policy.spec.pool == known->metadata.name;
      if (may_apply) view.held_pools.emplace(known->metadata.name, why.message());
    }
  });
  // A layered pool has an OS image of its own, which is built for it.  While this image is not known, the pool has to
  // wait: its nodes would get the default image instead.
  const auto hold_layered = [&](const std::string& pool, const Error& why) {
    for (const api::MachineConfigPool* known : view.pools) {
      if (pool.empty() || known->metadata.name == pool) view.held_pools.emplace(known->metadata.name, why.message());
    }
  };
  os_configs_.ForEachUnreadable([&](const api::MachineOSConfig& config, const Error& why) {
    hold_layered(config.spec.machine_config_pool.name, why);
  });
  os_builds_.ForEachUnreadable([&](const api::MachineOSBuild&, const Error& why) {
    for (const api::MachineOSConfig& config : view.os_configs) hold_layered(config.spec.machine_config_pool.name, why);
  });
}

std::optional<pool::MasterScheduling> Cluster::SchedulingOfMasters() const {
  if (!schedulers_.is_served()) return std::nullopt;
  // The mirror has the last Scheduler that could be read.
  const Scheduler* const scheduler = schedulers_.Find(kSingletonName);
  bool is_unreadable = false;
  schedulers_.ForEachUnreadable([&](const Scheduler& unreadable, const Error&) {
    if (unreadable.metadata.name == kSingletonName) is_unreadable = true;
  });
  // A missing Scheduler keeps pods off masters.  An unreadable one may allow them, and a taint would stop new ones.
  if (scheduler == nullptr && is_unreadable) return std::nullopt;
  const bool allows_every_pod = scheduler != nullptr && scheduler->spec.masters_schedulable;
  return allows_every_pod ? pool::MasterScheduling::kEveryPod : pool::MasterScheduling::kControlPlaneOnly;
}

std::string Cluster::OperatorNode() const {
  std::vector<std::string> nodes;
  operator_pods_.ForEach([&](const api::Pod& pod) { nodes.push_back(pod.spec.node_name); });
  return nodes.size() == 1 ? nodes.front() : "";
}

}  // namespace pintle::controller
