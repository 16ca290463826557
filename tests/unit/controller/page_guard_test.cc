// SPDX-License-Identifier: Apache-2.0
#include "controller/page_guard.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/expect.h"
#include "unit/controller/manual_clock.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using kube::ReviewResult;
using std::chrono::seconds;

constexpr ReviewResult kAllReviewResults[] = {ReviewResult::kPermitted, ReviewResult::kForbidden,
                                              ReviewResult::kUnauthenticated};

// A stream that waits for pieces for ever.
class Silence final : public net::HttpStream {
 public:
  std::shared_ptr<const std::string> Next(std::function<void()>) override { return nullptr; }
};

std::string HeaderOf(const net::HttpAnswer& answer, std::string_view name) {
  for (const net::Header& header : answer.headers) {
    if (header.name == name) return header.value;
  }
  return "";
}

class PageGuardTest : public testing::Test {
 protected:
  // Sends a request; the answer may come later.
  net::HttpAnswer Send(const std::string& authorization, std::string_view target = "/") {
    net::IncomingRequest request = {.method = "GET", .target = target, .peer = peer_, .headers = {{"Host", "a"}}};
    if (!authorization.empty()) request.headers.push_back({"Authorization", authorization});
    net::HttpAnswer answer = guard_->Answer(request, [this](const net::IncomingRequest& admitted) {
      seen_authorization_ = seen_authorization_ || admitted.Find("Authorization").has_value();
      if (admitted.target == "/events") return net::HttpAnswer{.stream = std::make_shared<Silence>()};
      return net::HttpAnswer{.body = std::make_shared<const std::string>("page " + std::string(admitted.target))};
    });
    event::Settle(*loop_);
    return answer;
  }
  net::HttpAnswer SendToken(const std::string& token, std::string_view target = "/") {
    return Send("Bearer " + token, target);
  }
  // Returns the answer if it is there.
  static std::optional<net::HttpAnswer> Taken(const net::HttpAnswer& answer) {
    if (!answer.later) return answer;
    const auto make = answer.later->Take([] {});
    return make ? std::optional(make()) : std::nullopt;
  }
  static int StatusOf(const net::HttpAnswer& answer) {
    const auto taken = Taken(answer);
    return taken ? taken->status : 0;
  }
  // Lets the API server answer the oldest question about this token.
  void Review(const std::string& token, Result<ReviewResult> result) {
    for (auto at = questions_.begin(); at != questions_.end(); ++at) {
      if (at->first != token) continue;
      const auto done = std::move(at->second);
      questions_.erase(at);
      done(std::move(result));
      return;
    }
    FAIL() << "nobody has asked about " << token;
  }
  // Opens a stream with a token that is permitted.
  std::shared_ptr<net::HttpStream> OpenStream(const std::string& token) {
    const net::HttpAnswer answer = SendToken(token, "/events");
    if (!questions_.empty()) Review(token, ReviewResult::kPermitted);
    return Taken(answer)->stream;
  }
  void Pass(seconds time) {
    for (; time > seconds(0); time -= seconds(5)) {
      clock_.now += seconds(5);
      guard_->ReviewStreams();
    }
  }

  const Error unreachable_ = Error(ErrorKind::kUnavailable, "connect: Connection refused");
  ManualClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::vector<std::pair<std::string, std::function<void(Result<ReviewResult>)>>> questions_;
  int asked_ = 0;
  std::string peer_ = "192.0.2.1:1";
  bool seen_authorization_ = false;
  std::shared_ptr<PageGuard> guard_ = PageGuard::Create(
      *loop_, clock_, [this](const std::string& token, std::function<void(Result<ReviewResult>)> done) {
        ++asked_;
        questions_.emplace_back(token, std::move(done));
        return kube::Call();
      });
};

TEST_F(PageGuardTest, RefusesAtOnceARequestWithoutAToken) {
  for (const std::string authorization : {"", "Basic YTpi", "Bearer", "Bearer a b"}) {
    const net::HttpAnswer answer = Send(authorization, "/script.js");
    EXPECT_EQ(answer.later, nullptr);
    EXPECT_EQ(answer.status, 401);
    EXPECT_EQ(HeaderOf(answer, "WWW-Authenticate"), "Bearer realm=\"pintle\"");
    EXPECT_EQ(answer.body, nullptr);
  }
  EXPECT_EQ(asked_, 0);
}

TEST_F(PageGuardTest, GivesThePageToAPermittedVisitor) {
  const net::HttpAnswer answer = SendToken("abc", "/?node=a");
  EXPECT_EQ(Taken(answer), std::nullopt);
  Review("abc", ReviewResult::kPermitted);
  const auto taken = Taken(answer);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->status, 200);
  EXPECT_EQ(*taken->body, "page /?node=a");
  EXPECT_FALSE(seen_authorization_);
}

TEST_F(PageGuardTest, GivesNothingToUnknownOrForbiddenVisitors) {
  const net::HttpAnswer unknown = SendToken("unknown");
  Review("unknown", ReviewResult::kUnauthenticated);
  const auto unauthenticated = Taken(unknown);
  EXPECT_EQ(unauthenticated->status, 401);
  EXPECT_EQ(HeaderOf(*unauthenticated, "WWW-Authenticate"), "Bearer realm=\"pintle\"");
  EXPECT_EQ(unauthenticated->body, nullptr);
  const net::HttpAnswer known = SendToken("known", "/events");
  Review("known", ReviewResult::kForbidden);
  const auto forbidden = Taken(known);
  EXPECT_EQ(forbidden->status, 403);
  EXPECT_EQ(forbidden->body, nullptr);
  EXPECT_EQ(forbidden->stream, nullptr);
}

TEST_F(PageGuardTest, IsClosedWhileTheApiServerCannotBeAsked) {
  const net::HttpAnswer answer = SendToken("abc");
  Review("abc", unreachable_);
  const auto taken = Taken(answer);
  EXPECT_EQ(taken->status, 503);
  EXPECT_EQ(HeaderOf(*taken, "Retry-After"), "5");
  EXPECT_EQ(taken->body, nullptr);
  // The next request asks again.
  const net::HttpAnswer next = SendToken("abc");
  Review("abc", ReviewResult::kPermitted);
  EXPECT_EQ(StatusOf(next), 200);
}

TEST_F(PageGuardTest, AsksOnceForRequestsThatComeTogether) {
  const net::HttpAnswer first = SendToken("abc");
  const net::HttpAnswer second = SendToken("abc", "/style.css");
  EXPECT_EQ(asked_, 1);
  Review("abc", ReviewResult::kPermitted);
  EXPECT_EQ(StatusOf(first), 200);
  EXPECT_EQ(*Taken(second)->body, "page /style.css");
}

TEST_F(PageGuardTest, RemembersTheResultOfAReviewForAWhile) {
  for (const ReviewResult result : kAllReviewResults) {
    const std::string token = "t" + std::to_string(static_cast<int>(result));
    const int asked = asked_;
    const net::HttpAnswer first = SendToken(token);
    Review(token, result);
    const int status = StatusOf(first);
    clock_.now += seconds(9);
    EXPECT_EQ(StatusOf(SendToken(token)), status);
    EXPECT_EQ(asked_, asked + 1);
    clock_.now += seconds(52);
    EXPECT_EQ(StatusOf(SendToken(token)), 0);
    EXPECT_EQ(asked_, asked + 2);
    Review(token, result);
  }
}

TEST_F(PageGuardTest, AsksAboutAFewTokensAtATimeOnly) {
  std::vector<net::HttpAnswer> waiting;
  for (int i = 0; i < 32; ++i) {
    peer_ = "192.0.2." + std::to_string(i) + ":1";
    waiting.push_back(SendToken("t" + std::to_string(i)));
  }
  EXPECT_EQ(StatusOf(SendToken("one-more")), 503);
  EXPECT_EQ(asked_, 32);
  Review("t3", ReviewResult::kUnauthenticated);
  EXPECT_EQ(StatusOf(SendToken("one-more")), 0);
  EXPECT_EQ(asked_, 33);
}

TEST_F(PageGuardTest, AsksAboutOtherClientsWhileOneClientSendsManyTokens) {
  std::vector<net::HttpAnswer> waiting;
  for (int port = 1; port <= 40; ++port) {
    for (const char* address : {"192.0.2.1:", "[2001:db8::1]:"}) {
      peer_ = address + std::to_string(port);
      waiting.push_back(SendToken("wrong-" + std::to_string(waiting.size())));
    }
  }
  EXPECT_EQ(asked_, 30);
  peer_ = "192.0.2.2:1";
  const net::HttpAnswer of_another_client = SendToken("good");
  Review("good", ReviewResult::kPermitted);
  EXPECT_EQ(StatusOf(of_another_client), 200);
}

TEST_F(PageGuardTest, AsksNothingForAClientThatHasLeft) {
  net::IncomingRequest request = {
      .method = "GET", .target = "/", .peer = "", .headers = {{"Authorization", "Bearer abc"}}};
  const net::HttpAnswer answer = guard_->Answer(request, [](const net::IncomingRequest&) { return net::HttpAnswer(); });
  answer.later->Abandon();
  event::Settle(*loop_);
  EXPECT_EQ(asked_, 0);
}

TEST_F(PageGuardTest, KeepsNoRequestsOfClientsThatHaveLeftDuringTheReview) {
  const auto kept = std::make_shared<const int>();
  const auto send = [&](std::string_view target) {
    const net::IncomingRequest request = {
        .method = "GET", .target = target, .peer = "", .headers = {{"Authorization", "Bearer abc"}}};
    const net::HttpAnswer answer = guard_->Answer(
        request, [kept](const net::IncomingRequest&) { return net::HttpAnswer{.status = kept ? 200 : 500}; });
    event::Settle(*loop_);
    return answer;
  };
  const net::HttpAnswer patient = send("/");
  for (int i = 0; i < 2000; ++i) send("/").later->Abandon();
  send("/").later->Abandon();
  EXPECT_LE(kept.use_count(), 4) << "only the patient client, and those who left since the last request";
  EXPECT_EQ(asked_, 1);
  Review("abc", ReviewResult::kPermitted);
  EXPECT_EQ(StatusOf(patient), 200);
}

TEST_F(PageGuardTest, RefusesRequestsWhileTheLoopDoesNotTakeThem) {
  const net::IncomingRequest request = {
      .method = "GET", .target = "/", .peer = "", .headers = {{"Authorization", "Bearer abc"}}};
  const auto send = [&] {
    const net::HttpAnswer answer =
        guard_->Answer(request, [](const net::IncomingRequest&) { return net::HttpAnswer(); });
    if (answer.later) answer.later->Abandon();
    return answer.later ? 0 : answer.status;
  };
  for (int i = 0; i < 512; ++i) ASSERT_EQ(send(), 0);
  EXPECT_EQ(send(), 503);
  event::Settle(*loop_);
  EXPECT_EQ(send(), 0);
}

TEST_F(PageGuardTest, KeepsOnlyTheHeadersThatThePageReads) {
  std::vector<std::string> seen;
  const net::IncomingRequest request = {
      .method = "GET",
      .target = "/events",
      .peer = "",
      .headers = {{"Authorization", "Bearer abc"}, {"HOST", "a"}, {"X", "x"}, {"last-event-id", "7"}}};
  const net::HttpAnswer answer = guard_->Answer(request, [&](const net::IncomingRequest& admitted) {
    for (const auto& header : admitted.headers) seen.emplace_back(header.name);
    return net::HttpAnswer();
  });
  event::Settle(*loop_);
  Review("abc", ReviewResult::kPermitted);
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_EQ(seen, (std::vector<std::string>{"HOST", "last-event-id"}));
}

TEST_F(PageGuardTest, DropsRequestsThatItGetsAtItsEnd) {
  net::IncomingRequest request = {
      .method = "GET", .target = "/", .peer = "", .headers = {{"Authorization", "Bearer abc"}}};
  const net::HttpAnswer answer = guard_->Answer(request, [](const net::IncomingRequest&) { return net::HttpAnswer(); });
  guard_.reset();
  event::Settle(*loop_);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(StatusOf(answer), 0);
}

TEST_F(PageGuardTest, KeepsAStreamOpenWhileItsTokenIsAccepted) {
  const auto stream = OpenStream("abc");
  EXPECT_EQ(asked_, 1);
  for (int i = 0; i < 10; ++i) {
    Pass(seconds(25));
    EXPECT_TRUE(questions_.empty());
    Pass(seconds(5));
    ASSERT_EQ(questions_.size(), 1U);
    Review("abc", ReviewResult::kPermitted);
    EXPECT_FALSE(stream->IsOver());
  }
  EXPECT_EQ(asked_, 11);
}

TEST_F(PageGuardTest, EndsTheStreamsOfATokenThatIsNoLongerAccepted) {
  for (const ReviewResult refusal : {ReviewResult::kForbidden, ReviewResult::kUnauthenticated}) {
    const std::string token = "t" + std::to_string(static_cast<int>(refusal));
    const auto first = OpenStream(token);
    const auto second = OpenStream(token);
    const auto stream_of_another_token = OpenStream("other");
    int wakes = 0;
    EXPECT_EQ(first->Next([&] { ++wakes; }), nullptr);
    Pass(seconds(30));
    Review(token, refusal);
    EXPECT_TRUE(first->IsOver());
    EXPECT_TRUE(second->IsOver());
    EXPECT_EQ(wakes, 1);
    EXPECT_FALSE(stream_of_another_token->IsOver());
    Review("other", ReviewResult::kPermitted);
    EXPECT_EQ(StatusOf(SendToken(token, "/events")), refusal == ReviewResult::kForbidden ? 403 : 401);
    clock_.now += seconds(70);
    guard_->ReviewStreams();
  }
}

TEST_F(PageGuardTest, EndsAStreamWhenTheTokenCannotBeReviewedInTime) {
  const auto stream = OpenStream("abc");
  Pass(seconds(30));
  Review("abc", unreachable_);
  Pass(seconds(5));
  Review("abc", unreachable_);
  EXPECT_FALSE(stream->IsOver()) << "a short outage of the API server ends no stream";
  Pass(seconds(20));
  EXPECT_FALSE(stream->IsOver());
  Pass(seconds(5));
  EXPECT_TRUE(stream->IsOver());
}

TEST_F(PageGuardTest, AsksSoonForAStreamThatIsOpenedLate) {
  const net::HttpAnswer page = SendToken("abc");
  Review("abc", ReviewResult::kPermitted);
  clock_.now += seconds(58);
  const auto stream = OpenStream("abc");
  // OpenStream() has let the API server answer the question that the stream has led to.
  EXPECT_EQ(asked_, 2);
  Pass(seconds(10));
  EXPECT_FALSE(stream->IsOver());
}

TEST_F(PageGuardTest, AsksNoMoreWhenTheStreamsAreClosed) {
  OpenStream("abc").reset();
  Pass(seconds(60));
  EXPECT_EQ(asked_, 1);
}

}  // namespace
}  // namespace pintle::controller
