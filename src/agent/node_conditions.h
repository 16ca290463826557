// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a MachineConfigNode says of its node: moments of an update as conditions, and how they change what is there.
//
// Types, reasons, messages and their order are those of the Machine Config Operator's daemon, since people and tools
// wait for them.  What its drain controller says (Cordoned, Drained, UpdateComplete, Uncordoned) is not here.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config_node.h"
#include "api/node.h"
#include "plan/irreconcilable_report.h"
#include "plan/plan.h"

namespace pintle::agent {

// What a MachineConfigNode repeats of its Node.
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

// One thing that is said: a condition and, for some, the part of it that it is about.  Neither has its time yet.
struct Moment {
  api::Condition parent;
  std::optional<api::Condition> child = {};
  // A cluster whose nodes report image mode has other conditions for what is applied.
  enum class Said { kAlways, kWithoutImageMode, kInImageMode } said = Said::kAlways;
  bool tells_spec = false;  // What the node is to be is written to the spec after it.
  // What of its config the node cannot have; nothing: that is not what this is about.
  std::optional<std::vector<api::IrreconcilableChangeDiff>> irreconcilable = {};
};

bool operator==(const Moment& a, const Moment& b);

namespace moment {

Moment NeedsUpdate(std::string_view node);
Moment Updated(std::string_view node);
// It is updated, but for what is done only when a machine is installed.
Moment UpdatedBut(std::string_view node, const std::vector<plan::IrreconcilableChange>& changes);

Moment Prepared(const std::vector<plan::Action>& actions, bool drains);
Moment NotCompatible(std::string_view from, std::string_view to, std::string_view why);
Moment DrainNotRequired();
std::vector<Moment> Applying(const plan::Difference& difference);
std::vector<Moment> Applied(const plan::Difference& difference);

Moment RebootNeeded();
// Of an action that was done; the Machine Config Operator has nothing to say of a restart.
std::optional<Moment> Done(const plan::Action& action);

Moment Rebooted();
// The first when it has what it should, the second when the first such look after a start has ended.
Moment Resuming(std::string_view config);
Moment Resumed(std::string_view config);

Moment NotDegraded(std::string_view node);
Moment Degraded(std::string_view node, std::string_view why);

}  // namespace moment

// The status with that in it; nothing: it is not said of this one, or is there already.
std::optional<api::MachineConfigNodeStatus> NextStatus(const api::MachineConfigNode& known, const Moment& moment,
                                                       const NodeFacts& node, api::Time now);

// The spec as it should be; nothing: it is so.
std::optional<api::MachineConfigNodeSpec> NextSpec(const api::MachineConfigNode& known, const NodeFacts& node);

// One to be created.
api::MachineConfigNode NewMachineConfigNode(const NodeFacts& node);

}  // namespace pintle::agent
