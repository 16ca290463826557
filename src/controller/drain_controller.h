// SPDX-License-Identifier: Apache-2.0
#pragma once

// Drains nodes when their agents request it, and reports the progress.
//
// The leader creates a DrainController.  The leader passes every Node to the DrainController at first, and each changed
// Node afterwards.  When the replica no longer leads, it destroys the DrainController.
//
//     drains.NodeChanged(node, drain::SettingsOf(*pool_of_node).settings);
//     drains.NodeGone(name);
//
// All state that must last is on the Nodes, so a new instance continues where the previous one stopped.  Each drain
// begins with a forecast.  If the drain cannot succeed, the pod, its PodDisruptionBudget and the reason are reported at
// once, and the drain is tried nevertheless.  A rollout should request a forecast itself before it updates a node.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "controller/announcer.h"
#include "controller/drain_conditions_writer.h"
#include "drain/forecaster.h"
#include "drain/node_drain.h"
#include "drain/settings.h"
#include "drain/turns.h"
#include "kube/client.h"

namespace pintle::controller {

class DrainController {
 public:
  struct Parts {
    event::Loop& loop;
    const Clock& clock;
    Announcer& announcer;
    drain::Forecaster& forecaster;
    std::function<std::vector<const api::Node*>()> all_nodes;  // Returns the nodes of the cluster, sorted by name.
  };

  // The parts must outlive this object.
  DrainController(Parts parts, kube::Client client);
  ~DrainController();
  DrainController(const DrainController&) = delete;
  DrainController& operator=(const DrainController&) = delete;

  // `settings` are the time limits of the node's pool.
  void NodeChanged(const api::Node& node, const drain::Settings& settings);
  void NodeGone(const std::string& name);

  // Returns the nodes whose drain has exceeded its timeout, for the metric mcc_drain_err.  All values are true.
  const std::map<std::string, bool>& errors() const { return errors_; }

  // The last answer to a node, "drain" or "uncordon", and its time, for the metric mcc_sub_controller_state.
  struct Answered {
    drain::Verb verb;
    WallTime at;
  };
  const std::map<std::string, Answered>& answered() const { return answered_; }

 private:
  class RequestedDrain;

  Parts parts_;
  kube::Client client_;
  DrainConditionsWriter conditions_;
  drain::Turns evictions_;
  std::map<std::string, bool> errors_;
  std::map<std::string, Answered> answered_;
  std::map<std::string, std::unique_ptr<RequestedDrain>> nodes_;  // The nodes whose agents have requested something.
};

}  // namespace pintle::controller
