// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ctl/cluster_objects.h"
#include "support/expect.h"

namespace pintle::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct OneNode {
  OneNode() {
    pool.metadata.name = "infra";
    pool.spec.configuration.name = "rendered-infra-2";
    objects.pools.push_back(pool);
    api::Node node;
    node.metadata.name = "a";
    node.metadata.labels = {{"node-role.kubernetes.io/worker", ""}};
    objects.nodes.push_back(node);
  }

  api::MachineConfigPool pool;
  ClusterObjects objects;
};

TEST(PreviewRollout, CountsNoNodeOfAClusterThatThePoolDoesNotSelect) {
  const OneNode cluster;
  const RolloutPreview preview = ValueOf(PreviewRollout({}, cluster.pool, cluster.objects));
  EXPECT_EQ(preview.answer.status.machine_count, 0);
  EXPECT_THAT(preview.warnings, IsEmpty());
}

TEST(PreviewRollout, CountsAllNodesOfAFileInWhichThePoolSelectsNone) {
  const OneNode file;
  RolloutQuestion question;
  question.nodes_file = "nodes.json";
  const RolloutPreview preview = ValueOf(PreviewRollout(question, file.pool, file.objects));
  EXPECT_EQ(preview.answer.status.machine_count, 1);
  EXPECT_THAT(preview.warnings, ElementsAre(HasSubstr("pool infra selects no node")));
}

}  // namespace
}  // namespace pintle::ctl
