// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the changes that give nodes to Pintle's agents in place of the Machine Config Operator's daemon, one node after
// the other, and the changes that give the nodes back.
//
// An agent that stands by on a node reports this in an annotation of the Node (agent/handover.h).  The Node's label
// pintle.io/agent decides who acts there: the daemon's DaemonSet has no pods on nodes with the label, and the agent
// acts while the label has the value "acts".  The label gets this value only when the daemon's pod has gone.  The label
// is removed only when the agent reports that it stands by, or when the node has no agent.  So the daemon and the agent
// never act on a node at once.

#include <cstddef>
#include <string>
#include <vector>

#include "api/node.h"
#include "controller/operator_kinds.h"
#include "controller/takeover_state.h"
#include "json/value.h"

namespace pintle::controller {

// Returns whether a takeover has changed the DaemonSet so that it has no pods on nodes with the label.
bool LeavesNodesToAgents(const WholeDaemonSet& daemon);

// Returns whether the node is not Ready, for example because its machine is off.  Then its pods and its agent
// perhaps do not answer.
bool IsDown(const api::Node& node);

// Returns what undo has to know to restore the DaemonSet: its affinity and its updateStrategy.
json::Value RecordOfDaemon(const WholeDaemonSet& daemon);

// Returns a record to use in place of one that is lost.  If a takeover has changed the DaemonSet, the returned record
// has the affinity without the condition about the label, and has no updateStrategy.  So undo removes the
// updateStrategy, and the Machine Config Operator sets it again.
json::Value InstalledRecordOfDaemon(const WholeDaemonSet& daemon);

// Returns the number of nodes that have an agent which stands by, or which has been given the node.
std::size_t CountOfAgents(const TakeoverState& state);

// Returns the name of one of the nodes that CountOfAgents() counts, or "" if there is none.
std::string NodeOfAnAgent(const TakeoverState& state);

// Returns the steps that give nodes to the agents.
std::vector<TakeoverStep> StepsToHandNodesToAgents(const TakeoverState& state);
// Returns the steps that give the nodes back to the daemon.  `before` is the record of the DaemonSet.
std::vector<TakeoverStep> StepsToHandNodesBack(const TakeoverState& state, const json::Value& before);

}  // namespace pintle::controller
