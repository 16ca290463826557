// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the controller's metrics in the text format of Prometheus.
//
// Names, labels and meanings are those of the Machine Config Operator's controller, so that alerts and dashboards keep
// working; our own metrics begin with pintle_.  The whole text is made anew each time from the present state, so it has
// no series of a pool or a node that is gone.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/machine_config_pool.h"
#include "base/clock.h"
#include "controller/notice_queue.h"
#include "controller/pause_report.h"

namespace pintle::controller {

// The values for the metrics of one pool.  Its counts and conditions are in its status.
struct PoolMetricValues {
  api::MachineConfigPool pool;
  std::vector<std::string> nodes;    // The names of its nodes.
  bool overrides_os_image = false;   // A machine config other than the release's sets the OS image.
  bool is_required = false;          // An upgrade of the cluster waits for the pool.
  std::optional<PauseReport> pause;  // Set if the pool is paused and its report is known.
};

// The last time that a part of the controller did something to an object, such as "machine-config-controller-drain",
// "drain" and "worker-1".
struct SubControllerState {
  std::string sub_controller;
  std::string state;
  std::string object;
  WallTime at;
};

// Counts the answers of the Ignition server that have the same pool, version and status code.
struct IgnitionAnswers {
  std::string pool;     // The name of a pool, or "" for all names that no pool has.
  std::string version;  // "3.5.0", or "".
  int code = 0;
  std::uint64_t count = 0;
};

// The value of SubControllerState::state for the part that makes configs from templates, if there are no templates.
inline constexpr const char* kWithoutTemplates = "No templates";

// The key in Metrics::certificate_expiries for the certificate with which this replica serves Ignition.
inline constexpr const char* kServedCertificate = "served";

struct Metrics {
  WallTime now;
  bool leads = false;                // Only the leader reports on the cluster.
  bool other_program_leads = false;  // A program other than pintle-controller holds the lease.
  std::vector<PoolMetricValues> pools;
  std::map<std::string, bool> drain_errors;  // True for a node whose drain takes too long.
  // True for a node that is a master and that a custom pool selects as well.
  std::map<std::string, bool> pool_alerts;
  std::vector<SubControllerState> sub_controllers;
  bool allows_old_boot_images = false;  // The administrator has switched off the check that boot images are recent.
  // True for a task of OpenShift's operator that fails.  Empty if this replica does not act as that operator.
  std::map<std::string, bool> operator_tasks;
  // When certificates of the Ignition server expire.  The keys are kServedCertificate and the names of Secrets.
  std::map<std::string, WallTime> certificate_expiries;
  std::vector<IgnitionAnswers> ignition_answers;
  NoticeCounts notices;
  // The number of configs that were served to machines without a valid token.
  std::uint64_t tokenless_ignition_answers = 0;
};

std::string MetricsText(const Metrics& metrics);

}  // namespace pintle::controller
