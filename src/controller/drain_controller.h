// SPDX-License-Identifier: Apache-2.0
#pragma once

// Drains nodes for their agents, and tells people how it goes.
//
// Whoever leads has one, gives it every Node at first and each that changes afterwards, and destroys it when it no
// longer leads:
//
//     drains.NodeChanged(node, drain::SettingsOf(*pool_of_node).settings);
//     drains.NodeGone(name);
//
// All that must last is on the Nodes, so a new one goes on where another was.  Before a drain the node's prospect is
// found out, and if it is hopeless, people are told at once with pod, budget and reason; the drain is tried all the
// same.  Who rolls out should ask drain::Forecaster itself before it tells a node.

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
    std::function<std::vector<const api::Node*>()> all_nodes;
  };

  // The parts must outlive it.
  DrainController(Parts parts, kube::Client client);
  ~DrainController();
  DrainController(const DrainController&) = delete;
  DrainController& operator=(const DrainController&) = delete;

  void NodeChanged(const api::Node& node, const drain::Settings& settings);
  void NodeGone(const std::string& name);

  // mcc_drain_err: nodes whose drain takes longer than it should.
  const std::map<std::string, bool>& errors() const { return errors_; }

  // mcc_sub_controller_state: what each node was answered last, "drain" or "uncordon", and when.
  struct Answered {
    drain::Verb verb;
    WallTime at;
  };
  const std::map<std::string, Answered>& answered() const { return answered_; }

 private:
  class Drained;

  Parts parts_;
  kube::Client client_;
  DrainConditionsWriter conditions_;
  drain::Turns evictions_;
  std::map<std::string, bool> errors_;
  std::map<std::string, Answered> answered_;
  std::map<std::string, std::unique_ptr<Drained>> nodes_;  // Those of which something is asked.
};

}  // namespace pintle::controller
