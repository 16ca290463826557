// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what the Node, its MachineConfigNode and the Events report about this machine.
//
// One function takes the earlier reports, the last known state of the Node, and an occurrence.  It returns the
// annotations, conditions and Events that follow, and KubernetesSource writes them.  Keys, values, messages and their
// order are those of the Machine Config Operator's daemon, since people and tools wait for them.

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/node_conditions.h"
#include "agent/node_writer.h"
#include "agent/staging.h"
#include "agent/state.h"
#include "api/node.h"
#include "kube/event_recorder.h"
#include "plan/irreconcilable_report.h"
#include "plan/plan.h"

namespace pintle::agent {

// The reports made since this agent started.
struct Reported {
  // The state that the MachineConfigNode reports for the node as a whole.
  enum class Overall { kNothing, kBusy, kSettled };

  Overall overall = Overall::kNothing;
  bool is_past_action_cleared = false;  // The annotation that the last change left on the Node was removed or replaced.
  bool has_settled = false;             // The node has settled at least once since the agent started.
  std::string fault = {};               // The text of the condition NodeDegraded; empty while the node has no fault.
  Fault fault_kind = Fault::kFailed;    // The kind of this fault.
  std::optional<Goal> settled_with = {};  // Unset while the node has work or a fault.
  std::optional<std::vector<plan::IrreconcilableChange>> irreconcilable = {};

  // Reports that wait until the Node is seen.
  std::deque<ProgressReport> unwritten = {};
  std::optional<Goal> settled_unseen = {};  // The goal with which the machine has settled meanwhile.
  std::optional<std::string> finalize_failure = {};
};

// The last known state of the Node.
struct NodeView {
  std::string name;
  const api::Node* node = nullptr;  // Null until it is seen.
  bool is_being_written = false;    // Annotations are being written, so the Node may have changed already.

  // Returns "" if there is no such annotation.
  std::string Annotation(std::string_view key) const;
  // Returns whether the Node has all of these.
  bool Has(const AnnotationChanges& annotations) const;
};

// The occurrences that lead to reports.
namespace report {

struct NodeSeen {};
// The Node does not have the agent's reports any more: the kubelet has registered it again after someone had deleted
// it, or the cluster's store was restored from a backup.
struct ReportsLost {};
struct DrainNeeded {
  Goal goal;
};
struct WorkBegan {
  std::vector<plan::Action> actions = {};
  bool drains = false;
};
struct ApplyingBegan {
  plan::Difference difference = {};
  bool drains = false;
  std::string os_image = {};  // The image that the machine is to have.
};
struct ChangeEnded {
  plan::Difference difference = {};
  std::vector<plan::Action> actions = {};
  bool needs_reboot = false;
};
struct RebootBegins {
  std::string why;
};
struct Settled {
  Goal goal;
};
// The controller has done the uncordon that Settled asked for.
struct Uncordoned {
  Goal goal;
};
// The annotations that report the node as settled are written.
struct SettledWritten {};
struct Failed {
  Fault fault;
  std::string text;
};
struct Irreconcilable {
  std::vector<plan::IrreconcilableChange> changes;
};
// The text is the reason why the deployment that was staged before this boot was not finalized.  It is empty if no such
// failure is known.
struct FinalizeFailed {
  std::string text;
};
struct Staged {
  StagingReport report;
};
struct LoggedIn {};

using Occurrence =
    std::variant<NodeSeen, ReportsLost, DrainNeeded, WorkBegan, ApplyingBegan, ChangeEnded, RebootBegins, Settled,
                 Uncordoned, SettledWritten, Failed, Irreconcilable, FinalizeFailed, Staged, LoggedIn>;

}  // namespace report

struct NodeEvent {
  kube::EventKind kind;
  std::string reason;
  std::string message;

  bool operator==(const NodeEvent&) const = default;
};

struct NodeReport {
  // The report that follows when the annotations are written.
  enum class Next { kNothing, kReportReboot, kReportSettled };
  // The request to the controller for a drain or an uncordon.  With kAsked, the agent waits for the answer.
  enum class Drain { kNone, kNotRequired, kDoneBefore, kAsked };

  std::vector<NodeEvent> events = {};
  std::vector<ProgressReport> conditions = {};
  std::vector<AnnotationChanges> annotations = {};  // Each is a write of its own.
  Next next = Next::kNothing;
  Drain drain = Drain::kNone;
  std::string drain_request = {};    // The value of desiredDrain that the controller has to answer.
  std::optional<Goal> settled = {};  // If set, the node settles with this goal, at once or after the answer.
  // Set if the reason why a deployment could not be finalized has changed.
  std::optional<std::string> finalize_failure = {};
  std::vector<std::string> log = {};
};

// Returns the report that follows, and updates `reported`.
NodeReport ReportOn(Reported& reported, const NodeView& view, const report::Occurrence& occurrence);

}  // namespace pintle::agent
