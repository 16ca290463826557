// SPDX-License-Identifier: Apache-2.0
// Tests writes that the API server refuses: they are repeated less and less often, are reported with the server's
// message, and delay no other writes.

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <atomic>
#include <memory>

#include "api/annotations.h"
#include "controller/cluster.h"
#include "controller/pool_members.h"
#include "controller/renderer.h"
#include "controller/rollout_pass.h"
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
class Testbed {
 public:
  Testbed() {
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

  void SetTarget(const std::string& pool, const std::string& config) {
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
    renderer =
        std::make_unique<Renderer>(*loop, *client, clock, *cluster, *announcer, Versions{}, /*dates_targets=*/false,
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
    const PoolMembers members = MakePoolMembers(view);
    Changes changes = RolloutPass({.view = view,
                                   .members = members,
                                   .verdicts = {},
                                   .skipped = {},
                                   .undrainable = {},
                                   .features = {},
                                   .now = api::Time{std::chrono::floor<std::chrono::seconds>(clock.Wall())},
                                   .unwritten = unwritten});
    writer->RemovePostponed(changes);
    if (!changes.is_empty()) writer->Write(std::move(changes));
  }

  // Calls `look` again and again.
  void Pass(std::chrono::seconds time, void (Testbed::*look)()) {
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
  Testbed testbed;
  testbed.server.Refuse(
      [&, answer = refused.answer, write = write](const ReceivedRequest& request) -> std::optional<Answer> {
        const bool is_of_worker = request.line.find("worker") != std::string::npos ||
                                  request.body.find("\"name\":\"rendered-worker-") != std::string::npos;
        if (!request.line.starts_with(write) || !is_of_worker) return std::nullopt;
        ++count;
        return answer;
      });
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::Render);
  EXPECT_GE(count, 3U);
  EXPECT_LE(count, kMostInAMinute);
  EXPECT_EQ(testbed.TargetOf("worker"), "");
  EXPECT_THAT(testbed.TargetOf("infra"), StartsWith("rendered-infra-"));
  EXPECT_THAT(testbed.renderer->verdicts().at("worker").message, HasSubstr(refused.words));
  EXPECT_EQ(testbed.renderer->verdicts().at("infra").message, "");
  testbed.server.Refuse({});
  testbed.Pass(std::chrono::minutes(5), &Testbed::Render);
  EXPECT_THAT(testbed.TargetOf("worker"), StartsWith("rendered-worker-"));
  EXPECT_EQ(testbed.renderer->verdicts().at("worker").message, "");
}

INSTANTIATE_TEST_SUITE_P(
    Each, RefusedRendering,
    testing::ValuesIn(EachOf({"POST " + kApi + "machineconfigs", "PATCH " + kApi + "machineconfigpools/worker"})),
    [](const auto& refused) {
      return (refused.param.first.starts_with("POST") ? "Creating" : "Targeting") + refused.param.second.name;
    });

TEST(RefusedRenderingTest, KeepsTheDelayThatTheServerAsksFor) {
  Testbed testbed;
  testbed.server.Refuse(
      "POST " + kApi + "machineconfigs",
      kube::WithHeader(SmallApiServer::Status(429, "TooManyRequests", kServerMessage), "Retry-After: 25"));
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::Render);
  EXPECT_EQ(testbed.server.CountOf("POST " + kApi + "machineconfigs"), 6U);  // Three requests for each of two pools.
}

TEST(RefusedRenderingTest, IsRetriedAtOnceWithOtherInputs) {
  Testbed testbed;
  testbed.server.Refuse("POST " + kApi + "machineconfigs", SmallApiServer::Status(403, "Forbidden", kServerMessage));
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(5), &Testbed::Render);
  testbed.server.Refuse({});
  testbed.AddConfig("10-worker", "worker");
  testbed.RunUntil([&] { return testbed.cluster->configs().Find("10-worker") != nullptr; });
  testbed.Render();
  EXPECT_THAT(testbed.TargetOf("worker"), StartsWith("rendered-worker-"));
}

TEST(RefusedRenderingTest, ClearsTheReportOfAnEarlierFailure) {
  Testbed testbed;
  testbed.server.Remove("machineconfigs", "00-worker");
  testbed.Begin();
  testbed.Render();
  EXPECT_THAT(testbed.renderer->verdicts().at("worker").message, HasSubstr("no MachineConfigs found"));
  testbed.server.Refuse("POST " + kApi + "machineconfigs", SmallApiServer::Status(403, "Forbidden", kServerMessage));
  testbed.AddConfig("00-worker", "worker");
  testbed.RunUntil([&] { return testbed.cluster->configs().Find("00-worker") != nullptr; });
  testbed.Render();
  EXPECT_THAT(
      testbed.renderer->verdicts().at("worker").message,
      testing::AllOf(StartsWith("Failed to render configuration for pool worker: "), HasSubstr(kServerMessage)));
}

// Returns the config that the worker pool renders to in a cluster of its own.
json::Value RenderedForWorker() {
  Testbed testbed;
  testbed.Begin();
  testbed.Render();
  return testbed.server.Find("machineconfigs", testbed.TargetOf("worker"));
}

constexpr const char* kUnkept = "the API server accepted the write but changed nothing";

TEST(UnkeptTarget, IsReportedAndRetriedSeldom) {
  Testbed testbed;
  const std::string write = "PATCH " + kApi + "machineconfigpools/worker";
  testbed.server.Refuse([&](const ReceivedRequest& request) -> std::optional<Answer> {
    if (!request.line.starts_with(write)) return std::nullopt;
    return Answer{.body = json::ToText(testbed.server.Find("machineconfigpools", "worker"))};
  });
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::Render);
  EXPECT_GE(testbed.server.CountOf(write), 3U);
  EXPECT_LE(testbed.server.CountOf(write), kMostInAMinute);
  EXPECT_THAT(testbed.renderer->verdicts().at("worker").message, HasSubstr(kUnkept));
  EXPECT_THAT(testbed.TargetOf("infra"), StartsWith("rendered-infra-"));
  testbed.server.Refuse({});
  testbed.Pass(std::chrono::minutes(5), &Testbed::Render);
  EXPECT_THAT(testbed.TargetOf("worker"), StartsWith("rendered-worker-"));
  EXPECT_EQ(testbed.renderer->verdicts().at("worker").message, "");
}

TEST(UnkeptConfig, NeverBecomesATarget) {
  Testbed testbed;
  std::atomic<std::size_t> writes = 0;
  testbed.server.Refuse([&](const ReceivedRequest& request) -> std::optional<Answer> {
    const std::size_t at = request.line.find("machineconfigs/rendered-worker-");
    if (request.line.starts_with("PATCH") && at != std::string::npos) {
      ++writes;
      const std::size_t name = request.line.find("rendered-");
      const std::string found = request.line.substr(name, request.line.find('?') - name);
      return Answer{.body = json::ToText(testbed.server.Find("machineconfigs", found))};
    }
    if (!request.line.starts_with("POST " + kApi + "machineconfigs")) return std::nullopt;
    json::Value config = ValueOf(json::Parse(request.body));
    const std::string name = config.TextAt({"metadata", "name"});
    if (!name.starts_with("rendered-worker-")) return std::nullopt;
    ++writes;
    config["spec"]["kernelArguments"] = {"init=/bin/sh"};
    testbed.server.Put("machineconfigs", config);
    return Answer{.status = 201, .body = json::ToText(testbed.server.Find("machineconfigs", name))};
  });
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::Render);
  EXPECT_GE(writes, 3U);
  EXPECT_LE(writes, kMostInAMinute);
  EXPECT_EQ(testbed.TargetOf("worker"), "");
  EXPECT_THAT(testbed.renderer->verdicts().at("worker").message, HasSubstr(kUnkept));
}

TEST(StoredConfig, IsReadAndComparedBeforeItBecomesATarget) {
  json::Value changed = RenderedForWorker();
  const std::string name = changed["metadata"]["name"].text();
  const json::Value spec = changed["spec"];
  changed["spec"]["kernelArguments"] = {"init=/bin/sh"};
  for (const bool is_known : {false, true}) {
    bool is_restored = false;
    bool was_restored_first = false;
    Testbed testbed;
    testbed.server.Refuse([&](const ReceivedRequest& request) -> std::optional<Answer> {
      if (request.line.starts_with("PATCH " + kApi + "machineconfigs/" + name)) is_restored = true;
      if (request.line.starts_with("PATCH " + kApi + "machineconfigpools/worker")) was_restored_first = is_restored;
      return std::nullopt;
    });
    if (is_known) testbed.server.Put("machineconfigs", changed);
    testbed.Begin();
    testbed.server.Silence(true);
    if (!is_known) testbed.server.Put("machineconfigs", changed);
    testbed.Render();
    EXPECT_EQ(testbed.server.Find("machineconfigs", name)["spec"], spec) << is_known;
    EXPECT_EQ(testbed.TargetOf("worker"), name) << is_known;
    EXPECT_TRUE(was_restored_first) << is_known;
  }
}

TEST(StoredConfig, IsReadAgainIfItIsChangedWhileItIsRestored) {
  json::Value changed = RenderedForWorker();
  const std::string name = changed["metadata"]["name"].text();
  const json::Value spec = changed["spec"];
  changed["spec"]["kernelArguments"] = {"init=/bin/sh"};
  std::atomic<bool> is_changed_again = false;
  Testbed testbed;
  testbed.server.Refuse([&](const ReceivedRequest& request) -> std::optional<Answer> {
    const bool restores = request.line.starts_with("PATCH " + kApi + "machineconfigs/" + name);
    if (restores && !is_changed_again.exchange(true)) testbed.server.Put("machineconfigs", changed);
    return std::nullopt;
  });
  testbed.server.Put("machineconfigs", changed);
  testbed.Begin();
  testbed.Render();
  EXPECT_TRUE(is_changed_again);
  EXPECT_FALSE(testbed.renderer->verdicts().contains("worker"));
  testbed.Render();
  EXPECT_EQ(testbed.server.Find("machineconfigs", name)["spec"], spec);
  EXPECT_EQ(testbed.TargetOf("worker"), name);
  EXPECT_EQ(testbed.renderer->verdicts().at("worker").message, "");
}

TEST(StoredConfig, DoesNotExistIfTheServerAnswersAnotherConflict) {
  Testbed testbed;
  testbed.server.Refuse("POST " + kApi + "machineconfigs", SmallApiServer::Status(409, "Conflict", kServerMessage));
  testbed.Begin();
  testbed.Pass(std::chrono::seconds(10), &Testbed::Render);
  EXPECT_EQ(testbed.server.CountOf("PATCH " + kApi + "machineconfigpools"), 0U);
  EXPECT_THAT(testbed.renderer->verdicts().at("worker").message, HasSubstr(kServerMessage));
}

TEST(StoredConfig, IsCreatedAgainIfItIsRemovedBeforeTheMirrorHasShownIt) {
  Testbed testbed;
  testbed.Begin();
  testbed.server.Silence(true);
  testbed.Render();
  const std::string name = testbed.TargetOf("worker");
  EXPECT_TRUE(testbed.cluster->configs().IsExpected(name));
  testbed.server.Remove("machineconfigs", name);
  testbed.server.Silence(false);
  testbed.RunUntil([&] { return !testbed.cluster->configs().IsExpected(name); });
  testbed.RunUntil([&] { return testbed.cluster->configs().Find(name) == nullptr; });
  testbed.Render();
  EXPECT_FALSE(testbed.server.Find("machineconfigs", name).is_null());
}

class RefusedNodeUpdate : public testing::TestWithParam<BadAnswer> {};

TEST_P(RefusedNodeUpdate, IsReportedAndRetriedSeldomAndDelaysNoOtherNode) {
  Testbed testbed;
  for (const char* node : {"a", "b"}) testbed.AddNode(node, "rendered-worker-1");
  testbed.SetTarget("worker", "rendered-worker-2");
  testbed.server.Refuse("PATCH /api/v1/nodes/a", GetParam().answer);
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::RollOut);
  EXPECT_GE(testbed.server.CountOf("PATCH /api/v1/nodes/a"), 3U);
  EXPECT_LE(testbed.server.CountOf("PATCH /api/v1/nodes/a"), kMostInAMinute);
  EXPECT_EQ(testbed.DesiredBy("a"), "rendered-worker-1");
  EXPECT_EQ(testbed.DesiredBy("b"), "rendered-worker-2");
  const json::Value degraded = testbed.ConditionOf("worker", "Degraded");
  EXPECT_EQ(degraded["status"], "True");
  EXPECT_EQ(degraded["reason"], "WriteRefused");
  EXPECT_THAT(degraded["message"].text(), HasSubstr(GetParam().words));
  EXPECT_LE(testbed.server.CountOf("PATCH " + kApi + "machineconfigpools/worker/status"), kMostInAMinute);
  testbed.server.Refuse({});
  testbed.Pass(std::chrono::minutes(5), &Testbed::RollOut);
  EXPECT_EQ(testbed.DesiredBy("a"), "rendered-worker-2");
  EXPECT_EQ(testbed.ConditionOf("worker", "Degraded")["status"], "False");
}

INSTANTIATE_TEST_SUITE_P(Each, RefusedNodeUpdate, testing::ValuesIn(kube::BadAnswers()),
                         [](const auto& refused) { return refused.param.name; });

class RefusedStatus : public testing::TestWithParam<BadAnswer> {};

TEST_P(RefusedStatus, IsRetriedSeldomAndItsEventFollowsOnlyASuccessfulWrite) {
  Testbed testbed;
  testbed.AddNode("a", "rendered-worker-2");
  testbed.SetTarget("worker", "rendered-worker-2");
  const std::string write = "PATCH " + kApi + "machineconfigpools/worker/status";
  testbed.server.Refuse(write, GetParam().answer);
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::RollOut);
  EXPECT_GE(testbed.server.CountOf(write), 3U);
  EXPECT_LE(testbed.server.CountOf(write), kMostInAMinute);
  testbed.RunUntil([&] { return !testbed.server.EventReasons().empty(); });
  EXPECT_THAT(testbed.server.EventReasons(), ElementsAre("WriteRefused"));
  testbed.server.Refuse({});
  testbed.Pass(std::chrono::minutes(5), &Testbed::RollOut);
  testbed.RunUntil([&] { return testbed.server.EventReasons().size() > 1; });
  EXPECT_THAT(testbed.server.EventReasons(), testing::UnorderedElementsAre("WriteRefused", "Completed"));
  EXPECT_EQ(testbed.ConditionOf("worker", "Updated")["status"], "True");
}

INSTANTIATE_TEST_SUITE_P(Each, RefusedStatus, testing::ValuesIn(kube::BadAnswers()),
                         [](const auto& refused) { return refused.param.name; });

TEST(UnkeptStatus, IsReportedAndRetriedSeldom) {
  Testbed testbed;
  testbed.AddNode("a", "rendered-worker-2");
  testbed.SetTarget("worker", "rendered-worker-2");
  const std::string write = "PATCH " + kApi + "machineconfigpools/worker/status";
  testbed.server.Refuse([&](const ReceivedRequest& request) -> std::optional<Answer> {
    if (!request.line.starts_with(write)) return std::nullopt;
    return Answer{.body = json::ToText(testbed.server.Find("machineconfigpools", "worker"))};
  });
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::RollOut);
  EXPECT_GE(testbed.server.CountOf(write), 3U);
  EXPECT_LE(testbed.server.CountOf(write), kMostInAMinute);
  testbed.RunUntil([&] { return !testbed.server.EventReasons().empty(); });
  EXPECT_THAT(testbed.server.EventReasons(), ElementsAre("WriteRefused"));
}

TEST(RefusedMachineConfigNode, IsReportedAndRetriedSeldom) {
  Testbed testbed;
  testbed.AddNode("a", "rendered-worker-2");
  testbed.SetTarget("worker", "rendered-worker-2");
  testbed.server.Put("machineconfignodes", {{"metadata", {{"name", "a"}}}, {"spec", {{"node", {{"name", "a"}}}}}});
  const std::string write = "PATCH " + kApi + "machineconfignodes/a";
  testbed.server.Refuse(write, SmallApiServer::Status(403, "Forbidden", kServerMessage));
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::RollOut);
  EXPECT_GE(testbed.server.CountOf(write), 3U);
  EXPECT_LE(testbed.server.CountOf(write), kMostInAMinute);
  EXPECT_THAT(testbed.ConditionOf("worker", "Degraded")["message"].text(), HasSubstr(kServerMessage));
}

TEST(SilentWrites, OfManyPoolsDelayNoOtherPool) {
  Testbed testbed;
  for (const std::string pool : {"a", "b", "c", "d"}) {
    json::Value object = testbed.server.Find("machineconfigpools", "worker");
    object["metadata"] = {{"name", pool}};
    object["spec"]["maxUnavailable"] = "100%";
    object["spec"]["nodeSelector"]["matchLabels"] = {{Key(api::kRoleLabelPrefix) + pool, ""}};
    object["spec"]["configuration"] = {{"name", "rendered-" + pool + "-2"}};
    testbed.server.Put("machineconfigpools", std::move(object));
    for (int i = 0; i < 20; ++i) testbed.AddNode(fmt::format("silent-{}-{}", pool, i), "rendered-" + pool + "-1", pool);
  }
  testbed.AddNode("w", "rendered-worker-1");
  testbed.SetTarget("worker", "rendered-worker-2");
  testbed.server.Refuse("PATCH /api/v1/nodes/silent", {.ending = kube::Ending::kNever});
  testbed.Begin();
  testbed.BeginToRollOut();
  testbed.RunUntil([&] { return testbed.DesiredBy("w") == "rendered-worker-2"; });
  testbed.RunUntil([&] { return testbed.server.CountOf("PATCH " + kApi + "machineconfigpools/worker/status") == 1; });
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

TEST(ConflictingWrites, AreReportedAndDelayNoOtherNode) {
  Testbed testbed;
  for (const char* node : {"a", "b"}) testbed.AddNode(node, "rendered-worker-1");
  testbed.SetTarget("worker", "rendered-worker-2");
  json::Value pool = testbed.server.Find("machineconfigpools", "worker");
  pool["spec"]["maxUnavailable"] = 1;
  testbed.server.Put("machineconfigpools", pool);
  AlwaysWriteFirst(testbed.server, "/nodes/a", testbed.server.Find("nodes", "a"));
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::RollOut);
  EXPECT_LE(testbed.server.CountOf("PATCH /api/v1/nodes/a"), kMostInAMinute);
  EXPECT_THAT(testbed.ConditionOf("worker", "Degraded").TextAt({"message"}), HasSubstr(kServerMessage));
  EXPECT_EQ(testbed.DesiredBy("b"), "rendered-worker-2");
}

TEST(ConflictingWrites, OfAStatusAreAnnounced) {
  Testbed testbed;
  testbed.AddNode("a", "rendered-worker-2");
  testbed.SetTarget("worker", "rendered-worker-2");
  AlwaysWriteFirst(testbed.server, "/machineconfigpools/worker", testbed.server.Find("machineconfigpools", "worker"));
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::RollOut);
  EXPECT_LE(testbed.server.CountOf("PATCH " + kApi + "machineconfigpools/worker/status"), kMostInAMinute);
  testbed.RunUntil([&] { return !testbed.server.EventReasons().empty(); });
  EXPECT_THAT(testbed.server.EventReasons(), ElementsAre("WriteRefused"));
}

TEST(ConflictingWrites, OfATargetAreReported) {
  Testbed testbed;
  AlwaysWriteFirst(testbed.server, "/machineconfigpools/worker", testbed.server.Find("machineconfigpools", "worker"));
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::Render);
  EXPECT_LE(testbed.server.CountOf("PATCH " + kApi + "machineconfigpools/worker"), kMostInAMinute);
  ASSERT_TRUE(testbed.renderer->verdicts().contains("worker"));
  EXPECT_THAT(testbed.renderer->verdicts().at("worker").message, HasSubstr(kServerMessage));
}

// Simulates a client that changes an object again and again, and a watch whose events arrive too late: in each step,
// the object changes once, and the mirror does not see it.
class BusyClient {
 public:
  BusyClient(Testbed& testbed, const std::string& plural, const std::string& name)
      : testbed_(testbed), plural_(plural), name_(name) {
    testbed.server.Silence(true);
    testbed.server.Refuse([this](const ReceivedRequest& request) -> std::optional<Answer> {
      const bool is_write = request.line.starts_with("PATCH") && request.line.find(name_) != std::string::npos;
      if (is_write && ++writes_ <= kConflictsAtFirst) Change();
      return std::nullopt;
    });
  }

  void Pass(std::chrono::seconds time, void (Testbed::*look)()) {
    for (const MonotonicTime end = testbed_.clock.now + time; testbed_.clock.now < end;
         testbed_.clock.now += milliseconds(100)) {
      Change();
      // The controller looks again as soon as its writes have ended.
      for (int looks = 0; looks < 2; ++looks) (testbed_.*look)();
    }
  }

 private:
  static constexpr int kConflictsAtFirst = 4;

  void Change() { testbed_.server.Put(plural_, testbed_.server.Find(plural_, name_)); }

  Testbed& testbed_;
  const std::string plural_;
  const std::string name_;
  std::atomic<int> writes_ = 0;
};

TEST(ConflictingWrites, OfANodeEndAlthoughEventsArriveTooLate) {
  Testbed testbed;
  testbed.AddNode("a", "rendered-worker-1");
  testbed.SetTarget("worker", "rendered-worker-2");
  testbed.Begin();
  BusyClient client(testbed, "nodes", "a");
  client.Pass(std::chrono::seconds(20), &Testbed::RollOut);
  EXPECT_EQ(testbed.DesiredBy("a"), "rendered-worker-2");
}

TEST(ConflictingWrites, OfATargetEndAlthoughEventsArriveTooLate) {
  Testbed testbed;
  testbed.Begin();
  BusyClient client(testbed, "machineconfigpools", "worker");
  client.Pass(std::chrono::seconds(20), &Testbed::Render);
  EXPECT_THAT(testbed.TargetOf("worker"), StartsWith("rendered-worker-"));
}

TEST(RestoredStore, IsAcceptedWhenATargetIsWritten) {
  Testbed testbed;
  const json::Value before = testbed.server.Find("machineconfigpools", "worker");
  for (int i = 0; i < 10; ++i) testbed.server.Put("machineconfigpools", before);
  testbed.Begin();
  testbed.server.Silence(true);
  testbed.server.Restore("machineconfigpools", before);
  testbed.Pass(std::chrono::seconds(10), &Testbed::Render);
  EXPECT_THAT(testbed.TargetOf("worker"), StartsWith("rendered-worker-"));
}

TEST(RestoredStore, IsAcceptedWhenANodeIsWritten) {
  Testbed testbed;
  testbed.AddNode("a", "rendered-worker-1");
  testbed.SetTarget("worker", "rendered-worker-2");
  const json::Value before = testbed.server.Find("nodes", "a");
  for (int i = 0; i < 10; ++i) testbed.AddNode("a", "rendered-worker-1");
  testbed.Begin();
  testbed.server.Silence(true);
  testbed.server.Restore("nodes", before);
  testbed.Pass(std::chrono::seconds(10), &Testbed::RollOut);
  EXPECT_EQ(testbed.DesiredBy("a"), "rendered-worker-2");
  EXPECT_EQ(testbed.server.CountOf("PATCH /api/v1/nodes/a"), 2U);
}

std::string CurrentOf(const WatchedNode* node) {
  return node == nullptr ? "" : node->metadata.Annotation(api::kCurrentConfigAnnotation);
}

TEST(UnknownNodeUpdate, DelaysOnlyItsPoolUntilTheNodeIsRead) {
  Testbed testbed;
  for (const char* node : {"a", "b"}) testbed.AddNode(node, "rendered-worker-1");
  testbed.AddNode("c", "rendered-infra-1", "infra");
  testbed.SetTarget("worker", "rendered-worker-2");
  testbed.SetTarget("infra", "rendered-infra-2");
  json::Value pool = testbed.server.Find("machineconfigpools", "worker");
  pool["spec"]["maxUnavailable"] = 1;
  testbed.server.Put("machineconfigpools", pool);
  testbed.server.Refuse([](const ReceivedRequest& request) -> std::optional<Answer> {
    if (request.line.find("/nodes/a") == std::string::npos) return std::nullopt;
    return Answer{.ending = kube::Ending::kCutOff};
  });
  testbed.Begin();
  testbed.Pass(std::chrono::minutes(1), &Testbed::RollOut);
  EXPECT_EQ(testbed.server.CountOf("PATCH /api/v1/nodes/a"), 1U);
  EXPECT_GE(testbed.server.CountOf("GET /api/v1/nodes/a"), 3U);
  EXPECT_LE(testbed.server.CountOf("GET /api/v1/nodes/a"), kMostInAMinute);
  EXPECT_EQ(testbed.DesiredBy("b"), "rendered-worker-1");
  EXPECT_EQ(testbed.DesiredBy("c"), "rendered-infra-2");
  EXPECT_THAT(testbed.ConditionOf("worker", "Degraded")["message"].text(), HasSubstr("connection"));
  testbed.server.Refuse({});
  testbed.Pass(std::chrono::minutes(5), &Testbed::RollOut);
  // The controller has learned that the node was not updated, so it may update one; the node with the lost answer comes
  // last.
  EXPECT_EQ(testbed.DesiredBy("b"), "rendered-worker-2");
  EXPECT_EQ(testbed.DesiredBy("a"), "rendered-worker-1");
  testbed.AddNode("b", "rendered-worker-2");
  testbed.RunUntil([&] { return CurrentOf(testbed.cluster->nodes().Find("b")) == "rendered-worker-2"; });
  testbed.RollOut();
  EXPECT_EQ(testbed.DesiredBy("a"), "rendered-worker-2");
}

}  // namespace
}  // namespace pintle::controller
