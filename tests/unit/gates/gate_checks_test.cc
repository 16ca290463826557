// SPDX-License-Identifier: Apache-2.0
#include "gates/gate_checks.h"

#include "net/http_server.h"
#include "support/expect.h"
#include "unit/controller/manual_clock.h"
#include "unit/event/patience.h"

namespace pintle::gates {
namespace {

pool::Gate QueryGate(const std::string& url, const std::string& query) {
  pool::Gate gate;
  gate.test = api::GateQuery{.url = url, .query = query};
  return gate;
}

pool::Gate HttpGate(const std::string& url) {
  pool::Gate gate;
  gate.test = api::GateHttp{.url = url};
  return gate;
}

TEST(GateUrl, HasTheQueryWithAllItsCharacters) {
  EXPECT_EQ(ValueOf(UrlOf(QueryGate("http://prometheus:9090/", "ALERTS{severity=\"x&y\"}"))).text(),
            "http://prometheus:9090/api/v1/query?query=ALERTS%7Bseverity%3D%22x%26y%22%7D");
  EXPECT_EQ(ValueOf(UrlOf(HttpGate("https://shop/healthz"))).text(), "https://shop/healthz");
}

struct JudgeCase {
  const char* body;
  const char* message;  // Empty if the gate is met.
};

TEST(GateJudge, IsMetByAQueryWithoutResults) {
  const std::vector<JudgeCase> cases = {
      {R"({"status": "success", "data": {"resultType": "vector", "result": []}})", ""},
      {R"({"status": "success", "data": {"resultType": "matrix", "result": []}})", ""},
      {R"({"status": "success", "data": {"resultType": "vector", "result": [{}]}})",
       "the query has 1 result and must have none"},
      {R"({"status": "success", "data": {"resultType": "vector", "result": [{}, {}]}})",
       "the query has 2 results and must have none"},
      {R"({"status": "success", "data": {"resultType": "scalar", "result": [1, "0"]}})", "does not have a list"},
      {R"({"status": "success", "data": {"resultType": "string", "result": []}})", "does not have a list"},
      {R"({"status": "success"})", "does not have a list"},
      {R"({"status": "error", "error": "parse error"})", "cannot evaluate the query: parse error"},
      {R"({"status": "success", "warnings": [], "data": {"resultType": "vector", "result": []}})", ""},
      {R"({"status": "success", "warnings": ["PromQL info: x"], "data": {"resultType": "vector", "result": []}})", ""},
      {R"({"status": "success", "warnings": ["no store"], "data": {"resultType": "vector", "result": []}})",
       "the query has no result, but perhaps only because of this warning of Prometheus, whose cause has to be "
       "corrected: "
       "no store"},
      {R"({"status": "success", "warnings": {}, "data": {"resultType": "vector", "result": []}})", "is not in a list"},
      {R"({"status": "success", "warnings": [1], "data": {"resultType": "vector", "result": []}})", "is not a text"},
      {"<html>", "cannot read the answer of Prometheus: not JSON"},
      {"", "not JSON"},
      {"[]", "cannot evaluate"},
  };
  for (const JudgeCase& row : cases) {
    const pool::GateResult result = Judge(QueryGate("http://p", "q"), 200, row.body);
    EXPECT_EQ(result.is_met, *row.message == '\0') << row.body;
    EXPECT_THAT(result.message, testing::HasSubstr(row.message)) << row.body;
  }
  EXPECT_EQ(Judge(QueryGate("http://p", "q"), 503, "").message, "the server answers 503");
  // Prometheus never answers without a result; such an answer comes from a proxy.
  for (const int status : {201, 202, 204, 206}) {
    EXPECT_FALSE(Judge(QueryGate("http://p", "q"), status, "").is_met) << status;
  }
}

TEST(GateJudge, IsNotMetByAnErrorWhoseBodyReportsSuccess) {
  const char* const kEmpty = R"({"status": "success", "data": {"resultType": "vector", "result": []}})";
  EXPECT_EQ(Judge(QueryGate("http://p", "q"), 422, kEmpty).message, "the server answers 422");
  EXPECT_FALSE(Judge(QueryGate("http://p", "q"), 422, kEmpty).is_met);
  EXPECT_EQ(Judge(QueryGate("http://p", "q"), 400, R"({"status": "error", "error": "no"})").message,
            "Prometheus cannot evaluate the query: no");
}

TEST(GateJudge, KeepsLittleOfAHugeAnswer) {
  std::string values = "[[]";
  while (values.size() < 3 << 20) values += ",[]";
  EXPECT_THAT(Judge(QueryGate("http://p", "q"), 200, values + "]").message,
              testing::HasSubstr("more than 250000 values"));
  const std::string error = R"({"status": "error", "error": ")" + std::string(3 << 20, 'x') + "\"}";
  EXPECT_LE(Judge(QueryGate("http://p", "q"), 400, error).message.size(), 1000U);
}

TEST(GateJudge, IsMetByAnAnswerWithSuccess) {
  EXPECT_TRUE(Judge(HttpGate("http://p"), 200, "").is_met);
  EXPECT_TRUE(Judge(HttpGate("http://p"), 204, "").is_met);
  EXPECT_EQ(Judge(HttpGate("http://p"), 302, "").message,
            "the server answers 302, a redirect; write the URL to which it leads");
  EXPECT_EQ(Judge(HttpGate("http://p"), 500, "").message, "the server answers 500");
}

class GateChecksTest : public testing::Test {
 protected:
  // Wants this gate, under the name "g", for the policy "p".
  void Want(pool::Gate gate, std::optional<WallTime> newer_than = std::nullopt) {
    gate.name = "g";
    policy_.gates = {std::move(gate)};
    checks_.Want({{"p", {.policy = &policy_, .newer_than = newer_than}}});
  }
  const GateChecks::Results& Results() const { return checks_.ResultsOf("p"); }

  controller::ManualClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  int changes_ = 0;
  pool::Policy policy_;
  GateChecks checks_{*loop_, clock_, net::Peers::kAll, [this] {
                       ++changes_;
                       loop_->Stop();
                     }};
  std::unique_ptr<net::HttpServer> server_ = ValueOf(net::HttpServer::Begin(
      {.listen = {"127.0.0.1", 0}}, [](const net::IncomingRequest&) { return net::HttpAnswer{.status = 200}; }));
  std::string url_ = "http://" + net::ToText(server_->address());
};

TEST_F(GateChecksTest, ReportOnceAUrlThatCannotBeUsed) {
  for (int looks = 0; looks < 5; ++looks) {
    Want(HttpGate("http://"));
    EXPECT_EQ(changes_, 1);
    EXPECT_EQ(Results().at("g").message, "not an http or https URL");
  }
}

TEST(GateChecks, AskNeitherLoopbackNorLinkLocalAddresses) {
  const controller::ManualClock clock;
  const auto loop = ValueOf(event::Loop::Create());
  GateChecks checks(*loop, clock, net::Peers::kRemote, [] {});
  for (const char* url : {"http://127.0.0.1:1/", "http://localhost:1", "http://[::1]:1",
                          "http://169.254.169.254/latest", "http://[fe80::1]/", "http://2852039166/"}) {
    pool::Policy policy;
    policy.gates = {HttpGate(url), QueryGate(url, "up")};
    policy.gates[0].name = "http";
    policy.gates[1].name = "query";
    checks.Want({{url, {.policy = &policy}}});
    for (const char* gate : {"http", "query"}) {
      EXPECT_THAT(checks.ResultsOf(url).at(gate).message,
                  testing::HasSubstr("is a loopback or link-local address, which gates may ask only with the option "
                                     "--gate-addresses=all"))
          << url;
      EXPECT_FALSE(checks.ResultsOf(url).at(gate).is_met);
    }
  }
}

TEST_F(GateChecksTest, ForgetTheAnswerWhenAGateWithTheSameUrlAsksAnotherQuestion) {
  Want(HttpGate(url_ + "/api/v1/query?query=up"));
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  ASSERT_TRUE(Results().at("g").is_met);
  Want(QueryGate(url_, "up"));
  EXPECT_FALSE(Results().contains("g"));
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_FALSE(Results().at("g").is_met);
}

TEST_F(GateChecksTest, NeedOnlyTheStatusOfALongAnswer) {
  const auto body = std::make_shared<const std::string>(5 << 20, 'x');
  int status = 200;
  const auto server = ValueOf(net::HttpServer::Begin({.listen = {"127.0.0.1", 0}}, [&](const net::IncomingRequest&) {
    return net::HttpAnswer{.status = status, .body = body};
  }));
  Want(HttpGate("http://" + net::ToText(server->address())));
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_TRUE(Results().at("g").is_met) << Results().at("g").message;
  status = 500;
  clock_.now += std::chrono::seconds(30);
  Want(HttpGate("http://" + net::ToText(server->address())));
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(Results().at("g").message, "the server answers 500");
  // The body of a query is needed.
  Want(QueryGate("http://" + net::ToText(server->address()), "up"));
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(Results().at("g").message, testing::HasSubstr("longer than the limit of 4194304 bytes"));
}

TEST_F(GateChecksTest, KnowWhenEachQuestionWasAsked) {
  clock_.now += std::chrono::hours(1);
  const WallTime asked = clock_.Wall();
  Want(HttpGate(url_));
  clock_.now += std::chrono::seconds(5);
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(Results().at("g").asked, asked);
  clock_.now += std::chrono::seconds(5);
  Want(HttpGate(url_));
  EXPECT_EQ(Results().at("g").asked, asked);
}

TEST_F(GateChecksTest, AskAgainForANewerResult) {
  clock_.now += std::chrono::hours(1);
  Want(HttpGate(url_));
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  clock_.now += std::chrono::seconds(5);
  const WallTime updated = clock_.Wall();
  clock_.now += std::chrono::seconds(1);
  Want(HttpGate(url_), updated);
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(changes_, 2);
  EXPECT_GT(Results().at("g").asked, updated);
  // The result is new enough now, so the gate is not asked.
  Want(HttpGate(url_), updated);
  event::Settle(*loop_);
  EXPECT_EQ(changes_, 2);
}

}  // namespace
}  // namespace pintle::gates
