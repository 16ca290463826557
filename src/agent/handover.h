// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether this agent acts on its node, or leaves the node to the Machine Config Operator's daemon.
//
// With the setting WaitForHandover=yes, the agent stands by until its Node has the label pintle.io/agent with the value
// "acts".  When the label is removed or gets another value, the agent continues until no change is under way, and then
// stands by again.  An annotation of the Node reports the agent's state: "standby", "begins", "acts", and "standby"
// again.
//
// `pintle-controller takeover` lets the daemon back onto the node only while the annotation is "standby" or missing.
// So an agent that stands by acts only after it has written "begins" itself, and only if the API server's answer still
// has the label.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/node_writer.h"
#include "agent/state.h"
#include "api/node.h"
#include "base/result.h"
#include "base/root.h"
#include "change/format.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/client.h"
#include "kube/mirror.h"

namespace pintle::agent {

// This file exists while the agent acts, so that the agent also acts after a boot without the API server: it may have
// to undo a config with which the machine has no network.  The file contains the uid of the Node that was given to the
// agent.
inline constexpr const char* kHandedOver = change::format::kHandedOver.path;

// Returns the uid in the contents of that file.  Files of version 1 may also have the uid alone, or be empty.
Result<std::string> UidIn(const std::string& contents);
// Returns the contents of that file for this uid.
std::string ContentsWithUid(const std::string& uid);

// Returns whether a Node is given to the agent.
bool IsHandedOver(const api::Node& node);

// Returns whether no change of the agent is under way, and the Node reports this already.
bool CanLeave(const Phase& present, const api::Node& node);

// Returns whether the agent can leave a Node that was recreated and was never given to the agent.  The daemon comes to
// such a Node at once, and nobody waits for reports.  So it is enough that no change has begun.
bool CanLeaveNewNode(const Phase& present);

class Handover {
 public:
  // `changed` is called when is_active() has changed.  The loop and the root must outlive this object.
  static Result<std::unique_ptr<Handover>> Begin(event::Loop& loop, const Root& root, std::string node,
                                                 std::string kubeconfig, std::function<void()> changed);
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  // Returns whether the agent acts on the node.
  bool is_active() const { return is_active_; }

  // Must be called with each phase that the agent enters while it acts.
  void AgentEntered(const Phase& entered);

 private:
  Handover(event::Loop& loop, const Root& root, std::string node, std::string kubeconfig,
           std::function<void()> changed);

  void Connect();
  Result<> TryToConnect();
  void See(const api::Node& node);
  void Decide();
  bool MayLeave() const;
  // Stores that the Node is given to this agent.
  Result<> Store();
  void Report(std::string_view value, std::function<void()> reported = {});
  void AskToBegin();
  void Activate();
  void Leave();
  // Decides again later, because something on this machine has failed.
  void TryAgain(const Error& error);
  void Complain(const std::string& trouble);

  event::Loop& loop_;
  const Root& root_;
  const std::string name_;
  const std::string kubeconfig_;
  const std::function<void()> changed_;
  bool is_active_ = false;
  bool is_asking_ = false;         // "begins" is being written.
  bool has_asked_ = false;         // "begins" was written since the Node got the label.
  bool has_settled_ = false;       // The agent has settled since it began to act.
  std::string given_uid_;          // The uid of the Node that was given to this agent; empty if it is not known.
  bool has_left_ = false;          // Nothing is reported or decided any more.
  std::optional<Phase> phase_;     // The phase of the agent; unset before it acts.
  std::optional<api::Node> node_;  // The latest version that is known.
  std::string trouble_;            // The trouble that was logged, so that it is logged once.
  std::optional<kube::Client> client_;
  std::unique_ptr<NodeWriter> writer_;
  std::unique_ptr<kube::Mirror<api::Node>> nodes_;
  event::Timer connect_again_;
  event::Timer decide_again_;
};

}  // namespace pintle::agent
