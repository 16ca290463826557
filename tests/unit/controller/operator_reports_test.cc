// SPDX-License-Identifier: Apache-2.0
#include "controller/operator_reports.h"

#include <gmock/gmock.h>

#include <memory>

#include "event/loop.h"
#include "event/watches.h"
#include "support/expect.h"
#include "unit/controller/manual_clock.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using testing::HasSubstr;

constexpr const char* kRequiredLabel = "operator.machineconfiguration.openshift.io/required-for-upgrade";

// Runs OperatorReports with a small API server that has a node, its pool, and a ControllerConfig.
class OperatorReportsTest : public testing::Test {
 protected:
  OperatorReportsTest() {
    ::setenv("no_proxy", "*", 1);
    server_.Put("controllerconfigs",
                {{"metadata",
                  {{"name", "machine-config-controller"},
                   {"annotations", {{"machineconfiguration.openshift.io/release-image-version", "4.21.0"}}}}},
                 {"spec", {{"baseOSContainerImage", "registry/os@sha256:1"}}}});
    server_.Put("machineconfigpools",
                {{"metadata", {{"name", "worker"}, {"labels", {{"mine", "stays"}}}}},
                 {"spec", {{"nodeSelector", {{"matchLabels", {{"node-role.kubernetes.io/worker", ""}}}}}}}});
    server_.Put(
        "nodes",
        {{"metadata",
          {{"name", "worker-0"}, {"uid", "uid-of-worker-0"}, {"labels", {{"node-role.kubernetes.io/worker", ""}}}}}});
  }

  // Looks again and again, as the controller does, until the condition holds.
  void RunUntil(const std::function<bool()>& is_so) {
    if (!reports_) Begin();
    event::Timer look(
        *loop_,
        [&] {
          clock_.now += std::chrono::seconds(1);
          if (cluster_->is_ready()) reports_->Look(cluster_->Look());
          if (is_so()) return loop_->Stop();
          look.After(std::chrono::milliseconds(2));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }
  void Begin() {
    client_ = ValueOf(kube::Client::Create(*loop_, server_.access()));
    cluster_ = std::make_unique<Cluster>(
        *client_, "namespace",
        Cluster::Listener{
            .changed = [] {}, .node_changed = [](const auto&, const auto&) {}, .trouble = [](auto, auto&) {}});
    events_ = std::make_unique<Announcer>(*client_, clock_, "namespace", "machineconfigoperator");
    reports_ = std::make_unique<OperatorReports>(
        *client_, clock_, *cluster_, *events_, Versions{.controller = "HASH", .operator_version = ""},
        OperatorReports::Listener{
            .changed = [] {}, .retry_at = [](MonotonicTime) {}, .trouble = [](const auto&, const auto&) {}});
  }

  // Returns a condition of the ClusterOperator as "True: reason: message".
  std::string Condition(const std::string& type) {
    const json::Value object = server_.Find("clusteroperators", "machine-config");
    for (const json::Value& condition : object["status"]["conditions"]) {
      if (condition.TextAt({"type"}) != type) continue;
      return condition.TextAt({"status"}) + ": " + condition.TextAt({"reason"}) + ": " + condition.TextAt({"message"});
    }
    return "";
  }

  SmallApiServer server_;
  ManualClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<kube::Client> client_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Announcer> events_;
  std::unique_ptr<OperatorReports> reports_;
};

TEST_F(OperatorReportsTest, CreatesTheClusterOperatorAndReportsInIt) {
  RunUntil([&] { return !Condition("Upgradeable").empty(); });
  EXPECT_EQ(Condition("Available"), "True: AsExpected: Cluster has deployed []");
  // Nobody has created the pool of the masters yet.
  EXPECT_EQ(Condition("Progressing"), "True: : Cluster is bootstrapping 4.21.0");
  EXPECT_EQ(Condition("Degraded"), "False: : ");
}

TEST_F(OperatorReportsTest, WritesTheSameReportOnce) {
  RunUntil([&] { return !Condition("Upgradeable").empty(); });
  const auto writes = [&] { return server_.CountOf("PATCH /apis/config.openshift.io"); };
  const std::size_t before = writes();
  const MonotonicTime begin = clock_.now;
  RunUntil([&] { return clock_.now > begin + std::chrono::seconds(20); });
  EXPECT_EQ(writes(), before);
}

TEST_F(OperatorReportsTest, SeldomRepeatsAnUnkeptReport) {
  const std::string write = "PATCH /apis/config.openshift.io/v1/clusteroperators/machine-config/status";
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with(write)) return std::nullopt;
    return kube::Answer{.body = json::ToText(server_.Find("clusteroperators", "machine-config"))};
  });
  RunUntil([&] { return server_.CountOf(write) > 0; });
  const MonotonicTime begin = clock_.now;
  RunUntil([&] { return clock_.now > begin + std::chrono::seconds(60); });
  EXPECT_GE(server_.CountOf(write), 3U);
  EXPECT_LE(server_.CountOf(write), kube::kMostInAMinute);
  server_.Refuse({});
  RunUntil([&] { return !Condition("Upgradeable").empty(); });
}

TEST_F(OperatorReportsTest, CreatesAMachineConfigNodeForEachNodeAndRemovesMachineConfigNodesWithoutANode) {
  server_.Put("machineconfignodes", {{"metadata", {{"name", "gone-0"}, {"uid", "uid-of-gone"}}}});
  RunUntil([&] {
    return !server_.Find("machineconfignodes", "worker-0").is_null() &&
           server_.Find("machineconfignodes", "gone-0").is_null();
  });
  const json::Value made = server_.Find("machineconfignodes", "worker-0");
  EXPECT_EQ(made.TextAt({"spec", "pool", "name"}), "worker");
  EXPECT_EQ(made["metadata"]["ownerReferences"][0].TextAt({"uid"}), "uid-of-worker-0");
}

TEST_F(OperatorReportsTest, AsksForTheNodeBeforeItRemovesAMachineConfigNode) {
  Begin();
  RunUntil([&] { return !server_.Find("machineconfignodes", "worker-0").is_null(); });
  // The watch of the nodes lags behind, and a node's agent has created this MachineConfigNode.
  server_.Silence(true);
  server_.Put("nodes", {{"metadata", {{"name", "worker-1"}, {"uid", "uid-of-worker-1"}}}});
  api::MachineConfigNode report;
  report.metadata.name = "worker-1";
  report.metadata.uid = "uid-of-report";
  View view = cluster_->Look();
  view.machine_config_nodes.push_back(&report);
  reports_->Look(view);
  RunUntil([&] { return server_.CountOf("GET /api/v1/nodes/worker-1") > 0; });
  const MonotonicTime begin = clock_.now;
  RunUntil([&] { return clock_.now > begin + std::chrono::seconds(20); });
  EXPECT_EQ(server_.CountOf("DELETE "), 0U);
}

TEST_F(OperatorReportsTest, GivesBuiltInPoolsTheirLabels) {
  server_.Put("machineconfigpools", {{"metadata", {{"name", "master"}}}});
  RunUntil([&] {
    return server_.Find("machineconfigpools", "master").Find({"metadata", "labels", kRequiredLabel}) != nullptr &&
           server_.Find("machineconfigpools", "worker")["metadata"]["labels"].size() == 3;
  });
  EXPECT_EQ(server_.Find("machineconfigpools", "worker").TextAt({"metadata", "labels", "mine"}), "stays");
}

TEST_F(OperatorReportsTest, WritesThePolicyIntoTheStatusOfTheMachineConfiguration) {
  const auto policies = [&] {
    const json::Value object = server_.Find("machineconfigurations", "cluster");
    const json::Value* const found = object.Find({"status", "nodeDisruptionPolicyStatus", "clusterPolicies", "files"});
    return found == nullptr ? std::size_t(0) : found->size();
  };
  RunUntil([&] { return policies() > 0; });
  EXPECT_EQ(server_.Find("machineconfigurations", "cluster").TextAt({"spec", "managementState"}), "Managed");
  EXPECT_EQ(policies(), 13U);
}

TEST_F(OperatorReportsTest, AWriteThatIsRefusedMakesTheOperatorDegraded) {
  server_.Refuse("POST " + kApi + "machineconfignodes",
                 SmallApiServer::Status(403, "Forbidden", "access is forbidden"));
  RunUntil([&] { return Condition("Degraded").starts_with("True"); });
  EXPECT_THAT(Condition("Degraded"), HasSubstr("MachineConfigNodeFailed"));
  EXPECT_THAT(Condition("Degraded"), HasSubstr("access is forbidden"));
  RunUntil([&] {
    const auto reasons = server_.EventReasons();
    return std::find(reasons.begin(), reasons.end(), "OperatorDegraded: MachineConfigNodeFailed") != reasons.end();
  });
  server_.Refuse([](const kube::ReceivedRequest&) { return std::nullopt; });
  RunUntil([&] { return Condition("Degraded").starts_with("False"); });
}

TEST_F(OperatorReportsTest, AFailureOfAnotherPartIsReportedUntilItIsOver) {
  Begin();
  reports_->SetFailuresOfOthers({{"RenderConfig", "no root CA"}});
  RunUntil([&] { return Condition("Degraded").starts_with("True: RenderConfigFailed"); });
  EXPECT_TRUE(reports_->failed_tasks().contains("RenderConfig"));
  reports_->SetFailuresOfOthers({});
  RunUntil([&] { return Condition("Degraded").starts_with("False"); });
  EXPECT_FALSE(reports_->failed_tasks().contains("RenderConfig"));
}

TEST_F(OperatorReportsTest, AClusterIsInstalledWhenTheMachinesOfAPoolHaveBeenUpdated) {
  Begin();
  RunUntil([&] { return reports_->IsInstalling(View()).has_value(); });
  EXPECT_EQ(reports_->IsInstalling(View()), true);
  api::MachineConfigPool pool;
  pool.status.configuration.name = "rendered-master-1";
  View view;
  view.pools = {&pool};
  EXPECT_EQ(reports_->IsInstalling(view), true) << "it has no machines yet";
  pool.status.machine_count = 1;
  EXPECT_EQ(reports_->IsInstalling(view), false);
}

TEST_F(OperatorReportsTest, AnInstalledClusterIsNotInstalledAgainWhenItsClusterOperatorIsDeleted) {
  json::Value known = {{"metadata", {{"name", "machine-config"}}}};
  known["status"]["versions"] = json::Value::array({{{"name", "operator"}, {"version", "4.21.0"}}});
  server_.Put("clusteroperators", known);
  Begin();
  RunUntil([&] { return reports_->IsInstalling(View()) == false; });
  server_.Remove("clusteroperators", "machine-config");
  RunUntil([&] { return server_.CountOf("POST /apis/config.openshift.io/v1/clusteroperators") > 0; });
  EXPECT_EQ(reports_->IsInstalling(View()), false);
}

TEST_F(OperatorReportsTest, WritesNothingInAClusterWithoutTheKind) {
  const std::string list = "GET /apis/config.openshift.io/v1/clusteroperators";
  server_.Refuse(list, SmallApiServer::Status(404, "NotFound", "the server could not find the requested resource"));
  RunUntil([&] { return cluster_->is_ready() && server_.CountOf(list) > 0; });
  const MonotonicTime begin = clock_.now;
  RunUntil([&] { return clock_.now > begin + std::chrono::seconds(50); });
  EXPECT_TRUE(server_.Find("machineconfignodes", "worker-0").is_null());
  EXPECT_EQ(server_.CountOf("POST ") + server_.CountOf("PATCH "), 0U);
}

}  // namespace
}  // namespace pintle::controller
