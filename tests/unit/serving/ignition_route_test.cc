// SPDX-License-Identifier: Apache-2.0
#include "serving/ignition_route.h"

#include <gtest/gtest.h>

#include <ostream>

namespace pintle::serving {

void PrintTo(const IgnitionRoute& route, std::ostream* out) {
  if (const auto* config = std::get_if<ConfigRoute>(&route)) *out << "config of " << config->pool;
  if (const auto* redirect = std::get_if<RedirectRoute>(&route)) *out << "to " << redirect->location;
  if (const auto* plain = std::get_if<PlainRoute>(&route)) *out << plain->status;
}

namespace {

IgnitionRoute GetRoute(std::string_view target) { return RouteOf("GET", target); }
IgnitionRoute ConfigOf(std::string pool) { return ConfigRoute{std::move(pool)}; }
IgnitionRoute To(std::string location) { return RedirectRoute{std::move(location)}; }
IgnitionRoute Status(int status) { return PlainRoute{status}; }

TEST(IgnitionRoute, APoolIsTheLastPartOfThePath) {
  EXPECT_EQ(GetRoute("/config/worker"), ConfigOf("worker"));
  EXPECT_EQ(GetRoute("/config/worker/"), ConfigOf("worker"));
  EXPECT_EQ(GetRoute("/config/a/b/worker?x=/config/master"), ConfigOf("worker"));
  EXPECT_EQ(GetRoute("/config/"), ConfigOf("config"));
  EXPECT_EQ(GetRoute("/config/%77orker"), ConfigOf("worker"));
  EXPECT_EQ(GetRoute("/config/a%2Fworker"), ConfigOf("worker"));
  EXPECT_EQ(GetRoute("https://api-int:22623/config/worker"), ConfigOf("worker"));
  EXPECT_EQ(RouteOf("HEAD", "/config/worker"), ConfigOf("worker"));
}

TEST(IgnitionRoute, UncleanPathsAreRedirectedToCleanOnes) {
  EXPECT_EQ(GetRoute("/config"), To("/config/"));
  EXPECT_EQ(GetRoute("/config?a=b"), To("/config/?a=b"));
  EXPECT_EQ(GetRoute("//config"), To("/config/"));
  EXPECT_EQ(GetRoute("/config//worker?a=b"), To("/config/worker?a=b"));
  EXPECT_EQ(GetRoute("/config/../worker"), To("/worker"));
  EXPECT_EQ(GetRoute("/config/./worker/"), To("/config/worker/"));
  EXPECT_EQ(GetRoute("/../../.."), To("/"));
  EXPECT_EQ(GetRoute("//elsewhere.example/"), To("/elsewhere.example/"));
  EXPECT_EQ(RouteOf("POST", "/config//worker"), To("/config/worker"));
}

TEST(IgnitionRoute, OnlyGetAndHeadAreAllowed) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get"}) {
    EXPECT_EQ(RouteOf(method, "/config/worker"), Status(405));
    EXPECT_EQ(RouteOf(method, "/healthz"), Status(405));
    EXPECT_EQ(RouteOf(method, "/"), Status(405));
  }
}

TEST(IgnitionRoute, AnyOtherPathIsHealthOrNotFound) {
  EXPECT_EQ(GetRoute("/healthz"), Status(200));
  EXPECT_EQ(GetRoute("/healthz/"), Status(404));
  EXPECT_EQ(GetRoute("/healthz/configs?x"), IgnitionRoute(ConfigsHealthRoute()));
  EXPECT_EQ(GetRoute("/healthz/configs/worker"), Status(404));
  EXPECT_EQ(GetRoute("/"), Status(404));
  EXPECT_EQ(GetRoute("/configs/worker"), Status(404));
  EXPECT_EQ(GetRoute("https://api-int:22623"), Status(404));
}

TEST(IgnitionRoute, ATargetThatIsNoPathIsABadRequest) {
  for (const char* target : {"*", "", "config/worker", "?x", "/config/%", "/config/%7", "/config/%zz"}) {
    EXPECT_EQ(GetRoute(target), Status(400)) << target;
  }
}

TEST(IgnitionRoute, ARedirectEscapesMarkupInItsText) {
  EXPECT_EQ(RedirectText("/a?b=\"><script>'&"),
            "<a href=\"/a?b=&#34;&gt;&lt;script&gt;&#39;&amp;\">Temporary Redirect</a>.\n\n");
}

}  // namespace
}  // namespace pintle::serving
