// SPDX-License-Identifier: Apache-2.0
#include "pool/membership.h"

#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

api::MachineConfigPool PoolOf(const std::string& name, const std::string& role) {
  api::MachineConfigPool pool;
  pool.metadata.name = name;
  pool.spec.node_selector.emplace().match_labels.emplace(std::string(api::kRoleLabelPrefix) + role, "");
  return pool;
}

api::Node NodeWith(const std::vector<std::string>& roles) {
  api::Node node;
  node.metadata.name = std::string("a");
  for (const std::string& role : roles) node.metadata.labels.emplace(std::string(api::kRoleLabelPrefix) + role, "");
  return node;
}

class Membership : public testing::Test {
 protected:
  std::vector<std::string> PoolsOf(const api::Node& node) const {
    std::vector<std::string> names;
    const auto compiled = ValueOf(Pools::Make(Pointers()));
    for (const auto* pool : ValueOf(compiled.Of(node))) names.push_back(pool->metadata.name);
    return names;
  }

  std::vector<const api::MachineConfigPool*> Pointers() const {
    std::vector<const api::MachineConfigPool*> pointers;
    for (const auto& pool : pools_) pointers.push_back(&pool);
    return pointers;
  }

  std::vector<api::MachineConfigPool> pools_ = {PoolOf("worker", "worker"), PoolOf("infra", "infra"),
                                                PoolOf("master", "master"), PoolOf("infra2", "infra2")};
};

TEST_F(Membership, PutsACustomPoolBeforeWorkerAndMasterBeforeAll) {
  EXPECT_THAT(PoolsOf(NodeWith({"worker"})), ElementsAre("worker"));
  EXPECT_THAT(PoolsOf(NodeWith({"worker", "infra"})), ElementsAre("infra", "worker"));
  EXPECT_THAT(PoolsOf(NodeWith({"infra"})), ElementsAre("infra"));
  EXPECT_THAT(PoolsOf(NodeWith({"master"})), ElementsAre("master"));
  EXPECT_THAT(PoolsOf(NodeWith({"master", "worker"})), ElementsAre("master"));
  EXPECT_THAT(PoolsOf(NodeWith({"master", "infra", "worker"})), ElementsAre("master", "worker"));
  EXPECT_THAT(PoolsOf(NodeWith({"master", "infra"})), ElementsAre("master"));
}

TEST_F(Membership, IsNoneWithoutARoleOrOnWindows) {
  EXPECT_THAT(PoolsOf(NodeWith({})), IsEmpty());
  EXPECT_THAT(PoolsOf(NodeWith({"db"})), IsEmpty());
  api::Node windows = NodeWith({"worker"});
  windows.metadata.labels.emplace(api::kOsLabel, "windows");
  EXPECT_THAT(PoolsOf(windows), IsEmpty());
  EXPECT_EQ(ValueOf(ValueOf(Pools::Make(Pointers())).PrimaryOf(windows)), nullptr);
}

TEST_F(Membership, InTwoCustomPoolsIsAnError) {
  const auto compiled = ValueOf(Pools::Make(Pointers()));
  EXPECT_EQ(MessageOf(compiled.Of(NodeWith({"infra", "infra2"}))),
            "node a belongs to 2 custom roles, cannot proceed with this Node");
}

TEST_F(Membership, DoesNotFollowFromASelectorThatIsAbsentOrEmpty) {
  pools_[1].spec.node_selector.emplace();
  pools_[3].spec.node_selector.reset();
  EXPECT_THAT(PoolsOf(NodeWith({"worker", "infra", "infra2"})), ElementsAre("worker"));
}

TEST_F(Membership, FollowsFromLabelsThatANodeHasOrLacks) {
  auto& in = pools_[1].spec.node_selector.emplace().match_expressions;
  in = {{.key = "zone", .op = "NotIn", .values = {"b"}}, {.key = "zone", .op = "In", .values = {"a", "b"}}};
  auto& lacks = pools_[3].spec.node_selector.emplace().match_expressions;
  lacks = {{.key = "zone", .op = "DoesNotExist", .values = {}}};
  const auto pools_in_zone = [&](const std::string& zone) {
    api::Node node = NodeWith({"worker"});
    if (!zone.empty()) node.metadata.labels.emplace("zone", zone);
    return PoolsOf(node);
  };
  EXPECT_THAT(pools_in_zone("a"), ElementsAre("infra", "worker"));
  EXPECT_THAT(pools_in_zone("b"), ElementsAre("worker"));
  EXPECT_THAT(pools_in_zone(""), ElementsAre("infra2", "worker"));
  in.clear();
  in = {{.key = "zone", .op = "Exists", .values = {}}};
  EXPECT_THAT(pools_in_zone("b"), ElementsAre("infra", "worker"));
  EXPECT_THAT(pools_in_zone(""), ElementsAre("infra2", "worker"));
}

TEST_F(Membership, FailsForAllWhenAnySelectorIsInvalid) {
  pools_[1].spec.node_selector.emplace().match_expressions.push_back({.key = "a", .op = "Like", .values = {}});
  EXPECT_EQ(MessageOf(Pools::Make(Pointers())),
            "invalid label selector: \"Like\" is not a valid label selector operator");
}

TEST(IsManaged, IsTrueOnceTheAgentRan) {
  EXPECT_TRUE(IsManaged(NodeAt("a", kOld)));
  EXPECT_FALSE(IsManaged(NodeBetween("a", "", kOld, api::kStateDone)));
  EXPECT_FALSE(IsManaged(api::Node()));
}

}  // namespace
}  // namespace pintle::pool
