// SPDX-License-Identifier: Apache-2.0
#include "dashboard/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/dashboard/sample.h"

namespace pintle::dashboard {
namespace {

using testing::HasSubstr;

net::HttpAnswer AnswerTo(std::string_view target, std::string_view host = "localhost:8798",
                         std::string_view method = "GET", Hosts hosts = Hosts::kLoopback) {
  static Updates updates("abc");
  return AnswerFrom(ContentsWith({Entry("a b", Activity::kDone)}), updates.Version(), updates, hosts,
                    {.method = method, .target = target, .peer = "", .headers = {{"Host", host}}});
}

std::string HeaderOf(const net::HttpAnswer& answer, std::string_view name) {
  for (const net::Header& header : answer.headers) {
    if (header.name == name) return header.value;
  }
  return "";
}

TEST(Answers, HaveThePageAndItsFiles) {
  EXPECT_THAT(*AnswerTo("/").body, HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(*AnswerTo("/?x=1&node=a%20b").body, HasSubstr("<h2 id=\"details-title\">a b</h2>"));
  EXPECT_EQ(HeaderOf(AnswerTo("/style.css"), "Content-Type"), "text/css; charset=utf-8");
  EXPECT_EQ(HeaderOf(AnswerTo("/script.js"), "Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(HeaderOf(AnswerTo("/icon.svg"), "Content-Type"), "image/svg+xml");
  EXPECT_EQ(AnswerTo("/other").status, 404);
  EXPECT_EQ(AnswerTo("/", "localhost", "POST").status, 405);
}

TEST(Answers, LetTheBrowserLoadNothingFromElsewhere) {
  for (const std::string_view target : {"/", "/style.css", "/script.js", "/icon.svg", "/events", "/other"}) {
    EXPECT_THAT(HeaderOf(AnswerTo(target), "Content-Security-Policy"), HasSubstr("default-src 'none'")) << target;
    EXPECT_EQ(HeaderOf(AnswerTo(target), "X-Content-Type-Options"), "nosniff") << target;
  }
}

TEST(Answers, AreForRequestsToALoopbackHostOnly) {
  for (const std::string_view host :
       {"localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8798", "[::1]", "[::1]:8798"}) {
    EXPECT_EQ(AnswerTo("/", host).status, 200) << host;
  }
  for (const std::string_view host : {"", "evil.example", "evil.example:8798", "127.0.0.1.evil.example", "[::2]",
                                      "localhost.evil.example", "127.0.0.2"}) {
    EXPECT_EQ(AnswerTo("/", host).status, 421) << host;
    EXPECT_EQ(AnswerTo("/events", host).stream, nullptr) << host;
  }
}

TEST(Answers, AreForRequestsToAnyHostIfTokensGuardThem) {
  EXPECT_EQ(AnswerTo("/", "pintle.example", "GET", Hosts::kAny).status, 200);
  EXPECT_NE(AnswerTo("/events", "pintle.example:443", "GET", Hosts::kAny).stream, nullptr);
  EXPECT_EQ(AnswerTo("/", "pintle.example", "POST", Hosts::kAny).status, 405);
}

TEST(Answers, AreStreamsForOnePathOnly) {
  const auto wants_changes = [](std::string_view target) {
    return WantsStream({.method = "GET", .target = target, .peer = "", .headers = {}});
  };
  EXPECT_TRUE(wants_changes("/events"));
  EXPECT_TRUE(wants_changes("/events?from=abc-0"));
  for (const std::string_view target : {"/", "/?events", "/events/", "/script.js"}) {
    EXPECT_FALSE(wants_changes(target)) << target;
  }
}

TEST(Answers, HaveAStreamFromTheVersionOfTheQueryOrTheLastEvent) {
  const net::HttpAnswer answer = AnswerTo("/events?from=abc-0");
  ASSERT_NE(answer.stream, nullptr);
  EXPECT_EQ(HeaderOf(answer, "Content-Type"), "text/event-stream");
  EXPECT_EQ(*answer.stream->Next([] {}), "retry: 2000\n\n");
  EXPECT_EQ(answer.stream->Next([] {}), nullptr);

  Updates updates("abc");
  const net::HttpAnswer again = AnswerFrom({}, "abc-0", updates, Hosts::kLoopback,
                                           {.method = "GET",
                                            .target = "/events?from=xyz-7",
                                            .peer = "",
                                            .headers = {{"Host", "localhost"}, {"Last-Event-ID", "abc-0"}}});
  again.stream->Next([] {});
  EXPECT_EQ(again.stream->Next([] {}), nullptr) << "the last event is newer than the query";
}

TEST(Answers, ExpectABrowserThatHasLoadedThePageToFollowIt) {
  Updates updates("abc");
  const auto ask = [&](std::string_view target, std::string_view host) {
    AnswerFrom({}, "abc-0", updates, Hosts::kLoopback,
               {.method = "GET", .target = target, .peer = "", .headers = {{"Host", host}}});
  };
  ask("/style.css", "localhost");
  ask("/", "evil.example");
  EXPECT_FALSE(updates.HasFollowers());
  ask("/", "localhost");
  EXPECT_TRUE(updates.HasFollowers());
}

}  // namespace
}  // namespace pintle::dashboard
