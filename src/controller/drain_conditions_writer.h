// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes each moment (event) of a drain as conditions of the node's MachineConfigNode.
//
// The moments of a node are written in their order.  Each moment is a write of its own, so that watchers see all
// moments.  A write that fails neither fails nor delays the drain.  A moment is dropped if the API server refuses it or
// if the node has no MachineConfigNode.  If too many moments of a node wait, the second oldest moment is dropped, since
// the oldest moment may be on its way.  After any failure, the waiting moments are written later, at growing intervals.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/machine_config_node.h"
#include "base/clock.h"
#include "controller/drain_conditions.h"
#include "event/watches.h"
#include "kube/backoff.h"
#include "kube/client.h"

namespace pintle::controller {

class DrainConditionsWriter {
 public:
  // Together with the jitter, the longest interval is five minutes.
  static constexpr kube::Backoff::Settings kRetryBackoff = {
      .first = std::chrono::seconds(1), .longest = std::chrono::minutes(4), .jitter = 0.25};

  // The clock must outlive this object.
  DrainConditionsWriter(const kube::Client& client, const Clock& clock,
                        kube::Backoff::Settings backoff = kRetryBackoff);
  DrainConditionsWriter(const DrainConditionsWriter&) = delete;
  DrainConditionsWriter& operator=(const DrainConditionsWriter&) = delete;

  void Write(const std::string& node, DrainMoment moment);

  // Calls `then` when all earlier moments of this node have been written or dropped, or when a write fails.  If no
  // moment is waiting, or if the last write failed, calls `then` at once.
  void WhenWritten(const std::string& node, std::function<void()> then);

  // Drops the moments of this node that wait.  Callbacks that wait in WhenWritten() are not called.
  void Forget(const std::string& node) { nodes_.erase(node); }

 private:
  struct Node {
    Node(event::Loop& loop, kube::Backoff::Settings times, std::function<void()> write)
        : backoff(times, kube::SystemRandom()), again(loop, std::move(write), kube::kRetrySlack) {}

    std::deque<DrainMoment> waiting = {};          // The first moment is being written, or is tried again later.
    std::vector<std::function<void()>> then = {};  // The callbacks that wait in WhenWritten().
    kube::Call call = {};
    std::optional<kube::Failure> failure = {};  // The failure of the latest call.
    int failures = 0;                           // The number of failures in a row.
    std::string logged_error = {};              // The error that was logged last.
    kube::Backoff backoff;
    event::Timer again;  // Armed after a failure, until the next try.
  };

  Node& NodeNamed(const std::string& name);
  void WriteOldest(const std::string& name);
  void Failed(const std::string& name, const Error& error);
  void FinishOldest(const std::string& name);

  kube::Client client_;
  const Clock& clock_;
  kube::Backoff::Settings times_;
  std::map<std::string, Node> nodes_;  // The nodes with waiting moments, and those whose last write failed.
};

}  // namespace pintle::controller
