// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics.h"

#include <utility>

#include "base/metrics_writer.h"

namespace pintle::agent {
namespace {

// At most this many bytes of the present file are read, to compare them with the new text.
constexpr std::size_t kReadLimit = 1 << 20;

}  // namespace

std::optional<WallTime> DriftSince(std::optional<WallTime> before, bool is_drifted, WallTime now) {
  if (!is_drifted) return std::nullopt;
  return before.value_or(now);
}

std::string MetricsText(const Metrics& metrics) {
  MetricsWriter text;
  text.Begin("mcd_host_os_and_version", MetricType::kGauge, "The OS that this host runs, and its version.");
  text.Sample({{"os", metrics.os}, {"version", metrics.os_version}}, 1);
  text.Begin("mcd_pivot_errors_total", MetricType::kGauge, "Failed changes of the OS since the last successful one.");
  text.Sample({}, metrics.pivot_errors);
  text.Begin("mcd_state", MetricType::kGauge, "The state of the agent on this node, and since when, as Unix time.");
  text.Sample({{"state", metrics.state}, {"reason", metrics.state_reason}}, UnixTime(metrics.state_since));
  text.Begin("mcd_kubelet_state", MetricType::kGauge, "Failures in a row of the kubelet's health check.");
  text.Sample({}, metrics.kubelet_failures);
  text.Begin("mcd_reboots_failed_total", MetricType::kCounter, "Reboots that could not be started.");
  text.Sample({}, metrics.reboots_failed);
  text.Begin("mcd_update_state", MetricType::kGauge,
             "The config or the error of the last update; the value is the time of the update, as Unix time.");
  if (metrics.update) {
    text.Sample({{"config", metrics.update->config}, {"err", metrics.update->error}}, UnixTime(metrics.update->at));
  }
  text.Begin("mcd_config_drift", MetricType::kGauge,
             "When the present drift from the config was first seen, as Unix time; 0 if there is none.");
  text.Sample({}, metrics.drift_since ? UnixTime(*metrics.drift_since) : 0);
  text.Begin("mcd_local_unsupported_packages", MetricType::kGauge,
             "The number of packages that were changed on this node and belong to no extension.");
  text.Sample({{"node", metrics.node}}, metrics.unsupported_packages);
  return std::move(text).Take();
}

Result<> WriteMetrics(const Root& root, const std::string& path, const Metrics& metrics) {
  if (path.empty()) return {};
  const std::string text = MetricsText(metrics);
  const auto present = root.ReadFile(path, kReadLimit);
  if (present && *present == text) return {};
  Result<> written = root.WriteFile(path, text, {.permissions = 0644, .owner = {}});
  if (!written && written.error().errno_value() == ENOENT) return {};
  return written;
}

}  // namespace pintle::agent
