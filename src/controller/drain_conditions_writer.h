// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the moments of drains to MachineConfigNodes, those of one node in the order in which they come.
//
// Each is written by itself, so that whoever watches sees all of them.  A drain does not fail for want of a report, nor
// wait for one: what the API server refuses is left out, and what comes after a failure is written later, the later the
// more often it fails.

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
  // With all of the jitter, the longest is five minutes.
  static constexpr kube::Backoff::Settings kTimes = {
      .first = std::chrono::seconds(1), .longest = std::chrono::minutes(4), .jitter = 0.25};

  // The clock must outlive it.
  DrainConditionsWriter(const kube::Client& client, const Clock& clock, kube::Backoff::Settings backoff = kTimes);
  DrainConditionsWriter(const DrainConditionsWriter&) = delete;
  DrainConditionsWriter& operator=(const DrainConditionsWriter&) = delete;

  void Write(const std::string& node, DrainMoment moment);

  // Calls when all that was given before for this node is written or left out, or one of it fails; at once if that is
  // so.
  void WhenWritten(const std::string& node, std::function<void()> then);

  void Forget(const std::string& node) { nodes_.erase(node); }

 private:
  struct Node {
    Node(event::Loop& loop, kube::Backoff::Settings times, std::function<void()> write)
        : backoff(times, kube::SystemRandom()), again(loop, std::move(write), kube::kRetrySlack) {}

    std::deque<DrainMoment> waiting = {};  // The first is under way.
    std::vector<std::function<void()>> then = {};
    kube::Call call = {};
    std::optional<kube::Failure> failure = {};  // The last one.
    int failures = 0;                           // In a row.
    std::string said = {};                      // Of what was wrong.
    kube::Backoff backoff;
    event::Timer again;
  };

  Node& NodeNamed(const std::string& name);
  void WriteFirst(const std::string& name);
  void Failed(const std::string& name, const Error& error);
  void EndFirst(const std::string& name);

  kube::Client client_;
  const Clock& clock_;
  kube::Backoff::Settings times_;
  std::map<std::string, Node> nodes_;  // Those with something waiting, and those of which the last write failed.
};

}  // namespace pintle::controller
