// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the Node, its MachineConfigNode and the Events say of this machine.
//
// It is decided here and written by KubernetesSource: one function takes what was reported before, the Node as it is
// known, and what has happened, and gives the annotations, conditions and Events that follow.  Keys, values, messages
// and their order are those of the Machine Config Operator's daemon, since people and tools wait for them.

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/node_conditions.h"
#include "agent/node_writer.h"
#include "agent/state.h"
#include "api/node.h"
#include "kube/event_recorder.h"
#include "plan/irreconcilable_report.h"
#include "plan/plan.h"

namespace pintle::agent {

// What was reported since this agent started.
struct Reported {
  // How the MachineConfigNode has the node as a whole.
  enum class Whole { kNothing, kBusy, kSettled };

  Whole whole = Whole::kNothing;
  bool has_begun = false;    // What the last change left on the Node has been taken from it.
  bool has_settled = false;  // At least once.
  std::string fault = {};    // The text of the condition NodeDegraded; empty while the node has no fault.
  std::optional<std::vector<plan::IrreconcilableChange>> irreconcilable = {};

  // What has to wait until the Node is seen.
  std::deque<Moment> unwritten = {};
  std::optional<Goal> settled = {};
  std::optional<std::string> finalize_failure = {};
};

// The Node as it is known.
struct NodeView {
  std::string name;
  const api::Node* node = nullptr;  // Null until it is seen.
  bool is_being_written = false;    // Annotations are on their way, so that it may be other than it is known.

  // Empty without such an annotation.
  std::string Annotation(std::string_view key) const;
  // Whether the Node has all of this.
  bool Has(const AnnotationChanges& annotations) const;
};

// What can happen that others are to know of.
namespace report {

struct NodeSeen {};
struct DrainNeeded {
  Goal goal;
};
struct WorkBegan {
  std::vector<plan::Action> actions = {};
  bool drains = false;
};
struct ChangeBegan {
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
// The controller has let the node's pods come back, for which Settled had asked.
struct Uncordoned {
  Goal goal;
};
// The annotations that say that the node is settled are written.
struct SettledWritten {};
struct Failed {
  Fault fault;
  std::string text;
};
struct Irreconcilable {
  std::vector<plan::IrreconcilableChange> changes;
};
// Empty: the deployment that was staged before this boot could be made, or there was none.
struct FinalizeFailed {
  std::string text;
};
struct LoggedIn {};

using Occurrence = std::variant<NodeSeen, DrainNeeded, WorkBegan, ChangeBegan, ChangeEnded, RebootBegins, Settled,
                                Uncordoned, SettledWritten, Failed, Irreconcilable, FinalizeFailed, LoggedIn>;

}  // namespace report

struct NodeEvent {
  kube::EventKind kind;
  std::string reason;
  std::string message;

  bool operator==(const NodeEvent&) const = default;
};

struct NodeReport {
  // What follows when the annotations are written.
  enum class Next { kNothing, kReportReboot, kReportSettled };
  // Whether the controller has to answer before the agent goes on.
  enum class Drain { kNone, kNotRequired, kDoneBefore, kAsked };

  std::vector<NodeEvent> events = {};
  std::vector<Moment> conditions = {};
  std::vector<AnnotationChanges> annotations = {};  // Each is a write of its own.
  Next next = Next::kNothing;
  Drain drain = Drain::kNone;
  std::string asked = {};                            // The value of desiredDrain that the controller is to answer.
  std::optional<Goal> settled = {};                  // Set: this is settled, at once or with that answer.
  std::optional<std::string> finalize_failure = {};  // What is new about a deployment that could not be made.
  std::vector<std::string> log = {};
};

// Updates what was reported.
NodeReport Next(Reported& reported, const NodeView& view, const report::Occurrence& occurrence);

}  // namespace pintle::agent
