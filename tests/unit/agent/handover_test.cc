// SPDX-License-Identifier: Apache-2.0
#include "agent/handover.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "api/annotations.h"
#include "base/root.h"
#include "event/loop.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/event/patience.h"
#include "unit/kube/scripted_server.h"

namespace pintle::agent {
namespace {

api::Node NodeWithLabel(const std::string& value) {
  api::Node node;
  node.metadata.labels.emplace(api::kAgentLabel, value);
  return node;
}

api::Node NodeInState(std::string_view state, const std::string& drain = "", const std::string& answer = "") {
  api::Node node;
  node.metadata.annotations.emplace(api::kStateAnnotation, state);
  node.metadata.annotations.emplace(api::kCurrentConfigAnnotation, "c");
  if (!drain.empty()) node.metadata.annotations.emplace(api::kDesiredDrainAnnotation, drain);
  if (!answer.empty()) node.metadata.annotations.emplace(api::kLastAppliedDrainAnnotation, answer);
  return node;
}

Phase DegradedWith(phase::Degraded::Retry retry) { return phase::Degraded{.text = "why", .retry = retry}; }

TEST(IsHandedOver, OnlyWithOneValueOfTheLabel) {
  EXPECT_TRUE(IsHandedOver(NodeWithLabel("acts")));
  for (const char* value : {"awaited", "leaves", "", "yes"}) EXPECT_FALSE(IsHandedOver(NodeWithLabel(value))) << value;
  EXPECT_FALSE(IsHandedOver(api::Node()));
}

TEST(CanLeave, WhenTheNodeHasItsConfigAndReportsThat) {
  const Phase settled = phase::Settled{.goal = {.config = "c"}};
  EXPECT_TRUE(CanLeave(settled, NodeInState(api::kStateDone)));
  EXPECT_FALSE(CanLeave(settled, NodeInState(api::kStateWorking))) << "the report is not written yet";
  const Phase settled_anew = phase::Settled{.goal = {.config = "d"}};
  EXPECT_FALSE(CanLeave(settled_anew, NodeInState(api::kStateDone))) << "the Node is an old one";
  EXPECT_FALSE(CanLeave(settled, api::Node()));
}

TEST(CanLeave, NotWhileAnAnswerToADrainIsMissing) {
  const Phase settled = phase::Settled{.goal = {.config = "c"}};
  EXPECT_FALSE(CanLeave(settled, NodeInState(api::kStateDone, "uncordon-c")));
  EXPECT_FALSE(CanLeave(settled, NodeInState(api::kStateDone, "uncordon-c", "drain-c")));
  EXPECT_TRUE(CanLeave(settled, NodeInState(api::kStateDone, "uncordon-c", "uncordon-c")));
}

TEST(CanLeave, NotInTheMiddleOfWork) {
  const api::Node done = NodeInState(api::kStateDone);
  EXPECT_FALSE(CanLeave(phase::Recovering{}, done));
  EXPECT_FALSE(CanLeave(phase::Waiting{}, done));
  EXPECT_FALSE(CanLeave(phase::Checking{.goal = {.config = "c"}}, done));
  EXPECT_FALSE(CanLeave(phase::Draining{.goal = {.config = "c"}}, done));
  EXPECT_FALSE(CanLeave(phase::Changing{.goal = {.config = "c"}}, done));
  EXPECT_FALSE(CanLeave(phase::Rebooting{}, done));
  EXPECT_FALSE(CanLeave(phase::Confirming{}, done));
}

TEST(CanLeave, WhenDegradedUnlessAChangeHasToBeEnded) {
  using Retry = phase::Degraded::Retry;
  const api::Node degraded = NodeInState(api::kStateDegraded);
  EXPECT_TRUE(CanLeave(DegradedWith(Retry::kNone), degraded));
  EXPECT_TRUE(CanLeave(DegradedWith(Retry::kLook), degraded));
  EXPECT_TRUE(CanLeave(DegradedWith(Retry::kNone), NodeInState(api::kStateUnreconcilable)));
  EXPECT_FALSE(CanLeave(DegradedWith(Retry::kNone), NodeInState(api::kStateWorking)));
  EXPECT_FALSE(CanLeave(DegradedWith(Retry::kRecover), degraded));
  EXPECT_FALSE(CanLeave(DegradedWith(Retry::kReboot), degraded));
  phase::Degraded after_a_failed_change{.text = "why"};
  after_a_failed_change.after = FailedChange{.goal = {.config = "c"}, .text = "why"};
  EXPECT_FALSE(CanLeave(after_a_failed_change, degraded));
}

TEST(CanLeaveNewNode, BeforeAChangeBegins) {
  using Retry = phase::Degraded::Retry;
  EXPECT_TRUE(CanLeaveNewNode(phase::Waiting{}));
  EXPECT_TRUE(CanLeaveNewNode(phase::Checking{.goal = {.config = "c"}}));
  EXPECT_TRUE(CanLeaveNewNode(phase::Settled{.goal = {.config = "c"}}));
  EXPECT_TRUE(CanLeaveNewNode(DegradedWith(Retry::kLook)));
  EXPECT_FALSE(CanLeaveNewNode(DegradedWith(Retry::kRecover)));
  EXPECT_FALSE(CanLeaveNewNode(phase::Recovering{}));
  EXPECT_FALSE(CanLeaveNewNode(phase::Draining{.goal = {.config = "c"}}));
  EXPECT_FALSE(CanLeaveNewNode(phase::Changing{.goal = {.config = "c"}}));
  EXPECT_FALSE(CanLeaveNewNode(phase::Rebooting{}));
  EXPECT_FALSE(CanLeaveNewNode(phase::Confirming{}));
}

std::string LabelledNode(int version, std::string_view labels, std::string_view report) {
  return fmt::format(R"({{"metadata": {{"name": "a", "uid": "1", "resourceVersion": "{}", "labels": {{{}}},)"
                     R"( "annotations": {{"pintle.io/agent-state": "{}"}}}}}})",
                     version, labels, report);
}

// An API server on which the Node is given to the agent while the agent's first report is being written.  The answer to
// this report comes only when the agent has received the label.
class SlowServer {
 public:
  kube::Access access() const { return server_.access(); }

 private:
  kube::Answer AnswerTo(const kube::ReceivedRequest& request) {
    const std::string label = R"("pintle.io/agent": "acts")";
    if (request.line.starts_with("PATCH ")) {
      if (request.body.find("standby") == std::string::npos) return {.body = LabelledNode(12, label, "begins")};
      std::unique_lock lock(mutex_);
      is_label_received_.wait(lock, [this] { return was_received_; });
      return {.body = LabelledNode(10, "", "standby")};
    }
    if (request.line.find("watch=1") == std::string::npos) {
      return {.body = R"({"metadata": {"resourceVersion": "5"}, "items": [)" + LabelledNode(5, "", "") + "]}"};
    }
    if (request.line.find("resourceVersion=11") == std::string::npos) {
      return {.body = R"({"type": "MODIFIED", "object": )" + LabelledNode(11, label, "standby") + "}\n"};
    }
    // The agent watches from the version with the label, so it has received this version.
    const std::lock_guard lock(mutex_);
    was_received_ = true;
    is_label_received_.notify_all();
    return {.ending = kube::Ending::kNever};
  }

  std::mutex mutex_;
  std::condition_variable is_label_received_;
  bool was_received_ = false;
  kube::ScriptedServer server_{{}, [this](const kube::ReceivedRequest& request) { return AnswerTo(request); }};
};

TEST(Handover, SeesALabelThatComesWhileAReportIsBeingWritten) {
  ::setenv("no_proxy", "*", 1);
  SlowServer server;
  TemporaryDirectory directory;
  directory.Write("kubeconfig", fmt::format(R"({{"current-context": "c", "contexts": [{{"name": "c", "context": )"
                                            R"({{"cluster": "c"}}}}], "clusters": [{{"name": "c", "cluster": )"
                                            R"({{"server": "{}"}}}}]}})",
                                            ValueOf(server.access().Current())->server.text()));
  const Root root = ValueOf(Root::Open(directory.path()));
  const std::unique_ptr<event::Loop> loop = ValueOf(event::Loop::Create());
  const auto handover =
      ValueOf(Handover::Begin(*loop, root, "a", (directory / "kubeconfig").string(), [&loop] { loop->Stop(); }));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop)));
  EXPECT_TRUE(handover->is_active());
}

}  // namespace
}  // namespace pintle::agent
