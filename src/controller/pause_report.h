// SPDX-License-Identifier: Apache-2.0
#pragma once

// What waits behind a pause.
//
// `spec.paused` stops one thing: that nodes are told of another config.  What nodes were told before goes on, and
// rendering goes on.  So that a pause does not hide anything, a paused pool says in the condition PausedPending what
// would happen if it were not paused; the planner that says so is the one by which the agent then acts.
//
// Files of the ControllerConfig reach nodes without a rendered config.  What of them waits, and until when what a node
// has is good, the nodes say themselves (api/waiting_files.h): it is about what is on their disks.
//
// To use it, on each look at a pool that is paused, or that has the condition still:
//
//     for (const std::string& name : ConfigsToCompare(pool, nodes, layering)) ...  // have these configs, whole
//     const PauseReport report = ReportPause({...});
//     if (report.passes) ...  // roll out as if spec.paused were false
//     SetPausedPending(report, now, status.conditions);  // pause_condition.h
//
// By the annotation pintle.io/pause-policy on a pool, certificates may pass.  That means: when all that waits is new
// contents for bundles of authorities' certificates, and no node has to be drained or rebooted for them, then the pool
// is rolled out as if it were not paused.  What is rendered is taken whole or not at all, so that certificates that
// wait together with something else wait as long as that; the condition says so.

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

// A config that was rendered for the pool, whether nodes were ever told of it or not.
struct KnownRender {
  std::string name;
  WallTime created;
};

struct PauseQuestion {
  const api::MachineConfigPool& pool;
  std::span<const pool::NodeState> nodes;  // The pool's.
  pool::Layering layering;
  const WholeConfigs& configs;  // At least those of ConfigsToCompare(), as far as they are to be had.
  std::span<const KnownRender> renders;
  const api::NodeDisruptionPolicy& policy;  // The administrator's, without the defaults or with them.
  const api::IrreconcilableValidationOverrides& overrides;
  WallTime now;
  // Whether nodes take the files of a ControllerConfig, whatever a rendered config says of the same files.
  bool has_controller_config = false;
};

struct PauseReport : PausedDifference {
  bool is_paused = false;
  PausePolicy policy = PausePolicy::kStrict;
  std::string policy_problem;  // What the annotation says, if that is no policy; Strict holds.

  std::size_t nodes = 0;          // All of the pool.
  std::size_t waiting_nodes = 0;  // That would be told of the target.
  std::size_t busy_nodes = 0;     // That were told of it before, and go on.

  std::vector<std::string> renders;     // That wait, the oldest first; the last is the target.
  std::optional<WallTime> waits_since;  // The oldest of them.

  std::size_t nodes_with_waiting_files = 0;
  std::vector<std::string> waiting_files;  // Of the ControllerConfig, sorted.

  bool passes = false;  // The pool is to be rolled out although it is paused.

  bool waits() const { return is_paused && (waiting_nodes > 0 || nodes_with_waiting_files > 0) && !passes; }
  // The end of the certificate on the nodes whose successor waits, for the metric that the runbook knows.
  std::optional<WallTime> kubelet_authority_until() const;
};

struct StatedPolicy {
  PausePolicy policy = PausePolicy::kStrict;
  std::string problem;  // What the annotation says, if that is no policy.
};
StatedPolicy PolicyOf(const api::MachineConfigPool& pool);

// The names of the configs that a report is made from: the target, and what nodes have that are not to be told of it.
// None when no node waits.
std::vector<std::string> ConfigsToCompare(const api::MachineConfigPool& pool, std::span<const pool::NodeState> nodes,
                                          const pool::Layering& layering);

PauseReport ReportPause(const PauseQuestion& question);

}  // namespace pintle::controller
