// SPDX-License-Identifier: Apache-2.0
// Tests writes that the API server refuses: they are repeated less and less often, are reported with the server's
// message, and delay no other writes.

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <atomic>
#include <memory>

#include "api/annotations.h"
#include "controller/cluster.h"
#include "controller/renderer.h"
#include "controller/rollout_pass.h"
#include "controller/rosters.h"
#include "controller/writer.h"
#include "event/loop.h"
#include "json/parse.h"
#include "pool/status.h"
#include "support/expect.h"
#include "unit/controller/manual_clock.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"
#include "unit/kube/bad_answers.h"

namespace pintle::controller {
namespace {

using kube::Answer;
using kube::BadAnswer;
using kube::kMostInAMinute;
using kube::ReceivedRequest;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string& kServerMessage = kube::kRefusal;

std::string Key(std::string_view annotation) { return std::string(annotation); }

// A cluster with two pools, and those parts of the controller that write.
class Stage {
 public:
  Stage() {
    ::setenv("no_proxy", "*", 1);
    server.Put("controllerconfigs", {{"metadata",
                                      {{"name", "machine-config-controller"},
                                       {"generation", 1},
                                       {"annotations", {{Key(api::kGeneratedByVersionAnnotation), "4.20"}}}}},
                                     {"spec", {{"baseOSContainerImage", "registry/os@sha256:1"}}}});
    for (const std::string pool : {"infra", "worker"}) {
      AddConfig("00-" + pool, pool);
      server.Put("machineconfigpools",
                 {{"metadata", {{"name", pool}}},
                  {"spec",
                   {{"maxUnavailable", 2},
                    {"machineConfigSelector", {{"matchLabels", {{Key(api::kRoleLabel), pool}}}}},
                    {"nodeSelector", {{"matchLabels", {{Key(api::kRoleLabelPrefix) + pool, ""}}}}}}}});
    }
  }

  void AddConfig(const std::string& name, const std::string& role) {
    server.Put("machineconfigs", {{"metadata", {{"name", name}, {"labels", {{Key(api::kRoleLabel), role}}}}},
                                  {"spec", {{"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
  }

  void AddNode(const std::string& name, const std::string& config, const std::string& pool = "worker") {
    server.Put("nodes", {{"metadata",
                          {{"name", name},
                           {"labels", {{Key(api::kRoleLabelPrefix) + pool, ""}}},
                           {"annotations",
                            {{Key(api::kCurrentConfigAnnotation), config},
                             {Key(api::kDesiredConfigAnnotation), config},
                             {Key(api::kStateAnnotation), Key(api::kStateDone)}}}}},
                         {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
  }

  void Target(const std::string& pool, const std::string& config) {
    json::Value object = server.Find("machineconfigpools", pool);
    object["spec"]["configuration"] = {{"name", config}};
    server.Put("machineconfigpools", std::move(object));
  }

  void Begin() {
    client = ValueOf(kube::Client::Create(*loop, server.access()));
    announcer.emplace(*client, clock, "namespace", "test");
    cluster = std::make_unique<Cluster>(
        *client, "namespace",
        Cluster::Listener{
            .changed = [] {}, .node_changed = [](const auto&, const auto&) {}, .trouble = [](auto, auto&) {}});
    RunUntil([&] { return cluster->is_ready(); });
    renderer = std::make_unique<Renderer>(*loop, *client, clock, *cluster, *announcer, Versions{},
                                          Renderer::Listener{.finished = [] {},
                                                             .retargeted = [](const std::string&) {},
                                                             .retry_later = [] {},
                                                             .retry_at = [](MonotonicTime) {},
                                                             .trouble = [](const Error&) {}});
    writer = std::make_unique<Writer>(
        *client, clock, *cluster, *announcer,
        Writer::Listener{.done = [] {}, .retry_at = [](MonotonicTime) {}, .trouble = [](const Error&) {}});
  }

  void RunUntil(const std::function<bool()>& is_so) {
    event::Timer look(
        *loop,
        [&] {
          if (is_so()) return loop->Stop();
          look.After(milliseconds(1));
        },
        milliseconds(1));
    look.After(milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop)));
  }

  void Render() {
    renderer->Look(cluster->Look());
    if (!renderer->rendering().empty()) RunUntil([&] { return renderer->rendering().empty(); });
  }

  void RollOut() {
    BeginToRollOut();
    if (writer->is_busy() || writer->is_reading()) {
      RunUntil([&] { return !writer->is_busy() && !writer->is_reading(); });
    }
  }

  void BeginToRollOut() {
    const UnwrittenNodes unwritten = writer->Look();
    const View view = cluster->Look();
    const Rosters rosters = MakeRosters(view);
    Changes changes = RolloutPass({.view = view,
                                   .rosters = rosters,
                                   .verdicts = {},
                                   .skipped = {},
                                   .undrainable = {},
                                   .features = {},
                                   .now = api::Time{std::chrono::floor<std::chrono::seconds>(clock.Wall())},
                                   .unwritten = unwritten});
    writer->LeaveOut(changes);
    if (!changes.is_empty()) writer->Write(std::move(changes));
  }

  // Calls `look` again and again.
  void Pass(std::chrono::seconds time, void (Stage::*look)()) {
    const MonotonicTime end = clock.now + time;
    const milliseconds step = time > std::chrono::minutes(1) ? milliseconds(1000) : milliseconds(100);
    for (; clock.now < end; clock.now += step) (this->*look)();
  }

  std::string TargetOf(const std::string& pool) {
    return server.Find("machineconfigpools", pool).TextAt({"spec", "configuration", "name"});
  }
  std::string DesiredBy(const std::string& node) {
    return server.Find("nodes", node).TextAt({"metadata", "annotations", Key(api::kDesiredConfigAnnotation)});
  }
  json::Value ConditionOf(const std::string& pool, const std::string& type) {
    const json::Value object = server.Find("machineconfigpools", pool);
    for (const json::Value& condition : object["status"]["conditions"]) {
      if (condition["type"] == type) return condition;
    }
    return {};
  }

  SmallApiServer server;
  ManualClock clock;
  std::unique_ptr<event::Loop> loop = ValueOf(event::Loop::Create());
  std::optional<kube::Client> client;
  std::optional<Announcer> announcer;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<Renderer> renderer;
  std::unique_ptr<Writer> writer;
};

class RefusedRendering : public testing::TestWithParam<std::pair<std::string, BadAnswer>> {};

std::vector<std::pair<std::string, BadAnswer>> EachOf(std::initializer_list<std::string> writes) {
  std::vector<std::pair<std::string, BadAnswer>> all;
  for (const std::string& write : writes) {
    for (const BadAnswer& refused : kube::BadAnswers()) all.emplace_back(write, refused);
  }
  return all;
}

TEST_P(RefusedRendering, IsReportedAndRetriedSeldomAndDelaysNoOtherPool) {
  const auto& [write, refused] = GetParam();
  std::atomic<std::size_t> count = 0;
  Stage stage;
  stage.server.Refuse(
      [&, answer = refused.answer, write = write](const ReceivedRequest& request) -> std::optional<Answer> {
        const bool is_of_worker = request.line.find("worker") != std::string::npos ||
                                  request.body.find("\"name\":\"rendered-worker-") != std::string::npos;
        if (!request.line.starts_with(write) || !is_of_worker) return std::nullopt;
        ++count;
        return answer;
      });
  stage.Begin();
  stage.Pass(std::chrono::minutes(1), &Stage::Render);
  EXPECT_GE(count, 3U);
  EXPECT_LE(count, kMostInAMinute);
  EXPECT_EQ(stage.TargetOf("worker"), "");
  EXPECT_THAT(stage.TargetOf("infra"), StartsWith("rendered-infra-"));
  EXPECT_THAT(stage.renderer->verdicts().at("worker").message, HasSubstr(refused.words));
  EXPECT_EQ(stage.renderer->verdicts().at("infra").message, "");
  stage.server.Refuse({});
  stage.Pass(std::chrono::minutes(5), &Stage::Render);
  EXPECT_THAT(stage.TargetOf("worker"), StartsWith("rendered-worker-"));
  EXPECT_EQ(stage.renderer->verdicts().at("worker").message, "");
}

INSTANTIATE_TEST_SUITE_P(
    Each, RefusedRendering,
    testing::ValuesIn(EachOf({"POST " + kApi + "machineconfigs", "PATCH " + kApi + "machineconfigpools/worker"})),
    [](const auto& refused) {
      return (refused.param.first.starts_with("POST") ? "Creating" : "Targeting") + refused.param.second.name;
    });

TEST(RefusedRenderingTest, KeepsTheDelayThatTheServerAsksFor) {
  Stage stage;
  stage.server.Refuse("POST " + kApi + "machineconfigs",
                      kube::With(SmallApiServer::Status(429, "TooManyRequests", kServerMessage), "Retry-After: 25"));
  stage.Begin();
  stage.Pass(std::chrono::minutes(1), &Stage::Render);
  EXPECT_EQ(stage.server.CountOf("POST " + kApi + "machineconfigs"), 6U);  // Three requests for each of two pools.
}

TEST(RefusedRenderingTest, IsRetriedAtOnceWithOtherInputs) {
  Stage stage;
  stage.server.Refuse("POST " + kApi + "machineconfigs", SmallApiServer::Status(403, "Forbidden", kServerMessage));
  stage.Begin();
  stage.Pass(std::chrono::minutes(5), &Stage::Render);
  stage.server.Refuse({});
  stage.AddConfig("10-worker", "worker");
  stage.RunUntil([&] { return stage.cluster->configs().Find("10-worker") != nullptr; });
  stage.Render();
  EXPECT_THAT(stage.TargetOf("worker"), StartsWith("rendered-worker-"));
}

TEST(RefusedRenderingTest, ClearsTheReportOfAnEarlierFailure) {
  Stage stage;
  stage.server.Remove("machineconfigs", "00-worker");
  stage.Begin();
  stage.Render();
  EXPECT_THAT(stage.renderer->verdicts().at("worker").message, HasSubstr("no MachineConfigs found"));
  stage.server.Refuse("POST " + kApi + "machineconfigs", SmallApiServer::Status(403, "Forbidden", kServerMessage));
  stage.AddConfig("00-worker", "worker");
  stage.RunUntil([&] { return stage.cluster->configs().Find("00-worker") != nullptr; });
  stage.Render();
  EXPECT_THAT(
      stage.renderer->verdicts().at("worker").message,
      testing::AllOf(StartsWith("Failed to render configuration for pool worker: "), HasSubstr(kServerMessage)));
}

// Returns the config that the worker pool renders to in a cluster of its own.
json::Value RenderedForWorker() {
  Stage stage;
  stage.Begin();
  stage.Render();
  return stage.server.Find("machineconfigs", stage.TargetOf("worker"));
}

TEST(StoredConfig, IsReadAndComparedBeforeItBecomesATarget) {
  json::Value changed = RenderedForWorker();
  const std::string name = changed["metadata"]["name"].text();
  const json::Value spec = changed["spec"];
  changed["spec"]["kernelArguments"] = {"init=/bin/sh"};
  for (const bool is_known : {false, true}) {
    bool is_restored = false;
    bool was_restored_first = false;
    Stage stage;
    stage.server.Refuse([&](const ReceivedRequest& request) -> std::optional<Answer> {
      if (request.line.starts_with("PATCH " + kApi + "machineconfigs/" + name)) is_restored = true;
      if (request.line.starts_with("PATCH " + kApi + "machineconfigpools/worker")) was_restored_first = is_restored;
      return std::nullopt;
    });
    if (is_known) stage.server.Put("machineconfigs", changed);
    stage.Begin();
    stage.server.Silence(true);
    if (!is_known) stage.server.Put("machineconfigs", changed);
    stage.Render();
    EXPECT_EQ(stage.server.Find("machineconfigs", name)["spec"], spec) << is_known;
    EXPECT_EQ(stage.TargetOf("worker"), name) << is_known;
    EXPECT_TRUE(was_restored_first) << is_known;
  }
}

TEST(StoredConfig, IsMissingIfTheServerMeansAnotherConflict) {
  Stage stage;
  stage.server.Refuse("POST " + kApi + "machineconfigs", SmallApiServer::Status(409, "Conflict", kServerMessage));
  stage.Begin();
  stage.Pass(std::chrono::seconds(10), &Stage::Render);
  EXPECT_EQ(stage.server.CountOf("PATCH " + kApi + "machineconfigpools"), 0U);
  EXPECT_THAT(stage.renderer->verdicts().at("worker").message, HasSubstr(kServerMessage));
}

TEST(StoredConfig, IsCreatedAgainIfItIsRemovedBeforeTheMirrorHasShownIt) {
  Stage stage;
  stage.Begin();
  stage.server.Silence(true);
  stage.Render();
  const std::string name = stage.TargetOf("worker");
  EXPECT_TRUE(stage.cluster->configs().IsExpected(name));
  stage.server.Remove("machineconfigs", name);
  stage.server.Silence(false);
  stage.RunUntil([&] { return !stage.cluster->configs().IsExpected(name); });
  stage.RunUntil([&] { return stage.cluster->configs().Find(name) == nullptr; });
  stage.Render();
  EXPECT_FALSE(stage.server.Find("machineconfigs", name).is_null());
}

class RefusedNodeUpdate : public testing::TestWithParam<BadAnswer> {};

TEST_P(RefusedNodeUpdate, IsReportedAndRetriedSeldomAndDelaysNoOtherNode) {
  Stage stage;
  for (const char* node : {"a", "b"}) stage.AddNode(node, "rendered-worker-1");
  stage.Target("worker", "rendered-worker-2");
  stage.server.Refuse("PATCH /api/v1/nodes/a", GetParam().answer);
  stage.Begin();
  stage.Pass(std::chrono::minutes(1), &Stage::RollOut);
  EXPECT_GE(stage.server.CountOf("PATCH /api/v1/nodes/a"), 3U);
  EXPECT_LE(stage.server.CountOf("PATCH /api/v1/nodes/a"), kMostInAMinute);
  EXPECT_EQ(stage.DesiredBy("a"), "rendered-worker-1");
  EXPECT_EQ(stage.DesiredBy("b"), "rendered-worker-2");
  const json::Value degraded = stage.ConditionOf("worker", "Degraded");
  EXPECT_EQ(degraded["status"], "True");
  EXPECT_EQ(degraded["reason"], "WriteRefused");
  EXPECT_THAT(degraded["message"].text(), HasSubstr(GetParam().words));
  EXPECT_LE(stage.server.CountOf("PATCH " + kApi + "machineconfigpools/worker/status"), kMostInAMinute);
  stage.server.Refuse({});
  stage.Pass(std::chrono::minutes(5), &Stage::RollOut);
  EXPECT_EQ(stage.DesiredBy("a"), "rendered-worker-2");
  EXPECT_EQ(stage.ConditionOf("worker", "Degraded")["status"], "False");
}

INSTANTIATE_TEST_SUITE_P(Each, RefusedNodeUpdate, testing::ValuesIn(kube::BadAnswers()),
                         [](const auto& refused) { return refused.param.name; });

class RefusedStatus : public testing::TestWithParam<BadAnswer> {};

TEST_P(RefusedStatus, IsRetriedSeldomAndItsEventFollowsOnlyASuccessfulWrite) {
  Stage stage;
  stage.AddNode("a", "rendered-worker-2");
  stage.Target("worker", "rendered-worker-2");
  const std::string write = "PATCH " + kApi + "machineconfigpools/worker/status";
  stage.server.Refuse(write, GetParam().answer);
  stage.Begin();
  stage.Pass(std::chrono::minutes(1), &Stage::RollOut);
  EXPECT_GE(stage.server.CountOf(write), 3U);
  EXPECT_LE(stage.server.CountOf(write), kMostInAMinute);
  stage.RunUntil([&] { return !stage.server.EventReasons().empty(); });
  EXPECT_THAT(stage.server.EventReasons(), ElementsAre("WriteRefused"));
  stage.server.Refuse({});
  stage.Pass(std::chrono::minutes(5), &Stage::RollOut);
  stage.RunUntil([&] { return stage.server.EventReasons().size() > 1; });
  EXPECT_THAT(stage.server.EventReasons(), testing::UnorderedElementsAre("WriteRefused", "Completed"));
  EXPECT_EQ(stage.ConditionOf("worker", "Updated")["status"], "True");
}

INSTANTIATE_TEST_SUITE_P(Each, RefusedStatus, testing::ValuesIn(kube::BadAnswers()),
                         [](const auto& refused) { return refused.param.name; });

TEST(RefusedReport, IsReportedAndRetriedSeldom) {
  Stage stage;
  stage.AddNode("a", "rendered-worker-2");
  stage.Target("worker", "rendered-worker-2");
  stage.server.Put("machineconfignodes", {{"metadata", {{"name", "a"}}}, {"spec", {{"node", {{"name", "a"}}}}}});
  const std::string write = "PATCH " + kApi + "machineconfignodes/a";
  stage.server.Refuse(write, SmallApiServer::Status(403, "Forbidden", kServerMessage));
  stage.Begin();
  stage.Pass(std::chrono::minutes(1), &Stage::RollOut);
  EXPECT_GE(stage.server.CountOf(write), 3U);
  EXPECT_LE(stage.server.CountOf(write), kMostInAMinute);
  EXPECT_THAT(stage.ConditionOf("worker", "Degraded")["message"].text(), HasSubstr(kServerMessage));
}

TEST(SilentWrites, OfManyPoolsDelayNoOther) {
  Stage stage;
  for (const std::string pool : {"a", "b", "c", "d"}) {
    json::Value object = stage.server.Find("machineconfigpools", "worker");
    object["metadata"] = {{"name", pool}};
    object["spec"]["maxUnavailable"] = "100%";
    object["spec"]["nodeSelector"]["matchLabels"] = {{Key(api::kRoleLabelPrefix) + pool, ""}};
    object["spec"]["configuration"] = {{"name", "rendered-" + pool + "-2"}};
    stage.server.Put("machineconfigpools", std::move(object));
    for (int i = 0; i < 20; ++i) stage.AddNode(fmt::format("silent-{}-{}", pool, i), "rendered-" + pool + "-1", pool);
  }
  stage.AddNode("w", "rendered-worker-1");
  stage.Target("worker", "rendered-worker-2");
  stage.server.Refuse("PATCH /api/v1/nodes/silent", {.ending = kube::Ending::kNever});
  stage.Begin();
  stage.BeginToRollOut();
  stage.RunUntil([&] { return stage.DesiredBy("w") == "rendered-worker-2"; });
  stage.RunUntil([&] { return stage.server.CountOf("PATCH " + kApi + "machineconfigpools/worker/status") == 1; });
}

// Simulates a client that always writes first: the object has another version whenever it is read.
void AlwaysWriteFirst(SmallApiServer& server, const std::string& path, const json::Value& object) {
  const auto version = std::make_shared<std::atomic<int>>(100'000);
  server.Refuse([=](const ReceivedRequest& request) -> std::optional<Answer> {
    if (request.line.find(path) == std::string::npos) return std::nullopt;
    if (!request.line.starts_with("GET")) return SmallApiServer::Status(409, "Conflict", kServerMessage);
    json::Value another = object;
    another["metadata"]["resourceVersion"] = std::to_string(++*version);
    return Answer{.body = json::ToText(another)};
  });
}

TEST(SlowerWrites, ThatNeverEndAreReportedAndDelayNoOtherNode) {
  Stage stage;
  for (const char* node : {"a", "b"}) stage.AddNode(node, "rendered-worker-1");
  stage.Target("worker", "rendered-worker-2");
  json::Value pool = stage.server.Find("machineconfigpools", "worker");
  pool["spec"]["maxUnavailable"] = 1;
  stage.server.Put("machineconfigpools", pool);
  AlwaysWriteFirst(stage.server, "/nodes/a", stage.server.Find("nodes", "a"));
  stage.Begin();
  stage.Pass(std::chrono::minutes(1), &Stage::RollOut);
  EXPECT_LE(stage.server.CountOf("PATCH /api/v1/nodes/a"), kMostInAMinute);
  EXPECT_THAT(stage.ConditionOf("worker", "Degraded").TextAt({"message"}), HasSubstr(kServerMessage));
  EXPECT_EQ(stage.DesiredBy("b"), "rendered-worker-2");
}

TEST(SlowerWrites, OfAStatusThatNeverEndAreAnnounced) {
  Stage stage;
  stage.AddNode("a", "rendered-worker-2");
  stage.Target("worker", "rendered-worker-2");
  AlwaysWriteFirst(stage.server, "/machineconfigpools/worker", stage.server.Find("machineconfigpools", "worker"));
  stage.Begin();
  stage.Pass(std::chrono::minutes(1), &Stage::RollOut);
  EXPECT_LE(stage.server.CountOf("PATCH " + kApi + "machineconfigpools/worker/status"), kMostInAMinute);
  stage.RunUntil([&] { return !stage.server.EventReasons().empty(); });
  EXPECT_THAT(stage.server.EventReasons(), ElementsAre("WriteRefused"));
}

TEST(SlowerWrites, OfATargetThatNeverEndAreReported) {
  Stage stage;
  AlwaysWriteFirst(stage.server, "/machineconfigpools/worker", stage.server.Find("machineconfigpools", "worker"));
  stage.Begin();
  stage.Pass(std::chrono::minutes(1), &Stage::Render);
  EXPECT_LE(stage.server.CountOf("PATCH " + kApi + "machineconfigpools/worker"), kMostInAMinute);
  ASSERT_TRUE(stage.renderer->verdicts().contains("worker"));
  EXPECT_THAT(stage.renderer->verdicts().at("worker").message, HasSubstr(kServerMessage));
}

TEST(RestoredStore, IsAcceptedWhenATargetIsWritten) {
  Stage stage;
  const json::Value before = stage.server.Find("machineconfigpools", "worker");
  for (int i = 0; i < 10; ++i) stage.server.Put("machineconfigpools", before);
  stage.Begin();
  stage.server.Silence(true);
  stage.server.Restore("machineconfigpools", before);
  stage.Pass(std::chrono::seconds(10), &Stage::Render);
  EXPECT_THAT(stage.TargetOf("worker"), StartsWith("rendered-worker-"));
}

TEST(RestoredStore, IsAcceptedWhenANodeIsWritten) {
  Stage stage;
  stage.AddNode("a", "rendered-worker-1");
  stage.Target("worker", "rendered-worker-2");
  const json::Value before = stage.server.Find("nodes", "a");
  for (int i = 0; i < 10; ++i) stage.AddNode("a", "rendered-worker-1");
  stage.Begin();
  stage.server.Silence(true);
  stage.server.Restore("nodes", before);
  stage.Pass(std::chrono::seconds(10), &Stage::RollOut);
  EXPECT_EQ(stage.DesiredBy("a"), "rendered-worker-2");
  EXPECT_EQ(stage.server.CountOf("PATCH /api/v1/nodes/a"), 2U);
}

std::string CurrentOf(const WatchedNode* node) {
  return node == nullptr ? "" : node->metadata.Annotation(api::kCurrentConfigAnnotation);
}

TEST(UnknownNodeUpdate, DelaysOnlyItsPoolUntilTheNodeIsRead) {
  Stage stage;
  for (const char* node : {"a", "b"}) stage.AddNode(node, "rendered-worker-1");
  stage.AddNode("c", "rendered-infra-1", "infra");
  stage.Target("worker", "rendered-worker-2");
  stage.Target("infra", "rendered-infra-2");
  json::Value pool = stage.server.Find("machineconfigpools", "worker");
  pool["spec"]["maxUnavailable"] = 1;
  stage.server.Put("machineconfigpools", pool);
  stage.server.Refuse([](const ReceivedRequest& request) -> std::optional<Answer> {
    if (request.line.find("/nodes/a") == std::string::npos) return std::nullopt;
    return Answer{.ending = kube::Ending::kCutOff};
  });
  stage.Begin();
  stage.Pass(std::chrono::minutes(1), &Stage::RollOut);
  EXPECT_EQ(stage.server.CountOf("PATCH /api/v1/nodes/a"), 1U);
  EXPECT_GE(stage.server.CountOf("GET /api/v1/nodes/a"), 3U);
  EXPECT_LE(stage.server.CountOf("GET /api/v1/nodes/a"), kMostInAMinute);
  EXPECT_EQ(stage.DesiredBy("b"), "rendered-worker-1");
  EXPECT_EQ(stage.DesiredBy("c"), "rendered-infra-2");
  EXPECT_THAT(stage.ConditionOf("worker", "Degraded")["message"].text(), HasSubstr("connection"));
  stage.server.Refuse({});
  stage.Pass(std::chrono::minutes(5), &Stage::RollOut);
  // The controller has learned that the node was not updated, so it may update one; the node with the lost answer comes
  // last.
  EXPECT_EQ(stage.DesiredBy("b"), "rendered-worker-2");
  EXPECT_EQ(stage.DesiredBy("a"), "rendered-worker-1");
  stage.AddNode("b", "rendered-worker-2");
  stage.RunUntil([&] { return CurrentOf(stage.cluster->nodes().Find("b")) == "rendered-worker-2"; });
  stage.RollOut();
  EXPECT_EQ(stage.DesiredBy("a"), "rendered-worker-2");
}

}  // namespace
}  // namespace pintle::controller
