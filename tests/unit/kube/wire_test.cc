// SPDX-License-Identifier: Apache-2.0

// Tests the formats on the wire: paths of requests; lists, events and refusals of answers.

#include "base/utf8.h"
#include "json/parse.h"
#include "kube/backoff.h"
#include "kube/failure.h"
#include "kube/list_splitter.h"
#include "kube/resource_kind.h"
#include "kube/watch_decoder.h"
#include "support/expect.h"

namespace pintle::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Paths, AreThoseOfTheApi) {
  EXPECT_EQ(ValueOf(CollectionPath(kResourceKind<api::Node>, "")), "/api/v1/nodes");
  EXPECT_EQ(ValueOf(CollectionPath(kResourceKind<api::Pod>, "")), "/api/v1/pods");
  EXPECT_EQ(ValueOf(CollectionPath(kResourceKind<api::Lease>, "a")),
            "/apis/coordination.k8s.io/v1/namespaces/a/leases");
  EXPECT_EQ(ValueOf(ObjectPath(kResourceKind<api::Node>, {"", "worker-1"}, "status")), "/api/v1/nodes/worker-1/status");
  EXPECT_EQ(ValueOf(ObjectPath(kResourceKind<api::Pod>, {"a", "b:c"})), "/api/v1/namespaces/a/pods/b%3Ac");
}

TEST(Paths, RefuseNamesThatLeadElsewhere) {
  for (const std::string name : {"", ".", "..", "a/b", "a%2fb", "../secrets/x"}) {
    EXPECT_FALSE(ObjectPath(kResourceKind<api::Node>, {"", name})) << name;
    EXPECT_FALSE(ObjectPath(kResourceKind<api::Pod>, {name, "a"})) << name;
  }
}

TEST(Queries, AreEncoded) {
  EXPECT_EQ(Query({}), "");
  EXPECT_EQ(Query({{"labelSelector", "app=web,tier!=a&b"}, {"limit", ""}, {"watch", "1"}}),
            "?labelSelector=app%3Dweb%2Ctier%21%3Da%26b&watch=1");
}

TEST(BackoffTest, DoublesUpToItsLongestWithJitter) {
  double random = 0;
  Backoff backoff({.first = milliseconds(100), .longest = milliseconds(300), .jitter = 1}, [&] { return random; });
  EXPECT_EQ(backoff.Next(), milliseconds(100));
  random = 0.5;
  EXPECT_EQ(backoff.Next(), milliseconds(300));
  EXPECT_EQ(backoff.Next(), milliseconds(450));
  EXPECT_EQ(backoff.Next(), milliseconds(450));
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), milliseconds(150));
}

// Feeds `text` in pieces of each size and returns the results, which must be the same for each size.
template <typename Splitter>
std::vector<std::string> SplitInAllWays(const std::string& text) {
  std::vector<std::string> first;
  for (std::size_t size = 1; size <= text.size(); ++size) {
    Splitter splitter;
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size(); at += size) {
      EXPECT_TRUE(Succeeded(splitter.Feed(std::string_view(text).substr(at, size), [&](std::string_view part) {
        parts.emplace_back(part);
        return Result<>();
      })));
    }
    if (size == 1) first = parts;
    EXPECT_EQ(parts, first) << "in pieces of " << size;
  }
  return first;
}

TEST(Lines, DoNotDependOnThePieces) {
  EXPECT_THAT(SplitInAllWays<LineSplitter>("one\n\ntwo\nthree\nunfinished"), ElementsAre("one", "two", "three"));
}

TEST(Lines, HaveALimit) {
  LineSplitter lines(10);
  const auto ignore = [](std::string_view) { return Result<>(); };
  EXPECT_TRUE(Succeeded(lines.Feed("0123456789\n01234", ignore)));
  EXPECT_EQ(MessageOf(lines.Feed("567890", ignore)), "a line of the watch is longer than 10 bytes");
}

TEST(Lists, DoNotDependOnThePieces) {
  EXPECT_THAT(
      SplitInAllWays<ListSplitter>(
          R"({"kind":"items","metadata":{"items":[{"no":1}],"continue":"a\"]}"},"items": [{"a":{"b":[1,"}\\"]}} , {}]})"),
      ElementsAre(R"({"a":{"b":[1,"}\\"]}})", "{}"));
}

std::string FrameOf(const std::string& text) {
  ListSplitter splitter;
  EXPECT_TRUE(Succeeded(splitter.Feed(text, [](std::string_view) { return Result<>(); })));
  return splitter.frame();
}

TEST(Lists, KeepFieldsBesideTheElements) {
  EXPECT_EQ(FrameOf(R"({"items":[{"a":1},{"b":2}],"metadata":{"continue":"x"}})"),
            R"({"items":[],"metadata":{"continue":"x"}})");
  EXPECT_EQ(FrameOf(R"({"items":null})"), R"({"items":null})");
  EXPECT_EQ(FrameOf(R"({"a":"items","b":[{"c":1}]})"), R"({"a":"items","b":[{"c":1}]})");
}

TEST(Lists, HaveLimits) {
  const auto ignore = [](std::string_view) { return Result<>(); };
  ListSplitter splitter({.element = 10, .frame = 30});
  EXPECT_EQ(MessageOf(splitter.Feed(R"({"items":[{"a":1},{"b":"0123456789"}]})", ignore)),
            "an element of the list is longer than 10 bytes");
  ListSplitter other_splitter({.element = 10, .frame = 30});
  EXPECT_EQ(MessageOf(other_splitter.Feed(R"({"metadata":"01234567890123456789"})", ignore)),
            "the text around the list is longer than 30 bytes");
}

TEST(Lists, ThatAreMalformedAreRefused) {
  const auto ignore = [](std::string_view) { return Result<>(); };
  EXPECT_FALSE(ListSplitter().Feed("]", ignore));
  EXPECT_EQ(MessageOf(ListSplitter().Feed(R"({"items":[1]})", ignore)), "an element of the list is not an object");
}

TEST(Events, AreDecoded) {
  const auto event = ValueOf(DecodeWatchLine(
      R"({"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"b","resourceVersion":"7"}}})"));
  const auto& watched = std::get<WatchEvent>(event);
  EXPECT_EQ(watched.type, WatchEventType::kModified);
  EXPECT_EQ(NameIn(watched.object), (ObjectName{"b", "a"}));
  EXPECT_EQ(ResourceVersionOf(watched.object), "7");
}

TEST(Events, MayBeTheServersError) {
  const auto event = ValueOf(DecodeWatchLine(
      R"({"type":"ERROR","object":{"kind":"Status","message":"too old resource version","reason":"Expired","code":410}})"));
  const auto& failure = std::get<Failure>(event);
  EXPECT_TRUE(failure.IsExpired());
  EXPECT_EQ(failure.error.message(), "too old resource version (status 410 Expired)");
}

TEST(Events, OfAnUnknownFormAreRefused) {
  for (const std::string line : {"", "{", "[]", "{}", R"({"type":"ADDED"})", R"({"type":1,"object":{}})",
                                 R"({"type":"ADDED","object":[]})", R"({"type":"RENAMED","object":{}})"}) {
    EXPECT_FALSE(DecodeWatchLine(line)) << line;
  }
  EXPECT_EQ(ResourceVersionOf(ValueOf(json::Parse(R"({"metadata":{"resourceVersion":7}})"))), "");
}

net::HttpHead Head(int status, std::vector<net::Header> headers = {}) {
  return {.status = status, .version = net::HttpVersion::kHttp1, .headers = std::move(headers)};
}

ErrorKind KindFor(int status) { return FailureFrom(Head(status), "").error.kind(); }

TEST(Refusals, HaveTheKindThatDecidesAboutARetry) {
  EXPECT_EQ(KindFor(404), ErrorKind::kNotFound);
  EXPECT_EQ(KindFor(409), ErrorKind::kConflict);
  for (const int status : {408, 410, 429, 500, 502, 503, 504}) EXPECT_EQ(KindFor(status), ErrorKind::kUnavailable);
  for (const int status : {302, 400, 401, 403, 405, 415, 422}) EXPECT_EQ(KindFor(status), ErrorKind::kInvalid);
}

TEST(Refusals, HaveTheServersMessage) {
  const Failure failure = FailureFrom(
      Head(409),
      R"({"kind":"Status","message":"nodes \"a\"\nalready exists","reason":"AlreadyExists","details":{"name":"a"},"code":409})");
  EXPECT_EQ(failure.error.message(), "nodes \"a\" already exists (status 409 AlreadyExists)");
  EXPECT_EQ(failure.reason, "AlreadyExists");
  EXPECT_FALSE(failure.disruption_budget);
}

TEST(Refusals, NotFromTheApiServerAreClassifiedByTheirStatus) {
  for (const std::string body : {"<html>nginx</html>", "", "{}", "[1]", R"({"kind":"Status","code":"x"})"}) {
    EXPECT_EQ(FailureFrom(Head(502), body).error.message(), "the answer has status 502") << body;
  }
}

TEST(Refusals, AreCutIfTheyRepeatTheWholeObject) {
  const Failure failure =
      FailureFrom(Head(422), R"({"kind":"Status","message":")" + std::string(100000, 'x') + R"("})");
  EXPECT_LT(failure.error.message().size(), 1100U);
}

TEST(Refusals, AreCutBetweenCharacters) {
  std::string message = "x";
  for (int i = 0; i < 2000; ++i) message += "\u00e4";
  const Failure failure = FailureFrom(Head(422), R"({"kind":"Status","message":")" + message + R"("})");
  EXPECT_TRUE(IsUtf8(failure.error.message()));
  EXPECT_THAT(failure.error.message(), testing::EndsWith("\u00e4 ... (status 422)"));
}

TEST(Refusals, CannotControlATerminal) {
  const Failure failure =
      FailureFrom(Head(403), R"({"kind":"Status","message":"a\u001b[2J\u009b2J\u202eb","reason":"c\u0085"})");
  EXPECT_EQ(failure.error.message(), R"(a [2J\xC2\x9B2J\xE2\x80\xAEb (status 403 c\xC2\x85))");
}

TEST(Refusals, HaveTheServersDelay) {
  EXPECT_EQ(FailureFrom(Head(429, {{"Retry-After", "7"}}), "").retry_after, seconds(7));
  EXPECT_EQ(FailureFrom(Head(429), R"({"kind":"Status","details":{"retryAfterSeconds":10}})").retry_after, seconds(10));
  EXPECT_EQ(FailureFrom(Head(503, {{"Retry-After", "99999999999"}}), "").retry_after, seconds(120));
  EXPECT_EQ(FailureFrom(Head(503, {{"Retry-After", "-1"}}), "").retry_after, std::nullopt);
  EXPECT_EQ(FailureFrom(Head(503, {{"Retry-After", "Fri, 31 Dec"}}), "").retry_after, std::nullopt);
}

TEST(Refusals, OfEvictionsNameTheBudget) {
  const Failure failure =
      FailureFrom(Head(429),
                  R"({"kind":"Status","message":"Cannot evict pod","reason":"TooManyRequests","details":{"causes":[
          {"reason":"DisruptionBudget","message":"The disruption budget web needs 1 healthy pods"}]},"code":429})");
  EXPECT_EQ(failure.disruption_budget, "The disruption budget web needs 1 healthy pods");
}

}  // namespace
}  // namespace pintle::kube
