// SPDX-License-Identifier: Apache-2.0
#include "agent/node_conditions.h"

#include <fmt/core.h>

#include "api/annotations.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

constexpr api::Time kBefore = {WallTime(std::chrono::seconds(1'800'000'000))};
constexpr api::Time kNow = {WallTime(std::chrono::seconds(1'800'000'060))};

const NodeFacts kNode = {
    .name = "a", .uid = "uid-1", .pool = "worker", .current_config = "rendered-1", .desired_config = "rendered-2"};

std::string Text(const api::Condition& condition) {
  return fmt::format("{}={} {}: {}", condition.type, condition.status, condition.reason, condition.message);
}

std::vector<std::string> Texts(const ProgressReport& progress) {
  std::vector<std::string> texts = {Text(progress.parent)};
  if (progress.child) texts.push_back(Text(*progress.child));
  return texts;
}

std::vector<std::string> Texts(const api::MachineConfigNodeStatus& status) {
  std::vector<std::string> texts;
  for (const api::Condition& condition : status.conditions) texts.push_back(Text(condition));
  return texts;
}

api::Condition ReportedCondition(const ProgressReport& progress) {
  api::Condition condition = progress.parent;
  condition.last_transition_time = kBefore;
  return condition;
}

plan::Action Action(std::string_view type, const std::string& service = {}) {
  plan::Action action;
  action.what.type = type;
  if (!service.empty()) action.what.reload = api::ServiceReference{service};
  return action;
}

// Returns a MachineConfigNode that the operator has created and that has the conditions of these moments.
api::MachineConfigNode NodeAfter(const std::vector<ProgressReport>& progress_reports = {}) {
  api::MachineConfigNode known;
  known.metadata.name = "a";
  known.metadata.generation = 3;
  known.spec = {{"a"}, {"infra"}, {"", "rendered-2"}, {}};
  for (const ProgressReport& progress : progress_reports)
    known.status.conditions.push_back(ReportedCondition(progress));
  return known;
}

api::MachineConfigNodeStatus StatusAfter(const api::MachineConfigNode& known, const ProgressReport& progress) {
  return NextStatus(known, progress, kNode, kNow).value();
}

const api::Condition& ConditionOfType(const api::MachineConfigNodeStatus& status, std::string_view type) {
  for (const api::Condition& condition : status.conditions) {
    if (condition.type == type) return condition;
  }
  throw std::runtime_error("there is no " + std::string(type));
}

// ---- the conditions of each moment ----------------------------------------------------------------------------------

TEST(Moments, ReportWhetherTheNodeIsUpdated) {
  EXPECT_THAT(Texts(progress::NeedsUpdate("a")), ElementsAre("Updated=False Updated: Node a needs an update"));
  EXPECT_THAT(Texts(progress::Updated("a")), ElementsAre("Updated=True Updated: Node a Updated"));
}

TEST(Moments, ReportThatAnUpdateIsPreparedAndItsActions) {
  EXPECT_THAT(Texts(progress::Prepared({Action("Reboot")}, true)),
              ElementsAre("UpdatePrepared=True UpdatePrepared: Update Compatible. Post Cfg Actions: [Reboot] Drain "
                          "Required: true"));
  EXPECT_THAT(Texts(progress::Prepared({Action("Reload", "crio.service"), Action("DaemonReload")}, false)),
              ElementsAre("UpdatePrepared=True UpdatePrepared: Update Compatible. Post Cfg Actions: [Reload "
                          "crio.service, DaemonReload] Drain Required: false"));
  EXPECT_TRUE(progress::Prepared({}, false).writes_spec);
}

TEST(Moments, ReportThatTheConfigsAreNotReconcilable) {
  EXPECT_THAT(Texts(progress::NotCompatible("rendered-1", "rendered-2", "fips")),
              ElementsAre("UpdatePrepared=Unknown UpdatePrepared: Update Failed compatibility validation. "
                          "MachineConfigs rendered-1 and rendered-2 are not compatible. Err: fips"));
}

TEST(Moments, ReportThatNoDrainIsNeeded) {
  EXPECT_THAT(Texts(progress::DrainNotRequired()),
              ElementsAre("UpdateExecuted=Unknown Drained: Node Drain Not required for this update.",
                          "Drained=False UpdateExecutedDrained: Node Drain Not required for this update."));
}

TEST(Moments, ReportTheAppliedParts) {
  plan::Difference files;
  files.files = true;
  EXPECT_THAT(
      Texts(progress::Applying(files)[0]),
      ElementsAre("UpdateExecuted=Unknown AppliedFilesAndOS: Updating the Files and OS on disk as a part of the in "
                  "progress phase",
                  "AppliedFilesAndOS=Unknown UpdateExecutedAppliedFilesAndOS: Applying files and new OS config to "
                  "node. OS will not need an update. SSH Keys will not need an update"));
  plan::Difference os_and_keys;
  os_and_keys.extensions = os_and_keys.passwd = true;
  EXPECT_THAT(Texts(progress::Applied(os_and_keys)[0]),
              ElementsAre("UpdateExecuted=True AppliedFilesAndOS: Updated the Files and OS on disk as a part of the "
                          "in progress phase",
                          "AppliedFilesAndOS=True UpdateExecutedAppliedFilesAndOS: Applied files and new OS config to "
                          "node. OS did  need an update. SSH Keys did  need an update"));
}

TEST(Moments, ReportTheAppliedPartsInOtherConditionsInImageMode) {
  plan::Difference difference;
  difference.files = true;
  ASSERT_THAT(progress::Applying(difference), SizeIs(2));
  EXPECT_THAT(Texts(progress::Applying(difference)[1]),
              Contains("AppliedFiles=Unknown UpdateExecutedAppliedFiles: Applying files to node."));
  difference.files = false;
  difference.os_image = true;
  ASSERT_THAT(progress::Applied(difference), SizeIs(2));
  EXPECT_THAT(Texts(progress::Applied(difference)[1]),
              Contains("AppliedOSImage=True UpdateExecutedAppliedOSImage: Applied new OS config to node."));
}

TEST(Moments, ReportTheActions) {
  EXPECT_THAT(Texts(progress::RebootNeeded()),
              ElementsAre("RebootedNode=Unknown RebootedNode: Upgrade requires a reboot."));
  EXPECT_THAT(Texts(progress::Done(Action("None")).value()),
              ElementsAre("UpdatePostActionComplete=True None: Changes do not require a reboot"));
  EXPECT_THAT(Texts(progress::Done(Action("Reload", "crio.service")).value()),
              ElementsAre("UpdatePostActionComplete=True UpdatePostActionComplete: Node has reloaded service "
                          "crio.service"));
  EXPECT_THAT(Texts(progress::Done(Action("Special")).value()),
              ElementsAre("UpdatePostActionComplete=True UpdatePostActionComplete: Node has reloaded service crio"));
  EXPECT_THAT(
      Texts(progress::Done(Action("DaemonReload")).value()),
      ElementsAre("UpdatePostActionComplete=True UpdatePostActionComplete: Node has reloaded service daemon-reload"));
  EXPECT_FALSE(progress::Done(Action("Restart", "crio.service")));
  EXPECT_FALSE(progress::Done(Action("Drain")));
}

TEST(Moments, ReportThatTheUpdateResumes) {
  EXPECT_THAT(Texts(progress::Rebooted()), ElementsAre("RebootedNode=True RebootedNode: Node has rebooted"));
  EXPECT_THAT(Texts(progress::Resuming("rendered-2")),
              ElementsAre("Resumed=True Resumed: In desired config rendered-2. Resumed normal operations. Applying "
                          "proper annotations."));
  EXPECT_THAT(Texts(progress::Resumed("rendered-2")),
              ElementsAre("Resumed=True Resumed: In desired config rendered-2. Resumed normal operations."));
}

TEST(Moments, ReportWhetherTheNodeIsDegraded) {
  EXPECT_THAT(Texts(progress::NotDegraded("a")),
              ElementsAre("NodeDegraded=False NodeDegraded: Node a upgrade succeeded"));
  EXPECT_THAT(Texts(progress::Degraded("a", "disk full")),
              ElementsAre("NodeDegraded=True NodeDegraded: Node a upgrade failure. disk full"));
  EXPECT_THAT(progress::Degraded("a", std::string(100'000, 'x')).parent.message, SizeIs(32768));
}

// ---- the next status ------------------------------------------------------------------------------------------------

TEST(NextStatus, HasAllConditionsFromTheBeginning) {
  const auto status = StatusAfter(NodeAfter(), progress::NeedsUpdate("a"));
  EXPECT_THAT(status.conditions, SizeIs(14));
  EXPECT_THAT(Texts(status), Contains("Updated=False Updated: Node a needs an update"));
  for (const auto* type : {"UpdatePrepared", "UpdateExecuted", "UpdatePostActionComplete", "UpdateComplete", "Resumed",
                           "Drained", "AppliedFilesAndOS", "Cordoned", "RebootedNode", "Uncordoned", "NodeDegraded",
                           "PinnedImageSetsDegraded", "PinnedImageSetsProgressing"}) {
    EXPECT_EQ(Text(ConditionOfType(status, type)),
              fmt::format("{0}=False NotYetOccurred: This node has not yet entered the {0} phase", type));
  }
  for (const api::Condition& condition : status.conditions) EXPECT_EQ(condition.last_transition_time, kNow);
}

TEST(NextStatus, ChangesOnlyParentAndChild) {
  auto status =
      StatusAfter(NodeAfter({progress::RebootNeeded(), progress::DrainNotRequired()}), progress::DrainNotRequired());
  EXPECT_EQ(ConditionOfType(status, "UpdateExecuted").last_transition_time, kNow);
  EXPECT_EQ(ConditionOfType(status, "Drained").last_transition_time, kNow);
  EXPECT_EQ(ConditionOfType(status, "RebootedNode").last_transition_time, kBefore);
  EXPECT_THAT(status.conditions, SizeIs(3));
}

TEST(NextStatus, IsNulloptIfTheStatusAlreadyHasTheMoment) {
  EXPECT_FALSE(NextStatus(NodeAfter({progress::Updated("a")}), progress::Updated("a"), kNode, kNow));
}

TEST(NextStatus, WritesAChildThatChangesBelowAnUnchangedParent) {
  plan::Difference files;
  files.files = true;
  plan::Difference keys = files;
  keys.passwd = true;
  auto known = NodeAfter();
  known.status = StatusAfter(known, progress::Applying(files)[0]);
  EXPECT_FALSE(NextStatus(known, progress::Applying(files)[0], kNode, kNow));
  EXPECT_THAT(ConditionOfType(StatusAfter(known, progress::Applying(keys)[0]), "AppliedFilesAndOS").message,
              testing::EndsWith("SSH Keys will  need an update"));
}

TEST(NextStatus, EndsAllOtherConditionsWithUpdatedOrNeedsUpdate) {
  for (const ProgressReport& progress : {progress::NeedsUpdate("a"), progress::Updated("a")}) {
    const auto status =
        StatusAfter(NodeAfter({progress::Rebooted(), progress::RebootNeeded(), progress::NotDegraded("a")}), progress);
    EXPECT_EQ(Text(status.conditions[0]),
              "RebootedNode=False RebootedNode: Action during update to rendered-2: Node has rebooted");
    EXPECT_EQ(Text(status.conditions[2]), "NodeDegraded=False NodeDegraded: Node a upgrade succeeded");
    EXPECT_EQ(status.conditions[0].last_transition_time, kNow);
    EXPECT_EQ(status.conditions[2].last_transition_time, kBefore);
  }
}

TEST(NextStatus, NamesTheImageOfTheUpdateThatIsOver) {
  auto known = NodeAfter({progress::Rebooted()});
  known.spec.config_image.desired_image = "os@new";
  EXPECT_EQ(StatusAfter(known, progress::NeedsUpdate("a")).conditions[0].message,
            "Action during update to os@new: Node has rebooted");
  known.spec.config_image.desired_image.clear();
  known.status.config_image = {"os@old", ""};
  EXPECT_EQ(StatusAfter(known, progress::NeedsUpdate("a")).conditions[0].message,
            "Action during update to disable image mode: Node has rebooted");
}

TEST(NextStatus, RepeatsTheCurrentAndTheDesiredConfig) {
  auto status = StatusAfter(NodeAfter(), progress::Rebooted());
  EXPECT_EQ(status.config_version->current, "rendered-1");
  EXPECT_EQ(status.config_version->desired, "rendered-2");
  EXPECT_EQ(status.observed_generation, 4);
  EXPECT_FALSE(status.config_image);
  EXPECT_EQ(StatusAfter(NodeAfter(), progress::Prepared({}, false)).config_version->desired, "rendered-2");
  EXPECT_EQ(StatusAfter(NodeAfter(), progress::NotCompatible("x", "y", "z")).config_version->desired, "not-yet-set");
  status = NextStatus(NodeAfter(), progress::Rebooted(), {.name = "a"}, kNow).value();
  EXPECT_EQ(status.config_version->current, "");
  EXPECT_EQ(status.config_version->desired, "not-yet-set");
}

TEST(NextStatus, HasImagesOnlyIfTheObjectHasTheConditionsOfImageMode) {
  NodeFacts node = kNode;
  node.current_image = "os@old";
  EXPECT_FALSE(NextStatus(NodeAfter(), progress::Rebooted(), node, kNow)->config_image);
  auto known = NodeAfter();
  known.status.conditions.push_back({"AppliedOSImage", "False", kBefore, "NotYetOccurred", ""});
  EXPECT_EQ(NextStatus(known, progress::Rebooted(), node, kNow)->config_image->current_image, "os@old");
  EXPECT_FALSE(NextStatus(known, progress::Rebooted(), kNode, kNow)->config_image);
}

TEST(NextStatus, IgnoresMomentsOfTheOtherMode) {
  plan::Difference difference;
  difference.files = true;
  const std::vector<ProgressReport> progress_reports = progress::Applying(difference);
  EXPECT_TRUE(NextStatus(NodeAfter(), progress_reports[0], kNode, kNow));
  EXPECT_FALSE(NextStatus(NodeAfter(), progress_reports[1], kNode, kNow));
  auto known = NodeAfter();
  known.status.conditions.push_back({"AppliedFiles", "False", kBefore, "NotYetOccurred", ""});
  EXPECT_FALSE(NextStatus(known, progress_reports[0], kNode, kNow));
  EXPECT_TRUE(NextStatus(known, progress_reports[1], kNode, kNow));
}

TEST(NextStatus, KeepsUnknownConditionsAndPinnedImageSets) {
  auto known = NodeAfter();
  known.status.conditions.push_back({"SomethingNew", "True", kBefore, "Because", "text"});
  known.status.pinned_image_sets.push_back({"images", 1, 2, 0, ""});
  const auto status = StatusAfter(known, progress::Rebooted());
  EXPECT_EQ(Text(status.conditions[0]), "SomethingNew=True Because: text");
  EXPECT_THAT(status.pinned_image_sets, SizeIs(1));
}

// ---- the spec -------------------------------------------------------------------------------------------------------

TEST(NextSpec, KeepsThePoolOfTheExistingObject) {
  auto known = NodeAfter();
  EXPECT_FALSE(NextSpec(known, kNode));
  known.spec.config_version.desired = "rendered-1";
  auto spec = NextSpec(known, kNode).value();
  EXPECT_EQ(spec.config_version.desired, "rendered-2");
  EXPECT_EQ(spec.pool.name, "infra");
  known.spec.pool.name = "not-yet-set";
  EXPECT_EQ(NextSpec(known, kNode)->pool.name, "worker");
}

TEST(NextSpec, RemovesNoImage) {
  auto known = NodeAfter();
  known.spec.config_version.desired = "rendered-1";
  known.spec.config_image.desired_image = "os@new";
  NodeFacts node = kNode;
  node.desired_image = "os@new";
  EXPECT_EQ(NextSpec(known, node)->config_image.desired_image, "os@new");
}

TEST(NewMachineConfigNode, BelongsToItsNode) {
  const auto created = NewMachineConfigNode(kNode);
  EXPECT_EQ(created.metadata.name, "a");
  ASSERT_THAT(created.metadata.owner_references, SizeIs(1));
  EXPECT_EQ(json::ToText(json::Encode(created.metadata.owner_references[0])),
            R"({"apiVersion":"v1","kind":"Node","name":"a","uid":"uid-1"})");
  EXPECT_EQ(json::ToText(json::Encode(created.spec)),
            R"({"configVersion":{"desired":"rendered-2"},"node":{"name":"a"},"pool":{"name":"worker"}})");
  EXPECT_EQ(NewMachineConfigNode({.name = "a"}).spec.config_version.desired, "not-yet-set");
}

TEST(NodeFacts, AreReadFromTheNode) {
  api::Node node;
  node.metadata.name = "a";
  node.metadata.uid = "uid-1";
  node.metadata.annotations = {{std::string(api::kCurrentConfigAnnotation), "rendered-1"},
                               {std::string(api::kDesiredConfigAnnotation), "rendered-2"}};
  EXPECT_EQ(FactsOf(node), kNode);
  node.metadata.labels = {{std::string(api::kControlPlaneRoleLabel), ""}};
  EXPECT_EQ(FactsOf(node).pool, "master");
}

TEST(NextStatus, ListsTheIrreconcilableChangesBesideTheCondition) {
  const auto known = NodeAfter({progress::Updated("a")});
  const ProgressReport updated_but = progress::UpdatedBut("a", {{"spec.config.storage.disks[0].device", "- 1\n+ 2\n"}});
  const auto next = NextStatus(known, updated_but, kNode, kNow);
  ASSERT_TRUE(next);
  ASSERT_THAT(next->irreconcilable_changes, SizeIs(1));
  EXPECT_EQ(next->irreconcilable_changes[0].field_path, "spec.config.storage.disks[0].device");
  // The condition is the same as before, and so is its time.
  EXPECT_TRUE(json::Equal(next->conditions, known.status.conditions));
  // A list of changes is written once.  It stays while other moments are reported, and is removed when it is empty.
  auto listed = known;
  listed.status = *next;
  EXPECT_FALSE(NextStatus(listed, updated_but, kNode, kNow));
  EXPECT_FALSE(NextStatus(listed, progress::Updated("a"), kNode, kNow));
  EXPECT_THAT(NextStatus(listed, progress::NeedsUpdate("a"), kNode, kNow)->irreconcilable_changes, SizeIs(1));
  EXPECT_THAT(NextStatus(listed, progress::UpdatedBut("a", {}), kNode, kNow)->irreconcilable_changes, SizeIs(0));
}

}  // namespace
}  // namespace pintle::agent
