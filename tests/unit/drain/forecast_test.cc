// SPDX-License-Identifier: Apache-2.0
#include "drain/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/annotations.h"
#include "drain/protocol.h"

namespace pintle::drain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

api::Pod PodNamed(const std::string& name, const std::string& app = "web") {
  api::Pod pod;
  pod.metadata.namespace_name = "shop";
  pod.metadata.name = name;
  pod.metadata.labels = {{"app", app}};
  pod.status.phase = "Running";
  pod.status.conditions = {{"Ready", "True"}};
  return pod;
}

api::Pod Unready(api::Pod pod) {
  pod.status.conditions = {{"Ready", "False"}};
  return pod;
}

struct Counts {
  int allowed;
  int healthy;
  int desired;
  int expected;
};

api::PodDisruptionBudget BudgetNamed(const std::string& name, Counts counts, const std::string& app = "web") {
  api::PodDisruptionBudget budget;
  budget.metadata.namespace_name = "shop";
  budget.metadata.name = name;
  budget.spec.selector.emplace();
  budget.spec.selector->match_labels = {{"app", app}};
  budget.status.disruptions_allowed = counts.allowed;
  budget.status.current_healthy = counts.healthy;
  budget.status.desired_healthy = counts.desired;
  budget.status.expected_pods = counts.expected;
  return budget;
}

api::Node NodeNamed(const std::string& name) {
  api::Node node;
  node.metadata.name = name;
  node.status.conditions = {{"Ready", "True"}};
  return node;
}

// A cluster in which the node "worker" is to be drained.  Each test adds its own objects.
struct Cluster {
  std::vector<api::Pod> pods;
  std::vector<api::PodDisruptionBudget> budgets;
  std::vector<api::Node> nodes = {NodeNamed("worker")};

  std::map<PodOwner, std::int32_t> wanted = {};

  template <typename Act>
  auto WithSurroundings(Act act) const {
    std::vector<const api::Node*> other_nodes;
    for (const api::Node& node : nodes) other_nodes.push_back(&node);
    return act({.pods = pods, .budgets = budgets, .other_nodes = other_nodes, .node = "worker", .wanted = wanted});
  }
  std::vector<Blocker> Forecast() const {
    return WithSurroundings([](const Surroundings& around) { return ForecastDrain(around); });
  }
  std::set<PodOwner> OwnersToAsk() const {
    return WithSurroundings([](const Surroundings& around) { return PodOwnersToAsk(around); });
  }
  // Returns the blocked pods by name, with "!" if a blocker does not pass by itself.
  std::vector<std::string> Blocked() const {
    std::vector<std::string> names;
    for (const Blocker& blocker : Forecast()) names.push_back(blocker.pod.name + (blocker.may_pass ? "" : "!"));
    return names;
  }
};

TEST(ForecastDrain, IsClearWithoutBudgets) {
  const Cluster cluster = {.pods = {PodNamed("a")}, .budgets = {BudgetNamed("others", {0, 1, 1, 1}, "other")}};
  EXPECT_THAT(cluster.Forecast(), IsEmpty());
  EXPECT_EQ(ProspectOf({}), Prospect::kClear);
}

TEST(ForecastDrain, IsHopelessForASingleWorkerWithARouter) {
  // Two routers are wanted, one must be there, and the other one has found no second worker.
  const Cluster cluster = {.pods = {PodNamed("router-1")}, .budgets = {BudgetNamed("router", {0, 1, 1, 2})}};
  const auto blockers = cluster.Forecast();
  EXPECT_EQ(ProspectOf(blockers), Prospect::kHopeless);
  EXPECT_EQ(Summary(blockers),
            "pod shop/router-1 is kept by disruption budget router: 1 of its pods are healthy and 1 have to be, and no "
            "other schedulable node can run a replacement; add a node or allow more to be unavailable");
}

TEST(ForecastDrain, AssumesThatAMissingPodStartsOnAnotherNode) {
  Cluster cluster = {.pods = {PodNamed("a")}, .budgets = {BudgetNamed("web", {0, 1, 1, 2})}};
  cluster.nodes.push_back(NodeNamed("other"));
  EXPECT_THAT(cluster.Blocked(), ElementsAre("a"));
  EXPECT_EQ(ProspectOf(cluster.Forecast()), Prospect::kMayPass);
}

TEST(ForecastDrain, CountsPodsThatABudgetReleasesOneAfterTheOther) {
  Cluster cluster = {.pods = {PodNamed("a"), PodNamed("b"), PodNamed("c")},
                     .budgets = {BudgetNamed("web", {1, 3, 2, 3})}};
  EXPECT_THAT(cluster.Blocked(), ElementsAre("b!", "c!"));
  cluster.nodes.push_back(NodeNamed("other"));
  EXPECT_THAT(cluster.Blocked(), IsEmpty());
}

TEST(ForecastDrain, ReportsABudgetThatAllowsNoEviction) {
  Cluster cluster = {.pods = {PodNamed("a")}, .budgets = {BudgetNamed("web", {0, 2, 2, 2})}};
  cluster.nodes.push_back(NodeNamed("other"));
  EXPECT_THAT(cluster.Blocked(), ElementsAre("a!"));
  EXPECT_EQ(cluster.Forecast()[0].why,
            "it requires all of its 2 pods to be healthy, and so never allows an eviction; allow one of them to be "
            "unavailable, or run more");
}

TEST(ForecastDrain, ExpectsAPodThatIsBeingReplaced) {
  Cluster cluster = {.pods = {PodNamed("a")}, .budgets = {BudgetNamed("web", {0, 1, 1, 1})}};
  cluster.nodes.push_back(NodeNamed("other"));
  cluster.budgets[0].spec.min_available = api::IntOrString{1};
  EXPECT_THAT(cluster.OwnersToAsk(), IsEmpty()) << "the pod has no owner";
  cluster.pods[0].metadata.owner_references = {{"apps/v1", "StatefulSet", "web", "u", true, {}}};
  const PodOwner web = {"StatefulSet", {"shop", "web"}, "u"};
  EXPECT_THAT(cluster.OwnersToAsk(), ElementsAre(web));
  EXPECT_THAT(cluster.Blocked(), ElementsAre("a!")) << "an owner of unknown scale counts as having all its pods";
  cluster.wanted = {{web, 1}};
  EXPECT_THAT(cluster.OwnersToAsk(), IsEmpty());
  EXPECT_THAT(cluster.Blocked(), ElementsAre("a!"));
  cluster.wanted = {{web, 2}};
  EXPECT_THAT(cluster.Blocked(), ElementsAre("a"));
  cluster.nodes.pop_back();
  EXPECT_THAT(cluster.Blocked(), ElementsAre("a!")) << "the new pod could run on no other node";
}

TEST(ForecastDrain, AsksAboutNoWorkloadWhoseScaleIsIrrelevant) {
  Cluster cluster = {.pods = {PodNamed("a")}, .budgets = {BudgetNamed("web", {0, 1, 1, 1})}};
  cluster.pods[0].metadata.owner_references = {{"apps/v1", "ReplicaSet", "web", "u", true, {}}};
  api::PodDisruptionBudget& budget = cluster.budgets[0];
  EXPECT_THAT(cluster.OwnersToAsk(), IsEmpty()) << "without minAvailable, expectedPods comes from the scale";
  budget.spec.min_available = api::IntOrString{"100%"};
  EXPECT_THAT(cluster.OwnersToAsk(), IsEmpty()) << "for a percentage, expectedPods comes from the scale";
  budget.spec.min_available = api::IntOrString{1};
  EXPECT_THAT(cluster.OwnersToAsk(), testing::SizeIs(1));
  budget.status = {.disruptions_allowed = 0, .current_healthy = 1, .desired_healthy = 1, .expected_pods = 2};
  EXPECT_THAT(cluster.OwnersToAsk(), IsEmpty()) << "one pod is not ready";
  budget.status = {.disruptions_allowed = 1, .current_healthy = 2, .desired_healthy = 1, .expected_pods = 2};
  EXPECT_THAT(cluster.OwnersToAsk(), IsEmpty()) << "the budget allows an eviction";
}

TEST(ForecastDrain, ReportsAPodWithTwoBudgets) {
  Cluster cluster = {.pods = {PodNamed("a")},
                     .budgets = {BudgetNamed("one", {1, 2, 1, 2}), BudgetNamed("two", {1, 2, 1, 2})}};
  cluster.nodes.push_back(NodeNamed("other"));
  EXPECT_THAT(cluster.Blocked(), ElementsAre("a!"));
  EXPECT_EQ(cluster.Forecast()[0].budget, "one, two");
}

TEST(ForecastDrain, LetsUnhealthyPodsGoIfTheBudgetAllowsThat) {
  Cluster cluster = {.pods = {Unready(PodNamed("a"))}, .budgets = {BudgetNamed("web", {0, 2, 2, 3})}};
  EXPECT_THAT(cluster.Blocked(), IsEmpty());
  cluster.budgets[0].status.current_healthy = 1;
  EXPECT_THAT(cluster.Blocked(), ElementsAre("a!"));
  cluster.budgets[0].spec.unhealthy_pod_eviction_policy = "AlwaysAllow";
  EXPECT_THAT(cluster.Blocked(), IsEmpty());
}

TEST(ForecastDrain, IgnoresPodsWhoseBudgetDoesNotMatter) {
  Cluster cluster;
  cluster.budgets = {BudgetNamed("web", {0, 1, 1, 1})};
  for (const char* phase : {"Pending", "Succeeded", "Failed"}) {
    api::Pod pod = PodNamed(phase);
    pod.status.phase = phase;
    cluster.pods.push_back(pod);
  }
  cluster.pods.push_back(PodNamed("leaving"));
  cluster.pods.back().metadata.deletion_timestamp.emplace();
  cluster.pods.push_back(PodNamed("daemon"));
  cluster.pods.back().metadata.owner_references.push_back({"apps/v1", "DaemonSet", "d", "u", true, {}});
  EXPECT_THAT(cluster.Blocked(), IsEmpty());
}

TEST(ForecastDrain, AppliesABudgetInItsNamespaceOnly) {
  Cluster cluster = {.pods = {PodNamed("a")}, .budgets = {BudgetNamed("web", {0, 1, 1, 1})}};
  cluster.budgets[0].metadata.namespace_name = "elsewhere";
  EXPECT_THAT(cluster.Blocked(), IsEmpty());
}

TEST(ForecastDrain, IgnoresABudgetThatHasJustChanged) {
  Cluster cluster = {.pods = {PodNamed("a")}, .budgets = {BudgetNamed("web", {0, 1, 1, 1})}};
  cluster.budgets[0].metadata.generation = 2;
  cluster.budgets[0].status.observed_generation = 1;
  EXPECT_THAT(cluster.Blocked(), IsEmpty());
}

TEST(CouldRunOn, RequiresAHealthySchedulableNode) {
  const api::Pod pod = PodNamed("a");
  api::Node node = NodeNamed("other");
  EXPECT_TRUE(CouldRunOn(pod, node));
  node.spec.unschedulable = true;
  EXPECT_FALSE(CouldRunOn(pod, node));
  node = NodeNamed("other");
  node.status.conditions = {{"Ready", "Unknown"}};
  EXPECT_FALSE(CouldRunOn(pod, node));
}

TEST(CouldRunOn, CountsANodeThatReturnsFromItsOwnUpdate) {
  const api::Pod pod = PodNamed("a");
  api::Node node = NodeNamed("other");
  node.spec.unschedulable = true;
  node.spec.taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule", {}}};
  node.status.conditions = {{"Ready", "False"}};
  node.metadata.annotations = {{std::string(api::kDesiredDrainAnnotation), "drain-b"},
                               {std::string(api::kLastAppliedDrainAnnotation), "drain-b"}};
  EXPECT_TRUE(CouldRunOn(pod, node));
  node.metadata.annotations.emplace(kKeepCordonedAnnotation, "true");
  EXPECT_FALSE(CouldRunOn(pod, node)) << "it stays cordoned";
}

TEST(CouldRunOn, ChecksTaintsAndLabels) {
  api::Pod pod = PodNamed("a");
  api::Node node = NodeNamed("other");
  node.spec.taints = {{"node-role.kubernetes.io/master", "", "NoSchedule", {}}};
  EXPECT_FALSE(CouldRunOn(pod, node));
  for (const api::Toleration& toleration :
       {api::Toleration{"node-role.kubernetes.io/master", "Exists", "", "NoSchedule"},
        api::Toleration{"", "Exists", "", ""}, api::Toleration{"node-role.kubernetes.io/master", "", "", ""}}) {
    pod.spec.tolerations = {toleration};
    EXPECT_TRUE(CouldRunOn(pod, node)) << toleration.op;
  }
  pod.spec.tolerations = {{"node-role.kubernetes.io/master", "Exists", "", "NoExecute"}};
  EXPECT_FALSE(CouldRunOn(pod, node));
  node.spec.taints = {{"busy", "", "PreferNoSchedule", {}}};
  EXPECT_TRUE(CouldRunOn(pod, node));

  pod.spec.node_selector = {{"disk", "fast"}};
  EXPECT_FALSE(CouldRunOn(pod, node));
  node.metadata.labels = {{"disk", "fast"}};
  EXPECT_TRUE(CouldRunOn(pod, node));
}

TEST(Summary, BeginsWithPodsThatCannotMoveAndIsShort) {
  std::vector<Blocker> blockers;
  for (int i = 0; i < 7; ++i) blockers.push_back({{"n", "p" + std::to_string(i)}, "b", "why", i != 6});
  EXPECT_EQ(Summary(blockers),
            "pod n/p6 is kept by disruption budget b: why; pod n/p0 is kept by disruption budget b: why; "
            "pod n/p1 is kept by disruption budget b: why; pod n/p2 is kept by disruption budget b: why; "
            "pod n/p3 is kept by disruption budget b: why; and 2 more pods");
  EXPECT_EQ((Blocker{{"n", "p"}, "", "a webhook says no", false}.ToText()),
            "pod n/p cannot be evicted: a webhook says no");
}

}  // namespace
}  // namespace pintle::drain
