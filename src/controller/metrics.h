// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the controller counts, in the text format that Prometheus reads.
//
// Names, labels and meaning are those of the Machine Config Operator's controller, so that alerts and dashboards go on
// working; what is ours begins with pintle_.  The text is made whole each time from what there is, so that the series
// of a pool or a node go when it goes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/machine_config_pool.h"
#include "base/clock.h"
#include "controller/pause_report.h"

namespace pintle::controller {

// One pool.  Its counts and conditions are those of its status.
struct PoolFigures {
  api::MachineConfigPool pool;
  std::vector<std::string> nodes;    // Names.
  bool overrides_os_image = false;   // A machine config other than the release's says its OS image.
  std::optional<PauseReport> pause;  // If it is paused.
};

// When a part of the controller last did something of a kind to an object: "machine-config-controller-drain", "drain",
// "worker-1".
struct SubControllerState {
  std::string sub_controller;
  std::string state;
  std::string object;
  WallTime at;
};

// Answers of the Ignition server.
struct IgnitionAnswers {
  std::string pool;     // One that there is, or "".
  std::string version;  // "3.5.0", or "".
  int code = 0;
  std::uint64_t count = 0;
};

struct Metrics {
  WallTime now;
  bool leads = false;  // Of the cluster, only the replica that leads tells.
  std::vector<PoolFigures> pools;
  std::map<std::string, bool> drain_errors;  // By node: whether its drain takes too long.
  std::map<std::string, bool> pool_alerts;   // By node: whether it is a master that a custom pool wants too.
  std::vector<SubControllerState> sub_controllers;
  bool allows_old_boot_images = false;  // The administrator switched off that boot images must be kept fresh.
  std::vector<IgnitionAnswers> ignition_answers;
  std::uint64_t open_ignition_answers = 0;  // Configs that were served without a token.
};

std::string MetricsText(const Metrics& metrics);

}  // namespace pintle::controller
