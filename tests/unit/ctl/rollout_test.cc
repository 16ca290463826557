// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/printable.h"
#include "ctl/cluster_objects.h"
#include "support/expect.h"

namespace pintle::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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

// Nodes, pools and builds may report any text, and a saved file may have it.
TEST(PreviewRollout, PrintsNoControlCharacters) {
  const std::string hostile =
      "a\x1b[2Jb\xc2\x9b"
      "2Jc\xe2\x80\xae"
      "d\te\nf";
  OneNode cluster;
  cluster.pool.metadata.name = hostile;
  cluster.pool.spec.configuration.name = hostile;
  cluster.pool.spec.max_unavailable = api::IntOrString{hostile};
  cluster.objects.nodes[0].metadata.name = hostile;
  RolloutQuestion question;
  question.nodes_file = "nodes.json";
  const std::string table = ValueOf(PreviewRollout(question, cluster.pool, cluster.objects)).table;
  EXPECT_THAT(table, AllOf(HasSubstr("Pool a\\x1B[2Jb"), HasSubstr("Next: nothing: "), HasSubstr("\"a\\x1b[2Jb")));
  EXPECT_EQ(PrintableLines(table), table);
  // A line break would begin a line that looks like one of the table.
  EXPECT_THAT(table, Not(HasSubstr("\nf")));
}

}  // namespace
}  // namespace pintle::ctl
