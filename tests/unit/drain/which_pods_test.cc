// SPDX-License-Identifier: Apache-2.0
#include "drain/which_pods.h"

#include <gtest/gtest.h>

namespace pintle::drain {
namespace {

api::Pod OwnedBy(const std::string& kind, bool is_controller = true) {
  api::Pod pod;
  pod.metadata.owner_references.push_back({"apps/v1", kind, "owner", "u", is_controller, {}});
  pod.status.phase = "Running";
  return pod;
}

TEST(FateOf, LeavesPodsOfDaemonSets) {
  EXPECT_EQ(FateOf(OwnedBy("DaemonSet")), Fate::kStaysForDaemonSet);
  EXPECT_EQ(FateOf(OwnedBy("ReplicaSet")), Fate::kGoes);
  EXPECT_EQ(FateOf(OwnedBy("DaemonSet", false)), Fate::kGoes) << "this DaemonSet does not start the pod again";
}

TEST(FateOf, EvictsFinishedPodsOfDaemonSets) {
  for (const char* phase : {"Succeeded", "Failed"}) {
    api::Pod pod = OwnedBy("DaemonSet");
    pod.status.phase = phase;
    EXPECT_EQ(FateOf(pod), Fate::kGoes) << phase;
  }
}

TEST(FateOf, LeavesMirrorsEvenFinishedOnes) {
  api::Pod pod = OwnedBy("Node");
  pod.metadata.annotations["kubernetes.io/config.mirror"] = "";
  EXPECT_EQ(FateOf(pod), Fate::kStaysAsMirror);
  pod.status.phase = "Failed";
  EXPECT_EQ(FateOf(pod), Fate::kStaysAsMirror);
}

TEST(FateOf, EvictsUnmanagedPodsAndPodsWithAnEmptyDir) {
  api::Pod pod;
  pod.status.phase = "Running";
  pod.spec.volumes.push_back({"data", json::Value::object()});
  EXPECT_EQ(FateOf(pod), Fate::kGoes);
}

}  // namespace
}  // namespace pintle::drain
