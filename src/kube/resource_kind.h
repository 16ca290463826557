// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where in the API the objects of a struct are.
//
// A struct of api/ says what an object holds; kResourceKind says under which path the API server serves it.  The two
// are tied here, so that asking for a Node gives an api::Node.

#include <compare>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/controller_config.h"
#include "api/event.h"
#include "api/lease.h"
#include "api/machine_config.h"
#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/machine_configuration.h"
#include "api/machine_os_build.h"
#include "api/machine_os_config.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/pod_disruption_budget.h"
#include "base/result.h"

namespace pintle::kube {

enum class Scope { kCluster, kNamespaced };

struct ResourceKind {
  std::string_view group;  // Empty: the core group.
  std::string_view version;
  std::string_view plural;  // "nodes"
  std::string_view kind;    // "Node"
  Scope scope = Scope::kCluster;
};

// Specialise it for a struct to have its objects asked for.
template <typename T>
inline constexpr ResourceKind kResourceKind = {};

template <typename T>
concept Resource = !kResourceKind<T>.plural.empty();

inline constexpr std::string_view kMachineConfigGroup = "machineconfiguration.openshift.io";

template <>
inline constexpr ResourceKind kResourceKind<api::Node> = {"", "v1", "nodes", "Node"};
template <>
inline constexpr ResourceKind kResourceKind<api::Pod> = {"", "v1", "pods", "Pod", Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<api::Event> = {"", "v1", "events", "Event", Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<api::Lease> = {"coordination.k8s.io", "v1", "leases", "Lease",
                                                           Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<api::PodDisruptionBudget> = {"policy", "v1", "poddisruptionbudgets",
                                                                         "PodDisruptionBudget", Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<api::MachineConfig> = {kMachineConfigGroup, "v1", "machineconfigs",
                                                                   "MachineConfig"};
template <>
inline constexpr ResourceKind kResourceKind<api::MachineConfigPool> = {kMachineConfigGroup, "v1", "machineconfigpools",
                                                                       "MachineConfigPool"};
template <>
inline constexpr ResourceKind kResourceKind<api::MachineConfigNode> = {kMachineConfigGroup, "v1", "machineconfignodes",
                                                                       "MachineConfigNode"};
template <>
inline constexpr ResourceKind kResourceKind<api::ControllerConfig> = {kMachineConfigGroup, "v1", "controllerconfigs",
                                                                      "ControllerConfig"};
template <>
inline constexpr ResourceKind kResourceKind<api::MachineOSConfig> = {kMachineConfigGroup, "v1", "machineosconfigs",
                                                                     "MachineOSConfig"};
template <>
inline constexpr ResourceKind kResourceKind<api::MachineOSBuild> = {kMachineConfigGroup, "v1", "machineosbuilds",
                                                                    "MachineOSBuild"};
template <>
inline constexpr ResourceKind kResourceKind<api::MachineConfiguration> = {
    "operator.openshift.io", "v1", "machineconfigurations", "MachineConfiguration"};

struct ObjectName {
  std::string namespace_name;  // Empty for what belongs to the cluster as a whole.
  std::string name;

  auto operator<=>(const ObjectName&) const = default;
  // "default/web-0", or "worker-1".
  std::string ToString() const { return namespace_name.empty() ? name : namespace_name + "/" + name; }
};

inline ObjectName NameOf(const api::ObjectMeta& metadata) { return {metadata.namespace_name, metadata.name}; }

// "coordination.k8s.io/v1", or "v1" for the core group.
std::string ApiVersion(const ResourceKind& kind);

// "/apis/coordination.k8s.io/v1/namespaces/default/leases"; without a namespace, those of all namespaces.
Result<std::string> CollectionPath(const ResourceKind& kind, const std::string& namespace_name);

// "/api/v1/nodes/worker-1/status".  A name that would lead elsewhere is an error.
Result<std::string> ObjectPath(const ResourceKind& kind, const ObjectName& name, std::string_view subresource = {});

// "?limit=500&watch=1", each value encoded; those that are empty are left out.
std::string Query(const std::vector<std::pair<std::string_view, std::string>>& parameters);

}  // namespace pintle::kube
