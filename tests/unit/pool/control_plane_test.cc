// SPDX-License-Identifier: Apache-2.0
#include "pool/control_plane.h"

#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

api::Node Master() {
  api::Node node;
  node.metadata.labels = {{std::string(api::kMasterRoleLabel), ""}, {std::string(api::kControlPlaneRoleLabel), ""}};
  return node;
}

api::Taint TaintOf(std::string_view key, const std::string& effect) {
  return {.key = std::string(key), .value = "", .effect = effect, .time_added = {}};
}

TEST(MasterRolePatch, ExcludesUsersPodsByATaint) {
  api::Node node = Master();
  node.metadata.labels.emplace(api::kWorkerRoleLabel, "");
  node.spec.taints.push_back(TaintOf("other", "NoSchedule"));
  EXPECT_EQ(PatchText(MasterRolePatch(node, MasterScheduling::kControlPlaneOnly)),
            R"({"metadata":{"labels":{"node-role.kubernetes.io/worker":null}},"spec":{"taints":[)"
            R"({"effect":"NoSchedule","key":"other"},)"
            R"({"effect":"NoSchedule","key":"node-role.kubernetes.io/master"}]}})");
}

TEST(MasterRolePatch, AdmitsUsersPodsByLabelAndWithoutTaints) {
  api::Node node = Master();
  node.spec.taints = {TaintOf(api::kMasterRoleLabel, "NoSchedule"), TaintOf(api::kControlPlaneRoleLabel, "NoSchedule"),
                      TaintOf(api::kMasterRoleLabel, "NoExecute")};
  EXPECT_EQ(PatchText(MasterRolePatch(node, MasterScheduling::kEveryPod)),
            R"({"metadata":{"labels":{"node-role.kubernetes.io/worker":""}},"spec":{"taints":[)"
            R"({"effect":"NoExecute","key":"node-role.kubernetes.io/master"}]}})");
}

TEST(MasterRolePatch, ChangesNothingIfAllIsAsWanted) {
  api::Node node = Master();
  node.spec.taints.push_back(TaintOf(api::kMasterRoleLabel, "NoSchedule"));
  EXPECT_TRUE(MasterRolePatch(node, MasterScheduling::kControlPlaneOnly).is_empty());
}

TEST(MasterRolePatch, LabelsAnOldMasterAsControlPlane) {
  api::Node node = Master();
  node.metadata.labels.erase(std::string(api::kControlPlaneRoleLabel));
  node.spec.taints.push_back(TaintOf(api::kMasterRoleLabel, "NoSchedule"));
  EXPECT_EQ(PatchText(MasterRolePatch(node, MasterScheduling::kControlPlaneOnly)),
            R"({"metadata":{"labels":{"node-role.kubernetes.io/control-plane":""}}})");
}

TEST(UpdateInProgressPatch, TaintsANodeUntilItsUpdateBegins) {
  const api::MachineConfigPool pool = PoolWith(kNew);
  const Target target(pool, {});
  const api::Node waiting = NodeAt("a", kOld);
  EXPECT_EQ(PatchText(UpdateInProgressPatch(NodeState(waiting), target)),
            R"({"spec":{"taints":[{"effect":"PreferNoSchedule","key":"UpdateInProgress"}]}})");
  api::Node tainted = waiting;
  tainted.spec.taints = {TaintOf("other", "NoSchedule"), TaintOf("UpdateInProgress", "PreferNoSchedule")};
  EXPECT_TRUE(UpdateInProgressPatch(NodeState(tainted), target).is_empty());
  const api::Node targeted = Annotated(tainted, api::kDesiredConfigAnnotation, kNew);
  EXPECT_EQ(PatchText(UpdateInProgressPatch(NodeState(targeted), target)),
            R"({"spec":{"taints":[{"effect":"NoSchedule","key":"other"}]}})");
}

}  // namespace
}  // namespace pintle::pool
