// SPDX-License-Identifier: Apache-2.0
#include "controller/owned_pods.h"

#include <string>

#include "json/parse.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

std::string SelectorWith(const std::string& selector) {
  WholeDaemonSet owner;
  owner.spec["selector"] = ValueOf(json::Parse(selector));
  return PodSelectorOf(owner);
}

std::string AwaitedBy(const std::string& spec) {
  WholePod pod;
  pod.spec = ValueOf(json::Parse(spec));
  return NodeAwaitedBy(pod);
}

TEST(PodSelectorOf, HasAllLabelsAndExpressions) {
  EXPECT_EQ(SelectorWith(R"({"matchLabels": {"app": "web", "tier": "front"}})"), "app=web,tier=front");
  EXPECT_EQ(SelectorWith(R"({"matchLabels": {"a": "1"}, "matchExpressions": [
                {"key": "b", "operator": "In", "values": ["x", "y"]}, {"key": "c", "operator": "NotIn", "values": ["z"]},
                {"key": "d", "operator": "Exists"}, {"key": "e", "operator": "DoesNotExist"}]})"),
            "a=1,b in (x,y),c notin (z),d,!e");
  EXPECT_EQ(SelectorWith(R"({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]})"),
            "app in (web)");
}

TEST(PodSelectorOf, IsEmptyIfItWouldSelectOtherPods) {
  EXPECT_EQ(SelectorWith("{}"), "");
  EXPECT_EQ(SelectorWith(R"({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Near"}]})"), "");
}

TEST(NodeAwaitedBy, IsTheNodeThatTheAffinityNames) {
  const std::string affinity = R"("affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
      "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}],
      "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}})";
  EXPECT_EQ(AwaitedBy("{" + affinity + "}"), "n");
  EXPECT_EQ(AwaitedBy(R"({"nodeName": "n", )" + affinity + "}"), "");
  EXPECT_EQ(AwaitedBy("{}"), "");
}

TEST(IsReady, IsTheConditionOfAPodThatStays) {
  WholePod pod;
  EXPECT_FALSE(IsReady(pod));
  for (const char* status : {"False", "Unknown"}) {
    pod.status["conditions"] = {{{"type", "Initialized"}, {"status", "True"}}, {{"type", "Ready"}, {"status", status}}};
    EXPECT_FALSE(IsReady(pod)) << status;
  }
  pod.status["conditions"] = {{{"type", "Ready"}, {"status", "True"}}};
  EXPECT_TRUE(IsReady(pod));
  pod.metadata.deletion_timestamp.emplace();
  EXPECT_FALSE(IsReady(pod));
}

}  // namespace
}  // namespace pintle::controller
