// SPDX-License-Identifier: Apache-2.0
#include "controller/ignition_route.h"

#include <gtest/gtest.h>

#include <ostream>

namespace pintle::controller {

void PrintTo(const IgnitionRoute& route, std::ostream* out) {
  if (const auto* config = std::get_if<ConfigRoute>(&route)) *out << "config of " << config->pool;
  if (const auto* redirect = std::get_if<RedirectRoute>(&route)) *out << "to " << redirect->location;
  if (const auto* plain = std::get_if<PlainRoute>(&route)) *out << plain->status;
}

namespace {

IgnitionRoute Get(std::string_view target) { return RouteOf("GET", target); }
IgnitionRoute Config(std::string pool) { return ConfigRoute{std::move(pool)}; }
IgnitionRoute To(std::string location) { return RedirectRoute{std::move(location)}; }
IgnitionRoute Status(int status) { return PlainRoute{status}; }

TEST(IgnitionRoute, APoolIsTheLastPartOfThePath) {
  EXPECT_EQ(Get("/config/worker"), Config("worker"));
  EXPECT_EQ(Get("/config/worker/"), Config("worker"));
  EXPECT_EQ(Get("/config/a/b/worker?x=/config/master"), Config("worker"));
  EXPECT_EQ(Get("/config/"), Config("config"));
  EXPECT_EQ(Get("/config/%77orker"), Config("worker"));
  EXPECT_EQ(Get("/config/a%2Fworker"), Config("worker"));
  EXPECT_EQ(Get("https://api-int:22623/config/worker"), Config("worker"));
  EXPECT_EQ(RouteOf("HEAD", "/config/worker"), Config("worker"));
}

TEST(IgnitionRoute, UncleanPathsAreAnsweredWithCleanOnes) {
  EXPECT_EQ(Get("/config"), To("/config/"));
  EXPECT_EQ(Get("/config?a=b"), To("/config/?a=b"));
  EXPECT_EQ(Get("//config"), To("/config/"));
  EXPECT_EQ(Get("/config//worker?a=b"), To("/config/worker?a=b"));
  EXPECT_EQ(Get("/config/../worker"), To("/worker"));
  EXPECT_EQ(Get("/config/./worker/"), To("/config/worker/"));
  EXPECT_EQ(Get("/../../.."), To("/"));
  EXPECT_EQ(Get("//elsewhere.example/"), To("/elsewhere.example/"));
  EXPECT_EQ(RouteOf("POST", "/config//worker"), To("/config/worker"));
}

TEST(IgnitionRoute, OnlyGetAndHeadAreAllowed) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get"}) {
    EXPECT_EQ(RouteOf(method, "/config/worker"), Status(405));
    EXPECT_EQ(RouteOf(method, "/healthz"), Status(405));
    EXPECT_EQ(RouteOf(method, "/"), Status(405));
  }
}

TEST(IgnitionRoute, TheRestIsHealthOrNothing) {
  EXPECT_EQ(Get("/healthz"), Status(200));
  EXPECT_EQ(Get("/healthz/"), Status(404));
  EXPECT_EQ(Get("/"), Status(404));
  EXPECT_EQ(Get("/configs/worker"), Status(404));
  EXPECT_EQ(Get("https://api-int:22623"), Status(404));
}

TEST(IgnitionRoute, WhatIsNoPathIsABadRequest) {
  for (const char* target : {"*", "", "config/worker", "?x", "/config/%", "/config/%7", "/config/%zz"}) {
    EXPECT_EQ(Get(target), Status(400)) << target;
  }
}

TEST(IgnitionRoute, ARedirectTellsPeopleWithoutMarkupOfTheirs) {
  EXPECT_EQ(RedirectText("/a?b=\"><script>'&"),
            "<a href=\"/a?b=&#34;&gt;&lt;script&gt;&#39;&amp;\">Temporary Redirect</a>.\n\n");
}

}  // namespace
}  // namespace pintle::controller
