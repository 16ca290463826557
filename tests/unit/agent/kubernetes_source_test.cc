// SPDX-License-Identifier: Apache-2.0
#include "agent/kubernetes_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
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

using std::chrono::milliseconds;

// The annotations that Ignition has written on a new machine.
constexpr const char* kFirstAnnotations = R"("machineconfiguration.openshift.io/currentConfig":"rendered-first",)"
                                          R"("machineconfiguration.openshift.io/desiredConfig":"rendered-first",)"
                                          R"("machineconfiguration.openshift.io/state":"Done")";

// Returns the Node, as JSON, as it is in `version`.
std::string AnnotatedNode(const std::string& version, const std::string& annotations) {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"1","resourceVersion":")" + version +
         R"(","annotations":{)" + annotations + R"(}},"spec":{},"status":{}})";
}

// Answers as an API server whose controller has given the Node a config already.  A patch of the Node sets the
// annotations that Ignition has written.
kube::Answer AnswerTo(const kube::ReceivedRequest& request) {
  if (request.line.find("watch=1") != std::string::npos) return {.ending = kube::Ending::kNever};
  if (request.line.starts_with("PATCH /api/v1/nodes/a")) return {.body = AnnotatedNode("6", kFirstAnnotations)};
  if (!request.line.starts_with("GET /api/v1/nodes?")) return kube::StatusAnswer(404, "NotFound", "there is none");
  return {.body = R"({"metadata":{"resourceVersion":"5"},"items":[)" +
                  AnnotatedNode("5", R"("machineconfiguration.openshift.io/desiredConfig":"rendered-wanted")") + "]}"};
}

class KubernetesSourceTest : public testing::Test {
 protected:
  KubernetesSourceTest() {
    ::setenv("no_proxy", "*", 1);
    WriteKubeconfig(server_);
  }

  void WriteKubeconfig(const kube::ScriptedServer& server) {
    kube::Access access = server.access();
    const std::string url = ValueOf(access.Current())->server.text();
    directory_.Write("kubeconfig", R"({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}],
                                       "clusters": [{"name": "c", "cluster": {"server": ")" +
                                       url + R"("}}]})");
  }

  static Source::Listener Listening(std::function<void(Goal goal)> wanted) {
    Source::Listener listener;
    listener.wanted = std::move(wanted);
    listener.drained = [] {};
    listener.failed = [](const std::string& why) { ADD_FAILURE() << why; };
    listener.unusable = [](const std::string&) {};
    listener.held = [](const std::string&) {};
    listener.warned = [](const std::vector<std::string>&) {};
    listener.stage = [](const std::optional<Goal>&) {};
    return listener;
  }

  // Returns the name of the first config that the source asks for.
  std::string FirstGoal() {
    std::string first;
    KubernetesSource source(
        *loop_, root_, clock_,
        {.node = "a", .kubeconfig = (directory_ / "kubeconfig").string(), .event_namespace = "namespace"});
    source.Begin(Listening([&](Goal goal) {
      if (first.empty()) first = std::move(goal.config);
      loop_->Stop();
    }));
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

TEST_F(KubernetesSourceTest, OnANewMachineAsksForNothingWhileItsFirstAnnotationsCannotBeRead) {
  const std::string file = std::string(kInitialAnnotations).substr(1);
  std::filesystem::create_directories((directory_ / file).parent_path());
  directory_.Write(file, "{");
  const std::string wanted = R"("machineconfiguration.openshift.io/desiredConfig":"rendered-wanted")";
  std::atomic<bool> is_mended = false;
  kube::ScriptedServer server({}, [&](const kube::ReceivedRequest& request) -> kube::Answer {
    if (request.line.starts_with("PATCH ")) return {.body = AnnotatedNode("8", kFirstAnnotations)};
    if (!request.line.starts_with("GET /api/v1/nodes?")) return kube::StatusAnswer(404, "NotFound", "there is none");
    if (request.line.find("watch=1") == std::string::npos) {
      return {.body = R"({"metadata":{"resourceVersion":"5"},"items":[)" + AnnotatedNode("5", wanted) + "]}"};
    }
    return {.ending = kube::Ending::kNever, .more = [&, was_sent = false]() mutable -> std::string {
              if (!is_mended || std::exchange(was_sent, true)) return "";
              return kube::EventLine("MODIFIED", AnnotatedNode("7", wanted));
            }};
  });
  WriteKubeconfig(server);
  std::vector<std::string> goals;
  std::vector<std::string> reasons;
  KubernetesSource source(
      *loop_, root_, clock_,
      {.node = "a", .kubeconfig = (directory_ / "kubeconfig").string(), .event_namespace = "namespace"});
  Source::Listener listener = Listening([&](const Goal& goal) {
    goals.push_back(goal.config);
    loop_->Stop();
  });
  listener.unusable = [&](const std::string& why) {
    reasons.push_back(why);
    directory_.Write(file, "{" + std::string(kFirstAnnotations) + "}");
    is_mended = true;
  };
  source.Begin(std::move(listener));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(goals, testing::ElementsAre("rendered-first"));
  EXPECT_THAT(reasons, testing::ElementsAre(testing::HasSubstr(kInitialAnnotations), ""));
}

TEST_F(KubernetesSourceTest, FollowsANodeThatWasRestoredFromABackup) {
  const auto node = [](const std::string& version, const std::string& config) {
    return AnnotatedNode(version, R"("machineconfiguration.openshift.io/desiredConfig":")" + config + "\"");
  };
  std::atomic<int> lists = 0;
  kube::ScriptedServer server({}, [&](const kube::ReceivedRequest& request) -> kube::Answer {
    if (!request.line.starts_with("GET /api/v1/nodes?")) return kube::StatusAnswer(404, "NotFound", "there is none");
    if (request.line.find("watch=1") != std::string::npos) {
      if (lists > 1) return {.ending = kube::Ending::kNever};
      return {.body = kube::EventLine("ERROR", kube::StatusAnswer(410, "Expired").body)};
    }
    const bool is_restored = ++lists > 1;
    return {.body = R"({"metadata":{"resourceVersion":")" + std::string(is_restored ? "105" : "5005") +
                    R"("},"items":[)" + (is_restored ? node("100", "rendered-restored") : node("5000", "rendered-a")) +
                    "]}"};
  });
  WriteKubeconfig(server);
  std::vector<std::string> goals;
  KubernetesSource source(
      *loop_, root_, clock_,
      {.node = "a", .kubeconfig = (directory_ / "kubeconfig").string(), .event_namespace = "namespace"});
  source.Begin(Listening([&](const Goal& goal) {
    goals.push_back(goal.config);
    if (goals.size() == 2) loop_->Stop();
  }));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(goals, testing::ElementsAre("rendered-a", "rendered-restored"));
}

TEST_F(KubernetesSourceTest, RepeatsAReportAboutStagingThatSomeoneHasRemoved) {
  std::atomic<int> reports = 0;
  kube::ScriptedServer server({}, [&](const kube::ReceivedRequest& request) -> kube::Answer {
    const std::string wanted = R"("machineconfiguration.openshift.io/desiredConfig":"rendered-a")";
    if (request.line.starts_with("PATCH ")) {
      if (request.body.find("pintle.io/staged") != std::string::npos) ++reports;
      return {.body = AnnotatedNode("6", wanted + R"(,"pintle.io/staged":"rendered-b")")};
    }
    if (!request.line.starts_with("GET /api/v1/nodes?")) return kube::StatusAnswer(404, "NotFound", "there is none");
    if (request.line.find("watch=1") == std::string::npos) {
      return {.body = R"({"metadata":{"resourceVersion":"5"},"items":[)" + AnnotatedNode("5", wanted) + "]}"};
    }
    return {.ending = kube::Ending::kNever, .more = [&, wanted, was_sent = false]() mutable -> std::string {
              if (reports == 0 || std::exchange(was_sent, true)) return "";
              return kube::EventLine("MODIFIED", AnnotatedNode("9", wanted));
            }};
  });
  WriteKubeconfig(server);
  KubernetesSource source(
      *loop_, root_, clock_,
      {.node = "a", .kubeconfig = (directory_ / "kubeconfig").string(), .event_namespace = "namespace"});
  source.Begin(Listening(
      [&](const Goal&) { source.ReportStaging({.how = StagingReport::How::kStaged, .goal = {"rendered-b"}}); }));
  event::Timer look(
      *loop_, [&] { reports == 2 ? loop_->Stop() : look.After(milliseconds(1)); }, milliseconds(1));
  look.After(milliseconds(1));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(reports, 2);
}

TEST_F(KubernetesSourceTest, DoesNotTakeTheAnswerToAnEarlierUncordonForTheEndOfANewChange) {
  // Returns the Node while it has `config` to reach and the controller has answered `answered`.
  const auto node = [](const std::string& version, const std::string& config, const std::string& asked,
                       const std::string& answered) {
    return AnnotatedNode(version, R"("machineconfiguration.openshift.io/desiredConfig":")" + config +
                                      R"(","machineconfiguration.openshift.io/desiredDrain":")" + asked +
                                      R"(","machineconfiguration.openshift.io/lastAppliedDrain":")" + answered + "\"");
  };
  const std::string uncordon = "uncordon-rendered-old";
  std::atomic<bool> is_answered = false;
  std::mutex mutex;
  std::string written;
  kube::ScriptedServer server({}, [&](const kube::ReceivedRequest& request) -> kube::Answer {
    {
      const std::lock_guard lock(mutex);
      written += request.body;
    }
    if (request.line.starts_with("PATCH ")) return {.body = node("6", "rendered-old", uncordon, "drain-rendered-old")};
    if (request.line.starts_with("POST ")) return {.status = 201, .body = "{}"};
    if (!request.line.starts_with("GET /api/v1/nodes?")) return kube::StatusAnswer(404, "NotFound", "there is none");
    if (request.line.find("watch=1") == std::string::npos) {
      return {.body = R"({"metadata":{"resourceVersion":"5"},"items":[)" +
                      node("5", "rendered-old", "drain-rendered-old", "drain-rendered-old") + "]}"};
    }
    return {.ending = kube::Ending::kNever, .more = [&, was_sent = false]() mutable -> std::string {
              if (!is_answered || std::exchange(was_sent, true)) return "";
              return kube::EventLine("MODIFIED", node("9", "rendered-new", uncordon, uncordon));
            }};
  });
  WriteKubeconfig(server);
  KubernetesSource source(
      *loop_, root_, clock_,
      {.node = "a", .kubeconfig = (directory_ / "kubeconfig").string(), .event_namespace = "namespace"});
  source.Begin(Listening([&](const Goal& goal) {
    if (goal.config == "rendered-old") {
      source.ReportSettled(goal);
      source.ReportWork(Prepared());
      is_answered = true;
      return;
    }
    // The Node is written in the order of the reports, so when this fault is written, all reports before it are.
    source.ReportFault(Fault::kFailed, "the last report");
    loop_->Post([&] { loop_->Stop(); });
  }));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  const auto was_written = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    return written.find(text) != std::string::npos;
  };
  event::Timer look(
      *loop_, [&] { was_written("the last report") ? loop_->Stop() : look.After(milliseconds(1)); }, milliseconds(1));
  look.After(milliseconds(1));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_TRUE(was_written(uncordon));
  EXPECT_FALSE(was_written("currentConfig"));
}

TEST_F(KubernetesSourceTest, GivesUpAnUncordonInTimeThoughTheMachineSettlesAgainAndAgain) {
  const auto node = [](const std::string& version, const std::string& asked) {
    return AnnotatedNode(version, R"("machineconfiguration.openshift.io/desiredConfig":"rendered-a",)"
                                  R"("machineconfiguration.openshift.io/lastAppliedDrain":"drain-rendered-a",)"
                                  R"("machineconfiguration.openshift.io/desiredDrain":")" +
                                      asked + "\"");
  };
  kube::ScriptedServer server({}, [&](const kube::ReceivedRequest& request) -> kube::Answer {
    if (request.line.starts_with("PATCH ")) return {.body = node("6", "uncordon-rendered-a")};
    if (request.line.starts_with("POST ")) return {.status = 201, .body = "{}"};
    if (!request.line.starts_with("GET /api/v1/nodes?")) return kube::StatusAnswer(404, "NotFound", "there is none");
    if (request.line.find("watch=1") != std::string::npos) return {.ending = kube::Ending::kNever};
    return {.body = R"({"metadata":{"resourceVersion":"5"},"items":[)" + node("5", "drain-rendered-a") + "]}"};
  });
  WriteKubeconfig(server);
  KubernetesSource source(*loop_, root_, clock_,
                          {.node = "a",
                           .kubeconfig = (directory_ / "kubeconfig").string(),
                           .event_namespace = "namespace",
                           .uncordon_timeout = milliseconds(300)});
  event::Timer settle(
      *loop_,
      [&] {
        source.ReportSettled({"rendered-a"});
        settle.After(milliseconds(20));
      },
      milliseconds(1));
  std::string failure;
  Source::Listener listener = Listening([&](const Goal&) { settle.After(milliseconds(0)); });
  listener.failed = [&](const std::string& why) {
    failure = why;
    loop_->Stop();
  };
  source.Begin(std::move(listener));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(failure, testing::HasSubstr("failed to uncordon node: a"));
}

}  // namespace
}  // namespace pintle::agent
