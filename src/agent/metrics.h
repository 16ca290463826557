// SPDX-License-Identifier: Apache-2.0
#pragma once

// The agent's metrics, in the text format that Prometheus reads.
//
// Names, labels and meaning are those of the Machine Config Operator's daemon, so that alerts and dashboards go on
// working.  Only the length of the texts in labels is limited, since each text makes a series of its own.

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"

namespace pintle::agent {

struct Metrics {
  std::string os;          // For example "RHCOS"; "unsupported" if it cannot be found out.
  std::string os_version;  // The version of the booted deployment.

  std::uint64_t pivot_errors = 0;  // The failures since the last change of the OS that succeeded.
  std::uint64_t reboots_failed = 0;
  std::uint64_t kubelet_failures = 0;  // The failures in a row.

  std::string state;  // The value is as in the Node's annotation: "Done", "Degraded".
  std::string state_reason;
  WallTime state_since;

  // The outcome of the last update: the config that the node has now, or the error if the node was not uncordoned.  One
  // of the two is empty.
  struct Update {
    std::string config;
    std::string error;
    WallTime at;
  };
  std::optional<Update> update;

  // The time since which there is drift; nullopt if the last look found none.
  std::optional<WallTime> drift_since;

  std::string node;
  std::uint64_t unsupported_packages = 0;  // The count for the booted deployment.
};

// Returns the time since which there is drift, according to the look that has just ended.  The time stays the same
// while the drift lasts, even if other files drift meanwhile.
std::optional<WallTime> DriftSince(std::optional<WallTime> before, bool is_drifted, WallTime now);

// Returns the text that Prometheus reads.
std::string MetricsText(const Metrics& metrics);

// Writes the whole text to the file that the node exporter collects, unless the same text is there already.  Nothing is
// written if the path is empty or its directory does not exist, since nobody collects the file in that case.
Result<> WriteMetrics(const Root& root, const std::string& path, const Metrics& metrics);

}  // namespace pintle::agent
