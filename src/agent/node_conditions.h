// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports the moments of an update as conditions in the status of the MachineConfigNode.  A moment is an event of an
// update, such as "the node needs an update".
//
// Types, reasons, messages and their order are those of the Machine Config Operator's daemon, since people and tools
// wait for them.  The controller writes the conditions of drains (controller/drain_conditions.h).  Only
// DrainNotRequired() sets Drained here.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config_node.h"
#include "api/node.h"
#include "plan/irreconcilable_report.h"
#include "plan/plan.h"

namespace pintle::agent {

// The fields of a Node that its MachineConfigNode repeats.
struct NodeFacts {
  std::string name;
  std::string uid = {};
  std::string pool = {};
  std::string current_config = {};
  std::string desired_config = {};
  std::string current_image = {};
  std::string desired_image = {};

  bool operator==(const NodeFacts&) const = default;
};

NodeFacts FactsOf(const api::Node& node);

// A moment of an update: a condition and, for some moments, a child condition for a part of it.  The times of the
// conditions are set when they are written.
struct ProgressReport {
  api::Condition parent;
  std::optional<api::Condition> child = {};
  // A cluster whose nodes report image mode has other conditions for applying.
  enum class When { kAlways, kWithoutImageMode, kInImageMode } when = When::kAlways;
  bool writes_spec = false;  // Afterwards, the desired config is written to the spec.
  // The changes of the config that the node cannot make; nullopt if the moment does not report them.
  std::optional<std::vector<api::IrreconcilableChangeDiff>> irreconcilable = {};
};

bool operator==(const ProgressReport& a, const ProgressReport& b);

// The moments of an update, in their usual order.  Applying() and Applied() return several moments; each cluster gets
// those for its mode (ProgressReport::When).
namespace progress {

ProgressReport NeedsUpdate(std::string_view node);
ProgressReport Updated(std::string_view node);
// The node is updated, except for the changes that only a new installation could make.
ProgressReport UpdatedBut(std::string_view node, const std::vector<plan::IrreconcilableChange>& changes);

ProgressReport Prepared(const std::vector<plan::Action>& actions, bool drains);
ProgressReport NotCompatible(std::string_view from, std::string_view to, std::string_view why);
ProgressReport DrainNotRequired();
std::vector<ProgressReport> Applying(const plan::Difference& difference);
std::vector<ProgressReport> Applied(const plan::Difference& difference);

ProgressReport RebootNeeded();
// Returns the moment for an action that was done.  Returns nullopt for reboots, drains and restarts, which the Machine
// Config Operator does not report here.
std::optional<ProgressReport> Done(const plan::Action& action);

ProgressReport Rebooted();
// Resuming is reported when the node has its desired config.  Resumed is reported when the node then settles for the
// first time since the agent started.
ProgressReport Resuming(std::string_view config);
ProgressReport Resumed(std::string_view config);

ProgressReport NotDegraded(std::string_view node);
ProgressReport Degraded(std::string_view node, std::string_view why);

}  // namespace progress

// Returns the status with the moment added.  Returns nullopt if the moment does not apply to this node, or if the
// status has it already.
std::optional<api::MachineConfigNodeStatus> NextStatus(const api::MachineConfigNode& known,
                                                       const ProgressReport& progress, const NodeFacts& node,
                                                       api::Time now);

// Returns the spec as it should be, or nullopt if it need not change.
std::optional<api::MachineConfigNodeSpec> NextSpec(const api::MachineConfigNode& known, const NodeFacts& node);

// Returns the MachineConfigNode to be created.
api::MachineConfigNode NewMachineConfigNode(const NodeFacts& node);

}  // namespace pintle::agent
