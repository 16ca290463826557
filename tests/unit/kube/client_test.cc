// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <optional>

#include "api/secret.h"
#include "event/loop.h"
#include "json/fields.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/event/patience.h"
#include "unit/kube/scripted_server.h"

namespace pintle::kube {

template <>
inline constexpr ResourceKind kResourceKind<api::Secret> = {"", "v1", "secrets", "Secret", Scope::kNamespaced};

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string NodeText(const std::string& name, const std::string& version = "1") {
  return R"({"metadata":{"name":")" + name + R"(","resourceVersion":")" + version +
         R"("},"spec":{"unschedulable":true}})";
}

std::string StatusText(const std::string& reason, const std::string& message, const std::string& details = "{}") {
  return R"({"kind":"Status","reason":")" + reason + R"(","message":")" + message + R"(","details":)" + details + "}";
}

class ClientTest : public testing::Test {
 protected:
  ClientTest() { ::setenv("no_proxy", "*", 1); }

  Client Connect(const ScriptedServer& server) { return Connect(server.access()); }
  Client Connect(Access access) {
    return ValueOf(Client::Create(*loop_, std::move(access),
                                  {.field_manager = "test", .patience = {.attempts = 3, .backoff = kNoTime}}));
  }

  // Runs the call that `start` begins until it ends.
  template <typename T>
  Result<T> Outcome(const std::function<Call(std::function<void(Result<T>)>)>& start) {
    std::optional<Result<T>> outcome;
    const Call call = start([&](Result<T> result) {
      outcome = std::move(result);
      loop_->Stop();
    });
    EXPECT_FALSE(outcome) << "the callback was called before the loop ran";
    if (Result<> waited = event::RunPatiently(*loop_); !waited) return std::move(waited).error();
    return *std::move(outcome);
  }
  Result<api::Node> Get(Client& client, const std::string& name) {
    return Outcome<api::Node>([&](auto done) { return client.Get<api::Node>({"", name}, std::move(done)); });
  }
  Result<api::Node> Get(const ScriptedServer& server, const std::string& name) {
    Client client = Connect(server);
    return Get(client, name);
  }
  Result<api::Node> Patched(const ScriptedServer& server, const Patch& patch, Part part = Part::kObject) {
    Client client = Connect(server);
    return Outcome<api::Node>([&](auto done) {
      return client.Patch<api::Node>({"", "a"}, patch, std::move(done), part);
    });
  }
  Result<std::vector<api::Node>> Listed(const ScriptedServer& server, int page_size = 2) {
    Client client = Connect(server);
    return Outcome<std::vector<api::Node>>(
        [&](auto done) { return client.List<api::Node>({.page_size = page_size}, std::move(done)); });
  }
  Result<Eviction> Evicted(const ScriptedServer& server) {
    Client client = Connect(server);
    return Outcome<Eviction>([&](auto done) { return client.Evict({"ns", "web"}, "uid-1", std::move(done)); });
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
};

using Getting = ClientTest;

TEST_F(Getting, ReturnsTheObject) {
  ScriptedServer server({{.body = NodeText("a")}});
  const api::Node node = ValueOf(Get(server, "a"));
  EXPECT_EQ(node.metadata.name, "a");
  EXPECT_TRUE(node.spec.unschedulable);
  EXPECT_THAT(server.request_lines(), ElementsAre("GET /api/v1/nodes/a"));
  EXPECT_THAT(server.requests()[0].head, HasSubstr("Accept: application/json"));
}

TEST_F(Getting, ReportsWhyThereIsNoObject) {
  ScriptedServer server({{.status = 404, .body = StatusText("NotFound", "nodes a not found")}});
  const auto node = Get(server, "a");
  EXPECT_EQ(MessageOf(node), "reading Node a: nodes a not found (status 404 NotFound)");
  EXPECT_EQ(node.error().kind(), ErrorKind::kNotFound);
}

// An API server that has just started does not know the paths of custom resources.
TEST_F(Getting, IsRepeatedIfAServerThatIsStartingDoesNotKnowThePath) {
  const Answer unknown = {.status = 404, .body = "404 page not found\n"};
  ScriptedServer server(
      {unknown, {.status = 500, .body = "[-]etcd failed"}, unknown, {.body = "ok"}, {.body = NodeText("a")}});
  EXPECT_TRUE(Succeeded(Get(server, "a")));
  const std::string get = "GET /api/v1/nodes/a";
  EXPECT_THAT(server.request_lines(), ElementsAre(get, "GET /readyz", get, "GET /readyz", get));
}

TEST_F(Getting, IsUnavailableWhileTheServerIsStarting) {
  std::deque<Answer> answers;
  for (int i = 0; i < 3; ++i) {
    answers.push_back({.status = 404, .body = "404 page not found\n"});
    answers.push_back({.status = 500});
  }
  ScriptedServer server(std::move(answers));
  const auto node = Get(server, "a");
  EXPECT_EQ(node.error().kind(), ErrorKind::kUnavailable);
  EXPECT_THAT(MessageOf(node), HasSubstr("it is still starting"));
}

TEST_F(Getting, FindsNothingIfAReadyServerDoesNotKnowThePath) {
  const Answer unknown = {.status = 404, .body = "404 page not found\n"};
  ScriptedServer server({unknown, {.body = "ok"}, unknown});
  const auto node = Get(server, "a");
  EXPECT_EQ(node.error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(MessageOf(node), HasSubstr("404 page not found"));
}

TEST_F(Getting, IsRepeatedIfTheServerIsBrieflyAway) {
  ScriptedServer server(
      {{.status = 500}, {.body = NodeText("a").substr(0, 20), .ending = Ending::kCutOff}, {.body = NodeText("a")}});
  EXPECT_TRUE(Succeeded(Get(server, "a")));
}

TEST_F(Getting, IsGivenUpAfterSomeAttempts) {
  ScriptedServer server({{.status = 503}, {.status = 503}, {.status = 503}, {.body = NodeText("a")}});
  EXPECT_EQ(MessageOf(Get(server, "a")), "reading Node a: the answer has status 503");
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(Getting, IsNotRepeatedIfThatCannotHelp) {
  ScriptedServer server({{.status = 403, .body = StatusText("Forbidden", "no")}});
  EXPECT_EQ(MessageOf(Get(server, "a")), "reading Node a: no (status 403 Forbidden)");
}

TEST_F(Getting, RefusesAnAnswerThatIsNoObject) {
  ScriptedServer server({{.body = "<html>"}, {.body = "[]"}, {.body = R"({"spec":{"unschedulable":"yes"}})"}});
  EXPECT_THAT(MessageOf(Get(server, "a")), HasSubstr("reading the answer: not JSON"));
  EXPECT_THAT(MessageOf(Get(server, "a")), HasSubstr("must be an object"));
  EXPECT_THAT(MessageOf(Get(server, "a")), HasSubstr("$.spec.unschedulable: must be true or false"));
}

TEST_F(Getting, RefusesANameThatLeadsToAnotherPath) {
  ScriptedServer server;
  EXPECT_EQ(MessageOf(Get(server, "../pods")), "\"../pods\" is not the name of a Node");
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Getting, MayBeDroppedAtAnyTime) {
  ScriptedServer server({{.body = NodeText("a")}});
  Client client = Connect(server);
  auto dropped = client.Get<api::Node>({"", "a"}, [](const auto&) { FAIL(); });
  dropped = {};
  Call held;
  held = client.Get<api::Node>({"", "a"}, [&](const auto&) {
    held = {};
    loop_->Stop();
  });
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
}

TEST_F(Getting, SendsTheCurrentToken) {
  const TemporaryDirectory directory;
  directory.Write("token", "first");
  ScriptedServer server({{.body = NodeText("a")}, {.body = NodeText("a")}, {.status = 401}});
  Config config = *ValueOf(server.access().Current());
  config.token_file = directory / "token";
  Client client = Connect(Access::Fixed(config));
  EXPECT_TRUE(Succeeded(Get(client, "a")));
  directory.Write("token", "second");
  EXPECT_TRUE(Succeeded(Get(client, "a")));
  EXPECT_THAT(server.requests()[0].head, HasSubstr("Authorization: Bearer first"));
  EXPECT_THAT(server.requests()[1].head, HasSubstr("Authorization: Bearer second"));
  EXPECT_THAT(MessageOf(Get(client, "a")), Not(HasSubstr("second")));
}

TEST(Delays, AreAtLeastTheDelayThatTheServerAsksFor) {
  Backoff backoff(kNoTime, [] { return 0.0; });
  Failure failure = {.error = Error(ErrorKind::kUnavailable, "")};
  EXPECT_EQ(DelayBefore(failure, backoff), milliseconds(1));
  failure.retry_after = seconds(7);
  EXPECT_EQ(DelayBefore(failure, backoff), seconds(7));
}

using Listing = ClientTest;

std::string PageText(const std::string& items, const std::string& continue_token) {
  return R"({"kind":"NodeList","metadata":{"resourceVersion":"9","continue":")" + continue_token + R"("},"items":[)" +
         items + "]}";
}

std::string Names(const std::vector<api::Node>& nodes) {
  std::string names;
  for (const auto& node : nodes) names += node.metadata.name;
  return names;
}

TEST_F(Listing, GoesThroughAllPages) {
  ScriptedServer server({{.body = PageText(NodeText("a") + "," + NodeText("b"), "next"), .piece = 3},
                         {.body = PageText(NodeText("c"), "")}});
  EXPECT_EQ(Names(ValueOf(Listed(server))), "abc");
  EXPECT_THAT(server.request_lines(),
              ElementsAre("GET /api/v1/nodes?limit=2", "GET /api/v1/nodes?limit=2&continue=next"));
}

TEST_F(Listing, FetchesAPageAgainThatWasCutOff) {
  const std::string page = PageText(NodeText("b") + "," + NodeText("c"), "");
  ScriptedServer server({{.body = PageText(NodeText("a"), "next")},
                         {.body = page.substr(0, page.size() - 10), .ending = Ending::kCutOff},
                         {.status = 429},
                         {.body = page}});
  EXPECT_EQ(Names(ValueOf(Listed(server))), "abc");
  EXPECT_EQ(server.request_lines()[3], "GET /api/v1/nodes?limit=2&continue=next");
}

TEST_F(Listing, StartsOverWithoutPagesIfTheyTookTooLong) {
  ScriptedServer server({{.body = PageText(NodeText("gone"), "next")},
                         {.status = 410, .body = StatusText("Expired", "too old")},
                         {.body = PageText(NodeText("a") + "," + NodeText("b"), "")}});
  EXPECT_EQ(Names(ValueOf(Listed(server))), "ab");
  EXPECT_EQ(server.request_lines()[2], "GET /api/v1/nodes");
}

TEST_F(Listing, MayFindNothing) {
  ScriptedServer server({{.body = R"({"metadata":{"resourceVersion":"1"},"items":null})"}});
  EXPECT_EQ(Names(ValueOf(Listed(server))), "");
}

TEST_F(Listing, RefusesAnAnswerThatIsNoList) {
  ScriptedServer server({{.body = "[]"}, {.body = R"({"items":[{"metadata":1}]})"}, {.body = R"({"items":[]})"}});
  EXPECT_THAT(MessageOf(Listed(server)), HasSubstr("listing nodes: $: must be an object"));
  EXPECT_THAT(MessageOf(Listed(server)), HasSubstr("$.metadata: must be an object"));
  EXPECT_EQ(MessageOf(Listed(server)), "listing nodes: the list has no resourceVersion");
}

using Changing = ClientTest;

TEST_F(Changing, SendsAMergePatch) {
  ScriptedServer server({{.body = NodeText("a")}});
  EXPECT_TRUE(Succeeded(Patched(server, MergePatch{{{"spec", {{"unschedulable", true}}}}})));
  const ReceivedRequest request = server.requests()[0];
  EXPECT_EQ(request.line, "PATCH /api/v1/nodes/a?fieldManager=test");
  EXPECT_THAT(request.head, HasSubstr("Content-Type: application/merge-patch+json"));
  EXPECT_EQ(request.body, R"({"spec":{"unschedulable":true}})");
}

TEST_F(Changing, SendsAnApplyToTheStatus) {
  ScriptedServer server({{.body = NodeText("a")}});
  const ApplyPatch apply = {.object = {{"status", {{"phase", "x"}}}}, .conflicts = ApplyPatch::Conflicts::kTakeOver};
  EXPECT_TRUE(Succeeded(Patched(server, apply, Part::kStatus)));
  EXPECT_EQ(server.requests()[0].line, "PATCH /api/v1/nodes/a/status?fieldManager=test&force=true");
  EXPECT_THAT(server.requests()[0].head, HasSubstr("Content-Type: application/apply-patch+yaml"));
  EXPECT_EQ(server.requests()[0].body,
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"status":{"phase":"x"}})");
}

TEST_F(Changing, IsRepeatedOnlyIfThatHasTheSameEffect) {
  ScriptedServer server({{.status = 500},
                         {.body = NodeText("a")},
                         {.status = 500},
                         {.status = 500},
                         {.status = 503},
                         {.body = NodeText("a")}});
  const MergePatch plain = {{{"spec", {{"unschedulable", true}}}}};
  EXPECT_TRUE(Succeeded(Patched(server, plain)));
  const MergePatch conditional = {{{"metadata", {{"resourceVersion", "1"}}}}};
  EXPECT_FALSE(Patched(server, conditional));
  const JsonPatch operations = {json::Value::array({{{"op", "remove"}, {"path", "/spec/taints/0"}}})};
  EXPECT_FALSE(Patched(server, operations));
  // After the status 503 the request is repeated, because the server has not executed it.
  EXPECT_TRUE(Succeeded(Patched(server, operations)));
  EXPECT_EQ(server.requests().size(), 6U);
}

TEST_F(Changing, ReadsAgainAfterAConflict) {
  ScriptedServer server({{.body = NodeText("a", "1")},
                         {.status = 409, .body = StatusText("Conflict", "modified")},
                         {.body = NodeText("a", "2")},
                         {.body = NodeText("a", "3")}});
  Client client = Connect(server);
  const api::Node node = ValueOf(Outcome<api::Node>([&](auto done) {
    const auto change = [](const api::Node& now) -> std::optional<json::Value> {
      if (now.metadata.resource_version == "3") return std::nullopt;
      return json::Value{{"metadata", {{"annotations", {{"was", now.metadata.resource_version}}}}}};
    };
    return client.Amend<api::Node>({"", "a"}, change, std::move(done));
  }));
  EXPECT_EQ(node.metadata.resource_version, "3");
  EXPECT_EQ(server.requests()[3].body, R"({"metadata":{"annotations":{"was":"2"},"resourceVersion":"2"}})");
}

TEST_F(Changing, IsAnErrorIfTheServerDoesNotKeepThePatch) {
  ScriptedServer server({{.body = NodeText("a", "1")}, {.body = NodeText("a", "2")}});
  Client client = Connect(server);
  const auto outcome = Outcome<api::Node>([&](auto done) {
    const auto uncordon = [](const api::Node& now) -> std::optional<json::Value> {
      if (!now.spec.unschedulable) return std::nullopt;
      return json::Value{{"spec", {{"unschedulable", nullptr}}}};
    };
    return client.Amend<api::Node>({"", "a"}, uncordon, std::move(done));
  });
  EXPECT_EQ(outcome.error().kind(), ErrorKind::kUnavailable);
  EXPECT_THAT(outcome.error().message(),
              HasSubstr("patching Node a: the API server accepted the write but changed nothing"));
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(Changing, DoesNotReadAgainIfNobodyHasChangedTheObject) {
  ScriptedServer server({{.body = NodeText("a", "1")},
                         {.status = 409, .body = StatusText("Conflict", "not today")},
                         {.body = NodeText("a", "1")}});
  Client client = Connect(server);
  const auto outcome = Outcome<api::Node>([&](auto done) {
    return client.Amend<api::Node>(
        {"", "a"},
        [](const api::Node&) {
          return json::Value{{"spec", {{"unschedulable", true}}}};
        },
        std::move(done));
  });
  EXPECT_THAT(outcome.error().message(), HasSubstr("not today"));
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(Changing, WritesNothingWithoutAChange) {
  ScriptedServer server({{.body = NodeText("a", "1")}});
  Client client = Connect(server);
  EXPECT_TRUE(Succeeded(Outcome<api::Node>([&](auto done) {
    const auto nothing = [](const api::Node&) -> std::optional<json::Value> { return std::nullopt; };
    return client.Amend<api::Node>({"", "a"}, nothing, std::move(done));
  })));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Changing, ReportsThatTheNewObjectExistsAlready) {
  ScriptedServer server({{.status = 409, .body = StatusText("AlreadyExists", "it exists")}});
  Client client = Connect(server);
  api::Lease lease;
  lease.metadata.name = "l";
  lease.metadata.namespace_name = "ns";
  const auto made = Outcome<api::Lease>([&](auto done) { return client.Create<api::Lease>(lease, std::move(done)); });
  EXPECT_EQ(made.error().kind(), ErrorKind::kConflict);
  EXPECT_EQ(server.requests()[0].line, "POST /apis/coordination.k8s.io/v1/namespaces/ns/leases?fieldManager=test");
}

TEST_F(Changing, KeepsNoMessageThatMayQuoteASecret) {
  ScriptedServer server({{.status = 403, .body = StatusText("Forbidden", "denied: key=hunter2")},
                         {.status = 422, .body = StatusText("key=hunter2", "denied")},
                         {.status = 400, .body = "denied: key=hunter2"}});
  Client client = Connect(server);
  api::Secret secret;
  secret.metadata.name = "s";
  secret.metadata.namespace_name = "ns";
  const auto created =
      Outcome<api::Secret>([&](auto done) { return client.Create<api::Secret>(secret, std::move(done)); });
  EXPECT_EQ(created.error().message(),
            "creating Secret ns/s: the answer has status 403 Forbidden; its message is left out, as it may quote the "
            "secret");
  for (const char* status : {"422", "400"}) {
    const auto patched = Outcome<api::Secret>([&](auto done) {
      return client.Patch<api::Secret>({"ns", "s"}, MergePatch{{{"data", {{"key", "x"}}}}}, std::move(done));
    });
    EXPECT_EQ(patched.error().kind(), ErrorKind::kInvalid);
    EXPECT_THAT(patched.error().message(), HasSubstr(status));
    EXPECT_THAT(patched.error().message(), Not(HasSubstr("hunter2")));
  }
}

TEST_F(Changing, DeletesOnlyTheObjectWithTheGivenUid) {
  ScriptedServer server({{.body = R"({"kind":"Status","status":"Success"})"}});
  Client client = Connect(server);
  EXPECT_TRUE(Succeeded(Outcome<void>([&](auto done) {
    return client.Delete<api::Node>({"", "a"}, "uid-1", std::move(done));
  })));
  EXPECT_EQ(server.requests()[0].line, "DELETE /api/v1/nodes/a");
  EXPECT_EQ(server.requests()[0].body, R"({"preconditions":{"uid":"uid-1"}})");
}

using Evicting = ClientTest;

const std::string kBudget = R"({"causes":[{"reason":"DisruptionBudget","message":"web needs 1"}]})";

TEST_F(Evicting, UsesTheOldVersionWithAnOldServer) {
  ScriptedServer server({{.status = 400, .body = StatusText("BadRequest", "no kind")}, {.status = 201, .body = "{}"}});
  EXPECT_EQ(std::get<Departure>(ValueOf(Evicted(server))), Departure::kGoing);
  EXPECT_EQ(server.requests()[0].line, "POST /api/v1/namespaces/ns/pods/web/eviction");
  EXPECT_THAT(server.requests()[0].body, HasSubstr(R"("apiVersion":"policy/v1",)"));
  EXPECT_THAT(server.requests()[0].body, HasSubstr(R"("deleteOptions":{"preconditions":{"uid":"uid-1"}})"));
  EXPECT_THAT(server.requests()[1].body, HasSubstr(R"("apiVersion":"policy/v1beta1")"));
}

TEST_F(Evicting, CanBeADryRunInBothVersions) {
  ScriptedServer server({{.status = 400, .body = StatusText("BadRequest", "no kind")}, {.status = 201, .body = "{}"}});
  Client client = Connect(server);
  const auto outcome = Outcome<Eviction>([&](auto done) {
    return client.Evict({"ns", "web"}, "uid-1", std::move(done), EvictionMode::kDryRun);
  });
  EXPECT_EQ(std::get<Departure>(ValueOf(outcome)), Departure::kGoing);
  for (const ReceivedRequest& request : server.requests()) {
    EXPECT_EQ(request.line, "POST /api/v1/namespaces/ns/pods/web/eviction?dryRun=All");
    EXPECT_THAT(request.body, HasSubstr(R"("deleteOptions":{"dryRun":["All"],"preconditions":{"uid":"uid-1"}})"));
  }
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST_F(Evicting, MayPassIfOnlyADryRunOfItIsRefused) {
  ScriptedServer server(
      {{.status = 400, .body = StatusText("BadRequest", R"(admission webhook \"old\" does not support dry run)")}});
  Client client = Connect(server);
  const auto outcome = Outcome<Eviction>([&](auto done) {
    return client.Evict({"ns", "web"}, "uid-1", std::move(done), EvictionMode::kDryRun);
  });
  EXPECT_EQ(std::get<Departure>(ValueOf(outcome)), Departure::kGoing);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Evicting, IsRefusedByAWebhookThatTakesItForADryRun) {
  const Answer refusal = {.status = 400,
                          .body = StatusText("BadRequest", R"(admission webhook \"odd\" does not support dry run)")};
  ScriptedServer server({refusal, refusal});
  EXPECT_THAT(MessageOf(Evicted(server)), HasSubstr("does not support dry run"));
}

TEST_F(Evicting, NamesTheBudgetThatForbidsTheEviction) {
  ScriptedServer server({{.status = 429, .body = StatusText("TooManyRequests", "no", kBudget)}});
  EXPECT_EQ(std::get<KeptByBudget>(ValueOf(Evicted(server))).why, "web needs 1");
}

TEST_F(Evicting, TriesAgainWhenTheServerIsBusy) {
  ScriptedServer server({{.status = 429, .body = "Too many requests"}, {.status = 201, .body = "{}"}});
  EXPECT_EQ(std::get<Departure>(ValueOf(Evicted(server))), Departure::kGoing);
}

TEST_F(Evicting, IsDoneWhenThePodIsGone) {
  ScriptedServer server(
      {{.status = 404, .body = StatusText("NotFound", "no")}, {.status = 409, .body = StatusText("Conflict", "uid")}});
  EXPECT_EQ(std::get<Departure>(ValueOf(Evicted(server))), Departure::kGone);
  EXPECT_EQ(std::get<Departure>(ValueOf(Evicted(server))), Departure::kGone);
}

}  // namespace
}  // namespace pintle::kube
