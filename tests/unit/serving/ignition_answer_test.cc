// SPDX-License-Identifier: Apache-2.0
#include "serving/ignition_answer.h"

#include <fmt/core.h>

#include <chrono>
#include <string>
#include <vector>

#include "serving/ignition_counts.h"
#include "support/expect.h"

namespace pintle::serving {
namespace {

using ignition::SpecVersion;

const std::string kSigningKey(32, 'k');
constexpr WallTime kRequestTime = WallTime(std::chrono::hours(500'000));

ServedSources Sources(const std::string& name) {
  ServedSources sources;
  sources.config.metadata.name = name;
  sources.config.spec.config = {{"ignition", {{"version", "3.5.0"}}}};
  return sources;
}

class IgnitionAnswerTest : public testing::Test {
 protected:
  IgnitionAnswer Ask(std::string_view path, const std::string& accept = "", const std::string& token = "",
                     std::string_view method = "GET") {
    const std::string authorization = "Bearer " + token;
    net::IncomingRequest request = {method, path, "127.0.0.1:1", {}};
    if (!accept.empty()) request.headers.push_back({"Accept", accept});
    if (!token.empty()) request.headers.push_back({"Authorization", authorization});
    return AnswerTo(request, pools_, access_, kRequestTime);
  }
  int StatusWith(const std::string& token) { return Ask("/config/worker", "", token).http.status; }

  std::shared_ptr<event::TextCache> cache_ = MakeServedTextCache();
  ServedPools pools_ = {
      {"worker", std::make_shared<const KnownPool>(Sources("rendered-worker-1"), cache_)},
      {"broken", std::make_shared<const KnownPool>(Error(ErrorKind::kNotFound, "could not fetch config x"), cache_)},
  };
  Access access_;
};

TEST_F(IgnitionAnswerTest, ServesTheSameBytesToAllRequestsForAVersion) {
  const IgnitionAnswer first = Ask("/config/worker", "application/vnd.coreos.ignition+json;version=3.3.0");
  const IgnitionAnswer second = Ask("/config/a/worker", "x/vnd.coreos.ignition+json;version=3.3.9");
  ASSERT_EQ(first.http.status, 200);
  EXPECT_EQ(first.http.body.get(), second.http.body.get());
  EXPECT_EQ(first.version, SpecVersion::k3_3);
  EXPECT_EQ(first.pool, "worker");
  EXPECT_THAT(first.http.headers, testing::ElementsAre(net::Header{"Content-Type", "application/json"}));
  EXPECT_NE(first.http.body.get(), Ask("/config/worker").http.body.get());
}

TEST_F(IgnitionAnswerTest, ReportsWhyThereIsNoConfig) {
  EXPECT_EQ(Ask("/config/none").http.status, 500);
  EXPECT_EQ(Ask("/config/none").failure->message(), "there is no pool \"none\"");
  EXPECT_EQ(Ask("/config/broken").http.status, 500);
  EXPECT_EQ(Ask("/config/broken").failure->message(), "could not fetch config x");
  const IgnitionAnswer bad = Ask("/config/worker", "application/vnd.coreos.ignition+json;version=4.0.0");
  EXPECT_EQ(bad.http.status, 400);
  EXPECT_THAT(bad.failure->message(), testing::StartsWith("unsupported Ignition version in Accept header: "));
  for (const IgnitionAnswer& answer : {Ask("/config/none"), Ask("/config/broken"), bad}) {
    EXPECT_EQ(answer.http.body, nullptr);
  }
}

TEST_F(IgnitionAnswerTest, KeepsTheLimitOfMemoryForConfigs) {
  const auto ask = [&](int minor) {
    return Ask("/config/worker", fmt::format("application/vnd.coreos.ignition+json;version=3.{}.0", minor));
  };
  const std::size_t length = ask(1).http.body->size();
  const auto cache = std::make_shared<event::TextCache>(length * 5 / 2);
  pools_["worker"] = std::make_shared<const KnownPool>(Sources("rendered-worker-1"), cache);
  std::vector<IgnitionAnswer> held;
  for (int minor = 1; minor <= 5; ++minor) {
    held.push_back(ask(minor));
    EXPECT_LE(cache->size_in_use(), length * 5 / 2);
  }
  EXPECT_EQ(held[1].http.status, 200);
  EXPECT_EQ(held[4].http.status, 503);
  EXPECT_EQ(held[4].http.body, nullptr);
  EXPECT_THAT(held[4].http.headers, testing::ElementsAre(net::Header{"Retry-After", "5"}));
  EXPECT_EQ(ask(1).http.body, held[0].http.body);
  held.clear();
  EXPECT_EQ(ask(5).http.status, 200);
}

TEST_F(IgnitionAnswerTest, ChecksATokenAsItsModeRequires) {
  const std::string good = MakeToken(kSigningKey, "worker", kRequestTime + std::chrono::seconds(1));
  const std::string expired = MakeToken(kSigningKey, "worker", kRequestTime);
  const std::string of_other_pool = MakeToken(kSigningKey, "master", kRequestTime + std::chrono::seconds(1));
  EXPECT_EQ(StatusWith("junk"), 200);
  EXPECT_EQ(Ask("/config/worker", "", "junk").token, TokenProblem::kNone);

  access_ = {AccessMode::kGrace, {kSigningKey}};
  EXPECT_EQ(StatusWith("junk"), 200);
  EXPECT_EQ(Ask("/config/worker").token, TokenProblem::kMissing);
  EXPECT_EQ(Ask("/config/worker", "", good).token, TokenProblem::kNone);

  access_ = {AccessMode::kRequired, {kSigningKey}};
  EXPECT_EQ(StatusWith(good), 200);
  EXPECT_EQ(StatusWith(""), 401);
  EXPECT_EQ(StatusWith("junk"), 401);
  EXPECT_EQ(StatusWith(expired), 401);
  EXPECT_EQ(StatusWith(of_other_pool), 403);
  // Without a token, a client does not learn which pools and versions exist.
  EXPECT_EQ(Ask("/config/none").http.status, 401);
  EXPECT_EQ(Ask("/config/worker", "application/vnd.coreos.ignition+json;version=4.0.0").http.status, 401);
  EXPECT_EQ(Ask("/healthz").http.status, 200);
  EXPECT_THAT(Ask("/config/worker").http.headers, testing::ElementsAre(net::Header{"WWW-Authenticate", "Bearer"}));
}

TEST_F(IgnitionAnswerTest, ReportsItsHealthWithoutAnyConfig) {
  const auto ask = [&](std::string_view method, std::string_view target) {
    return AnswerHealth({method, target, "", {}}, pools_).status;
  };
  EXPECT_EQ(ask("GET", "/healthz"), 200);
  EXPECT_EQ(ask("POST", "/healthz"), 405);
  EXPECT_EQ(ask("GET", "/config/worker"), 404);
  EXPECT_EQ(ask("GET", "/config"), 404);
}

TEST_F(IgnitionAnswerTest, ReportsWhetherItHasTheConfigsOfAllRenderedPools) {
  const auto expect = [&](int status) {
    EXPECT_EQ(AnswerHealth({"GET", "/healthz/configs", "", {}}, pools_).status, status);
    EXPECT_EQ(Ask("/healthz/configs").http.status, status);
    EXPECT_EQ(Ask("/healthz/configs").http.body, nullptr);
    EXPECT_EQ(Ask("/healthz").http.status, 200);
  };
  expect(503);
  pools_.erase("broken");
  expect(200);
  pools_["new"] = std::make_shared<const UnrenderedPool>();
  expect(200);
  EXPECT_EQ(Ask("/config/new").http.status, 500);
  EXPECT_EQ(Ask("/config/new").failure->message(), "nothing is rendered for the pool yet");
  pools_.erase("worker");
  expect(503);
  pools_.clear();
  expect(503);
  EXPECT_EQ(Ask("/healthz/configs", "", "", "POST").http.status, 405);
}

TEST_F(IgnitionAnswerTest, IsCountedByPoolVersionAndStatus) {
  access_ = {AccessMode::kGrace, {kSigningKey}};
  const IgnitionCounters first(pools_, nullptr);
  first.Count(Ask("/config/worker"));
  first.Count(Ask("/config/worker"));
  first.Count(Ask("/healthz"));
  first.Count(Ask("/config/made-up"));
  first.Count(Ask("/config/worker", "application/vnd.coreos.ignition+json;version=4.0.0"));
  // The counts are kept when the set of pools changes.
  pools_["new"] = std::make_shared<const UnrenderedPool>();
  const IgnitionCounters second(pools_, &first);
  second.Count(Ask("/config/worker", "", MakeToken(kSigningKey, "worker", kRequestTime + std::chrono::seconds(1))));
  const IgnitionCounts counts = second.Read();
  EXPECT_THAT(counts.requests,
              testing::ElementsAre(RequestCount{"", "2.2.0", 500, 1}, RequestCount{"worker", "2.2.0", 200, 3},
                                   RequestCount{"worker", "", 400, 1}));
  EXPECT_THAT(counts.served_without_token, testing::ElementsAre(testing::Pair("worker", 2)));
}

TEST_F(IgnitionAnswerTest, IsNoLongerCountedByAPoolThatIsDeleted) {
  access_ = {AccessMode::kGrace, {kSigningKey}};
  const IgnitionCounters first(pools_, nullptr);
  first.Count(Ask("/config/worker"));
  first.Count(Ask("/config/made-up"));
  pools_.erase("worker");
  const IgnitionCounters second(pools_, &first);
  EXPECT_THAT(second.Read().requests, testing::ElementsAre(RequestCount{"", "2.2.0", 500, 1}));
  // The sum over all pools is a counter as well.
  EXPECT_THAT(second.Read().served_without_token, testing::ElementsAre(testing::Pair("", 1)));
  const IgnitionCounters third(pools_, &second);
  EXPECT_THAT(third.Read().served_without_token, testing::ElementsAre(testing::Pair("", 1)));
}

}  // namespace
}  // namespace pintle::serving
