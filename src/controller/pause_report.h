// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports what waits behind a pause.
//
// `spec.paused` stops one thing: nodes are not given another config.  Nodes that have been given a config before the
// pause continue, and rendering continues as well.  So that a pause hides nothing, the pool's condition PausedPending
// lists what would happen if the pool were unpaused.  This list is made with the planner that agents use.
//
// Files of the ControllerConfig reach nodes without a rendered config.  The nodes themselves report which of these
// files wait, and how long the old files on their disks are valid (api/waiting_files.h).
//
// These functions are called in each look at a pool that is paused, or that still has the condition:
//
//     for (const std::string& name : ConfigsToCompare(pool, nodes, layering)) ...  // fetch the whole config
//     const PauseReport report = ReportPause({...});
//     if (report.passes) ...  // roll out as if spec.paused were false
//     SetPausedPending(report, now, status.conditions);  // pause_condition.h
//
// With the policy CertificatesPass in the annotation pintle.io/pause-policy, a pool lets certificates pass: if nothing
// but new contents of authorities' certificate bundles waits, and no node has to be drained or rebooted for them, the
// pool is rolled out as if it were not paused.  A node can only take a rendered config as a whole, so certificates that
// wait together with another change keep waiting; the condition reports this.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config_pool.h"
#include "base/clock.h"
#include "controller/paused_difference.h"
#include "pool/layering.h"
#include "pool/node_state.h"

namespace pintle::controller {

inline constexpr std::string_view kPausePolicyAnnotation = "pintle.io/pause-policy";

enum class PausePolicy { kStrict, kCertificatesPass };

// A config that was rendered for the pool, whether nodes ever got it or not.
struct KnownRender {
  std::string name;
  WallTime created;
};

struct PauseInputs {
  const api::MachineConfigPool& pool;
  std::span<const pool::NodeState> nodes;  // The pool's nodes.
  pool::Layering layering;
  const WholeConfigs& configs;  // Includes all configs of ConfigsToCompare() that can be read.
  std::span<const KnownRender> renders;
  const api::NodeDisruptionPolicy& policy;  // The administrator's policy, with or without the defaults.
  const api::IrreconcilableValidationOverrides& overrides;
  WallTime now;
  // If true, nodes take some files from the ControllerConfig, whatever a rendered config has for the same paths.
  bool has_controller_config = false;
};

struct PauseReport : PausedDifference {
  bool is_paused = false;
  PausePolicy policy = PausePolicy::kStrict;
  std::string policy_problem;  // The annotation's value if it is not a policy; then the policy is Strict.

  std::size_t nodes = 0;          // All nodes of the pool.
  std::size_t waiting_nodes = 0;  // Nodes that would be given the target.
  std::size_t busy_nodes = 0;     // Nodes that were given a config before the pause, and continue.

  std::vector<std::string> renders;  // The renders that wait, the oldest first; the last is the target.
  // The time since which something waits: the creation time of the oldest waiting render.  If no render is newer than
  // the nodes' configs, this is the time at which the condition became true, or now.
  std::optional<WallTime> waits_since;

  std::size_t nodes_with_waiting_files = 0;
  std::vector<std::string> waiting_files;  // Files of the ControllerConfig, sorted.

  bool passes = false;  // The pool is rolled out despite the pause.

  // Returns whether a change waits behind the pause.
  bool waits() const { return is_paused && (waiting_nodes > 0 || nodes_with_waiting_files > 0) && !passes; }
  // Returns the time at which the nodes' old kubelet authorities expire if new authorities wait.  The metric
  // machine_config_controller_paused_pool_kubelet_ca reports this time.
  std::optional<WallTime> kubelet_authority_until() const;
};

// The policy that the annotation of a pool states.
struct StatedPolicy {
  PausePolicy policy = PausePolicy::kStrict;
  std::string problem;  // The annotation's value if it is not a policy.
};
// Returns the policy Strict if the annotation is missing or is not a policy.
StatedPolicy StatedPolicyOf(const api::MachineConfigPool& pool);

// Returns the names of the configs that a report compares: the target, and the configs of nodes that wait for it.  If
// no node waits and the policy is CertificatesPass, these are the target and the configs of nodes that are being
// changed.  The list is empty if nodes have no config to compare.
std::vector<std::string> ConfigsToCompare(const api::MachineConfigPool& pool, std::span<const pool::NodeState> nodes,
                                          const pool::Layering& layering);

// The report has only `is_paused`, `nodes` and the policy if the pool is not paused.
PauseReport ReportPause(const PauseInputs& inputs);

}  // namespace pintle::controller
