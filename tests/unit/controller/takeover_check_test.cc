// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_check.h"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kPrefix = "machineconfiguration.openshift.io/";

template <typename T>
T Object(const std::string& text) {
  json::Report report;
  return json::Decode<T>(ValueOf(json::Parse(text)), report);
}

// A cluster of the Machine Config Operator with a node in each pool.
class CheckTakeoverTest : public testing::Test {
 protected:
  CheckTakeoverTest() {
    config_ = Object<api::ControllerConfig>(R"({"metadata": {"name": "machine-config-controller",
        "annotations": {"machineconfiguration.openshift.io/generated-by-version": "v1"}},
        "spec": {"baseOSContainerImage": "os@sha256:1"}})");
    for (const std::string role : {"master", "worker"}) {
      configs_.push_back(Object<api::MachineConfig>(R"({"metadata": {"name": "00-)" + role + R"(",
          "labels": {"machineconfiguration.openshift.io/role": ")" +
                                                    role + R"("},
          "annotations": {"machineconfiguration.openshift.io/generated-by-controller-version": "HASH"}},
          "spec": {"config": {"ignition": {"version": "3.4.0"}}}})"));
    }
    for (const std::string role : {"master", "worker"}) {
      api::MachineConfigPool pool = Object<api::MachineConfigPool>(R"({"metadata": {"name": ")" + role + R"("},
          "spec": {"machineConfigSelector": {"matchLabels": {"machineconfiguration.openshift.io/role": ")" +
                                                                   role +
                                                                   R"("}},
                   "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/)" +
                                                                   role + R"(": ""}},
                   "configuration": {"name": "rendered"}},
          "status": {"conditions": [{"type": "Updated", "status": "True"}]}})");
      View view = Look();
      view.pools = {&pool};
      const RenderOutcome outcome = RenderPass(GatherFor(pool, view, {}), nullptr);
      if (outcome.rendered) pool.spec.configuration.name = outcome.rendered->config.metadata.name;
      rendered_[role] = pool.spec.configuration.name;
      pools_.push_back(pool);
    }
    state_.ours =
        Object<WholeDeployment>(R"({"metadata": {"name": "pintle-controller"}, "status": {"readyReplicas": 1}})");
    state_.controller = Object<WholeDeployment>(R"({"metadata": {"name": "machine-config-controller"}})");
  }

  View Look() {
    View view;
    for (auto& pool : pools_) view.pools.push_back(&pool);
    for (auto& config : configs_) view.configs.push_back(&config);
    for (auto& node : nodes_) view.nodes.push_back(&node);
    view.controller_config = &config_;
    return view;
  }
  void AddNode(const std::string& role, const std::string& annotations) {
    nodes_.push_back(Object<api::Node>(R"({"metadata": {"name": ")" + role + R"(-0", "labels": {
        "node-role.kubernetes.io/)" + role +
                                       R"(": ""}, "annotations": {)" + annotations + "}}}"));
  }
  std::vector<TakeoverFinding> Check(std::vector<std::string> unsupported = {}) {
    const View view = Look();
    return CheckTakeover({.view = view,
                          .state = state_,
                          .sources = sources_ ? &*sources_ : nullptr,
                          .controller_config = &spec_,
                          .unsupported = std::move(unsupported)},
                         {}, WallTime());
  }
  std::vector<std::string> Obstacles() {
    std::vector<std::string> obstacles;
    for (const auto& finding : Check()) {
      if (finding.weight == Weight::kObstacle) obstacles.push_back(finding.text);
    }
    return obstacles;
  }

  api::ControllerConfig config_;
  std::deque<api::MachineConfig> configs_;
  std::deque<api::MachineConfigPool> pools_;
  std::deque<api::Node> nodes_;
  std::map<std::string, std::string> rendered_;
  TakeoverState state_;
  std::optional<clusterops::ControllerConfigInputs> sources_;
  json::Value spec_;
};

TEST_F(CheckTakeoverTest, FindsNothingInAClusterThatStandsStill) { EXPECT_THAT(Obstacles(), IsEmpty()); }

TEST_F(CheckTakeoverTest, ATargetThatWouldChangeIsAnObstacle) {
  pools_[1].spec.configuration.name = "rendered-worker-other";
  EXPECT_THAT(Obstacles(), Contains(HasSubstr("pool worker: its target would become " + rendered_["worker"])));
}

TEST_F(CheckTakeoverTest, AControllerConfigThatWouldChangeIsAnObstacle) {
  sources_.emplace();
  sources_->proxy = ValueOf(json::Parse(R"({"status": {"httpProxy": "http://p"}})"));
  spec_["proxy"]["httpProxy"] = "http://p";
  EXPECT_THAT(Obstacles(), Not(Contains(HasSubstr("spec.proxy"))));
  EXPECT_THAT(Obstacles(), Contains("the ControllerConfig: there is no DNS named cluster"));
  spec_["proxy"]["httpProxy"] = "http://other";
  EXPECT_THAT(Obstacles(), Contains("the ControllerConfig: spec.proxy would change"));
}

TEST_F(CheckTakeoverTest, ARolloutThatIsUnderWayIsAnObstacle) {
  pools_[0].status.conditions.clear();
  EXPECT_THAT(Obstacles(), Contains(HasSubstr("pool master is not updated yet")));
}

TEST_F(CheckTakeoverTest, ADrainThatIsUnderWayIsAnObstacle) {
  AddNode("worker", std::string("\"") + kPrefix + "desiredDrain\": \"drain-x\"");
  EXPECT_THAT(Obstacles(), Contains(HasSubstr("node worker-0 is being drained")));
}

TEST_F(CheckTakeoverTest, ANodeThatWouldBeUpdatedIsAnObstacle) {
  AddNode("worker", std::string("\"") + kPrefix + "currentConfig\": \"old\", \"" + kPrefix +
                        "desiredConfig\": \"old\", \"" + kPrefix + "state\": \"Done\"");
  nodes_[0].status.conditions.push_back({});
  nodes_[0].status.conditions[0].type = "Ready";
  nodes_[0].status.conditions[0].status = "True";
  EXPECT_THAT(Obstacles(), Contains(HasSubstr("node worker-0 would get")));
}

TEST_F(CheckTakeoverTest, NothingToTakeOverWithIsAnObstacle) {
  state_.ours.reset();
  EXPECT_THAT(Obstacles(), Contains("there is no Deployment pintle/pintle-controller"));
}

TEST_F(CheckTakeoverTest, WhatPintleDoesNotHaveIsAPrice) {
  const auto findings = Check({"PinnedImageSet a"});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::kPrice);
  EXPECT_EQ(findings[0].text, "PinnedImageSet a");
}

}  // namespace
}  // namespace pintle::controller
