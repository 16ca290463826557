// SPDX-License-Identifier: Apache-2.0
#include "agent/node_conditions_writer.h"

#include <fmt/core.h>

#include "event/loop.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/event/patience.h"
#include "unit/kube/arrivals.h"
#include "unit/kube/bad_answers.h"
#include "unit/kube/scripted_server.h"

namespace pintle::agent {
namespace {

using kube::Answer;
using kube::ScriptedServer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kGetObject = "GET /apis/machineconfiguration.openshift.io/v1/machineconfignodes/a";
constexpr const char* kPostObject =
    "POST /apis/machineconfiguration.openshift.io/v1/machineconfignodes?fieldManager=machine-config-operator";
constexpr const char* kPatchStatus =
    "PATCH /apis/machineconfiguration.openshift.io/v1/machineconfignodes/a/status?fieldManager=machine-config-operator"
    "&force=true";
constexpr const char* kPatchSpec =
    "PATCH /apis/machineconfiguration.openshift.io/v1/machineconfignodes/a?fieldManager=machine-config-operator"
    "&force=true";

const std::string kExistingObject =
    R"({"metadata":{"name":"a","generation":1},"spec":{"node":{"name":"a"},"pool":{"name":"infra"},)"
    R"("configVersion":{"desired":"rendered-1"}}})";

const NodeFacts kWrittenNode = {
    .name = "a", .uid = "uid-1", .pool = "worker", .current_config = "rendered-1", .desired_config = "rendered-2"};

Answer ObjectIsMissing() {
  return {.status = 404,
          .body = R"({"kind":"Status","reason":"NotFound","message":"machineconfignodes.machineconfiguration.openshift)"
                  R"(.io \"a\" not found"})"};
}

Answer KindIsUnknown() {
  return {.status = 404,
          .body = R"({"kind":"Status","reason":"NotFound","message":"the server could not find the requested )"
                  R"(resource"})"};
}

class MovedClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return now; }
  WallTime Wall() const override { return WallTime(std::chrono::seconds(1'800'000'000)); }
  MonotonicTime now;
};

class NodeConditionsWriterTest : public testing::Test {
 protected:
  NodeConditionsWriterTest() { ::setenv("no_proxy", "*", 1); }

  std::unique_ptr<NodeConditionsWriter> Writer(const ScriptedServer& server,
                                               kube::Backoff::Settings backoff = kube::kNoTime) {
    auto client = ValueOf(kube::Client::Create(*loop_, server.access()));
    return std::make_unique<NodeConditionsWriter>(*loop_, client.As("machine-config-operator"), clock_,
                                                  NodeConditionsWriter::Listener{[this] { loop_->Stop(); }}, backoff);
  }

  void RunUntilIdle() { EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_))); }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  MovedClock clock_;
};

json::Value Body(ScriptedServer& server, std::size_t index) {
  return ValueOf(json::Parse(server.requests()[index].body));
}

TEST_F(NodeConditionsWriterTest, WritesOneMomentAfterTheOther) {
  ScriptedServer server(
      {{.body = kExistingObject}, {.body = kExistingObject}, {.body = kExistingObject}, {.body = kExistingObject}});
  const auto writer = Writer(server);
  writer->Write(progress::NeedsUpdate("a"), kWrittenNode);
  writer->Write(progress::DrainNotRequired(), kWrittenNode);
  EXPECT_FALSE(writer->is_idle());
  RunUntilIdle();
  EXPECT_TRUE(writer->is_idle());
  EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject, kPatchStatus, kGetObject, kPatchStatus));
  EXPECT_THAT(server.requests()[1].head, HasSubstr("application/apply-patch+yaml"));
  const json::Value applied = Body(server, 1);
  EXPECT_EQ(applied["metadata"]["name"], "a");
  EXPECT_FALSE(applied.contains("spec"));
  EXPECT_EQ(applied["status"]["observedGeneration"], 2);
  EXPECT_EQ(applied["status"]["configVersion"]["desired"], "rendered-2");
  EXPECT_THAT(applied["status"]["conditions"], SizeIs(14));
  EXPECT_EQ(json::ToText(applied["status"]["conditions"][0]),
            R"({"lastTransitionTime":"2027-01-15T08:00:00Z","message":"Node a needs an update","reason":"Updated",)"
            R"("status":"False","type":"Updated"})");
  EXPECT_EQ(Body(server, 3)["status"]["conditions"][1]["type"], "Drained");
}

TEST_F(NodeConditionsWriterTest, WritesTheSpecOnceTheUpdateIsPrepared) {
  ScriptedServer server({{.body = kExistingObject}, {.body = kExistingObject}, {.body = kExistingObject}});
  const auto writer = Writer(server);
  writer->Write(progress::Prepared({}, false), kWrittenNode);
  RunUntilIdle();
  EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject, kPatchStatus, kPatchSpec));
  EXPECT_EQ(json::ToText(Body(server, 2)["spec"]),
            R"({"configVersion":{"desired":"rendered-2"},"node":{"name":"a"},"pool":{"name":"infra"}})");
}

TEST_F(NodeConditionsWriterTest, CreatesAMissingObject) {
  ScriptedServer server({ObjectIsMissing(), {.status = 201, .body = kExistingObject}, {.body = kExistingObject}});
  const auto writer = Writer(server);
  writer->Write(progress::NeedsUpdate("a"), kWrittenNode);
  RunUntilIdle();
  EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject, kPostObject, kPatchStatus));
  EXPECT_EQ(Body(server, 1)["metadata"]["ownerReferences"][0]["uid"], "uid-1");
}

TEST_F(NodeConditionsWriterTest, ReadsAgainWhenSomeoneElseHasCreatedTheObject) {
  ScriptedServer server({ObjectIsMissing(), {.status = 409}, {.body = kExistingObject}, {.body = kExistingObject}});
  const auto writer = Writer(server);
  writer->Write(progress::NeedsUpdate("a"), kWrittenNode);
  RunUntilIdle();
  EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject, kPostObject, kGetObject, kPatchStatus));
}

TEST_F(NodeConditionsWriterTest, ReadsAgainWhenSomeoneElseHasChangedTheObject) {
  const std::string changed = R"({"metadata":{"name":"a","resourceVersion":"8"},)"
                              R"("status":{"conditions":[{"type":"Cordoned","status":"True"}]}})";
  ScriptedServer server({{.body = R"({"metadata":{"name":"a","resourceVersion":"7"}})"},
                         {.status = 409},
                         {.body = changed},
                         {.body = kExistingObject}});
  const auto writer = Writer(server);
  writer->Write(progress::Rebooted(), kWrittenNode);
  RunUntilIdle();
  EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject, kPatchStatus, kGetObject, kPatchStatus));
  EXPECT_EQ(Body(server, 1)["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(Body(server, 3)["metadata"]["resourceVersion"], "8");
  EXPECT_EQ(Body(server, 3)["status"]["conditions"][0]["type"], "Cordoned");
}

TEST_F(NodeConditionsWriterTest, DoesNotWriteTheSameMomentTwice) {
  ScriptedServer server({{.body = kExistingObject}, {.body = kExistingObject}});
  const auto writer = Writer(server);
  writer->Write(progress::Updated("a"), kWrittenNode);
  writer->Write(progress::Updated("a"), kWrittenNode);
  RunUntilIdle();
  writer->Write(progress::Updated("a"), kWrittenNode);
  EXPECT_TRUE(writer->is_idle());
  EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject, kPatchStatus));
}

TEST_F(NodeConditionsWriterTest, TriesAgainWhileTheServerIsAway) {
  ScriptedServer server({{.status = 500},
                         {.body = kExistingObject},
                         {.status = 503},
                         {.body = kExistingObject},
                         {.body = kExistingObject}});
  const auto writer = Writer(server);
  writer->Write(progress::Updated("a"), kWrittenNode);
  RunUntilIdle();
  EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject, kGetObject, kPatchStatus, kGetObject, kPatchStatus));
}

TEST_F(NodeConditionsWriterTest, LeavesOutRefusedMoments) {
  ScriptedServer server({{.status = 403}, {.body = kExistingObject}, {.body = kExistingObject}});
  const auto writer = Writer(server);
  writer->Write(progress::Rebooted(), kWrittenNode);
  writer->Write(progress::Updated("a"), kWrittenNode);
  RunUntilIdle();
  EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject, kGetObject, kPatchStatus));
  EXPECT_EQ(Body(server, 2)["status"]["conditions"][0]["type"], "Updated");
}

class BadAnswerToConditions : public NodeConditionsWriterTest, public testing::WithParamInterface<kube::BadAnswer> {};

TEST_P(BadAnswerToConditions, IsRetriedLessAndLessOften) {
  kube::Arrivals arrivals;
  const std::size_t enough = GetParam().asks_for_a_second ? 2 : kube::kEnough;
  ScriptedServer server({}, [&](const kube::ReceivedRequest& request) -> Answer {
    if (request.line.starts_with("GET")) return {.body = kExistingObject};
    if (arrivals.count() >= enough) return {.body = kExistingObject};
    arrivals.Note();
    return GetParam().answer;
  });
  const auto writer = Writer(server, kube::kDoubling);
  // A moment that is refused for good is dropped, so each iteration writes a different one.
  for (std::size_t i = 0; i <= enough; ++i) writer->Write(progress::Degraded("a", std::to_string(i)), kWrittenNode);
  RunUntilIdle();
  EXPECT_EQ(arrivals.count(), enough);
  GetParam().asks_for_a_second ? arrivals.MustDouble(std::chrono::milliseconds(1000)) : arrivals.MustDouble();
}

// The answer 404 is left out, because it means a cluster without this kind, which gets no conditions.
std::vector<kube::BadAnswer> BadAnswersOfClustersWithConditions() {
  std::vector<kube::BadAnswer> all = kube::BadAnswers();
  std::erase_if(all, [](const kube::BadAnswer& bad) { return bad.answer.status == 404; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Each, BadAnswerToConditions, testing::ValuesIn(BadAnswersOfClustersWithConditions()),
                         [](const auto& bad) { return bad.param.name; });

TEST_F(NodeConditionsWriterTest, WritesNothingInAClusterWithoutTheKindButAsksAgainLater) {
  for (Answer answer : {KindIsUnknown(), Answer{.status = 404, .body = "no such page"}}) {
    ScriptedServer server({std::move(answer),
                           {.body = kExistingObject},
                           {.body = kExistingObject},
                           {.body = kExistingObject},
                           {.body = kExistingObject}});
    const auto writer = Writer(server);
    writer->Write(progress::NeedsUpdate("a"), kWrittenNode);
    RunUntilIdle();
    clock_.now += std::chrono::minutes(9);
    writer->Write(progress::Updated("a"), kWrittenNode);
    EXPECT_TRUE(writer->is_idle());
    event::Settle(*loop_);
    EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject));
    clock_.now += std::chrono::minutes(1);
    writer->Write(progress::Updated("a"), kWrittenNode);
    RunUntilIdle();
    EXPECT_THAT(server.request_lines(), ElementsAre(kGetObject, kGetObject, kPatchStatus, kGetObject, kPatchStatus));
  }
}

TEST_F(NodeConditionsWriterTest, KeepsTheNewestOfTooManyWaitingMoments) {
  std::deque<Answer> answers = {KindIsUnknown()};
  for (int i = 0; i < 64; ++i) answers.push_back({.body = kExistingObject});
  ScriptedServer server(std::move(answers));
  const auto writer = Writer(server);
  writer->Write(progress::Rebooted(), kWrittenNode);
  RunUntilIdle();
  for (int i = 0; i < 100; ++i) writer->Write(progress::Degraded("a", std::to_string(i)), kWrittenNode);
  clock_.now += std::chrono::minutes(10);
  writer->Write(progress::Updated("a"), kWrittenNode);
  RunUntilIdle();
  const std::size_t last = server.requests().size() - 1;
  EXPECT_EQ(last, 64U);
  EXPECT_EQ(Body(server, 2)["status"]["conditions"][0]["message"], "Node a upgrade failure. 69");
  EXPECT_EQ(Body(server, last - 2)["status"]["conditions"][0]["message"], "Node a upgrade failure. 99");
  EXPECT_EQ(Body(server, last)["status"]["conditions"][0]["type"], "Updated");
}

}  // namespace
}  // namespace pintle::agent
