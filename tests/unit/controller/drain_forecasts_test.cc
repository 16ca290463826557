// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_forecasts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "api/annotations.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class PassingClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return now; }
  WallTime Wall() const override { return {}; }
  MonotonicTime now;
};

const std::vector<drain::Blocker> kHopeless = {{{"shop", "a"}, "web", "it lets none go", false}};
const std::vector<drain::Blocker> kMayPass = {{{"shop", "a"}, "web", "not now", true}};

class DrainForecastsTest : public testing::Test {
 protected:
  DrainForecastsTest() {
    for (const char* name : {"a", "b"}) nodes_[name].metadata.name = name;
  }

  bool Know(const std::vector<std::string>& told) {
    Changes changes;
    for (const std::string& node : told) {
      changes.nodes.push_back(
          {.node = node, .resource_version = "1", .patch = {}, .told = "MachineConfig: x", .pool = "worker"});
    }
    return Know(changes);
  }
  bool Know(const Changes& changes) {
    std::vector<const api::Node*> nodes;
    for (const auto& [name, node] : nodes_) nodes.push_back(&node);
    return forecasts_.Know(changes, nodes);
  }
  void Answer(const std::string& node, Result<std::vector<drain::Blocker>> blockers) {
    const auto answer = std::move(asked_.extract(node).mapped());
    answer(std::move(blockers));
  }
  std::vector<std::string> Asked() const {
    std::vector<std::string> names;
    for (const auto& [name, answer] : asked_) names.push_back(name);
    return names;
  }

  std::map<std::string, api::Node> nodes_;
  std::map<std::string, DrainForecasts::Answer> asked_;  // And not answered.
  std::vector<std::string> told_;
  int changed_ = 0;
  PassingClock clock_;
  DrainForecasts forecasts_{
      [this](const std::string& node, auto, DrainForecasts::Answer answer) {
        EXPECT_TRUE(asked_.emplace(node, std::move(answer)).second) << "asked twice";
        return kube::Call();
      },
      clock_,
      {.changed = [this] { ++changed_; },
       .hopeless = [this](const std::string& node, const std::string& pool,
                          const std::string& why) { told_.push_back(pool + " " + node + " " + why); },
       .trouble = [this](const std::string& node,
                         const Error& error) { told_.push_back(node + " " + error.message()); }}};
};

TEST_F(DrainForecastsTest, AreAskedForBeforeANodeIsTold) {
  EXPECT_FALSE(Know({"a"}));
  EXPECT_FALSE(Know({"a"}));
  EXPECT_THAT(Asked(), ElementsAre("a"));
  Answer("a", kMayPass);
  EXPECT_EQ(changed_, 1);
  EXPECT_TRUE(Know({"a"}));
  EXPECT_THAT(forecasts_.undrainable(), IsEmpty());
}

TEST_F(DrainForecastsTest, PutANodeBehindTheOthersAndSayWhyOnce) {
  EXPECT_FALSE(Know({"a"}));
  Answer("a", kHopeless);
  EXPECT_THAT(forecasts_.undrainable(), ElementsAre("a"));
  EXPECT_THAT(forecasts_.reasons(),
              ElementsAre(Pair("a", "pod shop/a is kept by disruption budget web: it lets none go")));
  EXPECT_TRUE(Know({"a"})) << "it is told when it is the only one left";
  clock_.now += std::chrono::minutes(1);
  EXPECT_FALSE(Know({"a"}));
  Answer("a", kHopeless);
  EXPECT_THAT(told_, ElementsAre("worker a pod shop/a is kept by disruption budget web: it lets none go"));
}

TEST_F(DrainForecastsTest, AreMadeAgainForANodeThatWaitsBehindTheOthers) {
  EXPECT_FALSE(Know({"a"}));
  Answer("a", kHopeless);
  clock_.now += std::chrono::minutes(1);
  EXPECT_FALSE(Know({"b"}));
  EXPECT_THAT(Asked(), ElementsAre("a", "b"));
  EXPECT_THAT(forecasts_.undrainable(), ElementsAre("a")) << "until the answer is here";
  Answer("a", std::vector<drain::Blocker>());
  EXPECT_THAT(forecasts_.undrainable(), IsEmpty());
  EXPECT_THAT(forecasts_.reasons(), IsEmpty());
}

TEST_F(DrainForecastsTest, ThatFailHoldUpNobody) {
  EXPECT_FALSE(Know({"a"}));
  Answer("a", Error(ErrorKind::kUnavailable, "away"));
  EXPECT_TRUE(Know({"a"}));
  EXPECT_THAT(told_, ElementsAre("a away"));
}

TEST_F(DrainForecastsTest, AreNotMadeWhereNothingIsDrained) {
  nodes_["a"].metadata.annotations.emplace(api::kControlPlaneTopologyAnnotation, "SingleReplica");
  EXPECT_TRUE(Know({"a"}));
  Changes taint;
  taint.nodes.push_back({.node = "b", .resource_version = "1", .patch = {}});
  EXPECT_TRUE(Know(taint)) << "it is told nothing";
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(DrainForecastsTest, EndWithTheirNode) {
  EXPECT_FALSE(Know({"a"}));
  Answer("a", kHopeless);
  nodes_.erase("a");
  EXPECT_TRUE(Know(std::vector<std::string>()));
  EXPECT_THAT(forecasts_.undrainable(), IsEmpty());
  EXPECT_THAT(forecasts_.reasons(), IsEmpty());
}

}  // namespace
}  // namespace pintle::controller
