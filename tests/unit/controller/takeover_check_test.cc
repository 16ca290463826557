// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_check.h"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/version.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
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
      const RenderOutcome outcome = RenderPass(GatherRenderInputs(pool, view, {}), nullptr);
      if (outcome.rendered) pool.spec.configuration.name = outcome.rendered->config.metadata.name;
      rendered_[role] = pool.spec.configuration.name;
      pools_.push_back(pool);
    }
    SetArguments(R"(["start", "--templates", "/templates"])");
    state_.controller = Object<WholeDeployment>(R"({"metadata": {"name": "machine-config-controller"}})");
  }

  void SetArguments(const std::string& arguments) {
    state_.ours = Object<WholeDeployment>(R"({"metadata": {"name": "pintle-controller"}, "spec": {"template": {"spec": {
        "containers": [{"name": "other"}, {"args": )" +
                                          arguments + R"(}]}}}, "status": {"readyReplicas": 1}})");
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
                          .unsupported = std::move(unsupported),
                          .cluster_operator = cluster_operator_},
                         settings_, WallTime());
  }
  std::vector<std::string> Obstacles() { return TextsOf(Check(), Weight::kObstacle); }
  static std::vector<std::string> TextsOf(const std::vector<TakeoverFinding>& findings, Weight weight) {
    std::vector<std::string> texts;
    for (const TakeoverFinding& finding : findings) {
      if (finding.weight == weight) texts.push_back(finding.text);
    }
    return texts;
  }

  api::ControllerConfig config_;
  std::deque<api::MachineConfig> configs_;
  std::deque<api::MachineConfigPool> pools_;
  std::deque<api::Node> nodes_;
  std::map<std::string, std::string> rendered_;
  TakeoverState state_;
  TakeoverSettings settings_;
  std::optional<clusterops::ControllerConfigInputs> sources_;
  json::Value spec_;
  std::optional<api::ClusterOperator> cluster_operator_;
};

TEST_F(CheckTakeoverTest, FindsNoObstacleInAClusterThatStandsStill) { EXPECT_THAT(Obstacles(), IsEmpty()); }

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

TEST_F(CheckTakeoverTest, TheOptionsOfPintlesDeploymentCount) {
  sources_.emplace();
  sources_->release_images = ValueOf(json::Parse(R"({"releaseVersion": "4.21.0"})"));
  const auto refused = HasSubstr(R"(refusing to read images.json version "4.21.0", operator version "4.20.9")");
  EXPECT_THAT(Obstacles(), Not(Contains(refused)));
  SetArguments(R"(["start", "--operator=yes", "--release-version=4.20.9"])");
  EXPECT_THAT(Obstacles(), Contains(refused));
  const auto lacks_stream = HasSubstr("there is no OSImageStream named cluster");
  EXPECT_THAT(Obstacles(), Not(Contains(lacks_stream)));
  SetArguments(R"(["start", "--operator=yes", "--feature-gates=OSStreams"])");
  EXPECT_THAT(Obstacles(), Contains(lacks_stream));
  EXPECT_THAT(Obstacles(), Not(Contains(HasSubstr("nothing can be rendered"))));
  SetArguments(R"(["start", "--operator=yes", "--payload-version=v2"])");
  EXPECT_THAT(Obstacles(), Contains(HasSubstr("pool worker: nothing can be rendered")));
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

TEST_F(CheckTakeoverTest, AMissingDeploymentOfPintleIsAnObstacle) {
  state_.ours.reset();
  EXPECT_THAT(Obstacles(), Contains("there is no Deployment pintle/pintle-controller"));
}

TEST_F(CheckTakeoverTest, ADeploymentThatDoesNotActAsTheOperatorIsAnObstacle) {
  for (const char* arguments : {R"(["start"])", R"(["start", "--templates=/t", "--operator=no"])", R"(["garbage"])"}) {
    SetArguments(arguments);
    EXPECT_THAT(Obstacles(), ElementsAre(HasSubstr("would never hold the Lease machine-config"))) << arguments;
  }
  SetArguments(R"(["start", "--operator", "yes"])");
  EXPECT_THAT(Obstacles(), IsEmpty());
}

TEST_F(CheckTakeoverTest, AServerThatWouldHaveNoSuccessorIsAnObstacle) {
  state_.server = Object<WholeDaemonSet>(R"({"metadata": {"name": "machine-config-server"}})");
  EXPECT_THAT(Obstacles(), IsEmpty());
  settings_.with_server = true;
  EXPECT_THAT(Obstacles(), ElementsAre(HasSubstr("has no Ignition server; apply deploy/ignition/openshift")));
}

TEST_F(CheckTakeoverTest, AgentsOnNoNodeAreAnObstacleIfTheyAreToGetNodes) {
  state_.nodes.push_back(Object<api::Node>(R"({"metadata": {"name": "a"}})"));
  settings_.with_daemons = true;
  EXPECT_THAT(Obstacles(), ElementsAre(HasSubstr("no node has an agent that stands by")));
  state_.nodes.push_back(Object<api::Node>(R"({"metadata": {"name": "b", "annotations": {
      "pintle.io/agent-state": "standby"}}})"));
  EXPECT_THAT(Obstacles(), IsEmpty());
  EXPECT_THAT(TextsOf(Check(), Weight::kInformation),
              Contains(HasSubstr("1 of 2 nodes keep the Machine Config Operator's")));
}

TEST_F(CheckTakeoverTest, AnObjectThatPintleDoesNotSupportIsALoss) {
  EXPECT_THAT(TextsOf(Check({"PinnedImageSet a"}), Weight::kLoss), ElementsAre("PinnedImageSet a"));
}

TEST_F(CheckTakeoverTest, NamesTheVersionsOfPintleAndOfTheOperator) {
  config_.metadata.annotations["machineconfiguration.openshift.io/release-image-version"] = "4.21.3";
  cluster_operator_ = Object<api::ClusterOperator>(R"({"apiVersion": "config.openshift.io/v1",
      "kind": "ClusterOperator", "metadata": {"name": "machine-config"}, "spec": {},
      "status": {"versions": [{"name": "operator-image", "version": "i"},
                              {"name": "operator", "version": "4.21.2"}]}})");
  const auto notices = TextsOf(Check(), Weight::kInformation);
  EXPECT_THAT(notices, Contains("Pintle is of version " + std::string(kVersion)));
  EXPECT_THAT(notices, Contains("the Machine Config Operator is of version v1; its release is 4.21.3 in the "
                                "ControllerConfig and 4.21.2 in the ClusterOperator"));
}

// An older candidate takes a lease that has not changed for 270 s, and the last holder acts for 60 s + 240 s.
TEST_F(CheckTakeoverTest, NamesTheOverlapOfOldCandidatesInAClusterOfOneMachine) {
  const auto notices = [&](int duration, const std::string& release) {
    api::LeaseSpec& spec = state_.operator_lease.emplace().spec;
    spec.holder_identity = "of-the-operator";
    spec.lease_duration_seconds = duration;
    cluster_operator_ = Object<api::ClusterOperator>(R"({"apiVersion": "config.openshift.io/v1",
        "kind": "ClusterOperator", "metadata": {"name": "machine-config"}, "spec": {},
        "status": {"versions": [{"name": "operator", "version": ")" +
                                                     release + R"("}]}})");
    return TextsOf(Check(), Weight::kInformation);
  };
  const auto overlap = HasSubstr(
      "if `start` is killed, run it again within 3 minutes; otherwise two of the Operator's "
      "programs may act at once for up to 30 s");
  EXPECT_THAT(notices(270, "4.13.40"), Contains(testing::AllOf(overlap, HasSubstr("is 4.13.40: if"))));
  EXPECT_THAT(notices(270, "4.9.0"), Contains(overlap));
  EXPECT_THAT(notices(270, ""), Contains(testing::AllOf(overlap, HasSubstr("is unknown"))));
  EXPECT_THAT(notices(270, "4.14.0"), Not(Contains(overlap)));
  EXPECT_THAT(notices(270, "4.21.3"), Not(Contains(overlap)));
  // With several machines, the last holder acts for 26 s + 107 s, and others leave the lease alone for longer.
  EXPECT_THAT(notices(137, "4.13.40"), Not(Contains(overlap)));
  // While `start` holds the lease, the duration in the lease is longer.
  api::LeaseSpec& held = state_.controller_lease.emplace().spec;
  held.holder_identity = "pintle-takeover";
  held.lease_duration_seconds = 338;
  EXPECT_THAT(notices(137, "4.13.40"), Contains(overlap));
}

TEST_F(CheckTakeoverTest, ReportsThatGeneratedConfigsWereNotCompared) {
  EXPECT_THAT(TextsOf(Check(), Weight::kInformation), Contains(HasSubstr("--templates DIR")));
}

}  // namespace
}  // namespace pintle::controller
