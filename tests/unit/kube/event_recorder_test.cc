// SPDX-License-Identifier: Apache-2.0
#include "kube/event_recorder.h"

#include <atomic>

#include "event/loop.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/event/patience.h"
#include "unit/kube/arrivals.h"
#include "unit/kube/bad_answers.h"
#include "unit/kube/scripted_server.h"

namespace pintle::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class StillClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return {}; }
  WallTime Wall() const override { return WallTime(std::chrono::seconds(1'800'000'000)); }
};

class EventRecorderTest : public testing::Test {
 protected:
  EventRecorderTest() { ::setenv("no_proxy", "*", 1); }

  // Runs until `requests` requests have been answered.
  void Serve(ScriptedServer& server, std::size_t requests) {
    event::Timer check_again(
        *loop_,
        [&] {
          if (server.requests().size() > requests) return loop_->Stop();
          check_again.After(std::chrono::milliseconds(1));
        },
        std::chrono::milliseconds(1));
    check_again.After(std::chrono::milliseconds(1));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }

  EventRecorder Recorder(const ScriptedServer& server) {
    return EventRecorder(
        ValueOf(Client::Create(*loop_, server.access())), {.component = "test", .host = "a"}, clock_,
        {.trouble = [this](const Error& error) { troubles_.push_back(error.message()); }, .backoff = kNoTime});
  }

  static api::ObjectReference Node() {
    api::ObjectReference node;
    node.kind = "Node";
    node.name = "a";
    node.uid = "uid-1";
    return node;
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  StillClock clock_;
  std::vector<std::string> troubles_;
};

TEST_F(EventRecorderTest, PostsAnEventOnceAndThenCountsIt) {
  ScriptedServer server({{.status = 201, .body = "{}"}, {.body = "{}"}, {.body = "{}"}, {.status = 201, .body = "{}"}});
  EventRecorder recorder = Recorder(server);
  for (int i = 0; i < 3; ++i) recorder.Post(Node(), EventKind::kNormal, "Reboot", "why");
  recorder.Post(Node(), EventKind::kWarning, "Other", "why");
  recorder.Post(Node(), EventKind::kWarning, "Last", "stays without an answer");
  Serve(server, 4);
  EXPECT_THAT(server.request_lines(), ElementsAre("POST /api/v1/namespaces/default/events?fieldManager=pintle",
                                                  StartsWith("PATCH /api/v1/namespaces/default/events/a."),
                                                  StartsWith("PATCH /api/v1/namespaces/default/events/a."),
                                                  StartsWith("POST"), StartsWith("POST")));
  EXPECT_EQ(server.requests()[2].body, R"({"count":3,"lastTimestamp":"2027-01-15T08:00:00Z"})");
  EXPECT_THAT(server.requests()[3].body, HasSubstr(R"("type":"Warning")"));
}

TEST_F(EventRecorderTest, GivesEventsOfOneInstantDifferentNames) {
  ScriptedServer server({{.status = 201, .body = "{}"}, {.status = 201, .body = "{}"}});
  EventRecorder recorder = Recorder(server);
  recorder.Post(Node(), EventKind::kNormal, "One", "why");
  recorder.Post(Node(), EventKind::kNormal, "Other", "why");
  recorder.Post(Node(), EventKind::kNormal, "Last", "stays without an answer");
  Serve(server, 2);
  const auto name = [&](std::size_t i) {
    return ValueOf(json::Parse(server.requests()[i].body)).TextAt({"metadata", "name"});
  };
  EXPECT_THAT(name(0), StartsWith("a."));
  EXPECT_NE(name(0), name(1));
}

TEST_F(EventRecorderTest, PostsAnEventAgainThatTheServerHasForgotten) {
  ScriptedServer server({{.status = 201, .body = "{}"}, {.status = 404}, {.status = 201, .body = "{}"}});
  EventRecorder recorder = Recorder(server);
  for (int i = 0; i < 3; ++i) recorder.Post(Node(), EventKind::kNormal, "Reboot", "why");
  Serve(server, 3);
  EXPECT_THAT(server.request_lines(),
              ElementsAre(StartsWith("POST"), StartsWith("PATCH"), StartsWith("POST"), StartsWith("PATCH")));
}

TEST_F(EventRecorderTest, CountsAnEventWhoseAnswerWasLost) {
  ScriptedServer server({{.status = 503}, {.status = 409}});
  EventRecorder recorder = Recorder(server);
  for (int i = 0; i < 2; ++i) recorder.Post(Node(), EventKind::kNormal, "Reboot", "why");
  Serve(server, 2);
  EXPECT_THAT(server.request_lines(), ElementsAre(StartsWith("POST"), StartsWith("POST"), StartsWith("PATCH")));
  EXPECT_EQ(troubles_.size(), 1U);
}

TEST_F(EventRecorderTest, ReportsAnEventWhoseNameIsTaken) {
  ScriptedServer server({{.status = 409}, {.status = 201, .body = "{}"}});
  EventRecorder recorder = Recorder(server);
  for (int i = 0; i < 2; ++i) recorder.Post(Node(), EventKind::kNormal, "Reboot", "why");
  Serve(server, 1);
  EXPECT_THAT(server.request_lines(), ElementsAre(StartsWith("POST"), StartsWith("POST")));
  EXPECT_EQ(troubles_.size(), 1U);
}

TEST_F(EventRecorderTest, ContinuesAfterARefusedEvent) {
  ScriptedServer server({{.status = 403}, {.status = 201, .body = "{}"}});
  EventRecorder recorder = Recorder(server);
  for (int i = 0; i < 3; ++i) recorder.Post(Node(), EventKind::kNormal, "Reboot", "why");
  Serve(server, 2);
  EXPECT_THAT(server.request_lines(), ElementsAre(StartsWith("POST"), StartsWith("POST"), StartsWith("PATCH")));
}

class RefusedEvent : public EventRecorderTest, public testing::WithParamInterface<BadAnswer> {};

TEST_P(RefusedEvent, DelaysTheFollowingOnesMoreEachTimeAndIsReported) {
  Arrivals arrivals;
  const std::size_t enough = GetParam().asks_for_a_second ? 2 : kEnough;
  std::atomic<bool> is_posted = false;
  ScriptedServer server({}, [&](const ReceivedRequest&) -> Answer {
    if (arrivals.count() < enough) {
      arrivals.Note();
      return GetParam().answer;
    }
    is_posted = true;
    return {.status = 201, .body = R"({"metadata":{}})"};
  });
  EventRecorder recorder(
      ValueOf(Client::Create(*loop_, server.access())), {.component = "test", .host = "a"}, clock_,
      {.trouble = [this](const Error& error) { troubles_.push_back(error.message()); }, .backoff = kDoubling});
  for (std::size_t i = 0; i <= enough; ++i) recorder.Post(Node(), EventKind::kNormal, "Reboot", std::to_string(i));
  event::Timer check_again(
      *loop_,
      [&] {
        if (is_posted) return loop_->Stop();
        check_again.After(std::chrono::milliseconds(1));
      },
      std::chrono::milliseconds(1));
  check_again.After(std::chrono::milliseconds(1));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(troubles_.size(), enough);
  EXPECT_THAT(troubles_, testing::Each(HasSubstr(GetParam().words)));
  GetParam().asks_for_a_second ? arrivals.MustDouble(std::chrono::milliseconds(1000)) : arrivals.MustDouble();
}

INSTANTIATE_TEST_SUITE_P(Each, RefusedEvent, testing::ValuesIn(BadAnswers()),
                         [](const auto& bad) { return bad.param.name; });

TEST(EventRecorder, KeepsTheLimitOfRequestsPerMinute) {
  // A program may have two recorders, and both retry.
  EXPECT_LE(2 * RequestsInAMinute(EventRecorder::kRetryBackoff), kMostInAMinute);
}

}  // namespace
}  // namespace pintle::kube
