// SPDX-License-Identifier: Apache-2.0

// Tests properties of all rollouts with random pools.  The seeds are fixed, so each run has the same pools.

#include <algorithm>
#include <random>
#include <set>

#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

constexpr int kPools = 400;

class RandomChoices {
 public:
  explicit RandomChoices(unsigned seed) : engine_(seed) {}

  int Below(int limit) { return static_cast<int>(engine_() % static_cast<unsigned>(limit)); }
  bool OneIn(int n) { return Below(n) == 0; }
  template <typename T>
  const T& Pick(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(Below(static_cast<int>(choices.size())))];
  }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

// Returns a node in any state that is possible, and in some that are not.
api::Node AnyNode(RandomChoices& random, int index) {
  const std::vector<std::string> configs = {"", kOld, kOld, kNew, "rendered-worker-bad"};
  const std::vector<std::string_view> states = {api::kStateDone,          api::kStateDone,      api::kStateDone,
                                                api::kStateWorking,       api::kStateRebooting, api::kStateDegraded,
                                                api::kStateUnreconcilable};
  const std::string current = random.Pick(configs);
  const std::string desired = random.OneIn(3) ? random.Pick(configs) : current;
  api::Node node = NodeBetween("node-" + std::to_string(index), current, desired, random.Pick(states));
  if (random.OneIn(6)) node = NotReady(std::move(node));
  if (random.OneIn(6)) node = Cordoned(std::move(node));
  if (!random.OneIn(3)) node = InZone(std::move(node), "z" + std::to_string(random.Below(3)));
  return CreatedAt(std::move(node), index);  // All ages differ, so that their order is defined.
}

std::vector<api::Node> AnyNodes(RandomChoices& random) {
  std::vector<api::Node> nodes;
  const int count = random.Below(30);
  for (int i = 0; i < count; ++i) nodes.push_back(AnyNode(random, i));
  return nodes;
}

api::MachineConfigPool AnyPool(RandomChoices& random) {
  const std::vector<api::IntOrString> limits = {{0}, {1}, {2}, {5}, {-1}, {"10%"}, {"50%"}, {"100%"}, {"?"}};
  api::MachineConfigPool pool = PoolWith(kNew, random.Pick(limits));
  pool.spec.paused = random.OneIn(5);
  return pool;
}

std::size_t CountUnavailable(const std::vector<api::Node>& nodes) {
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const api::Node& node) { return NodeState(node).is_unavailable(); }));
}

void Apply(const std::vector<NodeUpdate>& updates, std::vector<api::Node>& nodes) {
  for (const NodeUpdate& update : updates) {
    const auto node =
        std::find_if(nodes.begin(), nodes.end(), [&](const api::Node& n) { return n.metadata.name == update.node; });
    for (const auto& [key, value] : update.patch.metadata.annotations) {
      if (value) node->metadata.annotations.insert_or_assign(key, *value);
    }
  }
}

TEST(AnyRollout, NeverMakesMoreNodesUnavailableThanAllowed) {
  for (unsigned seed = 0; seed < kPools; ++seed) {
    SCOPED_TRACE(seed);
    RandomChoices random(seed);
    std::vector<api::Node> nodes = AnyNodes(random);
    const Rollout rollout = Decide(AnyPool(random), nodes);
    Apply(rollout.updates, nodes);
    Apply(rollout.updates_of_unavailable, nodes);
    const auto limit = static_cast<std::size_t>(std::max(rollout.max_unavailable.value_or(0), 0));
    EXPECT_TRUE(rollout.updates.empty() || CountUnavailable(nodes) <= limit);
  }
}

TEST(AnyRollout, UpdatesNoNodeInAPausedPool) {
  for (unsigned seed = 0; seed < kPools; ++seed) {
    SCOPED_TRACE(seed);
    RandomChoices random(seed);
    const std::vector<api::Node> nodes = AnyNodes(random);
    api::MachineConfigPool pool = AnyPool(random);
    pool.spec.paused = true;
    const Rollout rollout = Decide(pool, nodes);
    EXPECT_TRUE(rollout.updates.empty());
    EXPECT_TRUE(rollout.updates_of_unavailable.empty());
  }
}

TEST(AnyRollout, UpdatesOnlyUnavailableNodesWithoutCapacityAndMakesNoMoreUnavailable) {
  for (unsigned seed = 0; seed < kPools; ++seed) {
    SCOPED_TRACE(seed);
    RandomChoices random(seed);
    std::vector<api::Node> nodes = AnyNodes(random);
    const Rollout rollout = Decide(AnyPool(random), nodes);
    const std::set<std::string> unavailable(rollout.unavailable.begin(), rollout.unavailable.end());
    for (const NodeUpdate& update : rollout.updates_of_unavailable)
      EXPECT_TRUE(unavailable.contains(update.node)) << update.node;
    const std::size_t before = CountUnavailable(nodes);
    Apply(rollout.updates_of_unavailable, nodes);
    EXPECT_LE(CountUnavailable(nodes), before);
  }
}

TEST(AnyRollout, UpdatesNoNodeTwiceOrWithoutAChange) {
  for (unsigned seed = 0; seed < kPools; ++seed) {
    SCOPED_TRACE(seed);
    RandomChoices random(seed);
    const std::vector<api::Node> nodes = AnyNodes(random);
    const Rollout rollout = Decide(AnyPool(random), nodes);
    std::set<std::string> updated;
    for (const auto* list : {&rollout.updates, &rollout.updates_of_unavailable}) {
      for (const NodeUpdate& update : *list) {
        EXPECT_TRUE(updated.insert(update.node).second) << update.node;
        EXPECT_FALSE(update.patch.is_empty());
      }
    }
    const api::MachineConfigPool pool = PoolWith(kNew);
    const Target target(pool, {});
    for (const api::Node& node : nodes) {
      EXPECT_FALSE(target.IsAssignedTo(NodeState(node)) && updated.contains(node.metadata.name));
    }
  }
}

TEST(AnyRollout, DoesNotDependOnTheOrderOfNodes) {
  for (unsigned seed = 0; seed < kPools; ++seed) {
    SCOPED_TRACE(seed);
    RandomChoices random(seed);
    std::vector<api::Node> nodes = AnyNodes(random);
    const api::MachineConfigPool pool = AnyPool(random);
    const auto decide = [&] {
      const Rollout rollout = Decide(pool, nodes);
      std::vector<std::string> names = Names(rollout.updates);
      // If all candidates are updated at once, Decide() keeps the order of `nodes`, which the shuffle changes.
      if (rollout.candidates.nodes.size() <= static_cast<std::size_t>(rollout.candidates.capacity)) {
        std::sort(names.begin(), names.end());
      }
      return std::pair(names, json::ToText(json::Encode(rollout.status)));
    };
    const auto before = decide();
    std::shuffle(nodes.begin(), nodes.end(), random.engine());
    EXPECT_EQ(decide(), before);
  }
}

TEST(AnyRollout, EndsWithEveryHealthyNodeAtTheTarget) {
  for (unsigned seed = 0; seed < kPools; ++seed) {
    SCOPED_TRACE(seed);
    RandomChoices random(seed);
    std::vector<api::Node> nodes;
    const int count = 1 + random.Below(30);
    for (int i = 0; i < count; ++i) nodes.push_back(CreatedAt(NodeAt("node-" + std::to_string(i), kOld), i));
    const api::MachineConfigPool pool = PoolWith(kNew, random.Pick(std::vector<api::IntOrString>{{1}, {2}, {"30%"}}));
    int rounds = 0;
    for (; rounds <= count; ++rounds) {
      const Rollout rollout = Decide(pool, nodes);
      if (rollout.updates.empty()) break;
      ASSERT_LE(rollout.updates.size(), static_cast<std::size_t>(*rollout.max_unavailable));
      for (const NodeUpdate& update : rollout.updates) {
        for (api::Node& node : nodes) {
          if (node.metadata.name == update.node) node = CreatedAt(NodeAt(update.node, kNew), 0);
        }
      }
    }
    const Rollout last = Decide(pool, nodes);
    EXPECT_EQ(last.status.updated_machine_count, count);
    EXPECT_EQ(last.status.configuration.name, kNew);
  }
}

TEST(AnyRollout, UpdatesBrokenNodesWhenABadConfigIsTakenBack) {
  for (unsigned seed = 0; seed < kPools; ++seed) {
    SCOPED_TRACE(seed);
    RandomChoices random(seed);
    std::vector<api::Node> nodes;
    const int broken = 1 + random.Below(5);
    for (int i = 0; i < broken; ++i) {
      nodes.push_back(
          NotReady(NodeBetween("broken-" + std::to_string(i), kOld, "rendered-worker-bad", api::kStateWorking)));
    }
    nodes.push_back(NodeAt("healthy", kOld));
    const Rollout rollout = Decide(PoolWith(kOld), nodes);
    EXPECT_TRUE(rollout.updates.empty());
    EXPECT_EQ(rollout.updates_of_unavailable.size(), static_cast<std::size_t>(broken));
  }
}

}  // namespace
}  // namespace pintle::pool
