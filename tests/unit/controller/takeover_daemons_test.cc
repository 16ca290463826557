// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_daemons.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

WholeDaemonSet DaemonWith(const std::string& template_spec) {
  json::Report report;
  return json::Decode<WholeDaemonSet>(
      ValueOf(json::Parse(R"({"metadata": {"name": "machine-config-daemon", "namespace": "n"},
          "spec": {"updateStrategy": {"type": "RollingUpdate"}, "template": {"spec": )" +
                          template_spec + "}}}")),
      report);
}

// Nodes that are Done, and a DaemonSet that leaves the nodes with the label to agents.
class TakeoverDaemonsTest : public testing::Test {
 protected:
  TakeoverDaemonsTest() {
    state_.daemon = DaemonWith("{}");
    const auto exclusion = StepsToHandNodesToAgents(state_)[0].write;
    state_.daemon = DaemonWith(R"({"affinity": )" + json::ToText(exclusion->patch[1]["value"]) + "}");
  }

  api::Node& Add(const std::string& name, const std::string& report, const std::string& label = "") {
    api::Node node;
    node.metadata.name = name;
    node.metadata.annotations = {{"machineconfiguration.openshift.io/currentConfig", "x"},
                                 {"machineconfiguration.openshift.io/desiredConfig", "x"},
                                 {"machineconfiguration.openshift.io/state", "Done"}};
    if (!report.empty()) node.metadata.annotations["pintle.io/agent-state"] = report;
    node.metadata.labels = {{"kubernetes.io/os", "linux"}};
    if (!label.empty()) node.metadata.labels["pintle.io/agent"] = label;
    return state_.nodes.emplace_back(std::move(node));
  }

  // Returns "NAME: what is written or waited for" for each step that is not done, without that of the DaemonSet.
  static std::vector<std::string> OpenSteps(const std::vector<TakeoverStep>& steps) {
    std::vector<std::string> left;
    for (const TakeoverStep& step : steps) {
      if (step.is_done || step.name == "daemons") continue;
      left.push_back(step.name + ": " + (step.write ? step.write->in_words : step.waits_for));
    }
    return left;
  }

  TakeoverState state_;
};

TEST(LeavesNodesToAgents, IsTrueOnlyIfEachTermHasTheCondition) {
  EXPECT_FALSE(LeavesNodesToAgents(DaemonWith("{}")));
  const auto with_terms = [](const std::string& terms) {
    return DaemonWith(R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": )" +
                      terms + "}}}}");
  };
  const std::string condition = R"({"matchExpressions": [{"key": "pintle.io/agent", "operator": "DoesNotExist"}]})";
  EXPECT_TRUE(LeavesNodesToAgents(with_terms("[" + condition + "]")));
  EXPECT_FALSE(LeavesNodesToAgents(with_terms("[" + condition + ", {}]")));
  EXPECT_FALSE(LeavesNodesToAgents(with_terms(R"([{"matchExpressions": [{"key": "a", "operator": "Exists"}]}])")));
}

TEST_F(TakeoverDaemonsTest, TheDaemonKeepsItsOtherConditions) {
  state_.daemon = DaemonWith(R"({"affinity": {"podAffinity": {}, "nodeAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {"matchFields": []}]}}}})");
  const auto steps = StepsToHandNodesToAgents(state_);
  ASSERT_TRUE(steps[0].write);
  const json::Value& affinity = steps[0].write->patch[1]["value"];
  EXPECT_EQ(
      json::ToText(affinity),
      R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
      R"({"matchExpressions":[{"key":"a","operator":"Exists"},{"key":"pintle.io/agent","operator":"DoesNotExist"}]},)"
      R"({"matchExpressions":[{"key":"pintle.io/agent","operator":"DoesNotExist"}],"matchFields":[]}]}},)"
      R"("podAffinity":{}})");
}

TEST_F(TakeoverDaemonsTest, OnlyNodesWithAnAgentAreHandedOver) {
  Add("a", "");
  Add("b", "standby");
  Add("c", "acts");  // Its label was removed, and it does not stand by yet.
  EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_)),
              ElementsAre("b: Node b: its label pintle.io/agent becomes awaited"));
  EXPECT_EQ(CountOfAgents(state_), 1U);
}

TEST_F(TakeoverDaemonsTest, ANodeIsHandedOverWhenItsDaemonHasGone) {
  Add("a", "standby", "awaited");
  state_.nodes_with_daemon = {"a"};
  EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_)), ElementsAre("a: the daemon's pod has left the node"));
  state_.nodes_with_daemon.clear();
  EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_)),
              ElementsAre("a: Node a: its label pintle.io/agent becomes acts"));
}

TEST_F(TakeoverDaemonsTest, ANodeIsNotHandedOverWhileAPodOfTheDaemonIsToBePlacedThere) {
  Add("a", "standby", "awaited");
  state_.nodes_awaiting_daemon = {"a"};
  EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_)), ElementsAre("a: the daemon's pod has left the node"));
  state_.nodes_awaiting_daemon = {"b"};
  EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_)),
              ElementsAre("a: Node a: its label pintle.io/agent becomes acts"));
}

TEST_F(TakeoverDaemonsTest, ANodeIsNotGivenBackBeforeThePodOfTheDaemonIsPlacedThere) {
  Add("a", "standby");
  state_.nodes_awaiting_daemon = {"a"};
  EXPECT_THAT(
      OpenSteps(StepsToHandNodesBack(state_, {})),
      ElementsAre("a: the daemon's pod is on the node again (if the DaemonSet makes none for this node, remove "
                  "Pintle's agent from its machine, and then the annotation pintle.io/agent-state of the Node)"));
}

TEST_F(TakeoverDaemonsTest, ANodeIsDoneWhenItsAgentReportsThatItHasItsConfig) {
  Add("a", "begins", "acts");
  EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_)),
              ElementsAre(HasSubstr("the agent reports that the node has its config")));
  state_.nodes[0].metadata.annotations["pintle.io/agent-state"] = "acts";
  EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_)), IsEmpty());
}

TEST_F(TakeoverDaemonsTest, ANodeThatWasBegunIsEndedBeforeTheNextOne) {
  Add("a", "standby");
  Add("b", "standby", "awaited");
  state_.nodes_with_daemon = {"a", "b"};
  const auto left = OpenSteps(StepsToHandNodesToAgents(state_));
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0], "b: the daemon's pod has left the node");
}

TEST_F(TakeoverDaemonsTest, ANodeThatIsBeingUpdatedComesLastAndIsWaitedFor) {
  const std::map<std::string, std::string> reasons = {
      {"desiredConfig", "y"}, {"state", "Working"}, {"desiredDrain", "drain-y"}};
  for (const auto& [key, value] : reasons) {
    state_.nodes.clear();
    Add("a", "standby").metadata.annotations["machineconfiguration.openshift.io/" + key] = value;
    Add("b", "standby");
    EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_)),
                ElementsAre("b: Node b: its label pintle.io/agent becomes awaited",
                            "a: the node is Done with the config that it is to have"))
        << key;
  }
}

TEST_F(TakeoverDaemonsTest, TheLabelIsRemovedOnlyWhenTheAgentStandsBy) {
  Add("a", "acts", "leaves");
  EXPECT_THAT(OpenSteps(StepsToHandNodesBack(state_, {})),
              ElementsAre(HasSubstr("a: the agent reports that it stands by")));
  state_.nodes[0].metadata.annotations["pintle.io/agent-state"] = "begins";
  EXPECT_THAT(OpenSteps(StepsToHandNodesBack(state_, {})),
              ElementsAre(HasSubstr("a: the agent reports that it stands by")));
  state_.nodes[0].metadata.annotations["pintle.io/agent-state"] = "standby";
  EXPECT_THAT(OpenSteps(StepsToHandNodesBack(state_, {})),
              ElementsAre("a: Node a: its label pintle.io/agent is removed"));
}

TEST_F(TakeoverDaemonsTest, TheNextNodeIsGivenBackWhenTheDaemonIsBack) {
  Add("a", "acts", "acts");
  Add("b", "standby");
  EXPECT_THAT(OpenSteps(StepsToHandNodesBack(state_, {})),
              ElementsAre(HasSubstr("b: the daemon's pod is on the node again"),
                          "a: Node a: its label pintle.io/agent becomes leaves"));
}

TEST_F(TakeoverDaemonsTest, ANodeThatIsDownComesLast) {
  const auto put_down = [&](const std::string& name) {
    for (api::Node& node : state_.nodes) {
      if (node.metadata.name == name) node.status.conditions.push_back({.type = "Ready", .status = "Unknown"});
    }
  };
  Add("a", "standby");
  Add("b", "standby");
  put_down("a");
  EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_)),
              ElementsAre("b: Node b: its label pintle.io/agent becomes awaited", HasSubstr("a: the node is Done")));
  EXPECT_THAT(OpenSteps(StepsToHandNodesToAgents(state_))[1], HasSubstr("start its machine, or delete its Node"));
  state_.nodes.clear();
  Add("a", "acts", "leaves");
  Add("b", "acts", "acts");
  put_down("a");
  const auto left = OpenSteps(StepsToHandNodesBack(state_, {}));
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0], "b: Node b: its label pintle.io/agent becomes leaves");
  EXPECT_THAT(left[1], HasSubstr("start its machine, or delete its Node"));
}

// A node whose machine was installed anew may have the report of an agent that is gone.
TEST_F(TakeoverDaemonsTest, TheRemedyForAnAgentThatIsGoneIsNamedAndHelps) {
  Add("a", "acts", "leaves");
  EXPECT_THAT(OpenSteps(StepsToHandNodesBack(state_, {})),
              ElementsAre(HasSubstr("remove the annotation pintle.io/agent-state of the Node")));
  state_.nodes[0].metadata.annotations.erase("pintle.io/agent-state");
  EXPECT_THAT(OpenSteps(StepsToHandNodesBack(state_, {})),
              ElementsAre("a: Node a: its label pintle.io/agent is removed"));
}

TEST_F(TakeoverDaemonsTest, OnlyTheLabelOfTheAgentIsRemoved) {
  Add("a", "standby", "awaited");
  const auto steps = StepsToHandNodesBack(state_, {});
  EXPECT_EQ(steps[0].write->patch[1].TextAt({"path"}), "/metadata/labels/pintle.io~1agent");
}

}  // namespace
}  // namespace pintle::controller
