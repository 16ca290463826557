// SPDX-License-Identifier: Apache-2.0
#include "controller/metrics.h"

#include <functional>
#include <string_view>
#include <utility>

#include "base/metrics_writer.h"
#include "base/version.h"
#include "controller/pause_condition.h"

namespace pintle::controller {
namespace {

// The Machine Config Operator gives some metrics a series with this value in each label, so that these metrics always
// exist.
constexpr std::string_view kInitialize = "initialize";

// Returns the true condition that changed last, or nullptr.  Leaves out PausedPending, which only Pintle has.
const api::Condition* LatestTrue(const api::MachineConfigPool& pool) {
  const api::Condition* latest = nullptr;
  for (const api::Condition& condition : pool.status.conditions) {
    if (condition.status != "True" || condition.type == kPausedPending) continue;
    if (latest == nullptr || condition.last_transition_time >= latest->last_transition_time) latest = &condition;
  }
  return latest;
}

void WriteStates(const Metrics& metrics, MetricsWriter& text) {
  text.Begin("mco_state", MetricType::kGauge,
             "The state of a node's pool, in the labels; the value is the present Unix time.");
  for (const PoolMetricValues& values : metrics.pools) {
    const api::Condition* const state = LatestTrue(values.pool);
    if (state == nullptr) continue;
    for (const std::string& node : values.nodes) {
      text.Sample(
          {{"node", node}, {"pool", values.pool.metadata.name}, {"state", state->type}, {"reason", state->reason}},
          UnixTime(metrics.now));
    }
  }
}

using PoolMetricFunction = std::function<std::int64_t(const PoolMetricValues& values)>;

void WritePoolMetric(const Metrics& metrics, MetricsWriter& text, std::string_view name, std::string_view help,
                     const PoolMetricFunction& value_of) {
  text.Begin(name, MetricType::kGauge, help);
  for (const PoolMetricValues& values : metrics.pools) {
    text.Sample({{"pool", values.pool.metadata.name}}, value_of(values));
  }
}

void WriteCounts(const Metrics& metrics, MetricsWriter& text) {
  WritePoolMetric(metrics, text, "mco_machine_count", "Nodes of a pool.",
                  [](const auto& values) { return values.pool.status.machine_count; });
  WritePoolMetric(metrics, text, "mco_updated_machine_count", "Nodes of a pool that have their desired config.",
                  [](const auto& values) { return values.pool.status.updated_machine_count; });
  WritePoolMetric(metrics, text, "mco_degraded_machine_count",
                  "Nodes of a pool that failed to get their desired config.",
                  [](const auto& values) { return values.pool.status.degraded_machine_count; });
  WritePoolMetric(metrics, text, "mco_unavailable_machine_count", "Nodes of a pool on which no pods can be run.",
                  [](const auto& values) { return values.pool.status.unavailable_machine_count; });
}

// Returns 0 if there is no time.
std::int64_t UnixTimeOr0(const std::optional<WallTime>& time) { return time ? UnixTime(*time) : 0; }

// Returns a function whose value is 0 unless something waits behind the pool's pause.
PoolMetricFunction ZeroUnlessWaiting(std::function<std::int64_t(const PauseReport& report)> value_of) {
  return [value_of = std::move(value_of)](const PoolMetricValues& values) -> std::int64_t {
    return values.pause && values.pause->waits() ? value_of(*values.pause) : 0;
  };
}

void WritePauses(const Metrics& metrics, MetricsWriter& text) {
  WritePoolMetric(
      metrics, text, "machine_config_controller_paused_pool_kubelet_ca",
      "The Unix time at which the kubelet CA on the nodes of a paused pool expires, if a newer one waits behind the "
      "pause; otherwise 0.",
      ZeroUnlessWaiting([](const auto& report) { return UnixTimeOr0(report.kubelet_authority_until()); }));
  WritePoolMetric(metrics, text, "pintle_pool_paused", "Whether a pool is paused.",
                  [](const auto& values) { return values.pool.spec.paused ? 1 : 0; });
  WritePoolMetric(
      metrics, text, "pintle_pool_paused_renders", "Renders that wait behind the pause of a pool.",
      ZeroUnlessWaiting([](const auto& report) { return static_cast<std::int64_t>(report.renders.size()); }));
  WritePoolMetric(
      metrics, text, "pintle_pool_paused_nodes", "Nodes that wait behind the pause of their pool.",
      ZeroUnlessWaiting([](const auto& report) { return static_cast<std::int64_t>(report.waiting_nodes); }));
  WritePoolMetric(metrics, text, "pintle_pool_paused_since_seconds",
                  "The Unix time since which a change waits behind the pause of a pool; 0 if none waits.",
                  ZeroUnlessWaiting([](const auto& report) { return UnixTimeOr0(report.waits_since); }));
  WritePoolMetric(metrics, text, "pintle_pool_paused_reboots", "Whether unpausing a pool reboots nodes.",
                  ZeroUnlessWaiting([](const auto& report) { return report.reboots ? 1 : 0; }));
}

void WriteNodeMetric(MetricsWriter& text, std::string_view name, std::string_view help,
                     const std::map<std::string, bool>& nodes) {
  text.Begin(name, MetricType::kGauge, help);
  text.Sample({{"node", kInitialize}}, 0);
  for (const auto& [node, is_true] : nodes) text.Sample({{"node", node}}, is_true ? 1 : 0);
}

void WriteNodes(const Metrics& metrics, MetricsWriter& text) {
  WriteNodeMetric(text, "mcc_drain_err", "Whether draining a node takes too long.", metrics.drain_errors);
  WriteNodeMetric(text, "mcc_pool_alert", "Whether a master matches the selector of a custom pool as well.",
                  metrics.pool_alerts);
}

void WriteController(const Metrics& metrics, MetricsWriter& text) {
  text.Begin("os_image_url_override", MetricType::kGauge, "Whether a pool has another OS image than the release's.");
  text.Sample({{"pool", kInitialize}}, 0);
  for (const PoolMetricValues& values : metrics.pools) {
    text.Sample({{"pool", values.pool.metadata.name}}, values.overrides_os_image ? 1 : 0);
  }
  text.Begin("mcc_sub_controller_state", MetricType::kGauge,
             "When a part of the controller last did something to an object, as Unix time.");
  text.Sample({{"subcontroller", kInitialize}, {"state", kInitialize}, {"object", kInitialize}}, 0);
  for (const SubControllerState& state : metrics.sub_controllers) {
    text.Sample({{"subcontroller", state.sub_controller}, {"state", state.state}, {"object", state.object}},
                UnixTime(state.at));
  }
  text.Begin("mcc_boot_image_skew_enforcement_none", MetricType::kGauge,
             "Whether new machines may be installed from boot images of any age.");
  text.Sample({}, metrics.allows_old_boot_images ? 1 : 0);
}

void WriteOperator(const Metrics& metrics, MetricsWriter& text) {
  WritePoolMetric(metrics, text, "pintle_pool_required", "Whether an upgrade of the cluster waits for a pool.",
                  [](const auto& values) { return values.is_required ? 1 : 0; });
  text.Begin("pintle_operator_task_failed", MetricType::kGauge,
             "Whether a task of the operator fails, by the name that the ClusterOperator uses.");
  for (const auto& [task, fails] : metrics.operator_tasks) text.Sample({{"task", task}}, fails ? 1 : 0);
}

// Only one replica reports on the cluster, so that nothing is counted twice.
void WriteCluster(const Metrics& metrics, MetricsWriter& text) {
  WriteStates(metrics, text);
  WriteCounts(metrics, text);
  WritePauses(metrics, text);
  WriteNodes(metrics, text);
  WriteController(metrics, text);
  WriteOperator(metrics, text);
}

void WriteReplica(const Metrics& metrics, MetricsWriter& text) {
  text.Begin("pintle_controller_leads", MetricType::kGauge, "Whether this replica leads.");
  text.Sample({}, metrics.leads ? 1 : 0);
  text.Begin("pintle_controller_waits", MetricType::kGauge,
             "Whether a program other than pintle-controller holds the lease.");
  text.Sample({}, metrics.other_program_leads ? 1 : 0);
  text.Begin("pintle_controller_info", MetricType::kGauge, "The version of this controller.");
  text.Sample({{"version", kVersion}}, 1);
}

void WriteNotices(const Metrics& metrics, MetricsWriter& text) {
  text.Begin("pintle_notifications_sent_total", MetricType::kCounter, "Notices that the webhook has taken.");
  text.Sample({}, metrics.notices.sent);
  text.Begin("pintle_notifications_failed_total", MetricType::kCounter,
             "Failed attempts to send a notice to the webhook.");
  text.Sample({}, metrics.notices.failed);
  text.Begin("pintle_notifications_dropped_total", MetricType::kCounter,
             "Notices that were dropped, because the webhook refused them or too many were waiting.");
  text.Sample({}, metrics.notices.dropped);
}

void WriteIgnition(const Metrics& metrics, MetricsWriter& text) {
  text.Begin("pintle_ignition_requests_total", MetricType::kCounter, "Answers of the Ignition server.");
  for (const IgnitionAnswers& answers : metrics.ignition_answers) {
    text.Sample({{"pool", answers.pool}, {"version", answers.version}, {"code", std::to_string(answers.code)}},
                answers.count);
  }
  text.Begin("pintle_ignition_open_requests_total", MetricType::kCounter,
             "Configs that the Ignition server gave to machines without a valid token.");
  text.Sample({}, metrics.tokenless_ignition_answers);
  text.Begin("pintle_ignition_certificate_expires_seconds", MetricType::kGauge,
             "When a certificate of the Ignition server expires, as Unix time.");
  for (const auto& [source, expiry] : metrics.certificate_expiries) {
    text.Sample({{"source", source}}, UnixTime(expiry));
  }
}

}  // namespace

std::string MetricsText(const Metrics& metrics) {
  MetricsWriter text;
  if (metrics.leads) WriteCluster(metrics, text);
  WriteReplica(metrics, text);
  WriteNotices(metrics, text);
  WriteIgnition(metrics, text);
  return std::move(text).Take();
}

}  // namespace pintle::controller
