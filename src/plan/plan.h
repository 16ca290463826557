// SPDX-License-Identifier: Apache-2.0
#pragma once

// Works out how a machine gets from one config to another.
//
// A plan is made from values alone.  The agent, the controller and the previews of the command line call the same
// function, so their plans are the same.

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
  machineconfig::Verdict verdict;  // The reason why the change is impossible; empty if it is possible.
  Difference difference;
  std::vector<Action> actions;
  Drain drain;
  std::string first_boot_action;  // The action for a machine that is not in the cluster yet.
  Drain first_boot_drain;
  // The names of the MachineConfigs that each path, unit and user comes from; empty if they are not known.  They are
  // stored beside the config.
  machineconfig::Writers writers;

  bool IsReconcilable() const { return verdict.text.empty(); }
  bool Reboots() const { return actions.size() == 1 && actions.front().what.type == action_type::kReboot; }
};

// `policy` is the administrator's; the defaults are added.  `overrides` names the sections that may change although
// existing machines ignore the change.  The configs must outlive the plan.
Plan Make(const ParsedConfig& from, const ParsedConfig& to, const NodeDisruptionPolicy& policy,
          const api::IrreconcilableValidationOverrides& overrides);

// Returns the paths of a config's files, units and drop-ins.
std::vector<std::string> PathsOf(const ignition::Config& config);

// Calls `visit` with each path and a function that reads its contents in pieces.  Contents are decoded only when that
// function is called.
Result<> ForEachContents(const ignition::Config& config,
                         const std::function<Result<>(const std::string& path, WalkPieces contents)>& visit);

// Returns the state of the OS that a config wants.
resource::Deployment::State DeploymentOf(const api::MachineConfigSpec& spec);

// The state that each path had before a config managed it.  A file that the new config no longer has goes back to this
// state, or is removed if the map does not have its path.
using Originals = std::map<std::string, resource::FileEntry::State>;

// Returns steps for everything that the new config manages, and not only for the differences, so that drift is
// corrected as well.  Returns an error if contents cannot be decoded or are not in the config itself.
Result<std::vector<Step>> StepsFor(const ParsedConfig& from, const ParsedConfig& to, const Originals& originals);

}  // namespace pintle::plan
