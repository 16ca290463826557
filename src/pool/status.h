// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes a pool's status: counts, conditions and messages, as the Machine Config Operator writes them.
//
// People, dashboards and the cluster version operator read these texts, so they have to match word for word.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/os_image_stream.h"
#include "pool/layering.h"
#include "pool/node_state.h"

namespace pintle::pool {

// The parts of a machine config, rendered or not, that a pool's status depends on.
struct KnownConfig {
  std::string owner;         // The name of the config's first owner.  A rendered config is owned by its pool.
  std::string os_image_url;  // Empty if the config keeps the image of the release.
};
using KnownConfigs = std::map<std::string, KnownConfig, std::less<>>;

// The feature gates of OpenShift that change a pool's status.
struct Features {
  bool image_mode_status_reporting = false;  // Count nodes by the conditions of their MachineConfigNodes.
  bool os_streams = false;                   // Report the stream that the pool's OS image is from.

  // Returns the features whose gates are among these names.
  static Features Named(std::span<const std::string> names);
};

struct StatusInputs {
  const api::MachineConfigPool& pool;
  std::span<const NodeState> nodes;  // The pool's nodes.
  std::span<const api::MachineConfigNode* const> machine_config_nodes;
  Layering layering;
  Features features;
  std::span<const api::CertExpiry> cert_expirys;
  const KnownConfigs& configs;
  std::span<const api::OSImageStreamSet> os_image_streams;
  // The transition time for conditions whose status changes.
  std::optional<api::Time> now;
};

// Returns the status that the pool is to have.
api::MachineConfigPoolStatus Status(const StatusInputs& inputs);

// Returns whether a condition exists and is true.
bool IsTrue(std::span<const api::Condition> conditions, std::string_view type);

// Sets a condition.  A condition that does not change keeps its position, and a condition whose status does not change
// keeps its transition time.  Readers of a pool rely on both.
void SetCondition(std::vector<api::Condition>& conditions, api::Condition condition);

// Returns the target of a pool's nodes for messages, such as "MachineConfig rendered-worker-1 / Image
// registry/os@sha256:…".
std::string TargetLine(const api::MachineConfigPool& pool, const Layering& layering);

}  // namespace pintle::pool
