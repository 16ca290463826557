// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the agent counts, in the text format that Prometheus reads.
//
// Names, labels and meaning are those of the Machine Config Operator's daemon, so that alerts and dashboards go on
// working; only that texts in labels are bounded, since each one makes a series.

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"

namespace pintle::agent {

struct Metrics {
  std::string os;          // "RHCOS"; "unsupported" if it cannot be told.
  std::string os_version;  // Of the booted deployment.

  std::uint64_t pivot_errors = 0;  // Since the last change of the OS that went well.
  std::uint64_t reboots_failed = 0;
  std::uint64_t kubelet_failures = 0;  // In a row.

  std::string state;  // As in the node's annotation: "Done", "Degraded".
  std::string state_reason;
  WallTime state_since;

  // How the last update ended: what the node has, or why it does not.
  struct Update {
    std::string config;
    std::string error;
    WallTime at;
  };
  std::optional<Update> update;

  std::optional<WallTime> config_drift;  // When drift was last seen.

  std::string node;
  std::uint64_t unsupported_packages = 0;  // In the booted deployment.
};

std::string MetricsText(const Metrics& metrics);

// Puts the text where the node exporter collects it, whole, if it is not there already.  An empty path, or a directory
// that does not exist, means that nobody wants it, which is fine.
Result<> WriteMetrics(const Root& root, const std::string& path, const Metrics& metrics);

}  // namespace pintle::agent
