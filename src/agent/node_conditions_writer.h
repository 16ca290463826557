// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the conditions of an update to the MachineConfigNode.  A ProgressReport (node_conditions.h) stands for a
// moment of the update, and has the conditions that are set together.  Moments are written in the order in which they
// are reported.
//
// Each moment is a write of its own, so that watchers see all of them.  Only a reboot waits for these writes, for a
// limited time.  A moment is dropped if the API server refuses it, or if its write meets too many conflicts.  When
// too many moments wait, the oldest one of the new moment's type is dropped, or else the oldest of all.  After a
// failure the next write is delayed, and each further failure makes the delay longer.  If a cluster has no
// MachineConfigNodes, nothing is written for a while; the first moment that is reported after that causes another try.

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
    // Called when all writes have ended, or were put off because the cluster has no MachineConfigNodes.
    std::function<void()> idle = [] {};
  };

  // The client's field manager owns the conditions.  The clock must outlive the writer.
  NodeConditionsWriter(event::Loop& loop, kube::Client client, const Clock& clock, Listener listener,
                       kube::Backoff::Settings backoff = {});
  NodeConditionsWriter(const NodeConditionsWriter&) = delete;
  NodeConditionsWriter& operator=(const NodeConditionsWriter&) = delete;

  // A moment equal to the last one is not written again.
  void Write(ProgressReport progress, NodeFacts node);
  bool is_idle() const { return !is_writing_; }

 private:
  struct MomentWrite {
    ProgressReport progress;
    NodeFacts node;
    api::Time at;
  };

  void WriteNext();
  void Read();
  void OnRead(Result<api::MachineConfigNode> known);
  void Create();
  void WriteStatus(const api::MachineConfigNode& known);
  void WriteSpec(const api::MachineConfigNode& known);
  void OnFailed(const Error& error);
  void DropOldest();
  void WaitAfterFailure();
  void FinishOldest();
  void Suspend(const Error& error);
  void DropOneFor(const std::string& type);
  bool IsWithoutKind(const Error& error) const;

  kube::Client client_;
  const Clock& clock_;
  Listener listener_;
  std::deque<MomentWrite> waiting_;  // The first element is the write that is under way, if there is one.
  std::optional<MomentWrite> last_;  // The last call of Write(); nullopt if a moment was dropped since.
  bool is_writing_ = false;
  int conflicts_ = 0;
  std::optional<MonotonicTime> suspended_until_;
  std::optional<kube::Failure> failure_;  // The failure of the last request.
  kube::Backoff backoff_;
  event::Timer again_;
  kube::Call call_;
};

}  // namespace pintle::agent
