// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the moments of an update to the MachineConfigNode, one after the other as they come.
//
// Each is written by itself, so that whoever watches sees all of them.  Nobody waits for it: what the API server
// refuses is left out, and while it is away the oldest that has been said since in other words goes first when too many
// wait.  After a failure the next one is written later, the later the more often it fails.  A cluster without
// MachineConfigNodes is left alone for a while, and asked again no sooner than when there is news.

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "agent/node_conditions.h"
#include "base/clock.h"
#include "event/watches.h"
#include "kube/backoff.h"
#include "kube/client.h"

namespace pintle::agent {

class NodeConditionsWriter {
 public:
  struct Listener {
    std::function<void()> idle = [] {};  // All is written that will be for now.
  };

  // The client's field manager is the one that owns the conditions.  The clock must outlive the writer.
  NodeConditionsWriter(event::Loop& loop, kube::Client client, const Clock& clock, Listener listener,
                       kube::Backoff::Settings backoff = {});
  NodeConditionsWriter(const NodeConditionsWriter&) = delete;
  NodeConditionsWriter& operator=(const NodeConditionsWriter&) = delete;

  // What was said last already is not said again.
  void Write(Moment moment, NodeFacts node);
  bool is_idle() const { return !is_writing_; }

 private:
  struct Writing {
    Moment moment;
    NodeFacts node;
    api::Time at;
  };

  void WriteNext();
  void Read();
  void Found(Result<api::MachineConfigNode> known);
  void Create();
  void WriteStatus(const api::MachineConfigNode& known);
  void WriteSpec(const api::MachineConfigNode& known);
  void Failed(const Error& error);
  void LeaveOutFirst();
  void WaitAfterFailure();
  void EndFirst();
  void LeaveAlone(const Error& error);
  void DropOneFor(const std::string& type);
  bool IsWithoutKind(const Error& error) const;

  kube::Client client_;
  const Clock& clock_;
  Listener listener_;
  std::deque<Writing> waiting_;  // The first is under way if any is.
  std::optional<Writing> last_;  // That was taken, unless it came to nothing.
  bool is_writing_ = false;
  int stumbles_ = 0;
  std::optional<MonotonicTime> left_alone_until_;
  std::optional<kube::Failure> failure_;  // The last one.
  kube::Backoff backoff_;
  event::Timer again_;
  kube::Call call_;
};

}  // namespace pintle::agent
