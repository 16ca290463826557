// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster_operator_pass.h"

#include <gmock/gmock.h>

#include "clusterops/pool_labels.h"
#include "json/fields.h"
#include "support/expect.h"
#include "support/world.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kRenderedMaster = "rendered-master-1";
constexpr WallTime kMoment{std::chrono::hours(1000)};

// A cluster whose masters have the configs of the release 4.21.0.
class ClusterOperatorPassTest : public testing::Test {
 protected:
  ClusterOperatorPassTest() {
    world_.controller_config.metadata.annotations.emplace(api::kReleaseImageVersionAnnotation, "4.21.0");
    world_.controller_config.spec.base_os_container_image = "registry/os@sha256:1";
    world_.controller_config.spec.images.emplace("machineConfigOperator", "registry/mco@sha256:1");
    api::MachineConfigPool& pool = world_.AddPool("master", kRenderedMaster);
    pool.metadata.labels = clusterops::BuiltInLabels("master");
    pool.status.configuration.name = kRenderedMaster;
    pool.status.configuration.source.emplace_back().name = "00-master";
    pool.status.conditions = {
        {.type = "Updated", .status = "True", .last_transition_time = api::Time{kMoment}, .reason = "", .message = ""}};
    api::MachineConfig& rendered = world_.configs[kRenderedMaster];
    rendered.metadata.name = kRenderedMaster;
    rendered.metadata.annotations = {{std::string(api::kGeneratedByControllerVersionAnnotation), "HASH"},
                                     {std::string(api::kReleaseImageVersionAnnotation), "4.21.0"}};
    rendered.spec.os_image_url = "registry/os@sha256:1";
    world_.configs["00-master"].metadata.name = "00-master";
    known_.metadata.resource_version = "7";
  }

  ClusterOperatorChange Pass(std::optional<WallTime> waiting_since = {}) const {
    const View view = world_.Look();
    return ClusterOperatorPass({.view = view,
                                .known = known_,
                                .versions = {.controller = "HASH", .operator_version = ""},
                                .waiting_since = waiting_since,
                                .now = kMoment});
  }
  // Returns a condition of the patch as "True: reason: message".
  static std::string TextOf(const ClusterOperatorChange& change, const std::string& type) {
    if (!change.patch) return "no patch";
    for (const json::Value& condition : change.patch->at("status").at("conditions")) {
      if (condition.TextAt({"type"}) != type) continue;
      return condition.TextAt({"status"}) + ": " + condition.TextAt({"reason"}) + ": " + condition.TextAt({"message"});
    }
    return "no condition";
  }

  World world_;
  api::ClusterOperator known_;
};

TEST_F(ClusterOperatorPassTest, ReportsTheReleaseOfTheControllerConfigWhenTheRequiredPoolsHaveIt) {
  const ClusterOperatorChange change = Pass();
  EXPECT_EQ(TextOf(change, "Progressing"), "False: : Cluster version is 4.21.0");
  EXPECT_EQ(TextOf(change, "Available"),
            "True: AsExpected: Cluster has deployed [{operator 4.21.0} {operator-image registry/mco@sha256:1}]");
  EXPECT_EQ(change.patch->TextAt({"metadata", "resourceVersion"}), "7");
  EXPECT_FALSE(change.waiting_since);
}

TEST_F(ClusterOperatorPassTest, WaitsForPoolsOfAnotherReleaseAndLooksAgainWhenItBecomesAFailure) {
  world_.controller_config.metadata.annotations[std::string(api::kReleaseImageVersionAnnotation)] = "4.22.0";
  known_.status.versions = {{"operator", "4.21.0"}};
  const ClusterOperatorChange change = Pass();
  EXPECT_EQ(TextOf(change, "Progressing"), "True: : Working towards 4.22.0");
  EXPECT_EQ(change.waiting_since, kMoment);
  EXPECT_EQ(change.again_at, kMoment + std::chrono::minutes(10));
  const ClusterOperatorChange later = Pass(kMoment - std::chrono::minutes(10));
  EXPECT_THAT(TextOf(later, "Degraded"), HasSubstr("True: RequiredPoolsFailed: Unable to apply 4.22.0: during "));
}

TEST_F(ClusterOperatorPassTest, WaitsForARequiredPoolThatIsToBeCreated) {
  world_.pools.clear();
  const ClusterOperatorChange change = Pass();
  EXPECT_EQ(TextOf(change, "Progressing"), "True: : Cluster is bootstrapping 4.21.0");
  EXPECT_EQ(change.patch->TextAt({"status", "extension", "lastSyncError"}),
            "required MachineConfigPool master does not exist yet");
}

TEST_F(ClusterOperatorPassTest, ChecksTheImageOfTheRelease) {
  world_.controller_config.spec.base_os_container_image = "registry/os@sha256:2";
  EXPECT_THAT(Pass().patch->TextAt({"status", "extension", "lastSyncError"}),
              HasSubstr("osImageURL mismatch for master in rendered-master-1 expected: registry/os@sha256:2"));
}

TEST_F(ClusterOperatorPassTest, WritesNothingWhenNothingChangesOrNoReleaseIsKnown) {
  json::Report report;
  known_.status = json::Decode<api::ClusterOperatorStatus>(Pass().patch->at("status"), report);
  EXPECT_FALSE(Pass().patch);
  known_.status = {};
  world_.controller_config.metadata.annotations.clear();
  EXPECT_FALSE(Pass().patch);
}

TEST_F(ClusterOperatorPassTest, RemovesTheReportAboutAPoolThatIsGone) {
  known_.status.extension = {{"infra", "all 0 nodes are at latest configuration x"}, {"lastSyncError", "old"}};
  const json::Value extension = Pass().patch->at("status").at("extension");
  ASSERT_TRUE(extension.contains("infra"));
  EXPECT_TRUE(extension.at("infra").is_null());
  EXPECT_TRUE(extension.at("lastSyncError").is_null());
  EXPECT_FALSE(extension.at("master").is_null());
}

TEST_F(ClusterOperatorPassTest, NamesTheFirstOfAllFailures) {
  const View view = world_.Look();
  const ClusterOperatorChange change = ClusterOperatorPass(
      {.view = view,
       .known = known_,
       .versions = {.controller = "HASH", .operator_version = ""},
       .failures = {{.task = "MachineConfigNode", .why = "no"}, {.task = "RenderConfig", .why = "no root CA"}},
       .now = kMoment});
  EXPECT_EQ(TextOf(change, "Degraded"), "True: RenderConfigFailed: Unable to apply 4.21.0: no root CA");
  EXPECT_THAT(change.failed_tasks, ElementsAre("MachineConfigNode", "RenderConfig"));
}

TEST_F(ClusterOperatorPassTest, ATaskFailsUntilItsFailureIsOver) {
  EXPECT_THAT(Pass().failed_tasks, IsEmpty());
  world_.pools["master"].spec.paused = true;
  EXPECT_THAT(Pass().failed_tasks, IsEmpty());
  world_.pools["master"].status.conditions[0].status = "False";
  EXPECT_THAT(Pass().failed_tasks, ElementsAre("RequiredPools"));
  world_.pools["master"].spec.paused = false;
  EXPECT_THAT(Pass().failed_tasks, IsEmpty());
}

TEST_F(ClusterOperatorPassTest, TasksFailEvenIfNoReleaseIsKnown) {
  View view = world_.Look();
  view.controller_config = nullptr;
  const ClusterOperatorChange change = ClusterOperatorPass({.view = view, .known = known_, .now = kMoment});
  EXPECT_FALSE(change.patch);
  EXPECT_THAT(change.failed_tasks, ElementsAre("RenderConfig"));
}

TEST_F(ClusterOperatorPassTest, TemplatesThatFailAreAFailureOfTheController) {
  world_.controller_config.status.conditions = {{.type = "TemplateControllerFailing",
                                                 .status = "True",
                                                 .last_transition_time = {},
                                                 .reason = "",
                                                 .message = "no pull secret"}};
  EXPECT_EQ(TextOf(Pass(), "Degraded"),
            "True: MachineConfigControllerFailed: Unable to apply 4.21.0: ControllerConfig has not completed: "
            "completed(false) running(false) failing(true): no pull secret");
}

TEST_F(ClusterOperatorPassTest, ReportsAFailureBeforeThereIsAControllerConfig) {
  View view = world_.Look();
  view.controller_config = nullptr;
  const auto degraded_with = [&](const std::string& images_release, std::vector<clusterops::TaskFailure> failures) {
    return TextOf(ClusterOperatorPass({.view = view,
                                       .known = known_,
                                       .release_of_images = images_release,
                                       .failures = std::move(failures),
                                       .now = kMoment}),
                  "Degraded");
  };
  EXPECT_EQ(degraded_with("4.21.0", {}), "no patch") << "it may be made in a moment";
  EXPECT_EQ(degraded_with("4.21.0", {{.task = "RenderConfig", .why = "there is no DNS named cluster"}}),
            "True: RenderConfigFailed: Unable to apply 4.21.0: there is no DNS named cluster");
  EXPECT_EQ(degraded_with("", {{.task = "RenderConfig", .why = "there is no images.json"}}),
            "True: RenderConfigFailed: Unable to apply an unknown release: there is no images.json");
}

TEST_F(ClusterOperatorPassTest, WithoutAControllerConfigTheKnownReleaseCannotBeReconciled) {
  known_.status.versions = {{"operator", "4.21.0"}};
  View view = world_.Look();
  view.controller_config = nullptr;
  const ClusterOperatorChange change = ClusterOperatorPass({.view = view, .known = known_, .now = kMoment});
  EXPECT_EQ(TextOf(change, "Degraded"),
            "True: RenderConfigFailed: Failed to resync 4.21.0 because: there is no ControllerConfig "
            "machine-config-controller");
}

}  // namespace
}  // namespace pintle::controller
