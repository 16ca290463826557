// SPDX-License-Identifier: Apache-2.0
#include "controller/metrics.h"

#include <set>
#include <sstream>

#include "support/expect.h"

namespace pintle::controller {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr auto kCountedAt = WallTime(std::chrono::seconds(1'700'000'000));

// Returns a condition with the status True, which began at this time.
api::Condition TrueCondition(std::string type, int began, std::string reason = "") {
  return {std::move(type), "True", api::Time{WallTime(std::chrono::seconds(began))}, std::move(reason), ""};
}

// Returns the metrics of the replica that leads, without pools.
Metrics Leading() {
  Metrics metrics;
  metrics.leads = true;
  return metrics;
}

PoolMetricValues Pool(const std::string& name, std::vector<std::string> nodes) {
  PoolMetricValues values;
  values.pool.metadata.name = name;
  values.nodes = std::move(nodes);
  return values;
}

TEST(MetricsText, HasTheSeriesOfTheMachineConfigController) {
  Metrics metrics = Leading();
  metrics.now = kCountedAt;
  PoolMetricValues worker = Pool("worker", {"w-0", "w-1"});
  worker.pool.status.machine_count = 2;
  worker.pool.status.updated_machine_count = 1;
  worker.pool.status.degraded_machine_count = 3;
  worker.pool.status.unavailable_machine_count = 4;
  worker.pool.status.conditions = {TrueCondition("Updating", 5), TrueCondition("NodeDegraded", 7, "1 nodes"),
                                   TrueCondition("RenderDegraded", 6)};
  worker.overrides_os_image = true;
  worker.is_required = true;
  metrics.pools = {worker};
  metrics.drain_errors = {{"w-0", true}};
  metrics.pool_alerts = {{"m-0", false}};
  metrics.sub_controllers = {{"machine-config-controller-drain", "drain", "w-0", kCountedAt}};
  metrics.allows_old_boot_images = true;
  metrics.operator_tasks = {{"RenderConfig", true}, {"RequiredPools", false}};
  const std::string text = MetricsText(metrics);
  for (
      const char* const line : {
          R"(mco_state{node="w-0",pool="worker",state="NodeDegraded",reason="1 nodes"} 1700000000)",
          R"(mco_state{node="w-1",pool="worker",state="NodeDegraded",reason="1 nodes"} 1700000000)",
          R"(mco_machine_count{pool="worker"} 2)",
          R"(mco_updated_machine_count{pool="worker"} 1)",
          R"(mco_degraded_machine_count{pool="worker"} 3)",
          R"(mco_unavailable_machine_count{pool="worker"} 4)",
          R"(machine_config_controller_paused_pool_kubelet_ca{pool="worker"} 0)",
          R"(mcc_drain_err{node="initialize"} 0)",
          R"(mcc_drain_err{node="w-0"} 1)",
          R"(mcc_pool_alert{node="initialize"} 0)",
          R"(mcc_pool_alert{node="m-0"} 0)",
          R"(os_image_url_override{pool="initialize"} 0)",
          R"(os_image_url_override{pool="worker"} 1)",
          R"(mcc_sub_controller_state{subcontroller="initialize",state="initialize",object="initialize"} 0)",
          R"(mcc_sub_controller_state{subcontroller="machine-config-controller-drain",state="drain",object="w-0"} 1700000000)",
          "mcc_boot_image_skew_enforcement_none 1",
          R"(pintle_pool_required{pool="worker"} 1)",
          R"(pintle_operator_task_failed{task="RenderConfig"} 1)",
          R"(pintle_operator_task_failed{task="RequiredPools"} 0)",
      }) {
    EXPECT_THAT(text, HasSubstr("\n" + std::string(line) + "\n"));
  }
}

TEST(MetricsText, OfAPoolWithoutConditionsHasNoValueOfAnotherPool) {
  Metrics metrics = Leading();
  metrics.pools = {Pool("a", {"a-0"}), Pool("b", {"b-0"})};
  metrics.pools[0].pool.status.conditions = {TrueCondition("Updated", 1)};
  const std::string text = MetricsText(metrics);
  EXPECT_THAT(text, HasSubstr("mco_state{node=\"a-0\""));
  EXPECT_THAT(text, Not(HasSubstr("mco_state{node=\"b-0\"")));
}

TEST(MetricsText, APauseIsNoStateOfAPool) {
  Metrics metrics = Leading();
  metrics.pools = {Pool("a", {"a-0"})};
  metrics.pools[0].pool.status.conditions = {TrueCondition("Updated", 1), TrueCondition("PausedPending", 2)};
  EXPECT_THAT(MetricsText(metrics), HasSubstr(R"(state="Updated")"));
}

TEST(MetricsText, CountsTheWorkThatWaitsBehindAPause) {
  Metrics metrics = Leading();
  metrics.pools = {Pool("worker", {"w-0"})};
  metrics.pools[0].pool.spec.paused = true;
  PauseReport& pause = metrics.pools[0].pause.emplace();
  pause.is_paused = true;
  pause.waiting_nodes = 3;
  pause.renders = {"a", "b"};
  pause.waits_since = WallTime(std::chrono::seconds(1'600'000'000));
  pause.reboots = true;
  // These are the values in the tests of the Machine Config Operator.
  pause.bundles = {{"/etc/kubernetes/kubelet-ca.crt", WallTime(std::chrono::seconds(1'670'379'908)), "CN=s"}};
  const char* const lines[] = {
      R"(machine_config_controller_paused_pool_kubelet_ca{pool="worker"} 1670379908)",
      R"(pintle_pool_paused_renders{pool="worker"} 2)",
      R"(pintle_pool_paused_nodes{pool="worker"} 3)",
      R"(pintle_pool_paused_since_seconds{pool="worker"} 1600000000)",
      R"(pintle_pool_paused_reboots{pool="worker"} 1)",
  };
  for (const char* const line : lines) EXPECT_THAT(MetricsText(metrics), HasSubstr(line));
  EXPECT_THAT(MetricsText(metrics), HasSubstr(R"(pintle_pool_paused{pool="worker"} 1)"));
  pause.passes = true;
  for (const char* const line : lines) EXPECT_THAT(MetricsText(metrics), Not(HasSubstr(line)));
}

TEST(MetricsText, OnlyTheLeaderReportsOnTheCluster) {
  Metrics metrics = Leading();
  metrics.pools = {Pool("worker", {"w-0"})};
  metrics.tokenless_ignition_answers = 2;
  metrics.ignition_answers = {{.pool = "worker", .version = "3.5.0", .code = 200, .count = 7}};
  metrics.notices = {.sent = 3, .failed = 4, .dropped = 5};
  const std::string led = MetricsText(metrics);
  metrics.leads = false;
  metrics.other_program_leads = true;
  const std::string following = MetricsText(metrics);
  EXPECT_THAT(led, HasSubstr("pintle_controller_leads 1\n"));
  EXPECT_THAT(following, HasSubstr("pintle_controller_leads 0\n"));
  EXPECT_THAT(led, HasSubstr("pintle_controller_waits 0\n"));
  EXPECT_THAT(following, HasSubstr("pintle_controller_waits 1\n"));
  EXPECT_THAT(led, HasSubstr("mco_machine_count{"));
  EXPECT_THAT(following, Not(HasSubstr("mco_")));
  for (const std::string& text : {led, following}) {
    EXPECT_THAT(text, HasSubstr(R"(pintle_ignition_requests_total{pool="worker",version="3.5.0",code="200"} 7)"));
    EXPECT_THAT(text, HasSubstr("pintle_ignition_open_requests_total 2\n"));
    EXPECT_THAT(text, HasSubstr("pintle_notifications_sent_total 3\n"));
    EXPECT_THAT(text, HasSubstr("pintle_notifications_failed_total 4\n"));
    EXPECT_THAT(text, HasSubstr("pintle_notifications_dropped_total 5\n"));
  }
}

// Rules that are written for the Machine Config Operator's controller find these series before anything has happened.
TEST(MetricsText, HasTheFirstSeriesOfTheMachineConfigControllerInAnEmptyCluster) {
  const std::string text = MetricsText(Leading());
  for (const char* const line : {
           R"(mcc_drain_err{node="initialize"} 0)",
           R"(mcc_pool_alert{node="initialize"} 0)",
           R"(os_image_url_override{pool="initialize"} 0)",
           R"(mcc_sub_controller_state{subcontroller="initialize",state="initialize",object="initialize"} 0)",
           "mcc_boot_image_skew_enforcement_none 0",
       }) {
    EXPECT_THAT(text, HasSubstr("\n" + std::string(line) + "\n"));
  }
}

TEST(MetricsText, EachReplicaReportsTheEndOfTheCertificateThatItServesWith) {
  Metrics metrics;
  metrics.certificate_expiries = {{kServedCertificate, kCountedAt}};
  EXPECT_THAT(MetricsText(metrics),
              HasSubstr(R"(pintle_ignition_certificate_expires_seconds{source="served"} 1700000000)"));
  metrics.leads = true;
  metrics.certificate_expiries["machine-config-server-tls"] = kCountedAt + std::chrono::seconds(1);
  EXPECT_THAT(MetricsText(metrics), HasSubstr(R"(expires_seconds{source="machine-config-server-tls"} 1700000001)"));
}

TEST(MetricsText, BoundsTextsFromObjects) {
  Metrics metrics = Leading();
  metrics.pools = {Pool("worker", {"w-0"})};
  metrics.pools[0].pool.status.conditions = {TrueCondition("Degraded", 1, std::string(100'000, 'x'))};
  EXPECT_LT(MetricsText(metrics).size(), 10'000U);
}

TEST(MetricsText, HasEachMetricOnceWithAllOfItsSeries) {
  std::istringstream lines(MetricsText(Leading()));
  std::set<std::string> begun;
  std::string current;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) {
      current = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(begun.insert(current).second) << current;
    } else if (!line.starts_with("#")) {
      EXPECT_TRUE(line.starts_with(current + "{") || line.starts_with(current + " ")) << line;
    }
  }
  EXPECT_GT(begun.size(), 15U);
}

}  // namespace
}  // namespace pintle::controller
