// SPDX-License-Identifier: Apache-2.0
#include "agent/local_gates.h"

#include <chrono>
#include <string>
#include <vector>

#include "net/made_certificates.h"
#include "net/tls_identity.h"
#include "support/expect.h"
#include "unit/event/patience.h"
#include "unit/gates/answering_server.h"

namespace pintle::agent {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const WallTime kNoon = *FromRfc3339("2027-01-02T12:00:00Z");

pool::Gate GateNamed(const std::string& name, const std::string& url) {
  pool::Gate gate;
  gate.name = name;
  gate.test = api::GateHttp{.url = url};
  return gate;
}

pool::Gate GateWith(const std::string& name, std::optional<seconds> timeout, pool::GateTimeout on_timeout) {
  pool::Gate gate = GateNamed(name, "http://shop");
  gate.timeout = timeout;
  gate.on_timeout = on_timeout;
  return gate;
}

const pool::GateResult kMet = {.is_met = true, .message = ""};
const pool::GateResult kRefused = {.is_met = false, .message = "the server answers 503"};

struct VerdictCase {
  const char* name;
  std::optional<pool::GateResult> result;  // nullopt: the gate has not been answered yet.
  std::optional<seconds> timeout;
  pool::GateTimeout on_timeout;
  seconds blocked_for;
  const char* why;    // A part of the text; empty if the change may begin.
  const char* unmet;  // A part of the text; empty if no gate is passed over.
  bool is_halted;
};

TEST(JudgeGates, LetsAChangeBeginIfTheGateIsMetOrItsTimeoutAllowsIt) {
  using enum pool::GateTimeout;
  const char* const kAnswer = "gate g is not met: the server answers 503; it has not been met since 2027-01-02T";
  const std::vector<VerdictCase> cases = {
      {"met", kMet, {}, kWait, seconds(0), "", "", false},
      {"met after its timeout", kMet, minutes(30), kHalt, hours(1), "", "", false},
      {"not met", kRefused, {}, kWait, seconds(0), kAnswer, "", false},
      {"not met for long", kRefused, {}, kWait, hours(11), kAnswer, "", false},
      {"not answered", {}, {}, kWait, seconds(0), "gate g is not met: there is no result yet; it has", "", false},
      {"waits", kRefused, minutes(30), kWait, hours(1), kAnswer, "", false},
      {"waits, not answered", {}, minutes(30), kWait, hours(1), "there is no result yet", "", false},
      {"halts later", kRefused, minutes(30), kHalt, minutes(29), kAnswer, "", false},
      {"halts", kRefused, minutes(30), kHalt, minutes(30), "00Z, and its timeout of 30 minutes has passed", "", true},
      {"halts, not answered", {}, minutes(30), kHalt, minutes(30), "there is no result yet", "", true},
      {"continues later", kRefused, minutes(30), kContinue, minutes(29), kAnswer, "", false},
      {"continues", kRefused, minutes(30), kContinue, minutes(30), "", "503; it has not been met since", false},
      {"continues, not answered", {}, minutes(30), kContinue, minutes(30), "", "there is no result yet", false},
  };
  for (const VerdictCase& row : cases) {
    gates::GateChecks::Results results;
    if (row.result) results["g"] = *row.result;
    const std::vector<pool::Gate> gates = {GateWith("g", row.timeout, row.on_timeout)};
    const GateVerdict verdict = JudgeGates(gates, results, {{"g", api::Time{kNoon - row.blocked_for}}}, kNoon);
    EXPECT_THAT(verdict.why, *row.why == '\0' ? IsEmpty() : testing::Matcher<std::string>(HasSubstr(row.why)))
        << row.name;
    EXPECT_THAT(verdict.unmet, *row.unmet == '\0' ? IsEmpty() : testing::Matcher<std::string>(HasSubstr(row.unmet)))
        << row.name;
    EXPECT_EQ(verdict.is_halted, row.is_halted) << row.name;
  }
}

TEST(JudgeGates, MeasuresTheTimeoutFromTheFirstVerdictThatDoesNotLetTheChangeBegin) {
  const std::vector<pool::Gate> gates = {GateWith("g", minutes(30), pool::GateTimeout::kContinue)};
  const GateVerdict first = JudgeGates(gates, {}, {}, kNoon);
  EXPECT_THAT(first.why, HasSubstr("it has not been met since 2027-01-02T12:00:00Z"));
  EXPECT_EQ(first.again, kNoon + minutes(30));
  const GateVerdict second = JudgeGates(gates, {{"g", kRefused}}, first.blocked, kNoon + minutes(29));
  EXPECT_THAT(second.why, HasSubstr("it has not been met since 2027-01-02T12:00:00Z"));
  EXPECT_EQ(JudgeGates(gates, {{"g", kRefused}}, second.blocked, kNoon + minutes(30)).why, "");
  // If the gate is met meanwhile, its timeout begins again.
  const GateVerdict met = JudgeGates(gates, {{"g", kMet}}, second.blocked, kNoon + minutes(29));
  EXPECT_THAT(met.blocked, IsEmpty());
  EXPECT_THAT(JudgeGates(gates, {{"g", kRefused}}, met.blocked, kNoon + minutes(31)).why,
              HasSubstr("it has not been met since 2027-01-02T12:31:00Z"));
}

TEST(JudgeGates, RequiresEachGateAndReportsAGateThatHaltsBeforeOthers) {
  using enum pool::GateTimeout;
  const std::vector<pool::Gate> gates = {GateWith("a", {}, kWait), GateWith("b", minutes(1), kHalt),
                                         GateWith("c", minutes(1), kContinue)};
  const std::map<std::string, api::Time> blocked = {{"b", api::Time{kNoon - hours(1)}},
                                                    {"c", api::Time{kNoon - hours(1)}}};
  const auto judge = [&](const gates::GateChecks::Results& results) {
    return JudgeGates(gates, results, blocked, kNoon);
  };
  EXPECT_THAT(judge({{"a", kRefused}, {"b", kRefused}, {"c", kRefused}}).why, HasSubstr("gate b is not met"));
  EXPECT_THAT(judge({{"a", kRefused}, {"b", kMet}, {"c", kRefused}}).why, HasSubstr("gate a is not met"));
  EXPECT_THAT(judge({{"a", kMet}, {"b", kMet}}).unmet, HasSubstr("gate c is not met"));
  EXPECT_EQ(judge({{"a", kMet}, {"b", kMet}}).why, "");
}

TEST(JudgeGates, CutsOffALongMessageAndMakesAllPrintable) {
  const std::vector<pool::Gate> gates = {GateWith("g\x1b[1m", {}, pool::GateTimeout::kWait)};
  const std::string message = "a\x1b[1m\n" + std::string(5000, 'x');
  const std::string why = JudgeGates(gates, {{gates[0].name, {.is_met = false, .message = message}}}, {}, kNoon).why;
  EXPECT_LT(why.size(), 700U);
  EXPECT_THAT(why, AllOf(HasSubstr("is not met: a"), Not(HasSubstr("\x1b")), Not(HasSubstr("\n"))));
}

// A wall clock and a monotonic clock that a test sets.
class TwoClocks final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return monotonic_; }
  WallTime Wall() const override { return wall_; }
  void Pass(std::chrono::nanoseconds time) {
    monotonic_ += time;
    wall_ += time;
  }
  void SetWall(WallTime wall) { wall_ = wall; }

 private:
  MonotonicTime monotonic_{hours(1)};
  WallTime wall_ = kNoon;
};

class LocalGatesTest : public testing::Test {
 protected:
  GateVerdict Judge(const std::vector<pool::Gate>& gates, const std::string& goal = "rendered-local-1") {
    return gates_.Judge({goal}, gates);
  }
  // Judges, and judges again when the gates have been answered.
  GateVerdict JudgeAnswered(const std::vector<pool::Gate>& gates) {
    static_cast<void>(Judge(gates));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    return Judge(gates);
  }

  TwoClocks clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  LocalGates gates_{*loop_, clock_, [this] { loop_->Stop(); }};
};

TEST_F(LocalGatesTest, AChangeWaitsUntilTheServerAnswersWithSuccess) {
  gates::AnsweringServer server(503);
  const std::vector<pool::Gate> gates = {GateNamed("backup", server.Url())};
  EXPECT_THAT(Judge(gates).why, HasSubstr("gate backup is not met: there is no result yet"));
  EXPECT_EQ(JudgeAnswered(gates).why,
            "gate backup is not met: the server answers 503; it has not been met since 2027-01-02T12:00:00Z");
  server.Answer(204);
  clock_.Pass(seconds(30));
  EXPECT_EQ(JudgeAnswered(gates).why, "");
}

TEST_F(LocalGatesTest, AnAnswerCountsForTwoMinutes) {
  gates::AnsweringServer server(200);
  const std::vector<pool::Gate> gates = {GateNamed("backup", server.Url())};
  EXPECT_EQ(JudgeAnswered(gates).why, "");
  clock_.Pass(minutes(2));
  EXPECT_THAT(Judge(gates).why, HasSubstr("there is no result yet"));
}

TEST_F(LocalGatesTest, AServerWhoseCertificateNobodyHasSignedDoesNotMeetAGate) {
  const WallTime now = SystemClock().Wall();
  const net::Validity validity = {now - hours(1), now + hours(1)};
  const net::CertifiedKey made = ValueOf(
      net::MakeServerCertificate(ValueOf(net::MakeAuthority("ours", validity)), "server", {"127.0.0.1"}, validity));
  const gates::AnsweringServer server(200, ValueOf(net::TlsIdentity::Create(made.certificate, made.key)));
  EXPECT_THAT(JudgeAnswered({GateNamed("backup", server.Url())}).why, HasSubstr("is not signed by a CA we trust"));
}

TEST_F(LocalGatesTest, AServerThatIsDownOrDoesNotAnswerAsPrometheusDoesNotMeetAGate) {
  const gates::AnsweringServer server(200);
  EXPECT_THAT(JudgeAnswered({GateNamed("down", "http://127.0.0.1:1/")}).why,
              HasSubstr("gate down is not met: cannot connect to 127.0.0.1:1"));
  pool::Gate query;
  query.name = "alerts";
  query.test = api::GateQuery{.url = server.Url(), .query = "ALERTS"};
  EXPECT_THAT(JudgeAnswered({query}).why, HasSubstr("cannot read the answer of Prometheus: not JSON"));
}

TEST_F(LocalGatesTest, NoMessageHasMoreOfTheUrlThanTheServer) {
  const gates::AnsweringServer server(500);
  for (const std::string& url : {server.Url("/hook/s3cret?token=s3cret"), std::string("http://127.0.0.1:1/s3cret")}) {
    const std::string why = JudgeAnswered({GateNamed("g", url)}).why;
    EXPECT_THAT(why, AllOf(HasSubstr("gate g is not met"), Not(HasSubstr("s3cret")), Not(HasSubstr("no result"))));
  }
}

TEST_F(LocalGatesTest, NoTimeoutPassesBecauseTheClockIsSet) {
  std::vector<pool::Gate> gates = {GateNamed("backup", "http://127.0.0.1:1/")};
  gates[0].timeout = hours(1);
  gates[0].on_timeout = pool::GateTimeout::kContinue;
  clock_.SetWall({});
  EXPECT_THAT(Judge(gates).why, HasSubstr("since 1970-01-01T00:00:00Z"));
  clock_.SetWall(kNoon);
  EXPECT_THAT(Judge(gates).why, HasSubstr("since 2027-01-02T12:00:00Z"));
  clock_.Pass(minutes(59));
  clock_.SetWall(kNoon - hours(24));
  EXPECT_THAT(Judge(gates).why, HasSubstr("since 2027-01-01T11:01:00Z"));
  clock_.Pass(minutes(1));
  EXPECT_EQ(Judge(gates).why, "");
}

TEST_F(LocalGatesTest, ATimeoutRunsForOneGoalUntilItIsForgotten) {
  std::vector<pool::Gate> gates = {GateNamed("backup", "http://127.0.0.1:1/")};
  gates[0].timeout = minutes(30);
  gates[0].on_timeout = pool::GateTimeout::kContinue;
  static_cast<void>(Judge(gates));
  clock_.Pass(minutes(30));
  EXPECT_EQ(Judge(gates).why, "");
  // A change that failed is tried again without another wait.
  gates_.StopAsking();
  EXPECT_EQ(Judge(gates).why, "");
  EXPECT_THAT(Judge(gates, "rendered-local-2").why, HasSubstr("since 2027-01-02T12:30:00Z"));
  clock_.Pass(minutes(30));
  EXPECT_EQ(Judge(gates, "rendered-local-2").why, "");
  gates_.Forget();
  EXPECT_THAT(Judge(gates, "rendered-local-2").why, HasSubstr("since 2027-01-02T13:00:00Z"));
}

TEST_F(LocalGatesTest, ATimeoutBeginsAgainWhenTheQuestionOfItsGateChanges) {
  std::vector<pool::Gate> gates = {GateNamed("backup", "http://127.0.0.1:1/"), GateNamed("db", "http://127.0.0.1:1/")};
  for (pool::Gate& gate : gates) {
    gate.timeout = minutes(30);
    gate.on_timeout = pool::GateTimeout::kContinue;
  }
  static_cast<void>(Judge(gates));
  clock_.Pass(minutes(29));
  gates[0].test = api::GateHttp{.url = "http://127.0.0.1:1/mended"};
  static_cast<void>(Judge(gates));
  clock_.Pass(minutes(1));
  const GateVerdict verdict = Judge(gates);
  EXPECT_THAT(verdict.why, HasSubstr("gate backup is not met"));
  EXPECT_THAT(verdict.why, HasSubstr("since 2027-01-02T12:29:00Z"));
  EXPECT_THAT(verdict.unmet, HasSubstr("gate db is not met"));
  clock_.Pass(minutes(29));
  EXPECT_EQ(Judge(gates).why, "");
}

TEST_F(LocalGatesTest, NobodyIsAskedWhileTheGatesRest) {
  gates::AnsweringServer server(503);
  const std::vector<pool::Gate> gates = {GateNamed("backup", server.Url())};
  static_cast<void>(JudgeAnswered(gates));
  gates_.StopAsking();
  server.Answer(200);
  // An answer from before StopAsking() does not count either.
  EXPECT_THAT(Judge(gates).why, HasSubstr("there is no result yet"));
  gates_.StopAsking();
  const int requests = server.requests();
  clock_.Pass(minutes(1));
  event::Settle(*loop_);
  EXPECT_LE(server.requests(), requests + 1);  // The last request may have been under way.
}

}  // namespace
}  // namespace pintle::agent
