// SPDX-License-Identifier: Apache-2.0
#include "net/http_server_state.h"

#include <gtest/gtest.h>

namespace pintle::net {
namespace {

TEST(HttpServerState, CountsConnectionsOfEachClient) {
  HttpServerState state({.connections = 3, .connections_per_address = 2}, {}, nullptr);
  EXPECT_TRUE(state.AddConnection("192.0.2.1"));
  EXPECT_TRUE(state.AddConnection("192.0.2.1"));
  EXPECT_FALSE(state.AddConnection("192.0.2.1"));
  EXPECT_FALSE(state.is_full());
  EXPECT_TRUE(state.AddConnection("192.0.2.2"));
  EXPECT_TRUE(state.is_full());
  state.RemoveConnection("192.0.2.1");
  EXPECT_EQ(state.connections(), 2U);
  EXPECT_TRUE(state.AddConnection("192.0.2.1"));
}

TEST(HttpServerState, LimitsTheRateOfRequestsOnlyIfThereIsARate) {
  HttpServerState unlimited({}, {}, nullptr);
  HttpServerState limited({.rate = {.per_second = 0.001, .burst = 2}}, {}, nullptr);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(unlimited.AllowsRequest("192.0.2.1"));
  EXPECT_TRUE(limited.AllowsRequest("192.0.2.1"));
  EXPECT_TRUE(limited.AllowsRequest("192.0.2.1"));
  EXPECT_FALSE(limited.AllowsRequest("192.0.2.1"));
}

TEST(HttpServerState, LimitsTheLaterAnswersOfEachClient) {
  const HttpServerState state({.later_answers_per_address = 1}, {}, nullptr);
  auto count = state.AddLater("192.0.2.1");
  EXPECT_TRUE(count);
  EXPECT_FALSE(state.AddLater("192.0.2.1"));
  EXPECT_TRUE(state.AddLater("192.0.2.2"));
  count.reset();
  EXPECT_TRUE(state.AddLater("192.0.2.1"));
}

}  // namespace
}  // namespace pintle::net
