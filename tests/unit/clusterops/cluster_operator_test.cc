// SPDX-License-Identifier: Apache-2.0
#include "clusterops/cluster_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clusterops/related_objects.h"

namespace pintle::clusterops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr api::Time kFirst{WallTime(std::chrono::hours(1000))};
constexpr api::Time kLater{WallTime(std::chrono::hours(1001))};
constexpr const char* kOld = "[{operator 4.20.0} {operator-image quay.io/mco@sha256:0}]";
constexpr const char* kNew = "[{operator 4.21.0} {operator-image quay.io/mco@sha256:1}]";

class ClusterOperatorTest : public testing::Test {
 protected:
  ClusterOperatorTest() { pool_.metadata.name = "master"; }

  // Reports, and keeps the status as the API server does.
  OperatorReport Report() {
    const std::vector<const api::MachineConfigPool*> pools = {&pool_};
    OperatorReport report = ReportOf({.before = status_,
                                      .release = {"4.21.0", "quay.io/mco@sha256:1"},
                                      .pools = pools,
                                      .failure = failure_,
                                      .waiting = waiting_,
                                      .now = now_});
    status_ = report.status;
    return report;
  }
  void SetReportedVersions(const std::string& version, const std::string& image) {
    status_.versions = {{"operator", version}, {"operator-image", image}};
  }
  const api::Condition& Condition(std::string_view type) const {
    for (const api::Condition& condition : status_.conditions) {
      if (condition.type == type) return condition;
    }
    throw std::runtime_error("there is no such condition");
  }
  // Returns a condition as "True: reason: message".
  std::string Text(std::string_view type) const {
    const api::Condition& condition = Condition(type);
    return condition.status + ": " + condition.reason + ": " + condition.message;
  }
  static std::vector<std::string> Messages(const OperatorReport& report) {
    std::vector<std::string> messages;
    for (const OperatorEvent& event : report.events) messages.push_back(event.reason + ": " + event.message);
    return messages;
  }

  api::ClusterOperatorStatus status_;
  api::MachineConfigPool pool_;
  std::optional<TaskFailure> failure_;
  std::string waiting_;
  api::Time now_ = kFirst;
};

TEST_F(ClusterOperatorTest, IsAvailableAndUpgradeableWhenTheReleaseIsInstalled) {
  SetReportedVersions("4.21.0", "quay.io/mco@sha256:1");
  EXPECT_THAT(Report().events, IsEmpty());
  EXPECT_EQ(Text("Available"), std::string("True: AsExpected: Cluster has deployed ") + kNew);
  EXPECT_EQ(Text("Progressing"), "False: : Cluster version is 4.21.0");
  EXPECT_EQ(Text("Degraded"), "False: : ");
  EXPECT_EQ(Text("Upgradeable"), "True: AsExpected: ");
}

TEST_F(ClusterOperatorTest, BootstrapsUntilTheFirstReleaseIsInstalled) {
  waiting_ = "not yet";
  EXPECT_THAT(Messages(Report()), ElementsAre(std::string("OperatorVersionChanged: clusteroperator/machine-config is "
                                                          "bootstrapping to ") +
                                              kNew));
  EXPECT_EQ(Text("Progressing"), "True: : Cluster is bootstrapping 4.21.0");
  EXPECT_EQ(Text("Available"), "True: AsExpected: Cluster has deployed []");
  EXPECT_THAT(status_.versions, IsEmpty());
  EXPECT_THAT(Report().events, IsEmpty());
  waiting_.clear();
  EXPECT_THAT(Report().events, IsEmpty());
  EXPECT_EQ(VersionsText(status_.versions), kNew);
  EXPECT_EQ(Text("Progressing"), "False: : Cluster version is 4.21.0");
}

TEST_F(ClusterOperatorTest, WorksTowardsAReleaseAndThenHasItsVersions) {
  SetReportedVersions("4.20.0", "quay.io/mco@sha256:0");
  waiting_ = "not yet";
  EXPECT_THAT(Messages(Report()), ElementsAre(std::string("OperatorVersionChanged: clusteroperator/machine-config "
                                                          "started a version change from ") +
                                              kOld + " to " + kNew));
  EXPECT_EQ(Text("Progressing"), "True: : Working towards 4.21.0");
  EXPECT_EQ(Text("Available"), std::string("True: AsExpected: Cluster has deployed ") + kOld);
  EXPECT_EQ(VersionsText(status_.versions), kOld);
  EXPECT_THAT(Report().events, IsEmpty());
  waiting_.clear();
  EXPECT_THAT(Messages(Report()), ElementsAre(std::string("OperatorVersionChanged: clusteroperator/machine-config "
                                                          "version changed from ") +
                                              kOld + " to " + kNew));
  EXPECT_EQ(VersionsText(status_.versions), kNew);
  EXPECT_EQ(Text("Progressing"), "False: : Cluster version is 4.21.0");
}

TEST_F(ClusterOperatorTest, AReleaseThatIsCompleteAtTheFirstLookHasBegunAsWell) {
  EXPECT_THAT(Messages(Report()), ElementsAre(HasSubstr(std::string("bootstrapping to ") + kNew)));
  SetReportedVersions("4.20.0", "quay.io/mco@sha256:0");
  EXPECT_THAT(Messages(Report()),
              ElementsAre(HasSubstr("started a version change"), HasSubstr("version changed from")));
  EXPECT_THAT(Report().events, IsEmpty());
}

TEST_F(ClusterOperatorTest, ARolloutOfTheSameReleaseDoesNotProgress) {
  SetReportedVersions("4.21.0", "quay.io/mco@sha256:1");
  waiting_ = "not yet";
  EXPECT_THAT(Report().events, IsEmpty());
  EXPECT_EQ(Text("Progressing"), "False: : Cluster version is 4.21.0");
  EXPECT_EQ(status_.extension.TextAt({"lastSyncError"}), "not yet");
}

TEST_F(ClusterOperatorTest, AFailureKeepsTheOldVersionsAndIsAnEventOnce) {
  SetReportedVersions("4.20.0", "quay.io/mco@sha256:0");
  waiting_ = "not yet";
  Report();
  failure_ = {.task = "RequiredPools", .why = "master is paused"};
  EXPECT_THAT(Messages(Report()),
              ElementsAre("OperatorDegraded: RequiredPoolsFailed: Unable to apply 4.21.0: master is paused"));
  EXPECT_EQ(Text("Degraded"), "True: RequiredPoolsFailed: Unable to apply 4.21.0: master is paused");
  EXPECT_EQ(Text("Progressing"), "True: : Unable to apply 4.21.0");
  EXPECT_EQ(VersionsText(status_.versions), kOld);
  EXPECT_EQ(status_.extension.TextAt({"lastSyncError"}), "master is paused");
  EXPECT_THAT(Report().events, IsEmpty());
  failure_->why = "worse";
  EXPECT_EQ(Report().events.size(), 1U);
}

TEST_F(ClusterOperatorTest, TheBeginningOfAReleaseIsAnEventOnceEvenIfItFailsFromTheBeginning) {
  SetReportedVersions("4.20.0", "quay.io/mco@sha256:0");
  failure_ = {.task = "RenderConfig", .why = "no root CA"};
  EXPECT_THAT(Messages(Report()),
              ElementsAre(std::string("OperatorVersionChanged: clusteroperator/machine-config started a version change "
                                      "from ") +
                              kOld + " to " + kNew,
                          "OperatorDegraded: RenderConfigFailed: Unable to apply 4.21.0: no root CA"));
  EXPECT_THAT(Report().events, IsEmpty());
  failure_.reset();
  waiting_ = "not yet";
  EXPECT_THAT(Report().events, IsEmpty());
  EXPECT_EQ(Text("Progressing"), "True: : Working towards 4.21.0");
}

TEST_F(ClusterOperatorTest, AFailureOfAnInstalledReleaseIsReportedAsAFailedResync) {
  SetReportedVersions("4.21.0", "quay.io/mco@sha256:1");
  failure_ = {.task = "RenderConfig", .why = "no root CA"};
  Report();
  EXPECT_EQ(Text("Degraded"), "True: RenderConfigFailed: Failed to resync 4.21.0 because: no root CA");
  EXPECT_EQ(Text("Progressing"), "False: : Error while reconciling 4.21.0");
  failure_.reset();
  Report();
  EXPECT_EQ(Text("Degraded"), "False: : ");
  EXPECT_EQ(status_.extension.Find("lastSyncError"), nullptr);
}

TEST_F(ClusterOperatorTest, DegradedPoolsAndInterruptedBuildsPreventUpgrades) {
  SetReportedVersions("4.21.0", "quay.io/mco@sha256:1");
  pool_.status.conditions = {
      {.type = "BuildInterrupted", .status = "True", .last_transition_time = {}, .reason = "", .message = ""}};
  Report();
  EXPECT_EQ(Text("Upgradeable"),
            "False: InterruptedBuild: One or more machine config pools' builds have been interrupted, please see `oc "
            "get mcp` for further details and resolve before upgrading");
  pool_.status.conditions.push_back(
      {.type = "Degraded", .status = "True", .last_transition_time = {}, .reason = "", .message = ""});
  Report();
  EXPECT_EQ(Text("Upgradeable"),
            "False: DegradedPool: One or more machine config pools are degraded, please see `oc get mcp` for further "
            "details and resolve before upgrading");
}

TEST_F(ClusterOperatorTest, APausedPoolDoesNotPreventUpgrades) {
  pool_.spec.paused = true;
  Report();
  EXPECT_EQ(Text("Upgradeable"), "True: AsExpected: ");
}

TEST_F(ClusterOperatorTest, TransitionTimesAreKeptWhileAStatusStays) {
  SetReportedVersions("4.21.0", "quay.io/mco@sha256:1");
  Report();
  now_ = kLater;
  failure_ = {.task = "RenderConfig", .why = "no"};
  Report();
  EXPECT_EQ(Condition("Degraded").last_transition_time, kLater);
  // The message of Progressing has changed, but not its status.
  EXPECT_EQ(Condition("Progressing").last_transition_time, kFirst);
  EXPECT_EQ(Condition("Available").last_transition_time, kFirst);
}

TEST_F(ClusterOperatorTest, NothingChangesInASecondReport) {
  SetReportedVersions("4.20.0", "quay.io/mco@sha256:0");
  Report();
  const api::ClusterOperatorStatus before = status_;
  now_ = kLater;
  Report();
  EXPECT_TRUE(json::Equal(before, status_));
}

TEST_F(ClusterOperatorTest, ConditionsOfOtherProgramsStay) {
  status_.conditions = {
      {.type = "Theirs", .status = "True", .last_transition_time = kFirst, .reason = "a", .message = "b"}};
  Report();
  EXPECT_EQ(Text("Theirs"), "True: a: b");
  EXPECT_EQ(status_.conditions.size(), 5U);
}

TEST_F(ClusterOperatorTest, TheExtensionHasTheStateOfEachPool) {
  Report();
  EXPECT_EQ(status_.extension.TextAt({"master"}), "<unknown>");
}

TEST_F(ClusterOperatorTest, AnImageThatIsNotKnownStays) {
  SetReportedVersions("4.20.0", "quay.io/mco@sha256:0");
  const OperatorReport report = ReportOf({.before = status_, .release = {"4.20.0"}, .pools = {}});
  EXPECT_EQ(VersionsText(report.status.versions), kOld);
  EXPECT_THAT(report.events, IsEmpty());
}

TEST_F(ClusterOperatorTest, VersionsInAnotherOrderOrOfSomebodyElseAreNoUpgrade) {
  status_.versions = {{"operator-image", "quay.io/mco@sha256:1"}, {"operator", "4.21.0"}, {"other", "1"}};
  EXPECT_THAT(Report().events, IsEmpty());
  EXPECT_EQ(Text("Progressing"), "False: : Cluster version is 4.21.0");
  EXPECT_EQ(VersionsText(status_.versions), kNew);
}

TEST(RelatedObjects, BeginWithTheNamespace) {
  const auto objects = RelatedObjects();
  ASSERT_EQ(objects.size(), 30U);
  EXPECT_EQ(objects[0].resource, "namespaces");
  EXPECT_EQ(objects[0].name, "openshift-machine-config-operator");
}

TEST(FirstFailure, IsTheTaskThatIsDoneFirst) {
  const std::vector<TaskFailure> failures = {{"RequiredPools", "a"}, {"RenderConfig", "b"}, {"MachineConfigNode", "c"}};
  EXPECT_EQ(FirstFailure(failures)->why, "b");
  EXPECT_EQ(FirstFailure({}), nullptr);
}

}  // namespace
}  // namespace pintle::clusterops
