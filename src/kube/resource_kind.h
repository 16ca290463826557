// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the API path of each kind of object.
//
// A struct of api/ defines the fields of an object; kResourceKind defines the path under which the API server serves
// it.  This file connects them, so that requesting a Node returns an api::Node.

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
  std::string_view group;  // Empty for the core group.
  std::string_view version;
  std::string_view plural;  // "nodes"
  std::string_view kind;    // "Node"
  Scope scope = Scope::kCluster;
};

// Specialise this for a struct to make its objects available to Client.
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
  std::string namespace_name;  // Empty for an object that is not in a namespace.
  std::string name;

  auto operator<=>(const ObjectName&) const = default;
  // Returns "default/web-0", or "worker-1".
  std::string ToString() const { return namespace_name.empty() ? name : namespace_name + "/" + name; }
};

inline ObjectName NameOf(const api::ObjectMeta& metadata) { return {metadata.namespace_name, metadata.name}; }

// Returns whether the objects may contain passwords and keys.
bool IsSecret(const ResourceKind& kind);

// Returns "coordination.k8s.io/v1", or "v1" for the core group.
std::string ApiVersion(const ResourceKind& kind);

// Returns "/apis/coordination.k8s.io/v1/namespaces/default/leases"; without a namespace, the path for all namespaces.
Result<std::string> CollectionPath(const ResourceKind& kind, const std::string& namespace_name);

// Returns "/api/v1/nodes/worker-1/status".  A name that would change the path is an error.
Result<std::string> ObjectPath(const ResourceKind& kind, const ObjectName& name, std::string_view subresource = {});

// Returns "?limit=500&watch=1", with encoded values; parameters with empty values are left out.
std::string Query(const std::vector<std::pair<std::string_view, std::string>>& parameters);

}  // namespace pintle::kube

// These templates are compiled in kube/codecs.cc.
namespace pintle::json {

extern template struct Coding<api::Node>;
extern template struct Coding<api::Pod>;
extern template struct Coding<api::Event>;
extern template struct Coding<api::Lease>;
extern template struct Coding<api::PodDisruptionBudget>;
extern template struct Coding<api::MachineConfig>;
extern template struct Coding<api::MachineConfigPool>;
extern template struct Coding<api::MachineConfigNode>;
extern template struct Coding<api::ControllerConfig>;
extern template struct Coding<api::MachineOSConfig>;
extern template struct Coding<api::MachineOSBuild>;
extern template struct Coding<api::MachineConfiguration>;

}  // namespace pintle::json
