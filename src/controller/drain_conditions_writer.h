// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the moments of drains to MachineConfigNodes, those of one node in the order in which they come.
//
// Each is written by itself, so that whoever watches sees all of them.  What cannot be written is left out: a drain
// does not fail for want of a report.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/machine_config_node.h"
#include "base/clock.h"
#include "controller/drain_conditions.h"
#include "kube/client.h"

namespace pintle::controller {

class DrainConditionsWriter {
 public:
  // The clock must outlive it.
  DrainConditionsWriter(kube::Client client, const Clock& clock);
  DrainConditionsWriter(const DrainConditionsWriter&) = delete;
  DrainConditionsWriter& operator=(const DrainConditionsWriter&) = delete;

  void Write(const std::string& node, DrainMoment moment);

  // Calls when all that was given before for this node is written or left out; at once if it is.
  void WhenWritten(const std::string& node, std::function<void()> then);

  void Forget(const std::string& node) { nodes_.erase(node); }

 private:
  struct Node {
    std::deque<DrainMoment> waiting;  // The first is under way.
    std::vector<std::function<void()>> then;
    kube::Call call;
  };

  void WriteFirst(const std::string& name);
  void EndFirst(const std::string& name);

  kube::Client client_;
  const Clock& clock_;
  std::map<std::string, Node> nodes_;  // Those with something waiting.
};

}  // namespace pintle::controller
