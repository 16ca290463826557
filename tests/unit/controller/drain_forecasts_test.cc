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

constexpr auto kFresh = std::chrono::minutes(1);      // How long an answer is valid.
constexpr auto kPatience = std::chrono::seconds(60);  // How long an update waits for its answer.
const std::vector<drain::Blocker> kHopeless = {{{"shop", "a"}, "web", "it lets none go", false}};
const std::vector<drain::Blocker> kMayPass = {{{"shop", "a"}, "web", "not now", true}};

class DrainForecastsTest : public testing::Test {
 protected:
  DrainForecastsTest() {
    for (const char* name : {"a", "b"}) nodes_[name].metadata.name = name;
  }

  static Changes UpdatesOf(const std::vector<std::string>& nodes) {
    Changes changes;
    for (const std::string& node : nodes) {
      changes.nodes.push_back(
          {.node = node, .resource_version = "1", .patch = {}, .target_text = "MachineConfig: x", .pool = "worker"});
    }
    return changes;
  }
  pool::NodeNames Await(const std::vector<std::string>& nodes) {
    return Await(UpdatesOf(nodes), std::set<std::string>(nodes.begin(), nodes.end()));
  }
  pool::NodeNames Await(const Changes& changes, const std::optional<std::set<std::string>>& to_drain) {
    std::vector<const api::Node*> nodes;
    for (const auto& [name, node] : nodes_) nodes.push_back(&node);
    return forecasts_.Await(changes, to_drain, nodes);
  }
  void Answer(const std::string& node, Result<std::vector<drain::Blocker>> blockers) {
    const Question question = std::move(open_questions_.extract(node).mapped());
    ASSERT_FALSE(question.open.expired());
    question.answer(std::move(blockers));
  }
  std::vector<std::string> AwaitedNodes() const {
    std::vector<std::string> names;
    for (const auto& [name, question] : open_questions_) {
      if (!question.open.expired()) names.push_back(name);
    }
    return names;
  }

  std::map<std::string, api::Node> nodes_;
  struct Question {
    DrainForecasts::Answer answer;
    std::weak_ptr<kube::Work> open;  // Expires when nobody waits for the answer any more.
  };

  std::map<std::string, Question> open_questions_;  // The questions without an answer.
  std::vector<std::string> logged_;
  int changed_ = 0;
  PassingClock clock_;
  DrainForecasts forecasts_{
      [this](const std::string& node, auto, DrainForecasts::Answer answer) {
        const auto work = std::make_shared<kube::Work>();
        Question& question = open_questions_[node];
        EXPECT_TRUE(question.open.expired()) << "a second request while the first one has no answer";
        question = {.answer = std::move(answer), .open = work};
        return kube::Call(work);
      },
      clock_,
      {.changed = [this] { ++changed_; },
       .hopeless = [this](const std::string& node, const std::string& pool,
                          const std::string& why) { logged_.push_back(pool + " " + node + " " + why); },
       .trouble = [this](const std::string& node,
                         const Error& error) { logged_.push_back(node + " " + error.message()); }}};
};

TEST_F(DrainForecastsTest, AreRequestedBeforeANodeIsUpdated) {
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  EXPECT_THAT(AwaitedNodes(), ElementsAre("a"));
  Answer("a", kMayPass);
  EXPECT_EQ(changed_, 1);
  EXPECT_THAT(Await({"a"}), IsEmpty());
  EXPECT_THAT(forecasts_.undrainable(), IsEmpty());
}

TEST_F(DrainForecastsTest, LetEachNodeBeUpdatedWhenItsOwnHasArrived) {
  EXPECT_THAT(Await({"a", "b"}), ElementsAre("a", "b"));
  Answer("b", kMayPass);
  EXPECT_THAT(Await({"a", "b"}), ElementsAre("a"));
}

TEST_F(DrainForecastsTest, StayValidUntilTheNodeIsUpdated) {
  EXPECT_THAT(Await({"a", "b"}), ElementsAre("a", "b"));
  Answer("b", kMayPass);
  // The API server refuses the update of the node for a while.
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(Await({"b"}), IsEmpty());
    clock_.now += kFresh;
  }
  EXPECT_THAT(Await({}), IsEmpty());
  EXPECT_THAT(Await({"b"}), ElementsAre("b")) << "it was updated, and now gets another config";
}

TEST_F(DrainForecastsTest, PutANodeBehindTheOthersAndLogTheReasonOnce) {
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  Answer("a", kHopeless);
  EXPECT_THAT(forecasts_.undrainable(), ElementsAre("a"));
  EXPECT_THAT(forecasts_.reasons(),
              ElementsAre(Pair("a", "pod shop/a is kept by disruption budget web: it lets none go")));
  EXPECT_THAT(Await({"a"}), IsEmpty()) << "it is updated when it is the only one left";
  clock_.now += kFresh;
  EXPECT_THAT(Await({"b"}), ElementsAre("b"));
  Answer("a", kHopeless);
  EXPECT_THAT(logged_, ElementsAre("worker a pod shop/a is kept by disruption budget web: it lets none go"));
}

TEST_F(DrainForecastsTest, AreMadeAgainForANodeThatWaitsBehindTheOthers) {
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  Answer("a", kHopeless);
  EXPECT_THAT(Await({"a"}), IsEmpty());
  clock_.now += kFresh;
  EXPECT_THAT(Await({"b"}), ElementsAre("b"));
  EXPECT_THAT(AwaitedNodes(), ElementsAre("a", "b"));
  EXPECT_THAT(forecasts_.undrainable(), ElementsAre("a")) << "until the answer is here";
  Answer("a", std::vector<drain::Blocker>());
  EXPECT_THAT(forecasts_.undrainable(), IsEmpty());
  EXPECT_THAT(forecasts_.reasons(), IsEmpty());
}

TEST_F(DrainForecastsTest, DelayAnUpdateIfTheOnlyAnswerIsOld) {
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  Answer("a", kHopeless);
  EXPECT_THAT(Await({}), IsEmpty()) << "the node waits behind the others";
  clock_.now += kFresh;
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  EXPECT_THAT(Await({"a"}), ElementsAre("a")) << "the new answer is not here yet";
  Answer("a", kMayPass);
  EXPECT_THAT(Await({"a"}), IsEmpty());
}

TEST_F(DrainForecastsTest, AreNoLongerMadeForANodeThatWasNotAboutToBeUpdatedForHours) {
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  Answer("a", kHopeless);
  EXPECT_THAT(Await({"a"}), IsEmpty());
  // The config is taken back, and the budget stays.
  const auto passes = [&] {
    clock_.now += kFresh;
    EXPECT_THAT(Await({}), IsEmpty());
    if (!AwaitedNodes().empty()) Answer("a", kHopeless);
  };
  for (int i = 0; i < 60; ++i) passes();
  EXPECT_THAT(forecasts_.undrainable(), ElementsAre("a"));
  for (int i = 0; i < 360; ++i) passes();
  EXPECT_THAT(forecasts_.undrainable(), IsEmpty());
  EXPECT_THAT(forecasts_.reasons(), IsEmpty());
  EXPECT_THAT(AwaitedNodes(), IsEmpty());
  EXPECT_THAT(Await({"a"}), ElementsAre("a")) << "it is about to be updated again";
}

TEST_F(DrainForecastsTest, ThatFailDelayNoUpdate) {
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  Answer("a", Error(ErrorKind::kUnavailable, "away"));
  EXPECT_THAT(Await({"a"}), IsEmpty());
  EXPECT_THAT(logged_, ElementsAre("a away"));
}

TEST_F(DrainForecastsTest, WithoutAnAnswerDelayUpdatesBrieflyOnly) {
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  clock_.now += kPatience / 2;
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  clock_.now += kPatience / 2;
  EXPECT_THAT(Await({"a"}), IsEmpty());
  EXPECT_THAT(logged_, ElementsAre("a the forecast takes too long; the node is updated without it"));
  // After the update, nobody needs an answer.
  EXPECT_THAT(Await({}), IsEmpty());
  EXPECT_THAT(AwaitedNodes(), IsEmpty());
}

// The last argument of Await() is nullopt if it is unknown which nodes need a drain, here because a config cannot be
// read.
TEST_F(DrainForecastsTest, WithAnUnknownNeedDelayUpdatesBrieflyOnly) {
  EXPECT_THAT(Await(UpdatesOf({"a"}), std::nullopt), ElementsAre("a"));
  EXPECT_THAT(AwaitedNodes(), IsEmpty());
  clock_.now += kPatience;
  EXPECT_THAT(Await(UpdatesOf({"a"}), std::nullopt), IsEmpty());
}

// No forecast is answered in this test, as if the API server were too slow for all of them.
TEST_F(DrainForecastsTest, TakeATenthOfTheTimeAtMost) {
  std::vector<std::string> left;
  for (int i = 10; i < 90; ++i) {
    left.push_back("node-" + std::to_string(i));
    nodes_[left.back()].metadata.name = left.back();
  }
  std::chrono::seconds waited(0);
  std::chrono::seconds passed(0);
  while (!left.empty() && passed < std::chrono::hours(10)) {
    const std::vector<std::string> next = {left.front()};  // One node is updated at a time.
    const bool waits = !Await(next).empty();
    clock_.now += std::chrono::seconds(10);
    passed += std::chrono::seconds(10);
    if (waits) {
      waited += std::chrono::seconds(10);
      continue;
    }
    // The node is updated, drained and rebooted.
    left.erase(left.begin());
    clock_.now += std::chrono::minutes(1);
    passed += std::chrono::minutes(1);
    EXPECT_THAT(Await({}), IsEmpty());
  }
  EXPECT_THAT(left, IsEmpty());
  EXPECT_GE(waited, kPatience);
  EXPECT_LE(waited, kPatience + passed / 10);
}

TEST_F(DrainForecastsTest, OfOnePoolDoNotUseUpTheTimeOfAnother) {
  nodes_["m"].metadata.name = "m";
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  clock_.now += kPatience;
  Changes changes = UpdatesOf({"a", "m"});
  changes.nodes[1].pool = "master";
  EXPECT_THAT(Await(changes, std::set<std::string>{"a", "m"}), ElementsAre("m"));
}

TEST_F(DrainForecastsTest, AreNotMadeForNodesWithoutADrain) {
  nodes_["a"].metadata.annotations.emplace(api::kControlPlaneTopologyAnnotation, "SingleReplica");
  EXPECT_THAT(Await({"a"}), IsEmpty());
  EXPECT_THAT(Await(UpdatesOf({"b"}), std::set<std::string>()), IsEmpty()) << "it need not be drained";
  Changes taint;
  taint.nodes.push_back({.node = "b", .resource_version = "1", .patch = {}});
  EXPECT_THAT(Await(taint, std::set<std::string>{"b"}), IsEmpty()) << "it gets no config";
  EXPECT_THAT(AwaitedNodes(), IsEmpty());
}

TEST_F(DrainForecastsTest, AreDroppedWithTheirNode) {
  EXPECT_THAT(Await({"a"}), ElementsAre("a"));
  Answer("a", kHopeless);
  nodes_.erase("a");
  EXPECT_THAT(Await({}), IsEmpty());
  EXPECT_THAT(forecasts_.undrainable(), IsEmpty());
  EXPECT_THAT(forecasts_.reasons(), IsEmpty());
}

}  // namespace
}  // namespace pintle::controller
