// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_watch.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>

#include "event/loop.h"
#include "event/watches.h"
#include "support/expect.h"
#include "unit/controller/manual_clock.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string kStatusWrite = "PATCH /apis/pintle.io/v1alpha1/rolloutpolicies/workers/status";

// Writes the status of a policy to a small API server, again and again as the controller does.  Each look decides that
// the rollout begins, until the status in the mirror has this decision.
class PolicyWatchTest : public testing::Test {
 protected:
  PolicyWatchTest() {
    ::setenv("no_proxy", "*", 1);
    server_.Put("machineconfigpools",
                {{"metadata", {{"name", "worker"}}}, {"spec", {{"configuration", {{"name", "rendered-new"}}}}}});
    server_.Put("rolloutpolicies",
                {{"metadata", {{"name", "workers"}, {"generation", 1}}},
                 {"spec", {{"pool", "worker"}}},
                 {"status", {{"conditions", json::Value::array()}, {"pools", json::Value::array()}}}});
    client_ = ValueOf(kube::Client::Create(*loop_, server_.access()));
    cluster_ = std::make_unique<Cluster>(
        *client_, "namespace",
        Cluster::Listener{
            .changed = [] {}, .node_changed = [](const auto&, const auto&) {}, .trouble = [](auto, auto&) {}});
    announcer_ = std::make_unique<Announcer>(*client_, clock_, "namespace", "test");
    watch_ = std::make_unique<PolicyWatch>(
        *loop_, *client_, clock_, *cluster_, *announcer_, net::Peers::kRemote,
        PolicyWatch::Listener{
            .changed = [] {},
            .retry_at = [](MonotonicTime) {},
            .trouble = [this](const std::string& what,
                              const Error& error) { troubles_.push_back(what + ": " + error.message()); }});
  }

  std::vector<PolicyDecision> Decide(const api::RolloutPolicy& policy) const {
    PolicyDecision decision;
    for (const api::RolloutPoolStatus& before : policy.status.pools) {
      if (before.name == "worker") decision.status = before;
    }
    decision.status.name = "worker";
    decision.status.phase = phase_;
    if (!decision.status.memory.began) {
      decision.status.memory.target = "rendered-new";
      decision.status.memory.began = api::Time{std::chrono::floor<std::chrono::seconds>(clock_.Wall())};
      decision.news.push_back({.is_warning = false, .reason = "RolloutBegun", .message = "begun"});
    }
    return {std::move(decision)};
  }

  // Looks again and again until the condition holds.
  void RunUntil(const std::function<bool()>& is_so, std::chrono::seconds between_looks = std::chrono::seconds(1)) {
    event::Timer look(
        *loop_,
        [&] {
          clock_.now += between_looks;
          if (cluster_->is_ready()) {
            const View view = cluster_->Look();
            watch_->Look(view);
            watch_->Write(view, Decide(*view.rollout_policies.front()));
          }
          if (is_so()) return loop_->Stop();
          look.After(std::chrono::milliseconds(2));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }
  void Pass(std::chrono::seconds time) {
    const MonotonicTime end = clock_.now + time;
    RunUntil([&] { return clock_.now > end; });
  }

  std::size_t CountOfEvents() {
    const auto reasons = server_.EventReasons();
    return static_cast<std::size_t>(std::count(reasons.begin(), reasons.end(), "RolloutBegun"));
  }

  SmallApiServer server_;
  ManualClock clock_;
  std::string phase_ = "Updating";
  std::vector<std::string> troubles_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<kube::Client> client_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Announcer> announcer_;
  std::unique_ptr<PolicyWatch> watch_;
};

TEST_F(PolicyWatchTest, WritesADecisionOnceAndEmitsItsEventOnce) {
  RunUntil([&] { return CountOfEvents() > 0; });
  Pass(std::chrono::seconds(60));
  EXPECT_EQ(server_.CountOf(kStatusWrite), 1U);
  EXPECT_EQ(CountOfEvents(), 1U);
}

TEST_F(PolicyWatchTest, ListsThePhasesOfAllPoolsInOneString) {
  const json::Value labels = {{"tier", "all"}};
  for (const char* name : {"infra", "worker"}) {
    server_.Put("machineconfigpools", {{"metadata", {{"name", name}, {"labels", labels}}},
                                       {"spec", {{"configuration", {{"name", "rendered-new"}}}}}});
  }
  const json::Value infra = {
      {"name", "infra"}, {"phase", "Complete"}, {"memory", {{"target", "rendered-new"}}}, {"nodes", 1}, {"updated", 1}};
  server_.Put("rolloutpolicies",
              {{"metadata", {{"name", "workers"}, {"generation", 1}}},
               {"spec", {{"poolSelector", {{"matchLabels", labels}}}}},
               {"status", {{"conditions", json::Value::array()}, {"pools", json::Value::array({infra})}}}});
  const auto phases = [&] { return server_.Find("rolloutpolicies", "workers").TextAt({"status", "phases"}); };
  phase_ = "Halted";
  RunUntil([&] { return server_.CountOf(kStatusWrite) > 0; });
  EXPECT_EQ(phases(), "infra: Complete, worker: Halted");
  phase_ = "Updating";
  RunUntil([&] { return server_.CountOf(kStatusWrite) > 1; });
  EXPECT_EQ(phases(), "infra: Complete, worker: Updating");
}

TEST_F(PolicyWatchTest, AddsThePhasesToAStatusThatAnOlderControllerHasWritten) {
  RunUntil([&] { return server_.CountOf(kStatusWrite) > 0; });
  json::Value policy = server_.Find("rolloutpolicies", "workers");
  EXPECT_TRUE(policy["status"].Erase("phases"));
  server_.Put("rolloutpolicies", std::move(policy));
  RunUntil([&] { return server_.CountOf(kStatusWrite) > 1; });
  EXPECT_EQ(server_.Find("rolloutpolicies", "workers").TextAt({"status", "phases"}), "worker: Updating");
}

class UnkeptStatusTest : public PolicyWatchTest {
 protected:
  // The API server answers each write with the object from before, as it does after a webhook has taken a change back.
  UnkeptStatusTest() {
    server_.Refuse([this](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
      if (!request.line.starts_with(kStatusWrite)) return std::nullopt;
      return kube::Answer{.body = json::ToText(server_.Find("rolloutpolicies", "workers"))};
    });
  }
};

TEST_F(UnkeptStatusTest, IsWrittenSeldomAndReportedAndNotAnnounced) {
  RunUntil([&] { return server_.CountOf(kStatusWrite) > 0; });
  Pass(std::chrono::seconds(60));
  EXPECT_GE(server_.CountOf(kStatusWrite), 3U);
  EXPECT_LE(server_.CountOf(kStatusWrite), kube::kMostInAMinute);
  EXPECT_EQ(CountOfEvents(), 0U);
  EXPECT_THAT(troubles_, Contains(HasSubstr("look for a webhook that takes the change back")));
  server_.Refuse({});
  RunUntil([&] { return CountOfEvents() > 0; });
}

TEST_F(UnkeptStatusTest, DoesNotDelayAnotherDecision) {
  Pass(std::chrono::minutes(10));
  const std::size_t before = server_.CountOf(kStatusWrite);
  phase_ = "Halted";
  RunUntil([&] { return server_.CountOf(kStatusWrite) > before; }, /*between_looks=*/std::chrono::seconds(0));
}

}  // namespace
}  // namespace pintle::controller
