// SPDX-License-Identifier: Apache-2.0
#include "clusterops/machine_config_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/annotations.h"

namespace pintle::clusterops {
namespace {

using testing::IsEmpty;

class MachineConfigNodesTest : public testing::Test {
 protected:
  MachineConfigNodesTest() {
    pool_.metadata.name = "worker";
    pool_.spec.node_selector.emplace().match_labels.emplace("node-role.kubernetes.io/worker", "");
    node_.metadata.name = "worker-0";
    node_.metadata.uid = "uid-of-worker-0";
    node_.metadata.labels.emplace("node-role.kubernetes.io/worker", "");
    node_.metadata.annotations.emplace(api::kDesiredConfigAnnotation, "rendered-worker-1");
    existing_.metadata.name = "worker-0";
    existing_.metadata.uid = "uid-of-report";
  }

  MachineConfigNodeWork Work(std::set<std::string, std::less<>> unreadable = {}) const {
    return FindMachineConfigNodeWork(
        {.nodes = nodes_, .pools = pools_, .known = known_, .unreadable = std::move(unreadable)});
  }

  api::MachineConfigPool pool_;
  api::Node node_;
  api::MachineConfigNode existing_;
  std::vector<const api::MachineConfigPool*> pools_ = {&pool_};
  std::vector<const api::Node*> nodes_ = {&node_};
  std::vector<const api::MachineConfigNode*> known_;
};

TEST_F(MachineConfigNodesTest, ANodeWithoutAMachineConfigNodeGetsOneThatItOwns) {
  const MachineConfigNodeWork work = Work();
  ASSERT_EQ(work.missing.size(), 1U);
  const api::MachineConfigNode& made = work.missing[0];
  EXPECT_EQ(made.metadata.name, "worker-0");
  EXPECT_EQ(made.spec.node.name, "worker-0");
  EXPECT_EQ(made.spec.pool.name, "worker");
  EXPECT_EQ(made.spec.config_version.desired, "rendered-worker-1");
  ASSERT_EQ(made.metadata.owner_references.size(), 1U);
  EXPECT_EQ(made.metadata.owner_references[0].kind, "Node");
  EXPECT_EQ(made.metadata.owner_references[0].uid, "uid-of-worker-0");
  EXPECT_THAT(work.stale, IsEmpty());
}

TEST_F(MachineConfigNodesTest, AnUnknownPoolOrConfigIsReportedAsNotYetSet) {
  node_.metadata.labels.clear();
  node_.metadata.annotations.clear();
  const MachineConfigNodeWork work = Work();
  ASSERT_EQ(work.missing.size(), 1U);
  EXPECT_EQ(work.missing[0].spec.pool.name, "not-yet-set");
  EXPECT_EQ(work.missing[0].spec.config_version.desired, "not-yet-set");
}

TEST_F(MachineConfigNodesTest, NothingIsDoneForANodeThatHasAMachineConfigNode) {
  known_ = {&existing_};
  EXPECT_THAT(Work().missing, IsEmpty());
  EXPECT_THAT(Work().stale, IsEmpty());
}

TEST_F(MachineConfigNodesTest, NothingIsCreatedForANodeThatIsDeletedOrRunsWindows) {
  node_.metadata.labels.emplace(api::kOsLabel, "windows");
  EXPECT_THAT(Work().missing, IsEmpty());
  node_.metadata.labels.erase(std::string(api::kOsLabel));
  node_.metadata.deletion_timestamp = api::Time{};
  EXPECT_THAT(Work().missing, IsEmpty());
}

TEST_F(MachineConfigNodesTest, AMachineConfigNodeIsRemovedWithItsNodeUnlessTheNodeIsOnlyUnreadable) {
  known_ = {&existing_};
  nodes_.clear();
  ASSERT_EQ(Work().stale.size(), 1U);
  EXPECT_EQ(Work().stale[0].name, "worker-0");
  EXPECT_EQ(Work().stale[0].uid, "uid-of-report");
  EXPECT_THAT(Work({"worker-0"}).stale, IsEmpty());
  existing_.metadata.deletion_timestamp = api::Time{};
  EXPECT_THAT(Work().stale, IsEmpty());
}

}  // namespace
}  // namespace pintle::clusterops
