// SPDX-License-Identifier: Apache-2.0
#include "controller/metrics_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace pintle::controller {
namespace {

using namespace std::chrono_literals;

const Page kReady = {.metrics = std::make_shared<const std::string>("up 1\n"), .unread_kinds = ""};
const Page kReading = {.metrics = kReady.metrics, .unread_kinds = "nodes, pods"};

// Returns the status and the body.
std::string Get(const Page& page, std::string_view target, std::chrono::nanoseconds silence = 5s) {
  const net::HttpAnswer answer =
      AnswerFrom(page, silence, {.method = "GET", .target = target, .peer = "", .headers = {}});
  return std::to_string(answer.status) + " " + (answer.body ? *answer.body : "");
}

TEST(MetricsPage, IsReadyWhenTheClusterIsRead) {
  EXPECT_EQ(Get(kReading, "/readyz"), "503 not read from the API server yet: nodes, pods\n");
  EXPECT_EQ(Get(kReady, "/readyz"), "200 ");
}

TEST(MetricsPage, IsReadyWhenTheIgnitionServerHasWhatItNeeds) {
  Page page = kReady;
  page.why_not_ready = "the Ignition server has no certificate yet";
  EXPECT_EQ(Get(page, "/readyz"), "503 the Ignition server has no certificate yet\n");
  EXPECT_EQ(Get(page, "/healthz"), "200 ");
  page.unread_kinds = "nodes";
  EXPECT_EQ(Get(page, "/readyz"), "503 not read from the API server yet: nodes\n");
}

TEST(MetricsPage, IsHealthyAsLongAsTheLoopRuns) {
  EXPECT_EQ(Get(kReading, "/healthz"), "200 ") << "a restart would not help";
  EXPECT_EQ(Get(kReady, "/healthz", 59s), "200 ");
  EXPECT_EQ(Get(kReady, "/healthz", 73s), "503 the main loop has not run for 73 s\n");
}

TEST(MetricsPage, IsUnavailableIfTheLoopHangs) {
  EXPECT_EQ(Get(kReady, "/metrics?x"), "200 up 1\n");
  EXPECT_EQ(Get(kReading, "/metrics"), "200 up 1\n");
  EXPECT_EQ(Get(kReady, "/metrics", 60s), "503 the main loop has not run for 60 s\n");
  EXPECT_EQ(Get(kReady, "/readyz", 60s), "503 the main loop has not run for 60 s\n");
}

TEST(MetricsPage, HasNoOtherPath) {
  EXPECT_EQ(Get(kReady, "/", 60s), "404 ");
  EXPECT_EQ(AnswerFrom(kReady, 0s, {.method = "POST", .target = "/healthz", .peer = "", .headers = {}}).status, 405);
}

}  // namespace
}  // namespace pintle::controller
