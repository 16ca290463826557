// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster.h"

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "event/loop.h"
#include "support/expect.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

class ClusterTest : public testing::Test {
 protected:
  ClusterTest() { ::setenv("no_proxy", "*", 1); }

  void PutScheduler(const std::string& spec) {
    server_.Put("schedulers", ValueOf(json::Parse(R"({"apiVersion": "config.openshift.io/v1", "kind": "Scheduler",
        "metadata": {"name": "cluster"}, "spec": )" +
                                                  spec + "}")));
  }

  // Reads the whole cluster.
  void Read() {
    cluster_.emplace(client_, "namespace",
                     Cluster::Listener{.changed =
                                           [this] {
                                             if (cluster_ && is_enough_()) loop_->Stop();
                                           },
                                       .node_changed = [](const api::Node&, const api::Node&) {},
                                       .trouble = [](std::string_view, const Error&) {}});
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }
  // Waits until the condition holds.
  void Await(std::function<bool()> is_enough) {
    is_enough_ = std::move(is_enough);
    if (is_enough_()) return;
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }
  std::optional<pool::MasterScheduling> Scheduling() const { return cluster_->Look().master_scheduling; }

  SmallApiServer server_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  kube::Client client_ = ValueOf(kube::Client::Create(*loop_, server_.access()));
  std::optional<Cluster> cluster_;
  std::function<bool()> is_enough_ = [this] { return cluster_->is_ready(); };
};

TEST_F(ClusterTest, KeepsPodsOffMastersWithoutAScheduler) {
  Read();
  EXPECT_EQ(Scheduling(), pool::MasterScheduling::kControlPlaneOnly);
}

TEST_F(ClusterTest, IsNotOpenShiftIfTheApiServerLacksTheKindScheduler) {
  Read();
  EXPECT_TRUE(cluster_->Look().is_openshift);
  EXPECT_TRUE(cluster_->KnowsWhetherOpenShift());
  server_.Refuse("GET /apis/config.openshift.io/v1/schedulers",
                 SmallApiServer::Status(404, "NotFound", "the server could not find the requested resource"));
  Read();
  EXPECT_FALSE(cluster_->Look().is_openshift);
  EXPECT_TRUE(cluster_->KnowsWhetherOpenShift());
}

TEST_F(ClusterTest, ExpectsTheKindsThatAnAdministratorMayInstall) {
  Read();
  EXPECT_EQ(cluster_->rollout_policies().need(), Need::kIfInstalled);
  EXPECT_EQ(cluster_->machine_configurations().need(), Need::kIfInstalled);
  EXPECT_EQ(cluster_->machine_config_nodes().need(), Need::kIfInstalled);
}

TEST_F(ClusterTest, CountsAsOpenShiftIfTheSchedulerMustNotBeRead) {
  server_.Refuse("GET /apis/config.openshift.io/v1/schedulers",
                 SmallApiServer::Status(403, "Forbidden", "access is forbidden"));
  is_enough_ = [this] { return cluster_->KnowsWhetherOpenShift(); };
  Read();
  EXPECT_TRUE(cluster_->Look().is_openshift);
}

TEST_F(ClusterTest, TellsApartTheSettingsThatCannotBeRead) {
  server_.Put("machineconfigurations",
              {{"metadata", {{"name", "cluster"}}}, {"spec", {{"nodeDisruptionPolicy", "none"}, {"x", 1}}}});
  Read();
  EXPECT_THAT(cluster_->Look().unreadable_settings, testing::HasSubstr("nodeDisruptionPolicy"));
  EXPECT_EQ(cluster_->Look().unreadable_os_image_stream, "");
  server_.Put("osimagestreams", {{"metadata", {{"name", "cluster"}}}, {"status", "none"}});
  Read();
  EXPECT_THAT(cluster_->Look().unreadable_os_image_stream, testing::HasSubstr("$.status"));
  EXPECT_EQ(cluster_->Look().unreadable_controller_config, "");
  server_.Put("controllerconfigs", {{"metadata", {{"name", "machine-config-controller"}}}, {"spec", "none"}});
  Read();
  EXPECT_THAT(cluster_->Look().unreadable_controller_config, testing::HasSubstr("$.spec"));
  for (const char* part : {"nodeDisruptionPolicy", "$.status", "$.spec"}) {
    EXPECT_THAT(cluster_->Look().unreadable_settings, testing::HasSubstr(part));
  }
}

TEST_F(ClusterTest, LetsPodsRunOnMastersIfTheSchedulerAllowsIt) {
  PutScheduler(R"({"mastersSchedulable": true})");
  Read();
  EXPECT_EQ(Scheduling(), pool::MasterScheduling::kEveryPod);
}

TEST_F(ClusterTest, LeavesMastersAloneUntilTheSchedulerCanBeRead) {
  PutScheduler(R"({"mastersSchedulable": "yes"})");
  Read();
  EXPECT_EQ(Scheduling(), std::nullopt);
  PutScheduler(R"({"mastersSchedulable": true})");
  Await([this] { return Scheduling() == pool::MasterScheduling::kEveryPod; });
  // From now on, there is a last readable state.
  PutScheduler(R"({"mastersSchedulable": "no"})");
  PutScheduler(R"({"mastersSchedulable": false})");
  Await([this] { return Scheduling() != pool::MasterScheduling::kEveryPod; });
  EXPECT_EQ(Scheduling(), pool::MasterScheduling::kControlPlaneOnly);
}

}  // namespace
}  // namespace pintle::controller
