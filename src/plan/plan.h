// SPDX-License-Identifier: Apache-2.0
#pragma once

// Works out what it takes to get a machine from one config to another.
//
// A plan is made from values alone, by the agent that carries it out, by the controller, and by whoever wants a
// preview; therefore they agree.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/machine_configuration.h"
#include "base/take_piece.h"
#include "machineconfig/reconcilable.h"
#include "machineconfig/writers.h"
#include "plan/actions.h"
#include "plan/difference.h"
#include "plan/disruption_policy.h"
#include "plan/drain.h"
#include "plan/step.h"
#include "resource/deployment.h"
#include "resource/file_entry.h"

namespace pintle::plan {

struct Plan {
  machineconfig::Verdict verdict;  // Whether the machine can get there without being installed again, and why not.
  Difference difference;
  std::vector<Action> actions;
  Drain drain;
  std::string first_boot_action;  // The action for a machine that is not in the cluster yet.
  Drain first_boot_drain;
  // Lists which config manages what, if the plan's maker knows.  It is stored beside the config.
  machineconfig::Writers writers;

  bool IsReconcilable() const { return verdict.text.empty(); }
  bool Reboots() const { return actions.size() == 1 && actions.front().what.type == action_type::kReboot; }
};

// `policy` is the administrator's; the defaults are added.  The configs must outlive the plan.
Plan Make(const ParsedConfig& from, const ParsedConfig& to, const NodeDisruptionPolicy& policy,
          const api::IrreconcilableValidationOverrides& overrides);

// Returns the paths at which a config has files, units and drop-ins included.
std::vector<std::string> PathsOf(const ignition::Config& config);

// Visits each path with a function that walks through its contents, so that only needed contents are decoded.
Result<> ForEachContents(const ignition::Config& config,
                         const std::function<Result<>(const std::string& path, WalkPieces contents)>& visit);

// Returns what a config wants of the OS.
resource::Deployment::State DeploymentOf(const api::MachineConfigSpec& spec);

// The state of each path before a config took it.  A file that the new config no longer has goes back to that; one that
// is not listed here is removed.
using Originals = std::map<std::string, resource::FileEntry::State>;

// Returns steps for everything that the new config manages, and not only for changes, so that a node that drifted is
// mended.  Contents that are broken or not in the config are an error.
Result<std::vector<Step>> StepsFor(const ParsedConfig& from, const ParsedConfig& to, const Originals& originals);

}  // namespace pintle::plan
