// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_watch.h"

#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "support/world.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* kTimeout = "pintle.io/drain-timeout";
constexpr auto kDefaultTimeout = drain::Settings().timeout;

class DrainWatchTest : public testing::Test {
 protected:
  DrainWatchTest() {
    world_.AddPool("worker", "rendered-worker-1");
    Annotate("3h");
    for (const char* name : {"a", "b"}) world_.AddNode(name, "worker", "rendered-worker-1");
  }

  void Look() {
    changed_.clear();
    gone_.clear();
    trouble_.clear();
    const View view = world_.Look();
    watch_.Look(view, MakePoolMembers(view));
  }
  void MarkChanged(const std::string& node) {
    world_.nodes.at(node).metadata.resource_version = std::to_string(++world_.version);
  }
  void Annotate(const std::string& value) {
    api::ObjectMeta& metadata = world_.pools.at("worker").metadata;
    metadata.annotations[kTimeout] = value;
    metadata.resource_version = std::to_string(++world_.version);
  }

  World world_;
  std::vector<std::pair<std::string, drain::Settings::Time>> changed_;
  std::vector<std::string> gone_;
  std::vector<std::string> trouble_;
  DrainWatch watch_{{.changed =
                         [this](const api::Node& node, const drain::Settings& settings) {
                           changed_.emplace_back(node.metadata.name, settings.timeout);
                         },
                     .gone = [this](const std::string& node) { gone_.push_back(node); },
                     .trouble = [this](const std::string& pool,
                                       const Error& error) { trouble_.push_back(pool + ": " + error.message()); }}};
};

TEST_F(DrainWatchTest, PassesEachNodeOnceAndAgainAfterAChange) {
  const auto timeout = std::chrono::hours(3);
  Look();
  EXPECT_THAT(changed_, ElementsAre(Pair("a", timeout), Pair("b", timeout)));
  Look();
  EXPECT_THAT(changed_, IsEmpty());
  MarkChanged("b");
  Look();
  EXPECT_THAT(changed_, ElementsAre(Pair("b", timeout)));
}

TEST_F(DrainWatchTest, KeepsANodeThatFallsOutOfEveryPool) {
  Look();
  world_.nodes.at("a").metadata.labels.clear();
  MarkChanged("a");
  Look();
  EXPECT_THAT(changed_, ElementsAre(Pair("a", kDefaultTimeout)));
  EXPECT_THAT(gone_, IsEmpty());
  MarkChanged("a");
  Look();
  EXPECT_THAT(changed_, ElementsAre(Pair("a", kDefaultTimeout)));
  world_.nodes.erase("a");
  Look();
  EXPECT_THAT(gone_, ElementsAre("a"));
}

TEST_F(DrainWatchTest, KeepsTheNodesOfAPoolThatIsRemoved) {
  Look();
  world_.pools.clear();
  Look();
  EXPECT_THAT(changed_, ElementsAre(Pair("a", kDefaultTimeout), Pair("b", kDefaultTimeout)));
  EXPECT_THAT(gone_, IsEmpty());
}

TEST_F(DrainWatchTest, ReportsEachMistakeInAPoolOnce) {
  Look();
  EXPECT_THAT(trouble_, IsEmpty());
  Annotate("soon");
  Look();
  EXPECT_THAT(changed_, ElementsAre(Pair("a", kDefaultTimeout), Pair("b", kDefaultTimeout)));
  EXPECT_THAT(trouble_, ElementsAre(HasSubstr("worker: annotation pintle.io/drain-timeout=soon")));
  Look();
  EXPECT_THAT(trouble_, IsEmpty());
  Annotate("later");
  Look();
  EXPECT_THAT(trouble_, ElementsAre(HasSubstr("drain-timeout=later")));
  Annotate("3h");
  Look();
  EXPECT_THAT(trouble_, IsEmpty());
  Annotate("later");
  Look();
  EXPECT_THAT(trouble_, ElementsAre(HasSubstr("drain-timeout=later")));
}

TEST_F(DrainWatchTest, PassesEveryNodeAgainAfterItIsCleared) {
  Look();
  watch_.Clear();
  Look();
  EXPECT_EQ(changed_.size(), 2U);
  EXPECT_THAT(gone_, IsEmpty());
}

}  // namespace
}  // namespace pintle::controller
