// SPDX-License-Identifier: Apache-2.0
#include "controller/garbage.h"

#include <gmock/gmock.h>

#include "support/expect.h"
#include "support/world.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class GarbageTest : public testing::Test {
 protected:
  // There are nine configs; the first is the oldest.
  GarbageTest() {
    world_.AddPool("worker", Name(9)).status.configuration.name = Name(8);
    for (int i = 1; i <= 9; ++i) Add(i);
  }

  static std::string Name(int i) { return "rendered-worker-" + std::to_string(i); }
  api::MachineConfig& Add(int i) {
    api::MachineConfig& config = world_.configs[Name(i)];
    config.metadata.name = Name(i);
    config.metadata.uid = "uid-" + std::to_string(i);
    config.metadata.creation_timestamp = api::Time{WallTime(std::chrono::seconds(i))};
    api::OwnerReference& owner = config.metadata.owner_references.emplace_back();
    owner.kind = "MachineConfigPool";
    owner.uid = "uid-of-worker";
    return config;
  }
  std::vector<std::string> Garbage(std::size_t kept) {
    std::vector<std::string> names;
    for (const auto& config : FindGarbage(world_.Look(), kept)) names.push_back(config.name);
    return names;
  }

  World world_;
};

TEST_F(GarbageTest, IsEveryUnneededConfig) {
  EXPECT_EQ(Garbage(0).size(), 7U);
  world_.AddNode("a", "worker", Name(1));
  world_.Annotate("a", api::kDesiredConfigAnnotation, Name(2));
  world_.Annotate("a", api::kFirstPivotConfigAnnotation, Name(3));
  world_.Annotate("a", api::kDesiredDrainAnnotation, "drain-" + Name(4));
  world_.Annotate("a", api::kLastAppliedDrainAnnotation, "uncordon-" + Name(5));
  api::MachineConfigNode& report = world_.reports["a"];
  report.spec.config_version.desired = Name(6);
  EXPECT_THAT(Garbage(0), ElementsAre(Name(7)));
  report.status.config_version = api::MachineConfigNodeConfigVersion{.current = Name(7), .desired = ""};
  EXPECT_THAT(Garbage(0), IsEmpty());
}

TEST_F(GarbageTest, NamesItsPool) {
  ASSERT_EQ(FindGarbage(world_.Look(), 6).size(), 1U);
  EXPECT_EQ(FindGarbage(world_.Look(), 6)[0].pool, "worker");
}

TEST_F(GarbageTest, IsKeptUntilTheTimeInThePoolsAnnotation) {
  api::MachineConfigPool& pool = world_.pools["worker"];
  EXPECT_EQ(KeptUntil(pool), std::nullopt) << "no controller has set a time yet";
  auto& kept_until = pool.metadata.annotations[std::string(kKeptUntilAnnotation)];
  kept_until = "1970-01-02T00:00:00Z";
  EXPECT_EQ(KeptUntil(pool), WallTime(std::chrono::hours(24)));
  kept_until = "for ever";
  EXPECT_EQ(KeptUntil(pool), std::nullopt);
}

TEST_F(GarbageTest, DoesNotIncludeTheNewest) {
  EXPECT_THAT(Garbage(5), UnorderedElementsAre(Name(1), Name(2)));
  EXPECT_THAT(Garbage(7), IsEmpty());
}

TEST_F(GarbageTest, IncludesOnlyConfigsOfExistingPools) {
  Add(1).metadata.owner_references[0].uid = "uid-of-an-earlier-one";
  Add(2).metadata.owner_references.clear();
  Add(3).metadata.labels.emplace("mine", "");
  Add(4).metadata.deletion_timestamp = api::Time{};
  EXPECT_THAT(Garbage(0), UnorderedElementsAre(Name(5), Name(6), Name(7)));
}

TEST_F(GarbageTest, IsNothingWhileAnObjectCannotBeReadThatMayNeedAConfig) {
  const api::Node& node = world_.AddNode("a", "worker", Name(1));
  View view = world_.Look();
  EXPECT_EQ(WhyGarbageIsUnknown(view), "");
  view.held_pools.emplace("worker", "spec.osImage: it is a number");
  EXPECT_EQ(
      WhyGarbageIsUnknown(view),
      "an object of the pool worker, which may need any rendered config, cannot be read: spec.osImage: it is a number");
  EXPECT_THAT(FindGarbage(view, 0), IsEmpty());
  view.unreadable_nodes.push_back({&node, "spec.taints: it is a text"});
  EXPECT_EQ(WhyGarbageIsUnknown(view),
            "the Node a may need any rendered config, and cannot be read: spec.taints: it is a text");
}

}  // namespace
}  // namespace pintle::controller
