// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

TEST(MetricsText, HasEverySeriesOfTheMachineConfigDaemon) {
  Metrics metrics;
  metrics.os = "RHCOS";
  metrics.os_version = "9.6.20251021-0";
  metrics.pivot_errors = 2;
  metrics.reboots_failed = 1;
  metrics.kubelet_failures = 3;
  metrics.state = "Done";
  metrics.state_since = WallTime(milliseconds(1'700'000'000'900));
  metrics.update = Metrics::Update{"MachineConfig: rendered-worker-1", "", WallTime(seconds(1'700'000'001))};
  metrics.drift_since = WallTime(seconds(1'700'000'002));
  metrics.node = "worker-1";
  metrics.unsupported_packages = 4;
  EXPECT_EQ(MetricsText(metrics), R"(# HELP mcd_host_os_and_version The OS that this host runs, and its version.
# TYPE mcd_host_os_and_version gauge
mcd_host_os_and_version{os="RHCOS",version="9.6.20251021-0"} 1
# HELP mcd_pivot_errors_total Failed changes of the OS since the last successful one.
# TYPE mcd_pivot_errors_total gauge
mcd_pivot_errors_total 2
# HELP mcd_state The state of the agent on this node, and since when, as Unix time.
# TYPE mcd_state gauge
mcd_state{state="Done",reason=""} 1700000000
# HELP mcd_kubelet_state Failures in a row of the kubelet's health check.
# TYPE mcd_kubelet_state gauge
mcd_kubelet_state 3
# HELP mcd_reboots_failed_total Reboots that could not be started.
# TYPE mcd_reboots_failed_total counter
mcd_reboots_failed_total 1
# HELP mcd_update_state The config or the error of the last update; the value is the time of the update, as Unix time.
# TYPE mcd_update_state gauge
mcd_update_state{config="MachineConfig: rendered-worker-1",err=""} 1700000001
# HELP mcd_config_drift When the present drift from the config was first seen, as Unix time; 0 if there is none.
# TYPE mcd_config_drift gauge
mcd_config_drift 1700000002
# HELP mcd_local_unsupported_packages The number of packages that were changed on this node and belong to no extension.
# TYPE mcd_local_unsupported_packages gauge
mcd_local_unsupported_packages{node="worker-1"} 4
)");
}

TEST(DriftSince, IsTheTimeOfTheFirstLookThatFoundDriftUntilOneFindsNone) {
  const WallTime first(seconds(1'700'000'000));
  const WallTime later = first + seconds(60);
  EXPECT_EQ(DriftSince(std::nullopt, true, first), first);
  EXPECT_EQ(DriftSince(first, true, later), first);
  EXPECT_EQ(DriftSince(first, false, later), std::nullopt);
  EXPECT_EQ(DriftSince(std::nullopt, false, later), std::nullopt);
}

TEST(MetricsText, BeforeTheFirstUpdateHasZeroDriftAndNoUpdate) {
  const std::string text = MetricsText(Metrics());
  EXPECT_THAT(text, Not(HasSubstr("mcd_update_state{")));
  EXPECT_THAT(text, HasSubstr("\nmcd_config_drift 0\n"));
}

TEST(MetricsText, HasTheErrorIfTheNodeWasNotUncordoned) {
  Metrics metrics;
  metrics.update = Metrics::Update{"", "failed to uncordon node: worker-1 after 10m", WallTime(seconds(1'700'000'001))};
  EXPECT_THAT(
      MetricsText(metrics),
      HasSubstr("\nmcd_update_state{config=\"\",err=\"failed to uncordon node: worker-1 after 10m\"} 1700000001\n"));
}

TEST(MetricsText, EscapesLabels) {
  Metrics metrics;
  metrics.state = "Degraded";
  metrics.state_reason = "writing \"C:\\\"\nfailed \xff";
  EXPECT_THAT(MetricsText(metrics), HasSubstr(R"(mcd_state{state="Degraded",reason="writing \"C:\\\"\nfailed )"
                                              "\xef\xbf\xbd\"} 0\n"));
}

TEST(MetricsText, KeepsTheBeginningOfALongReason) {
  Metrics metrics;
  for (int i = 0; i < 201; ++i) metrics.state_reason += "é";
  std::string kept;
  for (int i = 0; i < 200; ++i) kept += "é";
  EXPECT_THAT(MetricsText(metrics), HasSubstr("reason=\"" + kept + "\"}"));
}

class WriteMetricsTest : public testing::Test {
 protected:
  Result<> Write(const Metrics& metrics) { return WriteMetrics(root_, "/metrics/pintle.prom", metrics); }
  ino_t Inode() const {
    struct stat status = {};
    EXPECT_EQ(::stat((directory_ / "metrics/pintle.prom").c_str(), &status), 0);
    return status.st_ino;
  }

  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path()));
};

TEST_F(WriteMetricsTest, WritesAFileThatEveryoneMayRead) {
  std::filesystem::create_directory(directory_ / "metrics");
  ASSERT_TRUE(Succeeded(Write(Metrics())));
  EXPECT_EQ(directory_.Read("metrics/pintle.prom"), MetricsText(Metrics()));
  struct stat status = {};
  ASSERT_EQ(::stat((directory_ / "metrics/pintle.prom").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0644U);
  EXPECT_EQ(ValueOf(root_.List("/metrics")).size(), 1U);
}

TEST_F(WriteMetricsTest, ReplacesTheFileOnlyWhenTheTextDiffers) {
  std::filesystem::create_directory(directory_ / "metrics");
  ASSERT_TRUE(Succeeded(Write(Metrics())));
  // The link keeps the inode number in use, so that a new file cannot get the same number.
  std::filesystem::create_hard_link(directory_ / "metrics/pintle.prom", directory_ / "first");
  const ino_t first = Inode();
  ASSERT_TRUE(Succeeded(Write(Metrics())));
  EXPECT_EQ(Inode(), first);
  Metrics changed;
  changed.reboots_failed = 1;
  ASSERT_TRUE(Succeeded(Write(changed)));
  EXPECT_NE(Inode(), first);
  EXPECT_EQ(directory_.Read("first"), MetricsText(Metrics()));
  EXPECT_EQ(directory_.Read("metrics/pintle.prom"), MetricsText(changed));
}

TEST_F(WriteMetricsTest, WritesNothingWithoutAPathOrItsDirectory) {
  EXPECT_TRUE(Succeeded(Write(Metrics())));
  EXPECT_TRUE(Succeeded(WriteMetrics(root_, "", Metrics())));
  EXPECT_TRUE(ValueOf(root_.List("/")).empty());
}

TEST_F(WriteMetricsTest, ReportsAFailedWrite) {
  std::filesystem::create_directories(directory_ / "metrics/pintle.prom");
  EXPECT_EQ(MessageOf(Write(Metrics())), "writing /metrics/pintle.prom: rename: Is a directory");
}

}  // namespace
}  // namespace pintle::agent
