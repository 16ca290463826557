// SPDX-License-Identifier: Apache-2.0
#pragma once

// What it takes to get a machine from one config to another.
//
// A plan is made from values alone, by the agent that will carry it out, by the controller, and by whoever wants to see
// beforehand what would happen; therefore they agree.

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
  machineconfig::Verdict verdict;  // Why a machine cannot get there without being installed anew, or that it can.
  Difference difference;
  std::vector<Action> actions;
  Drain drain;
  std::string first_boot_action;  // Of a machine that is not in the cluster yet.
  Drain first_boot_drain;
  // Where the new config comes from, if whoever made the plan knows it.  It is kept beside the config.
  machineconfig::Writers writers;

  bool IsReconcilable() const { return verdict.text.empty(); }
  bool Reboots() const { return actions.size() == 1 && actions.front().what.type == action_type::kReboot; }
};

// `policy` is what the administrator says; the defaults are added.  The configs must outlive the plan.
Plan Make(const ParsedConfig& from, const ParsedConfig& to, const NodeDisruptionPolicy& policy,
          const api::IrreconcilableValidationOverrides& overrides);

// The paths at which a config has files, units and drop-ins included.
std::vector<std::string> PathsOf(const ignition::Config& config);

// Hands on each of them with a way to its contents, so that only those are decoded that are needed.
Result<> ForEachContents(const ignition::Config& config,
                         const std::function<Result<>(const std::string& path, WalkPieces contents)>& visit);

// What a config says of the OS.
resource::Deployment::State DeploymentOf(const api::MachineConfigSpec& spec);

// What was at a path before a config took it.  A file that the new config no longer has goes back to that; one that is
// not listed here goes away.
using Originals = std::map<std::string, resource::FileEntry::State>;

// All that is to be as the new config says, and not only what has changed, so that a node that drifted is mended. Fails
// for contents that are not in the config, or are broken.
Result<std::vector<Step>> StepsFor(const ParsedConfig& from, const ParsedConfig& to, const Originals& originals);

}  // namespace pintle::plan
