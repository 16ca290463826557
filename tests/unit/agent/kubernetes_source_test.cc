// SPDX-License-Identifier: Apache-2.0
#include "agent/kubernetes_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/initial_annotations.h"
#include "base/clock.h"
#include "base/root.h"
#include "event/loop.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/event/patience.h"
#include "unit/kube/bad_answers.h"
#include "unit/kube/scripted_server.h"

namespace pintle::agent {
namespace {

// The annotations that Ignition has written on a new machine.
constexpr const char* kFirstAnnotations = R"("machineconfiguration.openshift.io/currentConfig":"rendered-first",)"
                                          R"("machineconfiguration.openshift.io/desiredConfig":"rendered-first",)"
                                          R"("machineconfiguration.openshift.io/state":"Done")";

// The Node as it is in `version`.
std::string NodeText(const std::string& version, const std::string& annotations) {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"1","resourceVersion":")" + version +
         R"(","annotations":{)" + annotations + R"(}},"spec":{},"status":{}})";
}

// Answers as an API server whose controller has given the Node a config already.  A patch of the Node sets the
// annotations that Ignition has written.
kube::Answer AnswerTo(const kube::ReceivedRequest& request) {
  if (request.line.find("watch=1") != std::string::npos) return {.ending = kube::Ending::kNever};
  if (request.line.starts_with("PATCH /api/v1/nodes/a")) return {.body = NodeText("6", kFirstAnnotations)};
  if (!request.line.starts_with("GET /api/v1/nodes?")) return kube::StatusAnswer(404, "NotFound", "there is none");
  return {.body = R"({"metadata":{"resourceVersion":"5"},"items":[)" +
                  NodeText("5", R"("machineconfiguration.openshift.io/desiredConfig":"rendered-wanted")") + "]}"};
}

class KubernetesSourceTest : public testing::Test {
 protected:
  KubernetesSourceTest() {
    ::setenv("no_proxy", "*", 1);
    kube::Access access = server_.access();
    const std::string url = ValueOf(access.Current())->server.text();
    directory_.Write("kubeconfig", R"({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}],
                                       "clusters": [{"name": "c", "cluster": {"server": ")" +
                                       url + R"("}}]})");
  }

  // Returns the name of the first config that the source asks for.
  std::string FirstGoal() {
    std::string first;
    KubernetesSource source(
        *loop_, root_, clock_,
        {.node = "a", .kubeconfig = (directory_ / "kubeconfig").string(), .event_namespace = "namespace"});
    Source::Listener listener;
    listener.wanted = [&](Goal goal) {
      if (first.empty()) first = std::move(goal.config);
      loop_->Stop();
    };
    listener.drained = [] {};
    listener.failed = [](const std::string& why) { ADD_FAILURE() << why; };
    listener.unusable = [](const std::string&) {};
    listener.held = [](const std::string&) {};
    listener.warned = [](const std::vector<std::string>&) {};
    source.Begin(std::move(listener));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    return first;
  }

  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path()));
  SystemClock clock_;
  kube::ScriptedServer server_{{}, AnswerTo};
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
};

TEST_F(KubernetesSourceTest, AsksForTheConfigThatTheNodeNames) { EXPECT_EQ(FirstGoal(), "rendered-wanted"); }

TEST_F(KubernetesSourceTest, OnANewMachineAsksForNothingBeforeTheNodeNamesTheConfigThatTheMachineHas) {
  const std::string file = std::string(kInitialAnnotations).substr(1);
  std::filesystem::create_directories((directory_ / file).parent_path());
  directory_.Write(file, "{" + std::string(kFirstAnnotations) + "}");
  EXPECT_EQ(FirstGoal(), "rendered-first");
}

}  // namespace
}  // namespace pintle::agent
