// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cluster at one moment, as input for passes; nothing in the view changes while passes decide.
//
// Objects are borrowed.  If the mirror does not have a write of ours yet, the object is the server's answer to this
// write.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/controller_config.h"
#include "api/machine_config.h"
#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/machine_configuration.h"
#include "api/machine_os_build.h"
#include "api/machine_os_config.h"
#include "api/node.h"
#include "api/os_image_stream.h"
#include "api/rollout_policy.h"
#include "pool/control_plane.h"

namespace pintle::controller {

// An object that could only be read in part.
template <typename T>
struct PartialObject {
  const T* object;  // The part that could be read.
  std::string why;  // The reason why the rest could not be read.
};

// Returns nullptr if there is no object with the name.  The objects have to be sorted by name.
template <typename T>
const T* FindNamed(std::string_view name, std::span<const T* const> objects) {
  const auto found = std::lower_bound(objects.begin(), objects.end(), name,
                                      [](const T* object, std::string_view n) { return object->metadata.name < n; });
  return found == objects.end() || (*found)->metadata.name != name ? nullptr : *found;
}

struct View {
  // All lists are sorted by name.  A pointer to a single object is nullptr if the cluster has none.
  std::vector<const api::MachineConfigPool*> pools;
  std::vector<const api::Node*> nodes;
  std::vector<const api::MachineConfigNode*> machine_config_nodes;
  std::vector<const api::MachineConfig*> configs;  // Rendered ones are without `spec.config`.
  std::vector<const api::RolloutPolicy*> rollout_policies;
  const api::ControllerConfig* controller_config = nullptr;
  const api::MachineConfiguration* machine_configuration = nullptr;
  const api::OSImageStream* os_image_stream = nullptr;
  std::vector<api::MachineOSConfig> os_configs;
  std::vector<api::MachineOSBuild> os_builds;
  // Which pods may run on masters.  Unset if the cluster has no such setting, or if the setting cannot be read; then
  // labels and taints of masters are left alone.
  std::optional<pool::MasterScheduling> master_scheduling;
  // A pool that could only be read in part is in `pools`, too, so that its nodes still belong to the pool.
  std::map<std::string, std::string, std::less<>> unreadable_pools;  // The reasons, by name.
  // Pools whose nodes must not be updated, since something that decides about these updates cannot be read.
  std::map<std::string, std::string, std::less<>> held_pools;  // The reasons, by name.
  std::vector<PartialObject<api::Node>> unreadable_nodes;
  std::vector<PartialObject<api::MachineConfig>> unreadable_configs;
  std::string unreadable_settings;  // The reasons why objects that go into all configs cannot be read, or "".
  // The parts of unreadable_settings that are about these two objects.
  std::string unreadable_controller_config;
  std::string unreadable_os_image_stream;
  bool is_openshift = true;   // False if the API server is known to lack OpenShift's kind Scheduler.
  std::string operator_node;  // The operator's node; empty if there is none, or several.

  std::string_view topology() const {
    return controller_config == nullptr ? std::string_view()
                                        : controller_config->spec.infra.status.control_plane_topology;
  }
  const api::MachineConfigPool* PoolNamed(std::string_view name) const {
    for (const api::MachineConfigPool* pool : pools) {
      if (pool->metadata.name == name) return pool;
    }
    return nullptr;
  }
  // Returns the MachineConfiguration, or one without any setting if the cluster has none.
  const api::MachineConfiguration& machine_settings() const {
    static const api::MachineConfiguration kNone;
    return machine_configuration == nullptr ? kNone : *machine_configuration;
  }
  // Each of these functions returns nullptr if there is no such object.
  const api::Node* NodeNamed(std::string_view name) const { return FindNamed<api::Node>(name, nodes); }
  const api::MachineConfig* ConfigNamed(std::string_view name) const {
    return FindNamed<api::MachineConfig>(name, configs);
  }
  const api::MachineConfigNode* MachineConfigNodeNamed(std::string_view name) const {
    return FindNamed<api::MachineConfigNode>(name, machine_config_nodes);
  }
};

}  // namespace pintle::controller
