// SPDX-License-Identifier: Apache-2.0
#include "agent/node_report.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace pintle::agent {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using Annotations = std::map<std::string, std::string>;
using Lines = std::vector<std::string>;
using Overall = Reported::Overall;

constexpr std::string_view kPrefix = "machineconfiguration.openshift.io/";
constexpr std::string_view kOwnPrefix = "pintle.io/";
const Goal kNewGoal{"rendered-worker-2"};

// The keys get the prefix of the Machine Config Operator, except those of Pintle.
api::Node NodeWith(const Annotations& annotations) {
  api::Node node;
  node.metadata.name = "worker-0";
  for (const auto& [key, value] : annotations) {
    node.metadata.annotations[key.starts_with(kOwnPrefix) ? key : std::string(kPrefix) + key] = value;
  }
  return node;
}

std::string Words(const AnnotationChanges& changes) {
  std::string words = "annotate";
  for (const auto& [key, value] : changes) {
    words += fmt::format(" {}={}", key.starts_with(kOwnPrefix) ? key : key.substr(kPrefix.size()),
                         value ? *value : "(removed)");
  }
  return words;
}

std::string Words(const ProgressReport& progress) {
  std::string words = fmt::format("{}={}", progress.parent.type, progress.parent.status);
  if (progress.child) words += fmt::format(" {}={}", progress.child->type, progress.child->status);
  return words;
}

// Returns a line for each write and each wait.
Lines Words(const NodeReport& report) {
  Lines lines;
  for (const NodeEvent& event : report.events) {
    lines.push_back(fmt::format("{} {}", event.kind == kube::EventKind::kNormal ? "event" : "warning", event.reason));
  }
  for (const ProgressReport& progress : report.conditions) lines.push_back(Words(progress));
  for (const AnnotationChanges& changes : report.annotations) lines.push_back(Words(changes));
  if (!report.drain_request.empty()) lines.push_back("ask " + report.drain_request);
  if (report.drain == NodeReport::Drain::kNotRequired) lines.emplace_back("no drain");
  if (report.drain == NodeReport::Drain::kDoneBefore) lines.emplace_back("drained before");
  if (report.next == NodeReport::Next::kReportReboot) lines.emplace_back("then reboot");
  if (report.next == NodeReport::Next::kReportSettled) lines.emplace_back("then SettledWritten");
  return lines;
}

struct Row {
  std::string name;
  Reported before;
  std::optional<Annotations> node;  // Unset if the Node has not been read yet.
  report::Occurrence occurrence;
  Lines report;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

Reported Having(Overall overall, std::string fault = "") {
  return {.overall = overall,
          .is_past_action_cleared = true,
          .has_settled = overall != Overall::kNothing,
          .fault = std::move(fault)};
}

const Annotations kDone = {
    {"currentConfig", "rendered-worker-1"}, {"desiredConfig", "rendered-worker-2"}, {"state", "Done"}, {"reason", ""},
    {"desiredDrain", "uncordon-a"},         {"lastAppliedDrain", "uncordon-a"}};

Annotations With(Annotations annotations, const Annotations& added) {
  for (const auto& [key, value] : added) annotations[key] = value;
  return annotations;
}

const Annotations kNewDone = With(kDone, {{"currentConfig", "rendered-worker-2"}});
const Annotations kDrained =
    With(kDone, {{"desiredDrain", "drain-rendered-worker-2"}, {"lastAppliedDrain", "drain-rendered-worker-2"}});

plan::Action ActionOf(std::string type) {
  plan::Action action;
  action.what.type = std::move(type);
  return action;
}

plan::Difference OfFilesAndImage() {
  plan::Difference difference;
  difference.os_image = difference.files = true;
  return difference;
}

std::vector<Row> Rows() {
  return {
      // Drains.
      {"a drain is requested",
       {},
       kDone,
       report::DrainNeeded{kNewGoal},
       {"event Cordon", "event Drain", "annotate desiredDrain=drain-rendered-worker-2", "ask drain-rendered-worker-2"}},
      {"the agent waits for a drain that it requested before it was started again, and emits no other Event",
       {},
       With(kDone, {{"desiredDrain", "drain-rendered-worker-2"}}),
       report::DrainNeeded{kNewGoal},
       {"annotate desiredDrain=drain-rendered-worker-2", "ask drain-rendered-worker-2"}},
      {"a node that is drained already requests no drain",
       {},
       kDrained,
       report::DrainNeeded{kNewGoal},
       {"drained before"}},
      {"a drained node whose uncordon was requested meanwhile requests the drain again",
       {},
       With(kDrained, {{"desiredDrain", "uncordon-rendered-worker-1"}}),
       report::DrainNeeded{kNewGoal},
       {"event Cordon", "event Drain", "annotate desiredDrain=drain-rendered-worker-2", "ask drain-rendered-worker-2"}},
      {"the only node of a cluster is not drained",
       {},
       With(kDone, {{"controlPlaneTopology", "SingleReplica"}}),
       report::DrainNeeded{kNewGoal},
       {"event Drain", "UpdateExecuted=Unknown Drained=False", "no drain"}},

      // A change.
      {"work sets the state",
       {},
       kDone,
       report::WorkBegan{{ActionOf("Reboot")}, true},
       {"Updated=False", "UpdatePrepared=True", "annotate state=Working"}},
      {"the reason of a fault stays while the agent works on it",
       Having(Overall::kBusy, "no space"),
       With(kDone, {{"state", "Degraded"}}),
       report::WorkBegan{{}, false},
       {"Updated=False", "UpdatePrepared=True"}},
      {"work after a reboot reports the reboot first",
       {},
       With(kDone, {{"post-config-action", "Rebooting"}}),
       report::WorkBegan{{}, false},
       {"RebootedNode=True", "Updated=False", "UpdatePrepared=True",
        "annotate post-config-action=", "annotate state=Working"}},
      {"a change of the image has Events",
       Having(Overall::kBusy),
       kDone,
       report::ApplyingBegan{OfFilesAndImage(), true, "registry/os@sha256:1"},
       {"event InClusterUpgrade", "event OSUpdateStarted", "UpdateExecuted=Unknown AppliedFilesAndOS=Unknown",
        "UpdateExecuted=Unknown AppliedFiles=Unknown", "UpdateExecuted=Unknown AppliedOSImage=Unknown"}},
      {"a change that needs a reboot emits no Events about its actions",
       Having(Overall::kBusy),
       kDone,
       report::ChangeEnded{{}, {ActionOf("Reboot")}, true},
       {"UpdateExecuted=True AppliedFilesAndOS=True", "NodeDegraded=False"}},
      {"a change that needs no reboot emits Events about its actions",
       Having(Overall::kBusy),
       kDone,
       report::ChangeEnded{{}, {ActionOf("None")}, false},
       {"event SkipReboot", "UpdateExecuted=True AppliedFilesAndOS=True", "UpdatePostActionComplete=True",
        "NodeDegraded=False"}},
      {"a reboot is reported before it begins",
       Having(Overall::kBusy),
       kDone,
       report::RebootBegins{"why"},
       {"event Reboot", "RebootedNode=Unknown", "annotate post-config-action=Rebooting", "then reboot"}},

      // Staging.
      {"a node that stages nothing is not written", {}, kDone, report::Staged{{}}, {}},
      {"the reports of an earlier staging are removed",
       {},
       With(kDone, {{"pintle.io/staged", "rendered-worker-2"}}),
       report::Staged{{}},
       {"annotate pintle.io/staged=(removed) pintle.io/unstageable=(removed)"}},
      {"a staged goal is reported by its target",
       {},
       With(kDone, {{"pintle.io/unstageable", "no space"}}),
       report::Staged{{StagingReport::How::kStaged, {"rendered-worker-2", "registry/os@sha256:1"}}},
       {"annotate pintle.io/staged=rendered-worker-2 registry/os@sha256:1 pintle.io/unstageable=(removed)"}},
      {"a goal that stays staged is not reported again while the agent stages it after a restart",
       {},
       With(kDone, {{"pintle.io/staged", "rendered-worker-2"}}),
       report::Staged{{StagingReport::How::kUnderWay, kNewGoal}},
       {}},
      {"the report about another goal is removed while a goal is staged",
       {},
       With(kDone, {{"pintle.io/staged", "rendered-worker-1"}}),
       report::Staged{{StagingReport::How::kUnderWay, kNewGoal}},
       {"annotate pintle.io/staged=(removed) pintle.io/unstageable=(removed)"}},
      {"the reason is reported why a goal cannot be staged",
       {},
       With(kDone, {{"pintle.io/staged", "rendered-worker-2"}}),
       report::Staged{{StagingReport::How::kUnstageable, kNewGoal, "no space"}},
       {"annotate pintle.io/staged=(removed) pintle.io/unstageable=no space"}},

      // The end of a change.
      {"a node that was Done before this start is not written again",
       {},
       kNewDone,
       report::Settled{kNewGoal},
       {"Updated=True"}},
      {"a node that has reached its config is set to Done",
       Having(Overall::kBusy),
       kDone,
       report::Settled{kNewGoal},
       {"event NodeDone", "Resumed=True",
        "annotate currentConfig=rendered-worker-2 currentImage=(removed) desiredImage=(removed) reason= state=Done",
        "then SettledWritten"}},
      {"a drained node requests an uncordon before it is set to Done",
       Having(Overall::kBusy),
       kDrained,
       report::Settled{kNewGoal},
       {"Resumed=True", "annotate desiredDrain=uncordon-rendered-worker-2", "ask uncordon-rendered-worker-2"}},
      {"an uncordoned node is set to Done",
       Having(Overall::kBusy),
       kDrained,
       report::Uncordoned{kNewGoal},
       {"event Uncordon", "event NodeDone",
        "annotate currentConfig=rendered-worker-2 currentImage=(removed) desiredImage=(removed) reason= state=Done",
        "then SettledWritten"}},
      {"a node that has another desired config by now is not written",
       Having(Overall::kBusy),
       With(kDone, {{"desiredConfig", "rendered-worker-3"}}),
       report::Settled{kNewGoal},
       {}},
      {"a settled node that had a fault before this start is set to Done without the fault",
       {},
       With(kNewDone, {{"state", "Degraded"}, {"reason", "no space"}}),
       report::Settled{kNewGoal},
       {"event NodeDone", "NodeDegraded=False", "Resumed=True", "Resumed=True",
        "annotate currentConfig=rendered-worker-2 currentImage=(removed) desiredImage=(removed) reason= state=Done",
        "then SettledWritten"}},
      {"the image is reported with the config",
       Having(Overall::kBusy),
       With(kDone, {{"desiredImage", "i"}}),
       report::Settled{{"rendered-worker-2", "i"}},
       {"event NodeDone", "Resumed=True", "annotate currentConfig=rendered-worker-2 currentImage=i reason= state=Done",
        "then SettledWritten"}},
      {"Updated is reported once the annotations are written",
       Having(Overall::kSettled),
       kNewDone,
       report::SettledWritten{},
       {"Updated=True"}},
      {"Updated is not reported if other work has begun by then",
       Having(Overall::kBusy),
       kNewDone,
       report::SettledWritten{},
       {}},

      // Faults.
      {"a fault sets the state and the reason",
       Having(Overall::kSettled),
       kDone,
       report::Failed{Fault::kFailed, "no\nspace"},
       {"Updated=False", "NodeDegraded=True", "annotate reason=no\nspace state=Degraded"}},
      {"the same fault again is not reported again",
       Having(Overall::kBusy, "no space"),
       With(kDone, {{"state", "Degraded"}, {"reason", "no space"}}),
       report::Failed{Fault::kFailed, "no space"},
       {}},
      {"drift has an Event",
       Having(Overall::kSettled),
       kDone,
       report::Failed{Fault::kDrift, "mismatch"},
       {"warning ConfigDriftDetected", "Updated=False", "NodeDegraded=True",
        "annotate reason=mismatch state=Degraded"}},
      {"a config that cannot be reconciled sets the state Unreconcilable instead of Degraded",
       Having(Overall::kSettled),
       kDone,
       report::Failed{Fault::kUnreconcilable, "disks"},
       {"warning FailedToReconcile", "Updated=False", "UpdatePrepared=Unknown", "NodeDegraded=True",
        "annotate reason=disks state=Unreconcilable"}},
      {"a node that has rejected a config requests an uncordon",
       Having(Overall::kBusy),
       kDrained,
       report::Failed{Fault::kRejected, "unwell"},
       {"Updated=False", "NodeDegraded=True", "annotate desiredDrain=uncordon-rendered-worker-1",
        "annotate reason=unwell state=Degraded"}},

      // Other events.
      {"irreconcilable changes of a settled node are reported",
       Having(Overall::kSettled),
       kNewDone,
       report::Irreconcilable{{}},
       {"Updated=True"}},
      {"irreconcilable changes of a busy node are not reported yet",
       Having(Overall::kBusy),
       kNewDone,
       report::Irreconcilable{{}},
       {}},
      {"a deployment that could not be finalized is reported",
       {},
       kDone,
       report::FinalizeFailed{"no space"},
       {"annotate ostree-finalize-staged-failure=no space"}},
      {"a deployment that could not be finalized is reported once",
       {},
       With(kDone, {{"ostree-finalize-staged-failure", "no space"}}),
       report::FinalizeFailed{"no space"},
       {}},
      {"a login", {}, kDone, report::LoggedIn{}, {"annotate ssh=accessed"}},
      {"a second login", {}, With(kDone, {{"ssh", "accessed"}}), report::LoggedIn{}, {}},

      // Events before the agent has read its Node.
      {"conditions and Events wait for the Node",
       {},
       std::nullopt,
       report::Failed{Fault::kFailed, "no space"},
       {"annotate reason=no space state=Degraded"}},
      {"the report that the node is settled waits for the Node", {}, std::nullopt, report::Settled{kNewGoal}, {}},
      {"a deployment that could not be finalized waits for the Node",
       {},
       std::nullopt,
       report::FinalizeFailed{"x"},
       {}},
  };
}

class NodeReportTest : public testing::TestWithParam<Row> {};

TEST_P(NodeReportTest, WritesTheReportsOfTheTable) {
  const Row& row = GetParam();
  const std::optional<api::Node> node = row.node ? std::optional(NodeWith(*row.node)) : std::nullopt;
  Reported reported = row.before;
  EXPECT_THAT(Words(ReportOn(reported, {.name = "worker-0", .node = node ? &*node : nullptr}, row.occurrence)),
              ElementsAreArray(row.report));
}

INSTANTIATE_TEST_SUITE_P(All, NodeReportTest, testing::ValuesIn(Rows()));

TEST(NodeReport, ReportsThatWaitedForTheNodeAreMadeOnceTheNodeIsRead) {
  Reported reported;
  const NodeView unseen = {.name = "worker-0"};
  ReportOn(reported, unseen, report::Failed{Fault::kFailed, "no space"});
  ReportOn(reported, unseen, report::FinalizeFailed{"no deployment"});
  const api::Node node = NodeWith(With(kDone, {{"post-config-action", "Rebooting"}}));
  EXPECT_THAT(Words(ReportOn(reported, {.name = "worker-0", .node = &node}, report::NodeSeen{})),
              ElementsAre("RebootedNode=True", "Updated=False", "NodeDegraded=True",
                          "annotate post-config-action=", "annotate ostree-finalize-staged-failure=no deployment"));
  EXPECT_THAT(Words(ReportOn(reported, {.name = "worker-0", .node = &node}, report::NodeSeen{})), ElementsAre());
}

TEST(NodeReport, AFaultEndsTheSettledState) {
  Reported reported;
  const NodeView unseen = {.name = "worker-0"};
  ReportOn(reported, unseen, report::Settled{kNewGoal});
  ReportOn(reported, unseen, report::Failed{Fault::kFailed, "no space"});
  const api::Node node = NodeWith(kNewDone);
  EXPECT_THAT(Words(ReportOn(reported, {.name = "worker-0", .node = &node}, report::NodeSeen{})),
              ElementsAre("Updated=False", "NodeDegraded=True"));
}

TEST(NodeReport, IsPublishedAgainOnANodeThatWasReplaced) {
  Reported reported;
  const api::Node old_node = NodeWith(kNewDone);
  const api::Node new_node = NodeWith({{"desiredConfig", "rendered-worker-2"}});
  const NodeView before = {.name = "worker-0", .node = &old_node};
  const NodeView after = {.name = "worker-0", .node = &new_node};
  EXPECT_THAT(Words(ReportOn(reported, after, report::ReportsLost{})), IsEmpty());
  ReportOn(reported, before, report::Settled{kNewGoal});
  EXPECT_THAT(Words(ReportOn(reported, after, report::ReportsLost{})),
              Contains(HasSubstr("currentConfig=rendered-worker-2")));
  ReportOn(reported, before, report::WorkBegan{});
  EXPECT_THAT(Words(ReportOn(reported, after, report::ReportsLost{})), ElementsAre("annotate state=Working"));
  ReportOn(reported, before, report::Failed{Fault::kDrift, "the reason"});
  EXPECT_THAT(Words(ReportOn(reported, after, report::ReportsLost{})),
              Contains(AllOf(HasSubstr("reason=the reason"), HasSubstr("state=Degraded"))));
}

TEST(NodeReport, AFaultThatReturnsAfterAChangeIsReportedAgain) {
  Reported reported = Having(Overall::kSettled);
  const api::Node node = NodeWith(kDone);
  const NodeView view = {.name = "worker-0", .node = &node};
  const report::Failed fault{Fault::kFailed, "no space"};
  const Lines first = Words(ReportOn(reported, view, fault));
  ReportOn(reported, view, report::ChangeEnded{});
  EXPECT_EQ(Words(ReportOn(reported, view, fault)), first);
}

TEST(NodeReport, LogsWhetherTheNodeIsDrained) {
  Reported reported;
  const api::Node node = NodeWith(kDone);
  const NodeView view = {.name = "worker-0", .node = &node};
  EXPECT_THAT(ReportOn(reported, view, report::ApplyingBegan{}).log,
              testing::ElementsAre("Changes do not require drain, skipping."));
  EXPECT_THAT(ReportOn(reported, view, report::DrainNeeded{kNewGoal}).log,
              testing::ElementsAre("requesting cordon and drain via annotation to controller"));
}

TEST(NodeReport, DuringAWriteNothingCountsAsWritten) {
  const api::Node node = NodeWith(kNewDone);
  Reported reported = Having(Overall::kBusy);
  const NodeReport report =
      ReportOn(reported, {.name = "worker-0", .node = &node, .is_being_written = true}, report::Settled{kNewGoal});
  EXPECT_EQ(report.annotations.size(), 1U);
}

TEST(NodeReport, KeepsTheNewestWaitingMoments) {
  Reported reported;
  for (int i = 0; i < 100; ++i) {
    ReportOn(reported, {.name = "worker-0"}, report::Failed{Fault::kFailed, std::to_string(i)});
  }
  EXPECT_EQ(reported.unwritten.size(), 32U);
  EXPECT_THAT(reported.unwritten.back().parent.message, testing::HasSubstr("99"));
}

}  // namespace
}  // namespace pintle::agent
