// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a pool's status says: counts, conditions and messages, as the Machine Config Operator writes them.
//
// People, dashboards and the cluster version operator read them, so that each word counts.

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

// A rendered or other machine config, as far as it matters to a pool's status.
struct KnownConfig {
  std::string owner;         // The name of its first owner: of a rendered config, the pool.
  std::string os_image_url;  // Empty: the one of the release.
};
using KnownConfigs = std::map<std::string, KnownConfig, std::less<>>;

struct Features {
  bool image_mode_status_reporting = false;  // Count nodes by what their MachineConfigNodes say.
  bool os_streams = false;

  static Features Named(std::span<const std::string> names);
};

struct StatusInputs {
  const api::MachineConfigPool& pool;
  std::span<const NodeState> nodes;  // The pool's.
  std::span<const api::MachineConfigNode* const> machine_config_nodes;
  Layering layering;
  Features features;
  std::vector<api::CertExpiry> cert_expirys;
  const KnownConfigs& configs;
  std::span<const api::OSImageStreamSet> os_image_streams;
  // When a condition that changes is said to have changed.
  std::optional<api::Time> now;
};

api::MachineConfigPoolStatus Status(const StatusInputs& inputs);

// Whether a condition is there, and true.
bool IsTrue(std::span<const api::Condition> conditions, std::string_view type);

// Sets a condition the way that readers of a pool rely on: one that says the same already stays where it is, and a
// status that stays keeps its time.
void SetCondition(std::vector<api::Condition>& conditions, api::Condition condition);

// "MachineConfig rendered-worker-1 / Image registry/os@sha256:…": what a pool's nodes are to become, in messages.
std::string TargetLine(const api::MachineConfigPool& pool, const Layering& layering);

}  // namespace pintle::pool
